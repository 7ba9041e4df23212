"""Hold a trace against a budget, for CI: exit code 0 where every rule is kept, 1 where one is broken.

  overlap-lab check trace.json.gz --budget overlap.toml
  overlap-lab check traces --rule 'drain/count = 0' --junit overlap.xml --sarif overlap.sarif

A budget is a TOML file with rules such as 'drain/count = 0', 'host/blocked per step < 50us' or
'overlap/ratio > 0.95 in range "backward"'; docs/regression-testing.md tells all of it. Counts decide exactly.
Times and ratios with several observations decide by the interval of their median, and may be UNDECIDED, which
is exit code 0 unless --strict. A rule on a measure that has no value in the trace is broken.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from overlap_lab.cli.files import STDOUT, refuse_to_overwrite, write_text
from overlap_lab.errors import UsageError

if TYPE_CHECKING:
    from overlap_lab.compare.budget import Budget
    from overlap_lab.compare.checked import Check

__all__ = ["prepare_parser", "run"]

_BROKEN: Final = 1
_OUTPUTS: Final = ("json", "junit", "sarif", "markdown")


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("trace", metavar="TRACE", help="a trace file, or a folder with one trace")
    parser.add_argument("--budget", metavar="FILE", help="the budget, a TOML file")
    parser.add_argument(
        "--rule",
        metavar="RULE",
        action="append",
        default=[],
        help="one more rule; may be given several times",
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 where a rule is UNDECIDED as well")
    for name in _OUTPUTS:
        parser.add_argument(
            f"--{name}", metavar="FILE", help=f"write the result as {_named(name)}; - is stdout"
        )
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")


def _named(name: str) -> str:
    return {"json": "JSON", "junit": "JUnit XML", "sarif": "SARIF", "markdown": "Markdown"}[name]


def run(arguments: argparse.Namespace) -> int:
    from overlap_lab.compare.check import check
    from overlap_lab.compare.checked import Outcome
    from overlap_lab.loaders import load

    budget = _budget(arguments)
    outputs = {name: getattr(arguments, name) for name in _OUTPUTS if getattr(arguments, name) is not None}
    if list(outputs.values()).count(STDOUT) > 1:
        raise UsageError("only one result can go to standard output; name files for the others")
    for path in outputs.values():
        refuse_to_overwrite(path, force=arguments.force)
    found = check(load(arguments.trace), budget)
    if STDOUT not in outputs.values():
        from overlap_lab.render.check_words import check_text

        print(check_text(found, kept=arguments.trace))
    for name, path in outputs.items():
        write_text(path, _written(name, found), force=arguments.force)
    broken = (Outcome.VIOLATED, Outcome.UNDECIDED) if arguments.strict else (Outcome.VIOLATED,)
    return _BROKEN if found.outcome in broken else 0


def _budget(arguments: argparse.Namespace) -> Budget:
    from overlap_lab.compare.budget import Budget, parse_rule, read_budget

    given = read_budget(arguments.budget) if arguments.budget else Budget(())
    rules = (*given.rules, *map(parse_rule, arguments.rule))
    if not rules:
        raise UsageError("check: no rules; give --budget FILE, or --rule 'drain/count = 0'")
    return Budget(rules, given.allowed, given.source)


def _written(name: str, found: Check) -> str:
    if name == "json":
        from overlap_lab.render.check_json import check_to_json

        return check_to_json(found)
    if name == "junit":
        from overlap_lab.render.check_junit import check_to_junit

        return check_to_junit(found)
    if name == "sarif":
        from overlap_lab import __version__
        from overlap_lab.render.check_sarif import check_to_sarif

        return check_to_sarif(found, version=__version__)
    from overlap_lab.render.check_markdown import check_to_markdown

    return check_to_markdown(found)
