"""A comparison of many devices: what a person can read, and how much more there is."""

from __future__ import annotations

import pytest

from overlap_lab.compare import Comparison, compare
from overlap_lab.compare.reasons import listed
from overlap_lab.render.compare_markdown import comparison_to_markdown
from overlap_lab.render.compare_text import comparison_text
from scripts.many_ranks import devices_of_one_thread, ranks


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare([ranks(40)], [devices_of_one_thread(40)])


def test_eight_windows_are_explained_and_the_other_devices_counted(comparison: Comparison) -> None:
    text = comparison_text(comparison)
    assert sum(line.startswith("device ") and ": window" in line for line in text.splitlines()) == 8
    assert "... and 32 more devices, whose windows changed no more" in text
    assert "32 more devices" in comparison_to_markdown(comparison)


def test_so_many_measures_are_listed_and_the_others_counted(comparison: Comparison) -> None:
    cut = comparison_text(comparison, width=400).splitlines()
    assert sum("(device " in line for line in cut) == 200
    [more] = [line for line in cut if "(all of them with --full)" in line]
    [alike] = [line for line in cut if line.endswith("on either side.")]
    others = int(more.split()[2].replace(",", "")) + int(alike.split()[0].replace(",", ""))
    assert len(comparison.differences) == 200 + others


def test_a_list_of_names_is_cut_and_counted() -> None:
    assert listed(["0", "1"]) == "0, 1"
    assert listed(map(str, range(20))).endswith(", 14, 15 and 4 more")
