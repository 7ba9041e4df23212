"""Hand-calculated traces: every number of their `EXPECTED.md`, exactly, through the command's JSON."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from overlap_lab.loaders import load
from tests.reference.calculator import calculate, key
from tests.reference.command import Document, as_process, in_process, json_of, value

DATA = Path(__file__).parent / "data"
US = 1_000

TIMES = {
    "busy": "device/busy",
    "window": "device/window",
    "idle": "device/idle",
    "blocked": "host/blocked",
    "explicit": "host/blocked/explicit",
    "implicit": "host/blocked/implicit",
    "drain_idle": "drain/idle",
}
COUNTS = {"gaps": "device/gaps", "drains": "drain/count", "terminal": "drain/terminal"}

CONTROL_RATIOS = (Fraction(2, 250), Fraction(102, 250))
RATIOS = {
    "01_item_sync_loop": (Fraction(33, 1206), Fraction(424, 1206)),
    "02_fmha_bwd_sync_vs_async/sync": (Fraction(356, 918), Fraction(700, 918)),
    "02_fmha_bwd_sync_vs_async/async": (Fraction(92, 926), Fraction(1)),
    "03_pageable_async_copy": (Fraction(10, 540), Fraction(220, 540)),
    "06_cuda_sync_rows": (Fraction(3, 200), Fraction(53, 200)),
    "08_first_launch_not_a_wait": (Fraction(20, 120), Fraction(70, 120)),
    "09_null_stream_copy": (Fraction(19, 902), Fraction(271, 902)),
    "12_graph_one_launch_many_kernels": (Fraction(0), Fraction(120, 242)),
    "14_duration_overflow": (Fraction(14, 510), Fraction(114, 510)),
    "20_correlation_ids": (Fraction(17, 300), Fraction(67, 300)),
    "25_dataloader_or_sync": (Fraction(409, 1002), Fraction(609, 1002)),
}
"""Literal and without terminal waits, as the fractions of the hand calculations."""

REPAIRED = (
    "03_trailing_comma",
    "04_nan",
    "05_control_char",
    "06_windows_path",
    "07_bad_utf8",
    "09_duplicate_keys",
)
EQUAL_TO_CONTROL = [
    "17_units_and_shapes/a_unit_ms.json",
    "17_units_and_shapes/b_unit_ns_still_us.json",
    "17_units_and_shapes/c_times_as_strings.json",
    "17_units_and_shapes/d_top_level_list.json",
    "19_broken_files/00_control.json",
    "19_broken_files/02_no_closing.json",
    *(f"19_broken_files/{name}.json" for name in REPAIRED),
    "22_rocpd_one_process",
    "23_csv_headers/6.2",
    "23_csv_headers/7.0",
]
EVERY = [*RATIOS, *EQUAL_TO_CONTROL]


def trace_of(case: str) -> Path:
    """The file of a case with one trace file, otherwise its folder."""
    for name in ("trace.json", "report.sqlite", "one_results.db"):
        if (DATA / case / name).exists():
            return DATA / case / name
    return DATA / case


def expected_of(case: str) -> dict[str, Any]:
    folder, _, part = case.partition("/")
    sides: dict[str, dict[str, Any]] = json.loads((DATA / folder / "expected.json").read_text())
    return sides.get(f"{part}/") or next(iter(sides.values()))


def ratios_of(case: str) -> tuple[Fraction, Fraction]:
    return RATIOS.get(case, CONTROL_RATIOS)


def assert_numbers(document: Document, expected: dict[str, Any], ratios: tuple[Fraction, Fraction]) -> None:
    for name, tag in TIMES.items():
        assert value(document, tag) == round(expected[name] * US), tag
    for name, tag in COUNTS.items():
        assert value(document, tag) == expected[name], tag
    assert value(document, "overlap/ratio_literal") == float(ratios[0])
    assert value(document, "overlap/ratio") == float(ratios[1])


def quantiles(leads: list[int]) -> dict[str, int]:
    """Of run-aheads in us, in ns: by linear interpolation, in whole ns."""
    ordered, found = sorted(leads), {}
    for name, tenths in (("min", 0), ("p10", 1), ("median", 5), ("p90", 9), ("max", 10)):
        place = Fraction(tenths, 10) * (len(ordered) - 1)
        low = min(int(place), len(ordered) - 1)
        high = min(low + 1, len(ordered) - 1)
        found[name] = round(US * (ordered[low] + (place - low) * (ordered[high] - ordered[low])))
    return found


@pytest.mark.parametrize("case", EVERY)
def test_the_json_of_a_real_process_gives_the_hand_calculated_numbers(case: str) -> None:
    result = as_process("analyze", trace_of(case), "--json", "-")
    assert (result.returncode, result.stderr) == (0, "")
    assert_numbers(json.loads(result.stdout), expected_of(case), ratios_of(case))


@pytest.mark.parametrize("case", EVERY)
def test_run_ahead_is_that_of_every_linked_op(case: str) -> None:
    document, expected = json_of(trace_of(case)), expected_of(case)
    for name, tag in (("ra", "run_ahead"), ("rae", "run_ahead_from_end")):
        if name in expected:
            for quantile, lead in quantiles(expected[name]).items():
                assert value(document, f"{tag}/{quantile}") == lead, quantile


@pytest.mark.parametrize("case", EVERY)
def test_the_reference_calculator_gives_the_hand_calculated_numbers(case: str) -> None:
    values, expected = calculate(load(trace_of(case))), expected_of(case)
    for name, tag in TIMES.items():
        assert values[key(tag)] == round(expected[name] * US), tag
    for name, tag in COUNTS.items():
        assert values[key(tag)] == expected[name], tag
    assert (values[key("overlap/ratio_literal")], values[key("overlap/ratio")]) == tuple(
        float(ratio) for ratio in ratios_of(case)
    )


def test_01_the_wait_splits_into_device_time_and_return_latency() -> None:
    document = json_of(trace_of("01_item_sync_loop"))
    assert value(document, "host/blocked/device_bound") == 1_173 * US
    assert value(document, "host/blocked/return_latency") == 27 * US


def test_01_the_gaps_start_at_a_wait_not_at_a_slow_launch() -> None:
    document = json_of(trace_of("01_item_sync_loop"))
    assert value(document, "device/idle/drain") == 196 * US


def test_01_the_framework_op_that_waited_is_named() -> None:
    _, text, _ = in_process("analyze", trace_of("01_item_sync_loop"))
    assert "aten::item" in text or "aten::_local_scalar_dense" in text


def test_02_sync_idles_in_drains_and_between_layers() -> None:
    document = json_of(trace_of("02_fmha_bwd_sync_vs_async/sync"))
    assert value(document, "device/idle/drain") == 154 * US
    assert value(document, "device/idle/host_late") == 56 * US
    assert value(document, "device/idle/launch") == 8 * US


def test_02_async_idles_behind_host_functions_and_dependencies() -> None:
    document = json_of(trace_of("02_fmha_bwd_sync_vs_async/async"))
    assert value(document, "device/idle/host_function") == 2 * 24 * US
    assert value(document, "device/idle/dependency") == 2 * 2 * US


def test_03_only_the_pageable_copy_blocks() -> None:
    document = json_of(trace_of("03_pageable_async_copy"))
    assert value(document, "host/blocked/pageable_copy") == 334 * US
    assert value(document, "device/idle/dependency") == 2 * US
    assert value(document, "device/idle/drain") == 20 * US


def test_06_sync_rows_make_no_stream_and_the_empty_sync_is_redundant() -> None:
    document = json_of(trace_of("06_cuda_sync_rows"))
    streams = {m["scope"]["stream"] for m in document["measurements"] if m["tag"].startswith("stream/")}
    assert not streams & {-1, 4_294_967_295}
    assert value(document, "host/redundant_waits") == 1


def test_08_the_first_launch_blocks_nothing() -> None:
    document = json_of(trace_of("08_first_launch_not_a_wait"))
    assert value(document, "host/blocked/stream_sync") == 64 * US
    assert value(document, "host/blocked/device_sync") == 64 * US
    assert value(document, "device/idle/host_late") == 70 * US
    assert value(document, "device/idle/launch") == 10 * US
    assert value(document, "device/idle/drain") == 30 * US


def test_09_the_copy_drains_its_blocking_stream_only() -> None:
    document = json_of(trace_of("09_null_stream_copy"))
    drains = {
        m["scope"]["stream"]: m["value"] for m in document["measurements"] if m["tag"] == "stream/drain/count"
    }
    assert drains == {0: 0, 1: 1, 2: 0}
    assert value(document, "stream/drain/idle", device=4, stream=1) == 35 * US


def test_12_every_kernel_of_a_graph_links_to_its_launch() -> None:
    document = json_of(trace_of("12_graph_one_launch_many_kernels"))
    assert value(document, "quality/unlinked_ops") == 0
    assert value(document, "quality/launches_without_op") == 0
    assert value(document, "quality/graph_ops") == 12


def test_14_the_corrupt_end_is_cut_and_counted() -> None:
    document = json_of(trace_of("14_duration_overflow"))
    assert value(document, "quality/clipped") == 1


def test_17_a_file_in_the_wrong_unit_is_a_thousand_times_longer_not_guessed() -> None:
    document = json_of(DATA / "17_units_and_shapes" / "e_writer_used_ns.json")
    expected = expected_of("17_units_and_shapes")
    longer = {name: expected[name] * 1_000 for name in TIMES}
    assert_numbers(document, expected | longer, CONTROL_RATIOS)


def test_19_a_truncated_file_gives_its_readable_part_and_says_so() -> None:
    document = json_of(DATA / "19_broken_files" / "01_truncated.json")
    expected = expected_of("19_broken_files") | {"blocked": 158, "explicit": 158, "terminal": 0}
    assert_numbers(document, expected, (Fraction(102, 250), Fraction(102, 250)))
    assert value(document, "quality/truncated") == 1


@pytest.mark.parametrize("name", REPAIRED)
def test_19_a_repaired_row_is_counted(name: str) -> None:
    assert value(json_of(DATA / "19_broken_files" / f"{name}.json"), "quality/rows_repaired") == 1


def test_19_an_unescaped_quote_is_repaired_or_is_one_clear_error() -> None:
    path = DATA / "19_broken_files" / "08_quote_in_name.json"
    code, out, err = in_process("analyze", path, "--json", "-")
    if code == 0:
        assert_numbers(json.loads(out), expected_of("19_broken_files"), CONTROL_RATIOS)
        assert value(json.loads(out), "quality/rows_repaired") == 1
    else:
        assert (code, out, len(err.splitlines())) == (2, "", 1)
        assert "line" in err


def test_20_ids_are_64_bits_wide_and_pair_in_time_order() -> None:
    document = json_of(trace_of("20_correlation_ids"))
    assert value(document, "quality/unlinked_ops") == 2
    assert value(document, "quality/launches_without_op") == 3
    assert value(document, "quality/id_reused") == 1


def test_22_the_rocpd_scope_names_process_and_agent() -> None:
    document = json_of(trace_of("22_rocpd_one_process"))
    assert value(document, "device/busy", device=4) == 250 * US
    assert value(document, "host/blocked", process=4001) == 272 * US


def test_25_the_data_loader_and_the_wait_get_their_own_gap() -> None:
    document = json_of(trace_of("25_dataloader_or_sync"))
    assert value(document, "device/idle/host_late") == 440 * US
    assert value(document, "device/idle/launch") == 10 * US
    assert value(document, "device/idle/drain") == 35 * US
