"""The pipelines that docs/ci.md shows: their own steps, run in a shell, in a copy of the example project."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("hip_ext", reason="hip_ext needs torch and a build")
yaml = pytest.importorskip("yaml", reason="the extra 'test' is not installed")

from tests.end_to_end.plugin_runs import PLUGIN  # noqa: E402

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/ci.md"
PROJECT = ROOT / "docs/examples/project"
INSTALL = "pip install 'overlap_lab[torch,stats]' pytest"


def documented(name: str) -> dict[str, Any]:
    """The pipeline that the page shows under this file name."""
    [text] = re.findall(rf"```yaml\n# {re.escape(name)}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    found = yaml.safe_load(text)
    assert isinstance(found, dict)
    return found


@dataclass(frozen=True)
class Step:
    name: str
    script: str
    runs: Callable[[bool, bool], bool]
    """From (all steps so far were fine, it is the main branch): whether it runs."""


CONDITIONS: dict[str, Callable[[bool, bool], bool]] = {
    "": lambda fine, main: fine,
    "${{ !cancelled() }}": lambda fine, main: True,
    "github.ref == 'refs/heads/main'": lambda fine, main: fine and main,
}


def github_steps() -> list[Step]:
    steps = documented(".github/workflows/overlap.yml")["jobs"]["overlap"]["steps"]
    return [
        Step(step["name"], step["run"], CONDITIONS[step.get("if", "")]) for step in steps if "run" in step
    ]


def gitlab_steps() -> list[Step]:
    """One script: GitLab runs all lines in one shell, which ends at the first that fails."""
    job = documented(".gitlab-ci.yml")["overlap"]
    lines = "\n".join([*job["before_script"], *job["script"]])
    return [Step("script", lines, CONDITIONS[""])]


STEPS = {"github": github_steps, "gitlab": gitlab_steps}


@pytest.fixture(params=sorted(STEPS))
def steps(request: pytest.FixtureRequest) -> list[Step]:
    return STEPS[request.param]()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PROJECT, tmp_path / "project"))


@pytest.fixture
def commands(tmp_path: Path) -> Path:
    """Folder of the commands that the steps call: those of this very environment, where the package is. So
    nothing is installed here: `pip` only writes down what it is asked for."""
    folder = tmp_path / "bin"
    folder.mkdir()
    write_command(folder / "pip", f'echo "pip $*" >>"{tmp_path}/installed"')
    write_command(folder / "python", f'exec "{sys.executable}" "$@"')
    write_command(folder / "pytest", f'exec "{sys.executable}" -m pytest {" ".join(PLUGIN)} "$@"')
    write_command(folder / "overlap-lab", f'exec "{sys.executable}" -m overlap_lab "$@"')
    return folder


def write_command(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def pipeline(
    steps: Sequence[Step], project: Path, commands: Path, *, main: bool
) -> Iterator[tuple[str, int]]:
    """Each step that runs, with its exit code."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "GITHUB", "CI_"))
    }
    environment = {
        **kept,
        "PATH": os.pathsep.join([str(commands), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "GITHUB_STEP_SUMMARY": str(project / "summary.md"),
        "BASELINE": "pull-push" if main else "pull",
    }
    fine = True
    for step in steps:
        if step.runs(fine, main):
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.script],
                cwd=project,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            print(step.name, done.stdout, done.stderr, sep="\n")
            fine = fine and done.returncode == 0
            yield step.name, done.returncode


def test_the_main_branch_stores_what_a_change_is_then_held_against(
    steps: list[Step], project: Path, commands: Path
) -> None:
    ran = list(pipeline(steps, project, commands, main=True))
    assert {code for _, code in ran} == {0}
    assert len(ran) == len(steps)
    assert (commands.parent / "installed").read_text() == INSTALL.replace("'", "") + "\n"
    [stored] = (project / ".overlap").rglob("*_main.json")
    assert stored.is_file()
    assert " FINE**" in (project / "overlap.md").read_text()
    clear(project)

    program = project / "step.py"
    program.write_text(program.read_text().replace('WORKSPACE = "async"', 'WORKSPACE = "sync"'))
    ran = list(pipeline(steps, project, commands, main=False))
    failed = {name for name, code in ran if code}
    assert failed in ({"Run the tests that record", "Hold it against budget and baseline"}, {"script"})
    assert "Store a new baseline" not in dict(ran)
    assert list((project / ".overlap").rglob("*_main.json")) == [stored]
    said = (project / "overlap.md").read_text()
    assert " VIOLATED**" in said
    assert "hipMemcpy blocked the host" in said
    assert (
        sum(" VIOLATED |" in line for line in said.splitlines()) == 3
    )  # two of the budget, one of the baseline
    places = re.findall(
        r'"uri": "(.*)"\s*},\s*"region": {\s*"startLine": \d+', (project / "overlap.sarif").read_text()
    )
    assert places
    assert {Path(place).name for place in places} == {"step.py"}
    assert list((project / "overlap/kept").rglob("*.db"))
    for name, failures in (("overlap-tests.xml", 1), ("overlap-check.xml", 3)):
        assert len(list(ET.parse(project / name).iter("failure"))) == failures
    if (project / "summary.md").exists():
        assert said in (project / "summary.md").read_text()


def clear(project: Path) -> None:
    """As the next run finds it: a fresh checkout, and the baseline out of the cache."""
    shutil.rmtree(project / "overlap")
    for path in (*project.glob("overlap-*"), *project.glob("overlap.[ms]*")):
        path.unlink()


def test_every_step_of_the_page_is_run_or_uses_an_action() -> None:
    steps = documented(".github/workflows/overlap.yml")["jobs"]["overlap"]["steps"]
    assert [step for step in steps if ("run" in step) == ("uses" in step)] == []
    assert {step.get("if", "") for step in steps} == set(CONDITIONS)
    assert documented(".gitlab-ci.yml")["overlap"]["before_script"] == [INSTALL]
    assert next(step for step in steps if step.get("name") == "Install")["run"] == INSTALL
