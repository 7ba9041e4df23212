"""Processes that work when asked: how long a work takes in them, and how far it makes their memory grow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

from scripts.bench.captures import ROOT
from scripts.bench.pairs import Failed
from scripts.bench.peers import HTA, READERS, PeerMissing, environment, packages_of

__all__ = ["Process", "hta_process", "own_process", "rss_anon"]

_SAMPLED_EVERY_S: Final = 0.001
_LIMIT_S: Final = 600.0


class Process:
    """A worker in a process of its own; use it in a `with` statement."""

    def __init__(
        self,
        python: Path | str,
        module: str,
        *,
        peers: Sequence[Path] = (),
        variables: Mapping[str, str] = {},
    ) -> None:
        command = [str(python), "-m", "scripts.bench.worker", module, *map(str, peers)]
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        self._child = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._name = module.rpartition(".")[2]
        try:
            self._answer()
        except Failed:
            self.__exit__()
            raise

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe:
                with suppress(BrokenPipeError):  # what a dead worker did not read
                    pipe.close()

    def seconds(self, work: str, path: Path) -> float:
        """How long one run takes."""
        request = self._pipe(self._child.stdin)
        try:
            request.write(json.dumps({"work": work, "path": str(path)}) + "\n")
            request.flush()
        except BrokenPipeError:
            raise Failed(f"{self._name} has ended with exit status {self._child.wait()}") from None
        return float(self._answer()["seconds"])

    def peak_growth(self, work: str, path: Path) -> int:
        """By how many bytes the peak of RssAnon in one run exceeds its value before, sampled from here."""
        before = peak = rss_anon(self._child.pid)
        done = threading.Event()

        def watch() -> None:
            nonlocal peak
            while not done.wait(_SAMPLED_EVERY_S):
                peak = max(peak, rss_anon(self._child.pid))

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            self.seconds(work, path)
        finally:
            done.set()
            watcher.join()
        return peak - before

    def _answer(self) -> dict[str, Any]:
        timer = threading.Timer(_LIMIT_S, self._child.kill)
        timer.daemon = True
        timer.start()
        try:
            line = self._pipe(self._child.stdout).readline()
        finally:  # also where Ctrl-C ends it: the program would wait for the timer
            timer.cancel()
        if not line:
            raise Failed(f"{self._name} ended with exit status {self._child.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        if pipe is None:
            raise Failed("no pipe to the worker")
        return pipe


def rss_anon(pid: int) -> int:
    """RssAnon of a process in bytes; 0 when it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    lines = [line for line in status.splitlines() if line.startswith("RssAnon")]
    return int(lines[0].split()[1]) * 1024 if lines else 0


def own_process(*, works: str = "scripts.bench.works", variables: Mapping[str, str] = {}) -> Process:
    """overlap_lab in this environment; other readers can be imported from theirs, if they can be had."""
    try:
        peers = [packages_of(READERS)]
    except PeerMissing:
        peers = []
    return Process(sys.executable, works, peers=peers, variables=variables)


def hta_process() -> Process:
    """HolisticTraceAnalysis in its own environment."""
    return Process(environment(HTA), "scripts.bench.works_hta")
