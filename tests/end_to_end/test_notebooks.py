"""Every notebook runs from top to bottom, and is kept without outputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("hip_ext", reason="hip_ext needs torch and a build")
nbclient = pytest.importorskip("nbclient", reason="the extra 'notebooks' is not installed")
nbformat = pytest.importorskip("nbformat", reason="the extra 'notebooks' is not installed")

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stripped(path: Path) -> None:
    cells = json.loads(path.read_text())["cells"]
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in cells)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_draws(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3").execute()
    shown = [data for cell in notebook.cells for data in cell.get("outputs", [])]
    assert any("application/vnd.plotly.v1+json" in output.get("data", {}) for output in shown)
    assert not any(output["output_type"] == "error" for output in shown)
