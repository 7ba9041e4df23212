"""Plays ROCm's `rocpd convert`: writes an empty-looking file of the asked form for each input."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=["convert"])
    parser.add_argument("-i", nargs="+", required=True, type=Path)
    parser.add_argument("-f", choices=["csv", "pftrace", "otf2"], required=True)
    parser.add_argument("-d", required=True, type=Path)
    chosen = parser.parse_args()
    if os.environ.get("STAND_IN_FAULT") == "nothing":
        return 0
    for path in chosen.i:
        if not path.exists():
            return 1
        (chosen.d / f"{path.stem}.{chosen.f}").write_text("x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
