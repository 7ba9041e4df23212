"""Two runs, or several ways to do the same: intervals and verdicts, never bare means."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from overlap_lab.compare import Comparison
from overlap_lab.compare.comparison import Difference, Verdict
from overlap_lab.errors import InputError
from overlap_lab.plots.palette import MODE_COLOURS, VERDICT_COLOURS
from overlap_lab.plots.theme import dressed, nothing, safe, told

__all__ = ["comparison", "overhead"]

_MOST: Final = 24
_WIDEST: Final = 200.0
"""Percent; what differs more is drawn at the edge."""
_BAR: Final = 28
_FORMAT: Final = "hip_ext/measurement 1"
_QUEUES: Final = {"queue0": 0, "queue1": 1, "queue10": 10}


def comparison(compared: Comparison, *, theme: str = "light") -> go.Figure:
    """Each measure's difference in percent of the baseline, with its interval and its verdict.

    With one run a side there is no interval: the points are hollow, and the figure says so.
    """
    title = f"candidate against baseline, {compared.sampling}"
    candidates = [*([compared.headline] if compared.headline else []), *compared.differences]
    rows = [one for one in _once(candidates) if one.difference is not None and one.baseline]
    changed = [one for one in rows if one.verdict != Verdict.SAME or one is compared.headline]
    chosen = (changed or rows)[:_MOST]
    if not chosen:
        return nothing(title, "no measure has a value on both sides and a baseline to divide by", theme=theme)
    figure = go.Figure()
    for verdict in Verdict:
        mine = [(at, one) for at, one in enumerate(chosen) if one.verdict == verdict]
        if mine:
            _add_points(figure, verdict, mine)
    labels = [safe(one.title + _scope(one.scope), 56) for one in chosen]
    figure.add_vline(x=0, line={"width": 1})
    figure.update_yaxes(tickvals=list(range(len(chosen))), ticktext=labels, autorange="reversed")
    figure.update_xaxes(title_text="difference, % of the baseline", zeroline=False)
    notes = (
        [f"{len(changed or rows) - len(chosen):,} more measures are not drawn"]
        if len(changed or rows) > _MOST
        else []
    )
    if changed and len(rows) > len(changed):
        notes.append(f"{len(rows) - len(changed):,} measures are the same on both sides")
    beyond = sum(abs(_percent(one, one.difference)) > _WIDEST for one in chosen)
    if beyond:
        notes.append(f"{beyond:,} measures differ by more than {_WIDEST:.0f} %: triangles at the edge")
    if all(one.statistics is None for one in chosen):
        notes.append(
            "one run a side: exact differences of these two runs, which say nothing about the next two"
        )
    return dressed(figure, title, theme=theme, height=120 + _BAR * len(chosen), notes=notes)


def _once(differences: Sequence[Difference]) -> list[Difference]:
    found: dict[tuple[str, frozenset[Any]], Difference] = {}
    for one in differences:
        found.setdefault((one.tag, frozenset(one.scope.items())), one)
    return list(found.values())


def _add_points(figure: go.Figure, verdict: Verdict, mine: Sequence[tuple[int, Difference]]) -> None:
    share = [_percent(one, one.difference) for _, one in mine]
    colour = VERDICT_COLOURS[verdict]
    for (at, one), middle in zip(mine, share, strict=True):
        if one.statistics is not None:
            edges = [_percent(one, edge) for edge in (one.statistics.low, one.statistics.high)]
            figure.add_scatter(
                mode="lines",
                x=[_inside(edge) for edge in (edges[0], middle, edges[1])],
                y=[at] * 3,
                line={"color": colour, "width": 3},
                hoverinfo="skip",
                showlegend=False,
                legendgroup=verdict,
            )
    figure.add_scatter(
        name=verdict.upper(),
        legendgroup=verdict,
        mode="markers",
        x=[_inside(value) for value in share],
        y=[at for at, _ in mine],
        marker={
            "color": colour,
            "size": 11,
            "symbol": [_symbol(one, value) for (_, one), value in zip(mine, share, strict=True)],
        },
        hovertext=[_said(one) for _, one in mine],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _inside(share: float) -> float:
    return min(max(share, -_WIDEST), _WIDEST)


def _symbol(one: Difference, share: float) -> str:
    shape = "circle" if abs(share) <= _WIDEST else "triangle-right" if share > 0 else "triangle-left"
    return shape if one.statistics else f"{shape}-open"


def _percent(one: Difference, value: float | None) -> float:
    return 100.0 * float(value or 0) / abs(float(one.baseline or 1))


def _said(one: Difference) -> str:
    sides = f"{_value(one, one.baseline)} to {_value(one, one.candidate)}"
    lines = [
        f"<b>{one.verdict.upper()}</b> {safe(one.title)}",
        f"{sides}, {_percent(one, one.difference):+.1f} % of the baseline",
    ]
    if one.statistics is not None:
        low, high = (_value(one, value) for value in (one.statistics.low, one.statistics.high))
        lines.append(f"difference between {low} and {high}, p = {one.statistics.p:.3g}")
    if one.reason:
        lines.append(safe(one.reason, 120))
    return "<br>".join(lines)


def _value(one: Difference, value: float | None) -> str:
    if value is None:
        return "none"
    return told(value) if one.unit == "ns" else f"{value:,.4g}"


def _scope(scope: Mapping[str, int]) -> str:
    return "".join(f", {name} {number}" for name, number in scope.items())


def overhead(measured: str | Path | Mapping[str, Any], *, theme: str = "light") -> go.Figure:
    """The backward's preparation by workspace mode: the host's time in the call against queued work, and the
    device's time between two events around it; medians, with bars from the 10th to the 90th percentile.

    `measured` is the raw file of `python -m hip_ext.bench.measure`, or what is in it. Raises InputError for
    anything else.
    """
    raw = _raw(measured)
    card = str(raw.get("facts", {}).get("card") or "the CPU host target")
    title = f"preparing the backward's workspace on {card}"
    figure = make_subplots(
        rows=1,
        cols=2,
        horizontal_spacing=0.1,
        subplot_titles=["host time in the preparation", "device time between events around it"],
    )
    for mode, colour in MODE_COLOURS.items():
        for column, series in ((1, "host_call_ns"), (2, "device_preparation_ns")):
            points = [(depth, _spread(raw, queue, mode, series)) for queue, depth in _QUEUES.items()]
            known = [(depth, spread) for depth, spread in points if spread is not None]
            if known:
                _add_mode(figure, column, (mode, colour), known)
    if not figure.data:
        return nothing(title, "the measurement holds no samples of the preparation in any mode", theme=theme)
    figure.update_xaxes(title_text="products queued before the call")
    figure.update_yaxes(title_text="us", type="log")
    return dressed(figure, title, theme=theme, height=460)


Spread = tuple[float, float, float]


def _add_mode(
    figure: go.Figure, column: int, look: tuple[str, str], points: Sequence[tuple[int, Spread]]
) -> None:
    mode, colour = look
    lows, middles, highs = (np.array([spread[at] for _, spread in points]) for at in range(3))
    figure.add_scatter(
        row=1,
        col=column,
        name=mode,
        legendgroup=mode,
        showlegend=column == 1 or mode == "none",
        mode="lines+markers",
        x=[str(depth) for depth, _ in points],
        y=middles,
        error_y={
            "type": "data",
            "symmetric": False,
            "array": highs - middles,
            "arrayminus": middles - lows,
            "color": colour,
        },
        line={"color": colour},
        hovertemplate="%{y:,.1f} us behind %{x} products<extra>" + mode + "</extra>",
    )


def _spread(raw: Mapping[str, Any], queue: str, mode: str, series: str) -> Spread | None:
    """10th percentile, median and 90th percentile in us; None where it was not measured."""
    try:
        samples = raw["runs"][f"preparation/{queue}"]["modes"][mode]["samples"][series]
        values = np.asarray(samples, np.float64) / 1_000
    except (KeyError, TypeError, ValueError):
        return None
    if not values.size:
        return None
    low, middle, high = np.quantile(values, (0.1, 0.5, 0.9))
    return float(low), float(middle), float(high)


def _raw(measured: str | Path | Mapping[str, Any]) -> Mapping[str, Any]:
    where = "the measurement"
    content: object = measured
    if isinstance(measured, str | Path):
        where = str(measured)
        try:
            content = json.loads(Path(measured).read_bytes())
        except (ValueError, RecursionError):
            raise InputError(
                f"{where}: is no JSON; give the raw file of python -m hip_ext.bench.measure"
            ) from None
        except OSError as error:
            raise InputError(f"{where}: cannot be read: {error.strerror or error}") from None
    if not isinstance(content, Mapping) or content.get("format") != _FORMAT:
        raise InputError(f"{where}: is no {_FORMAT!r}; give the raw file of python -m hip_ext.bench.measure")
    return content
