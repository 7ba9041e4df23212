"""Kineto JSON: load and all measures against json.load and HTA, load alone, packed files, memory, cores."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Final, cast

from scripts.bench.comparison import Contestant, compared, memory_row, ratio_row
from scripts.bench.pairs import Failed, Rounds
from scripts.bench.peers import PeerMissing
from scripts.bench.processes import Process, hta_process, own_process
from scripts.bench.repeated_json import kineto_copies, repeat_kineto
from scripts.bench.repeated_text import Unrepeatable
from scripts.bench.rows import Goal, Row, at_least, at_most, not_run
from scripts.bench.setting import MB, Setting
from scripts.bench.verified import verify_kineto

__all__ = ["ONE_CORE", "hta_rows", "kineto_large_rows", "kineto_rows", "short_name"]

ONE_CORE: Final = {"OVERLAP_LAB_THREADS": "1"}
_WHOLE: Final = "load and analyze"
_LOAD: Final = "load"
_JSON: Final = "json.load"
_HTA: Final = "HTA"


def kineto_rows(setting: Setting) -> Iterator[Row]:
    """Files of about 50 MB."""
    some = setting.captures.kineto[: setting.chosen(2, 4, 4)]
    goals = at_least(10, 20), at_most(0.8, None)
    for capture in some:
        yield from _file_rows(setting, capture, 50, setting.chosen(3, 5, 5), goals)


def kineto_large_rows(setting: Setting) -> Iterator[Row]:
    """Files of about 500 MB."""
    goals = at_least(15, 25), at_most(0.6, 0.4)
    for capture in setting.captures.kineto[: setting.chosen(0, 2, 4)]:
        yield from _file_rows(setting, capture, 500, 3, goals)


def hta_rows(setting: Setting) -> Iterator[Row]:
    """The same work by HTA, on the same files."""
    captures = setting.captures.kineto
    for capture in captures[: setting.chosen(1, 3, 4)]:
        yield from _against_hta(setting, capture, 50, setting.chosen(1, 3, 3))
    for capture in captures[: setting.chosen(0, 0, 1)]:
        yield from _against_hta(setting, capture, 500, 1)


def short_name(capture: Path) -> str:
    """A capture's name without its endings."""
    return capture.name.split(".")[0]


def _file_rows(
    setting: Setting, capture: Path, size_mb: int, rounds: int, goals: tuple[Goal, Goal]
) -> Iterator[Row]:
    file = f"{short_name(capture)}, {size_mb} MB"
    speed, memory = goals
    try:
        verify_kineto(capture, setting.folder)
    except Unrepeatable as why:
        yield not_run(_WHOLE, file, speed, why)
        return
    with ExitStack() as stack:
        path = stack.enter_context(_made(setting, capture, size_mb))
        file = f"{short_name(capture)}, {path.stat().st_size / MB:.0f} MB"
        kinds = (".gz", ".zst") if find_spec("zstandard") else (".gz",)
        packed = [stack.enter_context(_packed(setting, path, kind)) for kind in kinds]
        own = stack.enter_context(own_process())
        single = stack.enter_context(own_process(variables=ONE_CORE))
        ran = _rounds(own, single, (path, *packed), setting.captures.small, rounds)
        yield ratio_row(f"{_WHOLE}, against a bare {_JSON}", file, speed, ran, work=_WHOLE, other=_JSON)
        yield memory_row(
            f"{_WHOLE}: growth of memory", file, memory, "whole", path=path, small=setting.captures.small
        )
        yield from _load_rows(file, ran)


def _rounds(own: Process, single: Process, paths: tuple[Path, ...], small: Path, rounds: int) -> Rounds:
    path, *packed = paths
    contestants = {
        _JSON: Contestant(own, "json_load", path, small),
        _WHOLE: Contestant(own, "whole", path, small),
        _LOAD: Contestant(own, "load", path, small),
        "pysimdjson": Contestant(own, "simdjson_parse", path, small),
        **{f"load of {file.suffix[1:]}": Contestant(own, "load", file, small) for file in packed},
        "on one core": Contestant(single, "whole", path, small),
    }
    return compared(contestants, rounds)


def _load_rows(file: str, ran: Rounds) -> Iterator[Row]:
    title = "load, against pysimdjson's bare parse"
    yield ratio_row(title, file, at_least(2, 4), ran, work=_LOAD, other="pysimdjson")
    for kind, goal in (("gz", at_least(0.5, 0.7)), ("zst", at_least(None, None))):
        title = f"load of .{kind}, of the plain rate"
        yield ratio_row(title, file, goal, ran, work=f"load of {kind}", other=_LOAD)
    title = f"{_WHOLE}: what more cores add"
    yield ratio_row(title, file, at_least(None, None), ran, work=_WHOLE, other="on one core")


def _against_hta(setting: Setting, capture: Path, size_mb: int, rounds: int) -> Iterator[Row]:
    title, goal = f"{_WHOLE}, against {_HTA}'s analyses", at_least(50, 100)
    small = setting.captures.small
    with _made(setting, capture, size_mb) as path:
        file = f"{short_name(capture)}, {path.stat().st_size / MB:.0f} MB"
        try:
            with own_process() as own, hta_process() as other:
                contestants = {
                    _HTA: Contestant(other, "whole", path, small),
                    _WHOLE: Contestant(own, "whole", path, small),
                }
                ran = compared(contestants, rounds)
        except (Failed, PeerMissing) as why:
            yield not_run(title, file, goal, why)
        else:
            yield ratio_row(title, file, goal, ran, work=_WHOLE, other=_HTA)


def _made(setting: Setting, capture: Path, size_mb: int) -> AbstractContextManager[Path]:
    copies = kineto_copies(capture, size_mb * MB)
    name = f"{short_name(capture)}_{size_mb}.json"
    return setting.made(name, partial(repeat_kineto, capture, copies=copies))


def _packed(setting: Setting, path: Path, kind: str) -> AbstractContextManager[Path]:
    return setting.made(path.name + kind, lambda packed: pack(path, packed, kind))


def pack(path: Path, packed: Path, kind: str) -> None:
    """Write a file's content as gzip at level 6 or as zstd at level 3, by pieces of 16 MB."""
    with path.open("rb") as source, _packer(packed, kind) as target:
        shutil.copyfileobj(source, target, 1 << 24)


def _packer(packed: Path, kind: str) -> IO[bytes]:
    if kind == ".gz":
        return cast("IO[bytes]", gzip.open(packed, "wb", compresslevel=6))
    import zstandard

    return cast("IO[bytes]", zstandard.open(packed, "wb"))
