"""Every schema of the corpora: read, and its normal form against its contract on all instances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import jsonschema_rs
import pytest

from tests.conformance import corpora
from tests.schema_reader.reader import disagreement
from toolgen.shapes.foreign.counted_patterns import own_patterns
from toolgen.shapes.foreign.pattern_compiling import MOST_PARTS, parts_of
from toolgen.shapes.foreign.reader import read

LEAST_EXACT = {"tools_openapi_public": 0.94}
"""Share of schemas that types hold exactly; 0.98 for the others."""


def records(name: str) -> tuple[dict[str, Any], ...]:
    corpora.require()
    return corpora.lines(corpora.FOLDER / f"{name}.jsonl")


def instances(record: dict[str, Any], kind: str) -> Iterator[Any]:
    if kind == "input":
        yield from record["valid_args"]
        yield from (case["args"] for case in record.get("invalid_args", ()))
        yield {}
    else:
        yield from record.get("valid_outputs", ())
        yield from (call["result"] for call in record.get("calls", ()))
        yield from (None, {}, [], "", 1)


@pytest.mark.parametrize("name", ["bfcl", "mcp", "nestful", "openapi", "taubench"])
def test_the_normal_form_holds_what_real_schemas_say(name: str) -> None:
    name = f"tools_{name}_public"
    exact = total = 0
    for record in records(name):
        for kind, error in (("input", "schema_error"), ("output", "output_schema_error")):
            schema = record.get(f"{kind}_schema")
            if schema is None:
                continue
            reading = read(schema, name="Root", arguments=kind == "input")
            is_repaired = any(problem.is_repair for problem in reading.problems)
            assert (reading.foreign is None or is_repaired) == (error in record), record["id"]
            if reading.foreign is None:
                continue
            total += 1
            exact += reading.foreign.is_exact
            repaired = cast("dict[str, Any]", reading.schema)
            contract = jsonschema_rs.validator_for(repaired, validate_formats=False)
            for value in instances(record, kind):
                assert not disagreement(reading.foreign, contract, value), record["id"]
    assert exact / total >= LEAST_EXACT.get(name, 0.98)


def test_no_pattern_of_public_schemas_comes_near_the_budget_of_compiling() -> None:
    corpora.require()
    files = sorted(corpora.FOLDER.glob("*.jsonl"))
    patterns = {str(text) for file in files for line in corpora.lines(file) for text in patterns_in(line)}
    assert len(patterns) >= 40
    assert sum(map(parts_of, patterns)) * 10 < MOST_PARTS  # as if one schema had all of them


def patterns_in(value: Any) -> Iterator[str]:
    """Yield what may be a pattern of a schema in a value."""
    if isinstance(value, dict):
        yield from (text for text, _ in own_patterns(value))
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from patterns_in(part)


def test_the_normal_form_and_the_contract_agree_with_the_test_suite() -> None:
    for group in records("jsonschema_suite_2020_12_public"):
        if group["needs_remote"]:
            continue
        reading = read(group["schema"], name="Root")
        assert reading.foreign is not None, group["id"]
        contract = jsonschema_rs.Draft202012Validator(reading.foreign.schema, validate_formats=False)
        for case in group["tests"]:
            if not group["format_assertion"]:
                assert contract.is_valid(case["data"]) == case["valid"], group["id"]
            assert not disagreement(reading.foreign, contract, case["data"]), group["id"]
