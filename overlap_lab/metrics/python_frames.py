"""Python frames by the names that profilers write: file, line and function, and whose file it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["Frame", "frame_in"]

_FRAME: Final = re.compile(r"(?P<file>[^<].*)\((?P<line>\d+)\)(?:: (?P<function>.*))?", re.DOTALL)
_LIBRARY: Final = re.compile(
    r"(?:torch|_pytest|pytest|pluggy|numpy)/"
    r"|(?:contextlib|functools|runpy|threading)\.py"
    r"|.*(?:/|^)(?:"
    r"(?:site|dist)-packages/|lib(?:64)?/python3\.\d+/"
    r"|hip_ext/(?:bench/)?\w+\.py|overlap_lab/(?:capture|cli|pytest_plugin)/|overlap_lab/__main__\.py"
    r"|bin/(?:pytest|py\.test|torchrun|coverage|overlap-lab)$"
    r")",
    re.DOTALL,
)
"""Where the files of others lie; torch.profiler leaves out the folders of sys.path in front of a file. Ours
are others' too, in a checkout as well."""


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
        """Whether the file is the user's, by its path: not of an installed package, of the standard library,
        of hip_ext or of what started the program."""
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
