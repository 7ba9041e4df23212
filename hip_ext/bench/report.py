"""Makes the page of a measurement from its raw file alone.

python -m hip_ext.bench.report docs/benchmarks/h200.json > docs/benchmarks/h200.md
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from hip_ext.bench.raw import Distribution, Raw
from hip_ext.bench.targets import verdicts

__all__ = ["main", "notes_beside", "page"]

MODES: Final = ("sync", "async", "device")
WITH_BASE: Final = ("none", *MODES)
QUEUES: Final = {"queue0": "0", "queue1": "1", "queue10": "10"}
SITUATIONS: Final = {
    "queue0": "nothing",
    "small4": "4 small products, host warm",
    "queue1": "1 product",
    "queue10": "10 products",
    "idle": "1 product, after 5 ms of host sleep",
}


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    titles = list(head)
    lines = [f"| {' | '.join(titles)} |", f"| {' | '.join('---' for _ in titles)} |"]
    return [*lines, *(f"| {' | '.join(str(cell) for cell in row)} |" for row in rows), ""]


def page(raw: Raw, notes: str = "") -> str:
    """The whole page, ending with a line break; `notes` goes below what must hold."""
    lines = [
        *_title(raw),
        *_targets(raw),
        *([notes] if notes else []),
        *_host_times(raw),
        *_device_times(raw),
        *_loop(raw),
        *_python(raw),
        *_pinned(raw),
        *_kernels(raw),
        *_commands(raw),
        *_explanation(),
    ]
    return "\n".join(lines) + "\n"


def notes_beside(raw: Path) -> str:
    notes = raw.with_suffix(".notes")
    return notes.read_text() if notes.exists() else ""


def _title(raw: Raw) -> Iterator[str]:
    facts = raw.content["facts"]
    card = facts.get("card", "the CPU host target")
    known = (
        ("driver", "driver"),
        ("cuda", "CUDA"),
        ("nvcc", "nvcc"),
        ("torch", "torch"),
        ("python", "Python"),
    )
    versions = ", ".join(f"{title} {facts[name]}" for name, title in known if name in facts)
    host = f"{facts['cores']} cores of {facts['processor']}"
    commit = f" at {facts['commit'][:10]}" if "commit" in facts else ""
    yield f"# The backward's preparation on {card}"
    yield ""
    yield "<!-- made by `python -m hip_ext.bench.report`; edit the raw file's maker, not this page -->"
    yield ""
    yield (
        f"`{raw.content['command']}`{commit}; {facts['date']}, {versions}; {host}; "
        f"{raw.content['seconds']:.0f} s. Times are microseconds: medians, with the 99th percentile in "
        "brackets. Every sample is in the raw file beside this page."
    )
    yield ""


def _targets(raw: Raw) -> Iterator[str]:
    if raw.target == "host":
        yield "What must hold on a card is not judged on the CPU."
        yield ""
        return
    yield "## What must hold"
    yield ""
    rows = (
        (
            v.what,
            f"<= {v.must:g}{v.unit}",
            f"<= {v.aim:g}{v.unit}" if v.aim else "-",
            f"{v.measured:.1f}{v.unit}",
            v,
        )
        for v in verdicts(raw)
    )
    yield from _table(("what", "must", "aim", "measured", "verdict"), rows)


def _host_times(raw: Raw) -> Iterator[str]:
    yield "## Host time of the preparation"
    yield ""
    yield "Nothing but the preparation is called, the release of the pinned block behind it included."
    yield ""
    rows = []
    for kind, pinned in (("preparation", "pool"), ("bare", "bare")):
        for queue, number in QUEUES.items():
            if f"{kind}/{queue}" in raw.content["runs"]:
                times = (raw.distribution(f"{kind}/{queue}", mode, "host_call") for mode in MODES)
                rows.append((number, pinned, *times))
    yield from _table(("queued products", "pinned blocks", *MODES), rows)


def _device_times(raw: Raw) -> Iterator[str]:
    yield "## Device time of queue and preparation"
    yield ""
    rows = (
        (number, *(raw.distribution(f"preparation/{queue}", mode, "device_step") for mode in WITH_BASE))
        for queue, number in QUEUES.items()
    )
    yield from _table(("queued products", *WITH_BASE), rows)
    yield "## Device time between two events around the preparation"
    yield ""
    yield "`none` is two events in a row: what the measurement itself costs. `cleared` has a buffer to clear."
    yield ""
    series = "device_preparation"
    found = [
        (title, *(raw.distribution(f"preparation/{name}", mode, series) for mode in WITH_BASE))
        for name, title in SITUATIONS.items()
    ]
    found.append(
        ("cleared: 1 product", *(raw.distribution("cleared/queue1", mode, series) for mode in WITH_BASE))
    )
    yield from _table(("before the preparation", *WITH_BASE), found)


def _loop(raw: Raw) -> Iterator[str]:
    yield "## Back to back"
    yield ""
    loop = raw.content["runs"]["loop/small4"]["options"]["loop"]
    yield f"{loop} iterations of 4 small products and one preparation, without a wait; per iteration."
    yield ""
    times = (raw.distribution("loop/small4", mode, "iteration") for mode in WITH_BASE)
    yield from _table(WITH_BASE, [times])


def _python(raw: Raw) -> Iterator[str]:
    yield "## Host time of a whole call"
    yield ""
    yield "Python: `hip_ext.mha_varlen_bwd` behind torch's products of 4096^3 in bf16. C++: behind its own."
    yield ""
    rows: list[tuple[object, ...]] = []
    for queue, number in QUEUES.items():
        rows.append(
            (number, "C++", *(raw.distribution(f"call/{queue}", mode, "host_call") for mode in MODES))
        )
        if queue in raw.content["python_call_ns"]:
            rows.append((number, "Python", *(raw.python_call(queue, mode) for mode in MODES)))
    yield from _table(("queued products", "from", *MODES), rows)


def _pinned(raw: Raw) -> Iterator[str]:
    yield "The Python call in the async mode, by `hip_ext.set_pinned_memory`:"
    yield ""
    taken = raw.content["python_pinned_ns"]
    kinds = list(taken["queue0"])
    rows = (
        (number, *(Distribution.of(taken[queue][kind]) for kind in kinds))
        for queue, number in QUEUES.items()
        if queue in taken
    )
    yield from _table(("queued products", *kinds), rows)


def _kernels(raw: Raw) -> Iterator[str]:
    yield "## The three kernels"
    yield ""
    rows = []
    for name in ("kernels/batch", "kernels/causal"):
        run = raw.content["runs"][name]
        for mode in MODES:
            times = raw.distribution(name, mode, "device_kernels")
            tflops = run["flop"] / 1e6 / times.median
            valid = "y" if run["modes"][mode]["valid"] else "n"
            rows.append((name.partition("/")[2], mode, times, f"{tflops:.2f}", valid))
    yield from _table(("problem", "workspace", "time", "TFlops as AITER counts", "valid"), rows)
    if taken := raw.content["sdpa_backward_ns"]:
        yield f"torch's flash backward (SDPA) of the batch problem: {Distribution.of(taken)} us."
        yield ""


def _commands(raw: Raw) -> Iterator[str]:
    yield "## Commands"
    yield ""
    rows = ((f"{name}", f"`{run['command']}`") for name, run in raw.content["runs"].items())
    yield from _table(("run", "command"), rows)


def _explanation() -> Iterator[str]:
    yield "## The raw file"
    yield ""
    yield "`runs` has one object a command: options, lengths of the sequences and, by mode, `samples`:"
    yield ""
    yield from _table(
        ("series", "nanoseconds of"),
        (
            ("`host_call_ns`", "the host in `fmha_bwd`"),
            ("`host_preparation_ns`", "of it, until the kernels are launched"),
            ("`device_preparation_ns`", "the device between events around the preparation"),
            ("`device_kernels_ns`", "the device from there to the end of the call"),
            ("`device_call_ns`", "both"),
            ("`device_step_ns`", "the device from before the queued products to the end of the preparation"),
            ("`wall_ns`", "the host from the call until the device is done"),
            ("`iteration_ns`", "the host for one iteration of a loop"),
        ),
    )
    yield "`python_call_ns` has the host's time in Python calls by queue and mode,"
    yield "`python_pinned_ns` by queue and pinned blocks."


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m hip_ext.bench.report", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("raw", type=Path, help="what hip_ext.bench.measure wrote")
    chosen = parser.parse_args(arguments)
    try:
        sys.stdout.write(page(Raw.read(chosen.raw), notes_beside(chosen.raw)))
    except (OSError, ValueError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
