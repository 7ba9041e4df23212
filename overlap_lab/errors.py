"""Every error that overlap_lab raises on purpose.

OverlapLabError            anything below; the command line turns it into one line and exit code 2
├── InputError             the user's input: a file, a folder, an argument
│   ├── TraceNotFound      the path does not exist or holds no trace
│   ├── UnknownFormat      the bytes are none of the formats that can be read
│   ├── BrokenTrace        the format is known and the content cannot be used
│   └── BrokenBaseline     a stored baseline that cannot be read, or of another schema
├── UsageError             a call or option that cannot be answered as asked
├── CaptureError           a capture could not be made
└── MissingDependency      an optional package is needed; says for what, and the pip line
"""

from __future__ import annotations

__all__ = [
    "BrokenBaseline",
    "BrokenTrace",
    "CaptureError",
    "InputError",
    "MissingDependency",
    "OverlapLabError",
    "TraceNotFound",
    "UnknownFormat",
    "UsageError",
]


class OverlapLabError(Exception):
    """Base of the tree; `str(error)` is one line that says what, where, and what to do."""


class InputError(OverlapLabError):
    """The user's input cannot be used."""


class TraceNotFound(InputError):
    """There is no trace at this path."""


class UnknownFormat(InputError):
    """The content is none of the formats that can be read."""


class BrokenTrace(InputError):
    """The format is known, and the content cannot be used."""


class BrokenBaseline(InputError):
    """A stored baseline cannot be read, or is of a schema that this version does not know."""


class UsageError(OverlapLabError):
    """A call or option that cannot be answered as asked."""


class CaptureError(OverlapLabError):
    """A capture could not be made."""


class MissingDependency(OverlapLabError):
    """An optional package is missing."""

    def __init__(self, package: str, *, purpose: str, extra: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}; install it with: pip install 'overlap_lab[{extra}]'"
        )
