"""Refusals of the same mistakes share what follows from them, and nothing of the arguments of a call."""

from __future__ import annotations

import json
import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from tests.runtime.tools import META, TOOL, Listing, runtime, spec
from toolgen.calls.steps.failures import invalid_arguments_result
from toolgen.runtime import CallMeta, RetryHint, Runtime, ToolResult, ToolSpec, ToolValidationError
from toolgen.shapes.issues import Findings

WRONG = [b'{"site_id": "s%d", "limit": %d}' % (number, 900 + number) for number in range(4)]
"""Documents with one and the same mistake; in another one the values are others."""
OTHER = b'{"limit": 900}'


def hint_of(result: ToolResult) -> RetryHint:
    assert result.retry_hint is not None
    return result.retry_hint


def error_of(of: ToolSpec[Any, Any], document: bytes) -> ToolValidationError:
    with pytest.raises(ToolValidationError) as raised:
        of.payload.decode(document)
    return raised.value


def findings_in(of: ToolSpec[Any, Any], document: bytes) -> Findings:
    """Return the findings of a document whose mistakes the codec has remembered."""
    errors = [error_of(of, document) for _ in range(3)]
    assert errors[-1]._findings is not None
    return errors[-1]._findings


async def refused(made: Runtime, document: bytes, name: str = TOOL) -> ToolResult:
    result = await made.call(name, document, META)
    assert result.status == "error"
    return result


async def test_each_refusal_has_the_arguments_of_its_own_call() -> None:
    made = runtime(Listing())
    results = [await refused(made, document) for document in WRONG]
    assert [hint_of(result).prior_input for result in results] == [document.decode() for document in WRONG]
    assert len({result.json for result in results}) == 1
    assert len({id(result.error) for result in results}) == len({id(hint_of(one)) for one in results}) == 4
    for result in results:
        assert result.error is not None
        assert result.error.retry_hint is result.retry_hint
        assert (str(result.error), result.error.args) == (hint_of(result).message, (hint_of(result).message,))
        assert (result.error.cause, result.error.correlation_id, result.error.is_retryable) == (
            None,
            None,
            False,
        )


async def test_a_refusal_of_known_mistakes_says_what_that_of_new_ones_does() -> None:
    one = spec()
    issues = error_of(one, WRONG[0]).issues
    new = invalid_arguments_result(one, ToolValidationError(issues), WRONG[0], META, 9_000)
    for _ in range(3):
        known = await refused(runtime(Listing(), one), WRONG[0])
        assert (known.json, known.retry_hint, str(known.error)) == (
            new.json,
            new.retry_hint,
            str(new.error),
        )


async def test_nobody_changes_the_issue_of_later_calls() -> None:
    made = runtime(Listing())
    (issue,) = hint_of(await refused(made, WRONG[0])).issues
    for name in ("message", "limit", "allowed"):
        with pytest.raises(FrozenInstanceError):
            setattr(issue, name, "other")
    assert hint_of(await refused(made, WRONG[1])).issues == (issue,)
    assert (issue.message, issue.limit, issue.allowed) == ("must be at most 100", 100, None)


async def test_other_mistakes_have_another_refusal() -> None:
    made = runtime(Listing())
    for _ in range(3):
        for document, path in ((WRONG[0], "$.limit"), (OTHER, "$.site_id")):
            assert json.loads((await refused(made, document)).json)["issues"][0]["path"] == path
    assert hint_of(await refused(made, OTHER)).missing_fields == ("$.site_id",)
    assert hint_of(await refused(made, WRONG[0])).clarifying_question is None


async def test_nothing_of_the_arguments_is_kept() -> None:
    one = spec()
    await refused(runtime(Listing(), one), b'{"site_id": "a-secret-site", "limit": 987654}')
    found = findings_in(one, WRONG[0])
    await refused(runtime(Listing(), one), b'{"site_id": "a-secret-site", "limit": 987654}')
    assert found.refusal
    for text in ("a-secret-site", "987654"):
        assert text not in repr(found.refusal)
        assert text.encode() not in pickle.dumps(found)


async def test_tools_with_one_codec_do_not_share_a_refusal() -> None:
    """Nor does a tool whose limit or example is another one."""
    one = spec()
    others = [
        one,
        replace(one, id="assistant.devices.find", name="find"),
        replace(one, example='{"site_id":"other"}'),
        replace(one, max_result_bytes=256),
    ]
    findings_in(one, WRONG[0])
    for _ in range(2):
        for other in others:
            limit = other.max_result_bytes or 9_000
            error = error_of(other, WRONG[0])
            result = invalid_arguments_result(other, error, WRONG[0], META, limit)
            new = ToolValidationError(error.issues)
            assert result.json == invalid_arguments_result(other, new, WRONG[0], META, limit).json
            assert len(result.json) <= limit
            hint = hint_of(result)
            assert (hint.tool, hint.example_input) == (other.id, other.example)
            assert other.name in str(hint.message)


async def test_a_message_of_the_host_is_in_its_own_refusal_alone() -> None:
    one = spec()
    findings_in(one, WRONG[0])
    for message in ("it has changed", "", "it has changed"):
        error, meta = error_of(one, WRONG[0]), CallMeta(tool_call_id="c9")
        result = invalid_arguments_result(one, error, WRONG[0], meta, 9_000, message=message)
        assert json.loads(result.json)["error"] == (message or "the arguments of list_devices do not fit")
        assert result.tool_call_id == "c9"


async def test_findings_that_are_cut_have_no_refusal_of_the_whole() -> None:
    one = spec()
    found = findings_in(one, WRONG[0])
    await refused(runtime(Listing(), one), WRONG[0])
    assert found.refusal
    assert replace(found, issues=()).refusal is False


async def test_an_error_can_be_pickled_after_a_call_was_refused_for_the_same() -> None:
    one = spec()
    findings_in(one, WRONG[0])
    await refused(runtime(Listing(), one), WRONG[0])
    error = error_of(one, WRONG[0])
    again = pickle.loads(pickle.dumps(error))
    assert (again.issues, again.more, str(again)) == (error.issues, 0, str(error))
