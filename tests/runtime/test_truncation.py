"""What goes out has a limit, to the byte, and stays JSON: results, errors, denials, texts, events."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from gen.assistant.toolsets import devices
from tests.agents.tools import agent as agent_of
from tests.agents.tools import answers, calling, running
from tests.runtime.tools import META, SITE, Listing, lists_much, much, nothing, runtime, spec
from tests.selection import first
from toolgen.agents import FinalResponse, PlanInput, ScriptedPlanner, agents_of
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.steps.result_encoding import error_document, issues_document, truncation_marker
from toolgen.contract.limits import truncate_text
from toolgen.engines import InProcessEngine
from toolgen.events.document import as_json
from toolgen.events.hub import Events
from toolgen.runtime import (
    Abort,
    ConfirmSpec,
    Continue,
    Deny,
    Hook,
    Limits,
    RegistrationError,
    RetryHint,
    ToolCall,
    ToolError,
    ToolOutcome,
    ToolResult,
    ToolValidationError,
)
from toolgen.runtime.functions import LongRunningSpec
from toolgen.shapes.issues import FieldIssue

TOOL = "assistant.devices.list_devices"
LEAST = Limits(result_bytes=100)
MUCH = 'é"\n' * 100_000
MANY = '{"devices":[],"returned":0,"truncated":false,"refinement_hint":"' + "x" * 1000 + '"}'
TEXTS = st.text(st.sampled_from('ab"\\é😀\n\x01'), max_size=300)
LIMITS = st.integers(100, 400)


@given(TEXTS, LIMITS)
def test_a_text_has_at_most_so_many_bytes(text: str, limit: int) -> None:
    shown = truncate_text(text, limit)
    assert len(shown.encode()) <= limit
    assert shown == text or (shown.endswith("…") and text.startswith(shown[:-1]))


@given(TEXTS, LIMITS, st.sampled_from(["", "artifact:session/s/rows?version=1"]))
def test_a_document_has_at_most_so_many_bytes_its_marker_included(text: str, limit: int, kept: str) -> None:
    document = json.dumps({"text": text}, ensure_ascii=False).encode()
    shown = truncation_marker(document, limit, kept)
    assert len(shown) <= limit
    if len(document) > limit:
        told = json.loads(shown)
        assert told.keys() - {"uri"} == {"truncated_by", "bytes", "shown", "beginning"}
        assert (told["bytes"], told["shown"]) == (len(document), len(told["beginning"].encode()))
        assert document.decode().startswith(told["beginning"])


@given(TEXTS, LIMITS, st.sampled_from(["", "denied", "approval_unavailable"]))
def test_an_error_has_at_most_so_many_bytes(text: str, limit: int, code: str) -> None:
    shown = error_document(text, limit, code=code)
    assert len(shown) <= limit
    told = json.loads(shown)
    assert told.get("code", "") == code
    assert told["error"] == text or text.startswith(told["error"].removesuffix("…"))


@given(
    st.text("x", max_size=64),
    LIMITS,
    st.lists(st.text("k", min_size=1, max_size=60), max_size=5),
    st.sampled_from([0, 7, 10**9]),
    st.booleans(),
    st.sampled_from([None, "{}", json.dumps({"example": "x" * 150})]),
)
def test_a_refusal_has_at_most_so_many_bytes(
    name: str, limit: int, keys: list[str], more: int, is_counted: bool, example: str | None
) -> None:
    issues = tuple(FieldIssue(keys=(key,), constraint="unknown_field", message="is unknown") for key in keys)
    error = ToolValidationError(issues, more, is_counted=is_counted)
    shown = issues_document(f"the arguments of {name} do not fit", limit, error, example)
    assert len(shown) <= limit
    told = json.loads(shown)
    left = told.get("more_issues" if is_counted else "more_issues_at_least", 0)
    assert len(told["issues"]) + left == len(keys) + more


def test_a_refusal_has_the_issues_that_its_error_has_now() -> None:
    with pytest.raises(ToolValidationError) as raised:
        spec().payload.decode({"site_id": 5})
    error = raised.value
    error.issues = (FieldIssue(keys=("site_id",), constraint="invalid_type", message="is no site"),)
    told = json.loads(issues_document("no", 1_000, error, None))
    assert [issue["message"] for issue in told["issues"]] == ["is no site"]


def failing(error: BaseException) -> Any:
    async def fails(payload: Any, ctx: Any) -> Any:
        raise error

    return fails


class Says(Hook):
    """Says the same before the call, after it, or of its error."""

    def __init__(self, where: str, verdict: Any) -> None:
        self.where = where
        self.verdict = verdict

    def at(self, where: str) -> Any:
        return self.verdict if where == self.where else Continue()

    async def before_tool(self, call: ToolCall, payload: Any, ctx: Any) -> Any:
        return self.at("before")

    async def after_tool(self, call: ToolCall, result: ToolResult, ctx: Any) -> Any:
        return self.at("after")

    async def on_tool_error(self, call: ToolCall, error: ToolError, ctx: Any) -> Any:
        return self.at("error")


class Forbids:
    """A policy."""

    async def decide(self, call: Any, spec: Any, preview: str) -> Any:
        return Deny(message=MUCH)


HINT = RetryHint(reason="rate_limited", tool=TOOL, message=MUCH, prior_input=MUCH)


@pytest.mark.parametrize(
    ("executor", "host"),
    [
        (failing(ToolError(MUCH)), {}),
        (failing(ToolError(MUCH, retry_hint=HINT)), {}),
        (failing(ToolError("short", cause=ToolError(MUCH))), {}),
        (failing(ValueError(MUCH)), {}),
        (None, {"policy": Forbids()}),
        (None, {"hooks": [Says("before", Deny(message=MUCH))]}),
        (None, {"hooks": [Says("before", Abort(error=ToolError(MUCH)))]}),
        (None, {"hooks": [Says("after", Deny(message=MUCH))]}),
        (None, {"hooks": [Says("after", Abort(error=ToolError(MUCH)))]}),
        (failing(ToolError("x")), {"hooks": [Says("error", Deny(message=MUCH))]}),
        (failing(ToolError("x")), {"hooks": [Says("error", Abort(error=ToolError(MUCH)))]}),
        (None, {"hooks": [Says("before", Deny(message="no")), Says("after", Deny(message=MUCH))]}),
    ],
)
async def test_every_failure_has_the_limit_of_a_result(executor: Any, host: dict[str, Any]) -> None:
    events = Events()
    told = events.subscribe()
    made = runtime(Listing(executor), limits=LEAST, events=events, **host)
    result = await made.call(TOOL, SITE, META)
    events.close()
    assert result.status in ("error", "denied")
    assert len(result.json) <= 100
    assert json.loads(result.json)["error"]
    if result.retry_hint is not None:
        assert len((result.retry_hint.message or "").encode()) <= 100
        assert len((result.retry_hint.prior_input or "").encode()) <= 100
    assert all(
        len(json.dumps(as_json(event), ensure_ascii=False)) < 1000 for event in [one async for one in told]
    )


@pytest.mark.parametrize("error", [None, ToolError(MUCH)])
async def test_a_raw_executor_has_the_limit_of_every_other(error: ToolError | None) -> None:
    async def serve(call: ToolCall, ctx: Any) -> ToolResult:
        return ToolResult(
            tool=call.tool, status="error" if error else "ok", result=much(), display=MUCH, error=error
        )

    result = await runtime(serve, limits=LEAST).call(TOOL, SITE, META)
    assert (result.status, len(result.json) <= 100) == ("error" if error else "ok", True)
    assert len(result.display.encode()) <= 100


async def test_refused_arguments_are_not_sent_back_whole() -> None:
    """An unknown key of a megabyte, and the document that has it."""
    made = runtime(Listing(), limits=Limits(result_bytes=1000))
    result = await made.call(TOOL, json.dumps({"k" * 1_000_000: 1}), META)
    told = json.loads(result.json)
    assert len(result.json) <= 1000
    assert any("…" in issue["path"] for issue in told["issues"])
    hint = result.retry_hint
    assert hint is not None
    assert hint.prior_input is not None
    assert (len(hint.prior_input.encode()), hint.prior_input[-1]) == (1000, "…")
    assert max(len(key) for issue in hint.issues for key in issue.keys if isinstance(key, str)) == 200
    assert len(json.loads((await made.call(TOOL, b"x" * 2**23, META)).json)["issues"]) == 1


async def test_what_takes_little_room_is_dropped_last() -> None:
    document = {f"x{number}": number for number in range(9)}
    made = replace(spec(), example=json.dumps({"site_id": "s" * 300}))
    whole = await runtime(Listing(), made).call(TOOL, document, META)
    short = await runtime(Listing(), made, limits=Limits(result_bytes=700)).call(TOOL, document, META)
    told, shown = json.loads(whole.json), json.loads(short.json)
    assert shown["error"] == told["error"]
    assert shown["issues"] == told["issues"][: len(shown["issues"])]
    assert len(shown["issues"]) + shown["more_issues"] == len(told["issues"]) == 10
    assert ("example" in told, "example" in shown) == (True, False)


async def test_a_text_for_people_and_an_acknowledgement_have_the_limit() -> None:
    async def shows(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.of(nothing(), display=MUCH)

    shown = await runtime(Listing(shows), limits=LEAST).call(TOOL, SITE, META)
    assert (len(shown.display.encode()) <= 100, shown.display[-1]) == (True, "…")
    hinted = spec(result_hint="x" * 1000)
    assert (
        len((await runtime(Listing(), hinted, limits=LEAST).call(TOOL, SITE, META)).display.encode()) == 100
    )

    async def starts(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.pending("job-7", devices.LIST_DEVICES.result.decode(json.loads(MANY)))

    long = spec(long_running=LongRunningSpec(ack=devices.LIST_DEVICES.result))
    made = runtime(Listing(starts), long, limits=LEAST, engine=InProcessEngine())
    result = await made.call(TOOL, SITE, META)
    assert (result.status, len(result.json) <= 100) == ("pending", True)
    assert json.loads(result.json)["bytes"] == len(MANY)


async def starts_silently(payload: Any, ctx: Any) -> Any:
    return ToolOutcome.pending("job-7")


@pytest.mark.parametrize(
    ("executor", "facts", "answer"),
    first(
        [
            (None, {"confirm": ConfirmSpec()}, {"approved": False, "message": MUCH}),
            (None, {"confirm": ConfirmSpec()}, None),
            (starts_silently, {"long_running": LongRunningSpec()}, {"error": MUCH}),
            (starts_silently, {"long_running": LongRunningSpec()}, json.loads(MANY)),
            (starts_silently, {"long_running": LongRunningSpec()}, None),
        ],
        2,
    ),
)
async def test_what_is_said_to_a_call_that_waits_has_the_limit(
    executor: Any, facts: dict[str, Any], answer: Any
) -> None:
    """A no, delivered work and its failure, a cancellation; and the same again."""
    made = runtime(Listing(executor), spec(**facts), limits=LEAST, engine=InProcessEngine())
    waits = await made.call(TOOL, SITE, META)
    assert waits.suspension is not None
    token = waits.suspension.token
    for _ in range(2):
        result = await (
            made.suspensions.cancel(token, MUCH) if answer is None else made.suspensions.answer(token, answer)
        )
        assert 40 < len(result.json) <= 100
        assert json.loads(result.json)


async def test_events_have_the_limit() -> None:
    async def tells(payload: Any, ctx: Any) -> Any:
        ctx.stream(MUCH)
        ctx.progress(0.5, MUCH)
        return ToolOutcome.of(nothing(), display=MUCH)

    events = Events()
    told = events.subscribe()
    made = runtime(Listing(tells), spec(call_hint="List " + "x" * 500), limits=LEAST, events=events)
    await made.call(TOOL, {"site_id": "s" * 1000}, META)
    await made.call("x" * 1000, {}, META)
    events.close()
    seen: dict[str, Any] = {event.type: as_json(event) async for event in told}
    assert seen["tool_start"]["arguments"]["truncated_by"] == "toolgen's size limit"
    assert seen.keys() == {"tool_start", "tool_output_delta", "tool_update", "tool_end"}
    for event in seen.values():
        texts = (event.pop("error", {}).get("message", ""), *event.values())
        for value in texts:
            assert len(value.encode() if isinstance(value, str) else to_json(value)) <= 100


async def test_a_run_tells_no_more_than_its_limit() -> None:
    async def wails() -> str:
        """Fail at length."""
        raise ToolError(MUCH, cause=ToolError(MUCH))

    def chatters(given: PlanInput) -> Any:
        given.reports.text(MUCH)
        given.reports.thought(MUCH)
        return calling(("wails", {"more": "x" * 1000}), "wails", "y" * 1000)

    planner = ScriptedPlanner([chatters, FinalResponse(text=MUCH)])
    agent = agent_of("x.agent", planner, function_toolset("x.sounds", [wails]))
    async with running(agent, limits=LEAST) as (made, _):
        output = await agents_of(made).client("x.agent").one_shot("Go.")
        events = await made.runs.events(output.run_id)
    assert all(len(answer.encode()) <= 100 for answer in answers(planner.inputs[1]))
    assert len(output.text.encode()) <= 100
    assert all(len(hint.message or "") <= 100 for hint in planner.inputs[1].retry_hints)
    for event in events:
        assert len(json.dumps(as_json(event), ensure_ascii=False).encode()) < 1000


async def test_a_limit_that_has_no_room_for_a_marker_is_refused_at_registration() -> None:
    with pytest.raises(RegistrationError, match="max_result_bytes=99; it must be at least 100"):
        runtime(Listing(), spec(max_result_bytes=99))
    made = runtime(Listing(lists_much), spec(max_result_bytes=100))
    assert len((await made.call(TOOL, SITE, META)).json) <= 100
    own = func_tool(lambda_of_much, max_result_bytes=100)
    plain = runtime(Listing())
    plain.tools.register(function_toolset("x.much", [own]))
    assert len((await plain.call("lambda_of_much", {})).json) <= 100


def lambda_of_much() -> str:
    """Say much."""
    return MUCH
