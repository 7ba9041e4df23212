"""Baseline <-> JSON. What is read may have been written by anybody: every value is checked."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, NoReturn

import numpy as np

from overlap_lab.compare.baseline import SCHEMA, Baseline, StoredRun, drains_table
from overlap_lab.compare.baseline_machine import Machine
from overlap_lab.compare.samples import Key, Windows
from overlap_lab.compare.sites import sites_of_report
from overlap_lab.compare.statistics import Floats
from overlap_lab.errors import BrokenBaseline
from overlap_lab.metrics.catalog import entry, measurement
from overlap_lab.report import Finding, Measurement, Report, Severity

__all__ = ["baseline_from_json", "baseline_to_json"]

_Place = tuple[tuple[str, int], ...]

_LONGEST: Final = 1_000
_LARGEST: Final = 2**63
_WORDS: Final = ("name", "created", "commit", "tool")
_RUN: Final = ("source", "verdict", "measurements", "certain", "drains", "steps", "ranges")


def baseline_to_json(baseline: Baseline) -> str:
    """Plain JSON, a line for each run."""
    head: dict[str, Any] = {"schema": SCHEMA}
    head |= {key: getattr(baseline, key) for key in _WORDS}
    head["tags"] = list(baseline.tags)
    head["machine"] = {"id": baseline.machine.id, "facts": dict(baseline.machine.facts)}
    opened = json.dumps(head, indent=1).removesuffix("\n}")
    entries = ",\n".join(f"  {json.dumps(key)}: {_listed(runs)}" for key, runs in baseline.entries.items())
    return f'{opened},\n "entries": {{\n{entries}\n }}\n}}'


def _listed(runs: tuple[StoredRun, ...]) -> str:
    lines = ",\n".join(f"   {_spelled(_plain_run(run))}" for run in runs)
    return f"[\n{lines}\n  ]"


def _spelled(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _plain_run(run: StoredRun) -> dict[str, Any]:
    return {
        "source": dict(run.report.source),
        "verdict": run.report.verdict,
        "measurements": [_plain_measurement(m) for m in run.report.measurements],
        "certain": [
            {"tag": tag, **dict(place), "value": value} for (tag, place), value in run.certain.items()
        ],
        "drains": dict(sites_of_report(run.report)),
        "steps": _plain_windows(run.steps),
        "ranges": {name: _plain_windows(windows) for name, windows in run.ranges.items()},
    }


def _plain_measurement(m: Measurement) -> dict[str, Any]:
    reason = {} if m.reason is None else {"reason": m.reason[:_LONGEST]}
    return {"tag": m.tag, **m.scope, "value": m.value, **reason}


def _plain_windows(windows: Windows) -> dict[str, Any]:
    return {
        "size": windows.size,
        "values": [
            {"tag": tag, **dict(place), "values": _plain_values(values, entry(tag).unit)}
            for (tag, place), values in windows.values.items()
        ],
        "drained": [
            {"site": name[:_LONGEST], **dict(place), "values": _plain_values(values, "ns")}
            for (place, name), values in windows.drained.items()
        ],
    }


def _plain_values(values: Floats, unit: str) -> list[float | int | None]:
    known = [value if math.isfinite(value) else None for value in values.tolist()]
    return known if unit == "ratio" else [None if value is None else round(value) for value in known]


def baseline_from_json(content: bytes, *, where: str) -> Baseline:
    """The baseline that `baseline_to_json` wrote. Raises BrokenBaseline for anything else."""
    try:
        whole = _object(json.loads(content, parse_constant=_refused), "the content")
        schema = whole.get("schema")
        if schema != SCHEMA:
            raise BrokenBaseline(
                f"{where}: its schema is {str(schema)[:80]!r}, and this version reads {SCHEMA!r}: save the "
                "baseline again, or use the version that wrote it"
            )
        return _baseline(whole)
    except (ValueError, RecursionError) as error:
        raise BrokenBaseline(
            f"{where}: is no baseline that can be read ({str(error)[:200]}); remove the file and save the "
            "baseline again"
        ) from None


def _refused(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _baseline(whole: dict[str, Any]) -> Baseline:
    words = {key: _text(whole.get(key), key) for key in _WORDS}
    machine = _object(whole.get("machine"), "machine")
    facts = _object(machine.get("facts"), "machine.facts")
    entries = _object(whole.get("entries"), "entries")
    return Baseline(
        machine=Machine({key: _text(value, f"machine.facts.{key}") for key, value in facts.items()}),
        entries={key: tuple(_run(run) for run in _filled(runs, key)) for key, runs in entries.items()},
        tags=tuple(_text(tag, "tags") for tag in _list(whole.get("tags"), "tags")),
        **words,
    )


def _filled(runs: object, key: str) -> list[Any]:
    found = _list(runs, f"entry {key[:80]!r}")
    if not found:
        raise ValueError(f"entry {key[:80]!r} has no runs")
    return found


def _run(given: object) -> StoredRun:
    run = _object(given, "a run")
    missing = [key for key in _RUN if key not in run]
    if missing:
        raise ValueError(f"a run has no {missing[0]}")
    drains = {
        _text(name, "drains"): int(_number(ns, "drains"))
        for name, ns in _object(run["drains"], "drains").items()
    }
    report = Report(
        _source(run["source"]),
        tuple(_measurement(one) for one in _list(run["measurements"], "measurements")),
        {"drains": drains_table(drains)},
        (Finding("verdict", Severity.INFO, _text(run["verdict"], "verdict")),),
    )
    ranges = _object(run["ranges"], "ranges")
    return StoredRun(
        report,
        _windows(run["steps"], "steps"),
        {_text(name, "ranges"): _windows(one, "ranges") for name, one in ranges.items()},
        {
            (_tag(one.get("tag")), _place(one)): _integer(one.get("value"), "certain")
            for one in _rows(run, "certain", "a run")
        },
    )


def _source(given: object) -> Mapping[str, object]:
    """Texts, numbers, and lists and objects of them; what a comparison does not know it passes over."""
    source = _object(given, "source")
    for key in ("devices", "metadata", "settings"):
        _object(source.get(key), f"source.{key}")
    for key in ("metadata", "devices"):
        for value in source[key].values():
            _text(value, f"source.{key}")
    return source


def _measurement(given: object) -> Measurement:
    one = _object(given, "a measurement")
    tag = _tag(one.get("tag"))
    value = one.get("value")
    reason = one.get("reason")
    number: int | float | None = None
    if value is not None:
        number = _number(value, tag) if entry(tag).unit == "ratio" else round(_number(value, tag))
    return measurement(tag, dict(_place(one)), number, None if reason is None else _text(reason, "reason"))


def _windows(given: object, where: str) -> Windows:
    whole = _object(given, where)
    size = _integer(whole.get("size"), f"{where}.size")
    values: dict[Key, Floats] = {}
    for one in _rows(whole, "values", where):
        values[_tag(one.get("tag")), _place(one)] = _numbers(one.get("values"), size, where)
    drained: dict[tuple[_Place, str], Floats] = {}
    for one in _rows(whole, "drained", where):
        drained[_place(one), _text(one.get("site"), "site")] = _numbers(one.get("values"), size, where)
    if size and not values:
        raise ValueError(f"{where} have no values")
    return Windows(values, drained)


def _rows(whole: dict[str, Any], key: str, where: str) -> Iterator[dict[str, Any]]:
    for one in _list(whole.get(key), f"{where}.{key}"):
        yield _object(one, f"{where}.{key}")


def _numbers(given: object, size: int, where: str) -> Floats:
    values = _list(given, f"{where}.values")
    if len(values) != size:
        raise ValueError(f"{where} of size {size} have {len(values)} values")
    return np.array([math.nan if value is None else _number(value, where) for value in values], np.float64)


def _place(one: Mapping[str, Any]) -> _Place:
    if "device" not in one:
        return ()
    return (("device", _integer(one["device"], "device")),)


def _tag(given: object) -> str:
    tag = _text(given, "tag")
    try:
        entry(tag)
    except KeyError:
        raise ValueError(f"there is no measure {tag[:80]!r}") from None
    return tag


def _text(given: object, where: str) -> str:
    if not isinstance(given, str):
        raise ValueError(f"{where[:120]} is no text")
    if len(given) > _LONGEST:
        raise ValueError(f"{where[:120]} is a text of {len(given)} letters")
    return given


def _number(given: object, where: str) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not -_LARGEST < given < _LARGEST:
        raise ValueError(f"{where}: {str(given)[:80]!r} is no number")
    return float(given)


def _object(given: object, where: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ValueError(f"{where[:120]} is no object")
    return given


def _list(given: object, where: str) -> list[Any]:
    if not isinstance(given, list):
        raise ValueError(f"{where[:120]} is no list")
    return given


def _integer(given: object, where: str) -> int:
    number = _number(given, where)
    if not number.is_integer() or number < 0:
        raise ValueError(f"{where}: {number} is no whole number")
    return int(number)
