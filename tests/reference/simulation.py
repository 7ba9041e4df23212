"""A small host and device machine that records what it does, and sometimes loses or garbles a record."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from overlap_lab.schema import Api, CopyKind, Fault, Kind, Memory
from overlap_lab.trace import Source, Trace
from tests.reference.rows import Row, trace_of

__all__ = ["Simulation"]


@dataclass(slots=True)
class _Style:
    """What a file format and its driver say or leave out."""

    vendor: str
    names_streams: bool
    sync_rows: bool
    says_memory: bool
    null_stream: bool
    free_waits: bool
    loses_ops: float
    loses_calls: float
    reuses_ids: float
    slack: int
    queue_limit: int
    long_calls: float


def _style(chance: random.Random) -> _Style:
    vendor = chance.choice(["amd", "nvidia", "unknown"])
    lossy = chance.random() < 0.3
    return _Style(
        vendor=vendor,
        names_streams=chance.random() < 0.4,
        sync_rows=vendor == "nvidia" and chance.random() < 0.7,
        says_memory=chance.random() < 0.5,
        null_stream=chance.random() < 0.8,
        free_waits=chance.random() < 0.6,
        loses_ops=0.08 if lossy else 0,
        loses_calls=0.08 if lossy else 0,
        reuses_ids=0.1 if chance.random() < 0.2 else 0,
        slack=chance.choice([0, 0, 0, 6, 9]),
        queue_limit=chance.choice([3, 4, 1_000, 1_000]),
        long_calls=chance.choice([0, 0.05, 0.2]),
    )


@dataclass(slots=True)
class _Stream:
    number: int
    device: int
    process: int
    kind: str
    tail: int = 0


@dataclass(slots=True)
class _Thread:
    number: int
    process: int
    streams: list[_Stream]
    left: int
    now: int = 0
    events: list[tuple[int, int, _Stream]] = field(default_factory=list)


class Simulation:
    """Threads take turns, the earliest clock first, so that an op's times are known when it is queued."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.style = _style(chance)
        self.rows: list[Row] = []
        self.next_id = chance.choice([1, 2**33])
        self.used_ids: list[tuple[int, int]] = []
        self.waiting: list[tuple[int, int, int, int]] = []
        self.ops: list[tuple[_Stream, int, int]] = []
        self.streams: list[_Stream] = []
        self.threads: list[_Thread] = []
        for process in range(100, 100 + chance.choice([1, 1, 1, 2])):
            self._add_process(process)
        self.moves = self._moves()

    def _add_process(self, process: int) -> None:
        chance, mine = self.chance, []
        devices = chance.choice([[0], [0], [0], [0, 1], [2]])
        for device in devices:
            for place in range(chance.randint(1, 3)):
                kind = "null" if place == 0 else chance.choice(["blocking", "nonblocking"])
                number = (process - 100) * 100 + device * 10 + place
                mine.append(_Stream(number, device, process, kind))
        for number in range(chance.choice([1, 1, 2, 3])):
            streams = chance.sample(mine, k=chance.randint(1, len(mine)))
            left = chance.choice([4, 8, 16, 30])
            self.threads.append(_Thread(number + 7, process, streams, left, now=chance.randint(0, 30)))
        self.streams += mine

    def _moves(self) -> dict[str, float]:
        """How often this program does what; a program leaves many things out."""
        common = {"launch": 8, "sync": 2, "copy": 2, "idle": 1}
        rare = [
            "memset",
            "graph",
            "host_function",
            "free",
            "alloc",
            "query",
            "event",
            "wait_event",
            "capture",
        ]
        rare += ["module", "sync_copy", "destroy", "other", "pinned", "burst", "nested"]
        return common | {move: self.chance.choice([0, 0, 0.5, 2]) for move in rare}

    def warm_up(self, calls: int) -> None:
        """Makes one thread free memory on an idle device so often that the floor of frees is learned."""
        thread = self.threads[0]
        self.moves["free"], self.style.free_waits = 4, True
        for _ in range(calls):
            self._call(thread, Api.FREE, thread.now + self.chance.choice([1, 2, 5, 30, 60, 90]))
            thread.now += self.chance.choice([0, 3])
        for other in self.threads[1:]:
            other.now += thread.now

    def run(self) -> Trace:
        while alive := [thread for thread in self.threads if thread.left > 0]:
            thread = min(alive, key=lambda t: (t.now, t.process, t.number))
            thread.left -= 1
            move = self.chance.choices(list(self.moves), list(self.moves.values()))[0]
            getattr(self, f"_{move}")(thread, self.chance.choice(thread.streams))
            thread.now += self.chance.choice([0, 1, 2, 5, 10, 40])
        for thread in self.threads:
            if self.chance.random() < 0.6:
                self._wait(thread, Api.DEVICE_SYNC, thread.streams[0])
        return trace_of(self.rows, self._source())

    def _source(self) -> Source:
        nulls = {s.number for s in self.streams if s.kind == "null"}
        nonblocking = {s.number for s in self.streams if s.kind == "nonblocking"}
        return Source(
            vendor=self.style.vendor,
            null_streams=frozenset(nulls if self.style.null_stream else ()),
            nonblocking_streams=frozenset(nonblocking if self.chance.random() < 0.5 else ()),
            faults={Fault.ROWS_SKIPPED: 2} if self.chance.random() < 0.1 else {},
        )

    # Records

    def _call(self, thread: _Thread, api: Api, end: int, stream: _Stream | None = None, **more: int) -> Row:
        row = {"kind": Kind.API, "api": api, "start": thread.now, "end": end, "process": thread.process}
        row |= {"thread": thread.number, "correlation": self._id(thread)} | more
        if stream and self.style.names_streams:
            row |= {"stream": stream.number, "device": stream.device}
        self.rows.append(row)
        thread.now = end
        return row

    def _id(self, thread: _Thread) -> int:
        mine = [number for process, number in self.used_ids if process == thread.process]
        if mine and self.chance.random() < self.style.reuses_ids:
            return self.chance.choice(mine)
        self.next_id += self.chance.choice([1, 1, 3])
        self.used_ids.append((thread.process, self.next_id))
        return self.next_id

    def _op(self, stream: _Stream, kind: Kind, after: int, duration: int, call_id: int, **more: int) -> int:
        """Queues one op and records it; its end."""
        start = max(after, stream.tail)
        if stream.kind == "null":
            same = [s for s in self.streams if (s.process, s.device) == (stream.process, stream.device)]
            start = max([start, *(s.tail for s in same if s.kind != "nonblocking")])
        elif stream.kind == "blocking":
            nulls = [s for s in self.streams if s.kind == "null" and s.device == stream.device]
            start = max([start, *(s.tail for s in nulls if s.process == stream.process)])
        start += self.chance.choice([0, 0, 1, 3])
        end = start + duration
        stream.tail = end
        self.ops.append((stream, start, end))
        if self.chance.random() >= self.style.loses_ops:
            recorded = end + self._corruption()
            linked = self.chance.random() >= self.style.loses_calls
            self.rows.append(
                {"kind": kind, "start": start, "end": recorded, "process": stream.process}
                | {"device": stream.device, "stream": stream.number}
                | {"correlation": call_id if linked else 0}
                | more
            )
        return end

    def _corruption(self) -> int:
        luck = self.chance.random()
        if self.style.loses_ops and luck < 0.03:
            return self.chance.choice([60, 400, 2_000])
        return self.chance.choice([1, 2, 12]) if self.style.loses_ops and luck < 0.06 else 0

    def _busy_until(self, thread: _Thread, stream: _Stream | None) -> int:
        """When everything that is queued now has ended: on a stream, or on all devices of the thread."""
        if stream is not None:
            return stream.tail
        devices = {s.device for s in thread.streams}
        tails = [s.tail for s in self.streams if s.process == thread.process and s.device in devices]
        return max(tails)

    # What a thread can do

    def _short(self, api: Api) -> int:
        """The duration of a call that waits for nothing."""
        if self.chance.random() < self.style.long_calls:
            return self.chance.choice([21, 25, 60, 150, 400])
        return self.chance.choice([1, 2, 3, 5, 8])

    def _idle(self, thread: _Thread, stream: _Stream) -> None:
        thread.now += self.chance.choice([30, 100, 400])

    def _launch(self, thread: _Thread, stream: _Stream) -> None:
        began = thread.now
        queued = sorted(end for s, _, end in self.ops if s.device == stream.device and end > began)
        returned = began + self._short(Api.LAUNCH)
        if len(queued) >= self.style.queue_limit:
            returned = max(returned, queued[-self.style.queue_limit] + self.chance.choice([1, 3, 9]))
        row = self._call(thread, Api.LAUNCH, returned, stream)
        latency = self.chance.choice([4, 6, 10]) if self.chance.random() < 0.8 else returned - began + 1
        duration = self.chance.choice([2, 5, 10, 20, 50, 120])
        self._op(stream, Kind.KERNEL, began + latency, duration, row["correlation"])

    def _burst(self, thread: _Thread, stream: _Stream) -> None:
        for _ in range(self.chance.randint(3, 7)):
            self._launch(thread, stream)

    def _graph(self, thread: _Thread, stream: _Stream) -> None:
        began = thread.now
        row = self._call(thread, Api.GRAPH_LAUNCH, began + self._short(Api.GRAPH_LAUNCH), stream)
        at = began + self.chance.choice([5, 12])
        for _ in range(self.chance.randint(1, 5)):
            kind = self.chance.choice([Kind.KERNEL, Kind.KERNEL, Kind.MEMCPY])
            at = self._op(stream, kind, at, self.chance.choice([3, 10, 30]), row["correlation"], graph=5)

    def _memset(self, thread: _Thread, stream: _Stream) -> None:
        began = thread.now
        api = self.chance.choice([Api.MEMSET, Api.MEMSET_ASYNC])
        waits = self.chance.random() < 0.2 and stream.tail > began
        returned = stream.tail + 3 if waits else began + self._short(api)
        row = self._call(thread, api, returned, stream)
        self._op(stream, Kind.MEMSET, began + 5, self.chance.choice([1, 4, 15]), row["correlation"])

    def _copy(self, thread: _Thread, stream: _Stream) -> None:
        began = thread.now
        direction = self.chance.choice(list(CopyKind)[:4])
        memory = self.chance.choice([Memory.PAGEABLE, Memory.PINNED])
        row = self._call(thread, Api.MEMCPY_ASYNC, began + self._short(Api.MEMCPY_ASYNC), stream)
        known = memory if self.style.says_memory else Memory.UNKNOWN
        end = self._op(
            stream,
            Kind.MEMCPY,
            began + 5,
            self.chance.choice([2, 20, 60]),
            row["correlation"],
            copy_kind=direction,
            memory=known,
        )
        if memory == Memory.PAGEABLE and direction == CopyKind.DEVICE_TO_HOST:
            row["end"] = thread.now = max(row["end"], end + self.chance.choice([1, 8, 25]))
        elif memory == Memory.PAGEABLE and direction == CopyKind.HOST_TO_DEVICE:
            row["end"] = thread.now = max(row["end"], end - self.chance.choice([0, 10, 35]))

    def _sync_copy(self, thread: _Thread, stream: _Stream) -> None:
        began = thread.now
        row = self._call(thread, Api.MEMCPY, began + 4, stream)
        if self.chance.random() < 0.15:
            row["end"] = thread.now = max(row["end"], stream.tail + 2)
            return
        duration = self.chance.choice([2, 20, 60])
        end = self._op(stream, Kind.MEMCPY, began + 5, duration, row["correlation"])
        if self.chance.random() < 0.8:
            row["end"] = thread.now = max(row["end"], end + self._lag())

    def _lag(self) -> int:
        """From the end of the device work to the return; negative where the clocks disagree a little."""
        return self.chance.choice([0, 1, 4, 9, 15]) - self.chance.choice([0, self.style.slack])

    def _sync(self, thread: _Thread, stream: _Stream) -> None:
        api = self.chance.choice([Api.STREAM_SYNC, Api.STREAM_SYNC, Api.DEVICE_SYNC, Api.CONTEXT_SYNC])
        self._wait(thread, api, stream)

    def _wait(self, thread: _Thread, api: Api, stream: _Stream) -> None:
        began = thread.now
        end = self._busy_until(thread, stream if api == Api.STREAM_SYNC else None)
        returned = max(began + 2, end + self._lag()) if end > began else began + self._short(api)
        row = self._call(thread, api, returned, stream if api == Api.STREAM_SYNC else None)
        self.waiting.append((thread.process, thread.number, began, returned))
        if api == Api.STREAM_SYNC and self.style.sync_rows:
            self._sync_row(row, stream)

    def _sync_row(self, call: Row, stream: _Stream, recorded: int = 0) -> None:
        self.rows.append(
            {"kind": Kind.SYNC, "start": call["start"], "end": call["end"], "process": stream.process}
            | {"device": 0, "stream": stream.number, "correlation": call["correlation"]}
            | {"wait_correlation": recorded}
        )

    def _event(self, thread: _Thread, stream: _Stream) -> None:
        """Records an event, or waits for one recorded earlier."""
        if thread.events and self.chance.random() < 0.5:
            recorded, done, on = self.chance.choice(thread.events)
            returned = max(thread.now + 2, done + self._lag())
            row = self._call(thread, Api.EVENT_SYNC, returned)
            if self.style.sync_rows:
                self._sync_row(row, on, recorded)
            return
        began = thread.now
        waits = self._others(thread, began)
        returned = began + self._short(Api.EVENT_RECORD)
        if waits and self.chance.random() < 0.3:
            returned = max(returned, max(waits) + 2)
        done = stream.tail
        row = self._call(thread, Api.EVENT_RECORD, returned, stream)
        thread.events.append((row["correlation"], done, stream))

    def _others(self, thread: _Thread, at: int) -> list[int]:
        """Returns of the waits that other threads of the process are in."""
        return [
            end
            for process, number, start, end in self.waiting
            if process == thread.process and number != thread.number and start < at < end
        ]

    def _wait_event(self, thread: _Thread, stream: _Stream) -> None:
        other = self.chance.choice(thread.streams)
        self._call(thread, Api.STREAM_WAIT_EVENT, thread.now + self._short(Api.STREAM_WAIT_EVENT), stream)
        stream.tail = max(stream.tail, other.tail)

    def _host_function(self, thread: _Thread, stream: _Stream) -> None:
        began = thread.now
        self._call(thread, Api.HOST_FUNC, began + self._short(Api.HOST_FUNC), stream)
        stream.tail = max(stream.tail, began + 5) + self.chance.choice([5, 30])

    def _free(self, thread: _Thread, stream: _Stream) -> None:
        self._device_wide(thread, self.chance.choice([Api.FREE, Api.HOST_FREE]), waits=self.style.free_waits)

    def _alloc(self, thread: _Thread, stream: _Stream) -> None:
        self._device_wide(thread, self.chance.choice([Api.ALLOC, Api.ASYNC_ALLOC]), waits=False)

    def _pinned(self, thread: _Thread, stream: _Stream) -> None:
        self._device_wide(thread, Api.HOST_ALLOC, waits=self.chance.random() < 0.5)

    def _module(self, thread: _Thread, stream: _Stream) -> None:
        self._device_wide(thread, Api.MODULE_LOAD, waits=self.chance.random() < 0.5)

    def _destroy(self, thread: _Thread, stream: _Stream) -> None:
        self._device_wide(thread, Api.STREAM_DESTROY, waits=self.chance.random() < 0.5)

    def _device_wide(self, thread: _Thread, api: Api, *, waits: bool) -> None:
        returned = thread.now + self._short(api)
        if waits:
            returned = max(returned, self._busy_until(thread, None) + self.chance.choice([0, 1, 6, 19, 21]))
        self._call(thread, api, returned)

    def _query(self, thread: _Thread, stream: _Stream) -> None:
        for _ in range(self.chance.randint(1, 4)):
            self._call(thread, Api.QUERY, thread.now + self.chance.choice([1, 2]), stream)
            thread.now += 3

    def _other(self, thread: _Thread, stream: _Stream) -> None:
        self._call(thread, Api.OTHER, thread.now + self._short(Api.OTHER))

    def _capture(self, thread: _Thread, stream: _Stream) -> None:
        for api in (Api.CAPTURE_BEGIN, Api.LAUNCH, Api.MEMCPY_ASYNC, Api.CAPTURE_END):
            self._call(thread, api, thread.now + 2, stream)

    def _nested(self, thread: _Thread, stream: _Stream) -> None:
        """A free that synchronizes inside, as some runtimes record it."""
        began, end = thread.now, self._busy_until(thread, None)
        thread.now = began + 1
        returned = max(began + 3, end + 2)
        self._call(thread, Api.DEVICE_SYNC, returned)
        thread.now = began
        self._call(thread, Api.FREE, returned + 1)
