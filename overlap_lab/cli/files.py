"""What the verbs read and write: one trace a path; `-` is stdout; nothing is overwritten unasked."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from overlap_lab.errors import OverlapLabError, UsageError
from overlap_lab.render.names import printable
from overlap_lab.whole_file import is_stdout, write_whole

if TYPE_CHECKING:
    from overlap_lab.loaders import TraceInput

__all__ = [
    "STDOUT",
    "add_output_arguments",
    "add_store_argument",
    "inputs_at",
    "is_saved_report",
    "only_input",
    "refuse_one_file_twice",
    "refuse_one_run_twice",
    "refuse_to_overwrite",
    "say_written",
    "stdout_or_path",
    "write_text",
]

_SHOWN: Final = 8
_OURS: Final = b'"overlap_lab.report/'
_HEAD: Final = 512
"""Bytes within which our own writer names the schema."""
STDOUT: Final = "-"


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write the numbers as JSON to FILE; with - only the JSON, to standard output",
    )
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")


def add_store_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--store",
        metavar="FOLDER",
        default=".overlap",
        help="where the baselines lie (default %(default)s)",
    )


def only_input(path: str) -> TraceInput:
    """The one trace at a path. Raises UsageError that names them where a folder holds several."""
    inputs = inputs_at(path)
    if len(inputs) > 1:
        more = ", ..." if len(inputs) > _SHOWN else ""
        names = ", ".join(str(found.path) for found in inputs[:_SHOWN]) + more
        raise UsageError(f"{path}: holds {len(inputs)} traces; give one of them: {names}")
    return inputs[0]


def inputs_at(path: str) -> tuple[TraceInput, ...]:
    """The traces at a path; of a folder without the reports saved there, if it has anything else."""
    from overlap_lab.loaders import find_inputs

    found = find_inputs(path)
    if not Path(path).is_dir():
        return found
    return tuple(one for one in found if not is_saved_report(one.path)) or found


def is_saved_report(file: Path) -> bool:
    """Whether `overlap-lab analyze --json` wrote the file."""
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return _OURS in stream.read(_HEAD)


def refuse_one_run_twice(runs: Iterable[str | Path]) -> None:
    """Raise where a file stands for two repeats: counted twice, it would look like two that agree."""
    seen: set[str] = set()
    for path in runs:
        real = os.path.realpath(path)
        if real in seen:
            raise UsageError(f"{path}: named for two repeats, and is one run; name it once")
        seen.add(real)


def stdout_or_path(path: str | None) -> str | None:
    """`-` also for a path that leads to standard output, such as /dev/stdout."""
    return STDOUT if path is not None and is_stdout(path) else path


def say_written(path: str | Path, *lines: str) -> None:
    """Say what was written, after what else there is to say: never into the output itself."""
    stream = sys.stderr if is_stdout(path) else sys.stdout
    print(*map(printable, lines), f"wrote {printable(str(path))}", sep="\n", file=stream)


def refuse_to_overwrite(path: str | None, *, force: bool, inputs: Iterable[str] = ()) -> None:
    """Raise before the work starts if `write_text` would refuse when it is done, and where one of the inputs
    would be overwritten, whatever `force` says."""
    if path is None or path == STDOUT or is_stdout(path):
        return
    if Path(path).is_file() and any(_is_part_of(path, one) for one in inputs):
        raise UsageError(f"{path} is read, and cannot be written as well; name another file")
    if Path(path).is_dir():
        raise UsageError(f"{path} is a folder; name the file to write")
    if Path(path).exists() and not force:
        raise UsageError(f"{path} exists; add --force to overwrite it, or name another file")
    folder = Path(path).parent
    if not folder.is_dir():
        raise UsageError(f"{path}: cannot be written: there is no folder {folder}")
    if not os.access(path if Path(path).exists() else folder, os.W_OK):
        raise UsageError(f"{path}: cannot be written: permission denied")


def _is_part_of(path: str, named: str) -> bool:
    """Whether a file is what an argument names, or is read with it, of a folder or as one of a set."""
    if not Path(named).exists():
        return False
    if Path(named).samefile(path):
        return True
    try:
        return Path(path).resolve() in {file.resolve() for one in inputs_at(named) for file in one.files}
    except OverlapLabError:  # no trace: whatever is read in a folder, the file may be part of it
        return Path(path).resolve().is_relative_to(Path(named).resolve())


def refuse_one_file_twice(paths: Iterable[str]) -> None:
    """Raise where a second result would overwrite the first; standard output is looked at elsewhere."""
    seen: set[str] = set()
    for path in paths:
        real = os.path.realpath(path)
        if path != STDOUT and real in seen and (Path(real).is_file() or not Path(real).exists()):
            raise UsageError(f"{path}: named for two results; give each a file of its own")
        seen.add(real)


def write_text(path: str, text: str, *, force: bool) -> None:
    """Write the text and a final line break; say what was written, unless it went to stdout itself."""
    if path == STDOUT:
        sys.stdout.write(text + "\n")
        return
    try:
        refuse_to_overwrite(path, force=force)
        write_whole(Path(path), text + "\n")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error
    say_written(path)
