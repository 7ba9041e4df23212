"""The store of baselines, and its doors for Python."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import overlap_lab
from overlap_lab.compare.baseline import Baseline, baseline_of, made_now, runs_to_store
from overlap_lab.compare.baseline_json import baseline_from_json, baseline_to_json
from overlap_lab.compare.baseline_machine import machine_of
from overlap_lab.compare.baseline_store import Saved, check_name, named, save, saved_in
from overlap_lab.compare.comparison import Verdict
from overlap_lab.compare.samples import run_of
from overlap_lab.errors import BrokenBaseline, UsageError
from overlap_lab.trace import Trace
from tests.unit.compare.stepped import steps_of


def trace(cpu: str = "one", length: int = 10) -> Trace:
    return steps_of([length] * 12, metadata={"cpu": cpu})


def test_a_baseline_is_found_by_name_and_machine(tmp_path: Path) -> None:
    overlap_lab.save_baseline("main", trace(), store=tmp_path)
    overlap_lab.save_baseline("main", trace("other", 90), store=tmp_path)
    found = overlap_lab.find_baseline("main", trace(), store=tmp_path)
    assert overlap_lab.compare(found, trace()).verdict is Verdict.SAME
    assert overlap_lab.compare(found, trace(length=30)).verdict is Verdict.WORSE


def test_the_newest_of_a_name_counts(tmp_path: Path) -> None:
    for length in (10, 30):
        overlap_lab.save_baseline("main", trace(length=length), store=tmp_path)
    found = overlap_lab.find_baseline("main", trace(), store=tmp_path)
    assert overlap_lab.compare(found, trace(length=30)).verdict is Verdict.SAME


def test_what_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no baseline is called 'main'; it holds none"):
        overlap_lab.find_baseline("main", trace(), store=tmp_path / "none")
    overlap_lab.save_baseline("main", trace("other"), store=tmp_path)
    with pytest.raises(UsageError, match="another kind of machine: the CPUs differ: other against one"):
        overlap_lab.find_baseline("main", trace(), store=tmp_path)


def test_names_beyond_the_first_eight_are_counted(tmp_path: Path) -> None:
    for at in range(10):
        overlap_lab.save_baseline(f"n{at}", trace(), store=tmp_path)
    with pytest.raises(
        UsageError, match=r"it holds n0, n1, n2, n3, n4, n5, n6, n7 and 2 more; save one with"
    ):
        overlap_lab.find_baseline("main", trace(), store=tmp_path)


def test_what_tests_recorded_is_found_by_its_node_id(tmp_path: Path) -> None:
    tests = {f"t.py::{letter}": runs_to_store([trace()]) for letter in "abcdef"}
    save(tmp_path, made_now("main", machine_of(run_of(trace()).report.source), tests))
    found = overlap_lab.find_baseline("main", trace(), store=tmp_path, entry="t.py::e")
    assert overlap_lab.compare(found, trace()).verdict is Verdict.SAME
    there = r"t.py::a, t.py::b, t.py::c, t.py::d and 2 more"
    with pytest.raises(UsageError, match=rf"holds tests \({there}\), not a trace"):
        overlap_lab.find_baseline("main", trace(), store=tmp_path)
    with pytest.raises(UsageError, match=f"has nothing about t.py::g; it has {there}"):
        overlap_lab.find_baseline("main", trace(), store=tmp_path, entry="t.py::g")


def test_a_name_comes_before_a_tag_and_a_tag_before_a_number(tmp_path: Path) -> None:
    def numbers(word: str) -> list[int]:
        return [one.number for one in named(tmp_path, word)]

    for name, tag in (("first", "0003"), ("second", "first"), ("third", "nightly")):
        overlap_lab.save_baseline(name, trace(), store=tmp_path, tags=[tag])
    assert [numbers(word) for word in ("first", "0003", "nightly", "2")] == [[1], [1], [3], [2]]
    assert numbers("4") == []


def test_a_write_that_fails_leaves_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = baseline_of("main", [trace()])
    first = save(tmp_path, made)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UsageError, match="cannot be written: No space left"):
        save(tmp_path, made)
    assert saved_in(tmp_path) == [first]
    assert [path.name for path in first.path.parent.iterdir()] == ["0001_main.json"]


def test_what_is_no_baseline_in_the_store_is_passed_over(tmp_path: Path) -> None:
    first = save(tmp_path, baseline_of("main", [trace()]))
    folder = first.path.parent
    for name in (".0002_main.json", "0003_main.json.part", "notes.txt", "12_main.json", "0004_../x"):
        (folder / name.replace("/", "_")).write_text("")
    (folder / "0005_main.json").mkdir()
    (tmp_path / "0006_main.json").write_text("")
    assert saved_in(tmp_path) == [first]


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "-x", "a b", "ä", "x" * 81, "a\n"])
def test_a_name_that_could_lead_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a baseline"):
        check_name(name)


def test_one_that_is_too_large_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = save(tmp_path, baseline_of("main", [trace()]))
    monkeypatch.setattr(sys.modules["overlap_lab.compare.baseline_store"], "LARGEST", 1 << 10)
    with pytest.raises(BrokenBaseline, match="is larger than"):
        saved.read()
    with pytest.raises(UsageError, match="save fewer runs"):
        save(tmp_path, baseline_of("main", [trace()]))


def test_one_that_went_away_says_so(tmp_path: Path) -> None:
    with pytest.raises(BrokenBaseline, match="cannot be read: No such file"):
        Saved("m", 1, "main", tmp_path / "gone.json").read()


def written() -> Baseline:
    return baseline_of("main", [trace(), trace()], tags=["v1"], commit="abc")


def test_a_baseline_survives_its_file() -> None:
    text = baseline_to_json(written())
    again = baseline_from_json(text.encode(), where="here")
    assert baseline_to_json(again) == text


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (("name",), 3, "name is no text"),
        (("tags",), "v1", "tags is no list"),
        (("machine", "facts", "cpu"), ["x"], "machine.facts.cpu is no text"),
        (("entries", "trace"), [], "entry 'trace' has no runs"),
        (("entries", "trace", 0, "steps", "size"), 11, "steps of size 11 have 12 values"),
        (("entries", "trace", 0, "steps", "size"), True, "is no number"),
        (("entries", "trace", 0, "steps", "size"), -1, "is no whole number"),
        (("entries", "trace", 0, "measurements", 0, "value"), "7", "is no number"),
        (("entries", "trace", 0, "measurements", 0, "value"), 10**4000, "is no number"),
        (("entries", "trace", 0, "measurements", 0, "device"), 0.5, "is no whole number"),
        (("entries", "trace", 0, "source", "metadata"), None, "source.metadata is no object"),
        (("entries", "trace", 0, "source", "devices"), {"0": 3}, "source.devices is no text"),
        (("entries", "trace", 0, "verdict"), "x" * 1001, "is a text of 1001 letters"),
        (("entries", "trace", 0, "drains"), {"a": None}, "is no number"),
    ],
)
def test_content_that_cannot_be_is_refused(path: tuple[str | int, ...], value: object, why: str) -> None:
    whole = json.loads(baseline_to_json(written()))
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with pytest.raises(BrokenBaseline) as caught:
        baseline_from_json(json.dumps(whole).encode(), where="here")
    assert why in str(caught.value)


def test_an_endless_number_names_nothing(tmp_path: Path) -> None:
    overlap_lab.save_baseline("main", trace(), store=tmp_path)
    assert [one.name for one in named(tmp_path, "1")] == ["main"]
    assert named(tmp_path, "9" * 5000) == []


def test_what_could_not_be_read_again_is_not_stored(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at most 500 letters"):
        overlap_lab.save_baseline("main", trace(), store=tmp_path, tags=["x" * 2000])
    assert saved_in(tmp_path) == []


def test_a_device_with_an_endless_name_is_stored_and_read_again(tmp_path: Path) -> None:
    long = steps_of([10] * 12, metadata={"cpu": "one"})
    source = replace(long.source, devices={0: "G" * 100_000})
    renamed = replace(long, source=source)
    overlap_lab.save_baseline("main", renamed, store=tmp_path)
    assert len(overlap_lab.find_baseline("main", renamed, store=tmp_path)) == 1
