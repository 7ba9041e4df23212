"""Trace -> pandas, for people. Imported only when somebody asks for a frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from overlap_lab.schema import (
    ABSENT,
    ABSENT_DEVICE,
    ABSENT_PROCESS,
    Api,
    CopyKind,
    Kind,
    Memory,
)
from overlap_lab.trace import Trace, columns_of

__all__ = ["trace_frame"]

_WORDS = {"kind": Kind, "api": Api, "copy_kind": CopyKind, "memory": Memory}
_ABSENT = {
    "process": ABSENT_PROCESS,
    "device": ABSENT_DEVICE,
    "thread": ABSENT,
    "stream": ABSENT,
    "queue": ABSENT,
    "bytes": ABSENT,
    "graph": ABSENT,
}


def trace_frame(trace: Trace) -> pd.DataFrame:
    """See `Trace.to_pandas`."""
    frame = pd.DataFrame(columns_of(trace))
    for name, words in _WORDS.items():
        labels = [word.name.lower() for word in words]
        frame[name] = _categorical(getattr(trace, name), labels)
    frame["name"] = _categorical(trace.name, list(trace.names))
    for name, absent in _ABSENT.items():
        frame[name] = frame[name].astype("Int64").mask(frame[name] == absent)
    return frame


def _categorical(codes: npt.NDArray[Any], labels: list[str]) -> pd.Categorical[str]:
    return pd.Categorical.from_codes(codes.astype(np.int64).tolist(), pd.Index(labels, dtype=object))
