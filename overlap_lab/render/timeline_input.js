"use strict";
// Mouse, touch, keys and buttons of the timeline, and its start.

Timeline.prototype.listen = function listen() {
  const { canvas, stage, place } = this;
  stage.addEventListener("scroll", () => this.soon());
  new ResizeObserver(() => {
    if (stage.clientWidth !== this.painter.size.width) this.fit();
  }).observe(stage);
  canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  canvas.addEventListener("pointerdown", (event) => this.press(event));
  canvas.addEventListener("pointermove", (event) => this.move(event));
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.release(event));
  canvas.addEventListener("pointerleave", () => this.hideTip());
  canvas.addEventListener("dblclick", () => this.show(this.whole.t0, this.whole.t1));
  canvas.addEventListener("keydown", (event) => this.key(event));
  place.querySelector(".tools").addEventListener("click", (event) => {
    const act = ACTS[event.target.dataset.act];
    if (act) act(this);
  });
  const input = place.querySelector("input");
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") this.search(input.value, !event.shiftKey);
  });
  window.addEventListener("hashchange", () => {
    const view = viewIn(location.hash);
    if (view) this.show(view.t0, view.t1);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    this.painter.colours();
    this.draw();
  });
  matchMedia("print").addEventListener("change", () => { // the paper is light, and has a width of its own
    this.painter.colours();
    this.fit();
  });
};

const ACTS = {
  in: (timeline) => timeline.zoom(0.5),
  out: (timeline) => timeline.zoom(2),
  whole: (timeline) => timeline.show(timeline.whole.t0, timeline.whole.t1),
  before: (timeline) => timeline.nextWait(false),
  after: (timeline) => timeline.nextWait(true),
  link: async (timeline) => {
    timeline.tell();
    await copied(location.href);
    timeline.found.textContent = "link copied";
  },
};

const KEYS = {
  ArrowLeft: (timeline) => timeline.pan(-0.15),
  ArrowRight: (timeline) => timeline.pan(0.15),
  ArrowUp: (timeline) => timeline.stage.scrollBy(0, -40),
  ArrowDown: (timeline) => timeline.stage.scrollBy(0, 40),
  "+": (timeline) => timeline.zoom(0.6),
  "=": (timeline) => timeline.zoom(0.6),
  "-": (timeline) => timeline.zoom(1 / 0.6),
  Home: ACTS.whole,
  n: ACTS.after,
  p: ACTS.before,
  Escape: (timeline) => timeline.pick(null),
};

Timeline.prototype.key = function key(event) {
  const act = KEYS[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act(this);
};

// In a page with more than the timeline the wheel scrolls on, unless the timeline has the focus.
Timeline.prototype.wheel = function wheel(event) {
  const ours = event.ctrlKey || event.metaKey || document.activeElement === this.canvas;
  if (!ours || event.shiftKey) return;
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 30 : 1;
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    this.pan((event.deltaX * lines) / this.painter.layout.width);
  } else {
    this.zoom(Math.exp(Math.max(-1, Math.min(1, (event.deltaY * lines) / 300))), this.timeAt(event.offsetX));
  }
};

Timeline.prototype.press = function press(event) {
  this.canvas.setPointerCapture(event.pointerId);
  this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
  this.dragged = this.pointers.size > 1;
};

Timeline.prototype.move = function move(event) {
  const last = this.pointers.get(event.pointerId);
  const now = { x: event.offsetX, y: event.offsetY };
  if (!last) {
    this.point(now.x, now.y);
    return;
  }
  if (this.pointers.size === 2) {
    const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, one]) => one);
    const before = Math.max(Math.abs(last.x - other.x), 8);
    this.zoom(before / Math.max(Math.abs(now.x - other.x), 8), this.timeAt((now.x + other.x) / 2));
  } else if (this.dragged || Math.hypot(now.x - last.x, now.y - last.y) > 3) {
    this.dragged = true;
    this.pan((last.x - now.x) / this.painter.layout.width);
    this.stage.scrollTop += last.y - now.y;
  } else {
    return;
  }
  this.pointers.set(event.pointerId, now);
};

Timeline.prototype.release = function release(event) {
  if (!this.pointers.delete(event.pointerId) || this.dragged) return;
  this.canvas.focus({ preventScroll: true });
  this.pick(this.spanAt(event.offsetX, event.offsetY));
};

// A key for each colour that occurs; pressing it hides what has that colour.
function addLegend(timeline) {
  const used = new Set(timeline.data.panels.flatMap((panel) => panel.series.map((one) => one.entry)));
  const keys = Object.entries(timeline.data.colours).filter(([entry]) => used.has(entry));
  timeline.place.querySelector(".keys").replaceChildren(...keys.map(([entry, colour]) => {
    const key = document.createElement("button");
    key.type = "button";
    key.setAttribute("aria-pressed", "true");
    const box = document.createElement("i");
    box.style.background = colour;
    key.append(box, entry);
    key.addEventListener("click", () => {
      const { hidden } = timeline.painter;
      if (!hidden.delete(entry)) hidden.add(entry);
      key.setAttribute("aria-pressed", String(!hidden.has(entry)));
      timeline.draw();
    });
    return key;
  }));
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // a file opened without the right to the clipboard
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

async function startTimeline() {
  const place = document.getElementById("timeline");
  if (!place) return;
  const page = document.documentElement;
  try {
    const data = await readTimeline(document.getElementById("timeline-data"));
    const timeline = new Timeline(place, data);
    addLegend(timeline);
    fill(place.querySelector(".notes"), data.notes.map((note) => [note, "soft"]));
    window.overlapTimeline = timeline;
    page.dataset.firstDrawMs = performance.now().toFixed(0);
    page.dataset.timeline = "drawn";
  } catch (error) {
    page.dataset.timeline = "failed";
    fill(place.querySelector(".picked"), [[`The timeline could not be drawn: ${error.message}`, ""]]);
    console.error(error);
  }
}

const started = startTimeline();
