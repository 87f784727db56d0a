"""The union of events: JSON both ways, and the schema that ships."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import get_args

import jsonschema
import pytest

from toolgen.events.document import as_json, event_schema, from_json
from toolgen.events.records import (
    AgentRunStarted,
    AnswerAccepted,
    ApprovalRequested,
    ArtifactSaved,
    AssistantReply,
    Event,
    EventsDropped,
    InputRequested,
    MemoryPreloaded,
    PlannerThought,
    PlanRetry,
    QuestionAsked,
    RunCompleted,
    RunPhase,
    RunStarted,
    RunStreamEnd,
    StateChanged,
    StateConflict,
    ToolArgsDelta,
    ToolAuthorization,
    ToolEnd,
    ToolOutputDelta,
    ToolsetDropped,
    ToolStart,
    ToolUpdate,
    Usage,
)

SHIPPED = json.loads(files("toolgen.events").joinpath("events-2.schema.json").read_text("utf-8"))

ONE_OF_EACH: tuple[Event, ...] = (
    RunStarted(agent="home.butler", seq=1, time=1.5, run_id="r", session_id="s", turn_id="t"),
    RunPhase(phase="planning"),
    ToolStart(tool="home.devices.find", name="find", arguments={"a": [1, None, "ü"]}, text="Finding"),
    ToolArgsDelta(name="find", delta='{"a'),
    ToolUpdate(tool="home.devices.find", fraction=0.5, message="half", value={"done": 1}),
    ToolOutputDelta(tool="home.devices.find", text="…"),
    ToolEnd(
        tool="home.devices.find",
        status="ok",
        result=[1],
        bounds={"returned": 1, "truncated": False},
        artifacts=[{"kind": "rows", "media_type": "", "size": 1, "digest": "", "uri": "artifact:rows/1"}],
        telemetry={"duration_s": 0.25},
    ),
    AgentRunStarted(tool="home.cook.run", agent="home.cook", child_run_id="r2"),
    QuestionAsked(suspension_id="s1", question="Which?", missing_fields=("$.room",)),
    ApprovalRequested(
        suspension_id="s1", question="Sure?", tool="a.b.c", answer_schema={"type": "object"}, expires_at=9.0
    ),
    InputRequested(
        suspension_id="s1",
        question="Sure?",
        tool="a.b.c",
        kind="input",
        answer_schema={"type": "string"},
        expires_at=9.0,
    ),
    AnswerAccepted(suspension_id="s1", kind="input", tool="a.b.c", answered_by="jo"),
    ToolAuthorization(tool="a.b.c", decision="denied", decided_by="policy", reason="not at night"),
    PlannerThought(text="hm"),
    PlanRetry(attempt=2, delay_s=1.5, reason="the provider did not answer (HTTP 529)"),
    AssistantReply(text="Done.", is_partial=True),
    Usage(model="m", input_tokens=1, output_tokens=2),
    StateChanged(tool="a.b.c", scope="session", key="room", operation="set"),
    StateConflict(scope="session", key="room", tool_call_ids=("c1", "c2"), applied_tool_call_id="c2"),
    ArtifactSaved(name="rows", version=1, media_type="application/json", size=3),
    MemoryPreloaded(count=3),
    ToolsetDropped(toolset="home.mcp", reason="it could not be listed"),
    EventsDropped(count=1, total=2),
    RunCompleted(status="failed", error="no"),
    RunStreamEnd(),
)


def test_there_is_one_of_each() -> None:
    assert [type(event) for event in ONE_OF_EACH] == list(get_args(Event))


@pytest.mark.exhaustive
@pytest.mark.parametrize("event", ONE_OF_EACH, ids=lambda event: str(event.type))
def test_an_event_comes_back_from_its_json(event: Event) -> None:
    document = json.loads(json.dumps(as_json(event), allow_nan=False))
    assert from_json(document) == event
    jsonschema.Draft202012Validator(SHIPPED).validate(document)


def test_the_schema_that_ships_is_that_of_the_types() -> None:
    anew = "write json.dumps(event_schema(), indent=2) and a newline to events-2.schema.json"
    assert event_schema() == SHIPPED, anew


def test_the_schema_refuses_other_formats_and_missing_fields() -> None:
    validator = jsonschema.Draft202012Validator(SHIPPED)
    document = as_json(RunStreamEnd())
    assert validator.is_valid(document)
    assert not validator.is_valid({**document, "format": 1})
    assert not validator.is_valid({key: value for key, value in document.items() if key != "seq"})


def test_a_field_of_a_newer_version_is_left_out() -> None:
    assert from_json({**as_json(RunStreamEnd()), "weather": "fine"}) == RunStreamEnd()


@pytest.mark.parametrize("change", [{"format": 1}, {"format": None}, {"type": "rain"}, {"seq": "many"}])
def test_what_is_no_event_of_this_format_raises(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"format|rain|seq"):
        from_json({**as_json(RunStreamEnd()), **change})


def test_infinite_numbers_become_null() -> None:
    assert as_json(ToolUpdate(tool="a.b.c", fraction=float("nan")))["fraction"] is None


def test_no_event_has_a_place_for_secrets() -> None:
    names = {name for event in get_args(Event) for name in event.__dataclass_fields__}
    assert not names & {
        "token",
        "credential",
        "credentials",
        "injected",
        "labels",
        "data",
        "payload",
    }
