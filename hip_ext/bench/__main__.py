"""Runs the C++ program with these arguments: python -m hip_ext.bench -prec=bf16 -s=512."""

from __future__ import annotations

import os
import sys

from hip_ext.bench.program import NAME, program


def main() -> None:
    try:
        path = program()
    except FileNotFoundError as error:
        sys.exit(f"python -m hip_ext.bench: {error}")
    os.execv(path, [NAME, *sys.argv[1:]])  # noqa: S606 (this process becomes the program)


if __name__ == "__main__":
    main()
