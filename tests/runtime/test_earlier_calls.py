"""Answers to calls that were frozen by an earlier process: of tools that changed, went away or came back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gen.assistant.toolsets import devices
from tests.runtime.earlier import RUN, earlier
from tests.runtime.tools import EMPTY, META, SITE, Listing, nothing, runtime, spec, waiting
from toolgen.contract.names import Hint
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.events.records import ApprovalRequested
from toolgen.runtime import BoundTool, ConfirmSpec, Runtime, ToolOutcome
from toolgen.runtime.functions import LongRunningSpec
from toolgen.waiting.errors import ConflictingAnswerError, LateAnswerError, MissingToolError

TOOL = "assistant.devices.list_devices"
CONFIRMED = spec(confirm=ConfirmSpec())
DESTRUCTIVE: dict[Hint, bool] = {"destructive": True, "read_only": False}
READS = replace(CONFIRMED, annotations={"read_only": True})
YES: dict[str, Any] = {"approved": True}
CHANGED = "the tool has changed since the question was asked"


async def test_an_approval_of_a_tool_that_is_the_same_runs_it(engine: InProcessEngine) -> None:
    executor = Listing()
    made = runtime(executor, CONFIRMED, engine=engine)
    asked = await earlier(made, engine, CONFIRMED)
    assert (await made.suspensions.answer(asked.token, YES)).status == "ok"
    assert [payload.site_id for payload in executor.calls] == ["s1"]


async def test_a_tool_that_became_destructive_is_asked_about_again(engine: InProcessEngine) -> None:
    """Whoever approved it, or the policy that asked, took it for another one."""
    executor, events = Listing(), Events()
    made = runtime(executor, replace(READS, annotations=DESTRUCTIVE), engine=engine, events=events)
    asked = await earlier(made, engine, READS)
    told = events.subscribe(types=["approval_requested"])
    again = await made.suspensions.answer(asked.token, YES)
    assert (again.status, executor.calls) == ("suspended", [])
    renewed = waiting(again)
    assert (renewed.reason, renewed.question, renewed.arguments) == (CHANGED, "Sure?", asked.arguments)
    assert renewed.token != asked.token
    assert await made.suspensions.list("s") == (renewed,)
    assert (await made.suspensions.answer(renewed.token, YES)).status == "ok"
    events.close()
    (event,) = [event async for event in told]
    assert isinstance(event, ApprovalRequested)
    assert (event.reason, event.suspension_id) == (CHANGED, renewed.id)


async def test_the_same_answer_again_gives_the_question_that_is_open_now(engine: InProcessEngine) -> None:
    executor = Listing()
    made = runtime(executor, replace(READS, annotations=DESTRUCTIVE), engine=engine)
    asked = await earlier(made, engine, READS)
    first, again = [waiting(await made.suspensions.answer(asked.token, YES)) for _ in range(2)]
    assert (first, executor.calls) == (again, [])


UNFIT = "has changed since the question was asked, and the arguments no longer fit; it was not run"


@pytest.mark.parametrize("answer", [YES, {"approved": False}])
async def test_a_tool_that_the_arguments_do_not_fit_any_more_is_not_asked_about_again(
    engine: InProcessEngine, answer: Any
) -> None:
    """Nobody says yes to a call that can only fail."""
    executor = Listing()
    made = runtime(executor, replace(CONFIRMED, payload=devices.GET_TIME_SERIES.payload), engine=engine)
    asked = await earlier(made, engine, CONFIRMED)
    result = await made.suspensions.answer(asked.token, answer)
    assert (result.status, executor.calls, await made.suspensions.list()) == ("error", [], ())
    seen = json.loads(result.json)
    assert seen["error"] == f"list_devices {UNFIT}"
    assert "device_id" in str(seen["issues"])
    assert result.retry_hint is not None
    assert (result.retry_hint.reason, result.retry_hint.message) == ("invalid_arguments", seen["error"])
    assert (await made.suspensions.answer(asked.token, answer)).json == result.json
    with pytest.raises(ConflictingAnswerError):
        await made.suspensions.answer(asked.token, {"approved": True, "message": "do it"})


async def test_a_question_of_an_executor_ends_likewise(engine: InProcessEngine) -> None:
    executor = Listing()
    made = runtime(executor, replace(spec(), payload=devices.GET_TIME_SERIES.payload), engine=engine)
    asked = await earlier(made, engine, spec(), kind="input", answer_schema={"type": "string"})
    result = await made.suspensions.answer(asked.token, "because")
    assert (result.status, executor.calls) == ("error", [])
    assert UNFIT.encode() in result.json


async def test_a_tool_with_another_result_is_asked_about_again(engine: InProcessEngine) -> None:
    executor = Listing()
    made = runtime(executor, replace(CONFIRMED, result=devices.GET_TIME_SERIES.result), engine=engine)
    asked = await earlier(made, engine, CONFIRMED)
    again = waiting(await made.suspensions.answer(asked.token, YES))
    assert (again.reason, executor.calls) == (CHANGED, [])


async def test_an_approval_is_asked_for_in_the_form_of_now(engine: InProcessEngine) -> None:
    """One that has to add something adds it for the tool as it is now."""
    adds = spec(confirm=ConfirmSpec(payload=devices.LIST_DEVICES.payload))
    made = runtime(Listing(), adds, engine=engine)
    asked = await earlier(made, engine, CONFIRMED)
    again = waiting(await made.suspensions.answer(asked.token, YES))
    assert "payload" not in asked.answer_schema["properties"]
    assert "payload" in again.answer_schema["properties"]


async def test_a_question_of_a_tool_that_became_destructive_is_asked_again(engine: InProcessEngine) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        return nothing() if ctx.answer else ToolOutcome.ask("Why?")

    executor = Listing(asks)
    made = runtime(executor, spec(annotations=DESTRUCTIVE), engine=engine)
    asked = await earlier(made, engine, spec(), kind="input", answer_schema={"type": "string"})
    again = waiting(await made.suspensions.answer(asked.token, "because"))
    assert (again.kind, again.reason, again.answer_schema) == ("input", CHANGED, {"type": "string"})
    assert executor.calls == []
    assert (await made.suspensions.answer(again.token, "because")).status == "ok"


async def test_a_call_of_a_tool_that_changed_can_be_taken_back(engine: InProcessEngine) -> None:
    executor = Listing()
    made = runtime(executor, replace(READS, annotations=DESTRUCTIVE), engine=engine)
    asked = await earlier(made, engine, READS)
    assert (await made.suspensions.cancel(asked.token)).status == "denied"
    assert (executor.calls, await made.suspensions.list()) == ([], ())


async def test_work_that_goes_on_is_delivered_whatever_its_tool_has_become(engine: InProcessEngine) -> None:
    before = spec(long_running=LongRunningSpec())
    made = runtime(Listing(), replace(before, annotations=DESTRUCTIVE), engine=engine)
    asked = await earlier(made, engine, before, kind="pending", handle="job-7")
    assert (await made.suspensions.answer(asked.token, EMPTY)).status == "ok"


async def test_another_wording_changes_no_approval(engine: InProcessEngine) -> None:
    reworded = replace(CONFIRMED, description="List them.", confirm=ConfirmSpec(hint="All of {site_id}?"))
    made = runtime(Listing(), reworded, engine=engine)
    asked = await earlier(made, engine, CONFIRMED)
    assert (await made.suspensions.answer(asked.token, YES)).status == "ok"


class Coming:
    """A dynamic toolset of one tool, which is there or not."""

    name = "other"

    def __init__(self, executor: Listing, *, is_there: bool) -> None:
        self.is_there = is_there
        self.tool = BoundTool(spec=CONFIRMED, execute=executor.list_devices)

    async def tools(self, context: Any) -> Any:
        return [self.tool] if self.is_there else []


async def test_a_call_of_a_tool_that_is_not_here_waits_on(engine: InProcessEngine) -> None:
    executor = Listing()
    coming = Coming(executor, is_there=False)
    made = Runtime(engine=engine)
    made.tools.add_toolset(coming)
    asked = await earlier(made, engine, CONFIRMED)
    with pytest.raises(MissingToolError, match="the call is still suspended"):
        await made.suspensions.answer(asked.token, YES)
    assert await made.suspensions.list("s") == (asked,)
    coming.is_there = True
    assert (await made.suspensions.answer(asked.token, YES)).status == "ok"
    assert len(executor.calls) == 1


async def test_a_call_of_a_tool_that_is_not_here_is_answered_with_a_snapshot(engine: InProcessEngine) -> None:
    """Which the request of who answers has listed, for itself alone."""
    executor = Listing()
    coming = Coming(executor, is_there=True)
    made = Runtime(engine=engine)
    made.tools.add_toolset(coming)
    snapshot = await made.tools.snapshot()
    coming.is_there = False
    asked = await earlier(made, engine, CONFIRMED)
    with pytest.raises(MissingToolError):
        await made.suspensions.answer(asked.token, YES)
    assert (await snapshot.suspensions.answer(asked.token, YES)).status == "ok"


async def test_a_call_of_a_tool_that_is_not_here_can_be_taken_back(engine: InProcessEngine) -> None:
    made = runtime(Listing(), replace(CONFIRMED, id="assistant.devices.other", name="other"), engine=engine)
    asked = await earlier(made, engine, CONFIRMED)
    result = await made.suspensions.cancel(asked.token, "it is gone")
    assert (result.status, result.json) == ("denied", b'{"error":"it is gone","code":"canceled"}')
    assert await made.suspensions.list() == ()


async def test_where_there_are_no_tools_at_all_the_tool_is_missed_when_it_is_executed(
    engine: InProcessEngine,
) -> None:
    """As in a process that only answers; there it is asked again, for whoever has the tool."""
    made = Runtime(engine=engine)
    asked = await earlier(made, engine, CONFIRMED)
    again = waiting(await made.suspensions.answer(asked.token, YES))
    assert again.reason == "the tool was not registered when the answer arrived"
    assert await made.suspensions.list() == (again,)


async def test_a_call_whose_time_was_over_while_nobody_executed_is_late(engine: InProcessEngine) -> None:
    made = runtime(Listing(), CONFIRMED, engine=engine)
    asked = await earlier(made, engine, CONFIRMED)
    await engine.cancel(RUN, reason="too old")
    with pytest.raises(LateAnswerError):
        await made.suspensions.answer(asked.token, YES)


async def test_a_tool_that_is_listed_otherwise_since_is_asked_about_again(engine: InProcessEngine) -> None:
    """In the process that made the call too, whose snapshot had the tool as it was."""
    executor = Listing()
    coming = Coming(executor, is_there=True)
    coming.tool = BoundTool(spec=READS, execute=executor.list_devices)
    async with Runtime(engine=engine) as made:
        made.tools.add_toolset(coming)
        asked = waiting(await made.call(READS.name, SITE, META, within=await made.tools.snapshot()))
        coming.tool = BoundTool(spec=replace(READS, annotations=DESTRUCTIVE), execute=executor.list_devices)
        again = waiting(await made.suspensions.answer(asked.token, YES))
        assert (again.reason, executor.calls) == (CHANGED, [])
        assert (await made.suspensions.answer(again.token, YES)).status == "ok"
    assert len(executor.calls) == 1


async def test_a_tool_that_is_not_listed_since_is_missed(engine: InProcessEngine) -> None:
    coming = Coming(Listing(), is_there=True)
    async with Runtime(engine=engine) as made:
        made.tools.add_toolset(coming)
        asked = waiting(await made.call(CONFIRMED.name, SITE, META, within=await made.tools.snapshot()))
        coming.is_there = False
        with pytest.raises(MissingToolError):
            await made.suspensions.answer(asked.token, YES)
        assert await made.suspensions.list() == (asked,)


async def test_a_call_through_the_snapshot_of_another_runtime_is_answered_here(
    engine: InProcessEngine,
) -> None:
    """Nothing here lists its tool again, so it is remembered for as long as the call waits."""
    executor, other = Listing(), Runtime()
    other.tools.add_toolset(Coming(executor, is_there=True))
    async with runtime(Listing(), spec(id="x.other", name="other"), engine=engine) as made:
        within = await other.tools.snapshot()
        first, second = [
            waiting(await made.call(CONFIRMED.name, SITE, META, within=within)) for _ in range(2)
        ]
        assert (await made.suspensions.answer(first.token, YES)).status == "ok"
        assert (await made.suspensions.cancel(second.token)).status == "denied"
        assert len(executor.calls) == 1
        assert made.assembly.tools._remembered == {}


async def test_a_process_that_only_makes_calls_remembers_no_tools(tmp_path: Path) -> None:
    def process(**options: Any) -> Runtime:
        made = Runtime(engine=InProcessEngine(tmp_path / "runs.db", **options))
        made.tools.add_toolset(Coming(executor, is_there=True))
        return made

    executor = Listing()
    async with process(worker=False) as desk, process():
        for _ in range(3):
            asked = waiting(await desk.call(CONFIRMED.name, SITE, META, within=await desk.tools.snapshot()))
            done = await (await desk.tools.snapshot()).suspensions.answer(asked.token, YES)
            assert done.status == "ok"
        assert (desk.assembly.tools._remembered, desk.assembly.tools._answering) == ({}, {})
    assert len(executor.calls) == 3
