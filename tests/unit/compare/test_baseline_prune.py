"""Which baselines may go: none that a later comparison would read."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab.compare.baseline import TRACE, Baseline, baseline_of
from overlap_lab.compare.baseline_found import fitting
from overlap_lab.compare.baseline_prune import prunable
from overlap_lab.compare.baseline_store import Saved, save, saved_in
from overlap_lab.errors import BrokenBaseline
from tests.unit.compare.stepped import steps_of

OLD = timedelta(days=100)


@cache
def one_run(cpu: str) -> Baseline:
    return baseline_of("main", [steps_of([10] * 6, metadata={"cpu": cpu})])


def store(
    folder: Path, *entries: str, name: str = "main", cpu: str = "one", age: timedelta = timedelta()
) -> Saved:
    made = one_run(cpu)
    runs = made.entries[TRACE]
    created = (datetime.now(UTC) - age).isoformat(timespec="seconds")
    return save(folder, replace(made, name=name, entries=dict.fromkeys(entries, runs), created=created))


def test_the_newest_of_a_test_stays_however_many_files_are_newer(tmp_path: Path) -> None:
    both, one = store(tmp_path, "test_a", "test_b"), store(tmp_path, "test_a")
    pruned = prunable(saved_in(tmp_path), keep=1)
    assert pruned.gone == ()
    assert pruned.needed == ((both, ("test_b",)),)
    again = store(tmp_path, "test_a", "test_b")
    pruned = prunable(saved_in(tmp_path), keep=1)
    assert (pruned.gone, pruned.needed) == ((both, one), ())
    assert again in saved_in(tmp_path)


def test_traces_do_not_push_out_the_tests_of_their_name(tmp_path: Path) -> None:
    tests = store(tmp_path, "test_a")
    traces = [store(tmp_path, TRACE) for _ in range(2)]
    pruned = prunable(saved_in(tmp_path), keep=1)
    assert pruned.gone == (traces[0],)
    assert pruned.needed == ((tests, ("test_a",)),)


def test_each_name_and_each_machine_counts_for_itself(tmp_path: Path) -> None:
    older = [store(tmp_path, "test_a"), store(tmp_path, "test_a", cpu="other")]
    store(tmp_path, "test_a", name="release")
    assert prunable(saved_in(tmp_path), keep=1).gone == ()
    store(tmp_path, "test_a")
    assert prunable(saved_in(tmp_path), keep=1).gone == (older[0],)


def test_age_alone_leaves_the_newest_of_each_entry(tmp_path: Path) -> None:
    first = store(tmp_path, "test_a", age=OLD)
    second = store(tmp_path, "test_a", "test_b", age=OLD)
    store(tmp_path, "test_a")
    pruned = prunable(saved_in(tmp_path), older_than=OLD / 2)
    assert pruned.gone == (first,)
    assert pruned.needed == ((second, ("test_b",)),)


def test_none_are_kept_where_that_is_asked_for(tmp_path: Path) -> None:
    both = store(tmp_path, "test_a", age=OLD), store(tmp_path, "test_a")
    assert prunable(saved_in(tmp_path), keep=0).gone == both
    assert prunable(saved_in(tmp_path), keep=0, older_than=OLD / 2).gone == both[:1]


def test_nothing_goes_where_a_file_cannot_be_read(tmp_path: Path) -> None:
    store(tmp_path, "test_a")
    store(tmp_path, "test_a").path.write_text("{")
    with pytest.raises(BrokenBaseline, match="can be read"):
        prunable(saved_in(tmp_path), keep=1)


class Held(Saved):
    """A file of a store that holds these entries, without the file."""

    held: ClassVar[dict[int, frozenset[str]]] = {}

    def read(self) -> Baseline:
        made = one_run("one")
        return replace(made, entries=dict.fromkeys(sorted(self.held[self.number]), made.entries[TRACE]))


@given(st.lists(st.frozensets(st.sampled_from("abcd"), min_size=1), max_size=9), st.integers(1, 3))
def test_every_entry_is_found_in_the_same_file_as_before(held: list[frozenset[str]], keep: int) -> None:
    Held.held = dict(enumerate(held))
    machine = one_run("one").machine
    every = [Held(machine.id, number, "main", Path(f"{number}")) for number in Held.held]
    gone = prunable(every, keep=keep).gone
    left = [one for one in every if one not in gone]
    for entry in "abcd":
        before, after = (
            fitting(files[::-1], machine, entry, read=lambda one: one.read()) for files in (every, left)
        )
        assert (before and before.saved) == (after and after.saved)
        holding = [one for one in every if entry in held[one.number]]
        assert set(holding[-keep:]) <= set(left)
    for one in gone:
        assert all(
            sum(entry in held[other.number] for other in left if other.number > one.number) >= keep
            for entry in held[one.number]
        )
