"""What a stream has to do with the null stream."""

from __future__ import annotations

from enum import StrEnum


class StreamKind(StrEnum):
    BLOCKING = "blocking"  # follows the null stream, and the null stream follows it
    NON_BLOCKING = "non_blocking"  # knows nothing of the null stream
