"""Questions that are taken back, and progress of what is pending."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gen.assistant.toolsets import devices
from tests.runtime.tools import EMPTY, META, SITE, Listing, nothing, runtime, spec
from toolgen.agents import (
    AgentRegistration,
    AgentSpec,
    AgentTool,
    CallTools,
    PlannedCall,
    ScriptedPlanner,
    agents_of,
)
from toolgen.runtime import ConfirmSpec, LongRunningSpec, Runtime, StaticToolset, ToolOutcome
from toolgen.runtime.events.hub import Events
from toolgen.runtime.toolsets.functions import func_tool
from toolgen.runtime.waiting.approvals import Suspensions
from toolgen.runtime.waiting.errors import (
    BadAnswerError,
    ChangedToolError,
    ConflictingAnswerError,
    ForeignAnswerError,
    LateAnswerError,
    SuspensionError,
    UnknownSuspensionError,
)
from toolgen.runtime.waiting.sqlite import SqliteSuspensionStore
from toolgen.runtime.waiting.suspension import MemorySuspensionStore, SuspensionStore

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


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SuspensionStore:
    return MemorySuspensionStore() if request.param == "memory" else SqliteSuspensionStore(tmp_path / "s.db")


async def token_of(made: Runtime) -> str:
    result = await made.call(TOOL, SITE, META)
    assert result.suspension is not None
    return result.suspension.token


@pytest.mark.parametrize(("made_of", "does", "answer"), WAITING)
async def test_what_waits_can_be_taken_back(
    store: SuspensionStore, made_of: Any, does: Any, answer: Any
) -> None:
    executor, events = Listing(does), Events()
    made = runtime(executor, made_of, suspensions=store, events=events)
    token = await token_of(made)
    ran = len(executor.calls)
    told = events.subscribe(types=["tool_end"])
    result = await made.cancel(token, "the guest left")
    assert (result.status, result.tool_call_id, len(executor.calls)) == ("denied", "c1", ran)
    assert json.loads(result.json) == {"error": "the guest left", "code": "canceled"}
    again = await made.cancel(token, "in other words")
    assert (again.status, again.json) == (result.status, result.json)
    with pytest.raises(ConflictingAnswerError):
        await made.deliver(token, answer)
    assert await made.suspended() == ()
    events.close()
    assert [event.type async for event in told] == ["tool_end"]


async def test_without_a_reason_the_model_is_told_that_it_was_canceled(store: SuspensionStore) -> None:
    made = runtime(Listing(), CONFIRMED, suspensions=store)
    result = await made.cancel(await token_of(made))
    assert json.loads(result.json) == {"error": "list_devices was canceled", "code": "canceled"}


async def test_what_was_answered_cannot_be_taken_back(store: SuspensionStore) -> None:
    made = runtime(Listing(), CONFIRMED, suspensions=store)
    token = await token_of(made)
    await made.deliver(token, {"approved": True})
    with pytest.raises(ConflictingAnswerError):
        await made.cancel(token)


async def test_taking_back_is_refused_as_answers_are(store: SuspensionStore) -> None:
    now = [1000.0]
    made = runtime(Listing(), CONFIRMED, suspensions=store)
    token = await token_of(made)
    with pytest.raises(UnknownSuspensionError):
        await made.cancel(f"{token}x")
    with pytest.raises(ForeignAnswerError):
        await made.cancel(token, session_id="another")
    with pytest.raises(BadAnswerError):
        await made.cancel(token, "\ud800")
    with pytest.raises(ChangedToolError):
        await Runtime(suspensions=store).cancel(token)
    with pytest.raises(SuspensionError, match="keeps no suspensions"):
        await Runtime().cancel(token)
    late = Suspensions(store, clock=lambda: now[0], lifetime_s=60)
    made._host.suspensions = late
    token = await token_of(made)
    now[0] = 1061.0
    with pytest.raises(LateAnswerError):
        await made.cancel(token)


async def test_a_call_of_a_tool_that_changed_can_still_be_taken_back(store: SuspensionStore) -> None:
    token = await token_of(runtime(Listing(), CONFIRMED, suspensions=store))
    changed = replace(CONFIRMED, payload=devices.GET_TIME_SERIES.payload)
    assert (await runtime(Listing(), changed, suspensions=store).cancel(token)).status == "denied"


async def test_of_an_answer_and_its_opposite_at_once_one_wins(store: SuspensionStore) -> None:
    executor = Listing()
    made = runtime(executor, CONFIRMED, suspensions=store)
    token = await token_of(made)
    given = await asyncio.gather(
        *(
            made.deliver(token, {"approved": True}) if number % 2 else made.cancel(token)
            for number in range(8)
        ),
        return_exceptions=True,
    )
    statuses = {one.status for one in given if not isinstance(one, BaseException)}
    assert statuses == ({"ok"} if executor.calls else {"denied"})
    assert all(isinstance(one, SuspensionError) for one in given if isinstance(one, BaseException))


async def test_those_who_watch_see_a_question_closed(store: SuspensionStore) -> None:
    events = Events()
    made = runtime(Listing(), CONFIRMED, suspensions=store, events=events)
    told = events.subscribe()
    waiting = (await made.call(TOOL, SITE, META)).suspension
    assert waiting is not None
    await told.batch()
    await made.cancel(waiting.token, "the guest left")
    events.close()
    first, last = [event async for event in told]
    assert first.type == "tool_authorization"
    assert (first.decision, first.by, first.reason) == ("denied", "runtime", "the guest left")
    assert first.suspension_id == waiting.id
    assert last.type == "tool_end"


@pytest.mark.parametrize(("made_of", "does", "answer"), WAITING)
async def test_only_pending_work_has_progress(
    store: SuspensionStore, made_of: Any, does: Any, answer: Any
) -> None:
    made = runtime(Listing(does), made_of, suspensions=store)
    token = await token_of(made)
    if made_of is LONG:
        await made.progress(token, 0.5)
    else:
        with pytest.raises(UnknownSuspensionError, match="nothing is pending"):
            await made.progress(token, 0.5)
    assert (await made.deliver(token, answer)).status in ("ok", "suspended")


async def test_a_run_of_an_agent_goes_on_when_what_it_waits_for_is_taken_back(store: SuspensionStore) -> None:
    async def which() -> ToolOutcome[str]:
        """Ask which floor."""
        return ToolOutcome.ask("Which floor?")  # type: ignore[return-value]  # a result that is not there yet

    tool = func_tool(which)
    toolset = StaticToolset(name="local.functions", bound=(tool,))
    agent = AgentSpec(id="a.b", description="Asks.", tools=(AgentTool(id=tool.spec.id, name="which"),))
    planner = ScriptedPlanner([CallTools(calls=(PlannedCall.of("which", {}),)), "Never mind."])
    made = Runtime(suspensions=store)
    agents_of(made).register(AgentRegistration(spec=agent, planner=planner, toolsets=(toolset,), format=1))
    async with made:
        run = await agents_of(made).client("a.b").start("Where?", session_id="s")
        (awaiting,) = (await run.settled()).awaiting
        result = await made.cancel(awaiting.token, "the guest left")
        output = await run.result()
        again = await made.cancel(awaiting.token)
    assert (result.status, result.json) == ("denied", b'{"error":"the guest left","code":"canceled"}')
    assert (output.text, again.json) == ("Never mind.", result.json)
