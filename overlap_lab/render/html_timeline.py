"""The timeline as one HTML file that opens without a network and holds every op, and as a part of a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from overlap_lab.render.html_page import html_page
from overlap_lab.render.html_parts import element, text
from overlap_lab.render.timeline_blob import TimelineText, timeline_text
from overlap_lab.render.timeline_data import TimelinePanel, aligned_zero_ns, drawn_panel
from overlap_lab.whole_file import write_whole

__all__ = [
    "TIMELINE_SCRIPTS",
    "TimelinePanel",
    "aligned_zero_ns",
    "timeline_markup",
    "timeline_page",
    "timeline_text_of",
    "write_timeline_page",
]

TIMELINE_SCRIPTS: Final = ("timeline_read.js", "timeline_draw.js", "timeline_view.js", "timeline_input.js")

_BUTTONS: Final = (
    ("in", "+", "Zoom in"),
    ("out", "−", "Zoom out"),
    ("whole", "Whole", "Show the whole trace"),
    ("before", "◂ wait", "The wait before"),
    ("after", "wait ▸", "The next wait"),
    ("link", "Copy link", "Copy a link to this view"),
)
_HELP: Final = (
    "Click it, then zoom with the wheel or + and -, pan by dragging or with arrow keys; Home shows all of "
    "it, n and p go to waits. A click on a bar keeps its arrows: from the call that enqueued an op, and from "
    "the last op to the return of the wait. Columns lower than their row are events shorter than a pixel: "
    "the height is the share of time that they fill."
)


def timeline_page(*panels: TimelinePanel, title: str = "Timeline") -> str:
    """A page with the traces under each other on one time axis.

    It holds every device op, wait, host call and idle span with its exact times, loads nothing, and needs
    JavaScript. `TimelinePanel(title, trace)` starts at the trace's first record; give it `zero_ns` to align
    traces on something else (`aligned_zero_ns`).
    """
    body = [
        element("h1", text(title)),
        timeline_markup(timeline_text_of(panels)),
    ]
    return html_page(title, body, styles=("page.css", "timeline.css"), scripts=TIMELINE_SCRIPTS)


def write_timeline_page(path: Path, *panels: TimelinePanel, title: str = "Timeline") -> None:
    """Write `timeline_page(...)` to `path`, replacing what is there."""
    write_whole(path, timeline_page(*panels, title=title))


def timeline_text_of(panels: Sequence[TimelinePanel]) -> TimelineText:
    """Every span of the panels, for `timeline_markup`."""
    return timeline_text([drawn_panel(panel) for panel in panels])


def timeline_markup(data: TimelineText) -> str:
    """The place of a timeline with its data; its page needs `TIMELINE_SCRIPTS` and timeline.css."""
    buttons = (
        element("button", text(word), type="button", data_act=act, title=what, aria_label=what)
        for act, word, what in _BUTTONS
    )
    hint = "a name, or a time as 1.5ms:2ms"
    find = f'<input type="search" placeholder="{hint}" aria-label="Find in the timeline: {hint}">'
    missing = element(
        "noscript", element("p", "The timeline needs JavaScript; all numbers are in the tables.")
    )
    canvas = element(
        "canvas",
        tabindex="0",
        role="application",
        aria_label="Timeline of host calls, waits, device ops and idle time; plus, minus, arrows, Home, n, p",
    )
    return element(
        "div",
        missing,
        element(
            "details", element("summary", "How to use it"), element("p", text(_HELP)), class_="help soft"
        ),
        element("div", *buttons, find, "<output></output>", class_="tools"),
        element("div", class_="keys"),
        element("div", element("div", canvas), class_="stage"),
        '<div class="tip" hidden></div>',
        element("div", class_="picked", aria_live="polite"),
        element("div", class_="notes"),
        element("script", data.text, type="text/plain", id="timeline-data", data_head=str(data.head_bytes)),
        class_="timeline",
        id="timeline",
    )
