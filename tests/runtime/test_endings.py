"""However a call ends: its hooks see it, its result has a limit, and one `tool_end` says so."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from gen.assistant.toolsets import devices
from tests.runtime.tools import EMPTY, META, SITE, Listing, much, nothing, runtime, spec
from toolgen.capabilities import ArtifactsCapability, MemoryArtifactStore
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.events.records import Event
from toolgen.runtime import (
    Abort,
    Answer,
    ConfirmSpec,
    Continue,
    Deny,
    Hook,
    Limits,
    Runtime,
    ToolCall,
    ToolError,
    ToolOutcome,
    ToolResult,
)
from toolgen.runtime.functions import LongRunningSpec

TOOL = "assistant.devices.list_devices"
CONFIRMED = spec(confirm=ConfirmSpec())
LONG = spec(long_running=LongRunningSpec(ack=devices.LIST_DEVICES.result))
SILENT = spec(long_running=LongRunningSpec())


async def starts(payload: Any, ctx: Any) -> Any:
    return ToolOutcome.pending("job-7", nothing())


async def starts_silently(payload: Any, ctx: Any) -> Any:
    return ToolOutcome.pending("job-7")


async def needs_mail(payload: Any, ctx: Any) -> Any:
    return ToolOutcome.need_credential({"provider": "mail"})


async def fails(payload: Any, ctx: Any) -> Any:
    raise ToolError("the site is down")


class Hears(Hook):
    """Notes every result that it sees after a call."""

    def __init__(self, says: Any = None) -> None:
        self.seen: list[tuple[str, bytes]] = []
        self.says = says

    async def after_tool(self, call: ToolCall, result: ToolResult, ctx: Any) -> Any:
        self.seen.append((result.status, call.payload_json))
        said = self.says
        if isinstance(said, BaseException):
            raise said
        return Continue() if said is None else said


async def token_of(made: Runtime) -> str:
    result = await made.call(TOOL, SITE, META)
    assert result.suspension is not None
    return result.suspension.token


WAYS = [
    pytest.param(CONFIRMED, None, {"approved": False}, "denied", id="denied"),
    pytest.param(spec(), needs_mail, {"available": False}, "error", id="no credential"),
    pytest.param(SILENT, starts_silently, EMPTY, "ok", id="delivered"),
    pytest.param(LONG, starts, EMPTY, "ok", id="delivered after an acknowledgement"),
    pytest.param(LONG, starts, {"error": "cut"}, "error", id="failed elsewhere"),
    pytest.param(CONFIRMED, None, {"approved": True}, "ok", id="approved"),
]


@pytest.mark.parametrize(("made_of", "does", "answer", "status"), WAYS)
async def test_hooks_see_how_a_suspended_call_ends(made_of: Any, does: Any, answer: Any, status: str) -> None:
    hook = Hears()
    made = runtime(Listing(does), made_of, engine=InProcessEngine(), hooks=[hook])
    token = await token_of(made)
    assert [seen for seen, _ in hook.seen] == (["pending"] if made_of is LONG else [])
    hook.seen.clear()
    result = await made.suspensions.answer(token, answer)
    assert result.status == status
    ((seen, payload),) = hook.seen
    assert (seen, json.loads(payload)) == (status, {"site_id": "s1", "limit": 20})


@pytest.mark.parametrize(("made_of", "does", "answer", "status"), WAYS)
async def test_a_suspended_call_ends_with_one_event(
    made_of: Any, does: Any, answer: Any, status: str
) -> None:
    events = Events()
    told = events.subscribe(types=["tool_end"])
    made = runtime(Listing(does), made_of, engine=InProcessEngine(), events=events)
    token = await token_of(made)
    first = len(await told.batch())
    await made.suspensions.answer(token, answer)
    events.close()
    ends: list[Event] = [event async for event in told]
    assert (first, [event.status for event in ends if event.type == "tool_end"]) == (1, [status])
    assert {event.tool_call_id for event in ends} == {"c1"}


async def test_an_answer_counts_though_who_gave_it_does_not_wait() -> None:
    class Slow(Hook):
        async def after_tool(self, call: ToolCall, result: ToolResult, ctx: Any) -> Any:
            if result.status == "suspended":
                return Continue()
            reached.set()
            await go_on.wait()
            return Continue()

    events, reached, go_on = Events(), asyncio.Event(), asyncio.Event()
    made = runtime(Listing(), CONFIRMED, engine=InProcessEngine(), hooks=[Slow()], events=events)
    token = await token_of(made)
    told = events.subscribe(types=["tool_end"])
    task = asyncio.create_task(made.suspensions.answer(token, {"approved": False}))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    assert (await made.suspensions.answer(token, {"approved": False})).status == "denied"
    events.close()
    assert [event.type async for event in told] == ["tool_end"]


async def test_an_unknown_tool_ends_with_an_event_too() -> None:
    events = Events()
    told = events.subscribe()
    made = runtime(Listing(), events=events)
    await made.call("no_tool", SITE, META)
    await made.call_all([ToolCall(tool="no_tool", payload_json=SITE, meta=META)])
    events.close()
    seen = [event async for event in told]
    assert [(event.type, event.tool_call_id, event.seq) for event in seen] == [
        ("tool_end", "c1", 1),
        ("tool_end", "c1", 2),
    ]
    assert all(event.type == "tool_end" and event.tool == "no_tool" and event.error for event in seen)


class Answers(Hook):
    """Answers at one of the three places."""

    def __init__(self, where: str) -> None:
        self.where = where

    def at(self, where: str) -> Any:
        return Answer(result=much()) if where == self.where else Continue()

    async def before_tool(self, call: ToolCall, payload: Any, ctx: Any) -> Any:
        return self.at("before")

    async def after_tool(self, call: ToolCall, result: ToolResult, ctx: Any) -> Any:
        return self.at("after")

    async def on_tool_error(self, call: ToolCall, error: ToolError, ctx: Any) -> Any:
        return self.at("error")


@pytest.mark.parametrize("where", ["before", "after", "error"])
async def test_the_answer_of_a_hook_has_the_limit_of_every_result(where: str) -> None:
    failing = fails if where in ("after", "error") else None
    made = runtime(Listing(failing), hooks=[Answers(where)], limits=Limits(result_bytes=100))
    result = await made.call(TOOL, SITE, META)
    told = json.loads(result.json)
    assert (result.status, told["bytes"], told["beginning"][:5]) == ("ok", 246, '{"dev')
    assert len(result.json) <= 100


async def test_what_is_delivered_has_the_limit_of_every_result() -> None:
    """And is kept whole as an artifact."""
    events = Events()
    told = events.subscribe(types=["artifact_saved"])
    made = runtime(
        Listing(starts_silently),
        SILENT,
        engine=InProcessEngine(),
        capabilities=[ArtifactsCapability(MemoryArtifactStore())],
        events=events,
        limits=Limits(result_bytes=245),
    )
    result = await made.suspensions.answer(
        await token_of(made), json.loads(devices.LIST_DEVICES.result.encode(much()))
    )
    assert (json.loads(result.json)["bytes"], result.result.returned) == (246, 0)
    assert json.loads(result.json)["uri"].startswith("artifact:session/s/list_devices")
    events.close()
    assert len([event async for event in told]) == 1


@pytest.mark.parametrize(
    "said",
    [
        Answer(result=nothing()),
        Abort(error=ToolError("never mind")),
        ValueError("secret"),
        ToolError("never mind"),
        "yes",
    ],
)
async def test_a_denial_stands_whatever_a_later_hook_says(
    said: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Denies(Hook):
        async def before_tool(self, call: ToolCall, payload: Any, ctx: Any) -> Any:
            return Deny(message="not on Sundays")

    executor = Listing()
    result = await runtime(executor, hooks=[Denies(), Hears(said)]).call(TOOL, SITE, META)
    assert (result.status, executor.calls) == ("denied", [])
    assert result.json == b'{"error":"not on Sundays","code":"denied"}'
    assert TOOL in caplog.text


async def test_the_no_of_a_person_stands_too_and_may_be_put_in_other_words() -> None:
    made = runtime(Listing(), CONFIRMED, engine=InProcessEngine(), hooks=[Hears(Answer(result=nothing()))])
    assert (await made.suspensions.answer(await token_of(made), {"approved": False})).status == "denied"
    alone = runtime(Listing(), CONFIRMED, hooks=[Hears(Deny(message="ask Ann"))])
    result = await alone.call(TOOL, SITE, META)
    assert json.loads(result.json) == {"error": "ask Ann", "code": "approval_unavailable"}


async def test_a_hook_after_one_that_denies_cannot_take_it_back() -> None:
    hooks = [Hears(Deny(message="not for you")), Hears(Answer(result=nothing()))]
    result = await runtime(Listing(), hooks=hooks).call(TOOL, SITE, META)
    assert (result.status, result.error and result.error.message) == ("denied", "not for you")
