from __future__ import annotations

import subprocess
import sys

import pytest

import overlap_lab


def test_the_public_names_are_sorted_and_exist() -> None:
    assert overlap_lab.__all__ == sorted(overlap_lab.__all__)
    assert [name for name in overlap_lab.__all__ if not hasattr(overlap_lab, name)] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'save'"):
        overlap_lab.save  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(
    "first", ["overlap_lab", "overlap_lab.analyze", "overlap_lab.compare", "overlap_lab.cli"]
)
def test_verbs_are_functions_whatever_was_imported_first(first: str) -> None:
    script = (
        f"import {first}, overlap_lab; print(callable(overlap_lab.analyze), callable(overlap_lab.compare))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["True", "True"]


def test_importing_the_package_imports_no_heavy_package() -> None:
    script = (
        "import overlap_lab, sys; print({'pandas', 'plotly', 'torch', 'rich', 'sqlite3'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "set()\n"
