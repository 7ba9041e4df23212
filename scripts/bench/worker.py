"""A process that runs works when asked, and says how long each took: `python -m scripts.bench.worker MODULE`.

The module's WORKS are functions of a path, by name. Requests and answers are lines of JSON on standard input
and output; what works print goes to standard error. Run in another environment, this needs the standard
library alone.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import site
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["main"]

Works = dict[str, Callable[[Path], object]]


def main() -> None:
    """Answer requests until standard input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    module, *peers = sys.argv[1:]
    for folder in peers:
        site.addsitedir(folder)  # behind this environment's own packages
    works: Works = importlib.import_module(module).WORKS
    _say(answers, {"ready": True})
    for line in sys.stdin:
        request = json.loads(line)
        _say(answers, _done(works[request["work"]], Path(request["path"])))


def _say(answers: Any, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def _done(work: Callable[[Path], object], path: Path) -> dict[str, Any]:
    gc.collect()
    start = time.perf_counter()
    try:
        result = work(path)
    except (Exception, SystemExit) as error:  # noqa: BLE001 a peer may fail in any way; the row says how
        return {"error": f"{type(error).__name__}: {error}"[:200]}
    seconds = time.perf_counter() - start
    del result  # after the clock: to give memory back is not part of reading
    return {"seconds": seconds}


if __name__ == "__main__":
    main()
