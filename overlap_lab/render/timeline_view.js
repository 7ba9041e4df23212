"use strict";
// What a reader does with the timeline: zoom, pan, point, pick, find, and links to a spot (#t=START:END).

const SHORTEST_VIEW = 20;
const NEAR = 4;
const SOON = 250;

class Timeline {
  constructor(place, data) {
    this.place = place;
    this.data = data;
    this.stage = place.querySelector(".stage");
    this.canvas = place.querySelector("canvas");
    this.tip = place.querySelector(".tip");
    this.picked = place.querySelector(".picked");
    this.found = place.querySelector("output");
    this.painter = new Painter(this.canvas, data);
    this.pointers = new Map();
    this.whole = wholeOf(data.panels);
    this.view = viewIn(location.hash) || { ...this.whole };
    this.selected = null;
    this.painter.colours();
    this.fit();
    this.listen();
  }

  fit() {
    const width = this.stage.clientWidth;
    this.painter.layout = laidOut(this.data.panels, width);
    const all = this.painter.layout.height + AXIS;
    const height = Math.min(all, Math.max(360, Math.round(window.innerHeight * 0.8)));
    this.stage.style.height = `${height}px`;
    this.stage.firstElementChild.style.height = `${all}px`;
    this.painter.resize(this.stage.clientWidth, height);
    this.draw();
  }

  draw() {
    const begin = performance.now();
    this.painter.draw(this.view, this.stage.scrollTop, this.selected);
    this.drawMs = performance.now() - begin;
  }

  soon() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      this.draw();
    });
    clearTimeout(this.telling);
    this.telling = setTimeout(() => this.tell(), SOON);
  }

  tell() {
    const { t0, t1 } = this.view;
    const whole = t0 <= this.whole.t0 && t1 >= this.whole.t1;
    const link = whole ? location.pathname + location.search : `#t=${Math.round(t0)}:${Math.round(t1)}`;
    try {
      if (whole ? location.hash.startsWith("#t=") : location.hash !== link) history.replaceState(null, "", link);
    } catch { /* a file opened where addresses cannot change */ }
  }

  show(t0, t1) {
    const room = (this.whole.t1 - this.whole.t0) || 1;
    const length = Math.min(Math.max(t1 - t0, SHORTEST_VIEW), room * 1.1);
    const inside = length / 2 - Math.min(length / 2, room * 0.05); // never much of nothing beside the trace
    const [least, most] = [this.whole.t0 + inside, this.whole.t1 - inside];
    const middle = least > most ? (this.whole.t0 + this.whole.t1) / 2 : Math.min(Math.max((t0 + t1) / 2, least), most);
    this.view = { t0: middle - length / 2, t1: middle + length / 2 };
    this.hideTip();
    this.soon();
  }

  zoom(factor, at = (this.view.t0 + this.view.t1) / 2) {
    const { t0, t1 } = this.view;
    const grown = Math.max((t1 - t0) * factor, SHORTEST_VIEW) / (t1 - t0);
    this.show(at - (at - t0) * grown, at + (t1 - at) * grown);
  }

  pan(share) {
    const step = (this.view.t1 - this.view.t0) * share;
    this.show(this.view.t0 + step, this.view.t1 + step);
  }

  timeAt(x) {
    const { left, width } = this.painter.layout;
    return this.view.t0 + ((x - left) / width) * (this.view.t1 - this.view.t0);
  }

  // The span under a point, or the nearest one a few pixels beside it.
  spanAt(x, y) {
    const row = this.painter.layout.rows.find((one) => {
      const top = one.y + AXIS - this.stage.scrollTop;
      return y >= top - 1 && y < top + one.height + 1;
    });
    if (!row || y < AXIS) return null;
    const time = this.timeAt(x);
    const near = (NEAR / this.painter.layout.width) * (this.view.t1 - this.view.t0);
    let best = null;
    for (const series of row.row.series) {
      if (this.painter.hidden.has(series.entry)) continue;
      const at = firstAfter(series.end, time);
      for (const place of [at - 1, at]) {
        if (place < 0 || place >= series.start.length) continue;
        const off = Math.max(series.start[place] - time, time - series.end[place], 0);
        if (off <= near && (!best || off < best.off)) best = { panel: row.panel, series, place, off };
      }
    }
    return best && { ...best, near, several: this.around(best, near / NEAR) };
  }

  around({ series, place }, pixel) {
    const middle = series.start[place];
    return firstAfter(series.start, middle + pixel / 2) - firstAfter(series.start, middle - pixel / 2, true);
  }

  lines({ panel, series, place, several }) {
    const name = this.data.names[series.name[place]];
    const start = series.start[place];
    const end = series.end[place];
    const lines = [
      [name, "name"],
      [`${series.entry}, ${durationWords(end - start)} (${exactWords(end - start)})`, ""],
      [`from ${exactWords(start)} to ${exactWords(end)}`, ""],
      [`on the trace's own clock from ${(panel.zero + BigInt(start)).toString()} ns`, "soft"],
    ];
    if (several > 1) lines.push([`${several.toLocaleString("en")} of this kind within this pixel; zoom in to see each`, "soft"]);
    return lines;
  }

  point(x, y) {
    const found = this.spanAt(x, y);
    this.canvas.style.cursor = found ? "pointer" : "grab";
    if (!found) return this.hideTip();
    fill(this.tip, this.lines(found));
    this.tip.hidden = false;
    const box = this.tip.getBoundingClientRect();
    const place = this.place.getBoundingClientRect();
    const stage = this.stage.getBoundingClientRect();
    const left = Math.min(stage.left + x + 14, document.documentElement.clientWidth - box.width - 8);
    const below = stage.top + y + 18;
    const top = below + box.height > window.innerHeight ? stage.top + y - box.height - 12 : below;
    this.tip.style.left = `${Math.max(left, 4) - place.left}px`;
    this.tip.style.top = `${top - place.top}px`;
    if (!this.pinned) this.select(found);
  }

  hideTip() {
    this.tip.hidden = true;
    if (!this.pinned && this.selected) {
      this.selected = null;
      this.soon();
    }
  }

  select(found) {
    const same = this.selected && this.selected.series === found.series && this.selected.place === found.place;
    if (same) return;
    this.selected = { ...found, links: linksOf(found.panel, found.series, found.place) };
    this.soon();
  }

  pick(found) {
    this.pinned = Boolean(found);
    if (!found) {
      this.selected = null;
      fill(this.picked, []);
      return this.soon();
    }
    this.selected = null;
    this.select(found);
    const { call, ops, waits, waitedFor } = this.selected.links;
    const nameOf = ([series, place]) => this.data.names[series.name[place]];
    const lines = this.lines({ ...found, several: 1 });
    if (call) lines.push([`enqueued by ${nameOf(call)}, ${durationWords(Math.max(found.series.start[found.place] - call[0].start[call[1]], 0))} before it started`, ""]);
    if (ops.length) lines.push([`enqueued ${ops.length === 1 ? nameOf(ops[0]) : `${ops.length} ops`}`, ""]);
    for (const wait of waits.slice(0, 5)) lines.push([`the last op that ${nameOf(wait)} waited for`, ""]);
    if (waitedFor) lines.push([`waited for ${nameOf(waitedFor)}, and returned ${durationWords(Math.max(found.series.end[found.place] - waitedFor[0].end[waitedFor[1]], 0))} after its end`, ""]);
    fill(this.picked, lines);
  }

  // Centres a span in a view in which it is some pixels wide.
  goTo(found) {
    const start = found.series.start[found.place];
    const length = Math.max(found.series.end[found.place] - start, 1);
    const view = this.view.t1 - this.view.t0;
    const wanted = length * 40 < view || length > view ? length * 12 : view;
    this.show(start + length / 2 - wanted / 2, start + length / 2 + wanted / 2);
    const row = this.painter.layout.rows.find((one) => one.row.series.includes(found.series) && one.panel === found.panel);
    if (row) {
      const seen = this.stage.clientHeight - AXIS;
      if (row.y < this.stage.scrollTop || row.y + row.height > this.stage.scrollTop + seen) this.stage.scrollTop = row.y - seen / 2;
    }
    this.pick(found);
  }

  // The next span that `wanted(series, place)` likes, after what is picked or from the view's start; wraps around.
  next(wanted, forward = true) {
    const from = this.selected ? this.selected.series.start[this.selected.place] : this.view.t0 - 1;
    let best = null;
    let first = null;
    for (const panel of this.data.panels) {
      for (const series of panel.series) {
        const likes = wanted(series);
        if (!likes) continue;
        const step = forward ? 1 : -1;
        const scan = (at) => {
          while (at >= 0 && at < series.start.length && !likes(at)) at += step;
          return at >= 0 && at < series.start.length ? at : -1;
        };
        const after = scan(forward ? firstAfter(series.start, from) : firstAfter(series.start, from, true) - 1);
        const edge = scan(forward ? 0 : series.start.length - 1);
        const better = (at, than) => !than || (series.start[at] - than.series.start[than.place]) * step < 0;
        if (after >= 0 && better(after, best)) best = { panel, series, place: after };
        if (edge >= 0 && better(edge, first)) first = { panel, series, place: edge };
      }
    }
    return best || first;
  }

  nextWait(forward) {
    const found = this.next((series) => (series.entry.startsWith("blocked") ? () => true : null), forward);
    this.found.textContent = found ? "" : "no call waited";
    if (found) this.goTo(found);
  }

  search(text, forward = true) {
    const spot = viewIn(`#t=${text.trim()}`);
    if (spot) {
      this.found.textContent = "";
      return this.show(spot.t0, spot.t1);
    }
    const wanted = text.toLowerCase();
    const fits = this.data.names.map((name) => name.toLowerCase().includes(wanted));
    if (!text || !fits.includes(true)) {
      this.found.textContent = text ? "nothing is named so" : "";
      return;
    }
    if (this.searched !== text) {
      this.searched = text;
      let count = 0;
      for (const panel of this.data.panels) for (const { name } of panel.series) for (let i = 0; i < name.length; i++) count += fits[name[i]] ? 1 : 0;
      this.count = count;
    }
    const found = this.next((series) => (at) => fits[series.name[at]], forward);
    this.found.textContent = `${this.count.toLocaleString("en")} found; Enter for the next`;
    if (found) this.goTo(found);
  }
}

function fill(place, lines) {
  place.replaceChildren(...lines.map(([words, kind]) => {
    const line = document.createElement("div");
    line.textContent = words;
    line.className = kind;
    return line;
  }));
}

function wholeOf(panels) {
  let t0 = Infinity;
  let t1 = -Infinity;
  for (const panel of panels) {
    for (const { start, end } of panel.series) {
      if (!start.length) continue;
      t0 = Math.min(t0, start[0]);
      t1 = Math.max(t1, end[end.length - 1]);
    }
  }
  if (t0 > t1) return { t0: 0, t1: 1000 };
  const edge = Math.max((t1 - t0) * 0.01, 5);
  return { t0: t0 - edge, t1: t1 + edge };
}

// "#t=START:END" with times after the axis' zero, in ns or with a unit: #t=1200:5400, #t=1.5ms:2ms.
function viewIn(hash) {
  const match = /^#t=([-\d.]+)(ns|us|ms|s)?:([-\d.]+)(ns|us|ms|s)?$/.exec(hash);
  if (!match) return null;
  const size = Object.fromEntries(UNITS);
  const t0 = Number(match[1]) * size[match[2] || "ns"];
  const t1 = Number(match[3]) * size[match[4] || "ns"];
  return Number.isFinite(t0) && Number.isFinite(t1) && t1 > t0 ? { t0, t1 } : null;
}
