"""Nsight Systems exports read from columns equal those read from objects, whatever the cells hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlap_lab.loaders import load
from overlap_lab.loaders.nsys_tables import NsysTables
from overlap_lab.schema import ABSENT
from tests.unit.loaders.nsys_file import CUPTI, event, global_id, one_process, sync, write_export
from tests.unit.loaders.plain_reading import assert_read_alike

SAMPLES = sorted((Path(__file__).parents[4] / "shared" / "samples").glob("**/*.sqlite"))
ODD = st.one_of(
    st.none(),
    st.integers(-3, 5),
    st.integers(ABSENT, -ABSENT - 1),
    st.sampled_from(["1", "0x10", "", "a\0b", " 7 ", "9223372036854775808", "1e3", "aten::add, seq = 12"]),
    st.floats(allow_nan=False),
    st.binary(max_size=3),
)
TIMES = st.one_of(st.none(), st.integers(0, 40))
RANGES = st.fixed_dictionaries(
    {
        "start": TIMES,
        "end": TIMES,
        "eventType": st.sampled_from([34, 59, 60, 75]),
        "globalTid": st.just(global_id(tid=501)),
        "text": st.sampled_from([None, "", "a", "b", "aten::add, seq = 12, op_id = 9", "x = 1"]),
        "textId": st.sampled_from([None, "c", "aten::mul, seq = 1", 99]),
    }
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.sqlite"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_a_sample_is_read_alike(sample: Path) -> None:
    assert_read_alike(sample)


def test_a_file_without_odd_cells_is_read_from_columns(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plainly: list[str] = []
    monkeypatch.setattr(NsysTables, "_rows", lambda _, table, *__: plainly.append(table) or [])
    assert len(load(write_export(path, one_process()))) == 6
    assert not {CUPTI + "RUNTIME", CUPTI + "KERNEL", CUPTI + "MEMCPY"} & set(plainly)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.lists(RANGES, min_size=1, max_size=8))
def test_random_ranges_are_read_alike(path: Path, ranges: list[dict[str, object]]) -> None:
    path.unlink(missing_ok=True)
    assert_read_alike(write_export(path, {**one_process(), "NVTX_EVENTS": ranges}))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.data())
def test_odd_cells_are_read_alike(path: Path, data: st.DataObject) -> None:
    path.unlink(missing_ok=True)
    tables = {
        **one_process(),
        CUPTI + "CUDA_EVENT": [event(11, 3, 1)],
        "TARGET_INFO_GPU": [{"id": 0, "name": "H"}],
        "NVTX_EVENTS": [data.draw(RANGES)],
    }
    tables[CUPTI + "SYNCHRONIZATION"] = [sync(11, 29, 13, 3), sync(31, 32, 13, 1, eventId=3)]
    for _ in range(data.draw(st.integers(1, 3))):
        table = data.draw(st.sampled_from(sorted(tables)))
        row = dict(data.draw(st.sampled_from(tables[table])))
        row[data.draw(st.sampled_from(sorted(row)))] = data.draw(ODD)
        tables[table] = [*tables[table], row]
    assert_read_alike(write_export(path, tables))
