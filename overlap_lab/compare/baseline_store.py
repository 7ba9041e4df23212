"""Where baselines lie: STORE/MACHINE/0001_NAME.json, numbered as they were saved, newest last."""

from __future__ import annotations

import errno
import fcntl
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from overlap_lab.compare.baseline import Baseline
from overlap_lab.compare.baseline_json import baseline_from_json, baseline_to_json
from overlap_lab.errors import BrokenBaseline, UsageError
from overlap_lab.whole_file import write_whole

__all__ = [
    "LARGEST",
    "STORE",
    "Saved",
    "check_name",
    "named",
    "nowhere",
    "remove",
    "save",
    "saved_in",
]

STORE: Final = ".overlap"
LARGEST: Final = 64 << 20
"""Bytes of a baseline, written or read."""

_NAME: Final = re.compile(r"[A-Za-z0-9][\w.+-]{0,79}", re.ASCII)
_FILE: Final = re.compile(r"(?P<number>\d{4,12})_(?P<name>[A-Za-z0-9][\w.+-]{0,79})\.json", re.ASCII)
_LOCK: Final = ".lock"
_SHOWN: Final = 8
_DIGITS: Final = 12
_LONGEST: Final = 500


@dataclass(frozen=True, slots=True, order=True)
class Saved:
    """One file of a store; the larger the number, the newer among those of its machine."""

    machine: str
    number: int
    name: str
    path: Path

    def __str__(self) -> str:
        return f"{self.name} {self.number:04}"

    def read(self) -> Baseline:
        """What it holds. Raises BrokenBaseline where it cannot be read."""
        try:
            with self.path.open("rb") as stream:
                content = stream.read(LARGEST + 1)
        except OSError as error:
            raise BrokenBaseline(f"{self.path}: the baseline cannot be read: {error.strerror}") from None
        if len(content) > LARGEST:
            raise BrokenBaseline(f"{self.path}: is larger than {LARGEST >> 20} MiB, which no baseline is")
        return baseline_from_json(content, where=str(self.path))


def check_name(name: str) -> str:
    """The name, if it can be one. Raises UsageError."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name[:80]!r} cannot name a baseline: at most 80 letters, digits and . _ + - that start with a "
            "letter or digit"
        )
    return name


def saved_in(store: Path) -> list[Saved]:
    """Every baseline of a store, by machine, the oldest first; none where there is no such folder."""
    found = []
    try:
        folders = [one for one in store.iterdir() if one.is_dir()]
        for path in (path for folder in folders for path in folder.iterdir()):
            fits = _FILE.fullmatch(path.name)
            if fits and path.is_file():
                found.append(Saved(path.parent.name, int(fits["number"]), fits["name"], path))
    except FileNotFoundError:
        return sorted(found)
    except OSError as error:
        raise UsageError(f"{store}: the store of baselines cannot be read: {error.strerror}") from None
    return sorted(found)


def save(store: Path, baseline: Baseline) -> Saved:
    """Write a baseline under the next free number of its machine: whole or not at all, over nothing.

    Several processes may save at once; each gets a number of its own.
    """
    name, machine = check_name(baseline.name), baseline.machine.id
    long = max((baseline.commit, *baseline.tags), key=len)
    if len(long) > _LONGEST:
        raise UsageError(f"baseline {name}: {long[:40]!r}...: a tag or commit has at most {_LONGEST} letters")
    text = baseline_to_json(baseline)
    if len(text) > LARGEST:
        raise UsageError(
            f"baseline {name}: {len(text) >> 20} MiB are more than the {LARGEST >> 20} MiB that a baseline "
            "may have; save fewer runs or tests under one name"
        )
    folder = store / machine
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(store):
            number = max((one.number for one in saved_in(store) if one.machine == machine), default=0) + 1
            path = folder / f"{number:04}_{name}.json"
            write_whole(path, text + "\n")
    except OSError as error:
        _removed_where_empty(made, store)
        raise UsageError(f"{error.filename or store}: cannot be written: {error.strerror}") from None
    return Saved(machine, number, name, path)


def _removed_where_empty(made: Sequence[Path], store: Path) -> None:
    """Take away folders that were made for a baseline which could not be written, the inner ones first."""
    with suppress(OSError):  # one that holds something, such as what another process saved, stays
        for one in made:
            if one == store:
                (store / _LOCK).unlink(missing_ok=True)
            one.rmdir()


@contextmanager
def _locked(store: Path) -> Iterator[None]:
    path = store / _LOCK
    if path.exists() and not path.is_file():  # opening a pipe would wait for ever
        raise OSError(errno.EEXIST, "it is no plain file; remove it", str(path))
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield  # closing unlocks


def named(store: Path, name: str | None) -> list[Saved]:
    """The baselines that a name, a tag or a number means, of every machine, the newest first; None means all.

    A name comes before a tag, a tag before a number. Empty where nothing is called so.
    """
    every = saved_in(store)[::-1]
    if name is None:
        return every
    found = [one for one in every if one.name == name] or [one for one in every if name in one.read().tags]
    is_number = name.isdecimal() and len(name) <= _DIGITS
    return found or [one for one in every if is_number and one.number == int(name)]


def nowhere(store: Path, name: str | None) -> UsageError:
    """The error for a baseline that is not in the store, with what to do."""
    names = list(dict.fromkeys(one.name for one in saved_in(store)))
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    there = f"it holds {', '.join(names[:_SHOWN])}{more}" if names else "it holds none"
    called = "there is no baseline" if name is None else f"no baseline is called {name!r}"
    example = name if name and _NAME.fullmatch(name) else "main"
    return UsageError(
        f"{store}: {called}; {there}; save one with: overlap-lab baseline save TRACE --name {example}"
    )


def remove(store: Path, gone: Sequence[Saved]) -> None:
    """Delete baselines; one that is gone already is no error."""
    try:
        with _locked(store):
            for one in gone:
                one.path.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be removed: {error.strerror}") from None
