"""Record the traces of this folder anew, or rewrite the golden reports of the traces that are here.

    python traces/record.py             run the three modes, write the traces, the manifest and the reports
    python traces/record.py --golden    only write golden/*.json from the traces (after a measure changed)

The traces of a card are made by record_cuda.py, and stay.

Read the difference of the golden reports in review: they are what the analysis says today.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import subprocess
from pathlib import Path

from overlap_lab import __version__
from overlap_lab.analyze import analyze
from overlap_lab.capture.host import HostCapture
from overlap_lab.loaders import load
from overlap_lab.render.json import reports_to_json

HERE = Path(__file__).parent
MANIFEST = HERE / "manifest.json"
TOOL = "overlap_lab.capture.host"
LAYERS = 3
ROUNDS = 9


def record() -> None:
    """Run the modes in turns on the CPU host target and write each one's median run, with what made it."""
    from overlap_lab.cli.demo_workload import BackwardLoop, Mode, Shape

    shape = Shape(seqlens=(512, 256, 384), heads=4, head_dim=64)
    loop = BackwardLoop(LAYERS, shape)
    loop.warm_up(tuple(Mode))
    runs = [{mode: loop.record(mode) for mode in Mode} for _ in range(ROUNDS)]
    entries = []
    for mode in Mode:
        median = sorted((run[mode] for run in runs), key=_window_ns)[ROUNDS // 2]
        path = median.write(HERE / f"fmha_bwd_{mode}.db", force=True)
        entries.append(
            {
                "file": path.name,
                "format": "rocpd schema 3",
                "tool": TOOL,
                "version": __version__,
                "device": "HIP host runtime (CPU): threads, not a GPU",
                "machine": f"{platform.machine()}, {_processor()}",
                "system": f"{platform.system()}, Python {platform.python_version()}, {_compiler()}",
                "command": "python traces/record.py",
                "what": f"FMHA backward, workspace={mode}, {LAYERS} layers of {shape}, median of {ROUNDS}",
                "sha256": _sha256(path),
                "bytes": path.stat().st_size,
                "licence": "MIT, recorded by this project",
            }
        )
    others = [entry for entry in json.loads(MANIFEST.read_text())["traces"] if entry["tool"] != TOOL]
    MANIFEST.write_text(json.dumps({"traces": [*entries, *others]}, indent=1) + "\n")


def golden_text(path: Path) -> str:
    """The report of one trace as it is kept: paths as they are in the repository."""
    document = json.loads(reports_to_json([analyze(load(path))]))
    document["source"]["files"] = [path.name]
    return json.dumps(document, indent=1) + "\n"


def write_golden() -> None:
    for entry in json.loads(MANIFEST.read_text())["traces"]:
        path = HERE / entry["file"]
        (HERE / "golden" / f"{report_name(path)}.json").write_text(golden_text(path))


def report_name(path: Path) -> str:
    """What the golden report of a trace is called."""
    return path.name.partition(".")[0]


def _window_ns(capture: HostCapture) -> int:
    ops = capture.recording.ops
    return max(op.end_ns for op in ops) - min(op.start_ns for op in ops)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown processor"


def _compiler() -> str:
    shown = subprocess.run(["c++", "--version"], capture_output=True, text=True, check=True)
    return shown.stdout.splitlines()[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--golden", action="store_true", help="only rewrite the golden reports")
    if not parser.parse_args().golden:
        record()
    write_golden()
