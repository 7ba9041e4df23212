"""Fuzz the readers' core from its kept corpus, and keep what was found to reach more of it.

    python scripts/fuzz.py run --seconds 120      # fails on any finding, and prints the input that shows it
    python scripts/fuzz.py keep                   # the kept corpus anew: the fewest inputs that reach as much

The targets are built by `make fuzz`. Inputs that a run finds stay in the build folder until `keep`.
"""

from __future__ import annotations

import argparse
import base64
import re
import resource
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
FUZZ: Final = ROOT / "tests" / "fuzz"
LONGEST: Final = {"sqlite": 1 << 17}
"""Bytes of the longest input of a target, where these are more than USUAL."""
USUAL: Final = 1 << 13
KEPT: Final = 1 << 12
"""Longer inputs are not kept, but for seeds."""
DICTIONARY: Final = {"members": "events", "parts": "events"}
"""Whose words a target uses that has none of its own."""
sys.path.insert(0, str(ROOT))

from tests.fuzz.seeds import SEEDS  # noqa: E402 behind the path to it


@dataclass(frozen=True)
class Outcome:
    """What one run of a target came to."""

    executions: int
    cpu_seconds: float
    covered: int
    findings: list[Path]
    log: str


class Target:
    """A libFuzzer program with its corpus."""

    def __init__(self, name: str, build: Path) -> None:
        self.name = name
        self._program = build / "tests" / "fuzz" / f"fuzz_{name}"
        self._kept = FUZZ / "corpus" / f"{name}.zip"
        self._dictionary = FUZZ / f"{DICTIONARY.get(name, name)}.dict"
        self.folder = build / "corpus" / name
        self._findings = build / "findings" / name

    def lay_out(self) -> None:
        """Put the kept corpus and the seeds where the program finds them."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._findings.mkdir(parents=True, exist_ok=True)
        if self._kept.exists():
            with zipfile.ZipFile(self._kept) as kept:
                kept.extractall(self.folder)
        for at, seed in enumerate(SEEDS[self.name]()):
            (self.folder / f"seed_{at}").write_bytes(seed)

    def run(self, seconds: float, more: list[Path]) -> Outcome:
        before = set(self._findings.iterdir())
        limits = (f"-max_total_time={max(int(seconds), 1)}", "-timeout=60", "-report_slow_units=60")
        begun = _cpu_seconds()
        log = self._call(*limits, "-print_final_stats=1", self.folder, *more)
        found = sorted(set(self._findings.iterdir()) - before)
        covered = re.findall(r"cov: (\d+)", log.stdout) or ["0"]
        executions = _last(r"stat::number_of_executed_units:\s*(\d+)", log.stdout)
        if log.returncode and not found:
            raise SystemExit(f"fuzz_{self.name} ended with {log.returncode}:\n{log.stdout[-4000:]}")
        return Outcome(executions, _cpu_seconds() - begun, int(covered[-1]), found, log.stdout)

    def keep(self) -> int:
        """The fewest inputs that reach what all do, as the kept corpus; returns its bytes."""
        fewest = self.folder.with_suffix(".fewest")
        shutil.rmtree(fewest, ignore_errors=True)
        fewest.mkdir()
        self._call("-set_cover_merge=1", fewest, self.folder)
        self._kept.parent.mkdir(exist_ok=True)
        inputs = {path.name: path.read_bytes() for path in fewest.iterdir() if path.stat().st_size <= KEPT}
        long = [seed for seed in SEEDS[self.name]() if len(seed) > KEPT]
        inputs |= {f"long_seed_{at}": seed for at, seed in enumerate(long)}
        with zipfile.ZipFile(self._kept, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as kept:
            for name, content in sorted(inputs.items()):
                kept.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
        shutil.rmtree(self.folder)
        fewest.rename(self.folder)
        return self._kept.stat().st_size

    def _call(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [
            str(self._program),
            f"-artifact_prefix={self._findings}/",
            f"-max_len={LONGEST.get(self.name, USUAL)}",
        ]
        if self._dictionary.exists():
            command.append(f"-dict={self._dictionary}")
        return subprocess.run(  # noqa: S603 the program is this project's own
            [*command, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )


def _cpu_seconds() -> float:
    """Of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _last(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def _show(finding: Path, log: str) -> None:
    """All that is needed to see the finding again."""
    print(log[-6000:])
    print(f"the input: {finding}; as base64:\n{base64.b64encode(finding.read_bytes()).decode()}")
    program = f"build/fuzz/tests/fuzz/fuzz_{finding.parent.name}"
    print(f"see it again: echo BASE64 | base64 -d >input; {program} input")


def _run(targets: list[Target], seconds: float, more: Path | None) -> int:
    findings = 0
    print(f"{'target':<12}{'executions':>12}{'cpu s':>8}{'covered':>10}{'inputs':>8}{'findings':>10}")
    for target in targets:
        target.lay_out()
        own = more / target.name if more else None
        outcome = target.run(seconds / len(targets), [own] if own and own.is_dir() else [])
        inputs = len(list(target.folder.iterdir()))
        print(
            f"{target.name:<12}{outcome.executions:>12}{outcome.cpu_seconds:>8.0f}{outcome.covered:>10}"
            f"{inputs:>8}{len(outcome.findings):>10}",
            flush=True,
        )
        for finding in outcome.findings:
            _show(finding, outcome.log)
        findings += len(outcome.findings)
    return 1 if findings else 0


def main() -> int:
    """The exit code: 1 where there is a finding."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("verb", choices=["run", "keep"])
    parser.add_argument(
        "targets", nargs="*", metavar="TARGET", help=f"of {', '.join(SEEDS)}; all without one"
    )
    parser.add_argument("--seconds", type=float, default=120, help="for all targets together (default 120)")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "fuzz")
    parser.add_argument("--more", type=Path, help="a folder with more inputs, in one folder per target")
    chosen = parser.parse_intermixed_args()
    targets = [Target(name, chosen.build) for name in chosen.targets or SEEDS]
    if chosen.verb == "run":
        return _run(targets, chosen.seconds, chosen.more)
    for target in targets:
        target.lay_out()
        print(f"{target.name}: {target.keep()} bytes kept")
    return 0


if __name__ == "__main__":
    sys.exit(main())
