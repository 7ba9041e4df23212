"""What is measured: one run of the C++ program for each cell of the page's tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["FULL", "QUICK", "Scale", "Step", "steps"]


@dataclass(frozen=True, slots=True)
class Scale:
    """How large the problem is and how many samples are taken."""

    batch: int
    heads: int
    rows: int
    head_size: int
    samples: int
    warmup: int
    loop: int

    @property
    def problem(self) -> tuple[str, ...]:
        sizes = f"-b={self.batch} -h={self.heads} -d={self.head_size} -s={self.rows}"
        return ("-prec=bf16", *sizes.split())


FULL: Final = Scale(batch=4, heads=16, rows=512, head_size=128, samples=200, warmup=20, loop=100)
QUICK: Final = Scale(batch=2, heads=2, rows=64, head_size=32, samples=6, warmup=1, loop=3)


@dataclass(frozen=True, slots=True)
class Step:
    """One run of the program."""

    name: str
    arguments: tuple[str, ...]


SMALL: Final = ("-queue=4", "-product=384")
"""Work that a launch of its own hardly covers: the device waits for the host."""

SITUATIONS: Final = {
    "queue0": ("-queue=0",),
    "queue1": ("-queue=1",),
    "queue10": ("-queue=10",),
    "small4": SMALL,
    "idle": ("-queue=1", "-idle_us=5000"),
}


def steps(scale: Scale) -> tuple[Step, ...]:
    """All runs, in the order in which they are made; every workspace mode is in each."""
    repeats = (f"-warmup={scale.warmup}", f"-repeat={scale.samples}", "-workspace=all")
    # Group mode, deterministic, no mask: the preparation has no buffer to clear.
    group = (*scale.problem, *repeats, "-mode=1", "-deterministic=1", "-v=0")
    alone = (*group, "-prepare_only=1", "-pinned=pool")
    return (
        *(Step(f"preparation/{name}", (*alone, *queue)) for name, queue in SITUATIONS.items()),
        *(
            Step(f"call/{name}", (*group, "-pinned=pool", *SITUATIONS[name]))
            for name in ("queue0", "queue1", "queue10")
        ),
        *(
            Step(f"bare/{name}", (*group, "-prepare_only=1", "-pinned=bare", *SITUATIONS[name]))
            for name in ("queue0", "queue10")
        ),
        Step("loop/small4", (*alone, f"-loop={scale.loop}", *SMALL)),
        Step("cleared/queue1", (*alone, "-mask=2", *SITUATIONS["queue1"])),
        Step("kernels/batch", (*scale.problem, *repeats, "-pinned=pool", "-v=1")),
        Step("kernels/causal", (*scale.problem, *repeats, "-pinned=pool", "-mode=1", "-mask=2", "-v=1")),
    )
