"""What the verbs write: never over an existing file without --force, `-` is stdout."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from overlap_lab.errors import UsageError
from overlap_lab.render.names import printable
from overlap_lab.whole_file import write_whole

__all__ = [
    "STDOUT",
    "add_output_arguments",
    "add_store_argument",
    "refuse_one_file_twice",
    "refuse_to_overwrite",
    "write_text",
]

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


def refuse_to_overwrite(path: str | None, *, force: bool) -> None:
    """Raise before the work starts if `write_text` would refuse when it is done."""
    if path is None or path == STDOUT:
        return
    if Path(path).is_dir():
        raise UsageError(f"{path} is a folder; name the file to write")
    if Path(path).exists() and not force:
        raise UsageError(f"{path} exists; add --force to overwrite it, or name another file")
    folder = Path(path).parent
    if not folder.is_dir():
        raise UsageError(f"{path}: cannot be written: there is no folder {folder}")
    if not os.access(path if Path(path).exists() else folder, os.W_OK):
        raise UsageError(f"{path}: cannot be written: permission denied")


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
    print(f"wrote {printable(path)}")
