"use strict";
// Drawing: rows of spans on a canvas. What is shorter than a pixel is drawn as a column as high as its share of
// that pixel's time, and never lower than a fixed part of the row: nothing disappears.

const ROW = 20;
const ROW_BELOW = 15;
const ROW_GAP = 4;
const PANEL_HEAD = 30;
const AXIS = 26;
const LEAST_SHARE = 0.3;
const LEAST_OF_WAITS = 0.7;
const MOST_EDGES = 600;

// Where everything lies, for a width; heights do not depend on the view.
function laidOut(panels, width) {
  const narrow = width < 700;
  const gutter = narrow ? 0 : Math.min(230, Math.round(width * 0.2));
  const rows = [];
  const heads = [];
  let y = 4;
  panels.forEach((panel, number) => {
    heads.push({ y, panel });
    y += PANEL_HEAD;
    for (const row of panel.rows) {
      if (narrow && row.label) y += 16;
      const height = row.label ? ROW : ROW_BELOW;
      rows.push({ y, height, panel, number, row, label: row.label });
      y += height + ROW_GAP;
    }
    y += 10;
  });
  return { rows, heads, gutter, height: y, narrow, left: gutter + (narrow ? 0 : 8), width: width - gutter - (narrow ? 0 : 8) };
}

// Calls draw(i, x, w) for spans that can be told apart and dense(x, share, i, j) for pixels with spans i to j.
function binned(series, view, pixels, draw, dense) {
  const { start, end, covered } = series;
  const scale = pixels / (view.t1 - view.t0);
  const perPixel = 1 / scale;
  let i = firstAfter(end, view.t0, true);
  while (i < start.length && start[i] <= view.t1) {
    const from = (start[i] - view.t0) * scale;
    const to = (end[i] - view.t0) * scale;
    const pixel = Math.floor(from);
    if (to - from >= 1) {
      draw(i, from, to - from);
      i++;
      continue;
    }
    const edge = view.t0 + (pixel + 1) * perPixel;
    let next = firstAfter(start, edge, true, i);
    if (next <= i) next = i + 1;
    while (next - 1 > i && end[next - 1] - start[next - 1] >= perPixel) next--; // a long one is drawn by itself
    const sum = covered[next] - covered[i];
    dense(Math.max(pixel, 0), Math.min(sum * scale, 1), i, next);
    i = next;
  }
}

class Painter {
  constructor(canvas, data) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.data = data;
    this.hidden = new Set();
  }

  resize(width, height) {
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.size = { width, height };
    this.layout = laidOut(this.data.panels, width);
  }

  colours() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    this.theme = { paper: colour("--paper"), ink: colour("--ink"), soft: colour("--soft"), grid: colour("--grid"), accent: colour("--accent"), card: colour("--card") };
    this.font = style.getPropertyValue("--plain-font").trim() || "sans-serif";
  }

  x(time, view) {
    return this.layout.left + ((time - view.t0) / (view.t1 - view.t0)) * this.layout.width;
  }

  draw(view, scroll, selected) {
    const { context, layout, size, theme } = this;
    context.fillStyle = theme.paper;
    context.fillRect(0, 0, size.width, size.height);
    context.save();
    context.beginPath();
    context.rect(0, AXIS, size.width, size.height - AXIS);
    context.clip();
    context.translate(0, AXIS - scroll);
    this.drawGrid(view, scroll);
    const visible = (y, height) => y + height > scroll && y < scroll + size.height - AXIS;
    for (const row of layout.rows) if (visible(row.y, row.height)) this.drawRow(row, view);
    if (selected) this.drawSelected(selected, view);
    this.drawLabels(visible);
    context.restore();
    this.drawAxis(view);
  }

  drawRow(row, view) {
    const { context, layout } = this;
    const taken = new Float32Array(Math.ceil(layout.width) + 2); // height in use of each pixel's column
    const labels = [];
    context.save();
    context.beginPath();
    context.rect(layout.left, row.y, layout.width, row.height);
    context.clip();
    context.fillStyle = this.theme.grid;
    context.globalAlpha = 0.35;
    context.fillRect(layout.left, row.y, layout.width, row.height);
    context.globalAlpha = 1;
    let edges = 0;
    for (const series of row.row.series) {
      if (this.hidden.has(series.entry)) continue;
      const room = 0.95 / row.row.series.length; // all colours of a pixel have their place above each other
      const least = Math.min(series.entry.startsWith("blocked") ? LEAST_OF_WAITS : LEAST_SHARE, room);
      context.fillStyle = this.data.colours[series.entry];
      binned(series, view, layout.width, (i, x, w) => {
        const apart = w > 4 && edges++ < MOST_EDGES ? 1 : 0; // touching neighbours stay two
        const left = Math.max(x, -2);
        const wide = Math.min(x + w, layout.width + 2) - left;
        context.fillRect(layout.left + left, row.y, Math.max(wide - apart, 1), row.height);
        if (wide > 34) labels.push([series, i, left, wide]);
      }, (pixel, share) => {
        const height = Math.min(Math.max(share, least), Math.max(1 - taken[pixel], least)) * row.height;
        const below = Math.min(taken[pixel], 1 - least) * row.height;
        context.fillRect(layout.left + pixel, row.y + row.height - below - height, 1, height);
        taken[pixel] += height / row.height;
      });
    }
    this.drawNames(row, labels);
    context.restore();
  }

  drawNames(row, labels) {
    const { context, layout } = this;
    context.font = `11px ${this.font}`;
    context.textBaseline = "middle";
    for (const [series, i, left, wide] of labels.slice(0, 400)) {
      const from = Math.max(left, 0);
      const room = Math.min(left + wide, layout.width) - from - 8;
      const letters = Math.floor(room / 6);
      if (letters < 3) continue;
      const name = this.data.names[series.name[i]];
      context.fillStyle = inkOn(this.data.colours[series.entry]);
      context.fillText(name.length > letters ? `${name.slice(0, letters - 1)}…` : name, layout.left + from + 4, row.y + row.height / 2 + 0.5);
    }
  }

  drawLabels(visible) {
    const { context, layout, theme } = this;
    context.textBaseline = "middle";
    for (const head of layout.heads) {
      context.font = `600 14px ${this.font}`;
      context.fillStyle = theme.ink;
      if (visible(head.y, PANEL_HEAD)) context.fillText(head.panel.title.slice(0, 120), layout.narrow ? 2 : 6, head.y + 16);
    }
    if (!layout.narrow) {
      context.fillStyle = theme.paper;
      context.font = `12px ${this.font}`;
    }
    for (const row of layout.rows) {
      if (!row.label || !visible(row.y - 16, row.height + 16)) continue;
      context.font = `12px ${this.font}`;
      context.fillStyle = theme.soft;
      if (layout.narrow) {
        context.fillText(row.label, 2, row.y - 7);
      } else {
        context.textAlign = "right";
        context.fillText(fitted(context, row.label, layout.gutter), layout.gutter, row.y + row.height / 2 + 0.5);
        context.textAlign = "left";
      }
    }
  }

  drawGrid(view, scroll) {
    const { context, layout, size } = this;
    context.fillStyle = this.theme.grid;
    for (const tick of ticks(view, layout.width)) {
      context.fillRect(Math.round(this.x(tick.time, view)), scroll, 1, size.height);
    }
  }

  drawAxis(view) {
    const { context, layout, theme } = this;
    context.font = `12px ${this.font}`;
    context.fillStyle = theme.soft;
    context.textBaseline = "middle";
    for (const tick of ticks(view, layout.width)) {
      const x = Math.round(this.x(tick.time, view));
      const half = context.measureText(tick.label).width / 2;
      if (x - half >= 0 && x + half <= this.size.width) context.fillText(tick.label, x - half, 12);
    }
    context.fillRect(layout.left, AXIS - 1, layout.width, 1);
  }

  drawSelected({ panel, series, place, links }, view) {
    const own = this.box(panel, series, place, view);
    const { context, theme } = this;
    context.strokeStyle = theme.ink;
    context.lineWidth = 2;
    if (own) context.strokeRect(own.x - 1, own.y - 1, Math.max(own.w, 2) + 2, own.h + 2);
    if (!links) return;
    const mine = [series, place];
    if (links.call) this.arrow(panel, links.call, "start", mine, "start", view);
    for (const op of links.ops) this.arrow(panel, mine, "start", op, "start", view);
    for (const wait of links.waits) this.arrow(panel, mine, "end", wait, "end", view);
    if (links.waitedFor) this.arrow(panel, links.waitedFor, "end", mine, "end", view);
  }

  box(panel, series, place, view) {
    const row = this.layout.rows.find((one) => one.panel === panel && one.row.series.includes(series));
    if (!row) return null;
    const x = this.x(series.start[place], view);
    return { x, w: this.x(series.end[place], view) - x, y: row.y, h: row.height };
  }

  arrow(panel, from, fromSide, to, toSide, view) {
    const a = this.box(panel, ...from, view);
    const b = this.box(panel, ...to, view);
    if (!a || !b) return;
    const { context, layout } = this;
    const far = 4 * layout.width;
    const at = (box, side) => Math.max(-far, Math.min(far, side === "end" ? box.x + box.w : box.x));
    const [x0, x1] = [at(a, fromSide), at(b, toSide)];
    const down = b.y >= a.y;
    const [y0, y1] = [down ? a.y + a.h : a.y, down ? b.y : b.y + b.h];
    context.strokeStyle = context.fillStyle = this.theme.ink;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1);
    context.stroke();
    const tip = down ? -6 : 6;
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - 4, y1 + tip);
    context.lineTo(x1 + 4, y1 + tip);
    context.fill();
  }
}

// The words, or as much of their begin and end as there is room for: what a row shows stands at the end.
function fitted(context, words, room) {
  let [shown, letters] = [words, words.length];
  while (letters > 8 && context.measureText(shown).width > room) {
    letters -= 1;
    const head = Math.floor(letters / 2);
    shown = `${words.slice(0, head)}…${words.slice(words.length - (letters - head))}`;
  }
  return shown;
}

function inkOn(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000000" : "#ffffff";
}

function ticks(view, width) {
  const wanted = (view.t1 - view.t0) / Math.max(width / 110, 2);
  const power = 10 ** Math.floor(Math.log10(Math.max(wanted, 1)));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= wanted) || power * 10;
  const found = [];
  for (let time = Math.ceil(view.t0 / step) * step; time <= view.t1; time += step) {
    found.push({ time, label: timeWords(time, step) });
  }
  return found;
}

const UNITS = [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];

// A moment of the axis with as many digits as tell its neighbours apart.
function timeWords(ns, step = 1) {
  const [unit, scale] = UNITS.find(([, size]) => Math.abs(ns) >= size) || UNITS[3];
  const digits = Math.max(0, Math.round(Math.log10(scale)) - Math.floor(Math.log10(step) + 1e-9));
  return ns === 0 ? "0" : `${(ns / scale).toFixed(digits)} ${unit}`;
}

// A duration to three digits, as everywhere in the reports.
function durationWords(ns) {
  const [unit, scale] = UNITS.find(([, size]) => ns >= size) || UNITS[3];
  return scale === 1 ? `${ns} ns` : `${Number((ns / scale).toPrecision(3))} ${unit}`;
}

function exactWords(ns) {
  return `${BigInt(ns).toString().replace(/\B(?=(\d{3})+(?!\d))/g, " ")} ns`;
}
