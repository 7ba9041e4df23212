"""The rows of one GUID of a rocpd file from columns: what `Part` makes of objects, and to the same result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from overlap_lab.loaders.alike import NO_TEXT, Coded, Lookup, alike, named, or_none
from overlap_lab.loaders.api_names import api_codes, copy_directions
from overlap_lab.loaders.argument_columns import ArgumentColumns
from overlap_lab.loaders.building import Block
from overlap_lab.loaders.call_arguments import Links
from overlap_lab.loaders.coded_numbers import CodedNumbers
from overlap_lab.loaders.numbers import integer_column
from overlap_lab.loaders.rocpd_part import Part, host_memory, message_in, region_kind
from overlap_lab.loaders.sqlite_columns import TableColumns
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, COLUMNS, NO_CORRELATION, Kind
from overlap_lab.trace import Column, constant

__all__ = ["ColumnPart"]


class ColumnPart(Part):
    """Reads one GUID's tables into the builder, the large ones from columns that are there already."""

    def read_columns(self, large: Mapping[str, TableColumns]) -> None:
        """Add every region, mark, kernel and copy of this GUID; the large tables are these."""
        self._large = large
        self._read_identities()
        event = self._large["event"]
        if (event["id"] == ABSENT).any() or not self._ids_are_numbers():
            self.read()  # rows may join where no number is
            return
        self._event = Lookup(event["id"])
        self._link = np.append(np.maximum(event["stack_id"], NO_CORRELATION), NO_CORRELATION).astype(
            np.uint64
        )
        ops = [self._add_kernels(), self._add_copies()]
        argument, region = self._large["arg"], self._large["region"]
        texts = argument.texts
        self._said = ArgumentColumns(
            argument["event_id"],
            (texts["type"], texts["name"], texts["value"]),
            (region["event_id"], self._links_of(region["event_id"])),
            ops,
            self._null_stream,
        )
        self._add_region_rows()
        self._add_mark_rows()

    def _ids_are_numbers(self) -> bool:
        known: Iterable[Mapping[Any, Any]] = (
            *(self._strings, self._pids, self._tids),
            *(self._agent_kinds, self._agent_numbers, self._stream_numbers),
        )
        return all(isinstance(key, int) and key != ABSENT for ids in known for key in ids)

    def _links_of(self, event: Column) -> Column:
        return self._link[self._event.rows(event)]

    def _numbers(self, ids: CodedNumbers, known: Mapping[int, Any], absent: int) -> CodedNumbers:
        """The numbers that ids stand for; an id without a row in its table stands for itself."""
        row = Lookup(np.array(list(known), np.int64)).rows(ids.values)
        values = np.append(integer_column(list(known.values()), absent), absent)
        own = np.where(ids.values == ABSENT, absent, ids.values)
        return ids.mapped(np.where(row >= 0, values[row], own))

    def _part(self, rows: int) -> Column:
        return constant(self._number, rows, COLUMNS["part"])

    def _owners(self, rows: TableColumns) -> dict[str, Block]:
        return {
            "part": self._part(rows.rows),
            "process": self._numbers(rows.few["pid"], self._pids, ABSENT_PROCESS),
            "thread": self._numbers(rows.few["tid"], self._tids, ABSENT),
            "start_ns": rows["start"],
            "end_ns": rows["end"],
        }

    def _op(self, rows: TableColumns, agent: CodedNumbers) -> tuple[dict[str, Block], Links]:
        """Columns that every op has; correlation ids and streams alone."""
        link = self._links_of(rows["event_id"])
        stream = self._numbers(rows.few["stream_id"], self._stream_numbers, ABSENT)
        columns = self._owners(rows) | {
            "correlation": link,
            "device": self._numbers(agent, self._agent_numbers, ABSENT_DEVICE),
            "stream": stream,
            "queue": rows["queue_id"],
            "graph": _graphs(rows["graph_exec_id"]),
        }
        return columns, (link, stream.column())

    def _add_kernels(self) -> Links:
        rows = self._large["kernel_dispatch"]
        shown = self._tables.by_id("info_kernel_symbol", "display_name")
        mangled = self._tables.by_id("info_kernel_symbol", "kernel_name")
        kernel = rows["kernel_id"]

        def name(row: int) -> str:
            key: Any = or_none(kernel[row])
            return str(shown.get(key) or mangled.get(key) or f"kernel {key}")

        columns, links = self._op(rows, rows.few["agent_id"])
        codes = named(self._builder, name, kernel)
        self._builder.add_timed(Kind.KERNEL, codes, columns, self._findings)
        return links

    def _add_copies(self) -> Links:
        rows = self._large["memory_copy"]
        source, target, name_id = rows["src_agent_id"], rows["dst_agent_id"], rows["name_id"]

        def name(row: int) -> str:
            return str(self._string(name_id[row]) or "MEMORY_COPY")

        first, place = alike(source, target, name_id)
        sides = [
            self._copy_side(or_none(source[row]), or_none(target[row]), name(row)) for row in first.tolist()
        ]
        agents = np.array([ABSENT if agent is None else agent for agent, _ in sides], np.int64)
        extra = rows.texts["extdata"]
        with_extra, extra_place = alike(extra.codes)
        memories = [host_memory(extra.at(row)) for row in with_extra.tolist()]
        columns, links = self._op(rows, CodedNumbers(place.astype(np.int32), agents))
        columns |= {
            "bytes": rows["size"],
            "copy_kind": np.array([kind for _, kind in sides], np.uint8)[place],
            "memory": np.array(memories, np.uint8)[extra_place],
        }
        codes = named(self._builder, name, name_id)
        self._builder.add_timed(Kind.MEMCPY, codes, columns, self._findings)
        return links

    def _string(self, number: Any) -> Any:
        return self._strings.get(None if number == ABSENT else number)  # type: ignore[arg-type]

    def _add_region_rows(self) -> None:
        rows, events = self._large["region"], self._large["event"]
        name_id, event = rows["name_id"], rows["event_id"]
        row_of = self._event.rows(event)
        category = np.append(events["category_id"], ABSENT)[row_of]
        columns = self._owners(rows) | {"correlation": self._link[row_of]}
        first, place = alike(category, name_id)
        named_kinds = [
            region_kind(self._string(category[r]), self._region_name(name_id[r])) for r in first.tolist()
        ]
        kinds = np.array(named_kinds, np.uint8)[place]
        api = np.flatnonzero(kinds == Kind.API)
        mine = {key: column[api] for key, column in columns.items()} | {"part": self._part(api.size)}
        first, place = alike(name_id[api])
        names = [self._region_name(name_id[row]) for row in api[first].tolist()]
        mine |= {"api": api_codes(names)[place]}
        mine |= self._said.columns(event[api], copy_directions(names)[place])
        codes = self._builder.interned(names)[place]
        self._builder.add_timed(Kind.API, codes, mine, self._findings)
        for kind in (Kind.RANGE, Kind.PYTHON):
            here = np.flatnonzero(kinds == kind)
            own = {key: column[here] for key, column in columns.items()} | {"part": self._part(here.size)}
            codes = self._messages(row_of[here], rows.texts["extdata"].rows(here), name_id[here])
            self._builder.add_timed(kind, codes, own, self._findings)

    def _region_name(self, number: int) -> str:
        return str(self._string(number) or "")

    def _messages(self, event_row: Column, own: Coded, label: Column) -> Column:
        """Name codes of ranges: their message, else the name that `label` stands for."""
        texts = self._large["event"].texts["extdata"]
        of_event = np.append(texts.codes, NO_TEXT)[event_row]

        def name(row: int) -> str:
            return message_in(texts.text(of_event[row]), own.at(row)) or self._region_name(label[row])

        return named(self._builder, name, of_event, own.codes, label)

    def _add_mark_rows(self) -> None:
        rows = self._large["sample"]
        track, time = rows["track_id"], rows["timestamp"]
        pids: dict[Any, Any] = self._tables.by_id("track", "pid")
        tids: dict[Any, Any] = self._tables.by_id("track", "tid")
        labels: dict[Any, Any] = self._tables.by_id("track", "name_id")
        texts, extra = self._large["event"].texts["extdata"], rows.texts["extdata"]
        of_event = np.append(texts.codes, NO_TEXT)[self._event.rows(rows["event_id"])]

        def name(row: int) -> str:
            label = str(self._string(labels.get(or_none(track[row]), -1)) or "mark")
            return message_in(texts.text(of_event[row]), extra.at(row)) or label

        codes = named(self._builder, name, of_event, extra.codes, track)
        first, place = alike(track)
        tracks = [or_none(track[row]) for row in first.tolist()]
        owners = self._shared([pids.get(t) for t in tracks], [tids.get(t) for t in tracks], [], [])
        columns = {key: owners[key][place] for key in ("process", "thread")}
        columns |= {"part": np.full(len(track), self._number, np.int32), "start_ns": time, "end_ns": time}
        self._builder.add_timed(Kind.RANGE, codes, columns, self._findings)


def _graphs(graph: Column) -> Column:
    """Graph ids; 0 is for none."""
    if (graph == 0).any():
        return np.where(graph == 0, ABSENT, graph)
    return graph
