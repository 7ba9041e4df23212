"use strict";
// Tables of the report: sort by a column, filter, copy; folded parts open for printing.

const SHORT_TABLE = 6;

function valueOf(cell) {
  const exact = cell && cell.dataset.value;
  return exact === undefined || exact === "" ? (cell ? cell.textContent : "") : Number(exact);
}

function sortBy(table, column, head) {
  const up = head.getAttribute("aria-sort") === "descending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const rows = [...table.tBodies[0].rows];
  const order = (a, b) => {
    const [x, y] = [valueOf(a.cells[column]), valueOf(b.cells[column])];
    if (typeof x === typeof y) return typeof x === "number" ? x - y : x.localeCompare(y);
    return typeof x === "number" ? 1 : -1;
  };
  rows.sort((a, b) => (up ? order(a, b) : order(b, a)));
  table.tBodies[0].append(...rows);
}

function filterRows(table, words, told) {
  const wanted = words.toLowerCase();
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
    shown += row.hidden ? 0 : 1;
  }
  told.textContent = words ? `${shown.toLocaleString("en")} rows` : "";
}

// Rows and columns as text with tabs, exact values where a cell has one: pastes into a spreadsheet.
function asText(table) {
  const line = (cells) => [...cells].map((cell) => cell.dataset.value || cell.textContent.replace(/\s+/g, " ").trim()).join("\t");
  const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  return [line(table.tHead.rows[0].cells), ...rows.map((row) => line(row.cells))].join("\n");
}

function button(words, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = words;
  made.addEventListener("click", act);
  return made;
}

function addTools(table) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const sorter = button(head.textContent, () => sortBy(table, column, head));
    sorter.className = "sorter";
    sorter.title = "Sort by this column";
    head.replaceChildren(sorter);
  });
  const tools = document.createElement("div");
  tools.className = "tools table-tools";
  const told = document.createElement("output");
  if (table.tBodies[0].rows.length >= SHORT_TABLE) {
    const filter = document.createElement("input");
    filter.type = "search";
    filter.placeholder = "Filter rows";
    filter.setAttribute("aria-label", "Filter the rows of this table");
    filter.addEventListener("input", () => filterRows(table, filter.value, told));
    tools.append(filter);
  }
  tools.append(button("Copy table", async () => {
    await copied(asText(table));
    told.textContent = "copied";
  }), told);
  table.closest(".scroll").after(tools);
}

// After the timeline: nobody waits for these.
started.then(() => {
  for (const table of document.querySelectorAll("table")) {
    if (!table.closest(".card")) addTools(table);
  }
  if (viewIn(location.hash)) showTimeline();
  document.documentElement.dataset.page = "ready";
});

// Folded and far parts take their height only when they are near: so once more after the first jump.
function showTimeline() {
  const jump = () => document.getElementById("timeline").scrollIntoView({ block: "start" });
  jump();
  requestAnimationFrame(jump);
}

for (const spot of document.querySelectorAll("a.spot")) {
  spot.addEventListener("click", () => {
    const view = viewIn(spot.hash);
    if (view && window.overlapTimeline) window.overlapTimeline.show(view.t0, view.t1); // also when the address stays
    showTimeline();
  });
}

let opened = [];
window.addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const one of opened) one.open = true;
});
window.addEventListener("afterprint", () => {
  for (const one of opened) one.open = false;
});
