"""Arguments of AITER that mean something which is not built yet."""

from __future__ import annotations

from typing import Final

# What each argument must be, which is also its default at AITER.
_ACCEPTED: Final[dict[str, object]] = {
    "alibi_slopes": None,
    "bias": None,
    "block_table": None,
    "d_sink": None,
    "dbias": None,
    "dropout_p": 0.0,
    "gen": None,
    "how_v3_bf16_cvt": 1,
    "logits_soft_cap": 0.0,
    "min_seqlen_q": 0,
    "out": None,
    "return_attn_probs": False,
    "rng_state": None,
    "sink": None,
    "sink_ptr": None,
}

_BACKWARD: Final = ("dbias", "bias", "alibi_slopes", "rng_state", "gen", "sink", "d_sink")
"""The optional ones of the backward ops, in their order; sequences behind each other have no biases."""


def any_given(arguments: tuple[object, ...]) -> bool:
    """Whether one of them is not None. The quick question of calls that refuse by name only then."""
    return arguments.count(None) != len(arguments)


def refuse_unsupported(function: str, **arguments: object) -> None:
    """Raises NotImplementedError for the first argument that is not at its default."""
    for name, value in arguments.items():
        accepted = _ACCEPTED[name]
        if value is None if accepted is None else value == accepted:
            continue
        raise NotImplementedError(f"{function}: {name} is not supported yet; leave it at {accepted}")


def refuse_given(function: str, dropout_p: float, last: tuple[object, ...]) -> None:
    """The same for a backward op and its optional arguments: as many as it has, from the last."""
    names = _BACKWARD[-len(last) :]
    refuse_unsupported(function, dropout_p=dropout_p, **dict(zip(names, last, strict=True)))


def refuse_window(function: str, left: int, right: int, max_seqlen_k: int, *, causal: bool) -> None:
    """Raises NotImplementedError for a sliding window.

    A side that reaches over all keys is none, and a causal mask is right = 0 anyway.
    """
    left_open = left < 0 or left >= max_seqlen_k
    right_open = right < 0 or right >= max_seqlen_k or (causal and right == 0)
    if left_open and right_open:
        return
    raise NotImplementedError(
        f"{function}: a sliding window ({left}, {right}) is not supported yet; leave it at (-1, -1)"
    )
