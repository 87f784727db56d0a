"""Calls of a run that wait: approved, denied, too late, taken back, answered by two at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from tests.runtime.run_tools import (
    Resetting,
    Users,
    agent,
    answers,
    calling,
    first_answer,
    ran,
    resetting,
    running,
    texts,
)
from tests.virtual_time import in_virtual_time
from toolgen.agents import (
    Await,
    Awaiting,
    InterruptsNotAllowedError,
    PlanInput,
    RunHandle,
    RunPolicy,
    ScriptedPlanner,
    agents_of,
)
from toolgen.contract.json_value import Json
from toolgen.runtime import (
    Ask,
    Continue,
    Hook,
    Pending,
    Runtime,
    StaticToolset,
    ToolCall,
    ToolContext,
    ToolOutcome,
    ToolSpec,
    Unfinished,
    Verdict,
)
from toolgen.runtime.specs import LongRunningSpec
from toolgen.runtime.toolsets.functions import func_tool, function_toolset
from toolgen.runtime.waiting.approvals import Suspensions
from toolgen.runtime.waiting.errors import (
    BadAnswerError,
    ConflictingAnswerError,
    LateAnswerError,
    SuspensionError,
)
from toolgen.runtime.waiting.suspension import MemorySuspensionStore


def asking(**more: Any) -> dict[str, Any]:
    """Return options of a runtime that can ask, and that knows who calls."""
    return {"suspensions": MemorySuspensionStore(), "interceptors": [Users()], **more}


async def waiting(handle: RunHandle) -> tuple[Awaiting, ...]:
    output = await asyncio.wait_for(handle.settled(), 5)
    assert output.status == "waiting"
    return output.awaiting


def everything(given: PlanInput) -> str:
    return " | ".join(answers(given))


def reset(device: str) -> tuple[str, dict[str, Any]]:
    return "factory_reset", {"device_id": device}


async def test_two_are_approved_in_another_order_and_keep_their_places() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        first, second = await waiting(handle)
        assert first.question == "Reset d1 to factory settings? Its settings are lost."
        assert [one.id for one in await runtime.suspended("s")] == [first.id, second.id]
        approved = await runtime.deliver(second.token, {"approved": True})
        assert approved.status == "ok"
        assert await waiting(handle) == (first,)
        denied = await runtime.deliver(first.token, {"approved": False})
        assert denied.status == "denied"

    executor = Resetting()
    planner = ScriptedPlanner([calling(reset("d1"), "boom", reset("d2")), everything])
    toolsets = (resetting(executor), function_toolset("x.boom", [boom]))
    found = await ran(planner, drive=drive, options=asking(), toolsets=toolsets)
    first, second, third = found.output.text.split(" | ")
    assert first == '{"error":"a person did not approve the call","code":"denied"}'
    assert second.startswith('{"error":"boom failed')
    assert third == '{"name":"d2","lost":{}}'
    assert executor.asked == ["d2 for u-secret"]
    assert "u-secret" not in str(found.events)
    ends = [(event.tool_call_id, event.status) for event in found.of("tool_end")]
    assert ends[-2:] == [("call_0_2", "ok"), ("call_0_0", "denied")]
    assert ends.count(("call_0_1", "error")) == 1
    awaited = [event.suspension_id for event in found.of("await_confirmation")]
    decided = [event.suspension_id for event in found.of("tool_authorization")]
    assert sorted(awaited) == sorted(decided)
    assert len(awaited) == 2


def boom() -> str:
    """Fail."""
    raise RuntimeError("no")


class Renames(Hook):
    """Puts another device into the place of the one that the model names, another one each time."""

    def __init__(self) -> None:
        self.times = 0

    async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        self.times += 1
        return Continue(payload=payload.model_copy(update={"device_id": f"d{self.times}"}))


class Asks:
    """A policy that asks about everything."""

    async def decide(self, call: ToolCall, spec: ToolSpec[Any, Any], preview: str) -> Ask:
        return Ask(question="Sure?")


async def test_what_was_approved_is_what_runs() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (asked,) = await waiting(handle)
        assert (asked.question, asked.preview) == ("Sure?", "Resetting d1")
        with pytest.raises(BadAnswerError, match="the answer has device_id"):
            await handle.answer(asked, {"approved": True, "device_id": "d9"})
        await handle.answer(asked, {"approved": True})
        assert (await handle.settled()).text == '{"name":"d1","lost":{}}'
        again = await runtime.deliver(asked.token, {"approved": True})  # the run is over
        assert again.json == b'{"name":"d1","lost":{}}'
        with pytest.raises(ConflictingAnswerError):
            await runtime.deliver(asked.token, {"approved": False})
        with pytest.raises(ConflictingAnswerError):
            await runtime.cancel(asked.token)

    executor = Resetting()
    planner = ScriptedPlanner([calling(reset("the lamp")), first_answer])
    options = asking(hooks=[Renames()], policy=Asks())
    await ran(planner, drive=drive, options=options, toolsets=(resetting(executor),))
    assert executor.asked == ["d1 for u-secret"]


async def test_of_two_answers_at_once_one_is_taken() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (asked,) = await waiting(handle)
        given: list[Json] = [{"approved": True}, {"approved": False}, {"approved": True}]
        found = await asyncio.gather(
            *(runtime.deliver(asked.token, answer) for answer in given), return_exceptions=True
        )
        first, other, same = found
        assert not isinstance(first, BaseException)
        assert not isinstance(same, BaseException)
        assert (first.status, same.json) == ("ok", first.json)
        assert isinstance(other, ConflictingAnswerError)

    executor = Resetting()
    planner = ScriptedPlanner([calling(reset("d1")), first_answer])
    await ran(planner, drive=drive, options=asking(), toolsets=(resetting(executor),))
    assert executor.asked == ["d1 for u-secret"]


async def test_a_question_expires() -> None:
    tokens: list[str] = []

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        runtime._host.suspensions = Suspensions(store, lifetime_s=0.05)
        (asked,) = await waiting(handle)
        tokens.append(asked.token)
        await handle.result()
        with pytest.raises(LateAnswerError):
            await runtime.deliver(asked.token, "Bo")

    async def begun(given: PlanInput) -> Any:
        await asyncio.sleep(0)
        return calling("ask")

    store = MemorySuspensionStore()
    found = await ran(ScriptedPlanner([begun, first_answer]), drive=drive, options={"suspensions": store})
    assert found.output.text == '{"error":"nobody answered in time"}'
    assert [event.status for event in found.of("tool_end")] == ["suspended", "denied"]
    assert tokens


@pytest.mark.parametrize("by", ["deliver", "answer"])
async def test_a_run_that_was_canceled_takes_no_answer(by: str) -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (asked,) = await waiting(handle)
        await handle.cancel("enough")
        answering: dict[str, Callable[[], Awaitable[object]]] = {
            "deliver": partial(runtime.deliver, asked.token, {"approved": True}),
            "answer": partial(handle.answer, asked, {"approved": True}),
        }
        with pytest.raises(LateAnswerError):
            await answering[by]()
        assert (await runtime.cancel(asked.token)).status == "denied"  # as it is already
        after = await agents_of(runtime).client("x.agent").run("Again.", session_id="s")
        assert after.text == "[Go.] [] [results] [Again.]"

    executor = Resetting()
    planner = ScriptedPlanner([calling(reset("d1"))], [texts])
    found = await ran(planner, drive=drive, options=asking(), toolsets=(resetting(executor),))
    assert (found.output.status, found.output.error, executor.asked) == ("canceled", "enough", [])


async def pay(ctx: ToolContext) -> str | Unfinished:
    """Pay, once there is a key."""
    return ToolOutcome.need_credential({"key": "bank"}, "The bank?") if ctx.answer is None else "paid"


async def test_a_credential_that_nobody_has() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (asked,) = await waiting(handle)
        with pytest.raises(BadAnswerError):
            await handle.answer(asked, {"approved": True})
        await handle.answer(asked, {"available": False, "message": "The bank is closed."})

    planner = ScriptedPlanner([calling("pay"), first_answer])
    toolset = function_toolset("x.pay", [pay])
    found = await ran(planner, drive=drive, options=asking(), toolsets=(toolset,))
    assert found.output.text == '{"error":"The bank is closed."}'
    assert [event.kind for event in found.of("await_input")] == ["credential"]


class Worker:
    """Executes a tool whose work goes on elsewhere."""

    def __init__(self) -> None:
        self.runs = 0

    async def update(self) -> str | Pending[str]:
        """Update."""
        self.runs += 1
        return ToolOutcome.pending("job-1", "begun")

    def toolset(self) -> StaticToolset:
        plain = func_tool(self.update, toolset="x.jobs")
        late = LongRunningSpec(ack=plain.spec.result)
        return StaticToolset(
            name="x.jobs", bound=(func_tool(self.update, toolset="x.jobs", long_running=late),)
        )


async def test_work_that_fails_later_opens_a_turn_too_and_runs_nothing_again() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (work,) = (await handle.result()).pending
        await runtime.progress(work.token, 0.5, "half")
        failed = await runtime.deliver(work.token, {"error": "no power"})
        assert failed.status == "error"
        again = await runtime.deliver(work.token, {"error": "no power"})
        assert again.json == failed.json
        after = agents_of(runtime).client("x.agent").handle(f"{handle.run_id}/done:call_0_0", session_id="s")
        said = await after.result()
        assert said.text.endswith('[The work of update (call_0_0) is done: {"error":"no power"}]')
        assert len(await agents_of(runtime).sessions.transcript("s")) == 2

    worker = Worker()
    planner = ScriptedPlanner([calling("update"), first_answer], [texts])
    found = await ran(planner, drive=drive, options=asking(), toolsets=(worker.toolset(),))
    assert (found.output.text, worker.runs) == ('"begun"', 1)
    assert [event.status for event in found.of("tool_end")] == ["pending"]


async def test_work_that_is_done_in_the_middle_of_a_turn_waits_for_its_own() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (work,) = (await handle.result()).pending
        second = await agents_of(runtime).client("x.agent").start("More.", session_id="s")
        (asked,) = await waiting(second)
        await runtime.deliver(work.token, "2.4.0")
        assert len(await agents_of(runtime).sessions.transcript("s")) == 2
        await second.answer(asked, "now")
        assert (await second.result()).text == "soon"
        await asyncio.sleep(0.01)
        turns = await agents_of(runtime).sessions.transcript("s")
        after = (
            await agents_of(runtime).client("x.agent").handle(turns[-1].turn.run_id, session_id="s").result()
        )
        assert after.run_id == f"{handle.run_id}/done:call_0_0"
        assert after.text.endswith('[soon] [The work of update (call_0_0) is done: "2.4.0"]')

    planner = ScriptedPlanner(
        [calling("update"), first_answer],
        [Await(kind="clarification", question="When?"), "soon"],
        [texts],
    )
    await ran(planner, drive=drive, options=asking(), toolsets=(Worker().toolset(),))


async def test_words_and_pauses_wait_while_a_person_is_asked() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (asked,) = await waiting(handle)
        await handle.interrupt("One.")
        await handle.pause()
        await handle.interrupt("Two.")
        await handle.answer(asked, "Bo")
        (paused,) = await waiting(handle)
        assert paused.kind == "pause"
        await handle.resume()

    planner = ScriptedPlanner([calling("ask"), texts])
    policy = RunPolicy(interrupts_allowed=True, time_budget=5)
    found = await ran(planner, policy, drive=drive, options=asking())
    assert found.output.text == "[Go.] [] [results] [One.] [Two.]"


async def test_a_paused_run_is_canceled() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (asked,) = await waiting(handle)
        await handle.pause()
        await handle.answer(asked, "Bo")
        assert [one.kind for one in await waiting(handle)] == ["pause"]
        await handle.cancel()
        with pytest.raises(SuspensionError):
            await handle.answer(asked, "Bo")

    planner = ScriptedPlanner([Await(kind="clarification", question="Which?"), texts])
    found = await ran(planner, RunPolicy(interrupts_allowed=True), drive=drive)
    assert found.output.status == "canceled"
    assert len(planner.inputs) == 1


async def test_what_says_nothing_to_anybody_is_refused() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await handle.pause()
        (paused,) = await waiting(handle)
        with pytest.raises(BadAnswerError, match="asks nothing"):
            await handle.answer(paused, "on")
        await handle.resume()
        await handle.result()
        for late in (handle.interrupt("late"), handle.pause(), handle.resume()):
            with pytest.raises(InterruptsNotAllowedError, match="is over"):
                await late

    async def soon(given: PlanInput) -> Any:
        await asyncio.sleep(0.01)
        return calling("boom")

    policy = RunPolicy(interrupts_allowed=True)
    await ran(ScriptedPlanner([soon, "done"]), policy, drive=drive)


async def test_whoever_delivers_with_a_snapshot_answers_the_run_too() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (asked,) = await waiting(handle)
        result = await runtime.deliver(asked.token, {"approved": True}, within=await runtime.snapshot())
        assert result.status == "ok"

    executor = Resetting()
    planner = ScriptedPlanner([calling(reset("d1")), first_answer])
    found = await ran(planner, drive=drive, options=asking(), toolsets=(resetting(executor),))
    assert (found.output.text, executor.asked) == ('{"name":"d1","lost":{}}', ["d1 for u-secret"])


async def slowly(ctx: ToolContext) -> str | Unfinished:
    """Take long after the answer."""
    if ctx.answer is None:
        return ToolOutcome.ask("Now?")
    await asyncio.sleep(30)
    return "late"


@in_virtual_time
async def test_an_answer_whose_call_takes_too_long_has_a_result_while_the_run_waits() -> None:
    planner = ScriptedPlanner([calling("slowly", "pay"), everything])
    toolset = function_toolset("x.slowly", [slowly, pay])

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        first, second = await waiting(handle)
        assert (first.kind, second.kind) == ("input", "credential")
        result = await asyncio.wait_for(runtime.deliver(first.token, "yes"), 5)
        assert (result.status, result.json) == ("error", b'{"error":"the call was cancelled"}')
        assert await waiting(handle) == (second,)
        await runtime.deliver(second.token, {"available": True})

    policy = RunPolicy(time_budget=0.05)
    found = await ran(planner, policy, drive=drive, options=asking(), toolsets=(toolset,))
    late = '{"error":"slowly did not end within the time of the run"}'
    assert found.output.text == f'{late} | "paid"'


async def test_runs_are_listed_by_how_they_ended() -> None:
    planner = ScriptedPlanner(["done"], [Await(kind="clarification", question="?")], [])
    async with running(agent("x.agent", planner)) as (runtime, _):
        outputs = [await agents_of(runtime).client("x.agent").one_shot("Go.") for _ in range(5)]
        for state in ("completed", "waiting", "failed"):
            listed = await agents_of(runtime).list_runs(state=state)
            expected = [output for output in reversed(outputs) if output.status == state]
            assert [output.run_id for output in listed] == [output.run_id for output in expected]
        assert [one.run_id for one in await agents_of(runtime).list_runs(state="completed", limit=1)] == [
            outputs[0].run_id
        ]
