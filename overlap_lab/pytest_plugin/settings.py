"""What the user asked for: the option of the command line, else of the configuration file."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from overlap_lab.errors import UsageError

__all__ = ["setting", "took_a_path"]


def setting(config: pytest.Config, name: str) -> Any:
    """The value of `--overlap-NAME`, else of `overlap_NAME`; None where neither is given."""
    given = config.getoption(f"overlap_{name}")
    return config.getini(f"overlap_{name}") if given is None else given


def took_a_path(config: pytest.Config, name: str, value: str | None) -> None:
    """Raise where `--overlap-NAME tests` took for its value what was meant as the tests to run."""
    option, words = f"--overlap-{name.replace('_', '-')}", [*map(str, config.invocation_params.args)]
    follows = any(one == option and other == value for one, other in itertools.pairwise(words))
    if value and follows and (Path.cwd() / value.partition("::")[0]).exists():
        raise UsageError(f"{option} took {value!r} for its name: write {option}=NAME, or put {option} last")
