"""The native core: text in, columns out, and work on columns. Built from `native/`; no Python object is made
for an event, and the interpreter lock is free meanwhile.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from overlap_lab.trace import Trace

_Column = npt.NDArray[Any]
_Sparse = tuple[_Column, _Column]

class State(Enum):
    READING = 0
    """Wants more text."""
    STOPPED = 1
    """What comes next is for another reader to judge."""
    CLOSED = 2
    """Has read the bracket that closes the list."""
    NOT_UTF8 = 3

class Path(Enum):
    """The instructions that find the quotes. All find the same; the machine decides which are there."""

    SCALAR = 0
    AVX2 = 1
    AVX512 = 2

class EventParser:
    """Reads the list of events of a Chrome trace, from behind the bracket that opens it."""

    lenient: bool
    """Whether only events are read that are not long, as where a damaged list is read on."""
    any_commas: bool
    """Whether commas between events may be missing or too many."""
    count_replaced: bool
    """Whether to count events with a replacement character in them."""

    def __init__(self, path: Path = ...) -> None: ...
    def parse(self, text: bytes | bytearray | memoryview, last: bool) -> int:
        """Read events; returns how many bytes were used. The next text must begin where these end."""
    def parse_file(self, file: int, begin: int, *, part: int = ..., threads: int = ...) -> int:
        """Read events of an open file from an offset, in parts of so many bytes on so many threads.

        Stops before the first one that is not well-formed; returns how many bytes were used. The text behind
        them is for `parse`, unless the list is closed. Part and threads: 0 for what suits the machine.
        """
    def parse_gzip(
        self, file: int, begin: int, *, part: int = ..., threads: int = ...
    ) -> tuple[int, bytes] | None:
        """As `parse_file` for a gzip file, `begin` being an offset in its text.

        Returns how many bytes were used, and the text behind them. None where that is long, or the file is
        not sound: nothing that the parser read is to be used then.
        """
    def accept(self, event: bytes) -> bool:
        """Read one event that was not in the text as it is; False where it is none."""
    def resume(self) -> None:
        """Read on after what stopped the parser was judged."""
    def columns(self) -> dict[str, _Column]:
        """One entry per row, with the rows that are one part of an event of two. Taken: gone then."""
    def sparse_columns(self) -> dict[str, _Sparse]:
        """Rows and values of what few rows have. Taken."""
    def odd(self) -> dict[str, _Sparse]:
        """Per key the rows whose value is no plain number, and its token. Taken."""
    def category_counts(self) -> _Column:
        """Complete events of each unknown category. Taken."""
    def names(self) -> list[str]: ...
    def tokens(self) -> list[str]:
        """Odd values as JSON."""
    def categories(self) -> list[str]:
        """Categories of unknown kind as JSON."""
    def process_names(self) -> bytes:
        """Events that name a process, as JSON, each with a zero byte behind it."""
    @property
    def state(self) -> State: ...
    @property
    def events(self) -> int: ...
    @property
    def repaired(self) -> int:
        """Objects with repeated keys, NaN or Infinity."""
    @property
    def replaced(self) -> int:
        """Events with a replacement character."""
    @property
    def odd_commas(self) -> int:
        """Events before which commas were missing or too many."""
    @property
    def skipped(self) -> int:
        """Items that are no objects."""
    @property
    def longest(self) -> int:
        """Bytes of the longest event."""
    @property
    def long_events(self) -> int:
        """Events of 64 KiB or more."""
    @property
    def parts(self) -> tuple[int, int, int]:
        """How many parts a file was read in, bytes of the longest, and how many were read twice."""
    @property
    def hip_calls(self) -> bool:
        """Whether some runtime call is named hip..."""
    @property
    def cuda_calls(self) -> bool: ...
    @property
    def any_start(self) -> bool:
        """Whether any event has a "ts"."""
    @property
    def whole_thousands(self) -> bool:
        """Whether all times of complete events are integers that 1000 divides, and there are some."""
    @property
    def odd_letters(self) -> bool:
        """Whether lower case turns a category's letters into another alphabet's."""

def long_members(text: bytes | bytearray, *, least: int) -> list[tuple[int, int, int]] | None:
    """Offsets of the values of at least so many bytes in the object that a text is, and for each of them how
    many objects in it need a repair: repeated keys or NaN.

    The last 64 bytes of `text` are a margin that is not read. None where it is no object that Python's strict
    parser reads.
    """

def nesting_depth(
    kind: npt.NDArray[np.uint8],
    process: npt.NDArray[np.int32],
    thread: npt.NDArray[np.int64],
    start_ns: npt.NDArray[np.int64],
    end_ns: npt.NDArray[np.int64],
    *,
    kinds: int,
) -> npt.NDArray[np.int32]:
    """Depth of each row among those of its thread and kind; rows whose kind has no bit in `kinds` have 0."""

def thread_count() -> int:
    """The cores that this process may use, at most OVERLAP_LAB_THREADS; what the readers use."""

def path_supported(path: Path) -> bool: ...
def fastest_path() -> Path: ...
def scan(text: bytes, path: Path) -> tuple[_Column, _Column, bool, bool]:
    """Offsets of quotes and of faults inside strings; whether there is a backslash; whether it is UTF-8."""

def nanoseconds(text: str) -> int | None:
    """Decimal microseconds as ns; None for what needs arbitrary precision, or is no number."""

def integer(text: str) -> int | None: ...
def unsigned_integer(text: str) -> int | None: ...
def unescaped(text: str) -> str:
    """The text of a JSON string's content."""

class Cell(Enum):
    """How a column of a query is read. Cells that a kind does not take end the reading."""

    INTEGER = 0
    """Integers; ABSENT for NULL."""
    CAST = 1
    """What CAST(... AS INTEGER) makes of integers, doubles and text; ABSENT for NULL."""
    TEXT = 2
    """Codes and the distinct texts; NO_TEXT for NULL."""
    CODED = 3
    """As INTEGER: codes, and the distinct numbers."""

_Cells = list[_Column | tuple[_Column, list[str]] | tuple[_Column, _Column]]
_Place = tuple[int, bool]

def read_columns(uri: str, sql: str, cells: list[Cell], parameters: list[str] = ...) -> _Cells | None:
    """One column per cell kind; None where a plain reader must: a damaged file, an odd cell, no library."""

def read_table(
    path: bytes,
    root: int,
    stored: list[_Place],
    cells: list[Cell],
    conditions: list[list[tuple[_Place, list[str]]]] = ...,
) -> _Cells | None:
    """Columns of the table whose tree has this root page, decoded from the file's pages.

    `stored` is the place of each column in a record, -1 for the rowid, and whether rows from before the
    column have a default; `conditions` are texts of which one of some columns has one, all to be met. None
    where SQLite must read it: no such table, a damaged page, an odd cell.
    """

def alike_codes(
    columns: list[npt.NDArray[np.int32]], counts: list[int]
) -> tuple[_Column, npt.NDArray[np.int32]]:
    """The first row of each distinct combination of codes, as they come; for each row the place of its own.

    Codes are from -1 to below their column's count, which is not checked.
    """

def kept_bytes(size: int) -> npt.NDArray[np.uint8]:
    """Memory for a column that is written once and kept; what it holds is anything."""

def scatter(
    into: _Column,
    values: list[_Column],
    codes: list[npt.NDArray[np.int32] | None],
    places: npt.NDArray[np.uint32],
) -> None:
    """Write the rows of blocks that follow each other to their places, which are not checked.

    A block is a value per row, or values and per row the place of its own among them.
    """

def block_order(
    start_ns: list[npt.NDArray[np.int64]], end_ns: list[npt.NDArray[np.int64]]
) -> (
    tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.int64], npt.NDArray[np.int64]] | None
):
    """The order in time of rows in blocks, the place that each row comes to, and both times in that order.

    Rows that start together are in order of falling ends, then as they are. None where the starts are too far
    apart for that many rows.
    """

def coded_numbers(column: _Column) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Per row the place of its number among the distinct ones, and these, in the order in which they come."""

def distinct_numbers(column: _Column) -> npt.NDArray[np.int64]:
    """The distinct numbers of a column, in the order in which they come."""

def times_fit(
    start_ns: npt.NDArray[np.int64],
    end_ns: npt.NDArray[np.int64],
    earliest: int,
    latest: int,
    longest: int,
) -> bool:
    """Whether all times are within these limits, and all durations together are below half of `latest`."""

def sqlite_version() -> str | None:
    """Version of the SQLite that `read_columns` uses; None where there is none."""

class Field(Enum):
    """How a column of CSV text is read."""

    SKIPPED = 0
    INTEGER = 1
    """Numbers with 0 for odd texts; the rows of odd texts, and these as a TEXT column has them."""
    TIME = 2
    """The same; a row without a number here is left out."""
    TEXT = 3
    """Codes and the distinct texts."""

_Texts = tuple[_Column, list[str]]
_CsvPart = tuple[list[_Texts | tuple[_Column, _Column, _Texts] | None], int, int, bool]
"""Columns, how many rows there were and were kept, whether the last was."""

def csv_header(text: bytes) -> tuple[list[str], int, bool]:
    """The fields of the first record, where the next one begins, and whether a line end closes it."""

def csv_index(text: bytes, path: Path) -> tuple[list[int], _Column, bool, bool, bool]:
    """Offsets of separators, which of them (from 1) end lines; odd or doubled quotes; clean text."""

def read_csv_files(
    files: list[tuple[bytes, int, list[Field]]], part_size: int
) -> list[tuple[list[_CsvPart], bool]]:
    """The parts of each file in order, and whether its last byte is a line end.

    Files are given by path, bytes before the first record, and how each column is read.

    A row is kept where it has as many fields as given here, and its times. No parts where `csv` must read: of
    text that is not UTF-8 or has zero bytes, of odd times, of fields over 16 MiB.
    """

def gunzip(file: int) -> bytes | None:
    """The text of a small gzip file; None for a file that is not sound, or over 64 MB of text."""

def crc32(text: bytes, before: int = ...) -> int:
    """The checksum of text whose first part has the checksum `before`."""

def crc32_plain(text: bytes, before: int = ...) -> int:
    """As `crc32` without the instructions that only some machines have."""

def time_order(
    start_ns: npt.NDArray[np.int64],
    end_ns: npt.NDArray[np.int64],
    kind: npt.NDArray[np.uint8],
    rank: npt.NDArray[np.uint8],
    by_start: npt.NDArray[np.int64],
) -> npt.NDArray[np.uint32]:
    """Rows by start; of those that start together the longer first, then by the rank of their kind.

    `by_start` is their stable order by start alone; `rank` has an entry for each of 256 kinds.
    """

def take(values: _Column, order: npt.NDArray[np.uint32]) -> _Column:
    """The values of these rows."""

def take_narrow(values: npt.NDArray[np.int64], order: npt.NDArray[np.uint32]) -> npt.NDArray[np.int32]:
    """As `take`, in 32 bits; the least number for what does not fit."""

def places(order: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """The place to which each row comes."""

def spread(values: _Column, places: npt.NDArray[np.uint32], size: int, other: _Column) -> _Column:
    """A column of this size with the values at their places, which are not checked, and `other` elsewhere."""

def order(columns: list[_Column], *, descending: int = ...) -> npt.NDArray[np.int64]:
    """Rows in the order of integer columns, the first of which counts most; equal rows stay as they are.

    `descending` has a bit for each column that is to be in falling order: bit 0 for the first.
    """

class CsvReader:
    """The same for text that is handed over in pieces."""

    def __init__(self, fields: list[Field], path: Path = ...) -> None: ...
    def read(self, text: bytes, last: bool) -> bool:
        """Read on; False where `csv` must."""
    def read_gzip(self, file: int, begin: int) -> bool:
        """Read the text of an open gzip file from an offset on, instead; False also where it is not sound."""
    @property
    def ends_line(self) -> bool:
        """Whether the last byte of the text so far is a line end."""
    def part(self) -> _CsvPart:
        """What was read. Taken: nothing is left then."""

def count_read(size: int) -> None:
    """Add bytes to what this process has read, as `read_so_far` tells it."""

def read_so_far() -> tuple[int, int]:
    """Bytes of files, and rows of databases, that all readers of this process have read."""

_Ints = npt.NDArray[np.int64]
_Whole = npt.NDArray[np.signedinteger[Any]]

class Side(Enum):
    LEFT = 0
    RIGHT = 1

class Fold(Enum):
    SUM = 0
    LEAST = 1
    MOST = 2

def dense_codes(columns: list[_Column]) -> _Ints:
    """A number for each row of integer columns, without holes, in the order of the distinct rows."""

def distinct_rows(columns: list[_Column]) -> _Ints:
    """The first row of each distinct one, in the columns' order."""

def positions(ordered: _Whole, asked: _Whole, side: Side) -> _Ints:
    """What np.searchsorted gives; quick where the numbers asked for are in order, or nearly so."""

def last_below(values: _Ints, low: _Ints, high: _Ints, limit: _Ints) -> _Ints:
    """Per query the last index in [low, high) with a value below its limit; low - 1 where there is none."""

def are_members(column: _Column, members: int) -> npt.NDArray[np.bool_]:
    """Whether each value is the number of a bit that `members` has."""

def rows_among(column: _Column, members: int) -> _Ints:
    """The rows of which that is so."""

def gather(column: _Column, rows: _Whole) -> _Column:
    """What `column[rows]` gives, without rows that count from the end."""

def fold_groups(group: _Whole, value: _Ints, groups: int, fold: Fold, initial: int) -> _Ints:
    """`initial` folded with the values of each group, which are numbered from 0 to `groups` - 1."""

def reach_before(stream: _Ints, enqueue: _Ints, end: _Ints) -> _Ints:
    """Per op the latest end of those of its stream that were enqueued earlier; the least integer for none.

    Streams are numbered from 0, without holes.
    """

def union_of(start: _Ints, end: _Ints) -> tuple[_Ints, _Ints]: ...
def intersection_of(a_start: _Ints, a_end: _Ints, b_start: _Ints, b_end: _Ints) -> tuple[_Ints, _Ints]: ...
def difference_of(a_start: _Ints, a_end: _Ints, b_start: _Ints, b_end: _Ints) -> tuple[_Ints, _Ints]: ...
def shared_length(a_start: _Ints, a_end: _Ints, b_start: _Ints, b_end: _Ints) -> int:
    """How much of two sets is the same."""

def calls_of_ops(keys: list[_Column], start_ns: _Ints, rows: _Ints, calls: int) -> _Ints:
    """Per op the row of the latest call of its keys that starts before it, else of the first; -1 for none.

    `rows` are those of the calls, then those of the ops.
    """

def callers_of(
    kind: npt.NDArray[np.uint8],
    correlation: npt.NDArray[np.uint64],
    part: _Column,
    process: npt.NDArray[np.int32],
    start_ns: _Ints,
    wanted: _Ints,
    *,
    call: int,
    absent_process: int,
    added: npt.NDArray[np.uint32] | None = None,
) -> _Ints:
    """For each wanted row the call of its id that started last before it; see `device_rows.call_rows`."""

def outermost(group: _Whole, start: _Ints, end: _Ints) -> _Ints:
    """See `intervals.outermost`."""

def innermost_rows(
    kind: _Column,
    rows: tuple[npt.NDArray[np.int32], _Ints, _Ints],
    wanted: int,
    moments: tuple[_Ints, _Ints, _Ints],
) -> _Ints:
    """Per moment the last row of a kind, on its thread, that begins no later and ends no earlier, or -1.

    Rows and moments are given by thread number, start and end; the rows are ordered by start.
    """

_Numbers = tuple[_Column, _Column]
"""Codes, and the distinct numbers; ABSENT for none."""
_RecordProcess = tuple[
    list[tuple[str, bytes]],
    list[tuple[bool, str, int, bool, list[dict[str, _Column | _Numbers | _Texts]]]],
    list[tuple[_Column, _Texts]],
    bool,
]
"""Sections and their JSON (of those that are used); of each list whether it is of callback records, its name,
its size, whether some value is odd, columns of each part; ids and names of symbols, whether some are odd."""

def read_record_file(
    path: bytes, begin: int, part_size: int, argument_names: list[str], argument_types: list[str]
) -> list[_RecordProcess] | None:
    """The processes of a rocprofv3 JSON file; None where Python must read it.

    Arguments of calls are kept where their name or type is one of these.
    """

class RecordParser:
    """The same for text that is handed over in pieces."""

    def __init__(self, argument_names: list[str], argument_types: list[str], path: Path = ...) -> None: ...
    def read(self, text: bytes, last: bool) -> bool:
        """Read on; False where Python must."""
    def read_gzip(self, file: int, begin: int) -> bool:
        """Read the text of an open gzip file from an offset on, instead; False also where it is not sound."""
    def processes(self) -> list[_RecordProcess]:
        """What was read. Taken: nothing is left then."""

def end_after_interrupt(pipe: int, message: str) -> None:
    """From now on the process ends soon after SIGINT, with exit code 130 and the message on stderr.

    `pipe`: where Python's signal handler writes the number of each signal (`signal.set_wakeup_fd`).
    """

def claim_message() -> bool:
    """Whether nobody has told of the interrupt yet; the caller tells."""

def hold_end() -> None:
    """Until `release_end` the end waits, for two seconds at most: there is a file to be taken away."""

def release_end() -> None: ...

_Rows = npt.NDArray[np.int32]
_Flags = npt.NDArray[np.uint8]

def any_below(low: _Ints, high: _Ints) -> bool:
    """Whether any value is less than the one beside it."""

def calls_and_ops(trace: Trace, rules: dict[str, int]) -> tuple[_Rows, _Rows, _Rows, _Ints, bool]:
    """Rows of host calls and of device ops, the thread number of each call, the first row of each thread, and
    whether a capture begins or ends.
    """

def outer_calls(trace: Trace, rules: dict[str, int], host: _Rows, thread: _Rows) -> _Rows:
    """Per host call the outermost enqueue call around it, where it is an enqueue call; else itself."""

def linked_ops(
    trace: Trace, rules: dict[str, int], host: _Rows, thread: _Rows, captured: _Flags | None, op: _Rows
) -> (
    tuple[_Rows, _Ints, _Ints, _Ints, _Rows, tuple[_Ints, _Ints, _Ints, _Ints], tuple[_Ints, _Ints], bool]
    | None
):
    """Per op the host call that made it, enqueue start, start, end and place; the places' columns (part,
    process, device, stream), the pairs (thread, place) of calls and their ops, and whether ids may repeat.

    None where calls are not in order of time, or where very many have the same id.
    """

def calls_among(trace: Trace, host: _Rows, apis: int, left_out: _Flags | None) -> _Rows:
    """The host calls, by index in `host`, of the kinds whose bits are set, but those that are left out."""

def owned_ops(caller: _Rows, outer: _Rows) -> tuple[_Rows, bool]:
    """Per host call the last op of it and the calls in it, or -1; and whether any has more than one."""

def own_ops(
    trace: Trace,
    links: tuple[_Rows, _Rows, _Rows, _Rows],
    flags: _Flags,
    start: _Ints,
    end: _Ints,
    memory: tuple[_Column, _Column],
) -> tuple[_Ints, _Ints, _Rows]:
    """What flagged outermost calls, or calls in them, made: per flagged call first start and last end, the
    largest and the least integer where it made nothing. And of its ops of each place, copy kind and memory
    the one that ended last, in the order of the last ones.

    `links`: row, caller and place of each op, outermost call of each call; `memory`: the trace's columns.
    """

def overruns(
    start: _Ints, end: _Ints, place: _Rows, in_turn: list[bool], jitter: int, corrupt: int
) -> tuple[int, _Rows, _Ints, _Ints]:
    """How many ops run past the start of the next op of their place by more than `jitter`, at most `corrupt`;
    then the ops that run over by more or that none follows, by how much, and the start of the next one.

    Ops of a place that is not `in_turn` follow no other.
    """

def op_faults(
    trace: Trace,
    host: _Rows,
    row: _Rows,
    caller: _Rows,
    start: _Ints,
    end: _Ints,
    enqueue: _Ints,
    graph_launch: int,
    absent_graph: int,
) -> tuple[int, int, int, int]:
    """How many ops have no call, start before it, have no length, or are part of a graph."""

def call_faults(
    trace: Trace,
    host: _Rows,
    outer: _Rows,
    last_op: _Rows,
    captured: _Flags | None,
    owners: int,
    copy: int,
) -> tuple[int, int, int, _Rows]:
    """How many calls can own ops, how many are synchronous copies, how many of these have no op; and the
    other calls that should own an op and do not.
    """

def lane_edges(
    start: _Ints, end: _Ints, enqueue: _Ints, index: _Rows | None
) -> tuple[_Ints, _Ints, _Rows, _Rows]:
    """The edges of a lane's busy time: edge i reaches from the end of busy interval i - 1 to the start of
    interval i, the first from the first op's start, the last to the last op's end. And per edge that is not
    empty the op that starts at its end or later, and the one whose end opens it.

    `index` has the lane's ops, at least one; None stands for all.
    """

def busy_by_place(start: _Ints, end: _Ints, place: _Rows, places: int, first: int, last: int) -> list[int]:
    """Per place the time that its ops cover together inside [first, last)."""

def touched_places(
    enqueue: _Ints, op: _Rows, place: _Rows, queries: tuple[_Ints, _Ints, _Ints], places: int
) -> tuple[_Ints, _Rows]:
    """Pairs (query, place of an op in its range that was enqueued before its limit), each once.

    `op`: ops by their ends, `enqueue` for each its enqueue start, `place` that of all ops. A query has the
    ends of its range in that order, and its limit.
    """

def group_rows(code: _Rows, count: int) -> tuple[_Rows, list[int]]:
    """The positions of each code below `count`, in order, group by group, and where these begin."""

def flagged_rows(code: _Rows, flags: _Flags) -> _Rows:
    """The positions whose code, -1 for none, is flagged."""

def lengths_by_code(code: _Flags, start: _Ints, end: _Ints, count: int) -> list[int]:
    """Per code below `count` the sum of the intervals' lengths."""

def sorted_numbers(values: _Ints) -> _Ints:
    """What np.sort gives; quick where most are in order."""

def in_order(first: _Ints, second: _Ints | None = None) -> bool:
    """Whether no row is less than the one before it, by the first column, then by the second."""

_DeviceOps = tuple[_Ints, _Ints, _Ints, _Ints, _Rows, _Rows, _Rows, _Rows | None, int]
"""Start, end and enqueue start of all ops, their starts as linked, caller and place; the rows of host calls;
the device's ops, None where these are all; and the number of a graph launch."""
_Tenths = tuple[int, list[int], list[int]]
"""How many numbers there are, and those right below and right above each tenth asked for."""

def run_ahead(
    trace: Trace,
    ops: _DeviceOps,
    window: tuple[int, int] | None,
    from_return: bool,
    tenths: list[int],
) -> _Tenths:
    """Of run-ahead, from the start or the return of the enqueue call, over ops with a call that do not start
    before it and start in the window.
    """

def empty_run_ahead(
    trace: Trace, ops: _DeviceOps, window: tuple[int, int] | None, places: int, tenths: list[int]
) -> _Tenths:
    """The same over those that were enqueued while no op of their place was outstanding; of a graph's only
    the first to start.
    """

def recoveries(
    ops: _DeviceOps, waits: tuple[_Ints, _Ints, _Ints], twice_least: int, none: int
) -> tuple[_Ints, _Ints]:
    """Per wait run-ahead of the last op enqueued before it was called; and the time from its return until, at
    the end of the gap or later, an op starts whose run-ahead, doubled, is `twice_least` or more.

    Waits are given by call, end of the gap, and return. `none` stands for none.
    """

def queue_entries(trace: Trace, ops: _DeviceOps) -> tuple[_Ints, _Ints | None]:
    """When entries of the device's queue came, and when they ended, each sorted; a graph launch is one.

    None for the ends of a queue without graphs: they are those of the ops.
    """

def queue_peaks(trace: Trace, ops: _DeviceOps, ends: _Ints) -> tuple[int, int]:
    """The deepest queue and the most queued work; `ends` are those of the device's ops, sorted."""

def idle_pieces(
    trace: Trace,
    ops: _DeviceOps,
    gaps: tuple[_Ints, _Ints, _Rows, _Flags],
    causes: tuple[int, int, int, int],
    cap_ns: int,
) -> tuple[_Ints, _Ints, _Flags, _Rows]:
    """The pieces of gaps by start: start, end, cause and gap of each.

    Of a gap start, end, the op behind it, and the known cause of all of it plus 1 are given. `causes` are the
    numbers of: host late, launch, in call, dependency. Launch time lasts `cap_ns` at most.
    """

def sorted_calls(
    trace: Trace,
    rules: dict[str, int],
    calls: tuple[_Rows, _Rows, _Rows, _Rows, _Rows, _Ints],
    captured: _Flags | None,
) -> tuple[_Rows, _Rows, list[tuple[int, int, int]]]:
    """Of the calls that can wait those that do so by name or are long; per host call the number of its kind,
    -1 for all but the short ones that may wait; and each kind's thread, device and stream.

    `calls`: row, thread, outermost call and last op of each host call; place of each op; device of each
    place.
    """

def free_calls(
    trace: Trace,
    host: _Rows,
    kind: _Rows,
    scopes: list[list[tuple[_Ints, _Ints, bool]]],
    own_end: _Ints | None,
    names: int,
) -> tuple[list[int], list[int]]:
    """Per name, the first that of calls without one, how many calls of some kind found nothing outstanding in
    their scopes, and how long the longest lasted.

    A scope has the enqueue starts of its ops, sorted, the latest end among the first i of them, and whether
    the null stream brings it in: then work that ran on past `own_end` of the call does not count.
    """

def full_queue(
    trace: Trace, host: _Rows, launches: _Rows, slow: _Flags, entered: _Ints, left: _Ints
) -> _Rows:
    """The slow ones of some launches, where at least two and three quarters of those at their depth of the
    queue or deeper are slow. `entered` and `left` are the sorted times of the queue's entries.
    """

def rows_near(
    trace: Trace, kinds: int, thread_rows: _Ints, moments: tuple[_Ints, _Ints, _Ints]
) -> tuple[_Rows, _Rows]:
    """Rows of some kinds in which a moment of their thread begins, and their threads.

    Threads are numbered as in `thread_rows`, which has a row of each.
    """
