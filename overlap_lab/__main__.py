"""`python -m overlap_lab` is the command `overlap-lab`."""

from __future__ import annotations

import sys

from overlap_lab.cli import main

if __name__ == "__main__":
    sys.exit(main())
