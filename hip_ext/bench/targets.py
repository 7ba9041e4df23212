"""What must hold on a card, and whether it does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hip_ext.bench.raw import Distribution, Raw

__all__ = ["Verdict", "verdicts"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A measured number that must not be larger than another."""

    what: str
    measured: float
    must: float
    aim: float | None = None
    unit: str = " us"

    def __str__(self) -> str:
        if self.measured > self.must:
            return f"missed by {self.measured - self.must:.1f}{self.unit}"
        if self.aim is not None and self.measured > self.aim:
            return "met; the aim not"
        return "met"


def verdicts(raw: Raw) -> Iterator[Verdict]:
    """All that a measurement answers."""

    def host(queue: str, mode: str) -> float:
        return raw.distribution(f"preparation/{queue}", mode, "host_call").median

    for mode, must, aim in (("async", 30.0, 20.0), ("device", 12.0, 8.0)):
        yield Verdict(f"{mode}: host time of the preparation", host("queue0", mode), must, aim)
        more = host("queue10", mode) - host("queue0", mode)
        yield Verdict(f"{mode}: more of it behind 10 products", more, 10.0)
    for mode in ("async", "device"):
        bare = raw.distribution("call/queue0", mode, "host_call").median
        yield Verdict(
            f"{mode}: more for the Python call than for the C++ call",
            raw.python_call("queue0", mode).median - bare,
            15.0,
        )
    if taken := raw.content["sdpa_backward_ns"]:
        ours = raw.distribution("kernels/batch", "device", "device_kernels").median
        yield Verdict(
            "kernels: of torch's flash backward", ours / Distribution.of(taken).median, 20.0, unit="x"
        )
