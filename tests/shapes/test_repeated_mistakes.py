"""A mistake that a codec has seen is the same issue again; made-up names do not fill its memory."""

from __future__ import annotations

import json

import pytest
from pydantic_core import ErrorDetails, InitErrorDetails, ValidationError

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


def test_the_same_mistakes_together_are_the_same_findings() -> None:
    reader = IssueReader(CODEC.schema)
    both = [wrong("extra_forbidden", "x"), wrong("missing", "site_id")]
    once, again = reader.findings(both, 20), reader.findings(both, 20)
    assert (once.issues, reader.repeated(raised(*both), 20)) == (again.issues, again)
    assert again.as_bytes() is again.as_bytes()
    assert json.loads(b"{%b}" % again.as_bytes()) == {"issues": [issue.as_json() for issue in again.issues]}
    assert reader.repeated(raised(*both), 1) is None, "fewer issues were asked for"
    assert reader.findings(both, 1).more == 1


@pytest.mark.parametrize(
    "other",
    [
        [("missing", "site_id", 1), ("extra_forbidden", "x", 1)],
        [("extra_forbidden", "x", 1)],
        [("extra_forbidden", "x", "1"), ("missing", "site_id", 1)],
        [("extra_forbidden", "x", 1), ("string_pattern_mismatch", "site_id", 1)],
    ],
    ids=["in another order", "fewer", "of another value", "with one that is told by its value"],
)
def test_other_mistakes_are_no_known_ones(other: list[tuple[str, str, object]]) -> None:
    reader = IssueReader(CODEC.schema)
    both = [wrong("extra_forbidden", "x"), wrong("missing", "site_id")]
    for _ in range(2):
        reader.findings(both, 20)
    assert reader.repeated(raised(*(wrong(*error) for error in other)), 20) is None


def test_many_mistakes_are_not_read_for_what_is_known_of_few() -> None:
    reader = IssueReader(CODEC.schema)
    many = [wrong("extra_forbidden", f"x{number}") for number in range(21)]
    for _ in range(2):
        reader.findings(many, 50)
    assert reader.repeated(raised(*many), 50) is None


def test_documents_without_end_are_forgotten() -> None:
    reader = IssueReader(CODEC.schema)
    for number in range(300):
        for _ in range(2):
            reader.findings([wrong("extra_forbidden", f"x{number}")], 20)
    assert 0 < len(reader._findings_by_mistakes) <= 100


def test_long_findings_are_not_kept() -> None:
    """The issue of one unknown field lists 1,500 names, 23 KB: twenty of them a hundred times are 46 MB."""
    reader = IssueReader({"properties": {f"property_{number}": {} for number in range(1_500)}})
    one = [wrong("extra_forbidden", "x")]
    both = [*one, wrong("extra_forbidden", "y")]
    for errors in (one, both):
        first, again = reader.findings(errors, 20), reader.findings(errors, 20)
        assert first.as_bytes() == again.as_bytes()
    assert reader.repeated(raised(*one), 20) is not None
    assert reader.repeated(raised(*both), 20) is None


def wrong(kind: str, name: str, value: object = 1) -> ErrorDetails:
    return ErrorDetails(type=kind, loc=(name,), msg="", input=value)


def raised(*errors: ErrorDetails) -> ValidationError:
    """Return what pydantic raises for a document with these errors."""
    context = {"pattern": "^x$"}
    lines = [
        InitErrorDetails(type=error["type"], loc=error["loc"], input=error["input"], ctx=context)
        for error in errors
    ]
    return ValidationError.from_exception_data("Arguments", lines)
