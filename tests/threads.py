"""Threads that get in each other's way, for tests that nothing deadlocks."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["hold_python", "run_at_once", "working"]


@contextmanager
def working(work: Callable[[], None]) -> Iterator[None]:
    """A thread that does it over and over."""
    done = threading.Event()

    def loop() -> None:
        while not done.is_set():
            work()

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def hold_python() -> None:
    """Keeps Python's lock for a millisecond, as a busy extension does, and gives the others a turn."""
    ctypes.PyDLL(None).usleep(1000)
    time.sleep(0.001)


def run_at_once(count: int, run: Callable[[int], None], *, timeout_s: float) -> None:
    """run(0) to run(count - 1), each by a thread. Raises what the first one raised, and AssertionError for
    threads that do not end in time: they are daemons, so that the process still can."""
    failures: list[Exception] = []
    start = threading.Barrier(count)

    def guarded(number: int) -> None:
        try:
            start.wait()
            run(number)
        except Exception as failure:  # noqa: BLE001 (raised below, in the thread that waits)
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + timeout_s
    for thread in threads:
        thread.join(timeout=max(0.0, deadline - time.monotonic()))
    if failures:
        raise failures[0]
    stuck = [number for number, thread in enumerate(threads) if thread.is_alive()]
    assert not stuck, f"threads {stuck} did not end in {timeout_s} s"
