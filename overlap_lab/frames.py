"""Trace -> pandas, for people. Imported only when somebody asks for a frame."""

from __future__ import annotations

import numpy as np
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
        frame[name] = pd.Categorical.from_codes(frame[name].to_numpy(np.int64), labels)
    codes = trace.name.astype(np.int64)
    frame["name"] = pd.Categorical.from_codes(codes, list(trace.names))
    for name, absent in _ABSENT.items():
        frame[name] = frame[name].astype("Int64").mask(frame[name] == absent)
    return frame


