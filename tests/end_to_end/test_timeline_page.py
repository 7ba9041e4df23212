"""The timeline in a real browser: what it holds is found by zooming, with mouse and keys, name and times."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from overlap_lab.render.html_timeline import TimelinePanel, write_timeline_page
from overlap_lab.schema import Api, Kind
from overlap_lab.trace import Source, Trace
from scripts.chromium import CHROMIUM, Tab, chromium

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine (apt install chromium)")

DRAWN = "document.documentElement.dataset.timeline === 'drawn'"
HOSTILE = "</script><img src=x onerror=alert(1)>"
OPS = 2_000


def many_ops(count: int, *, seed: int = 7) -> Trace:
    """Launches and kernels of random lengths, each kernel with a name of its own kind."""
    random = np.random.default_rng(seed)
    duration = random.integers(800, 9_000, count)
    gap = random.integers(0, 2_500, count)
    start = np.cumsum(duration + gap) - duration + 5_000
    call = np.minimum(np.arange(count) * 4_000, start - 2_000)
    ids = np.arange(1, count + 1)
    names = ("hipLaunchKernel", HOSTILE, *(f"gemm_{tile}" for tile in range(12)))
    return Trace.from_columns(
        {
            "kind": np.repeat([Kind.API, Kind.KERNEL], count),
            "api": np.repeat([Api.LAUNCH, Api.NONE], count),
            "name": np.r_[np.zeros(count, int), 1 + random.integers(0, 13, count)],
            "start_ns": np.r_[call, start] + 1_700_000_000_000_000_000,
            "end_ns": np.r_[call + 1_500, start + duration] + 1_700_000_000_000_000_000,
            "thread": np.repeat([11, 11], count),
            "device": np.r_[np.full(count, np.iinfo(np.int16).min), np.zeros(count, int)],
            "stream": np.r_[np.full(count, np.iinfo(np.int64).min), np.full(count, 3)],
            "correlation": np.r_[ids, ids],
        },
        names=names,
        source=Source(format="made"),
    )


TRACE = many_ops(OPS)


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    page = tmp_path_factory.mktemp("timeline") / "page.html"
    write_timeline_page(page, TimelinePanel(HOSTILE, TRACE), title=HOSTILE)
    with chromium() as tab:
        tab.size(1280, 900)
        tab.open(page.as_uri(), until=DRAWN)
        yield tab


@pytest.fixture(autouse=True)
def whole(tab: Tab) -> None:
    tab.value(
        "overlapTimeline.pick(null); overlapTimeline.show(overlapTimeline.whole.t0, overlapTimeline.whole.t1)"
    )


def _frame(tab: Tab) -> None:
    tab.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")


def _middle_of(tab: Tab, label: str) -> tuple[float, float]:
    """The middle of the canvas on the row of that label, in the window."""
    spot: list[float] = tab.value(
        f"""(() => {{
          const timeline = overlapTimeline;
          const row = timeline.painter.layout.rows.find((one) => one.label === {label!r});
          const box = timeline.canvas.getBoundingClientRect();
          const layout = timeline.painter.layout;
          return [box.left + layout.left + layout.width / 2,
                  box.top + AXIS + row.y - timeline.stage.scrollTop + row.height / 2];
        }})()"""
    )
    return spot[0], spot[1]


def _view(tab: Tab) -> tuple[float, float]:
    found: list[float] = tab.value("[overlapTimeline.view.t0, overlapTimeline.view.t1]")
    return found[0], found[1]


def _tip(tab: Tab) -> list[str]:
    lines: str = tab.value("overlapTimeline.tip.hidden ? '' : overlapTimeline.tip.innerText")
    return lines.splitlines()


def exact(number: int) -> str:
    return f"{number:,} ns".replace(",", " ")


def test_random_ops_are_found_by_zooming_with_name_and_exact_times(tab: Tab) -> None:
    kernels = np.flatnonzero(TRACE.kind == Kind.KERNEL)
    first = int(TRACE.start_ns[0])
    for row in np.random.default_rng(1).choice(kernels, 20, replace=False).tolist():
        start, end = int(TRACE.start_ns[row]) - first, int(TRACE.end_ns[row]) - first
        middle = (start + end) // 2
        tab.value(f"location.hash = '#t={middle - 20_000}:{middle + 20_000}'")
        _frame(tab)
        tab.mouse("Moved", *_middle_of(tab, "device 0 stream 3"))
        name, lasts, times, absolute, *_ = _tip(tab)
        assert name == TRACE.name_of(row)
        assert exact(end - start) in lasts
        assert times == f"from {exact(start)} to {exact(end)}"
        assert absolute.endswith(f"{first + start} ns")


def test_the_wheel_zooms_around_the_pointer_once_the_timeline_has_the_focus(tab: Tab) -> None:
    before = _view(tab)
    x, y = _middle_of(tab, "device 0 stream 3")
    tab.click(x, y)
    tab.mouse("Wheel", x, y, deltaX=0, deltaY=-300)
    _frame(tab)
    after = _view(tab)
    assert after[1] - after[0] < 0.5 * (before[1] - before[0])
    assert sum(after) == pytest.approx(sum(before), rel=0.01)


def test_keys_zoom_pan_and_come_back(tab: Tab) -> None:
    tab.value("overlapTimeline.canvas.focus()")
    before = _view(tab)
    tab.key("+", "+")
    zoomed = _view(tab)
    assert zoomed[1] - zoomed[0] == pytest.approx(0.6 * (before[1] - before[0]))
    tab.key("ArrowRight")
    assert _view(tab)[0] > zoomed[0]
    tab.key("Home")
    assert _view(tab) == pytest.approx(before)


def test_dragging_pans(tab: Tab) -> None:
    tab.value("overlapTimeline.zoom(0.1)")
    _frame(tab)
    before = _view(tab)
    x, y = _middle_of(tab, "device 0 stream 3")
    tab.mouse("Pressed", x, y, button="left", clickCount=1)
    tab.mouse("Moved", x - 200, y, button="left")
    tab.mouse("Released", x - 200, y, button="left", clickCount=1)
    after = _view(tab)
    assert after[0] > before[0]
    assert after[1] - after[0] == pytest.approx(before[1] - before[0])


def test_a_search_goes_to_each_op_of_that_name_in_turn(tab: Tab) -> None:
    expected = int((TRACE.name == TRACE.names.index("gemm_7")).sum())
    starts = []
    for _ in range(2):
        tab.value("overlapTimeline.search('gemm_7')")
        starts.append(tab.value("overlapTimeline.selected.series.start[overlapTimeline.selected.place]"))
    assert (
        starts == (TRACE.start_ns[TRACE.name == TRACE.names.index("gemm_7")] - TRACE.start_ns[0])[:2].tolist()
    )
    assert tab.value("overlapTimeline.found.textContent").startswith(f"{expected} found")
    assert "enqueued by hipLaunchKernel" in tab.value("overlapTimeline.picked.innerText")


def test_the_address_names_the_view(tab: Tab) -> None:
    tab.value("overlapTimeline.show(1000000, 2000000)")
    tab.wait_for("location.hash === '#t=1000000:2000000'")


def test_nothing_shorter_than_a_pixel_disappears(tab: Tab) -> None:
    colour = tab.value("overlapTimeline.data.colours.kernel")
    drawn = tab.value(
        f"""(() => {{
          const timeline = overlapTimeline;
          timeline.show(timeline.whole.t0, timeline.whole.t1); timeline.draw();
          const row = timeline.painter.layout.rows.find((one) => one.label === 'device 0 stream 3');
          const context = timeline.painter.context;
          const y = AXIS + row.y - timeline.stage.scrollTop + row.height - 3;
          const {{ left, width }} = timeline.painter.layout;
          const line = context.getImageData(left, y, width, 1).data;
          const kernel = [1, 3, 5].map((at) => parseInt({colour!r}.slice(at, at + 2), 16));
          const pixel = (timeline.whole.t1 - timeline.whole.t0) / width;
          const [series] = row.row.series;
          let missing = 0;
          for (const start of series.start) {{
            const x = Math.floor((start - timeline.view.t0) / pixel);
            if (kernel.some((value, at) => Math.abs(line[4 * x + at] - value) > 2)) missing++;
          }}
          return missing;
        }})()"""
    )
    assert drawn == 0


def test_a_hostile_name_stays_text_and_the_browser_has_no_complaint(tab: Tab) -> None:
    tab.value(f"overlapTimeline.search({HOSTILE!r})")
    assert HOSTILE in tab.value("overlapTimeline.picked.innerText")
    assert tab.value("document.querySelectorAll('img').length") == 0
    assert tab.complaints == []


def test_every_colour_of_a_crowded_pixel_is_seen(tab: Tab) -> None:
    seen = tab.value(
        """(() => {
          const timeline = overlapTimeline;
          const painter = timeline.painter;
          const { colours } = timeline.data;
          const entries = Object.keys(colours).filter((entry) => entry.startsWith('idle'));
          const many = (at) => {
            const start = Float64Array.from({ length: 400 }, (_, i) => i * 40 + at * 5);
            return { entry: entries[at], base: 0, start, end: start.map((one) => one + 4),
                     covered: Float64Array.from({ length: 401 }, (_, i) => i * 4),
                     name: new Uint8Array(400) };
          };
          const series = entries.map((_, at) => many(at));
          const row = { y: 0, height: 20, row: { series }, panel: null, label: 'idle' };
          painter.drawRow(row, { t0: 0, t1: 16000 * painter.layout.width / 4 });
          const ratio = window.devicePixelRatio;
          const data = painter.context.getImageData((painter.layout.left + 1) * ratio, 0, 1, 20 * ratio).data;
          const found = new Set();
          for (let at = 0; at < data.length; at += 4) {
            const parts = [...data.slice(at, at + 3)].map((one) => one.toString(16).padStart(2, '0'));
            found.add('#' + parts.join(''));
          }
          timeline.draw();
          return entries.filter((entry) => !found.has(colours[entry].toLowerCase()));
        })()"""
    )
    assert seen == []
