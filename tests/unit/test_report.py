from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest

from overlap_lab import Report
from overlap_lab.errors import UsageError
from overlap_lab.report import Better, Coded, Column, ColumnRows, Difference, Measurement, Table


def measured(tag: str, value: int | None, **scope: int) -> Measurement:
    reason = None if value is not None else "no device records"
    return Measurement(tag, scope, value, "ns", tag, Better.LOWER, reason)


REPORT = Report(
    source={},
    measurements=(
        measured("host/blocked", 7),
        measured("host/blocked", 4, process=1),
        measured("host/blocked", 3, process=1, thread=0),
        measured("device/busy", None),
    ),
    tables={},
    findings=(),
)


def test_a_value_is_found_by_its_tag_and_whole_scope() -> None:
    assert REPORT.value("host/blocked") == 7
    assert REPORT.value("host/blocked", process=1) == 4
    assert REPORT.value("host/blocked", thread=0, process=1) == 3


def test_part_of_a_scope_finds_nothing() -> None:
    with pytest.raises(UsageError, match="thread"):
        REPORT.measurement("host/blocked", thread=0)


def test_an_unknown_tag_is_named() -> None:
    with pytest.raises(UsageError, match="host/blokced"):
        REPORT.value("host/blokced")


def test_a_wrong_scope_is_answered_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"its scopes: none, \{'process': 1\}, "):
        REPORT.value("host/blocked", device=1)


def test_without_a_finding_there_is_no_verdict() -> None:
    assert REPORT.verdict == "no verdict was reached"


def test_a_report_and_a_table_are_one_short_line_in_a_shell() -> None:
    table = Table((Column("call", "text"), Column("blocked", "ns")), (("hipMemcpy", 7),) * 1000)
    assert repr(table) == "Table(1,000 rows of call, blocked)"
    report = dataclasses.replace(REPORT, tables={"waits": table})
    assert repr(report) == "Report('no verdict was reached', 4 measurements, tables: waits)"


def test_a_value_that_does_not_apply_is_none_with_a_reason() -> None:
    measurement = REPORT.measurement("device/busy")
    assert (measurement.value, measurement.reason) == (None, "no device records")


def test_by_tag_keeps_the_order_and_every_scope() -> None:
    assert [m.value for m in REPORT.by_tag("host/blocked")] == [7, 4, 3]
    assert list(REPORT.by_tag("nothing")) == []


def test_a_report_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        REPORT.measurements = ()  # type: ignore[misc]


def test_a_table_becomes_a_frame_with_its_column_names() -> None:
    table = Table((Column("call", "text"), Column("blocked", "ns")), (("hipFree", 5), ("hipMemcpy", None)))
    frame = table.to_pandas()
    assert list(frame.columns) == ["call", "blocked"]
    assert frame["call"].tolist() == ["hipFree", "hipMemcpy"]
    assert frame["blocked"].isna().tolist() == [False, True]


def test_an_empty_table_keeps_its_columns() -> None:
    assert list(Table((Column("call", "text"),), ()).to_pandas().columns) == ["call"]


def test_rows_kept_as_columns_are_the_same_rows() -> None:
    size = 10_000
    calls = np.array(["hipFree", None], object)[np.arange(size) % 2]
    rows = ColumnRows(calls, np.arange(size), np.arange(size) / 4)
    plain = tuple((("hipFree", None)[at % 2], at, at / 4) for at in range(size))
    assert len(rows) == size
    assert tuple(rows) == plain
    assert (rows[7], rows[-1], rows[2:5], rows[5:2]) == (plain[7], plain[-1], plain[2:5], ())
    assert [type(cell) for cell in rows[0]] == [str, int, float]
    assert rows == plain
    assert plain == rows
    assert rows != plain[1:]
    assert hash(rows) == hash(plain)
    assert repr(ColumnRows(np.arange(2))) == "((0,), (1,))"


def test_columns_made_on_demand_are_cells_as_others_are() -> None:
    start, end = np.arange(5) * 10, np.arange(5) * 11 + 3
    words = np.array(["drain", None], object)
    rows = ColumnRows(Coded(words, np.array([0, 1, 0, 0, 1])), Difference(start, 7), Difference(end, start))
    plain = tuple((words[at], 10 * one - 7, one + 3) for one, at in enumerate([0, 1, 0, 0, 1]))
    assert tuple(rows) == plain
    assert rows.columns() == [list(column) for column in zip(*plain, strict=True)]


def test_rows_kept_as_columns_end_where_rows_do() -> None:
    rows = ColumnRows(np.arange(3))
    with pytest.raises(IndexError):
        rows[3]
    assert not ColumnRows(np.arange(0))


def test_tables_of_columns_are_copied_and_pickled_as_others_are() -> None:
    table = Table((Column("idle", "ns"),), ColumnRows(np.arange(3)))
    assert table == Table(table.columns, ((0,), (1,), (2,)))
    assert copy.deepcopy(table) == pickle.loads(pickle.dumps(table)) == table
    assert table.to_pandas()["idle"].tolist() == [0, 1, 2]
