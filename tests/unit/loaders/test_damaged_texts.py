"""Damage of a text, in each format that is one: repaired and counted, or refused; never silent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from overlap_lab.analyze import analyze
from overlap_lab.errors import InputError
from overlap_lab.loaders import load
from tests.unit.loaders.five_formats import write
from tests.unit.loaders.test_broken_values import SOUND, faults

Edit = Callable[[bytes], bytes]
Faults = dict[str, int]
Damage = dict[str, tuple[Edit, Faults | str]]
"""Format -> how its text is damaged, and the faults that are counted, or what the refusal says."""

KINETO, CSV, JSON = TEXTS = "kineto", "rocprofv3-csv", "rocprofv3-json"
NONE: Final[Faults] = {}
REPAIRED: Final = {"rows_repaired": 1}
SKIPPED: Final = {"rows_skipped": 1}
LOST: Final = {"rows_skipped": 1, "launches_without_op": 1}
"""The row of the second kernel."""
CUT: Final = {"truncated": 1}
CUT_OP: Final = {"truncated": 1, "launches_without_op": 1}
DEEP: Final = b"[" * 100_000 + b"]" * 100_000


def first(old: bytes, new: bytes) -> Edit:
    def edit(text: bytes) -> bytes:
        before, found, behind = text.partition(old)
        assert found
        return before + new + behind

    return edit


def last(old: bytes, new: bytes) -> Edit:
    def edit(text: bytes) -> bytes:
        before, found, behind = text.rpartition(old)
        assert found
        return before + new + behind

    return edit


def each(old: bytes, new: bytes) -> Edit:
    return lambda text: text.replace(old, new)


def until(end: int) -> Edit:
    return lambda text: text[:end]


def behind(more: bytes) -> Edit:
    return lambda text: text + more


def alike(edit: Edit, found: Faults | str) -> Damage:
    return dict.fromkeys(TEXTS, (edit, found))


def name(text: bytes, of_csv: Faults = NONE) -> Damage:
    """The last kernel's name, as it stands in the text."""
    edit = last(b"k(int)", text)
    return {KINETO: (edit, REPAIRED), JSON: (edit, REPAIRED), CSV: (edit, of_csv)}


def time(kineto: bytes, other: bytes, found: Faults, of_kineto: Faults | None = None) -> Damage:
    """What stands in the place of the last kernel's duration or end."""
    return {
        KINETO: (last(b'"50.000"', kineto), found if of_kineto is None else of_kineto),
        JSON: (first(b'"end_timestamp": 90000', b'"end_timestamp": ' + other), found),
        CSV: (last(b"90000", other), found),
    }


def between(gap: bytes) -> Damage:
    """What stands between two rows."""
    record = b'"size": 1, "kind": 2'
    json = first(b"}}, {" + record, b"}}" + gap + b"{" + record)
    return {KINETO: (first(b"}}, {", b"}}" + gap + b"{"), REPAIRED), JSON: (json, REPAIRED)}


def header(kineto: bytes, json: bytes) -> Damage:
    """What stands before the first key of the header, and of the metadata."""
    return {
        KINETO: (first(b'"schemaVersion"', kineto + b'"schemaVersion"'), REPAIRED),
        JSON: (first(b'"pid"', json + b'"pid"'), REPAIRED),
    }


def extra(member: bytes, of_kineto: Faults, of_json: Faults) -> Damage:
    """One more member of the last kernel."""
    return {
        KINETO: (last(b'"stream": 7', b'"stream": 7, ' + member), of_kineto),
        JSON: (first(b'"kernel_id": 2}', b'"kernel_id": 2, ' + member + b"}"), of_json),
    }


DAMAGES: Final[dict[str, Damage]] = {
    "nothing": alike(bytes, NONE),
    "cut inside the last row": {
        KINETO: (until(-40), CUT_OP),
        CSV: (until(-10), CUT_OP),
        JSON: (until(-40), CUT),
    },
    "cut before the first row": {
        KINETO: (until(50), "offset 50"),
        CSV: (until(50), "none of the formats"),
        JSON: (until(50), "offset"),
    },
    "no closing bracket": {KINETO: (until(-2), CUT), JSON: (until(-2), CUT)},
    "no bracket of the list": {JSON: (last(b"]}", b"}"), CUT)},
    "no closing brace": {KINETO: (until(-1), CUT), JSON: (until(-1), CUT)},
    "no closing brace behind keys": {KINETO: (last(b"]}", b'], "a": 1'), CUT)},
    "a trailing comma in a list": {
        KINETO: (last(b"]}", b",]}"), REPAIRED),
        JSON: (first(b'}], "hip_api"', b'},], "hip_api"'), REPAIRED),
    },
    "a trailing comma in a row": {
        KINETO: (last(b"7}}", b"7,}}"), REPAIRED),
        JSON: (first(b'"kernel_id": 2}', b'"kernel_id": 2,}'), REPAIRED),
        CSV: (last(b"90000", b"90000,"), LOST),
    },
    "a trailing comma in the document": {
        KINETO: (last(b"]}", b"],}"), REPAIRED),
        JSON: (last(b"]}", b"],}"), REPAIRED),
    },
    "a trailing comma behind the sections": {JSON: (last(b"}}]}", b"},}]}"), REPAIRED)},
    "a trailing comma behind the processes": {JSON: (last(b"]}", b",]}"), REPAIRED)},
    "a comma before the first row": {
        KINETO: (first(b"[{", b"[,{"), REPAIRED),
        JSON: (first(b'dispatch": [{', b'dispatch": [,{'), REPAIRED),
    },
    "two commas between rows": between(b",, "),
    "a line end between rows": between(b"\n"),
    "nothing between rows": between(b""),
    "a form feed between rows": between(b",\f"),
    "no commas between any rows": {KINETO: (each(b"}}, {", b"}} {"), {"rows_repaired": 4})},
    "no comma between keys": {
        KINETO: (first(b'1, "traceEvents"', b'1 "traceEvents"'), REPAIRED),
        JSON: (first(b', "kernel_symbols"', b' "kernel_symbols"'), REPAIRED),
    },
    "two commas between keys": {
        KINETO: (first(b'1, "traceEvents"', b'1,, "traceEvents"'), REPAIRED),
        JSON: (first(b', "agents"', b',, "agents"'), REPAIRED),
    },
    "text behind the document": {
        KINETO: (behind(b" more"), CUT),
        JSON: (behind(b" more"), CUT),
        CSV: (behind(b"more\r\n"), SKIPPED),
    },
    "text behind a bare list": {
        KINETO: (lambda text: text[text.index(b"[") : -1] + b" more", SKIPPED),
    },
    "zeros behind the document": alike(behind(bytes(99)), CUT),
    "the document twice": {KINETO: (lambda text: text * 2, CUT), JSON: (lambda text: text * 2, CUT)},
    "NaN for a time": time(b"NaN", b"NaN", {**LOST, **REPAIRED}) | {CSV: (last(b"90000", b"NaN"), LOST)},
    "Infinity for what means nothing": extra(b'"x": -Infinity', REPAIRED, REPAIRED),
    "a control character in a name": name(b"k(\x01int)"),
    "a zero byte in a name": name(b"k(\0int)"),
    "a control character in a record": extra(b'"x": "\x03"', REPAIRED, REPAIRED),
    "a control character in the metadata": header(b'"a": "\x02", ', b'"a": "\t", '),
    "bytes that are not UTF-8": name(b"k(\xffint)", REPAIRED),
    "a byte order mark": alike(lambda text: b"\xef\xbb\xbf" + text, NONE),
    "unescaped quotes": name(b'k("int")'),
    "backslashes of Windows": name(rb"C:\dir\k"),
    "a repeated key": {
        KINETO: (last(b'"stream": 7', b'"stream": 5, "stream": 7'), REPAIRED),
        JSON: (first(b'"thread_id": 501', b'"thread_id": 5, "thread_id": 501'), REPAIRED),
        CSV: (first(b"Kind,", b"End_Timestamp,"), REPAIRED),
    },
    "a repeated key of the header": header(b'"schemaVersion": 0, ', b'"pid": 5, '),
    "a repeated section": {
        JSON: (first(b'"buffer_records": {"', b'"buffer_records": {}, "buffer_records": {"'), REPAIRED)
    },
    "a repeated list": {
        JSON: (first(b'"memory_copy": []', b'"memory_copy": [], "memory_copy": []'), REPAIRED)
    },
    "a decimal comma between quotes": time(b'"50,000"', b'"90,000"', LOST, REPAIRED),
    "a decimal comma": time(b"50,000", b"90,000", LOST),
    "line ends of Windows": {KINETO: (each(b", ", b",\r\n"), NONE), JSON: (each(b", ", b",\r\n"), NONE)},
    "line ends of other systems": {CSV: (each(b"\r\n", b"\n"), NONE)},
    "a quoted number": time(b'"50"', b'"90000"', NONE),
    "text for a number": time(b'"soon"', b'"soon"', LOST),
    "a row without a time": {
        KINETO: (last(b'"ts": "40.000", ', b""), LOST),
        JSON: (first(b', "end_timestamp": 90000', b""), LOST),
        CSV: (last(b",90000", b""), LOST),
    },
    "a row that is none": {
        KINETO: (first(b"[{", b"[7, {"), SKIPPED),
        JSON: (first(b'dispatch": [{', b'dispatch": [7, {'), SKIPPED),
        CSV: (last(b"KERNEL", b"7\r\nKERNEL"), SKIPPED),
    },
    "a row without a value": {
        KINETO: (first(b'"dur": "50.000"', b'"dur": '), LOST),
        JSON: (first(b'"end_timestamp": 90000', b'"end_timestamp": '), LOST),
    },
    "a list that is none": {JSON: (first(b'"memory_copy": []', b'"memory_copy": 7'), SKIPPED)},
    "a process that is none": {JSON: (first(b'tool": [', b'tool": [7, '), SKIPPED)},
    "a base time that is none": header(b'"baseTimeNanoseconds": "soon", ', b'"pid": "soon", '),
    "a header too deep": header(b"", b'"a": ' + DEEP + b", ")
    | {KINETO: (first(b'"schemaVersion"', b'"a": ' + DEEP + b', "schemaVersion"'), SKIPPED)},
    "a header too deep behind the rows": {KINETO: (last(b"]}", b'], "a": ' + DEEP + b"}"), SKIPPED)},
    "a row too deep": extra(b'"a": ' + DEEP, LOST, LOST),
    "an empty file": alike(until(0), "empty file"),
    "no rows": {
        KINETO: (lambda text: text[: text.index(b"[") + 1] + b"]}", "no trace events"),
        JSON: (
            lambda text: text[: text.index(b'"kernel_dispatch": [')] + b"}}]}",
            "no trace events",
        ),
        CSV: (
            lambda text: text[: text.index(b"\n") + 1],
            {"launches_without_op": 2, "no_device_records": 1},
        ),
    },
}


@pytest.mark.parametrize(
    ("format_name", "damage"),
    [(text, damage) for damage, formats in DAMAGES.items() for text in formats],
)
def test_damage_is_counted_or_refused(format_name: str, damage: str, tmp_path: Path) -> None:
    edit, found = DAMAGES[damage][format_name]
    path = write(format_name, tmp_path, SOUND)
    path.write_bytes(edit(path.read_bytes()))
    if isinstance(found, str):
        with pytest.raises(InputError, match=found):
            load(path)
    else:
        trace = load(path)
        assert faults(analyze(trace)) == found
        assert bool(trace.source.notes) >= bool(trace.source.faults)
