"""Findings as SARIF 2.1.0, which code hosts show beside the lines of a change."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any, Final

from toolgen.contract.findings import Code, Finding, Place, shown
from toolgen.contract.json_value import Json
from toolgen.contract.printable import printable, visible

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_log(findings: Sequence[Finding], codes: Iterable[Code]) -> dict[str, Any]:
    """Return a log of one run, with the rules that the findings name."""
    used = {finding.code for finding in findings}
    rules = [
        {"id": code.name, "shortDescription": {"text": code.explanation}}
        for code in codes
        if code.name in used
    ]
    driver = {"name": "toolgen", "informationUri": "https://pypi.org/project/toolgen/", "rules": rules}
    results = [_result(finding) for finding in findings]
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def sarif_text(findings: Sequence[Finding], codes: Iterable[Code] = ()) -> str:
    """Return the log as JSON."""
    return json.dumps(sarif_log(findings, codes), ensure_ascii=False, indent=1)


def _result(finding: Finding) -> dict[str, object]:
    hint = f" To do: {finding.hint}." if finding.hint else ""
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": finding.severity,
        "message": {"text": visible(f"{finding.message}{hint}")},
    }
    if finding.place.file:
        result["locations"] = [_location(finding.place)]
    related = [
        _location(each.place) | {"message": {"text": visible(each.message)}} for each in finding.related
    ]
    return {**result, "relatedLocations": related} if related else result


def _location(place: Place) -> dict[str, Json]:
    uri = shown(place.file, os.getcwd()).replace(os.sep, "/")
    physical: dict[str, Json] = {"artifactLocation": {"uri": printable(uri)}}
    if place.line:
        physical["region"] = {"startLine": place.line, "startColumn": place.column}
    return {"physicalLocation": physical}
