"""The documents: their links lead somewhere, and every number that is printed is described."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import overlap_lab
from overlap_lab.analyze import analyze
from overlap_lab.render.glossary import WORDS
from overlap_lab.trace import Source, Trace

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    path for path in ROOT.rglob("*.md") if not {".venv", "build", "data"} & set(path.relative_to(ROOT).parts)
)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    targets = [t for t in LINK.findall(path.read_text()) if not t.startswith("https://")]
    missing = [target for target in targets if not (path.parent / target).exists()]
    assert not missing


def test_the_glossary_is_the_one_that_the_command_line_tells() -> None:
    first, _, _ = (ROOT / "docs/glossary.md").read_text().partition("\n## ")
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", first, re.MULTILINE)
    assert dict(rows[2:]) == dict(WORDS)


def test_pages_about_what_is_printed_lead_to_the_glossary() -> None:
    pages = ("capture", "ci", "comparison", "export", "index", "plots", "regression-testing", "report")
    for page in pages:
        assert "](glossary.md)" in (ROOT / f"docs/{page}.md").read_text(), page


def test_every_page_is_once_in_the_menu() -> None:
    menu = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    pages = (path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md"))
    assert sorted(menu) == sorted(str(page) for page in pages if page.parts[0] != "examples")


def test_every_measure_is_described() -> None:
    pages = "\n".join(path.read_text() for path in (ROOT / "docs/measures").glob("*.md"))
    report = analyze(Trace.from_columns({}, names=(), source=Source()))
    tags = {measurement.tag for measurement in report.measurements}
    assert len(tags) > 60
    undescribed = sorted(tag for tag in tags if not is_described(tag, pages))
    assert not undescribed


def is_described(tag: str, pages: str) -> bool:
    """In full, or as its family and its last part (`min`, `host_late`, ...)."""
    family, _, last = tag.rpartition("/")
    return tag in pages or (family in pages and re.search(rf"\b{last}\b", pages) is not None)


MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(overlap_lab.__path__, "overlap_lab.")
    if not module.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
