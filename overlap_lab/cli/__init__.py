"""Find where the host stops feeding the device, in traces of ROCm and CUDA programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Final

from overlap_lab import __version__
from overlap_lab.cli import analyze, compare, demo
from overlap_lab.cli.parser import Parser, add_verb
from overlap_lab.errors import OverlapLabError
from overlap_lab.render.names import printable

__all__ = ["main"]

VERBS: Final = (analyze, compare, demo)

USAGE_OR_INPUT: Final = 2
INTERRUPTED: Final = 130
CLOSED_PIPE: Final = 141
"""130 and 141 are what a shell reports for Ctrl-C and a reader that went away."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; every error becomes one line on stderr and an exit code here, nowhere else."""
    try:
        parsed = _parser().parse_args(arguments)
        code: int = parsed.run(parsed)
        sys.stdout.flush()
    except OverlapLabError as error:
        return _failed(str(error))
    except BrokenPipeError:
        # The interpreter flushes stdout once more on exit; give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        return _failed(f"{error.filename or 'input or output'}: {error.strerror or error}")
    return code


def _failed(message: str) -> int:
    print(f"overlap-lab: {printable(' '.join(message.split()))}", file=sys.stderr)
    return USAGE_OR_INPUT


def _parser() -> Parser:
    parser = Parser(prog="overlap-lab", description=__doc__)
    parser.add_argument("--version", action="version", version=f"overlap-lab {__version__}")
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    for verb in VERBS:
        add_verb(verbs, verb)
    return parser
