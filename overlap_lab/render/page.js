"use strict";
(function () {
  const page = document.documentElement;
  const figure = JSON.parse(document.getElementById("figure").textContent);
  const target = document.getElementById("timeline");

  // The figure is made without knowing the page's colours; take them from the style sheet.
  function colours() {
    const style = getComputedStyle(page);
    const colour = (name) => style.getPropertyValue(name).trim();
    const changes = {
      "font.color": colour("--ink"),
      "hoverlabel.bgcolor": colour("--card"),
      "hoverlabel.bordercolor": colour("--line"),
      "hoverlabel.font.color": colour("--ink"),
      "modebar.color": colour("--soft"),
      "modebar.activecolor": colour("--accent"),
    };
    for (const key of Object.keys(figure.layout)) {
      if (/^[xy]axis\d*$/.test(key)) {
        changes[key + ".gridcolor"] = colour("--grid");
        changes[key + ".linecolor"] = colour("--line");
      }
    }
    return changes;
  }

  const config = {
    responsive: true,
    displaylogo: false,
    modeBarButtons: [["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d", "toImage"]],
  };
  Plotly.newPlot(target, figure.data, figure.layout, config)
    .then(() => Plotly.relayout(target, colours()))
    .then(() => { page.dataset.timeline = "drawn"; });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => Plotly.relayout(target, colours()));
})();
