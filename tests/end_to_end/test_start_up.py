"""What a text answer imports: numpy, and of our own readers the one that it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.small_trace import write_small_trace

TRACES = Path(__file__).parents[2] / "traces"
HEAVY = {"torch", "plotly", "pandas", "dask", "pyarrow", "rich", "hip_ext", "zstandard"}
SCRIPT = """
import sys
from overlap_lab.cli import main
code = main(sys.argv[1:])
print("\\n".join(sys.modules), file=sys.stderr)
sys.exit(code)
"""


def modules_after(*arguments: str | Path) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout
    return set(done.stderr.splitlines())


def readers_of(modules: set[str]) -> set[str]:
    readers = {"kineto", "rocpd", "rocprof_csv", "rocprof_json", "nsys"}
    return {name for name in readers if f"overlap_lab.loaders.{name}" in modules}


def test_an_answer_about_a_json_trace_imports_no_heavy_package(tmp_path: Path) -> None:
    modules = modules_after("analyze", write_small_trace(tmp_path / "a.json"))
    assert not modules & (HEAVY | {"sqlite3", "importlib.metadata", "overlap_lab.cli.demo"})
    assert readers_of(modules) == {"kineto"}


def test_an_answer_about_a_database_imports_no_heavy_package() -> None:
    modules = modules_after("analyze", TRACES / "fmha_bwd_sync.db", "--json", "-")
    assert not modules & HEAVY
    assert readers_of(modules) <= {"rocpd", "nsys"}


@pytest.mark.parametrize("arguments", [("--help",), ("demo", "--help"), ("compare", "--help")])
def test_help_imports_no_heavy_package(arguments: tuple[str, ...]) -> None:
    script = SCRIPT.replace(
        "code = main(sys.argv[1:])", "code = 0\ntry: main(sys.argv[1:])\nexcept SystemExit: pass"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=120, check=True
    )
    assert "usage: overlap-lab" in done.stdout
    assert not set(done.stderr.splitlines()) & HEAVY
