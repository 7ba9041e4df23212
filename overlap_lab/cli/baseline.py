"""Store what a comparison needs of traces, by kind of machine, for later runs to be held against.

  overlap-lab baseline save r1.db r2.db r3.db r4.db r5.db --name main
  overlap-lab baseline list
  overlap-lab baseline show main
  overlap-lab baseline prune --keep 5 --older-than 90d --dry-run

A baseline is a JSON file, STORE/MACHINE/0001_NAME.json. It holds samples by step, range and repeat, and no
file names, commands, host names or environment. MACHINE stands for the devices, the way of capturing, CPU,
cores, drivers and runtimes that the traces themselves tell. `overlap-lab check TRACE --baseline NAME` takes
the newest of that name and machine.
"""

from __future__ import annotations

import argparse
import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from overlap_lab.cli.files import add_store_argument, only_input, refuse_one_run_twice
from overlap_lab.errors import BrokenBaseline, UsageError
from overlap_lab.render.names import printable

if TYPE_CHECKING:
    from overlap_lab.compare.baseline_store import Saved

__all__ = ["prepare_parser", "run"]

_KEEP: Final = "leave, by name and machine, the newest N with each test and with traces (0: none)"
_AGE: Final = re.compile(r"(\d{1,4})\s*([hdw])")
_HOURS: Final = {"h": 1, "d": 24, "w": 24 * 7}


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(metavar="ACTION", required=True)
    save = verbs.add_parser("save", help="store traces; several are repeats of one run")
    save.add_argument("traces", metavar="TRACE", nargs="+", help="a trace file, or a folder with one trace")
    save.add_argument("--name", default="main", help="what to call it (default %(default)s)")
    save.add_argument(
        "--tag", action="append", default=[], help="one more word to find it by; may be repeated"
    )
    save.add_argument("--commit", default=None, help="of the program (default: what git says here)")
    save.add_argument(
        "--force-comparable",
        action="store_true",
        help="save traces of several machines, tools or programs as repeats all the same",
    )
    save.set_defaults(action=_save)
    lists = verbs.add_parser("list", help="what is stored, the oldest first")
    lists.add_argument("--json", action="store_true", help="as JSON")
    lists.set_defaults(action=_list)
    show = verbs.add_parser("show", help="what a baseline holds")
    show.add_argument(
        "name", metavar="NAME", help="a name, tag or number; the newest of each machine is shown"
    )
    show.add_argument("--json", action="store_true", help="as JSON")
    show.set_defaults(action=_show)
    prune = verbs.add_parser("prune", help="remove old ones")
    prune.add_argument("--keep", metavar="N", type=int, help=_KEEP)
    prune.add_argument("--older-than", metavar="AGE", help="remove only older ones: 12h, 90d, 8w")
    prune.add_argument("--name", help="look at baselines of this name only")
    prune.add_argument("--dry-run", action="store_true", help="say what would go, and leave it")
    prune.set_defaults(action=_prune)
    for one in (save, lists, show, prune):
        add_store_argument(one)


def run(arguments: argparse.Namespace) -> int:
    code: int = arguments.action(arguments, Path(arguments.store))
    return code


def _save(arguments: argparse.Namespace, store: Path) -> int:
    from overlap_lab.compare.baseline import baseline_of
    from overlap_lab.compare.baseline_commit import commit_of
    from overlap_lab.compare.baseline_store import check_name, save
    from overlap_lab.loaders import load

    check_name(arguments.name)
    commit = commit_of(Path.cwd()) if arguments.commit is None else arguments.commit
    inputs = [only_input(path) for path in arguments.traces]
    refuse_one_run_twice(one.path for one in inputs)
    traces = [load(one) for one in inputs]
    made = baseline_of(
        arguments.name,
        traces,
        commit=commit,
        tags=arguments.tag,
        force_comparable=arguments.force_comparable,
    )
    saved = save(store, made)
    print(f"wrote {printable(str(saved.path))}")
    return 0


def _list(arguments: argparse.Namespace, store: Path) -> int:
    from overlap_lab.compare.baseline_store import saved_in
    from overlap_lab.render.baseline_words import listed_json, listed_text

    rows, broken = [], []
    for one in saved_in(store):
        try:
            rows.append((one, one.read()))
        except BrokenBaseline as error:
            broken.append(error)
    print(listed_json(rows) if arguments.json else listed_text(rows, store))
    if broken:
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        raise BrokenBaseline(f"{broken[0]}{more}")
    return 0


def _show(arguments: argparse.Namespace, store: Path) -> int:
    from overlap_lab.compare.baseline_store import named, nowhere
    from overlap_lab.render.baseline_words import shown_json, shown_text

    found = named(store, arguments.name)
    if not found:
        raise nowhere(store, arguments.name)
    newest: dict[str, Saved] = {}
    for one in found:
        newest.setdefault(one.machine, one)
    read = [(one, one.read()) for one in newest.values()]
    print(shown_json(read) if arguments.json else "\n\n".join(shown_text(*one) for one in read))
    return 0


def _prune(arguments: argparse.Namespace, store: Path) -> int:
    from overlap_lab.compare.baseline_prune import prunable
    from overlap_lab.compare.baseline_store import remove, saved_in

    if arguments.keep is None and arguments.older_than is None:
        raise UsageError("baseline prune: say what may go: --keep N, --older-than AGE, or both")
    if arguments.keep is not None and arguments.keep < 0:
        raise UsageError(f"baseline prune: --keep {arguments.keep} is negative")
    age = None if arguments.older_than is None else _age(arguments.older_than)
    every = [one for one in saved_in(store) if arguments.name in (None, one.name)]
    pruned = prunable(every, keep=arguments.keep, older_than=age)
    if not arguments.dry_run and pruned.gone:
        remove(store, pruned.gone)
    word = "would remove" if arguments.dry_run else "removed"
    for one in pruned.gone:
        print(f"{word} {printable(str(one.path))}")
    for one, entries in pruned.needed:
        more = f" and {len(entries) - 1} more" if len(entries) > 1 else ""
        print(f"left {printable(str(one.path))}: still among the newest with {printable(entries[0])}{more}")
    print(f"{word} {len(pruned.gone)} of {len(every)} baselines")
    return 0


def _age(text: str) -> timedelta:
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--older-than {text!r} is no age; write for example 12h, 90d or 8w")
    return timedelta(hours=int(found[1]) * _HOURS[found[2]])
