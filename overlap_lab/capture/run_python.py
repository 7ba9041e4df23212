"""Run a Python program with its own work recorded: `python -m overlap_lab.capture.run_python BACKEND FOLDER
[--stacks] -- SCRIPT|-m MODULE|-c CODE [ARGUMENT ...]`, which is what `overlap-lab capture` starts.

The program sees its own arguments and module path. Its exit code is passed on; 2 with one line where nothing
could be recorded.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from overlap_lab.capture.in_process import in_process
from overlap_lab.errors import OverlapLabError, UsageError

__all__ = ["command_for", "main"]

_WITH_VALUE: Final = ("-W", "-X", "--check-hash-based-pycs")
_NOTHING_RECORDED: Final = 2


def command_for(command: Sequence[str], *, backend: str, folder: Path, stacks: bool) -> list[str]:
    """The command that runs a Python program recorded; Python's own options stay before it.

    Raises UsageError where the command is no Python program.
    """
    if not command or not Path(command[0]).name.startswith("python"):
        raise UsageError(
            f"--backend {backend} records from inside Python: the program must start with python, "
            "as in: overlap-lab capture -- python train.py"
        )
    at = 1
    while at < len(command) and command[at].startswith("-") and command[at] not in ("-m", "-c", "-"):
        at += 2 if command[at] in _WITH_VALUE else 1
    if at >= len(command):
        raise UsageError("capture: python without a script, -m or -c: there is no program to record")
    own = ["-m", "overlap_lab.capture.run_python", backend, str(folder)]
    return [*command[:at], *own, *(["--stacks"] if stacks else []), "--", *command[at:]]


def main(arguments: Sequence[str]) -> int:
    """Run the program of the arguments recorded; its exit code."""
    options, program = list(arguments), []
    if "--" in options:
        at = options.index("--")
        options, program = options[:at], options[at + 1 :]
    backend, folder, *more = options
    code: object = 0
    try:
        with in_process(folder, backend=None if backend == "auto" else backend, stacks="--stacks" in more):
            code = _run(program)
    except OverlapLabError as error:
        print(f"overlap-lab: {error}", file=sys.stderr)  # noqa: T201
        return _exit_code(code) or _NOTHING_RECORDED
    return _exit_code(code)


def _run(program: Sequence[str]) -> object:
    """What the program handed to `sys.exit`; any other exception of its leaves by the usual door."""
    first, *rest = program
    try:
        if first == "-c":
            sys.argv = ["-c", *rest[1:]]
            sys.path.insert(0, "")
            exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102  the user's own
        elif first == "-m":
            sys.argv = [rest[0], *rest[1:]]
            sys.path.insert(0, "")
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        else:
            sys.argv = [first, *rest]
            sys.path.insert(0, str(Path(first).resolve().parent))
            runpy.run_path(first, run_name="__main__")
    except SystemExit as leaving:
        return leaving.code
    return 0


def _exit_code(code: object) -> int:
    """As Python itself turns what `sys.exit` got into an exit code."""
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)  # noqa: T201
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
