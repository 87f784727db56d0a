"""What is written by hand of the surface agrees with the runtime: events, outcomes, issues, documents."""

from __future__ import annotations

import json
import os
import re
from typing import get_args

from tests.typescript.event_types import FILE, event_types
from toolgen.calls.results import ToolStatus
from toolgen.calls.steps.result_encoding import truncate_document
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


def test_words_are_those_of_the_runtime() -> None:
    assert literals("export type Outcome =") == set(get_args(ToolStatus))
    assert literals("  constraint:") == set(get_args(IssueCode))
    assert literals("  view?:") == set(get_args(ArtifactView))
    of_errors = RECORDS.partition("export interface OtherError")[2].partition("}")[0]
    assert set(re.findall(r'"([^"]*)"', of_errors)) == RESERVED_CODES


def test_documents_are_those_of_the_runtime() -> None:
    assert json.dumps(MARKER) == '{"sensitive": true}'
    assert "export interface Hidden {\n  sensitive: true;\n}" in RECORDS
    cut = json.loads(truncate_document(b"9" * 2000, 1000, "artifact:x"))
    of_cut = RECORDS.partition("export interface Truncated")[2].partition("\n}")[0]
    assert set(re.findall(r"^  (\w+)\??:", of_cut, re.MULTILINE)) == set(cut)
    assert f'truncated_by: "{cut["truncated_by"]}";' in of_cut
    assert f'=== "{cut["truncated_by"]}"' in FILE.with_name("surface.ts").read_text("utf-8")
