"""argparse, with errors as exceptions and a verb's docstring as its help."""

from __future__ import annotations

import argparse
import inspect
from types import ModuleType
from typing import TYPE_CHECKING, Final, NoReturn

from overlap_lab.errors import UsageError

if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction["Parser"]

__all__ = ["Parser", "add_verb"]

_WORDS: Final = "What words such as drain, refill, run-ahead or UNDECIDED mean: overlap-lab explain WORD"


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose errors are raised, so that they leave by the same door as all others."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def add_verb(verbs: Verbs, module: ModuleType) -> None:
    """Add the verb that a module of `cli` describes: `prepare_parser(parser)` and `run(arguments) -> int`."""
    text = inspect.getdoc(module) or ""
    parser = verbs.add_parser(
        module.__name__.rpartition(".")[2],
        help=text.partition("\n")[0],
        description=text,
        epilog=_WORDS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.prepare_parser(parser)
    parser.set_defaults(run=module.run)
