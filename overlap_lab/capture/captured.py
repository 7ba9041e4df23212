"""What a capture made: files, which `overlap_lab.load` reads."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from overlap_lab.capture.origin import rank_of
from overlap_lab.errors import CaptureError, UsageError

__all__ = ["Captured", "free_folder", "own_name"]


@dataclass(slots=True)
class Captured:
    """The files of one capture; empty until it has ended.

    It is what `with capture.kineto(...) as captured` gives, so it is filled in when the block ends.
    """

    backend: str
    paths: tuple[Path, ...] = ()
    origin: Mapping[str, str] = field(default_factory=dict)
    """Command, versions, device, clock and settings, as the trace records them."""

    @property
    def path(self) -> Path:
        """The only file. Raises CaptureError where there is none or where there are several."""
        if len(self.paths) == 1:
            return self.paths[0]
        if not self.paths:
            raise CaptureError(f"the {self.backend} capture has written no file yet: its block has not ended")
        raise CaptureError(f"the {self.backend} capture wrote {len(self.paths)} files: ask for `paths`")


def own_name(ending: object) -> str:
    """A file name of this process's own: host, rank where a launcher gave one, process, and this ending."""
    rank = rank_of(os.environ)
    place = "" if rank is None else f"_rank{rank}"
    return f"{socket.gethostname()}{place}_{os.getpid()}_{ending}"


def free_folder(path: str | Path) -> Path:
    """The folder, made where it is missing. Raises UsageError where it cannot be one."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(f"{folder}: is a file; name a folder for the traces") from None
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made: {error.strerror}") from None
    return folder
