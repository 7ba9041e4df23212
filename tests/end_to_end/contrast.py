"""What a browser is asked about the contrast of a page."""

from __future__ import annotations

__all__ = ["CONTRASTS"]

CONTRASTS = r"""(() => {
  const lightOf = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).slice(0, 3).map((one) => {
      const share = one / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paperOf = (element) => {
    const colour = getComputedStyle(element).backgroundColor;
    return colour === "rgba(0, 0, 0, 0)" && element.parentElement ? paperOf(element.parentElement) : colour;
  };
  const faults = [];
  for (const element of document.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || element.closest("script, svg, noscript")) continue;
    const pair = [lightOf(getComputedStyle(element).color), lightOf(paperOf(element))];
    const [a, b] = pair.sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) faults.push([element.outerHTML.slice(0, 80), (a + 0.05) / (b + 0.05)]);
  }
  return faults.slice(0, 5);
})()"""
"""Text whose contrast against its ground is below WCAG AA, with its ratio."""
