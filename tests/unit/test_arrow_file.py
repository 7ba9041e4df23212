"""A saved trace comes back as it was; whatever else is in a file is one clear error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import overlap_lab
from overlap_lab import arrow_file
from overlap_lab.analyze import analyze
from overlap_lab.arrow_file import TRACE_KEY
from overlap_lab.errors import (
    BrokenTrace,
    InputError,
    MissingDependency,
    TraceNotFound,
    UnknownFormat,
    UsageError,
)
from overlap_lab.loaders import find_inputs
from overlap_lab.render.json import reports_to_json
from overlap_lab.schema import ABSENT, COLUMNS, Fault, Kind
from overlap_lab.trace import Source, Trace, columns_of, constant
from tests.timeline import timeline
from tests.unit.metrics.test_laws import TRACES

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.ipc")

SOURCE = Source(
    files=("a.json", "b.json"),
    format="kineto",
    vendor="nvidia",
    tool="Kineto",
    clock="epoch",
    devices={0: "H100", -1: ""},
    processes={7: "python train.py"},
    null_streams=frozenset({0, 3}),
    nonblocking_streams=frozenset({9}),
    metadata={"rank": "1"},
    faults={Fault.TRUNCATED: 1, Fault.ROWS_SKIPPED: 12},
    notes=("cut off", "12 rows skipped"),
)


def drawn() -> Trace:
    trace = timeline(
        """
        host   1 |L1L2..SSSSSSL3
        stream 0 |..K1K.K2KK...K3
        """
    )
    return trace.replace(source=SOURCE)


def assert_same(one: Trace, other: Trace) -> None:
    assert one.names == other.names
    assert one.source == other.source
    theirs = columns_of(other)
    for name, column in columns_of(one).items():
        assert column.dtype == theirs[name].dtype, name
        np.testing.assert_array_equal(column, theirs[name], err_msg=name)


def test_a_saved_trace_comes_back(tmp_path: Path) -> None:
    trace = drawn()
    path = trace.save(tmp_path / "a.arrow")
    assert path == tmp_path / "a.arrow"
    assert_same(trace, Trace.load(path))
    assert_same(trace, overlap_lab.load(str(path)))
    assert reports_to_json([analyze(trace)]) == reports_to_json([analyze(Trace.load(path))])


def test_an_empty_trace_comes_back(tmp_path: Path) -> None:
    trace = Trace.from_columns({}, names=("unused",), source=Source())
    assert_same(trace, Trace.load(trace.save(tmp_path / "a.arrow")))


NAMES = st.text(st.characters(codec=None), max_size=8)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trace=TRACES, names=st.lists(NAMES, max_size=5), seed=st.integers(0, 9))
def test_any_trace_comes_back_with_its_report(
    trace: Trace, names: list[str], seed: int, tmp_path: Path
) -> None:
    codes = np.random.default_rng(seed).integers(-1, len(names), len(trace)).astype(np.int32)
    trace = trace.replace(name=codes, names=tuple(names))
    again = Trace.load(trace.save(tmp_path / "a.arrow", force=True))
    assert_same(trace, again)
    assert reports_to_json([analyze(trace)]) == reports_to_json([analyze(again)])


def test_columns_are_views_of_the_file(tmp_path: Path) -> None:
    loaded = Trace.load(drawn().save(tmp_path / "a.arrow"))
    before = pa.total_allocated_bytes()
    for name, column in columns_of(loaded).items():
        assert not column.flags.writeable, name
        assert not column.flags.owndata, name
    assert pa.total_allocated_bytes() == before
    with pytest.raises(ValueError, match="read-only"):
        loaded.start_ns[0] = 1


def test_a_column_of_one_value_takes_no_room(tmp_path: Path) -> None:
    size = 100_000
    columns = {"start_ns": np.arange(size), "end_ns": np.arange(size) + 1, "stream": np.full(size, 7)}
    trace = Trace.from_columns(columns, names=(), source=Source())
    path = trace.save(tmp_path / "a.arrow")
    assert path.stat().st_size < size * (8 + 8 + 4 + 1)
    assert Trace.load(path).stream.strides == (0,)
    assert_same(trace, Trace.load(path))


def test_a_name_with_half_of_a_surrogate_pair_comes_back(tmp_path: Path) -> None:
    trace = Trace.from_columns({"name": [0, 1]}, names=("k\ud800", "λ"), source=Source())
    path = trace.save(tmp_path / "a.arrow")
    assert Trace.load(path).names == ("k\ud800", "λ")
    with pa.ipc.open_file(path) as reader:
        assert reader.read_all()["name"].to_pylist() == ["k?", "λ"]


def test_an_existing_file_is_kept_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    path.write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        drawn().save(path)
    assert path.read_text() == "mine"
    drawn().save(path, force=True)
    assert len(Trace.load(path)) == len(drawn())


def test_a_trace_may_be_saved_over_the_file_that_it_lies_in(tmp_path: Path) -> None:
    path = drawn().save(tmp_path / "a.arrow")
    loaded = Trace.load(path)
    loaded.save(path, force=True)
    assert_same(loaded, Trace.load(path))


def test_what_could_not_be_loaded_is_not_saved(tmp_path: Path) -> None:
    trace = drawn()
    with pytest.raises(UsageError, match="not in order of time"):
        trace.where(np.arange(len(trace))[::-1]).save(tmp_path / "a.arrow")
    assert list(tmp_path.iterdir()) == []


class _Failing:
    """A disk that is full, or a person who has had enough, after some bytes."""

    def __init__(self, error: BaseException) -> None:
        self.left = 2_000
        self.error = error
        self.write = os.write

    def __call__(self, handle: int, content: bytes) -> int:
        self.left -= len(content)
        if self.left < 0:
            raise self.error
        return self.write(handle, content)


@pytest.mark.parametrize(
    ("error", "raised"), [(OSError(28, "No space left on device"), UsageError), (KeyboardInterrupt(), None)]
)
def test_a_save_that_ends_early_leaves_nothing(
    error: BaseException,
    raised: type[BaseException] | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old = drawn().save(tmp_path / "old.arrow").read_bytes()
    monkeypatch.setattr(os, "write", _Failing(error))
    for name in ("old.arrow", "new.arrow"):
        with pytest.raises(raised or KeyboardInterrupt):
            drawn().save(tmp_path / name, force=True)
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["old.arrow"]
    assert (tmp_path / "old.arrow").read_bytes() == old


def test_a_folder_that_is_not_there_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written: No such file"):
        drawn().save(tmp_path / "none" / "a.arrow")


def test_a_folder_with_a_saved_trace_gives_it(tmp_path: Path) -> None:
    drawn().save(tmp_path / "a.arrow")
    [found] = find_inputs(tmp_path)
    assert found.format.name == "arrow"


def test_a_file_that_is_not_there_or_empty_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(TraceNotFound):
        Trace.load(tmp_path / "a.arrow")
    (tmp_path / "a.arrow").touch()
    with pytest.raises(UnknownFormat, match=r"no file of Trace.save"):
        Trace.load(tmp_path / "a.arrow")
    with pytest.raises(InputError):
        Trace.load(tmp_path)


def test_a_file_of_another_program_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    table = pa.table({"name": ["a"], "start_ns": [1]})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    for load in (overlap_lab.load, Trace.load):
        with pytest.raises(UnknownFormat, match=r"without a trace of overlap_lab; give"):
            load(path)
    path.write_text("{}")
    with pytest.raises(UnknownFormat, match="no file of Trace"):
        Trace.load(path)


def test_a_packed_file_is_refused_with_the_way_out(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "a.arrow.gz"
    path.write_bytes(gzip.compress(drawn().save(tmp_path / "a.arrow").read_bytes()))
    with pytest.raises(UnknownFormat, match="gunzip"):
        overlap_lab.load(path)


def test_a_file_cut_at_any_byte_is_one_error(tmp_path: Path) -> None:
    path = drawn().save(tmp_path / "a.arrow")
    content = path.read_bytes()
    for at in range(len(content)):
        path.write_bytes(content[:at])
        for load in (overlap_lab.load, Trace.load):
            with pytest.raises(InputError) as caught:
                load(path)
            assert "\n" not in str(caught.value)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_file_with_other_bytes_is_one_error_or_a_trace(data: st.DataObject, tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    if not path.exists():
        drawn().save(path)
        (tmp_path / "whole").write_bytes(path.read_bytes())
    content = bytearray((tmp_path / "whole").read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        trace = Trace.load(path)
    except InputError:
        return
    analyze(trace)


def saved_with(path: Path, **changes: Any) -> Path:
    """A saved trace whose columns or description were changed by hand."""
    drawn().save(path, force=True)
    with pa.ipc.open_file(path) as reader:
        table = reader.read_all()
    description = json.loads(table.schema.metadata[TRACE_KEY])
    columns = {name: table[name] for name in table.schema.names}
    for key, value in changes.items():
        if key in COLUMNS:
            columns[key] = value
        else:
            description[key] = value
    text = changes.get("text", json.dumps(description))
    table = pa.table({k: v for k, v in columns.items() if v is not None}).replace_schema_metadata(
        {TRACE_KEY: text}
    )
    options = pa.ipc.IpcWriteOptions(compression=changes.get("compression"))
    with pa.ipc.new_file(path, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=changes.get("chunk"))
    return path


def test_a_file_rewritten_as_it_was_is_a_trace(tmp_path: Path) -> None:
    assert_same(drawn(), Trace.load(saved_with(tmp_path / "a.arrow")))


def test_absent_names_that_another_writer_numbered_are_absent(tmp_path: Path) -> None:
    texts = ["a", None, "b"] + [None] * (len(drawn()) - 3)
    names = pa.array(texts).cast(pa.large_utf8()).dictionary_encode()
    trace = Trace.load(saved_with(tmp_path / "a.arrow", name=names))
    assert [trace.name_of(row) or None for row in range(len(trace))] == texts


SIZE = len(drawn())
DAMAGED: dict[str, dict[str, Any]] = {
    "a column is missing": {"start_ns": None},
    "no names": {"name": None},
    "of another type": {"start_ns": pa.array(np.zeros(SIZE, np.int32))},
    "a kind that is none": {"kind": pa.array(np.full(SIZE, max(Kind) + 1, np.uint8))},
    "an api that is none": {"api": pa.array(np.full(SIZE, 200, np.uint8))},
    "nulls": {"stream": pa.array([None] * SIZE, pa.int64())},
    "out of order": {"start_ns": pa.array(np.arange(SIZE)[::-1].astype(np.int64))},
    "times out of range": {"end_ns": pa.array(np.full(SIZE, 2**62 + 1))},
    "a name that is none": {
        "name": pa.DictionaryArray.from_arrays(
            pa.array(np.full(SIZE, 99, np.int32)), pa.array(["a"], pa.large_utf8()), safe=False
        )
    },
    "another number of rows": {"rows": 3},
    "a constant that does not fit": {"constants": {"memory": 256}},
    "a constant that is no number": {"constants": {"memory": "many"}},
    "a depth below zero": {"constants": {"depth": -1}},
    "several batches": {"chunk": 2},
    "lz4": {"compression": "lz4"},
    "zstd": {"compression": "zstd"},
    "no JSON": {"text": "{"},
    "JSON of something else": {"text": "[1]"},
    "JSON without end": {"text": "[" * 100_000},
    "a source of something else": {"source": {"files": []}},
    "an odd name that is none": {"odd_names": {"99": "a"}},
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=list(DAMAGED))
def test_a_column_or_description_that_is_wrong_is_one_error(damage: dict[str, Any], tmp_path: Path) -> None:
    path = saved_with(tmp_path / "a.arrow", **damage)
    with pytest.raises(BrokenTrace, match="damaged Arrow file") as caught:
        overlap_lab.load(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"files": "a.json"},
        {"devices": {"zero": "H100"}},
        {"devices": {"0": 1}},
        {"null_streams": [True]},
        {"faults": {"nothing like it": 1}},
        {"metadata": [1]},
    ],
    ids=str,
)
def test_a_source_of_other_types_is_one_error(change: dict[str, Any], tmp_path: Path) -> None:
    from overlap_lab.source_json import source_to_json

    path = saved_with(tmp_path / "a.arrow", source={**source_to_json(SOURCE), **change})
    with pytest.raises(BrokenTrace, match="damaged Arrow file"):
        overlap_lab.load(path)


def test_a_later_version_of_the_format_says_so(tmp_path: Path) -> None:
    with pytest.raises(UnknownFormat, match=r"version 2 of the format, .* upgrade"):
        overlap_lab.load(saved_with(tmp_path / "a.arrow", version=2))


def test_without_pyarrow_every_door_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = drawn().save(tmp_path / "a.arrow")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    doors: list[Callable[[], object]] = [
        lambda: drawn().save(tmp_path / "b.arrow"),
        lambda: Trace.load(path),
        lambda: overlap_lab.load(path),
        drawn().__arrow_c_stream__,
    ]
    for door in doors:
        with pytest.raises(MissingDependency, match=r"pip install 'overlap_lab\[arrow\]'"):
            door()


def test_the_stream_for_other_programs_shows_words_and_nulls() -> None:
    trace = Trace.from_columns(
        {"kind": [Kind.API, Kind.KERNEL], "name": [1, -1], "stream": [ABSENT, 0], "start_ns": [1, 2]},
        names=("unused", "hipMalloc"),
        source=Source(),
    )
    table = pa.table(trace)
    assert table.schema.names == list(COLUMNS)
    assert table["kind"].to_pylist() == ["api", "kernel"]
    assert table["name"].to_pylist() == ["hipMalloc", None]
    assert table["stream"].to_pylist() == [None, 0]
    assert table["start_ns"].to_pylist() == [1, 2]
    assert table["device"].null_count == 2


def test_the_stream_shares_the_memory_of_the_trace() -> None:
    trace = drawn()
    [chunk] = pa.table(trace)["start_ns"].chunks
    assert chunk.buffers()[1].address == trace.start_ns.ctypes.data


def test_the_stream_has_the_rows_that_a_frame_has() -> None:
    pytest.importorskip("pandas")
    trace = drawn()
    frame, theirs = trace.to_pandas(), pa.table(trace).to_pydict()
    for name in COLUMNS:
        shown = frame[name].astype(object)
        assert shown.where(shown.notna(), None).tolist() == theirs[name], name


def test_the_format_s_version_is_a_decision() -> None:
    """A change of what is written needs a new number, and this test a new one."""
    assert arrow_file._VERSION == 1
    assert ", ".join(COLUMNS) == (
        "kind, api, name, start_ns, end_ns, part, process, thread, device, stream, queue, correlation, "
        "wait_correlation, bytes, copy_kind, memory, graph, depth"
    )


def test_importing_the_package_does_not_import_pyarrow() -> None:
    script = "import overlap_lab, overlap_lab.loaders, sys; print('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_constant_column_is_written_once(tmp_path: Path) -> None:
    trace = Trace.from_columns({"start_ns": [1, 2], "end_ns": [3, 4]}, names=(), source=Source())
    trace = trace.replace(thread=constant(5, 2, COLUMNS["thread"]))
    with pa.ipc.open_file(trace.save(tmp_path / "a.arrow")) as reader:
        assert "thread" not in reader.schema.names
