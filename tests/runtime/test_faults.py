"""Every stage may fail: each call still has one result, its siblings finish, and nothing internal is told."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from gen.assistant.toolsets import devices
from tests.runtime.clock import HOUR, LoopClock
from tests.runtime.tools import META, SITE, Listing, nothing, runtime, spec
from tests.selection import diagonal
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.runtime import (
    Abort,
    Allow,
    BoundTool,
    ConfirmSpec,
    Continue,
    Hook,
    Runtime,
    Scheduling,
    ToolCall,
    ToolError,
    ToolOutcome,
    ToolsetRegistration,
)
from toolgen.runtime.functions import ArtifactSpec, Codec

TOOL = "assistant.devices.list_devices"
BAD = b'{"site_id": "bad"}'
Fault = Callable[[], Any]


def raises() -> Any:
    raise RuntimeError("secret of /srv/secret.py")


def exits() -> Any:
    raise SystemExit("secret")


def cancels() -> Any:
    raise asyncio.CancelledError("secret")


def returns_nonsense() -> Any:
    return object()


FAULTS = [raises, exits, cancels, returns_nonsense]


class Faulty:
    """Stands in every stage of a call, and has its fault in one, for one site."""

    name = "state"

    def __init__(self, stage: str, fault: Fault) -> None:
        self._stage = stage
        self._fault = fault

    def at(self, stage: str, site: str, otherwise: Any) -> Any:
        return self._fault() if stage == self._stage and site == "bad" else otherwise

    async def decide(self, call: Any, spec: Any, preview: str) -> Any:
        return self.at("policy", call.payload.site_id, Allow())

    def preview_list_devices(self, payload: Any) -> Any:
        return self.at("preview", payload.site_id, "fine")

    async def list_devices(self, payload: Any, ctx: Any) -> Any:
        assert ctx.state is not None
        return self.at("execute", payload.site_id, nothing())

    def open(self, call: Any) -> Any:
        return self.at("capability", "bad" if call.meta.tool_call_id == "bad" else "", object())

    async def close(self, opened: Any) -> None:
        self.at("settle", "bad", None)


class FaultyHook(Hook):
    def __init__(self, faulty: Faulty) -> None:
        self._faulty = faulty

    async def before_tool(self, call: ToolCall, payload: Any, ctx: Any) -> Any:
        return self._faulty.at("before", payload.site_id, Continue())

    async def after_tool(self, call: ToolCall, result: Any, ctx: Any) -> Any:
        site = "bad" if call.payload_json == BAD else ""
        return self._faulty.at("after", site, Continue())


def faulty_runtime(stage: str, fault: Fault) -> Runtime:
    faulty = Faulty(stage, fault)
    made = Runtime(
        hooks=[FaultyHook(faulty)],
        policy=faulty,
        capabilities=[faulty],
        engine=InProcessEngine(),
    )
    made.tools.register(ToolsetRegistration(name="assistant.devices", specs=[spec()], executor=faulty))
    return made


STAGES = ["before", "policy", "preview", "execute", "capability", "after"]


@pytest.mark.parametrize(("stage", "fault"), diagonal(STAGES, FAULTS))
async def test_a_stage_that_fails_fails_one_call(stage: str, fault: Fault) -> None:
    made = faulty_runtime(stage, fault)
    calls = [
        ToolCall(tool=TOOL, payload_json=site, meta=dataclasses.replace(META, tool_call_id=name))
        for name, site in (("a", SITE), ("bad", BAD), ("c", SITE))
    ]
    first, failed, third = await made.call_all(calls)
    assert (first.status, third.status) == ("ok", "ok")
    harmless = fault is returns_nonsense and stage in ("preview", "capability")
    assert failed.status == ("ok" if harmless else "error")
    assert b"secret" not in failed.json
    assert failed.tool_call_id == "bad"


@pytest.mark.parametrize(
    "stage", ["before_tool", "after_tool", "on_tool_error", "decide", "preview", "execute"]
)
async def test_a_stage_that_hangs_ends_its_call_in_time(stage: str) -> None:
    began = asyncio.Event()

    async def hangs() -> Any:
        began.set()
        await asyncio.Event().wait()

    class Hanging(Hook):
        async def before_tool(self, call: ToolCall, payload: Any, ctx: Any) -> Any:
            return await hangs() if stage == "before_tool" else Continue()

        async def after_tool(self, call: ToolCall, result: Any, ctx: Any) -> Any:
            return await hangs() if stage == "after_tool" else Continue()

        async def on_tool_error(self, call: ToolCall, error: Any, ctx: Any) -> Any:
            return await hangs() if stage == "on_tool_error" else Continue()

        async def decide(self, call: Any, spec: Any, preview: str) -> Any:
            return await hangs() if stage == "decide" else Allow()

        async def preview_list_devices(self, payload: Any) -> Any:
            return await hangs() if stage == "preview" else ""

        async def list_devices(self, payload: Any, ctx: Any) -> Any:
            if stage == "on_tool_error":
                raises()
            return await hangs() if stage == "execute" else nothing()

    host = Hanging()
    made = Runtime(
        hooks=[host], policy=host, scheduling=Scheduling(stage_timeout_s=HOUR, tool_timeout_s=HOUR)
    )
    made.tools.register(ToolsetRegistration(name="assistant.devices", specs=[spec()], executor=host))
    async with LoopClock() as clock:
        running = asyncio.create_task(made.call(TOOL, SITE, META))
        await began.wait()
        await clock.advance(HOUR)
        assert (await running).status == "error"


async def test_a_capability_that_does_not_settle_leaves_the_results(caplog: pytest.LogCaptureFixture) -> None:
    result = await faulty_runtime("settle", raises).call(TOOL, SITE, META)
    assert result.status == "ok"
    assert "failed to commit" in caplog.text


async def test_a_call_that_is_larger_than_the_engine_keeps_says_so() -> None:
    executor, confirmed = Listing(), spec(confirm=ConfirmSpec())
    hub = Events()
    subscription = hub.subscribe()
    made = runtime(executor, confirmed, engine=InProcessEngine(max_payload_bytes=300), events=hub)
    result = await made.call(TOOL, SITE, META)
    assert (result.status, executor.calls, result.suspension) == ("error", [], None)
    said = "list_devices cannot wait for an answer: it needs [0-9]+ bytes of JSON, .* stores at most 300"
    assert re.fullmatch(said, json.loads(result.json)["error"])
    assert result.retry_hint is not None
    assert result.retry_hint.reason == "invalid_arguments"
    assert await made.suspensions.list() == ()
    hub.close()
    assert [event.type async for event in subscription] == ["tool_start", "tool_end"]


async def test_an_undeclared_artifact_is_the_executors_fault() -> None:
    async def leaves(payload: Any, ctx: Any) -> Any:
        codec: Codec[Any] = devices.LIST_DEVICES.result
        return ToolOutcome.of(nothing(), artifacts=[ArtifactSpec("extra", codec).of(nothing())])

    made = Runtime()
    made.tools.register(
        ToolsetRegistration(name="assistant.devices", specs=[spec()], executor=Listing(leaves))
    )
    result = await made.call(TOOL, SITE, META)
    assert result.retry_hint is not None
    assert result.retry_hint.reason == "malformed_response"


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_thread_that_fails_fails_one_call(fault: Fault) -> None:
    class Blocking:
        def list_devices(self, payload: Any, ctx: Any) -> Any:
            return fault()

    made = Runtime()
    made.tools.register(ToolsetRegistration(name="assistant.devices", specs=[spec()], executor=Blocking()))
    assert (await made.call(TOOL, SITE, META)).status == "error"


async def test_a_tool_of_a_snapshot_fails_as_any_other() -> None:
    class Dynamic:
        name = "other"

        async def tools(self, context: Any) -> Any:
            return [BoundTool(spec=spec(), execute=Listing(raising).list_devices)]

    async def raising(payload: Any, ctx: Any) -> Any:
        raises()

    made = Runtime()
    made.tools.add_toolset(Dynamic())
    snapshot = await made.tools.snapshot()
    result = await snapshot.call(TOOL, SITE, META)
    assert result.status == "error"
    assert b"secret" not in result.json


class Says(Hook):
    """A hook that answers every failure with what a test gives it."""

    def __init__(self, verdict: Any) -> None:
        self._verdict = verdict

    async def on_tool_error(self, call: Any, error: Any, ctx: Any) -> Any:
        return self._verdict


WRONG: Any = 5
"""What a type checker would refuse, and a dictionary of somebody else's service may hold."""


async def test_a_hook_that_aborts_with_no_tool_error_fails_the_call() -> None:
    async def fails(payload: Any, ctx: Any) -> Any:
        raise ToolError("no")

    result = await runtime(Listing(fails), hooks=[Says(Abort(error=WRONG))]).call(TOOL, SITE, META)
    assert result.status == "error"
    assert b"the arguments were valid" in result.json


@pytest.mark.parametrize("cause", ["broken", ValueError("broken")])
async def test_a_cause_that_is_no_tool_error_is_left_out(cause: Any) -> None:
    class Lists:
        async def list_devices(self, payload: Any, ctx: Any) -> Any:
            raise ToolError("no", cause=cause)

    events = Events()
    async with events.subscribe() as told:
        result = await runtime(Lists(), events=events).call(TOOL, SITE, META)
    assert json.loads(result.json) == {"error": "no"}
    assert [event.error async for event in told if event.type == "tool_end"] == [{"message": "no"}]
