"""Questions that are taken back, and progress of what is pending."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.tools import EMPTY, META, SITE, Listing, nothing, runtime, spec
from tests.virtual_time import now
from toolgen.agents import (
    AgentRegistration,
    AgentSpec,
    AgentTool,
    CallTools,
    PlannedCall,
    ScriptedPlanner,
    agents_of,
)
from toolgen.calls.functions.tools import func_tool
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.runtime import ConfirmSpec, Runtime, StaticToolset, ToolOutcome
from toolgen.runtime.functions import LongRunningSpec
from toolgen.waiting.errors import (
    BadAnswerError,
    ConflictingAnswerError,
    ForeignAnswerError,
    LateAnswerError,
    NoEngineError,
    SuspensionError,
    UnknownSuspensionError,
)
from toolgen.waiting.options import WaitOptions

TOOL = "assistant.devices.list_devices"
CONFIRMED = spec(confirm=ConfirmSpec())
LONG = spec(long_running=LongRunningSpec())


async def asks(payload: Any, ctx: Any) -> Any:
    return nothing() if ctx.answer is not None else ToolOutcome.ask("Which floor?")


async def starts(payload: Any, ctx: Any) -> Any:
    return ToolOutcome.pending("job-7")


async def needs(payload: Any, ctx: Any) -> Any:
    return ToolOutcome.need_credential({"provider": "mail"})


WAITING = [
    pytest.param(CONFIRMED, None, {"approved": True}, id="confirmation"),
    pytest.param(spec(), asks, "first", id="input"),
    pytest.param(spec(), needs, {"available": True}, id="credential"),
    pytest.param(LONG, starts, EMPTY, id="pending"),
]


async def token_of(made: Runtime) -> str:
    result = await made.call(TOOL, SITE, META)
    assert result.suspension is not None
    return result.suspension.token


@pytest.mark.parametrize(("made_of", "does", "answer"), WAITING)
async def test_what_waits_can_be_taken_back(
    engine: InProcessEngine, made_of: Any, does: Any, answer: Any
) -> None:
    executor, events = Listing(does), Events()
    made = runtime(executor, made_of, engine=engine, events=events)
    token = await token_of(made)
    ran = len(executor.calls)
    told = events.subscribe(types=["tool_end"])
    result = await made.suspensions.cancel(token, "the guest left")
    assert (result.tool_call_id, len(executor.calls)) == ("c1", ran)
    if made_of is LONG:  # it has begun elsewhere
        why = "the guest left; the work may be done all the same"
        assert (result.status, json.loads(result.json)) == ("unknown", {"unknown": why})
    else:
        denial = {"error": "the guest left", "code": "canceled"}
        assert (result.status, json.loads(result.json)) == ("denied", denial)
    again = await made.suspensions.cancel(token, "in other words")
    assert (again.status, again.json) == (result.status, result.json)
    with pytest.raises(ConflictingAnswerError):
        await made.suspensions.answer(token, answer)
    assert await made.suspensions.list() == ()
    events.close()
    assert [event.type async for event in told] == ["tool_end"]


async def test_without_a_reason_the_model_is_told_that_it_was_canceled(engine: InProcessEngine) -> None:
    made = runtime(Listing(), CONFIRMED, engine=engine)
    result = await made.suspensions.cancel(await token_of(made))
    assert json.loads(result.json) == {"error": "list_devices was canceled", "code": "canceled"}


async def test_what_was_answered_cannot_be_taken_back(engine: InProcessEngine) -> None:
    made = runtime(Listing(), CONFIRMED, engine=engine)
    token = await token_of(made)
    await made.suspensions.answer(token, {"approved": True})
    with pytest.raises(ConflictingAnswerError):
        await made.suspensions.cancel(token)


@pytest.mark.asyncio(loop_factories=["virtual"])
async def test_taking_back_is_refused_as_answers_are(engine: InProcessEngine) -> None:
    made = runtime(Listing(), CONFIRMED, engine=engine, waiting=WaitOptions(clock=now, expires_s=60))
    token = await token_of(made)
    with pytest.raises(UnknownSuspensionError):
        await made.suspensions.cancel(f"{token}x")
    with pytest.raises(ForeignAnswerError):
        await made.suspensions.cancel(token, session_id="another")
    with pytest.raises(BadAnswerError):
        await made.suspensions.cancel(token, "\ud800")
    with pytest.raises(NoEngineError, match="this runtime cannot suspend calls: it has no engine"):
        await Runtime().suspensions.cancel(token)
    await asyncio.sleep(61)
    with pytest.raises(LateAnswerError):
        await made.suspensions.cancel(token)


async def test_of_an_answer_and_its_opposite_at_once_one_wins(engine: InProcessEngine) -> None:
    executor = Listing()
    made = runtime(executor, CONFIRMED, engine=engine)
    token = await token_of(made)
    given = await asyncio.gather(
        *(
            made.suspensions.answer(token, {"approved": True})
            if number % 2
            else made.suspensions.cancel(token)
            for number in range(8)
        ),
        return_exceptions=True,
    )
    statuses = {one.status for one in given if not isinstance(one, BaseException)}
    assert statuses == ({"ok"} if executor.calls else {"denied"})
    assert all(isinstance(one, SuspensionError) for one in given if isinstance(one, BaseException))


async def test_those_who_watch_see_a_question_closed(engine: InProcessEngine) -> None:
    events = Events()
    made = runtime(Listing(), CONFIRMED, engine=engine, events=events)
    told = events.subscribe()
    waiting = (await made.call(TOOL, SITE, META)).suspension
    assert waiting is not None
    await told.batch()
    await made.suspensions.cancel(waiting.token, "the guest left")
    events.close()
    first, last = [event async for event in told]
    assert first.type == "tool_authorization"
    assert (first.decision, first.decided_by, first.reason) == ("denied", "runtime", "the guest left")
    assert first.suspension_id == waiting.id
    assert last.type == "tool_end"


@pytest.mark.parametrize(("made_of", "does", "answer"), WAITING)
async def test_only_pending_work_has_progress(
    engine: InProcessEngine, made_of: Any, does: Any, answer: Any
) -> None:
    made = runtime(Listing(does), made_of, engine=engine)
    token = await token_of(made)
    if made_of is LONG:
        await made.suspensions.progress(token, 0.5)
    else:
        with pytest.raises(UnknownSuspensionError, match="does not belong to pending work"):
            await made.suspensions.progress(token, 0.5)
    assert (await made.suspensions.answer(token, answer)).status in ("ok", "suspended")


async def test_a_run_of_an_agent_goes_on_when_what_it_waits_for_is_taken_back(
    engine: InProcessEngine,
) -> None:
    async def which() -> ToolOutcome[str]:
        """Ask which floor."""
        return ToolOutcome.ask("Which floor?")  # type: ignore[return-value]  # a result that is not there yet

    tool = func_tool(which)
    toolset = StaticToolset(name="local.functions", bound=(tool,))
    agent = AgentSpec(id="a.b", description="Asks.", tools=(AgentTool(id=tool.spec.id, name="which"),))
    planner = ScriptedPlanner([CallTools(calls=(PlannedCall.of("which", {}),)), "Never mind."])
    made = Runtime(engine=engine)
    agents_of(made).register(AgentRegistration(spec=agent, planner=planner, toolsets=(toolset,)))
    async with made:
        run = await agents_of(made).client("a.b").start("Where?", session_id="s")
        (awaiting,) = (await run.settled()).awaiting
        result = await made.suspensions.cancel(awaiting.token, "the guest left")
        output = await run.result()
        again = await made.suspensions.cancel(awaiting.token)
    assert (result.status, result.json) == ("denied", b'{"error":"the guest left","code":"canceled"}')
    assert (output.text, again.json) == ("Never mind.", result.json)


async def test_taking_back_waits_as_long_as_it_is_told(tmp_path: Path) -> None:
    file = tmp_path / "runs.db"
    async with runtime(Listing(), CONFIRMED, engine=InProcessEngine(file)) as made:
        token = await token_of(made)
    async with Runtime(engine=InProcessEngine(file, worker=False)) as desk:  # nobody executes runs
        assert (await desk.suspensions.cancel(token, "the guest left", wait_s=0)).status == "running"
    async with runtime(Listing(), CONFIRMED, engine=InProcessEngine(file)) as made:
        assert (await made.suspensions.cancel(token, "the guest left", wait_s=None)).status == "denied"
