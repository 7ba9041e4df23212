"""Which captures are repeated: those given, else real ones beside the project, else the project's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scripts.bench.own_kineto import DIALECTS, write_kineto
from scripts.bench.own_tables import write_nsys, write_rocprof_csv, write_rocprof_json
from scripts.bench.repeated_json import kineto_copies, repeat_kineto

__all__ = ["ROOT", "Captures", "find_captures"]

ROOT: Final = Path(__file__).resolve().parents[2]
SAMPLES: Final = ROOT.parent / "shared" / "samples"
_OWN_ROWS: Final = 2000
_KINETO: Final = (
    "kineto_nvidia/tracelens_h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
    "kineto_amd/tracelens_xdit_flux1_aiter_sage_rank_0.json.gz",
    "kineto_nvidia/hta_trace_diff_control.json.gz",
    "kineto_amd/tracelens_sglang_Qwen3-8B_prefilldecode.json.gz",
)
_SMALL: Final = "kineto_nvidia/tracelens_h100_gaunernst_bert-small-uncased__1016001.json.gz"
Make = Callable[[], Path]
_CSV: Final = ("decode_hip_api_trace.csv", "decode_kernel_trace.csv", "prefill_kernel_trace.csv")


@dataclass(frozen=True)
class Captures:
    """The files that each subject repeats."""

    kineto: tuple[Path, ...]
    small: Path
    """Plain Kineto text of about 1 MB: what grows from there on, and what processes warm up with."""
    csv: tuple[Path, ...]
    rocprof: Path
    rocpd: Path
    nsys: Path


def find_captures(given: Sequence[Path], folder: Path) -> Captures:
    """The captures; those that the project makes itself are written into the folder."""
    own = folder / "own"
    own.mkdir(parents=True, exist_ok=True)
    samples = SAMPLES / "rocprofv3_csv" / "llama_gfx1151_ruv"
    tables = tuple(samples / name for name in _CSV)
    real = tuple(SAMPLES / name for name in _KINETO)
    return Captures(
        kineto=tuple(given) or (real if all(map(Path.exists, real)) else _own_kineto(own)),
        small=_plain(_or_own(SAMPLES / _SMALL, lambda: _own_kineto(own)[0]), own),
        csv=tables if all(map(Path.exists, tables)) else tuple(write_rocprof_csv(own, _OWN_ROWS)),
        rocprof=_or_own(SAMPLES / "rocprofv3_json/tracelens_908_results.json.gz", lambda: _own_rocprof(own)),
        rocpd=_or_own(
            SAMPLES / "rocpd_db/hgliu_batched_gemm_28_results.db", lambda: ROOT / "traces/fmha_bwd_async.db"
        ),
        nsys=_or_own(SAMPLES / "nsys_sqlite/nsys-ai_mfu_2gpu_before.sqlite", lambda: _own_nsys(own)),
    )


def _or_own(sample: Path, own: Make) -> Path:
    return sample if sample.exists() else own()


def _plain(capture: Path, folder: Path) -> Path:
    path = folder / "small.json"
    repeat_kineto(capture, path, kineto_copies(capture, 1_000_000))
    return path


def _own_kineto(folder: Path) -> tuple[Path, ...]:
    for name, dialect in DIALECTS.items():
        write_kineto(dialect, folder / f"kineto_{name}.json")
    return tuple(folder / f"kineto_{name}.json" for name in DIALECTS)


def _own_rocprof(folder: Path) -> Path:
    write_rocprof_json(folder / "4001_results.json", _OWN_ROWS)
    return folder / "4001_results.json"


def _own_nsys(folder: Path) -> Path:
    path = folder / "run.sqlite"
    if not path.exists():
        write_nsys(path, _OWN_ROWS)
    return path
