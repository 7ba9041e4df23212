"""What waiting costs: blocked time by call, drains by their parts, idle time by cause, steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import plotly.graph_objects as go

from overlap_lab.plots.palette import CAUSE_COLOURS, COLOURS, PART_COLOURS
from overlap_lab.plots.runs import device_word, report_of, title_of, untold
from overlap_lab.plots.theme import Scale, dressed, nothing, safe, scale_of, told
from overlap_lab.render.numbers import Numbers, most_idle, records
from overlap_lab.report import Cell, Report
from overlap_lab.schema import Cause
from overlap_lab.trace import Trace

__all__ = ["blocked", "drains", "idle_by_cause", "steps"]

_MOST_CALLS: Final = 20
_MOST_DRAINS: Final = 400
_MOST_STEPS: Final = 400
_MOST_DEVICES: Final = 40
_BAR: Final = 26

Record = Mapping[str, Cell]


def blocked(run: Trace | Report, *, theme: str = "light") -> go.Figure:
    """Host time in waits by call, reason and place: until the device was done, and after that."""
    report = report_of(run)
    title = f"{title_of(run)}: host blocked, by call"
    groups: dict[tuple[str, ...], list[int]] = {}
    for wait in records(report.tables.get("waits")):
        key = tuple(str(wait[name] or "") for name in ("call", "reason", "op", "range"))
        total = groups.setdefault(key, [0, 0, 0])
        for at, part in enumerate((1, _number(wait["device_bound"]), _number(wait["return_latency"]))):
            total[at] += part
    if not groups:
        return nothing(title, untold(report) or "no call waited", theme=theme)
    ranked = sorted(groups.items(), key=lambda item: -(item[1][1] + item[1][2]))
    shown, rest = ranked[:_MOST_CALLS], ranked[_MOST_CALLS:]
    scale = scale_of(max(total[1] + total[2] for _, total in shown))
    labels = [_place(key) for key, _ in shown]
    figure = go.Figure()
    for at, (name, colour) in enumerate(
        (
            ("until the device was done", COLOURS["blocked"]),
            ("after that, until the return", PART_COLOURS["return"]),
        ),
        1,
    ):
        figure.add_bar(
            orientation="h",
            name=name,
            y=list(range(len(shown))),
            x=[total[at] / scale.ns for _, total in shown],
            marker_color=colour,
            hovertext=[f"{told(total[at])} in {total[0]:,} waits" for _, total in shown],
            hovertemplate="%{hovertext}<extra>" + name + "</extra>",
        )
    figure.update_layout(barmode="stack")
    figure.update_yaxes(tickvals=list(range(len(shown))), ticktext=labels, autorange="reversed")
    figure.update_xaxes(title_text=f"host time in waits, {scale.unit}")
    notes = [one for one in [untold(report)] if one]
    if rest:
        cost = sum(total[1] + total[2] for _, total in rest)
        notes.append(f"{len(rest):,} more places, {told(cost)} together, are not drawn")
    return dressed(figure, title, theme=theme, height=100 + _BAR * len(shown), notes=notes)


def _place(key: Sequence[str]) -> str:
    call, reason, op, inside = key
    where = f" in {op or inside}" if op or inside else ""
    return safe(f"{call} ({reason}){where}", 64)


def drains(run: Trace | Report, *, theme: str = "light") -> go.Figure:
    """Every drained gap as a bar of its parts: return of the wait, refill by the host, launch."""
    report = report_of(run)
    title = f"{title_of(run)}: drains, by what their idle time went to"
    found = records(report.tables.get("drains"))
    if not found:
        return nothing(title, untold(report) or "no wait drained a device", theme=theme)
    chosen = _costliest(found, "idle", _MOST_DRAINS)
    scale = scale_of(max(_number(one["idle"]) for one in chosen))
    text = [
        f"{told(_number(one['idle']))} at {told(_number(one['start']))}, {device_word_of(one)}"
        f"<br>after {safe(str(one['call']))}{_within(one)}"
        for one in chosen
    ]
    figure = go.Figure()
    for part in ("return", "refill", "launch"):
        figure.add_bar(
            name=part,
            x=list(range(1, len(chosen) + 1)),
            y=[_number(one[part]) / scale.ns for one in chosen],
            marker_color=PART_COLOURS[part],
            customdata=[told(_number(one[part])) for one in chosen],
            hovertext=text,
            hovertemplate="%{hovertext}<br>" + part + ": %{customdata}<extra></extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.1)
    figure.update_xaxes(title_text="drain, in order of time")
    figure.update_yaxes(title_text=f"device idle, {scale.unit}", rangemode="tozero")
    return dressed(figure, title, theme=theme, notes=_cut(found, chosen, "drains", "idle"))


def idle_by_cause(run: Trace | Report, *, theme: str = "light") -> go.Figure:
    """Each device's window as a bar: busy, and idle by cause."""
    report = report_of(run)
    title = f"{title_of(run)}: where the device time went"
    numbers = Numbers(report)
    every = numbers.devices()
    devices = most_idle(numbers, every, _MOST_DEVICES)
    if not devices:
        return nothing(title, "the trace has no device records", theme=theme)
    windows = [numbers.count("device/window", scope) for scope in devices]
    scale = scale_of(max(windows))
    parts: list[tuple[str, str, str]] = [("busy", "device/busy", COLOURS["kernel"])]
    parts += [(f"idle: {_words(cause)}", f"device/idle/{cause}", CAUSE_COLOURS[cause]) for cause in Cause]
    notes = []
    if len(devices) < len(every):
        notes.append(f"the {len(devices)} of {len(every):,} devices that idle most are drawn")
    if numbers.count("quality/no_host_records", {}):
        parts[1:] = [("idle", "device/idle", CAUSE_COLOURS[Cause.UNKNOWN])]
        notes += ["the trace has no host records: why the device was idle cannot be told"]
    figure = go.Figure()
    for name, tag, colour in parts:
        values = [numbers.count(tag, scope) for scope in devices]
        if not any(values):
            continue
        share = [
            f"{told(v)}, {v / w:.1%} of the window" if w else told(v)
            for v, w in zip(values, windows, strict=True)
        ]
        figure.add_bar(
            orientation="h",
            name=name,
            y=[device_word(scope.get("device")) for scope in devices],
            x=[value / scale.ns for value in values],
            marker_color=colour,
            hovertext=share,
            hovertemplate="%{hovertext}<extra>" + name + "</extra>",
        )
    figure.update_layout(barmode="stack")
    figure.update_xaxes(title_text=f"window, {scale.unit}")
    figure.update_yaxes(autorange="reversed", type="category")
    return dressed(figure, title, theme=theme, height=100 + 2 * _BAR * len(devices), notes=notes)


def steps(run: Trace | Report, *, theme: str = "light") -> go.Figure:
    """Each step's window as busy and idle, with the host's blocked time and the drains in it."""
    report = report_of(run, steps=True)
    title = f"{title_of(run)}: steps"
    found = records(report.tables.get("steps"))
    if not found:
        why = untold(report) or "the trace names no steps, or the report was made without them"
        return nothing(title, why, theme=theme)
    chosen = found[:_MOST_STEPS]
    scale = scale_of(max(_number(one["window"]) for one in chosen))
    several = len({one["device"] for one in chosen}) > 1
    names = [safe(str(one["step"]) + (f", device {one['device']}" if several else ""), 40) for one in chosen]
    place = list(range(len(chosen)))
    figure = go.Figure()
    for name, column, colour in (
        ("busy", "busy", COLOURS["kernel"]),
        ("idle", "idle", CAUSE_COLOURS[Cause.HOST_LATE]),
    ):
        figure.add_bar(
            name=name,
            x=place,
            y=[_number(one[column]) / scale.ns for one in chosen],
            marker_color=colour,
            hovertext=[told(_number(one[column])) for one in chosen],
            hovertemplate="%{x}: %{hovertext}<extra>" + name + "</extra>",
        )
    missing = untold(report)
    if not missing:
        _add_blocked(figure, chosen, scale)
    figure.update_layout(barmode="stack", bargap=0.15)
    every = max(1, len(chosen) // 24)
    figure.update_xaxes(tickvals=place[::every], ticktext=names[::every], title_text="step")
    figure.update_yaxes(title_text=f"time of a step, {scale.unit}", rangemode="tozero")
    notes = [missing] if missing else []
    if len(found) > len(chosen):
        notes.append(f"the first {len(chosen):,} of {len(found):,} steps are drawn")
    return dressed(figure, title, theme=theme, notes=notes)


def _add_blocked(figure: go.Figure, chosen: Sequence[Record], scale: Scale) -> None:
    figure.add_scatter(
        name="host blocked",
        mode="markers",
        x=list(range(len(chosen))),
        y=[_number(one["blocked"]) / scale.ns for one in chosen],
        marker={"color": COLOURS["blocked"], "size": 8, "symbol": "diamond"},
        hovertext=[f"{told(_number(one['blocked']))}, {one['drains']} drains" for one in chosen],
        hovertemplate="%{hovertext}<extra>host blocked</extra>",
    )


def device_word_of(record: Record) -> str:
    number = record["device"]
    return device_word(None if number is None else int(number))


def _within(record: Record) -> str:
    place = record["op"] or record["range"] or record["frame"]
    return f" in {safe(str(place))}" if place else ""


def _costliest(found: list[dict[str, Cell]], column: str, most: int) -> list[dict[str, Cell]]:
    """At most so many, those that cost most, in their order of time."""
    if len(found) <= most:
        return found
    ranked = sorted(range(len(found)), key=lambda at: -_number(found[at][column]))[:most]
    return [found[at] for at in sorted(ranked)]


def _cut(found: Sequence[Record], chosen: Sequence[Record], what: str, column: str) -> list[str]:
    if len(found) == len(chosen):
        return []
    rest = sum(_number(one[column]) for one in found) - sum(_number(one[column]) for one in chosen)
    drawn = f"the {len(chosen):,} costliest of {len(found):,} {what} are drawn"
    return [f"{drawn}; the others are {told(rest)} together"]


def _number(cell: Cell) -> int:
    value: Any = cell or 0
    return int(value)


def _words(cause: Cause) -> str:
    return cause.replace("_", " ")
