"use strict";
// The timeline's data: base64 -> inflated columns -> arrays that can be searched. Times count from the common
// axis' zero, as numbers that are exact integers.

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The columns of one packed piece: of each value all lowest bytes come first, then all second ones.
async function columnsOf(data, piece) {
  const bytes = await inflated(data.subarray(piece.at, piece.at + piece.size));
  let at = 0;
  return piece.w.map((width) => {
    const planes = Array.from({ length: width }, (_, byte) => bytes.subarray(at + byte * piece.n, at + (byte + 1) * piece.n));
    if (width === 1) {
      at += piece.n;
      return planes[0];
    }
    if (width === 2 || width === 3) {
      at += width * piece.n;
      return shortColumn(planes, piece.n);
    }
    const column = width > 4 ? new Float64Array(piece.n) : new Uint32Array(piece.n);
    for (let byte = 0, scale = 1; byte < width; byte++, scale *= 256, at += piece.n) {
      for (let i = 0; i < piece.n; i++) column[i] += bytes[at + i] * scale;
    }
    return column;
  });
}

// Nearly all columns have two or three bytes: one pass over them instead of one for each byte.
function shortColumn([low, middle, high], count) {
  const column = new Uint32Array(count);
  if (high) for (let i = 0; i < count; i++) column[i] = low[i] | (middle[i] << 8) | (high[i] << 16);
  else for (let i = 0; i < count; i++) column[i] = low[i] | (middle[i] << 8);
  return column;
}

// Differences of either sign, as 0, -1, 1, -2, ... in the numbers 0, 1, 2, 3, ... -> the values themselves.
function summed(column) {
  const values = new Float64Array(column.length);
  let value = 0;
  for (let i = 0; i < column.length; i++) {
    value += column[i] % 2 ? -(column[i] + 1) / 2 : column[i] / 2;
    values[i] = value;
  }
  return values;
}

async function seriesOf(data, head, zero) {
  const [gap, duration, name, call] = await columnsOf(data, head);
  const start = new Float64Array(head.n);
  const end = new Float64Array(head.n);
  const covered = new Float64Array(head.n + 1); // sum of durations before each span
  let time = -zero;
  for (let i = 0; i < head.n; i++) {
    start[i] = time += gap[i];
    end[i] = time += duration[i];
    covered[i + 1] = covered[i] + duration[i];
  }
  return { entry: head.entry, base: head.base, joined: head.joined, start, end, covered, name, call: call && summed(call) };
}

async function panelOf(data, head) {
  const rows = await Promise.all(head.rows.map(async (row) => ({
    label: row.label,
    series: await Promise.all(row.series.map((one) => seriesOf(data, one, head.zero))),
  })));
  const [op, wait] = (await columnsOf(data, head.arrows)).map(summed);
  const series = rows.flatMap((row) => row.series);
  return { title: head.title, zero: BigInt(head.first) + BigInt(head.zero), rows, series, arrowOp: op, arrowWait: wait };
}

async function readTimeline(element) {
  const data = bytesOf(element.textContent.trim());
  const size = Number(element.dataset.head);
  const head = JSON.parse(new TextDecoder().decode(await inflated(data.subarray(0, size))));
  const body = data.subarray(size);
  const panels = await Promise.all(head.panels.map((panel) => panelOf(body, panel)));
  element.textContent = "";
  return { names: head.names, colours: head.colours, notes: head.notes, panels };
}

// Index of the first value of an ascending array that is greater than `wanted` (not smaller, if `orEqual`).
function firstAfter(values, wanted, orEqual = false, from = 0) {
  let low = from;
  let step = 1;
  while (low + step < values.length && !(orEqual ? values[low + step] >= wanted : values[low + step] > wanted)) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, values.length);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (orEqual ? values[middle] >= wanted : values[middle] > wanted) high = middle;
    else low = middle + 1;
  }
  return low;
}

// What a span is linked to, as [series, place] pairs: an op's call, a call's ops, a wait's op and back.
function linksOf(panel, series, place) {
  const found = { call: null, ops: [], waits: [], waitedFor: null };
  if (series.call) {
    found.call = placed(panel, series.call[place]);
    for (const at of positions(panel, "arrowOp", series.base + place)) found.waits.push(spanOf(panel, panel.arrowWait[at]));
  } else if (series.entry === "host call") {
    found.ops = opsOf(panel, series, place);
  } else if (series.entry.startsWith("blocked")) {
    const [at] = positions(panel, "arrowWait", series.base + place);
    if (at !== undefined) found.waitedFor = spanOf(panel, panel.arrowOp[at]);
  }
  return found;
}

function placed(panel, number) {
  if (number < 0) return null;
  const series = panel.series[Math.floor(number / 2 ** 32)];
  return series.joined ? null : [series, number % 2 ** 32];
}

function spanOf(panel, event) {
  const series = panel.series.find((one) => event >= one.base && event < one.base + one.start.length);
  return [series, event - series.base];
}

function positions(panel, column, event) {
  const key = column + "Index";
  if (!panel[key]) {
    panel[key] = new Map();
    panel[column].forEach((value, at) => {
      if (panel[key].has(value)) panel[key].get(value).push(at);
      else panel[key].set(value, [at]);
    });
  }
  return panel[key].get(event) || [];
}

// Ops of a call: all ops by the number of their call, sorted the first time that somebody asks.
const MOST_OPS_OF_A_CALL = 200;
function opsOf(panel, series, place) {
  if (!panel.calls) {
    panel.calls = panel.series.filter((one) => one.call).map((one) => {
      const order = Uint32Array.from(one.call.keys());
      let rises = true;
      for (let i = 1; i < order.length && rises; i++) rises = one.call[i] >= one.call[i - 1];
      if (!rises) order.sort((a, b) => one.call[a] - one.call[b]);
      return { one, order, sorted: rises ? one.call : Float64Array.from(order, (at) => one.call[at]) };
    });
  }
  const number = panel.series.indexOf(series) * 2 ** 32 + place;
  const found = [];
  for (const { one, order, sorted } of panel.calls) {
    for (let at = firstAfter(sorted, number, true); sorted[at] === number && found.length < MOST_OPS_OF_A_CALL; at++) {
      found.push([one, order[at]]);
    }
  }
  return found;
}
