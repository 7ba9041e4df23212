"""Threads that an export keeps for its further lanes: one look at the rows, however many lanes there are."""

from __future__ import annotations

import numpy as np
import pytest

from overlap_lab.loaders.building import Columns, Findings
from overlap_lab.loaders.exported import put_back_threads
from overlap_lab.trace import Column


class Counted(Columns):
    """Columns that count how often they are asked for."""

    asked = 0

    def __getitem__(self, name: str) -> Column:
        self.asked += 1
        return super().__getitem__(name)


@pytest.mark.parametrize("lanes", [1, 500])
def test_rows_are_looked_at_once(lanes: int) -> None:
    thread = np.array([3, *range(1_000, 1_000 + lanes), -4])
    columns, findings = Counted(thread=thread.copy()), Findings()
    header = {"overlap_lab_threads": {str(1_000 + lane): -lane for lane in range(lanes)}}
    put_back_threads(header, findings, columns)
    assert columns.asked == 1
    assert columns["thread"].tolist() == [3, *range(0, -lanes, -1), -4]
    assert (findings.faults, findings.notes) == ({}, [])


def test_a_thread_with_the_number_of_a_lane_is_no_lane_once_put_back() -> None:
    columns = Columns(thread=np.array([8, 9]))
    put_back_threads({"overlap_lab_threads": {"8": 9, "9": 10}}, Findings(), columns)
    assert columns["thread"].tolist() == [9, 10]


def test_without_lanes_nothing_is_looked_at() -> None:
    columns, findings = Counted(thread=np.arange(3)), Findings()
    for header in ({}, {"overlap_lab_threads": {}}, {"overlap_lab_threads": {"2": None}}):
        put_back_threads(header, findings, columns)
    assert columns.asked == 0
    assert sum(findings.faults.values()) == 1
