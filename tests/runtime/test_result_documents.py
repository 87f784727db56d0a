"""The one JSON form of a result: what is written is read back, whatever the result is."""

from __future__ import annotations

from dataclasses import fields
from random import Random
from typing import Any, Final

import pytest
from pydantic_core import from_json, to_json

from toolgen.agents.activities.call_records import call_record
from toolgen.calls.call import NO_META, CallMeta
from toolgen.calls.content import AudioContent, Content, ImageContent, ResourceContent, TextContent
from toolgen.calls.documents.results import ref_document, ref_of, result_document, result_of
from toolgen.calls.errors import (
    DeclaredError,
    NotBegunError,
    OutcomeUnknownError,
    RetryHint,
    ToolError,
    causes_of,
)
from toolgen.calls.results import ArtifactRef, RunLink, Telemetry, ToolResult
from toolgen.contract.bounds import Bounds
from toolgen.engines.in_process.journal import encode
from toolgen.events.document import FORMAT, as_json
from toolgen.events.event_reporter import EventReporter
from toolgen.events.records import Event
from toolgen.events.redaction import public_document
from toolgen.shapes.issues import FieldIssue, keys_of_path
from toolgen.waiting.call_results import outcome_of

STATUSES: Final = ("ok", "error", "denied", "pending", "suspended", "unknown", "running")
TEXTS: Final = (
    "",
    "a",
    "device_id",
    "0",
    "a.b",
    'say "x"',
    "[0]",
    "\\",
    "naïve",
    "日本",
    "\n\t\u2028",
    "ok",
    "null",
)
ODD: Final = (
    b'{"a": 1}',
    b"1.0e5",
    b'"\\u0041"',
    b"[1,\n2]",
    b"9" * 5_000,
    b"[" * 300 + b"]" * 300,
    b"[" * 195 + b"]" * 195,
    b"1e999",
)
"""What the codec of a host writes: JSON that is not canonical, or that no journal keeps as a value."""


class Some:
    """Makes random parts of results."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def one(self, *of: Any) -> Any:
        return self._random.choice(of)

    def text(self) -> str:
        return str(self.one(*TEXTS))

    def many(self, make: Any) -> tuple[Any, ...]:
        return tuple(make() for _ in range(self._random.randrange(3)))

    def maybe(self, make: Any) -> Any:
        return make() if self._random.random() < 0.5 else None

    def value(self, depth: int = 3) -> Any:
        """Return a JSON value."""
        match self._random.randrange(8 if depth else 6):
            case 6:
                return [self.value(depth - 1) for _ in range(self._random.randrange(3))]
            case 7:
                return {self.text(): self.value(depth - 1) for _ in range(self._random.randrange(3))}
        return self.one(None, True, 0, -7, 2**70, 0.1, 1e300, 5e-324, self.text())

    def document(self) -> bytes:
        return to_json(self.value())

    def keys(self) -> tuple[int | str, ...]:
        return self.many(lambda: self.one(self.text(), 0, 12))

    def issue(self) -> FieldIssue:
        return FieldIssue(
            keys=self.keys(),
            constraint=self.one("invalid_type", "missing_field", "invalid_value"),
            message=self.text(),
            expected=self.maybe(self.text),
            actual=self.maybe(self.text),
            allowed=self.maybe(lambda: self.many(self.value)),
            limit=self.one(None, 0, 1.5, "2026-01-01"),
        )

    def block(self) -> Content:
        data = self.one(b"", b"\x00\xff", b"x" * 100)
        facts = {"size": self.one(None, 0, 9), "data": data, "description": self.text()}
        return self.one(  # type: ignore[no-any-return]  # of these
            TextContent(text=self.text()),
            ImageContent(data=data, media_type=self.text()),
            AudioContent(data=data, media_type=self.text()),
            ResourceContent(uri=self.text(), name=self.text(), media_type=self.text(), **facts),
        )

    def hint(self) -> RetryHint:
        return RetryHint(
            reason=self.one("invalid_arguments", "missing_fields", "tool_unavailable", "timeout"),
            tool=self.text(),
            restrict_to_tool=self.one(True, False),
            missing_fields=self.many(self.text),
            issues=self.many(self.issue),
            more_issues=self.one(0, 3),
            example_input=self.maybe(lambda: self.one(self.document(), b"{cut", *ODD).decode()),
            prior_input=self.maybe(self.text),
            clarifying_question=self.maybe(self.text),
            message=self.maybe(self.text),
            retry_after=self.one(None, 0.0, 2.5),
        )

    def error(self, status: str) -> ToolError:
        message = self.text()
        error = ToolError(message)
        match self.one("declared", "not begun", "other") if status == "error" else status:
            case "declared":
                details = self.one(b"", self.document(), *ODD)
                error = DeclaredError(message, code=self.text(), details_json=details)
            case "not begun":
                error = NotBegunError("x", "")
                error.message, error.code = message, self.one("busy", "deadlock", "closed")
            case "unknown":
                error = OutcomeUnknownError(message)
        for cause in self.many(self.text):
            error.cause = ToolError(cause, cause=error.cause)
        error.correlation_id, error.is_retryable = self.maybe(self.text), self.one(True, False)
        error.retry_hint = self.maybe(self.hint)
        return error

    def bounds(self) -> Bounds:
        return Bounds(
            returned=self.one(0, 5),
            truncated=self.one(True, False),
            total=self.one(None, 0, 9),
            refinement_hint=self.maybe(self.text),
            next_cursor=self.maybe(self.text),
        )

    def result(self, status: Any) -> ToolResult:
        result = ToolResult(
            tool=self.text(),
            status=status,
            tool_call_id=self.text(),
            json=self.one(self.document(), *ODD) if status in ("ok", "pending") else b"",
            bounds=self.maybe(self.bounds),
            warnings=self.many(self.issue),
            content=self.many(self.block),
            display=self.text(),
            is_final=self.one(True, False),
            run_link=self.maybe(
                lambda: RunLink(
                    run_id=self.text(),
                    agent=self.text(),
                    parent_run_id=self.text(),
                    parent_tool_call_id=self.text(),
                )
            ),
            telemetry=self.maybe(
                lambda: Telemetry(
                    duration_s=self.one(0.0, 1.5), model=self.text(), input_tokens=self.one(0, 7)
                )
            ),
        )
        if result.run_link is not None:
            result.children_count = self.one(0, 4)  # type: ignore[misc]  # not seen yet
        if status in ("error", "denied", "unknown"):
            error = self.error(status)
            seen = {"unknown" if status == "unknown" else "error": error.message}
            result.error, result.retry_hint, result.json = error, error.retry_hint, to_json(seen)  # type: ignore[misc]  # not seen yet
        return result


def facts_of(error: ToolError | None) -> list[Any]:
    """Return what the document of an error holds, of it and of its causes."""
    names = ("message", "code", "details_json", "retry_hint", "correlation_id", "is_retryable")
    errors = () if error is None else (error, *causes_of(error))
    return [(type(each), [getattr(each, name, None) for name in names]) for each in errors]


@pytest.mark.parametrize("status", STATUSES)
def test_a_result_is_read_back_as_it_was_written(status: str) -> None:
    for seed in range(150):
        result = Some(seed).result(status)
        document = result_document(result)
        encode({"events": [{"of": [document]}]}, "a result")  # as a journal keeps it
        again = result_of(document)
        for field in fields(ToolResult):
            if field.name != "error":
                assert getattr(again, field.name) == getattr(result, field.name), (seed, field.name)
        assert facts_of(again.error) == facts_of(result.error), seed
        assert result_document(again) == document, seed


class Kept:
    """Keeps the events of calls."""

    is_idle = False

    def __init__(self) -> None:
        self.recorded: list[dict[str, Any]] = []

    def emit(self, event: Event, meta: CallMeta = NO_META) -> None:
        self.recorded.append(as_json(event))


@pytest.mark.parametrize("status", STATUSES)
def test_whoever_shows_a_result_has_the_same_document(status: str) -> None:
    """The journals of calls and of agents, clients and subscribers, as far as each has it."""
    call: Any = {"id": "c-1", "name": "n"}
    for seed in range(100):
        result = Some(seed).result(status)
        document: Any = result_document(result)
        events = Kept()
        kept: Any = Kept()
        assert outcome_of(result, kept) == {**document, "events": []}, seed
        assert call_record(result, call, None, kept, 10**6) == {**document, "events": []}, seed
        EventReporter(events, 10**6).emit_tool_end(result, NO_META)
        encode(events.recorded, "an event")
        if "json" in document:  # it is read, or not, as it is shown
            continue
        for name in ("prior_input", "details_json", "example_input"):
            document.pop(name, None)
        assert public_document(result, None) == document, seed
        document.pop("content", None)
        (event,) = events.recorded
        of_event = {"format": FORMAT, "type": "tool_end"}
        shown = {name: value for name, value in event.items() if value or name in document}
        assert shown == of_event | document, seed


def test_details_that_are_too_long_for_the_model_are_in_the_journal_of_the_call_alone() -> None:
    error = DeclaredError("no", code="c", details_json=to_json("x" * 1_000))
    result = ToolResult(tool="t", status="error", json=b'{"error":"no"}', error=error)
    events, call = Kept(), {"id": "c-1", "name": "n"}
    EventReporter(events, 1_000).emit_tool_end(result, NO_META)
    record = call_record(result, call, None, Kept(), 1_000)  # type: ignore[arg-type]  # of these
    assert [each.get("error") for each in (*events.recorded, record)] == [{"message": "no", "code": "c"}] * 2
    assert result_of(result_document(result)).error.details_json == error.details_json  # type: ignore[union-attr]


def test_the_keys_of_an_issue_are_read_from_its_path() -> None:
    for seed in range(300):
        issue = Some(seed).issue()
        assert keys_of_path(issue.path) == issue.keys, seed


def test_a_reference_to_an_artifact_is_read_back() -> None:
    for seed in range(50):
        some = Some(seed)
        names = ("kind", "uri", "media_type", "digest", "not_stored_reason")
        data = some.one("", some.document().decode())
        ref = ArtifactRef(**{name: some.text() for name in names}, size=some.one(0, 7), json=data)
        assert ref_of(from_json(to_json(ref_document(ref)))) == ref, seed


@pytest.mark.parametrize("document", [b"1" + b"0" * 5_000, b"[" * 230 + b"]" * 230])
def test_clients_get_the_text_of_what_no_journal_keeps_as_a_value(document: bytes) -> None:
    shown = public_document(ToolResult(tool="t", status="ok", json=document), None)
    assert shown["result"] == document.decode()
