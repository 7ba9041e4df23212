"""Interned names, repeated keys and columns: what one list of events becomes."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab._native import EventParser, State


def parsed(text: str) -> EventParser:
    parser = EventParser()
    assert parser.parse(text.encode(), last=True) == len(text.encode())
    assert parser.state == State.CLOSED
    return parser


def event(**changes: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 2, "ts": 3, "dur": 4, **changes}


@given(st.lists(st.text(max_size=30), max_size=60))
def test_each_distinct_name_is_kept_once(names: list[str]) -> None:
    parser = parsed(json.dumps([event(name=name) for name in names])[1:])
    codes = parser.columns()["name"].tolist()
    assert [parser.names()[code] for code in codes] == names
    assert len(parser.names()) == len(set(names))


def test_many_names_outgrow_the_first_table() -> None:
    names = [f"kernel<{n}>" * 3 for n in range(5000)]
    parser = parsed(json.dumps([event(name=name) for name in names])[1:])
    assert parser.names() == names


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        ('{"a":1,"a":2}', 1),
        ('{"a":1,"\\u0061":2}', 1),
        ('{"a":1,"b":{"x":1,"x":1},"c":{"x":1}}', 1),
        ('{"a":NaN,"a":1}', 1),
        ('{"a":{"b":[-Infinity]}}', 1),
        ('{"a":{},"b":[{},{}]}', 0),
    ],
)
def test_objects_with_repeated_keys_or_nan_are_counted(text: str, repaired: int) -> None:
    parser = parsed(f"{text},{text}]")
    assert (parser.events, parser.repaired) == (2, 2 * repaired)


def test_a_key_order_too_long_for_the_tree_is_still_checked() -> None:
    keys = [f"k{n}" for n in range(300)]
    plain = json.dumps(dict.fromkeys(keys, 0))
    assert parsed(f"{plain},{plain}]").repaired == 0
    assert parsed(plain[:-1] + ', "k3": 1}]').repaired == 1


def test_more_orders_than_the_tree_holds_are_still_checked() -> None:
    orders = [json.dumps({f"a{n}": 0, f"b{n}": {f"c{n}": 1}}) for n in range(30_000)]
    parser = parsed(",".join([*orders, '{"x":1,"name":"n","x":2}', json.dumps(event())]) + "]")
    assert parser.repaired == 1
    assert parser.names() == ["op"]


def test_odd_values_are_left_as_tokens() -> None:
    parser = parsed(
        json.dumps([event(pid="rank 7"), event(tid=None, ts=[1]), event(pid="rank 7", name=5)])[1:]
    )
    odd = {key: (rows.tolist(), tokens.tolist()) for key, (rows, tokens) in parser.odd().items()}
    tokens = parser.tokens()
    assert odd["process"][0] == [0, 2]
    assert [tokens[token] for token in odd["process"][1]] == ['"rank 7"', '"rank 7"']
    assert [tokens[odd[key][1][0]] for key in ("thread", "start", "name")] == ["null", "[1]", "5"]


def test_the_last_of_repeated_arguments_counts() -> None:
    first = '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"args":{"stream":3,"correlation":9},'
    parser = parsed(first + '"args":{"stream":4}}, ' + first + '"args":5}]')
    rows, streams = parser.sparse_columns()["stream"]
    assert (rows.tolist(), streams.tolist()) == ([0], [4])
    assert parser.columns()["correlation"].tolist() == [0, 0]


@pytest.mark.parametrize("key", ["pid", "tid", "ts", "dur", "name"])
def test_a_constant_in_place_of_a_number_is_its_own_text_and_not_the_last_events(key: str) -> None:
    """-Infinity once kept the end of what the event before had there: a length made of two texts."""
    before, after = json.dumps(event(**{key: "x" * 200})), json.dumps(event(**{key: -math.inf}))
    parser = parsed(f"{before},{after}]")
    assert parser.tokens()[-1] == "-Infinity"
