"""Every real capture in the formats that can be read loads, with the rows that its list counts.

The captures belong to others and are not part of this project: without the folder, nothing is tested here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from overlap_lab.errors import BrokenTrace, UnknownFormat
from overlap_lab.loaders import find_inputs, load
from overlap_lab.loaders.rocprof_csv import read_rocprof_csv
from overlap_lab.schema import ABSENT_PROCESS, Kind
from overlap_lab.trace import Trace

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "samples"

pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason=f"no captures of others in {SAMPLES}")

# Path, host API calls, device ops, as SOURCES.md counts them.
TRACES = """
kineto_amd/aorta_smci350.pt.trace.json 73 20
kineto_amd/hpctraining_merged_all_events.json.gz 20503 16287
kineto_amd/hta_mi250_minitoy_train_ROCm6_2.json.gz 21 16
kineto_amd/tracelens_mi210_gpu_only_trace.json.gz 631 562
kineto_amd/tracelens_mi300_Falconsai_nsfw_image_detection__1016002.json.gz 437 155
kineto_amd/tracelens_mi300_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz 1707 1517
kineto_amd/tracelens_mi300_gaunernst_bert-small-uncased__1016001.json.gz 161 61
kineto_amd/tracelens_sglang_Qwen3-8B_prefilldecode.json.gz 1069 534
kineto_amd/tracelens_vllm_prefilldecode_piecewise_graph_execution.json.gz 381 423
kineto_amd/tracelens_xdit_flux1_aiter_sage_rank_0.json.gz 2958 7866
kineto_nvidia/hta_cuda_event_sync.json.gz 12 5
kineto_nvidia/hta_cuda_event_sync_multi_stream.json.gz 39 6
kineto_nvidia/hta_nccl_parser_config.json.gz 8740 3774
kineto_nvidia/hta_trace_diff_control.json.gz 24692 9450
kineto_nvidia/kineto_tb_resnet50_num_workers_0_worker0.1623143089861.pt.trace.json.gz 11923 9096
kineto_nvidia/tracelens_h100_Falconsai_nsfw_image_detection__1016002.json.gz 383 156
kineto_nvidia/tracelens_h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz 1922 1707
kineto_nvidia/tracelens_h100_gaunernst_bert-small-uncased__1016001.json.gz 132 61
kineto_nvidia/kineto_docs_after_fix_trace.json 1 1
kineto_nvidia/kineto_docs_before_fix_trace.json 1 1
nsys_sqlite/nsys-ai_mfu_2gpu_before.sqlite 7466 5299
nsys_sqlite/nsys-ai_mock.sqlite 9 3
rocpd_db/hgliu_batched_gemm_28_results.db 629 151
rocprofv3_json/tracelens_908_results.json.gz 0 43915
"""

# CSV files one by one: `load` would take each with its set. Markers are ranges here; the list counts them as
# API (5 of marker_api_trace.csv, 6 of python_bindings.csv).
CSV_FILES = """
docs_rocm6.3/hip_compile_trace.csv 4 0
docs_rocm6.3/hip_runtime_trace.csv 8 0
docs_rocm6.3/hsa_api_trace.csv 10 0
docs_rocm6.3/kernel_trace.csv 0 7
docs_rocm6.3/marker_api_trace.csv 0 0
docs_rocm6.3/memory_copy_trace.csv 0 2
docs_rocm7.0/hip_compile_trace.csv 5 0
docs_rocm7.0/hip_runtime_trace.csv 8 0
docs_rocm7.0/hip_trace.csv 17 0
docs_rocm7.0/hsa_api_trace.csv 10 0
docs_rocm7.0/kernel_trace.csv 0 9
docs_rocm7.0/kernel_trace_truncated.csv 0 4
docs_rocm7.0/marker_api_trace.csv 0 0
docs_rocm7.0/memory_copy_trace.csv 0 4
docs_rocm7.0/python_bindings.csv 0 0
docs_rocm7.0/rccl_trace.csv 21 0
docs_rocm7.0/rocpd-to-csv.csv 13 0
llama_gfx1151_ruv/decode_hip_api_trace.csv 920 0
llama_gfx1151_ruv/decode_kernel_trace.csv 0 144
llama_gfx1151_ruv/prefill_hip_api_trace.csv 5 0
llama_gfx1151_ruv/prefill_kernel_trace.csv 0 1128
"""

# No row of these is an event of a trace.
NO_TRACE = """
docs_rocm6.3/counter_collection.csv
docs_rocm6.3/hip_api_stats.csv
docs_rocm6.3/kernel_names.csv
docs_rocm7.0/counter_collection.csv
docs_rocm7.0/hip_api_stats.csv
docs_rocm7.0/hip_domain_stats.csv
docs_rocm7.0/memory_allocation_trace.csv
docs_rocm7.0/scratch_memory_trace.csv
llama_gfx1151_ruv/decode_stall_counter_collection.csv
llama_gfx1151_ruv/prefill_stall_counter_collection.csv
"""

REFUSED = """
legacy_rocprof_v1/rocm_blogs_HIP_trace/results.db
legacy_rpd/matmul_result.json
legacy_rpd/matmul_result.rpd
"""


def rows(table: str) -> list[list[str]]:
    return [line.split() for line in table.strip().splitlines()]


def counts(trace: Trace) -> tuple[int, int]:
    return int(trace.is_host_call.sum()), int(trace.is_device.sum())


@pytest.mark.parametrize(("name", "calls", "ops"), rows(TRACES))
def test_a_capture_has_the_rows_of_its_list(name: str, calls: str, ops: str) -> None:
    trace = load(SAMPLES / name)
    assert counts(trace) == (int(calls), int(ops))
    assert not trace.source.faults
    assert (trace.process[trace.is_device] != ABSENT_PROCESS).all()


@pytest.mark.parametrize(("name", "calls", "ops"), rows(CSV_FILES))
def test_a_csv_file_has_the_rows_of_its_list(name: str, calls: str, ops: str) -> None:
    trace = read_rocprof_csv([SAMPLES / "rocprofv3_csv" / name])
    assert counts(trace) == (int(calls), int(ops))
    assert not trace.source.faults


@pytest.mark.parametrize("name", ["docs_rocm6.3/marker_api_trace.csv", "docs_rocm7.0/python_bindings.csv"])
def test_markers_are_ranges(name: str) -> None:
    trace = read_rocprof_csv([SAMPLES / "rocprofv3_csv" / name])
    assert set(trace.kind.tolist()) == {Kind.RANGE}
    assert len(trace) == (5 if "marker" in name else 6)


@pytest.mark.parametrize("name", [name for [name] in rows(NO_TRACE)])
def test_counters_and_statistics_alone_are_no_trace(name: str) -> None:
    with pytest.raises(BrokenTrace, match="no trace"):
        read_rocprof_csv([SAMPLES / "rocprofv3_csv" / name])


@pytest.mark.parametrize("name", [name for [name] in rows(REFUSED)])
def test_a_capture_of_another_format_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(UnknownFormat) as caught:
        load(SAMPLES / name)
    assert "\n" not in str(caught.value)


def test_the_list_of_captures_is_complete() -> None:
    listed = {name for table in (TRACES, REFUSED) for name, *_ in rows(table)}
    listed |= {f"rocprofv3_csv/{name}" for table in (CSV_FILES, NO_TRACE) for name, *_ in rows(table)}
    there = {
        str(p.relative_to(SAMPLES)) for p in SAMPLES.rglob("*") if p.is_file() and p.name != "SOURCES.md"
    }
    assert there == listed


def test_a_folder_gives_all_its_traces() -> None:
    assert len(find_inputs(SAMPLES / "kineto_amd")) == 10
    assert len(find_inputs(SAMPLES / "kineto_nvidia")) == 10
    llama = find_inputs(SAMPLES / "rocprofv3_csv" / "llama_gfx1151_ruv")
    assert [len(found.files) for found in llama] == [2, 2]


def test_merged_ranks_own_their_ops() -> None:
    trace = load(SAMPLES / "kineto_amd" / "hpctraining_merged_all_events.json.gz")
    kernels = trace.where(trace.is_device)
    owners = {(int(d), int(p)) for d, p in zip(kernels.device, kernels.process, strict=True)}
    assert owners == {(2, 3194582), (3, 103194583), (4, 203194584), (5, 303194585)}


def test_streams_of_one_process_are_told_from_the_queues_that_they_share() -> None:
    trace = load(SAMPLES / "rocprofv3_json" / "tracelens_908_results.json.gz")
    assert (len(set(trace.stream.tolist())), len(set(trace.queue.tolist()))) == (567, 5)
    assert (trace.start_ns[1:] >= trace.start_ns[:-1]).all()
