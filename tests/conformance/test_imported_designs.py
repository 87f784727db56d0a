"""Tools of the corpora and schemas of the test suite, imported as designs: they accept what they accepted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from jsonschema_rs import Draft202012Validator

from tests.conformance import corpora
from tests.importers.designs import built, errors, imported, schemas, tool

FILES = ("tools_bfcl", "tools_mcp", "tools_nestful", "tools_openapi", "tools_taubench")


def corpus(name: str) -> tuple[dict[str, Any], ...]:
    corpora.require()
    return corpora.lines(corpora.FOLDER / f"{name}_public.jsonl")


def instances(record: dict[str, Any], side: str) -> list[Any]:
    """Return what a record holds of good and bad values of its arguments or its result."""
    calls = record.get("calls") or []
    if side == "input_schema":
        bad = [each["args"] for each in record.get("invalid_args") or []]
        return [{}, *(record.get("valid_args") or []), *bad, *(each["args"] for each in calls)]
    return [{}, [], None, *(record.get("valid_outputs") or []), *(each["result"] for each in calls)]


@pytest.mark.volume
@pytest.mark.parametrize("name", FILES)
def test_tools_of_the_corpora_build_and_accept_what_they_accepted(name: str, tmp_path: Path) -> None:
    records = corpora.part(corpus(name))
    found = imported(
        *(
            tool(
                record["name"],
                record["input_schema"],
                description=record.get("description") or "",
                result=record.get("output_schema"),
                title=record.get("title") or "",
            )
            for record in records
        )
    )
    assert [finding for finding in found.findings if not finding.is_warning] == []
    assert found.imported == len(records)
    evaluation = built(found, tmp_path)
    assert errors(evaluation) == []
    assert evaluation.design is not None
    exported = schemas(evaluation)
    tools = evaluation.design.services[0].toolsets[0].tools
    sides = (("payload", "input_schema", "schema_error"), ("result", "output_schema", "output_schema_error"))
    for each, record in zip(tools, records, strict=True):
        for part, side, error in sides:
            if record.get(side) is None or record.get(error):  # what is no schema is repaired
                continue
            written = Draft202012Validator(exported[each.name][part]["schema"], validate_formats=False)
            original = jsonschema_rs.validator_for(record[side], validate_formats=False)
            for instance in instances(record, side):
                assert written.is_valid(instance) == original.is_valid(instance), (each.name, instance)


HIDING = {
    "const: nul characters in strings",
    "dependentSchemas: dependencies with escaped characters",
    "properties: properties with escaped characters",
}
"""Groups of the test suite whose names or values nobody sees as they are; no other corpus has any."""


def test_schemas_of_the_test_suite_build_and_accept_what_they_accepted(tmp_path: Path) -> None:
    groups = [group for group in corpus("jsonschema_suite_2020_12") if not group["needs_remote"]]
    found = imported(
        *(tool(f"group_{index}", {}, result=group["schema"]) for index, group in enumerate(groups))
    )
    refused = {finding.tool for finding in found.findings if finding.code == "import-unsafe"}
    assert found.imported == len(groups) - len(refused)
    assert {groups[int(name.removeprefix("group_"))]["name"] for name in refused} == HIDING
    evaluation = built(found, tmp_path)
    assert errors(evaluation) == []
    for name, each in schemas(evaluation).items():
        group = groups[int(name.removeprefix("group_"))]
        written = Draft202012Validator(each["result"]["schema"], validate_formats=False)
        original = Draft202012Validator(group["schema"], validate_formats=False)
        for test in group["tests"]:
            assert written.is_valid(test["data"]) == original.is_valid(test["data"]), group["id"]
