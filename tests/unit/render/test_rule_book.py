"""Every rule where it applies, and beside it the nearest thing where it must stay silent."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from overlap_lab.analyze import report_and_context
from overlap_lab.render.costly_waits import CostlyWait
from overlap_lab.render.costs import costs_of
from overlap_lab.render.idle_rules import IDLE_RULES
from overlap_lab.render.peer_waits import PEER_RULES
from overlap_lab.render.rule_book import WAIT_RULES, advice_for_wait
from overlap_lab.render.vendor_words import vendor_words
from overlap_lab.schema import CopyKind, Memory, Reason
from tests.timeline import timeline

WAIT = CostlyWait(
    call="cudaStreamSynchronize",
    reason=Reason.STREAM_SYNC,
    range=None,
    op=None,
    frame=None,
    count=1,
    final=0,
    drains=1,
    blocked_ns=1_000,
    idle_ns=100,
    start_ns=0,
    end_ns=1_000,
    in_step=False,
)
COPY = replace(WAIT, call="hipMemcpy", reason=Reason.SYNC_COPY, copy=CopyKind.DEVICE_TO_HOST, bytes=24)
FREE = replace(WAIT, call="hipFree", reason=Reason.ALLOC_FREE, in_step=True)

APPLIES = {
    "final_wait": replace(WAIT, final=1),
    "full_queue": replace(WAIT, call="hipLaunchKernel", reason=Reason.QUEUE_FULL, in_step=True),
    "item_in_a_loop": replace(WAIT, op="aten::_local_scalar_dense", in_step=True),
    "size_from_data": replace(WAIT, op="aten::nonzero"),
    "copy_on_the_device": replace(COPY, reason=Reason.PAGEABLE_COPY, copy=CopyKind.DEVICE_TO_DEVICE),
    "tensor_to_device": replace(COPY, op="aten::copy_", copy=CopyKind.HOST_TO_DEVICE),
    "tensor_to_host": replace(COPY, op="aten::copy_"),
    "sync_of_a_tensor_copy": replace(WAIT, op="aten::copy_", in_step=True),
    "pageable_copy": replace(
        COPY, call="hipMemcpyAsync", reason=Reason.PAGEABLE_COPY, memory=Memory.PAGEABLE
    ),
    "small_copy_to_host": COPY,
    "large_copy_to_host": replace(COPY, bytes=1 << 20),
    "copy_to_device": replace(COPY, copy=CopyKind.HOST_TO_DEVICE),
    "copy_by_name": replace(COPY, copy=None, bytes=None),
    "free_in_a_step": FREE,
    "allocation_in_a_step": replace(FREE, call="hipMalloc"),
    "module_load": replace(WAIT, call="hipModuleLoad", reason=Reason.MODULE_LOAD),
    "sync_in_a_step": replace(WAIT, in_step=True),
    "sync_that_drains": WAIT,
    "lock": replace(WAIT, call="hipMalloc", reason=Reason.LOCK),
}
SILENT = {
    "final_wait": replace(WAIT, count=3, final=1),
    "full_queue": replace(WAIT, call="hipLaunchKernel", reason=Reason.OTHER),
    "item_in_a_loop": replace(WAIT, op="aten::item"),
    "size_from_data": replace(WAIT, op="aten::nonzero_static"),
    "copy_on_the_device": replace(COPY, reason=Reason.PAGEABLE_COPY, copy=CopyKind.HOST_TO_DEVICE),
    "tensor_to_device": replace(COPY, op="aten::copy_"),
    "tensor_to_host": replace(COPY, op="aten::item"),
    "sync_of_a_tensor_copy": replace(WAIT, op="aten::add"),
    "pageable_copy": replace(COPY, call="hipMemcpyAsync", reason=Reason.OTHER, memory=Memory.PINNED),
    "small_copy_to_host": replace(COPY, bytes=None),
    "large_copy_to_host": replace(COPY, bytes=64 * 1024),
    "copy_to_device": replace(COPY, copy=CopyKind.UNKNOWN),
    "copy_by_name": replace(WAIT, call="hipMemcpyAsync", reason=Reason.OTHER),
    "free_in_a_step": replace(FREE, in_step=False),
    "allocation_in_a_step": replace(FREE, call="hipMalloc", in_step=False),
    "module_load": replace(WAIT, call="hipModuleLoad", reason=Reason.OTHER),
    "sync_in_a_step": WAIT,
    "sync_that_drains": replace(WAIT, drains=0),
    "lock": replace(WAIT, call="hipMalloc", reason=Reason.OTHER),
}


def test_every_rule_has_both_tests() -> None:
    names = [rule.name for rule in WAIT_RULES]
    assert len(set(names)) == len(names)
    assert set(names) == APPLIES.keys() == SILENT.keys()


@pytest.mark.parametrize("name", APPLIES)
def test_a_rule_speaks_where_it_applies_and_is_the_first_that_does(name: str) -> None:
    found = advice_for_wait(APPLIES[name])
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("name", SILENT)
def test_a_rule_stays_silent_beside_it(name: str) -> None:
    [rule] = [rule for rule in WAIT_RULES if rule.name == name]
    assert not rule.applies(SILENT[name])


def test_only_a_full_queue_and_the_final_wait_are_no_fault() -> None:
    assert {rule.name for rule in WAIT_RULES if not rule.is_fault} == {"final_wait", "full_queue"}


def test_a_final_copy_needs_no_advice_about_copies() -> None:
    found = advice_for_wait(replace(COPY, final=1))
    assert found is not None
    assert found.name == "final_wait"


RAW = [rule.advice for rule in (*WAIT_RULES, *IDLE_RULES, *PEER_RULES)]


def test_advice_has_the_names_of_the_vendor_and_both_where_none_is_known() -> None:
    graphs = next(one for one in RAW if "hipGraph" in one)
    assert "a captured graph (hipGraph)" in vendor_words(graphs, "amd")
    assert "a captured graph (torch.cuda.graphs)" in vendor_words(graphs, "nvidia")
    assert "a captured graph (hipGraph / torch.cuda.graphs)" in vendor_words(graphs, "unknown")


@pytest.mark.parametrize("vendor", ["amd", "nvidia"])
def test_no_advice_has_names_of_the_other_vendor(vendor: str) -> None:
    foreign = {"amd": r"\bcuda[A-Z]|\bCUDA_|torch\.cuda", "nvidia": r"\bhip[A-Z]|\bHIP_"}[vendor]
    for raw in RAW:
        told = vendor_words(raw, vendor)
        assert not re.search(foreign, told), told
        assert not set("{}|") & set(told), told


def test_costs_speak_the_words_of_their_trace() -> None:
    trace = timeline(
        """
        host   1 |L....L....L....L....L.
        stream 0 |.K....K....K....K....K
        """,
        letter_ns=10_000,
    )
    for vendor, said, other in (("amd", "hipGraph", "cuda"), ("nvidia", "torch.cuda.graphs", "hipGraph")):
        own = trace.replace(source=replace(trace.source, vendor=vendor))
        advice = costs_of(*report_and_context(own)).found[0].advice
        assert advice is not None
        assert said in advice.advice
        assert other not in advice.advice
