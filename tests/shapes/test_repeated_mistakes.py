"""A mistake that a codec has seen is the same issue again; made-up names do not fill its memory."""

from __future__ import annotations

import json

import pytest
from pydantic_core import ErrorDetails

from gen.assistant.toolsets.devices import LIST_DEVICES
from toolgen.runtime import ToolValidationError
from toolgen.shapes.design.issues import IssueReader
from toolgen.shapes.issues import FieldIssue

CODEC = LIST_DEVICES.payload


def issues_of(document: str) -> tuple[FieldIssue, ...]:
    with pytest.raises(ToolValidationError) as raised:
        CODEC.decode(document)
    return raised.value.issues


def test_the_same_mistake_is_the_same_issue() -> None:
    wrong = '{"site_id": 5, "limit": 900, "status": "lost", "other": 1}'
    first, again = issues_of(wrong), issues_of(wrong)
    assert first == again
    assert [issue.as_bytes() for issue in first] == [issue.as_bytes() for issue in again]
    assert [json.loads(issue.as_bytes()) for issue in first] == [issue.as_json() for issue in first]


def test_another_value_at_the_same_place_is_another_issue() -> None:
    actual = [issues_of(f'{{"site_id": {value}}}')[0].actual for value in ("5", "true", "[]", "null", "{}")]
    assert actual == ["integer", "boolean", "array", "null", "object"]


def test_names_without_end_are_forgotten() -> None:
    reader = IssueReader(CODEC.schema, most_known=5)

    def issue_of(name: str) -> FieldIssue:
        error = ErrorDetails(type="extra_forbidden", loc=(name,), msg="", input=1)
        (issue,) = reader.issues([error])
        assert issue.path == f"$.{name}"
        return issue

    first = issue_of("x")
    assert issue_of("x") is first
    for number in range(4):
        issue_of(f"x{number}")
    assert issue_of("x") is first
    issue_of("one_more")
    assert issue_of("x") is not first
