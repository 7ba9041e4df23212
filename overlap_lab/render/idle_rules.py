"""What to do about idle time that no wait caused: a table of rules, each with the facts that it needs.

As in the rule book for waits, the first rule whose facts all hold speaks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from overlap_lab.schema import Cause

__all__ = ["IDLE_RULES", "LANDMARKS", "IdleFacts", "IdleRule", "advice_for_idle"]

LANDMARKS: Final = (r"DataLoader", r"\bOptimizer\.(?:step|zero_grad)#")
"""Rows that say more than what runs inside of them."""


@dataclass(frozen=True, slots=True)
class IdleFacts:
    """Idle time of one cause, and what the launching thread was doing in it."""

    cause: Cause
    share: float
    """Of the window."""
    around: Sequence[str] = ()
    """Names of what covers it on the launching thread: ranges, framework ops, Python frames."""
    is_long: bool = False
    """Whether the gaps are longer than what lies between two launches in a row."""
    line: str | None = None
    """The user's own line around it."""
    follows_waits: bool = False
    """Whether most of it lies where the host was regaining the lead that waits had taken from it."""


@dataclass(frozen=True, slots=True)
class IdleRule:
    """Advice for idle time that meets every condition given; a condition left out is met."""

    name: str
    cause: Cause
    advice: str
    least_share: float = 0.01
    names: str = ""
    """Pattern that a name around it must contain."""
    innermost: str = ""
    """Pattern that the innermost of them must contain."""
    is_long: bool | None = None
    is_named: bool | None = None
    """Whether anything that covers it has a name."""
    has_line: bool | None = None
    follows_waits: bool | None = None
    is_fault: bool = True
    is_easy: bool = False
    """Whether an argument or a line is all that it takes."""

    def applies(self, idle: IdleFacts) -> bool:
        return all(
            (
                idle.cause is self.cause,
                idle.share >= self.least_share,
                not self.names or any(re.search(self.names, name) for name in idle.around),
                not self.innermost or bool(idle.around and re.search(self.innermost, idle.around[-1])),
                self.is_long in (None, idle.is_long),
                self.is_named in (None, bool(idle.around)),
                self.has_line in (None, idle.line is not None),
                self.follows_waits in (None, idle.follows_waits),
            )
        )


_LEAD_LOST: Final = (
    "Lead lost to waits: most of this comes while the host, which a wait had stopped, was not ahead of the "
    "device again. Mend the waits first, then see what is left."
)

IDLE_RULES: Final = (
    IdleRule(
        "loader_without_workers",
        Cause.HOST_LATE,
        "The data loader has no workers: it loads each batch in the training process while the device stands "
        "idle. Give it some: DataLoader(num_workers=4, pin_memory=True, persistent_workers=True).",
        names=r"_SingleProcessDataLoaderIter",
    ),
    IdleRule(
        "loader_too_slow",
        Cause.HOST_LATE,
        "The data loader's workers do not keep up. More workers, a larger prefetch_factor, cheaper "
        "transforms (or on the device), or data that is decoded beforehand.",
        names=r"_MultiProcessingDataLoaderIter",
    ),
    IdleRule(
        "loader",
        Cause.HOST_LATE,
        "The device waits for data. Load the next batch in other processes while this one computes "
        "(DataLoader(num_workers=4)), or two batches ahead in a thread.",
        names=r"(?i)data_?loader|load_?batch|next_?batch|fetch_?batch",
    ),
    IdleRule(
        "zero_grad",
        Cause.HOST_LATE,
        "Gradients are zeroed one by one. optimizer.zero_grad(set_to_none=True) launches nothing.",
        names=r"\bOptimizer\.zero_grad#",
        is_easy=True,
    ),
    IdleRule(
        "optimizer_step",
        Cause.HOST_LATE,
        "The optimizer launches small kernels parameter by parameter. fused=True (else "
        "foreach=True) makes them a few.",
        names=r"\bOptimizer\.step#",
        is_easy=True,
    ),
    IdleRule(
        "garbage_collection",
        Cause.HOST_LATE,
        "Python collects garbage while the device waits. gc.freeze() after the set-up, gc.disable() "
        "in the loop, and gc.collect() where a pause does no harm.",
        names=r"<built-in (?:function|method) collect\b|\bgc\.collect\b",
    ),
    IdleRule(
        "saving",
        Cause.HOST_LATE,
        "A checkpoint is written while the device waits. Copy it to host memory and write it in "
        "another thread or process.",
        names=r"torch/serialization\.py\(\d+\): save|(?i:save_?checkpoint)",
    ),
    IdleRule(
        "compiling",
        Cause.HOST_LATE,
        "Code is compiled or tuned in the loop. Warm up every shape before it, mark dynamic "
        "dimensions, or keep the compiler's cache.",
        names=r"torch/_dynamo/|torch/_inductor/|triton/compiler/|CompiledFxGraph|(?i:autotun)",
    ),
    IdleRule(
        "tensor_on_the_host",
        Cause.HOST_LATE,
        "The host converts or stages a tensor before it can send it. Make it in its type once, in pinned "
        "memory, and send it with non_blocking=True.",
        names=r"^aten::(?:to|_to_copy|copy_|pin_memory|_pin_memory)$",
        is_long=True,
    ),
    IdleRule(
        "lead_lost_to_waits",
        Cause.HOST_LATE,
        _LEAD_LOST,
        is_long=False,
        follows_waits=True,
    ),
    IdleRule(
        "short_gaps",
        Cause.HOST_LATE,
        "The host needs longer to hand out the next op than the device to run the last: many small "
        "launches. Make them fewer: torch.compile, a captured graph ({hipGraph|torch.cuda.graphs}), "
        "fused ops, or a larger batch.",
        is_long=False,
    ),
    IdleRule(
        "only_the_step",
        Cause.HOST_LATE,
        "Nothing but the step covers these gaps: Python between the ops, or work that was not recorded. "
        "Record Python frames (with_stack=True) or ranges of your own to see which.",
        innermost=r"(?i)^(?:profiler)?step\b|^ProfilerStep#|\b(?:iteration|epoch)\b",
        is_long=True,
    ),
    IdleRule(
        "own_line",
        Cause.HOST_LATE,
        "Python code keeps the launching thread busy here while the device stands idle. Do it in another "
        "thread or process, before the loop, or after the next launches.",
        is_named=True,
        has_line=True,
    ),
    IdleRule(
        "named_work",
        Cause.HOST_LATE,
        "The launching thread is busy with this while the device stands idle. Do it elsewhere, "
        "once, or after the next launches.",
        is_named=True,
    ),
    IdleRule(
        "nothing_named",
        Cause.HOST_LATE,
        "The trace does not name what the launching thread did here. Record ranges (record_function, roctx, "
        "nvtx) or Python frames (with_stack=True), and look at the other threads on the timeline.",
        is_named=False,
    ),
    IdleRule(
        "host_function",
        Cause.HOST_FUNCTION,
        "The stream stands still while the CPU runs a host function. Do that work in a small kernel on the "
        "device, or in time before the stream needs its result.",
    ),
    IdleRule(
        "launches_after_waits",
        Cause.LAUNCH,
        _LEAD_LOST,
        follows_waits=True,
    ),
    IdleRule(
        "launches_one_by_one",
        Cause.LAUNCH,
        "Kernels are launched one by one onto an empty device. Let the host run ahead (no waits in between), "
        "fuse small kernels, or replay a captured graph.",
        least_share=0.02,
    ),
    IdleRule(
        "busy_launch_call",
        Cause.IN_CALL,
        "The launching call itself took long: a first load of code, an allocation, or a lock. Warm "
        "up before the loop and keep allocations out of it.",
    ),
    IdleRule(
        "queued_but_not_started",
        Cause.DEPENDENCY,
        "The work was queued, yet the device did not start it: look at events between streams, at "
        "copies that the kernels wait for, and at the cost of starting many small kernels (a "
        "captured graph lowers it).",
        least_share=0.02,
    ),
)
"""In order: the first that applies is what the page says."""


def advice_for_idle(idle: IdleFacts) -> IdleRule | None:
    """The rule for idle time; None where no rule knows, or it is too little to speak of."""
    return next((rule for rule in IDLE_RULES if rule.applies(idle)), None)
