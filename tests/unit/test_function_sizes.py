"""A function can be read at one look: it has at most 60 lines, its arguments and docstring among them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_LINES = 60


def too_long(text: str) -> list[str]:
    """The functions of a module that have more lines, with their size."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = (each for each in ast.walk(ast.parse(text)) if isinstance(each, kinds))
    found = ((each.name, (each.end_lineno or 0) - each.lineno + 1) for each in functions)
    return [f"{name}: {size}" for name, size in found if size > MOST_LINES]


@pytest.mark.parametrize("folder", ["overlap_lab", "hip_ext", "scripts", "traces"])
def test_no_function_is_longer(folder: str) -> None:
    modules = sorted((ROOT / folder).rglob("*.py"))
    assert modules
    found = {str(module.relative_to(ROOT)): too_long(module.read_text()) for module in modules}
    assert {module: names for module, names in found.items() if names} == {}


def test_a_longer_one_is_found() -> None:
    body = "    pass\n" * MOST_LINES
    assert too_long(f"def long() -> None:\n{body}") == ["long: 61"]
    assert too_long(f"def just() -> None:\n{body[9:]}") == []
