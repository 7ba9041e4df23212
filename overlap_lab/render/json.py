"""Report <-> JSON: the contract of `overlap-lab analyze ... --json -`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from overlap_lab.errors import BrokenTrace
from overlap_lab.render.saved import constant_in, report_in
from overlap_lab.report import SCHEMA, Finding, Measurement, Report, Table

__all__ = ["reports_from_json", "reports_to_json"]


def reports_to_json(reports: Sequence[Report]) -> str:
    """One report as one object; several as `{"schema": ..., "reports": [...]}`."""
    [*plain] = map(_plain_report, reports)
    whole = plain[0] if len(plain) == 1 else {"schema": SCHEMA, "reports": plain}
    return json.dumps(whole, indent=1, allow_nan=False)


def reports_from_json(text: str | bytes, *, where: str) -> tuple[Report, ...]:
    """The reports that `reports_to_json` wrote; `where` names the file in an error."""
    try:
        whole = json.loads(text, parse_constant=constant_in)
    except (ValueError, RecursionError) as error:
        raise BrokenTrace(f"{where}: not a report: {error}") from error
    schema = whole.get("schema") if isinstance(whole, dict) else None
    if schema != SCHEMA:
        raise BrokenTrace(f"{where}: not a report: schema is {schema!r}, this version reads {SCHEMA!r}")
    try:
        return tuple(report_in(one) for one in whole.get("reports", [whole]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BrokenTrace(f"{where}: a report with a missing or broken part: {error!r}") from error


def _plain_report(report: Report) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "source": dict(report.source),
        "measurements": [_plain_measurement(measurement) for measurement in report.measurements],
        "tables": {name: _plain_table(table) for name, table in report.tables.items()},
        "findings": [_plain_finding(finding) for finding in report.findings],
    }


def _plain_measurement(measurement: Measurement) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "tag": measurement.tag,
        "scope": dict(measurement.scope),
        "value": measurement.value,
        "unit": measurement.unit,
        "title": measurement.title,
        "better": measurement.better.value,
    }
    optional = {"reason": measurement.reason, "low": measurement.low, "high": measurement.high}
    return plain | {key: value for key, value in optional.items() if value is not None}


def _plain_table(table: Table) -> dict[str, Any]:
    return {
        "title": table.title,
        "columns": [{"name": column.name, "unit": column.unit} for column in table.columns],
        "rows": [list(row) for row in table.rows],
    }


def _plain_finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "title": finding.title,
        "scope": dict(finding.scope),
        "evidence": dict(finding.evidence),
    }
