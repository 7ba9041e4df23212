from __future__ import annotations

from pathlib import Path

import pytest

from overlap_lab.render.terms import CAUSE_WORDS, SHOWN_AS, TERMS
from overlap_lab.schema import Cause

GLOSSARY = (Path(__file__).parents[3] / "docs" / "glossary.md").read_text()


@pytest.mark.parametrize("word", TERMS)
def test_the_page_explains_a_word_as_the_glossary_does(word: str) -> None:
    assert f"| {word} | {TERMS[word]} |" in GLOSSARY


@pytest.mark.parametrize("name", SHOWN_AS)
def test_the_glossary_lists_every_other_name_of_a_word(name: str) -> None:
    assert f"| {name} | {SHOWN_AS[name]} |" in GLOSSARY


def test_every_cause_of_idle_time_has_a_plain_word_that_is_explained() -> None:
    assert CAUSE_WORDS.keys() == set(Cause)
    assert set(CAUSE_WORDS.values()) <= TERMS.keys()
