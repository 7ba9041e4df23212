"""`overlap-lab explain` as people run it."""

from __future__ import annotations

from overlap_lab.render.glossary import WORDS
from overlap_lab.render.terms import TERMS
from tests.end_to_end.command import overlap_lab


def test_a_word_and_a_measure_are_told_in_their_turn() -> None:
    done = overlap_lab("explain", "Refill", "host blocked", "drain/count")
    assert (done.returncode, done.stderr) == (0, "")
    parts, blocked, of_reports, measure = done.stdout.splitlines()
    assert parts.startswith("return, refill, launch: the parts of what a drain costs: ")
    assert blocked == "host blocked, host blocking: time inside calls that waited"
    assert of_reports.startswith("host blocked: Time inside calls that really waited")
    assert measure == "drain/count: Device drains"


def test_without_a_word_all_are_listed() -> None:
    lines = overlap_lab("explain").stdout.splitlines()
    assert len(lines) == len({*WORDS, *TERMS})


def test_another_word_is_one_line_and_exit_code_2() -> None:
    done = overlap_lab("explain", "refil")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "overlap-lab: explain: 'refil' is no word of ours; did you mean refill?\n"


def test_the_help_of_a_verb_says_where_words_are_told() -> None:
    assert overlap_lab("check", "--help").stdout.splitlines()[-1] == (
        "What words such as drain, refill, run-ahead or UNDECIDED mean: overlap-lab explain WORD"
    )


def test_explains_a_row_of_the_glossary_by_its_whole_head_and_a_word_of_the_page_as_well() -> None:
    whole, word = (overlap_lab("explain", asked).stdout.splitlines() for asked in ("busy, idle", "busy"))
    assert [line.partition(": ")[0] for line in whole] == ["busy, idle"]
    assert [line.partition(": ")[0] for line in word] == ["busy, idle", "busy"]
