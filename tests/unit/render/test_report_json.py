from __future__ import annotations

import json
from dataclasses import replace

import pytest

from overlap_lab.errors import BrokenTrace
from overlap_lab.render.json import reports_from_json, reports_to_json
from overlap_lab.report import SCHEMA, Better, Measurement
from tests.unit.render.made_report import made_report

REPORT = made_report()


def test_a_report_and_its_round_trip_are_one_value() -> None:
    assert reports_from_json(reports_to_json([REPORT]), where="x") == (REPORT,)


def test_several_reports_stand_in_a_list_under_one_schema() -> None:
    text = reports_to_json([REPORT, REPORT])
    assert json.loads(text).keys() == {"schema", "reports"}
    assert reports_from_json(text, where="x") == (REPORT, REPORT)


def test_one_report_has_the_keys_of_the_contract() -> None:
    plain = json.loads(reports_to_json([REPORT]))
    assert plain["schema"] == SCHEMA
    assert plain.keys() == {"schema", "source", "measurements", "tables", "findings"}
    measurement = plain["measurements"][0]
    assert measurement.keys() == {"tag", "scope", "value", "unit", "title", "better"}
    for table in plain["tables"].values():
        assert all(column.keys() == {"name", "unit"} for column in table["columns"])


def test_null_carries_its_reason_and_a_clock_fault_its_bounds() -> None:
    doubtful = Measurement("a", {}, 5, "ns", "A", Better.LOWER, low=3, high=9)
    missing = Measurement("b", {}, None, "ns", "B", Better.LOWER, reason="no host records")
    text = reports_to_json([replace(REPORT, measurements=(doubtful, missing))])
    first, second = json.loads(text)["measurements"]
    assert (first["low"], first["high"]) == (3, 9)
    assert (second["value"], second["reason"]) == (None, "no host records")
    assert reports_from_json(text, where="x")[0].measurements == (doubtful, missing)


def test_integers_stay_exact_beyond_what_a_float_holds() -> None:
    big = Measurement("a", {}, 2**60 + 1, "ns", "A", Better.LOWER)
    text = reports_to_json([replace(REPORT, measurements=(big,))])
    assert reports_from_json(text, where="x")[0].measurements[0].value == 2**60 + 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nonsense", "not a report"),
        ("[]", "schema is None"),
        ('{"schema": "overlap_lab.report/9"}', "report/9"),
        (json.dumps({"schema": SCHEMA}), "missing or broken"),
        (json.dumps({"schema": SCHEMA, "reports": [3]}), "missing or broken"),
    ],
)
def test_what_is_no_report_is_refused_with_the_files_name(text: str, says: str) -> None:
    with pytest.raises(BrokenTrace, match=says) as error:
        reports_from_json(text, where="saved.json")
    assert str(error.value).startswith("saved.json: ")


def broken(place: tuple[str | int, ...], value: object) -> str:
    plain = json.loads(reports_to_json([REPORT]))
    inner = plain
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return json.dumps(plain)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("measurements", 0, "value"), float("nan")),
        (("measurements", 0, "value"), float("inf")),
        (("measurements", 0, "value"), 10**400),
        (("measurements", 0, "value"), "5"),
        (("measurements", 0, "value"), True),
        (("measurements", 0, "low"), []),
        (("measurements", 0, "tag"), 3),
        (("measurements", 0, "title"), None),
        (("measurements", 0, "better"), "much"),
        (("measurements", 0, "scope"), {"device": [0]}),
        (("measurements", 0, "scope"), {"device": "0"}),
        (("measurements",), {}),
        (("source",), [["a", 1]]),
        (("tables", "waits", "rows", 0), [1]),
        (("tables", "waits", "rows", 0, 6), "soon"),
        (("tables", "waits", "columns", 0, "unit"), 3),
        (("findings", 0, "title"), 7),
        (("findings", 0, "evidence"), {"a": {}}),
    ],
)
def test_a_part_of_another_type_is_refused_at_the_door(place: tuple[str | int, ...], value: object) -> None:
    with pytest.raises(BrokenTrace, match=r"^saved\.json: "):
        reports_from_json(broken(place, value), where="saved.json")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_a_number_that_json_has_not_is_refused(number: str) -> None:
    text = reports_to_json([REPORT]).replace('"value": ', f'"value": {number}, "value_": ', 1)
    with pytest.raises(BrokenTrace):
        reports_from_json(text, where="saved.json")


def test_nesting_without_end_is_refused() -> None:
    with pytest.raises(BrokenTrace):
        reports_from_json('{"schema": ' + "[" * 100_000, where="saved.json")
