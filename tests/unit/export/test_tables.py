"""Tables and Arrow files hold the rows."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from overlap_lab.errors import MissingDependency
from overlap_lab.export import export_trace, tables
from overlap_lab.loaders import load
from overlap_lab.trace import Source, Trace
from tests.timeline import timeline

DRAIN = """
host 1            |L....SSSSSS....L.
device 0 stream 7 |.KKKKKKKKK......KKKKKK
"""


def test_csv_has_the_rows_of_the_data_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_ROWS_AT_ONCE", 2)  # several pieces, one header
    trace = timeline(DRAIN)
    found = pd.read_csv(export_trace(trace, tmp_path / "t.csv", to="csv"))
    expected = trace.to_pandas()
    assert list(found) == list(expected)
    for name in ("kind", "name", "start_ns", "end_ns"):
        assert found[name].tolist() == expected[name].tolist()
    assert found["stream"].isna().tolist() == expected["stream"].isna().tolist()


def test_csv_of_no_rows_has_a_header(tmp_path: Path) -> None:
    empty = Trace.from_columns({}, names=(), source=Source())
    assert export_trace(empty, tmp_path / "t.csv", to="csv").read_text().startswith("kind,")


def test_parquet_has_the_rows_of_the_data_frame(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    trace = timeline(DRAIN)
    found = parquet.read_table(export_trace(trace, tmp_path / "t.parquet", to="parquet")).to_pydict()
    assert found["start_ns"] == trace.start_ns.tolist()
    assert found["name"] == [trace.name_of(row) for row in range(len(trace))]
    assert found["stream"] == [None if pd.isna(value) else value for value in trace.to_pandas()["stream"]]


def test_arrow_is_a_saved_trace(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    trace = timeline(DRAIN)
    again = load(export_trace(trace, tmp_path / "t.arrow", to="arrow"))
    assert again.start_ns.tolist() == trace.start_ns.tolist()


def test_without_pyarrow_one_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependency, match=r"overlap_lab\[arrow\]"):
        export_trace(timeline(DRAIN), tmp_path / "t.parquet", to="parquet")
