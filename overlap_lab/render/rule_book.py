"""What to do about a wait: a table of rules, each with the facts that it needs.

A rule speaks only where all of its conditions hold; the first that does wins, and where none does the page
says nothing. Every rule is tested where it applies and where it stays silent. `{A|B}` in advice are AMD's and
NVIDIA's names of one thing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from overlap_lab.render.costly_waits import CostlyWait
from overlap_lab.render.wait_rows import COPY_OPS
from overlap_lab.schema import CopyKind, Memory, Reason

__all__ = ["WAIT_RULES", "WaitRule", "advice_for_wait"]

_SMALL_COPY: Final = 64 * 1024
_SYNCS: Final = frozenset({Reason.STREAM_SYNC, Reason.DEVICE_SYNC, Reason.EVENT_SYNC})
_COPIES: Final = frozenset({Reason.SYNC_COPY, Reason.PAGEABLE_COPY})
_COPY_OPS: Final = "|".join(sorted(COPY_OPS))


@dataclass(frozen=True, slots=True)
class WaitRule:
    """Advice for waits that meet every condition given; a condition left out is met."""

    name: str
    advice: str
    reasons: frozenset[str] = frozenset()
    calls: str = ""
    """Pattern that the call's name must contain."""
    ops: str = ""
    """Pattern that the framework op around it must be."""
    copies: frozenset[CopyKind] = frozenset()
    most_bytes: int | None = None
    least_bytes: int | None = None
    memory: frozenset[Memory] = frozenset()
    in_step: bool = False
    """Only where it comes back, or a step is around it."""
    drains: bool = False
    """Only where one of them returned on an empty device."""
    costs: bool = True
    """Only where device work came after at least one of these waits."""
    only_final: bool = False
    is_fault: bool = True

    def applies(self, wait: CostlyWait) -> bool:
        return all(
            (
                not self.reasons or wait.reason in self.reasons,
                not self.calls or re.search(self.calls, wait.call) is not None,
                not self.ops or re.fullmatch(self.ops, wait.op or "") is not None,
                not self.copies or wait.copy in self.copies,
                self.most_bytes is None or (wait.bytes is not None and wait.bytes <= self.most_bytes),
                self.least_bytes is None or (wait.bytes is not None and wait.bytes >= self.least_bytes),
                not self.memory or wait.memory in self.memory,
                not self.in_step or wait.in_step,
                not self.drains or wait.drains > 0,
                not self.costs or wait.final < wait.count,
                not self.only_final or wait.final == wait.count,
            )
        )


WAIT_RULES: Final = (
    WaitRule(
        "final_wait",
        "Nothing to do: a run has to wait for its own end, and no device work came after it.",
        costs=False,
        only_final=True,
        is_fault=False,
    ),
    WaitRule(
        "full_queue",
        "No fault: the host is so far ahead that the queue is full, and the device never runs dry. Do"
        " not add waits to change it.",
        reasons=frozenset({Reason.QUEUE_FULL}),
        is_fault=False,
    ),
    WaitRule(
        "item_in_a_loop",
        "A tensor is read as a Python number in every round. Keep the sum on the device (total += "
        "loss.detach()) and read it once after the loop, or every N steps.",
        ops=r"aten::(item|_local_scalar_dense|is_nonzero|equal|allclose)",
        in_step=True,
    ),
    WaitRule(
        "size_from_data",
        "The op's output size depends on data, so the host must read it. Use a mask of fixed size "
        "(torch.where, multiplication) instead of an index, or give the size (nonzero_static).",
        ops=r"aten::(nonzero|unique\w*|_unique\w*|masked_select|index_put_|repeat_interleave|bincount)",
    ),
    WaitRule(
        "copy_on_the_device",
        "No host memory is in this copy, so there is nothing to pin. The call lasted just longer than one "
        "that surely waits for nothing; look at it only if it comes back often.",
        reasons=_COPIES,
        copies=frozenset({CopyKind.DEVICE_TO_DEVICE, CopyKind.PEER_TO_PEER}),
    ),
    WaitRule(
        "tensor_to_device",
        "tensor.to(device) copies from pageable memory, so the host waits for each copy. Let the loader pin "
        "its batches (DataLoader(pin_memory=True), else tensor.pin_memory()) and send them with "
        ".to(device, non_blocking=True); make small tensors on the device (device=...).",
        reasons=_COPIES,
        ops=_COPY_OPS,
        copies=frozenset({CopyKind.HOST_TO_DEVICE}),
    ),
    WaitRule(
        "tensor_to_host",
        "tensor.cpu() waits for all that is queued before its copy. Copy into pinned memory with "
        "non_blocking=True and wait for an event where the values are used, or keep them on the device.",
        reasons=_COPIES,
        ops=_COPY_OPS,
        copies=frozenset({CopyKind.DEVICE_TO_HOST}),
    ),
    WaitRule(
        "sync_of_a_tensor_copy",
        "You did not write this synchronize: a framework copy (.to, .cpu, copy_) waits so for its "
        "own copy, as the host memory is pageable. Pin that memory (pin_memory=True in the loader, "
        "tensor.pin_memory()) and copy with non_blocking=True.",
        reasons=_SYNCS,
        ops=_COPY_OPS,
    ),
    WaitRule(
        "pageable_copy",
        "The copy is called Async, but its host memory is pageable: the runtime stages it and the "
        "call waits. Pin the memory (tensor.pin_memory() or pin_memory=True in the loader, "
        "{hipHostMalloc|cudaHostAlloc}) and copy with non_blocking=True.",
        reasons=frozenset({Reason.PAGEABLE_COPY}),
    ),
    WaitRule(
        "small_copy_to_host",
        "To read a few bytes, the host waits for all that is queued before them. Do on the device what the "
        "host does with them. Or copy them to pinned memory with an Async copy, record an event, and read "
        "them when it has passed. Not in a host function: the device stands idle until that returns.",
        reasons=_COPIES,
        copies=frozenset({CopyKind.DEVICE_TO_HOST}),
        most_bytes=_SMALL_COPY,
    ),
    WaitRule(
        "large_copy_to_host",
        "Copy to pinned memory with an Async copy on a stream of its own and wait for its event only "
        "where the data is used; two buffers let the next step run meanwhile.",
        reasons=_COPIES,
        copies=frozenset({CopyKind.DEVICE_TO_HOST}),
        least_bytes=_SMALL_COPY + 1,
    ),
    WaitRule(
        "copy_to_device",
        "Copy with the Async call from pinned memory on the stream that uses the data; the host need "
        "not wait.",
        reasons=_COPIES,
        copies=frozenset({CopyKind.HOST_TO_DEVICE}),
    ),
    WaitRule(
        "copy_by_name",
        "This copy waits by its name for all queued work. Use the Async call with pinned memory on "
        "the stream that needs the data, or move what the host does with it to the device.",
        reasons=frozenset({Reason.SYNC_COPY}),
    ),
    WaitRule(
        "free_in_a_step",
        "Freeing waits for the device. Keep the memory for the next step: a caching allocator "
        "(PyTorch's, RMM), {hipFreeAsync|cudaFreeAsync} with a memory pool, or one workspace that is "
        "allocated once.",
        reasons=frozenset({Reason.ALLOC_FREE}),
        calls=r"Free",
        in_step=True,
    ),
    WaitRule(
        "allocation_in_a_step",
        "Allocate once before the loop, or take it from a caching allocator or "
        "{hipMallocAsync|cudaMallocAsync}.",
        reasons=frozenset({Reason.ALLOC_FREE}),
        calls=r"(?i)alloc|register",
        in_step=True,
    ),
    WaitRule(
        "module_load",
        "Code is loaded while the device works. Warm every kernel up before the loop, or load all at "
        "the start ({HIP_ENABLE_DEFERRED_LOADING=0|CUDA_MODULE_LOADING=EAGER}).",
        reasons=frozenset({Reason.MODULE_LOAD}),
    ),
    WaitRule(
        "sync_in_a_step",
        "The host stops inside a step. Take the synchronize out if it is left from debugging or "
        "timing (use events to time); where the order of two streams is meant, let one wait for the "
        "other's event; where the host must not run too far ahead, wait for the event of the step "
        "before the last.",
        reasons=_SYNCS,
        in_step=True,
    ),
    WaitRule(
        "sync_that_drains",
        "The device ran dry behind this wait. Wait where the result is used, not before; enqueue the "
        "next work first, or wait for an event recorded behind the op that you need instead of for "
        "all of the stream or device.",
        reasons=_SYNCS,
        drains=True,
    ),
    WaitRule(
        "lock",
        "The call waited for another thread of the process that was itself waiting for the device: "
        "find that thread's wait on the timeline and treat it.",
        reasons=frozenset({Reason.LOCK}),
    ),
)
"""In order: the first that applies is what the page says."""


def advice_for_wait(wait: CostlyWait) -> WaitRule | None:
    """The rule for a wait; None where no rule knows."""
    return next((rule for rule in WAIT_RULES if rule.applies(wait)), None)
