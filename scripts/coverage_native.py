"""Which lines of the readers' core ran, of all builds of a file together, as a table.

    python scripts/coverage_native.py build/coverage --least 90    # after what is to be counted has run

`make coverage-native` builds with OVERLAP_LAB_COVERAGE=ON, runs the kept corpus and the readers' tests, and
prints this.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
NATIVE: Final = ROOT / "overlap_lab" / "native"

Lines = dict[int, int]
"""How often each line ran."""


def counted(build: Path) -> dict[str, Lines]:
    """The lines of each file of the core that hold code."""
    files: dict[str, Lines] = {}
    notes = [path for path in build.rglob("*.gcno") if NATIVE.name in str(path) or "fuzz" in str(path)]
    for note in sorted(notes):
        command = ["gcov", "--json-format", "--stdout", str(note.resolve())]
        run = subprocess.run(  # noqa: S603
            command, cwd=build, capture_output=True, text=True, check=True
        )
        for text in run.stdout.splitlines():
            for file in json.loads(text)["files"]:
                path = (ROOT / file["file"]).resolve()
                if path.parent != NATIVE:
                    continue
                lines = files.setdefault(path.name, {})
                for line in file["lines"]:
                    number = line["line_number"]
                    lines[number] = lines.get(number, 0) + line["count"]
    return files


def main() -> int:
    """The exit code: 1 where too few lines ran."""
    parser = argparse.ArgumentParser(description="Which lines of the readers' core ran.")
    parser.add_argument("build", type=Path)
    parser.add_argument("--least", type=float, default=0, help="percent of all lines that must have run")
    parser.add_argument("--missing", action="store_true", help="name the lines that did not run")
    chosen = parser.parse_args()
    files = counted(chosen.build)
    total = ran = 0
    print(f"{'file':<24}{'lines':>7}{'ran':>7}{'percent':>9}")
    for name, lines in sorted(files.items()):
        if not lines:
            continue
        missed = sorted(number for number, count in lines.items() if not count)
        total, ran = total + len(lines), ran + len(lines) - len(missed)
        share = 100 * (1 - len(missed) / len(lines))
        more = f"  {' '.join(map(str, missed))}" if chosen.missing else ""
        print(f"{name:<24}{len(lines):>7}{len(lines) - len(missed):>7}{share:>9.1f}{more}")
    percent = 100 * ran / max(total, 1)
    print(f"{'all':<24}{total:>7}{ran:>7}{percent:>9.1f}")
    return 0 if percent >= chosen.least else 1


if __name__ == "__main__":
    sys.exit(main())
