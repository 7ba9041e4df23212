"""Every phrase that stands on the report's first screen is one that `overlap-lab explain` knows."""

from __future__ import annotations

import html
import re

import pytest

from overlap_lab.analyze import report_and_context
from overlap_lab.compare import compare
from overlap_lab.errors import UsageError
from overlap_lab.render.cost_words import title_of
from overlap_lab.render.costs import Cost, costs_of
from overlap_lab.render.glossary import WORDS, meaning_of
from overlap_lab.render.html_glance import Glance, glance
from overlap_lab.render.html_pair import change_cards
from overlap_lab.render.html_parts import term
from overlap_lab.render.terms import SHOWN_AS, TERMS
from overlap_lab.schema import Cause, Memory, Reason
from overlap_lab.trace import Trace
from tests.timeline import timeline
from tests.unit.render.test_device_words import ONE_LATE

WAITS = timeline(
    """
    host   1 |L.SSSSSSS....L.SSSSS...L..SS
    stream 0 |.KKKKKKK......KKKKK.....KK..
    """
)
LATE = timeline(
    """
    host   1 |L........L.........L.....SSS
    stream 0 |.KKKK.....KKKKK.....KKKKK...
    """
)
_TERM = re.compile(r'<span class="term"[^>]*>([^<]*)<')
_BELOW = re.compile(r'class="total"[^>]*>(.*?)</(?:span|div)>')


def _shown(trace: Trace) -> Glance:
    report, context = report_and_context(trace)
    return Glance("one", report, costs_of(report, context), 0)


def _phrases(markup: str) -> list[str]:
    found = (*_TERM.findall(markup), *_BELOW.findall(markup))
    return [html.unescape(re.sub("<[^>]*>", "", one)).replace("\u00a0", " ") for one in found]


@pytest.mark.parametrize("trace", [WAITS, LATE, ONE_LATE], ids=["waits", "late", "three devices"])
def test_every_phrase_of_a_card_is_explained(trace: Trace) -> None:
    phrases = _phrases(glance([_shown(trace)]))
    assert len(phrases) >= 8
    for phrase in phrases:
        assert ": " in meaning_of(phrase), phrase


def test_every_phrase_of_the_card_of_a_pair_is_explained() -> None:
    sides = [_shown(WAITS), _shown(LATE)]
    phrases = _phrases(change_cards([("", compare(sides[0].report, sides[1].report))], sides))
    assert len(phrases) >= 5
    for phrase in phrases:
        assert ": " in meaning_of(phrase), phrase


@pytest.mark.parametrize("cause", Cause)
def test_every_cause_that_a_cost_is_named_after_is_explained(cause: Cause) -> None:
    assert ": " in meaning_of(title_of(Cost(cause, 1, None, 1, 1)))


def test_every_reason_and_kind_of_memory_of_a_wait_is_explained() -> None:
    for reason in set(Reason) - {Reason.OTHER}:
        assert ": " in meaning_of(reason.replace("_", " "))
    for memory in set(Memory) - {Memory.UNKNOWN}:
        assert ": " in meaning_of(memory.name)


@pytest.mark.parametrize(
    ("asked", "term"),
    [
        ("time of 4 devices", "time of N devices"),
        ("of busy time, the host was free", "of busy time, the host was free (overlap)"),
        ("in final waits", "final waits (waiting at the end for queued work)"),
        ("29.8 ms of each device's 136 ms", "each device"),
        ("4,376 short gaps between launches", "short gaps between launches"),
    ],
)
def test_a_phrase_with_numbers_is_looked_up_without_them(asked: str, term: str) -> None:
    assert meaning_of(asked).startswith(f"{term}: ")


def test_a_phrase_of_several_terms_tells_each_but_not_what_lies_in_a_longer_one() -> None:
    told = [line.partition(": ")[0] for line in meaning_of("ran empty after a wait, host late").splitlines()]
    assert told == ["ran empty after a wait", "host late"]


def test_words_that_are_none_of_ours_are_refused() -> None:
    for asked in ("hostile", "no such phrase at all"):
        with pytest.raises(UsageError, match="no word of ours"):
            meaning_of(asked)


def test_another_name_of_a_term_is_shown_for_that_term_only() -> None:
    assert set(SHOWN_AS.values()) <= TERMS.keys()
    assert not set(SHOWN_AS) & {*TERMS, *WORDS}
    assert ">device idle<" in term("busy", "device idle")
    with pytest.raises(ValueError, match="'device idle' is another name of 'busy'"):
        term("window", "device idle")
