"""Print the requirements of the named extras of pyproject.toml, one a line, for pip's command line."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
for extra in sys.argv[1:]:
    print("\n".join(project["optional-dependencies"][extra]))
