from __future__ import annotations

from overlap_lab.render.aligned import aligned
from overlap_lab.report import Column, Table

WAITS = Table(
    (Column("call", "text"), Column("blocked", "ns"), Column("waits", "count")),
    (("hipMemcpy", 312_000, 6), ("hipDeviceSynchronize", None, 1_234)),
)


def test_numbers_stand_right_and_texts_left() -> None:
    assert aligned(WAITS, width=80) == [
        "call                  blocked  waits",
        "hipMemcpy              312 us      6",
        "hipDeviceSynchronize      n/a  1,234",
    ]


def test_a_narrow_screen_shortens_texts_visibly_and_never_numbers() -> None:
    assert aligned(WAITS, width=30) == [
        "call            blocked  waits",
        "hipMemcpy        312 us      6",
        "hipDeviceSync…      n/a  1,234",
    ]


def test_a_name_from_a_trace_cannot_colour_the_terminal() -> None:
    [_, row] = aligned(Table((Column("call", "text"),), (("\x1b[31mred",),)), width=80)
    assert row == "\\x1b[31mred"


def test_a_table_without_rows_is_its_header() -> None:
    assert aligned(Table((Column("call", "text"),), ()), width=80) == ["call"]
