"""What is written by hand of the surface agrees with the runtime: events, outcomes, issues, documents."""

from __future__ import annotations

import json
import os
import re
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter

from tests.typescript.event_types import FILE, event_types
from toolgen.adapters.http import records
from toolgen.adapters.http.problems import PROBLEMS
from toolgen.calls.documents.types import (
    ArtifactDocument,
    BoundsDocument,
    CitationDocument,
    ErrorDocument,
    IssueDocument,
    ProviderDocument,
    RetryDocument,
    RunLinkDocument,
    TelemetryDocument,
)
from toolgen.calls.results import ToolStatus
from toolgen.calls.steps.result_encoding import truncation_marker
from toolgen.contract.names import RESERVED_CODES, ArtifactView
from toolgen.shapes.constraints import IssueCode
from toolgen.shapes.sensitive import MARKER

RECORDS = FILE.with_name("records.ts").read_text("utf-8")


def literals(after: str) -> set[str]:
    """Return the texts of the union that follows a declaration."""
    (found,) = re.findall(rf"{re.escape(after)}\s+([^;]*);", RECORDS)
    return set(re.findall(r'"([^"]*)"', found))


def test_events_are_those_of_their_records() -> None:
    if os.environ.get("UPDATE"):
        FILE.write_text(event_types(), "utf-8")
    assert FILE.read_text("utf-8") == event_types(), "`UPDATE=1 pytest tests/typescript` rewrites it"


def properties(name: str) -> dict[str, bool]:
    """Return the properties of an interface, with those that it extends, and whether each has to be there."""
    (found,) = re.findall(
        rf"^export interface {name}(?:<.*?>)?( extends \w+)? \{{\n(.*?)^\}}", RECORDS, re.M | re.S
    )
    base = properties(found[0].removeprefix(" extends ")) if found[0] else {}
    own = re.findall(r"^  (\w+)(\??):", found[1], re.MULTILINE)
    return base | {key: mark == "" for key, mark in own}


def served(record: Any) -> dict[str, bool]:
    """Return the same of a record of the surface."""
    schema = TypeAdapter(record).json_schema()
    schema = schema["$defs"][record.__name__] if "$defs" in schema and "$ref" in schema else schema
    return {key: key in schema.get("required", ()) for key in schema["properties"]}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("Issue", IssueDocument),
        ("Bounds", BoundsDocument),
        ("Citation", CitationDocument),
        ("Provider", ProviderDocument),
        ("Artifact", ArtifactDocument),
        ("AnyError", ErrorDocument),
        ("Retry", RetryDocument),
        ("RunLink", RunLinkDocument),
        ("Telemetry", TelemetryDocument),
        ("Suspension", records.Suspension),
        ("Answered", records.Answered),
        ("Grant", records.GrantRecord),
        ("Run", records.Run),
        ("Session", records.SessionRecord),
        ("ToolAnswer", records.MessageAnswer),
        ("Turn", records.TurnRecord),
    ],
)
def test_records_are_those_of_the_surface(name: str, record: Any) -> None:
    assert properties(name) == served(record)


def test_a_call_has_the_facts_of_the_surface_by_its_status() -> None:
    statuses = ("Ok", "Error", "Denied", "Pending", "Suspended", "Unknown", "Running")
    keys = {key for status in statuses for key in properties(f"{status}Call")}
    call = served(records.Call)
    assert keys == call.keys()
    facts = properties("CallFacts")
    assert facts == {key: is_there for key, is_there in call.items() if key in facts}


def test_problems_are_those_of_the_surface() -> None:
    text = FILE.with_name("surface.ts").read_text("utf-8")
    union = text.partition("export type ProblemName =")[2].partition(";")[0]
    assert set(re.findall(r'"([^"]*)"', union)) == set(PROBLEMS)


def test_words_are_those_of_the_runtime() -> None:
    assert literals("export type Status =") == set(get_args(ToolStatus))
    assert literals("  constraint:") == set(get_args(IssueCode))
    assert literals("  view?:") == set(get_args(ArtifactView))
    of_errors = RECORDS.partition("export interface OtherError")[2].partition("}")[0]
    assert set(re.findall(r'"([^"]*)"', of_errors)) == RESERVED_CODES


def test_documents_are_those_of_the_runtime() -> None:
    assert json.dumps(MARKER) == '{"sensitive": true}'
    assert "export interface Hidden {\n  sensitive: true;\n}" in RECORDS
    cut = json.loads(truncation_marker(b"9" * 2000, 1000, "artifact:x"))
    of_cut = RECORDS.partition("export interface Truncated")[2].partition("\n}")[0]
    assert set(re.findall(r"^  (\w+)\??:", of_cut, re.MULTILINE)) == set(cut)
    assert f'truncated_by: "{cut["truncated_by"]}";' in of_cut
    assert f'=== "{cut["truncated_by"]}"' in FILE.with_name("surface.ts").read_text("utf-8")
