"""Python frames by the names that profilers write: file, line and function, and whose file it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["Frame", "frame_in"]

_FRAME: Final = re.compile(r"(?P<file>[^<].*)\((?P<line>\d+)\)(?:: (?P<function>.*))?", re.DOTALL)
_LIBRARY: Final = re.compile(r"torch/|.*(?:/|^)(?:(?:site|dist)-packages|lib/python3\.\d+)/", re.DOTALL)
"""Where the files of others lie; torch.profiler leaves out what is in front of `torch/`."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A place in the program."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.function}".rstrip()

    @property
    def file_name(self) -> str:
        """The file without its folders."""
        return re.split(r"[/\\]", self.file)[-1]

    @property
    def is_own(self) -> bool:
        """Whether the file is neither an installed package's nor of the standard library, by its path."""
        return _LIBRARY.match(self.file.replace("\\", "/")) is None


def frame_in(name: str) -> Frame | None:
    """The place that a frame's name leads to; None where it leads to no file, as a built-in does.

    >>> str(frame_in("runs/train.py(88): step"))
    'runs/train.py:88 step'
    >>> frame_in("<built-in method item of Tensor object>"), frame_in("<frozen runpy>(88): _run_code")
    (None, None)
    """
    found = _FRAME.fullmatch(name)
    return Frame(found["file"], int(found["line"]), found["function"] or "") if found else None
