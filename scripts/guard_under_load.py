"""Run the guarded backward, or the plugin's own tests, many times on a busy machine, and count the verdicts.

  python scripts/guard_under_load.py                  # docs/examples/test_backward_overlap.py, fifty times
  python scripts/guard_under_load.py --tests plugin   # tests/end_to_end/test_pytest_plugin.py

Beside each run one process per other core does nothing but count (--busy). A wrong verdict is a sync mode
that passes or fails for another reason than hipMemcpy, any other mode that fails, and any failed test of the
plugin.
Prints a table in Markdown, and exits with 1 where a verdict was wrong.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = {
    "seed": ROOT / "docs/examples/test_backward_overlap.py",
    "plugin": ROOT / "tests/end_to_end/test_pytest_plugin.py",
}
COLUMNS = ("failed", "passed", "undecided", "skipped", "wrong")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tests", choices=TESTS, default="seed", help="default: seed")
    parser.add_argument("--runs", type=int, default=50, help="default: 50")
    parser.add_argument(
        "--busy", type=int, default=max((os.cpu_count() or 1) - 1, 1), help="default: one for each other core"
    )
    options = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    loads = []
    with busy(options.busy):
        for number in range(options.runs):
            for name, words in outcomes(TESTS[options.tests], is_seed=options.tests == "seed"):
                counts.setdefault(name, Counter()).update(words)
            loads.append(os.getloadavg()[0])
            print(f"{number + 1} of {options.runs}, load {loads[-1]:.1f}", file=sys.stderr)
    print_table(counts, options, loads)
    return 1 if any(count["wrong"] for count in counts.values()) else 0


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """So many processes that never rest."""
    context = multiprocessing.get_context("spawn")
    started = [context.Process(target=count_for_ever, daemon=True) for _ in range(processes)]
    for process in started:
        process.start()
    try:
        yield
    finally:
        for process in started:
            process.terminate()
            process.join()


def count_for_ever() -> None:
    number = 0
    while True:
        number += 1


def outcomes(tests: Path, *, is_seed: bool) -> Iterator[tuple[str, list[str]]]:
    """Each test of one pytest process with what it came to, and "wrong" where it must not."""
    with tempfile.TemporaryDirectory(prefix="guard_under_load_") as folder:
        result = Path(folder) / "junit.xml"
        where = ["-c", os.devnull, "--rootdir", folder] if is_seed else []
        plugin = ["-p", "overlap_lab.pytest_plugin"] if is_seed and not plugin_is_installed() else []
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, *where]
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        done = subprocess.run(  # noqa: S603  our own tests
            [*command, f"--basetemp={folder}/traces", f"--junit-xml={result}", str(tests)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        if not result.exists():
            sys.exit(f"pytest wrote no result:\n{done.stdout}{done.stderr}")
        for case in ET.parse(result).iter("testcase"):  # noqa: S314  written by pytest just now
            yield case.get("name", ""), list(words_of(case, is_seed=is_seed))


def plugin_is_installed() -> bool:
    from importlib.metadata import entry_points

    return any(point.value == "overlap_lab.pytest_plugin" for point in entry_points(group="pytest11"))


def words_of(case: ET.Element, *, is_seed: bool) -> Iterator[str]:
    """What one test came to, in words of the table."""
    failure = case.find("failure") if case.find("error") is None else case.find("error")
    if case.find("skipped") is not None:
        yield "skipped"
        if is_seed:
            yield "wrong"
        return
    yield "passed" if failure is None else "failed"
    if any(each.get("name") == "overlap_undecided" for each in case.iter("property")):
        yield "undecided"
    if is_seed and "[sync]" in case.get("name", ""):
        said = "" if failure is None else f"{failure.get('message')}{failure.text}"
        if not ("VIOLATED  drain/count <= 0" in said and "hipMemcpy blocked the host" in said):
            yield "wrong"
    elif failure is not None:
        yield "wrong"


def print_table(counts: dict[str, Counter[str]], options: argparse.Namespace, loads: list[float]) -> None:
    print(
        f"{options.runs} runs, {options.busy} busy processes beside each on {os.cpu_count()} cores, "
        f"load {min(loads):.1f} to {max(loads):.1f}\n"
    )
    print(f"| test | {' | '.join(COLUMNS)} |\n| --- |{' ---: |' * len(COLUMNS)}")
    for name, count in counts.items():
        print(f"| {name} | {' | '.join(str(count[column]) for column in COLUMNS)} |")


if __name__ == "__main__":
    sys.exit(main())
