"""Find where the host stops feeding the device, in traces of ROCm and CUDA programs."""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from typing import Final

from overlap_lab import __version__
from overlap_lab.cli.interrupts import (
    INTERRUPTED,
    end_soon_after_interrupt,
    ended_at_once,
    interrupts_recognized,
    tell_interrupted,
)
from overlap_lab.cli.parser import Parser, add_verb
from overlap_lab.errors import OverlapLabError, UsageError
from overlap_lab.render.names import printable

__all__ = ["main"]

VERBS: Final = (
    "analyze",
    "baseline",
    "capture",
    "check",
    "compare",
    "demo",
    "explain",
    "export",
    "plot",
    "report",
)
"""Modules of this package; one is imported when it is asked for."""

USAGE_OR_INPUT: Final = 2
OUT_OF_MEMORY: Final = (
    "not enough memory; raise the limit (ulimit -v, or that of the job or container), "
    "or give a trace of less time"
)
CLOSED_PIPE: Final = 141
"""What a shell reports for a reader that went away."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; every error becomes one line on stderr and an exit code here, nowhere else."""
    try:
        if arguments is None:  # a process of our own
            end_soon_after_interrupt()
        with _warnings_on_one_line():
            _prepare_stdout()
            with ended_at_once() if arguments is None else nullcontext():
                parsed = _parser(sys.argv[1:] if arguments is None else arguments).parse_args(arguments)
            with interrupts_recognized():
                code: int = parsed.run(parsed)
        sys.stdout.flush()
    except OverlapLabError as error:
        return _failed(str(error))
    except BrokenPipeError:
        # The interpreter flushes stdout once more on exit; give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except KeyboardInterrupt:
        tell_interrupted()
        return INTERRUPTED
    except MemoryError:
        return _failed(OUT_OF_MEMORY)
    except OSError as error:
        return _failed(f"{error.filename or 'input or output'}: {error.strerror or error}")
    return code


def _prepare_stdout() -> None:
    """A letter that the terminal's encoding lacks is spelled out; a closed stdout is an error."""
    if sys.stdout is None:
        raise UsageError("standard output is closed; give it somewhere to go")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


class _OneLine(logging.Formatter):
    """A file's name in a warning must not move the cursor."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(" ".join(record.getMessage().split()))


@contextmanager
def _warnings_on_one_line() -> Iterator[None]:
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)
    handler.setFormatter(_OneLine())
    ours = logging.getLogger("overlap_lab")
    ours.addHandler(handler)
    try:
        yield
    finally:
        ours.removeHandler(handler)


def _failed(message: str) -> int:
    with suppress(OSError):  # a full disk behind stderr: the exit code still says it
        print(f"overlap-lab: {printable(' '.join(message.split()))}", file=sys.stderr, flush=True)
    return USAGE_OR_INPUT


def _parser(arguments: Sequence[str]) -> Parser:
    parser = Parser(prog="overlap-lab", description=__doc__)
    parser.add_argument("--version", action="version", version=f"overlap-lab {__version__}")
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    asked = [verb for verb in VERBS if arguments and arguments[0] == verb]
    for verb in asked or VERBS:
        add_verb(verbs, import_module(f"overlap_lab.cli.{verb}"))
    return parser
