"""`python -m overlap_lab` is the command `overlap-lab`."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]

INTERRUPTED = 130
"""As `overlap_lab.cli` has it, which is not imported yet."""


def _end(*_: object) -> None:
    """Not by an exception: a module that is being imported may take it for a failure of its own."""
    os.write(2, b"overlap-lab: interrupted\n")
    os._exit(INTERRUPTED)


try:
    import signal
except KeyboardInterrupt:  # from here on nothing else is imported without a handler
    _end()


def main() -> int:
    """Run the command; Ctrl-C while it is still being imported ends it with one word, too."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where a shell ignores it
        signal.signal(signal.SIGINT, _end)
    from overlap_lab.cli import main as command  # which gives the signal back when all is imported

    code = INTERRUPTED  # where a second interrupt comes while the first is told
    try:
        code = command()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is written: the code stands while Python tidies up
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code


if __name__ == "__main__":
    sys.exit(main())
