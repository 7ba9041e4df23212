"""How fast a page is in headless Chromium, and whether what it holds is found: `make bench-report`.

For each number of device ops a trace is made, measured and written as a page; the browser opens it from
disk, pans and zooms it by mouse, and twenty ops drawn by lot are found by zooming, with name and times.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from overlap_lab.analyze import report_and_context
from overlap_lab.render.html import PageSection, write_report_page
from overlap_lab.schema import DEVICE_KINDS
from overlap_lab.trace import Trace
from scripts.chromium import Tab, chromium
from scripts.made_trace import made_trace

__all__ = ["main"]

_MB: Final = 1_000_000
_LIMITS: Final = {100_000: 6 * _MB, 1_000_000: 20 * _MB}
"""Device ops -> most bytes of the page."""
_FIRST_DRAW_MS: Final = 1_500
_MOVE_MS: Final = 200
_MOVES: Final = 40
_FOUND: Final = 20
_DRAWN: Final = "document.documentElement.dataset.timeline === 'drawn'"
_FRAME: Final = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

_SPOT: Final = """(() => {
  const timeline = overlapTimeline;
  const row = timeline.painter.layout.rows.find((one) => one.label === '%s');
  const box = timeline.canvas.getBoundingClientRect();
  const { left, width } = timeline.painter.layout;
  return [box.left + left + width / 2, box.top + AXIS + row.y - timeline.stage.scrollTop + row.height / 2];
})()"""


@dataclass(frozen=True, slots=True)
class Measured:
    ops: int
    rows: int
    page_bytes: int
    write_s: float
    first_draw_ms: tuple[float, ...]
    move_ms: tuple[float, ...]
    found: int

    def faults(self) -> Iterator[str]:
        """What does not hold."""
        room = next((most for ops, most in _LIMITS.items() if self.ops <= ops), None)
        if room and self.page_bytes > room:
            yield f"{self.ops:,} ops: the page has {self.page_bytes:,} bytes, more than {room:,}"
        if statistics.median(self.first_draw_ms) > _FIRST_DRAW_MS:
            yield f"{self.ops:,} ops: the first draw took more than {_FIRST_DRAW_MS} ms"
        if max(self.move_ms) > _MOVE_MS:
            yield f"{self.ops:,} ops: a pan or zoom took {max(self.move_ms):.0f} ms, more than {_MOVE_MS}"
        if self.found < _FOUND:
            yield f"{self.ops:,} ops: only {self.found} of {_FOUND} ops were found with name and times"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ops", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--keep", type=Path, help="a folder for the pages")
    arguments = parser.parse_args()
    print(
        f"headless Chromium, {os.cpu_count()} cores ({platform.machine()}), load {os.getloadavg()[0]:.1f}; "
        "page: overlap-lab report of a made trace\n"
    )
    print("| device ops | rows | page | written in | first draw, median of 5 | pan or zoom | worst | found |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    faults = []
    with tempfile.TemporaryDirectory(prefix="overlap_lab_report_") as scratch:
        for ops in arguments.ops:
            measured = _measure(ops, arguments.keep or Path(scratch))
            print(_line(measured), flush=True)
            faults += measured.faults()
    print()
    for fault in faults:
        print(f"DOES NOT HOLD: {fault}", file=sys.stderr)
    return 1 if faults else 0


def _line(one: Measured) -> str:
    first, move = statistics.median(one.first_draw_ms), statistics.median(one.move_ms)
    return (
        f"| {one.ops:,} | {one.rows:,} | {one.page_bytes / _MB:.1f} MB | {one.write_s:.1f} s "
        f"| {first:.0f} ms | {move:.0f} ms | {max(one.move_ms):.0f} ms | {one.found} of {_FOUND} |"
    )


def _measure(ops: int, folder: Path) -> Measured:
    trace = made_trace(ops)
    begin = time.perf_counter()
    report, context = report_and_context(trace)
    page = folder / f"report_{ops}.html"
    write_report_page(page, [PageSection("made", trace, report, context)], title=f"{ops:,} device ops")
    took = time.perf_counter() - begin
    with chromium() as tab:
        tab.size(1280, 900)
        first = []
        for _ in range(5):
            tab.open(page.as_uri(), until=_DRAWN)
            first.append(float(tab.value("document.documentElement.dataset.firstDrawMs")))
        moves = tuple(_moves(tab))
        found = sum(_is_found(tab, trace, row) for row in _by_lot(trace))
        if tab.complaints:
            print(f"the browser complained: {tab.complaints}", file=sys.stderr)
    return Measured(ops, len(trace), page.stat().st_size, took, tuple(first), moves, found)


def _moves(tab: Tab) -> Iterator[float]:
    """ms from a wheel turn or a drag to the end of the frame that shows it."""
    tab.value("document.getElementById('timeline').scrollIntoView()")
    x, y = tab.value(
        """(() => { const box = overlapTimeline.canvas.getBoundingClientRect();
           return [box.left + box.width * 0.6, box.top + 80]; })()"""
    )
    tab.click(x, y)
    for turn in range(_MOVES):
        tab.value(
            """window.moved = new Promise((done) => {
              const { canvas } = overlapTimeline;
              const begin = (event) => {
                const at = performance.now();
                requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - at)));
              };
              canvas.addEventListener(canvas.dataset.next, begin, { once: true, capture: true });
            }); 0""".replace("canvas.dataset.next", "'wheel'" if turn % 2 == 0 else "'pointermove'")
        )
        if turn % 2 == 0:
            tab.mouse("Wheel", x, y, deltaX=0, deltaY=-240 if turn < _MOVES // 2 else 240)
        else:
            tab.mouse("Pressed", x, y, button="left", clickCount=1)
            tab.mouse("Moved", x - 120, y, button="left")
            tab.mouse("Released", x - 120, y, button="left", clickCount=1)
        yield float(tab.value("window.moved"))


def _by_lot(trace: Trace) -> list[int]:
    rows = np.flatnonzero(np.isin(trace.kind, DEVICE_KINDS))
    return [int(row) for row in np.random.default_rng(20).choice(rows, _FOUND, replace=False)]


def _is_found(tab: Tab, trace: Trace, row: int) -> bool:
    """Zoomed to by the address, pointed at with the mouse, read from the tip."""
    first = int(trace.start_ns[0])
    start, end = int(trace.start_ns[row]) - first, int(trace.end_ns[row]) - first
    middle = (start + end) // 2
    tab.value(f"location.hash = '#t={middle - 20_000}:{middle + 20_000}'; {_FRAME}")
    tab.value(_FRAME)
    tab.mouse("Moved", *tab.value(_SPOT % f"device {trace.device[row]} stream {trace.stream[row]}"))
    name, lasts, times, *_ = [*tab.value("overlapTimeline.tip.innerText").splitlines(), "", "", ""]
    exact = [f"{number:,} ns".replace(",", " ") for number in (start, end, end - start)]
    return name == trace.name_of(row) and times == f"from {exact[0]} to {exact[1]}" and exact[2] in lasts


if __name__ == "__main__":
    sys.exit(main())
