"""Who asked for a call that waits, and who may answer it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.agents.tools import agent, answers, calling, running
from tests.runtime.tools import SITE, TOOL, Listing, nothing, options, runtime, spec, waiting
from toolgen.agents import ScriptedPlanner, agents_of
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.contract.json_value import Json
from toolgen.contract.names import Hint
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.events.records import (
    AnswerAccepted,
    ApprovalRequested,
    InputRequested,
    ToolAuthorization,
    ToolEnd,
)
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime, Suspended, ToolOutcome
from toolgen.waiting.errors import BadAnswerError, NotAllowedAnswerError
from toolgen.waiting.options import WaitOptions, requester_may_not_approve

CONFIRMED = spec(confirm=ConfirmSpec())
YES: dict[str, Any] = {"approved": True}
FOR_ANN = CallMeta(session_id="s", tool_call_id="c1", requested_by="ann")


def fails(asked: Suspended, answer: Json, by: str) -> str:
    raise OSError("the directory of people does not answer")


async def test_who_asked_may_not_approve(engine: InProcessEngine) -> None:
    executor = Listing()
    made = runtime(executor, CONFIRMED, engine=engine, waiting=options(rule=requester_may_not_approve))
    asked = waiting(await made.call(TOOL, SITE, FOR_ANN))
    assert asked.requested_by == "ann"
    with pytest.raises(NotAllowedAnswerError, match="the requester of the call must not approve it"):
        await made.suspensions.answer(asked.token, YES, by="ann")
    with pytest.raises(NotAllowedAnswerError, match="does not name the approver"):
        await made.suspensions.answer(asked.token, YES)
    assert (executor.calls, await made.suspensions.list()) == ([], (asked,))
    assert (await made.suspensions.answer(asked.token, YES, by="bob")).status == "ok"


async def test_nobody_is_a_second_person_for_a_call_without_a_requester(engine: InProcessEngine) -> None:
    """A host that names nobody would have no second person, and not know it."""
    made = runtime(Listing(), CONFIRMED, engine=engine, waiting=options(rule=requester_may_not_approve))
    asked = waiting(await made.call(TOOL, SITE, replace(FOR_ANN, requested_by="")))
    with pytest.raises(NotAllowedAnswerError, match="the call does not name its requester"):
        await made.suspensions.answer(asked.token, YES, by="bob")
    assert (await made.suspensions.answer(asked.token, {"approved": False}, by="bob")).status == "denied"


@pytest.mark.parametrize("by", ["ann", ""])
async def test_who_asked_may_say_no_and_take_it_back(engine: InProcessEngine, by: str) -> None:
    made = runtime(Listing(), CONFIRMED, engine=engine, waiting=options(rule=requester_may_not_approve))
    first, second = [waiting(await made.call(TOOL, SITE, FOR_ANN)) for _ in range(2)]
    assert (await made.suspensions.answer(first.token, {"approved": False}, by=by)).status == "denied"
    assert (await made.suspensions.cancel(second.token, by=by)).status == "denied"


async def test_who_asked_may_answer_what_is_no_approval(engine: InProcessEngine) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        return nothing() if ctx.answer else ToolOutcome.ask("Why?")

    made = runtime(Listing(asks), engine=engine, waiting=options(rule=requester_may_not_approve))
    asked = waiting(await made.call(TOOL, SITE, FOR_ANN))
    assert (await made.suspensions.answer(asked.token, "because", by="ann")).status == "ok"


async def test_a_rule_may_ask_a_directory_and_sees_everything(engine: InProcessEngine) -> None:
    seen: list[tuple[Suspended, Json, str]] = []

    async def managers(asked: Suspended, answer: Json, by: str) -> str:
        await asyncio.sleep(0)
        seen.append((asked, answer, by))
        return "" if by == "boss" else f"{by} is no manager"

    made = runtime(Listing(), CONFIRMED, engine=engine, waiting=options(rule=managers))
    asked = waiting(await made.call(TOOL, SITE, FOR_ANN))
    with pytest.raises(NotAllowedAnswerError, match="bob is no manager"):
        await made.suspensions.answer(asked.token, YES, by="bob")
    assert (await made.suspensions.answer(asked.token, YES, by="boss")).status == "ok"
    assert seen == [(asked, YES, "bob"), (asked, YES, "boss"), (asked, YES, "boss")], (
        "asked again where it runs"
    )


@pytest.mark.parametrize("rule", [requester_may_not_approve, fails])
async def test_the_rule_holds_where_the_call_is_executed(tmp_path: Path, rule: Any) -> None:
    """A client that has no rule does not get around that of the worker."""
    file, executor = tmp_path / "runs.db", Listing()
    async with runtime(executor, CONFIRMED, engine=InProcessEngine(file)) as made:
        asked = waiting(await made.call(TOOL, SITE, FOR_ANN))
    async with Runtime(engine=InProcessEngine(file, worker=False)) as desk:
        assert (await desk.suspensions.answer(asked.token, YES, by="ann", wait_s=0)).status == "running"
    ruled = WaitOptions(rule=rule)
    async with runtime(executor, CONFIRMED, engine=InProcessEngine(file), waiting=ruled) as made:
        again = waiting(await made.suspensions.answer(asked.token, YES, by="ann"))
        assert ("must not approve it" in again.reason) is (rule is not fails)
        assert ("answer rule failed" in again.reason) is (rule is fails)
    assert executor.calls == []


async def test_a_rule_is_not_asked_about_what_does_not_fit(engine: InProcessEngine) -> None:
    def never(asked: Suspended, answer: Json, by: str) -> str:
        raise AssertionError(answer)

    made = runtime(Listing(), CONFIRMED, engine=engine, waiting=options(rule=never))
    asked = waiting(await made.call(TOOL, SITE, FOR_ANN))
    with pytest.raises(BadAnswerError):
        await made.suspensions.answer(asked.token, {"approved": "yes"})


async def told(made: Runtime, events: Events, answer: Json, by: str) -> list[Any]:
    """Return the events of a call that Ann asked for and somebody answered."""
    async with events.subscribe() as subscription:
        asked = waiting(await made.call(TOOL, SITE, FOR_ANN))
        await made.suspensions.answer(asked.token, answer, by=by)
        events.close()
        return [event async for event in subscription]


@pytest.mark.parametrize(("answer", "decision"), [(YES, "approved"), ({"approved": False}, "denied")])
async def test_events_say_who_asked_and_who_decided(
    engine: InProcessEngine, answer: Json, decision: str
) -> None:
    events = Events()
    seen = await told(runtime(Listing(), CONFIRMED, engine=engine, events=events), events, answer, "bob")
    (asked,) = [event for event in seen if isinstance(event, ApprovalRequested)]
    (decided,) = [event for event in seen if isinstance(event, ToolAuthorization)]
    assert (asked.requested_by, asked.reason) == ("ann", "")
    assert (decided.decision, decided.decided_by, decided.answered_by) == (decision, "person", "bob")
    first, last = [event for event in seen if isinstance(event, ToolEnd)]
    assert (first.suspension_id, first.answered_id) == (asked.suspension_id, "")
    assert (last.suspension_id, last.answered_id) == ("", asked.suspension_id)
    assert {event.session_id for event in seen} == {"s"}


async def test_a_question_says_who_asked(engine: InProcessEngine) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        return nothing() if ctx.answer else ToolOutcome.ask("Why?")

    events = Events()
    seen = await told(runtime(Listing(asks), engine=engine, events=events), events, "because", "bob")
    (asked,) = [event for event in seen if isinstance(event, InputRequested)]
    assert asked.requested_by == "ann"
    (answered,) = [event for event in seen if isinstance(event, AnswerAccepted)]
    assert (answered.kind, answered.answered_by, answered.tool) == ("input", "bob", TOOL)
    assert answered.suspension_id == asked.suspension_id


async def test_the_log_says_who_answered_before_the_call_runs(engine: InProcessEngine) -> None:
    """A process that ends in the middle leaves a log that has the person."""
    begun, gate = asyncio.Event(), asyncio.Event()

    async def hangs(payload: Any, ctx: Any) -> Any:
        begun.set()
        await gate.wait()

    async def asks(payload: Any, ctx: Any) -> Any:
        return await hangs(payload, ctx) if ctx.answer else ToolOutcome.ask("Why?")

    once: dict[Hint, bool] = {"idempotent": False, "read_only": False}
    for answer, event, tool in (
        (YES, "tool_authorization", replace(CONFIRMED, annotations=once)),
        ("because", "answer_accepted", spec(annotations=once)),
    ):
        made = runtime(Listing(hangs if answer is YES else asks), tool, engine=engine)
        asked = waiting(await made.call(TOOL, SITE, FOR_ANN))
        answered = asyncio.ensure_future(made.suspensions.answer(asked.token, answer, by="bob"))
        await begun.wait()
        log = [told async for _, told in engine.events(asked.run_id, follow=False)]
        assert [told["answered_by"] for told in log if told["type"] == event] == ["bob"]
        await engine.close()
        answered.cancel()
        await engine.start()
        assert (await made.suspensions.answer(asked.token, answer, by="bob")).status == "unknown"
        log = [told async for _, told in engine.events(asked.run_id, follow=False)]
        assert [told["type"] for told in log] == [event, "tool_end", "run_stream_end"]
        begun.clear()
        engine = InProcessEngine()


async def test_a_run_asks_for_whom_it_was_started() -> None:
    async def add(a: int) -> int:
        """Add."""
        return a + 1

    tool = func_tool(add, toolset="x.sums", confirm=ConfirmSpec())
    planner = ScriptedPlanner([calling(("add", {"a": 2})), lambda given: answers(given)[0]])
    registration = agent("x.agent", planner, function_toolset("x.sums", [tool]))
    async with running(registration, waiting=options(rule=requester_may_not_approve)) as (made, _):
        handle = await agents_of(made).client("x.agent").start("Go.", session_id="s", requested_by="ann")
        (awaiting,) = (await handle.settled()).awaiting
        with pytest.raises(NotAllowedAnswerError):
            await handle.answer(awaiting, YES, by="ann")
        await handle.answer(awaiting, YES, by="bob")
        assert (await handle.result()).text == "3"
        log = await made.runs.events(handle.run_id)
    (asked,) = [event for event in log if isinstance(event, ApprovalRequested)]
    (decided,) = [event for event in log if isinstance(event, ToolAuthorization)]
    assert (asked.requested_by, decided.answered_by) == ("ann", "bob")
