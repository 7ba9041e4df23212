"""Hold a trace against a budget or a baseline, for CI: exit code 0 where all is well, 1 where not.

  overlap-lab check trace.json.gz --budget overlap.toml
  overlap-lab check traces --rule 'drain/count = 0' --junit overlap.xml --sarif overlap.sarif
  overlap-lab check trace.json.gz --baseline main
  overlap-lab check r1.db r2.db r3.db r4.db r5.db --baseline main --compare-fail drain/count:0

A budget is a TOML file with rules such as 'drain/count = 0', 'host/blocked per step < 50us' or
'overlap/ratio > 0.95 in range "backward"'; docs/regression-testing.md tells all of it. Counts decide exactly.
Times and ratios with several observations decide by the interval of their median, and may be UNDECIDED, which
is exit code 0 unless --strict. A rule on a measure that has no value in the trace is broken.

--baseline NAME compares with what `overlap-lab baseline save` stored on this kind of machine under that name:
what is WORSE beyond chance, or a count that grew, is broken. --compare-fail MEASURE:ALLOWED says what may be
worse by how much (drain/count:0, host/blocked:10%); by default drains, the idle time behind them and the
window. A name that is nowhere is exit code 2; a baseline of another kind of machine only is INCOMPARABLE.

Results (--json, --junit, --sarif, --markdown) take the place of an earlier run's; other files need --force.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from overlap_lab.cli.files import (
    STDOUT,
    add_store_argument,
    only_input,
    refuse_one_file_twice,
    refuse_one_run_twice,
    refuse_to_overwrite,
    stdout_or_path,
    write_text,
)
from overlap_lab.errors import UsageError

if TYPE_CHECKING:
    from overlap_lab.compare.baseline_rules import BaselineRule
    from overlap_lab.compare.budget import Budget
    from overlap_lab.compare.checked import Check

__all__ = ["prepare_parser", "run"]

_BROKEN: Final = 1
_OUTPUTS: Final = ("json", "junit", "sarif", "markdown")
_BEGINNINGS: Final = {
    "json": b'"overlap_lab.check/',
    "junit": b'<testsuite name="overlap ',
    "sarif": b'"name": "overlap-lab"',
    "markdown": b"**Overlap ",
}
"""By which a result of an earlier run is known, so that the same command runs again."""
_HEAD: Final = 512


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "traces", metavar="TRACE", nargs="+", help="a trace file, or a folder with one; several are repeats"
    )
    parser.add_argument("--budget", metavar="FILE", help="the budget, a TOML file")
    parser.add_argument(
        "--rule",
        metavar="RULE",
        action="append",
        default=[],
        help="one more rule; may be given several times",
    )
    parser.add_argument(
        "--baseline", metavar="NAME", help="compare with this baseline: a name, tag or number"
    )
    parser.add_argument(
        "--entry",
        metavar="TEST",
        help="compare with what pytest saved of this test: its node id, as `baseline show` lists it",
    )
    parser.add_argument(
        "--compare-fail",
        metavar="EXPR",
        action="append",
        default=[],
        help="what may be worse than the baseline, and by how much: drain/count:0, host/blocked:10%%",
    )
    add_store_argument(parser)
    parser.add_argument(
        "--force-comparable",
        action="store_true",
        help="compare with another machine's baseline, or traces of several programs",
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 where a rule is UNDECIDED or INCOMPARABLE as well"
    )
    for name in _OUTPUTS:
        parser.add_argument(
            f"--{name}",
            metavar="FILE",
            help=f"write the result as {_named(name)}, over an earlier one; - is stdout",
        )
    parser.add_argument(
        "--force", action="store_true", help="overwrite FILE also where it is no earlier result of this"
    )


def _named(name: str) -> str:
    return {"json": "JSON", "junit": "JUnit XML", "sarif": "SARIF", "markdown": "Markdown"}[name]


def run(arguments: argparse.Namespace) -> int:
    from overlap_lab.compare.checked import Outcome

    rules = _baseline_rules(arguments)
    budget = _budget(arguments)
    given = {name: stdout_or_path(getattr(arguments, name)) for name in _OUTPUTS}
    outputs = {name: path for name, path in given.items() if path is not None}
    if list(outputs.values()).count(STDOUT) > 1:
        raise UsageError("only one result can go to standard output; name files for the others")
    refuse_one_file_twice(outputs.values())
    read = [*arguments.traces, arguments.budget] if arguments.budget else arguments.traces
    for name, path in outputs.items():
        may = arguments.force or _is_earlier_result(path, name)
        refuse_to_overwrite(path, force=may, inputs=read)
    found = _checked(arguments, budget, rules)
    if STDOUT not in outputs.values():
        from overlap_lab.render.check_words import check_text

        print(check_text(found, kept=", ".join(arguments.traces)))
    for name, path in outputs.items():
        write_text(path, _written(name, found), force=True)
    broken = found.outcome is Outcome.VIOLATED or (arguments.strict and found.outcome is not Outcome.FINE)
    return _BROKEN if broken else 0


def _is_earlier_result(path: str, name: str) -> bool:
    """Whether the file is what an earlier run wrote there, or empty."""
    if path == STDOUT or not Path(path).is_file():
        return False
    try:
        with Path(path).open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None
    return not head or _BEGINNINGS[name] in head


def _checked(arguments: argparse.Namespace, budget: Budget, rules: tuple[BaselineRule, ...]) -> Check:
    from overlap_lab.compare.baseline import TRACE
    from overlap_lab.compare.baseline_found import check_baseline
    from overlap_lab.compare.baseline_store import named, nowhere
    from overlap_lab.compare.check import check
    from overlap_lab.loaders import load

    store = Path(arguments.store)
    if arguments.baseline is not None and not named(store, arguments.baseline):
        raise nowhere(store, arguments.baseline)  # before traces are read for nothing
    inputs = [only_input(path) for path in arguments.traces]
    refuse_one_run_twice(one.path for one in inputs)
    traces = [load(one) for one in inputs]
    found = check(traces, budget)
    if arguments.baseline is None:
        return found
    return check_baseline(
        found,
        traces,
        named(store, arguments.baseline),
        rules,
        entry=arguments.entry or TRACE,
        force_comparable=arguments.force_comparable,
    )


def _baseline_rules(arguments: argparse.Namespace) -> tuple[BaselineRule, ...]:
    if arguments.compare_fail and arguments.baseline is None:
        raise UsageError("check: --compare-fail says what may be worse than a baseline; add --baseline NAME")
    if arguments.entry is not None and arguments.baseline is None:
        raise UsageError("check: --entry names a test of a baseline; add --baseline NAME")
    if not arguments.compare_fail:
        return ()
    from overlap_lab.compare.baseline_rules import parse_baseline_rule

    return tuple(map(parse_baseline_rule, arguments.compare_fail))


def _budget(arguments: argparse.Namespace) -> Budget:
    from overlap_lab.compare.budget import Budget, parse_rule, read_budget

    given = read_budget(arguments.budget) if arguments.budget else Budget(())
    rules = (*given.rules, *map(parse_rule, arguments.rule))
    if not rules and arguments.baseline is None:
        raise UsageError("check: no rules; give --budget FILE, --rule 'drain/count = 0', or --baseline NAME")
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
