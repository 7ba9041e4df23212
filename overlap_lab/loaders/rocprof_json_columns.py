"""The records of one process of a rocprofv3 JSON file, from columns that the compiled core has read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from overlap_lab.loaders.alike import NO_TEXT, Coded, alike, looked_up
from overlap_lab.loaders.api_names import api_codes, copy_directions
from overlap_lab.loaders.argument_columns import ArgumentColumns
from overlap_lab.loaders.building import Columns, Findings, TraceBuilder
from overlap_lab.loaders.device_rows import copy_sides
from overlap_lab.loaders.rocprof_json_names import (
    COPIES,
    KERNELS,
    MARKERS,
    NULL_STREAM,
    ON_A_STREAM,
    ProcessNames,
    direction_of,
    shortened,
)
from overlap_lab.loaders.rocprof_json_read import Part, ReadProcess
from overlap_lab.schema import ABSENT, Fault, Kind
from overlap_lab.trace import Column

__all__ = ["ProcessColumns"]

_Links = tuple[Column, Column]


class ProcessColumns:
    """Adds the rows of one process to the builder, as `ProcessRecords` does."""

    def __init__(self, number: int, process: ReadProcess, builder: TraceBuilder, findings: Findings) -> None:
        self._number = number
        self._builder = builder
        self._findings = findings
        self.names = ProcessNames(process.sections)
        self._lists = process.lists
        self._symbols = process.symbols
        self.passed_over = ["counter_collection"] if process.counters else []

    def add(self) -> None:
        """Add every kernel, copy, host call and marker."""
        if self.names.by_queue:
            self._findings.note("Recorded with --group-by-queue: streams are unknown.")
        ops = self._kernels() + self._copies()
        for name, parts in self._lists.items():
            if name == MARKERS:
                self._markers(parts)
            elif name.endswith("_api"):
                self._calls(name, parts, ops)
            elif name not in (KERNELS, COPIES) and parts:
                self.passed_over.append(name)
        if self.passed_over:
            self._findings.note(
                f"Passed over, as no host calls or device ops: {shortened(self.passed_over)}."
            )

    def _add(self, kind: Kind, blocks: list[tuple[Column, Columns]]) -> None:
        """Add the rows that have both times; the others are counted as skipped."""
        lost = 0
        for names, columns in blocks:
            good = (columns["start_ns"] != ABSENT) & (columns["end_ns"] != ABSENT)
            missing = int((~good).sum())
            lost += missing
            kept = {name: column[good] for name, column in columns.items()} if missing else columns
            codes = names[good] if missing else names
            self._builder.add(kind, codes, part=self._number, process=self.names.pid, **kept)
        if lost:
            self._findings.count(Fault.ROWS_SKIPPED, lost)
            self._findings.note(f"{lost} {kind.name.lower()} rows without a start or end were skipped.")

    def _shared(self, part: Part) -> Columns:
        return {
            "thread": _numbers(part["thread"]),
            "start_ns": part["start_ns"],
            "end_ns": part["end_ns"],
            "correlation": part["correlation"],
        }

    def _streams(self, part: Part) -> Column:
        codes, numbers = part["stream"]
        return looked_up(np.full_like(numbers, ABSENT) if self.names.by_queue else numbers, codes)

    def _kernels(self) -> list[_Links]:
        parts = self._lists.get(KERNELS, [])
        ids = sorted({number for part in parts for number in part["kernel"][1].tolist()})
        codes = dict(zip(ids, self._builder.interned(self._kernel_names(ids)).tolist(), strict=True))
        blocks = []
        for part in parts:
            place, numbers = part["kernel"]
            columns = self._shared(part) | {
                "device": self._devices(part["agent"]),
                "queue": _numbers(part["queue"]),
                "stream": self._streams(part),
                "graph": _graphs(part["graph"]),
            }
            names = np.array([codes[number] for number in numbers.tolist()], np.int32)
            blocks.append((looked_up(names, place), columns))
        self._add(Kind.KERNEL, blocks)
        return _links(blocks)

    def _kernel_names(self, ids: list[int]) -> list[str]:
        return [self._symbols.get(number) or f"kernel {number}" for number in ids]

    def _devices(self, agents: tuple[Column, Column]) -> Column:
        codes, numbers = agents
        return looked_up(self.names.devices(numbers.tolist()), codes)

    def _copies(self) -> list[_Links]:
        parts = self._lists.get(COPIES, [])
        names, places = self._operation_names(COPIES, parts)
        codes = self._builder.interned(names)
        said = np.array([direction_of(name) for name in names], np.uint8)
        blocks = []
        for part, place in zip(parts, places, strict=True):
            source, target = self._devices(part["source"]), self._devices(part["target"])
            device, kind = copy_sides(said[place], source, target, self.names.gpus)
            columns = self._shared(part) | {
                "device": device,
                "copy_kind": kind,
                "stream": self._streams(part),
                "bytes": part["bytes"],
                "graph": _graphs(part["graph"]),
            }
            blocks.append((codes[place], columns))
        self._add(Kind.MEMCPY, blocks)
        return _links(blocks)

    def _calls(self, name: str, parts: list[Part], ops: list[_Links]) -> None:
        if not parts:
            return
        names, places = self._operation_names(name, parts)
        codes, api, directions = self._builder.interned(names), api_codes(names), copy_directions(names)
        said = _said_by_arguments(parts, directions, places, ops)
        blocks = []
        for part, place, argued in zip(parts, places, said, strict=True):
            stream = self._streams(part)
            says = (stream != ABSENT) & np.isin(api, ON_A_STREAM)[place]
            argued["stream"] = np.where(says, stream, argued["stream"])
            columns = self._shared(part) | {"api": looked_up(api, place)} | argued
            blocks.append((looked_up(codes, place), columns))
        self._add(Kind.API, blocks)

    def _markers(self, parts: list[Part]) -> None:
        names, places = self._operation_names(MARKERS, parts)
        messages = {link: text for link, text in self.names.messages.items() if text and 0 <= link < 1 << 64}
        links = np.array(sorted(messages), np.uint64)
        texts = [*names, *(messages[link] for link in links.tolist())]
        shown = []
        for part, place in zip(parts, places, strict=True):
            at = np.searchsorted(links, part["correlation"])
            found = np.append(links, np.uint64(0))[at] == part["correlation"]
            shown.append(np.where((at < links.size) & found, len(names) + at, place))
        first, each = alike(np.concatenate([np.zeros(0, np.int64), *shown]))
        said = np.concatenate([np.zeros(0, np.int64), *shown])[first].tolist()
        codes = self._builder.interned([texts[number] for number in said])[each]
        ends = np.cumsum([len(place) for place in shown])[:-1]
        split = np.split(codes, ends) if shown else []
        self._add(Kind.RANGE, [(own, self._shared(part)) for own, part in zip(split, parts, strict=True)])

    def _operation_names(self, name: str, parts: list[Part]) -> tuple[list[str], list[Column]]:
        """The distinct names of the records' operations, and per part the place of each record's own."""
        used, codes = [], []
        for part in parts:
            (kind, kinds), (operation, operations) = part["kind"], part["operation"]
            code = kind.astype(np.int64) * operations.size + operation
            found = np.unique(code)
            used.append(
                {
                    (int(kinds[c // operations.size]), int(operations[c % operations.size])): c
                    for c in found.tolist()
                }
            )
            codes.append(code)
        pairs = sorted(set().union(*used))
        places = []
        for own, code in zip(used, codes, strict=True):
            place = np.zeros(max(own.values()) + 1, np.int32)
            for number, pair in enumerate(pairs):
                if pair in own:
                    place[own[pair]] = number
            places.append(place[code])
        return self.names.operations(name, pairs), places


def _said_by_arguments(
    parts: list[Part], directions: Column, places: list[Column], ops: list[_Links]
) -> list[Columns]:
    """Per part `stream`, `copy_kind` and `bytes` of the calls, as their arguments and names have them."""
    said = [looked_up(directions, place) for place in places]
    if not any(part["argument_row"].size for part in parts):
        absent = np.array([ABSENT])
        return [
            {"copy_kind": kind, "stream": looked_up(absent, kind), "bytes": looked_up(absent, kind)}
            for kind in said
        ]
    sizes = [len(part["start_ns"]) for part in parts]
    begins = np.cumsum([0, *sizes[:-1]])
    event = np.concatenate(
        [part["argument_row"].astype(np.int64) + begin for part, begin in zip(parts, begins, strict=True)]
    )
    texts = tuple(_joined([part[f"argument_{name}"] for part in parts]) for name in ("type", "name", "value"))
    calls = np.arange(sum(sizes))
    links = calls, np.concatenate([part["correlation"] for part in parts])
    tracked = any(bool((streams != ABSENT).any()) for _, streams in ops)
    given = ops or [(np.zeros(0, np.uint64), np.zeros(0, np.int64))]
    arguments = ArgumentColumns(event, texts, links, given, NULL_STREAM if tracked else None)  # type: ignore[arg-type]
    columns = arguments.columns(calls, np.concatenate(said))
    split = {name: np.split(column, begins[1:]) for name, column in columns.items()}
    return [{name: pieces[at] for name, pieces in split.items()} for at in range(len(parts))]


def _joined(parts: Sequence[tuple[Column, list[str]]]) -> Coded:
    """Texts of all parts, each once."""
    index: dict[str, int] = {}
    codes = []
    for own, texts in parts:
        table = np.array([*(index.setdefault(text, len(index)) for text in texts), NO_TEXT], np.int32)
        codes.append(table[own])  # NO_TEXT is the last
    return Coded(np.concatenate(codes), list(index))


def _links(blocks: list[tuple[Column, Columns]]) -> list[_Links]:
    return [(columns["correlation"], columns["stream"]) for _, columns in blocks]


def _numbers(coded: tuple[Column, Column]) -> Column:
    codes, numbers = coded
    return looked_up(numbers, codes)


def _graphs(coded: tuple[Column, Column]) -> Column:
    codes, numbers = coded
    return looked_up(np.where(numbers == 0, ABSENT, numbers), codes)
