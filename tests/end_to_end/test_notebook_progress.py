"""The bar of long work in a real kernel: drawn in place where a person watches, nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.small_trace import write_small_trace

nbclient = pytest.importorskip("nbclient", reason="the extra 'notebooks' is not installed")
nbformat = pytest.importorskip("nbformat", reason="the extra 'notebooks' is not installed")
manager = pytest.importorskip("jupyter_client.manager", reason="the extra 'notebooks' is not installed")
pytest.importorskip("ipykernel", reason="the extra 'notebooks' is not installed")

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
PATIENCE_S = 120
LOAD = """
import threading
import overlap_lab
from overlap_lab import loaders, progress

progress._AFTER_S, progress._EVERY_S = 0.0, 0.01
drawn, draw = threading.Semaphore(0), progress._Bar._draw

def note(bar, *said):
    draw(bar, *said)
    drawn.release()

progress._Bar._draw = note
[found] = loaders.find_inputs({path!r})

def slowly(files):  # until the bar was drawn twice, wherever there is one
    for _ in range(2):
        assert drawn.acquire(timeout={patience} if {is_watched} else 0.2) is {is_watched}
    return found.format.read(files)

slow = loaders.TraceInput(found.path, found.files, loaders.Format("slow", found.format.sniff, slowly))
trace = overlap_lab.load(slow)
assert len(trace) > 0
"""


def cell(path: Path, *, is_watched: bool) -> str:
    return LOAD.format(path=str(path), patience=PATIENCE_S, is_watched=is_watched)


def test_a_notebook_that_nobody_watches_stays_clean(tmp_path: Path) -> None:
    path = write_small_trace(tmp_path / "a.json")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell(path, is_watched=False))])
    nbclient.NotebookClient(notebook, timeout=PATIENCE_S, kernel_name="python3").execute()
    assert notebook.cells[0]["outputs"] == []


def test_a_notebook_that_is_watched_shows_one_bar_and_then_one_line(tmp_path: Path) -> None:
    path = write_small_trace(tmp_path / "a.json")
    messages = watched(cell(path, is_watched=True))
    assert not [one["content"] for one in messages if one["msg_type"] in ("error", "stream")]
    bars = [one for one in messages if one["msg_type"] in ("display_data", "update_display_data")]
    assert [bar["msg_type"] for bar in bars] == ["display_data", *["update_display_data"] * (len(bars) - 1)]
    assert len({bar["content"]["transient"]["display_id"] for bar in bars}) == 1
    assert all("reading a.json: " in bar["content"]["data"]["text/plain"] for bar in bars)
    drawn = ["<progress" in bar["content"]["data"]["text/html"] for bar in bars]
    assert drawn[:2] == [True, True]
    assert drawn[-1] is False


def watched(code: str) -> list[dict[str, Any]]:
    """What a kernel publishes for a cell that a person runs: one who could be asked for input."""
    kernels, client = manager.start_new_kernel(kernel_name="python3", startup_timeout=PATIENCE_S)
    try:
        messages: list[dict[str, Any]] = []
        client.execute_interactive(
            code, allow_stdin=True, output_hook=messages.append, timeout=PATIENCE_S, store_history=False
        )
        return messages
    finally:
        client.stop_channels()
        kernels.shutdown_kernel(now=True)
