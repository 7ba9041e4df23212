"""Say what a word of a report, check or comparison means.

  overlap-lab explain refill
  overlap-lab explain host/blocked
  overlap-lab explain

Without a word all of them are listed. `docs/glossary.md` has the same, `docs/measures` the measures in full.
"""

from __future__ import annotations

import argparse

__all__ = ["prepare_parser", "run"]


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", metavar="WORD", nargs="*", help="a word, or a measure such as drain/idle")


def run(arguments: argparse.Namespace) -> int:
    from overlap_lab.render.glossary import WORDS, meaning_of
    from overlap_lab.render.terms import TERMS

    every = [*WORDS.items(), *(one for one in TERMS.items() if one[0] not in WORDS)]
    listed = [f"{row}: {told}" for row, told in every]
    print("\n".join([meaning_of(word) for word in arguments.words] or listed))
    return 0
