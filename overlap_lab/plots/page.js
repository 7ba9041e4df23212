"use strict";
// Draws the figure of the page; on a phone its texts go on in further lines.

const NARROW = 700, LETTER = 8.2, LINE = 19, SMALL_LINE = 15, LABEL = 22;

// Text in lines of at most so many letters; an entity or a tag is one, and is not cut.
function lines(text, most) {
  const found = [];
  let line = [];
  for (const letter of text.match(/&[a-z#0-9]+;|<[^>]*>|[^]/gi) || []) {
    line.push(letter);
    if (line.length < most) continue;
    const space = line.lastIndexOf(" ");
    found.push(line.slice(0, space > 0 ? space : line.length).join(""));
    line = space > 0 ? line.slice(space + 1) : [];
  }
  return line.length ? [...found, line.join("")] : found;
}

function inTwoLines(text) {
  const [first, second, ...others] = lines(text, LABEL);
  return second === undefined ? text : `${first}<br>${second}${others.length ? "\u2026" : ""}`;
}

function narrowed({ data, layout }, width) {
  const letters = Math.floor((width - 40) / LETTER);
  const entries = data.filter((one) => one.name && one.showlegend !== false).length;
  const title = lines((layout.title && layout.title.text) || "", letters);
  const top = 52 + LINE * title.length + LINE * Math.ceil(entries / 2);
  let more = Math.max(0, top - layout.margin.t);
  layout.margin.t += more;
  layout.title = { text: title.join("<br>"), x: 0, xref: "container", y: 1, yref: "container", yanchor: "top",
    pad: { t: 40, l: 8 }, font: { size: 14 } };
  for (const note of layout.annotations || []) {
    if (note.align !== "left" || note.yanchor !== "top") continue;
    const told = note.text.split("<br>").flatMap((line) => lines(line, letters + 6));
    const added = SMALL_LINE * (told.length - note.text.split("<br>").length);
    note.text = told.join("<br>");
    layout.margin.b += added;
    more += added;
  }
  for (const name of Object.keys(layout).filter((key) => key.startsWith("yaxis"))) {
    if (layout[name].ticktext) layout[name].ticktext = layout[name].ticktext.map(inTwoLines);
  }
  layout.height += more;
}

const figure = JSON.parse(document.getElementById("figure").textContent);
if (window.innerWidth < NARROW) narrowed(figure, window.innerWidth);
Plotly.newPlot("plot", figure.data, figure.layout, { responsive: true, displaylogo: false });
