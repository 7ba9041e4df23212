"""Names in advice that differ between AMD and NVIDIA: a trace's reader needs those of its own device."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["vendor_words"]

_EITHER: Final = re.compile(r"\{([^{}|]*)\|([^{}|]*)\}")


def vendor_words(words: str, vendor: object) -> str:
    """The words with one name of each pair `{AMD|NVIDIA}`, with both where the vendor is not known.

    >>> vendor_words("a graph ({hipGraph|torch.cuda.graphs})", "amd")
    'a graph (hipGraph)'
    >>> vendor_words("a graph ({hipGraph|torch.cuda.graphs})", "host")
    'a graph (hipGraph / torch.cuda.graphs)'
    """
    kept = {"amd": r"\1", "nvidia": r"\2"}.get(str(vendor), r"\1 / \2")
    return _EITHER.sub(kept, words)
