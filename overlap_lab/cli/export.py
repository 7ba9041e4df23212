"""Write a trace for another program, with the waits, drains and idle time beside the recorded events.

  overlap-lab export trace.json.gz --to perfetto
  overlap-lab export results.db --to chrome -o trace.json.gz
  overlap-lab export run_folder --to parquet -o rows.parquet

Open Perfetto and Chrome files at ui.perfetto.dev, which reads them in the browser; chrome and arrow files are
read by overlap-lab again, with the same numbers.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from overlap_lab.cli.files import only_input, refuse_to_overwrite, say_written
from overlap_lab.cli.progress import waiting_for
from overlap_lab.export import TARGETS, export_trace, suffix_of

__all__ = ["prepare_parser", "run"]


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="TRACE", help="a trace file, or a folder with one trace")
    parser.add_argument("--to", required=True, choices=tuple(TARGETS), help="what to write")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the file to write; default: here, named as TRACE"
    )
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")


def run(arguments: argparse.Namespace) -> int:
    from overlap_lab.loaders import load

    found = only_input(arguments.path)
    target = arguments.output or _named_like(found.path, arguments.to)
    refuse_to_overwrite(target, force=arguments.force, inputs=[arguments.path])
    with waiting_for(found.files) as meter:
        trace = load(found)
        meter.now(f"writing {len(trace):,} rows of")
        written = export_trace(trace, target, to=arguments.to, force=arguments.force)
    say_written(written)
    return 0


def _named_like(path: Path, target: str) -> str:
    name = path.name
    for suffix in (".gz", ".zst", ".json", ".db", ".sqlite", ".csv"):
        name = name.removesuffix(suffix)
    return f"{name}.{target}{suffix_of(target)}" if target == "chrome" else f"{name}{suffix_of(target)}"
