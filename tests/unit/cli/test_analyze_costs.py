"""`analyze` works out what devices' idle time costs only where a person reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from overlap_lab.render import costs
from tests.reference.command import ROOT, in_process

TRACE = ROOT / "tests" / "cases" / "data" / "01_item_sync_loop" / "trace.json"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The reports that costs were worked out for."""
    found: list[object] = []
    real = costs.costs_of

    def counted(report, context):
        found.append(report)
        return real(report, context)

    monkeypatch.setattr(costs, "costs_of", counted)
    return found


def test_json_on_standard_output_has_no_costs_to_find(asked: list[object]) -> None:
    code, out, err = in_process("analyze", TRACE, "--json", "-")
    assert (code, err, asked) == (0, "", [])
    assert '"device/idle"' in out


def test_what_a_person_reads_has_them_also_beside_a_json_file(asked: list[object], tmp_path: Path) -> None:
    code, out, _ = in_process("analyze", TRACE, "--json", tmp_path / "report.json")
    assert (code, len(asked)) == (0, 1)
    assert "costliest: " in out
