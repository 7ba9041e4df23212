"""Figures as files: a page that opens offline, or a picture."""

from __future__ import annotations

import html
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import plotly.graph_objects as go

from overlap_lab.errors import MissingDependency, UsageError
from overlap_lab.render.html_page import script_hash
from overlap_lab.whole_file import whole_file, write_whole

__all__ = ["check_suffix", "write_figure"]

_PICTURES: Final = (".png", ".svg")
_SUFFIXES: Final = (".html", *_PICTURES)
_SCALE: Final = 2
_WIDTH: Final = 1_280
_DRAW: Final = files("overlap_lab.plots").joinpath("page.js").read_text(encoding="utf-8")


def check_suffix(path: str | Path) -> str:
    """The end of a file's name, in lower case. Raises UsageError where it names no format of ours."""
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        raise UsageError(f"{path}: name a file that ends in {', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]}")
    return suffix


def write_figure(figure: go.Figure, path: Path) -> None:
    """Write the figure, whole or not at all, in the format that the file's name asks for.

    A page holds plotly and may run nothing else nor fetch anything. Pictures are 1280 pixels wide, drawn at
    twice that. Raises UsageError for other names and files that cannot be written, MissingDependency where
    kaleido, or the browser that it draws with, is missing.
    """
    suffix = check_suffix(path)
    try:
        if suffix == ".html":
            write_whole(path, _page(figure))
        else:
            picture = _picture(figure, suffix[1:])
            with whole_file(path) as stream:
                stream.write(picture)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None


def _picture(figure: go.Figure, kind: str) -> bytes:
    missing = MissingDependency("kaleido", purpose=f"Drawing .{kind} files", extra="pictures")
    try:
        import kaleido
    except ImportError:
        raise missing from None
    height = figure.layout.height or 500
    try:
        drawn: Any = figure.to_image(
            format=kind, width=_WIDTH, height=height, scale=_SCALE if kind == "png" else 1
        )
    except (RuntimeError, ValueError, kaleido.errors.ChromeNotFoundError) as error:
        said = " ".join(str(error).split())
        raise UsageError(
            f"Drawing .{kind} files needs a Chrome or Chromium that kaleido can start: {said:.200}"
        ) from None
    return bytes(drawn)


def _page(figure: go.Figure) -> str:
    from plotly.offline import get_plotlyjs

    library = get_plotlyjs().replace("</script", "<\\/script")
    data = figure.to_json().replace("<", "\\u003c")
    title = html.escape(_title(figure))
    paper = html.escape(str(figure.layout.paper_bgcolor or "#FFFFFF"))
    allowed = " ".join(f"'sha256-{script_hash(script)}'" for script in (library, _DRAW))
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{title}</title>\n'
        f"<style>body {{ margin: 16px; background: {paper}; }}</style>\n</head>\n<body>\n"
        f'<div id="plot" role="img" aria-label="{title}"></div>\n'
        f'<script type="application/json" id="figure">{data}</script>\n'
        f"<script>{library}</script>\n<script>{_DRAW}</script>\n</body>\n</html>"
    )


def _title(figure: go.Figure) -> str:
    """The figure's title as plain text; a timeline has one for each of its panels instead."""
    panels = [str(note.text) for note in figure.layout.annotations if str(note.text).startswith("<b>")]
    said = str(figure.layout.title.text or " and ".join(panels) or "overlap_lab")
    return html.unescape(said.replace("<b>", "").replace("</b>", ""))
