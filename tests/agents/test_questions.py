"""A run that waits for an answer: who may give it, when, and how often."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from tests.agents.tools import (
    Bench,
    Users,
    agent,
    answers,
    calling,
    check_log,
    engine_of,
    everything,
    first_answer,
    keeping,
    ran,
    running,
    texts,
    waiting,
)
from tests.virtual_time import now
from toolgen.agents import (
    Await,
    RunHandle,
    RunPolicy,
    ScriptedPlanner,
    SessionBusyError,
    agents_of,
)
from toolgen.calls.functions.tools import function_toolset
from toolgen.capabilities import CallScope
from toolgen.contract.json_value import Json
from toolgen.runtime import (
    CallMeta,
    Key,
    Runtime,
    Suspended,
    ToolContext,
    ToolOutcome,
    Unfinished,
)
from toolgen.waiting.errors import (
    BadAnswerError,
    ConflictingAnswerError,
    ForeignAnswerError,
    LateAnswerError,
    UnknownSuspensionError,
)
from toolgen.waiting.options import WaitOptions


async def test_answers_are_checked_and_taken_once() -> None:
    tokens: list[str] = []

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        asked = await waiting(handle)
        assert (asked.kind, asked.question, asked.run_id) == ("input", "Which name?", handle.run_id)
        assert asked.token not in repr(asked)
        tokens.append(asked.token)
        with pytest.raises(BadAnswerError, match="must be of type string"):
            await runtime.suspensions.answer(asked.token, 3)
        with pytest.raises(ForeignAnswerError):
            await runtime.suspensions.answer(asked.token, "Bo", session_id="another")
        with pytest.raises(UnknownSuspensionError):
            await runtime.suspensions.answer("s_forged", "Bo")
        first = await runtime.suspensions.answer(asked.token, "Bo")
        again = await runtime.suspensions.answer(asked.token, "Bo")
        assert first.json == again.json == b'"hello Bo"'
        with pytest.raises(ConflictingAnswerError):
            await runtime.suspensions.answer(asked.token, "Cy")

    planner = ScriptedPlanner([calling("ask", ("add", {"a": 1, "b": 1})), lambda given: str(answers(given))])
    found = await ran(planner, drive=drive, options=keeping())
    assert found.output.text == "['\"hello Bo\"', '2']"
    assert [event.status for event in found.of("tool_end")] == ["suspended", "ok", "ok"]
    assert not any(token in str(found.events) for token in tokens)


async def test_with_nobody_to_ask_the_call_is_denied() -> None:
    planner = ScriptedPlanner([calling("ask"), first_answer])
    found = await ran(planner, options=keeping(waiting=WaitOptions(is_interactive=False)))
    assert '"code":"approval_unavailable"' in found.output.text


async def test_without_an_engine_of_the_host_there_is_nobody_to_ask() -> None:
    async with Runtime() as runtime:
        planner = ScriptedPlanner([calling("ask"), first_answer])
        agents_of(runtime).register(agent("x.agent", planner))
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
    assert '"code":"approval_unavailable"' in output.text


async def test_a_question_can_be_taken_back() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        asked = await waiting(handle)
        with pytest.raises(SessionBusyError, match="answer its question"):
            await agents_of(runtime).client("x.agent").run("More.", session_id="s")
        assert (await runtime.suspensions.cancel(asked.token, "no time")).status == "denied"

    found = await ran(ScriptedPlanner([calling("ask"), first_answer]), drive=drive, options=keeping())
    assert found.output.text == '{"error":"no time","code":"canceled"}'


async def test_an_answer_after_the_end_is_late() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        asked = await waiting(handle)
        await handle.cancel("enough")
        with pytest.raises(LateAnswerError):
            await runtime.suspensions.answer(asked.token, "Bo")

    found = await ran(ScriptedPlanner([calling("ask")]), drive=drive, options=keeping())
    assert (found.output.status, found.output.error) == ("canceled", "enough")


SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {"size": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["size"],
}


@pytest.mark.parametrize(
    ("wait", "bad", "good", "said"),
    [
        (Await(kind="clarification", question="Which?"), 3, "the red one", "the red one"),
        (Await(kind="questions", question="Size?", schema=SCHEMA), {"size": "x"}, {"size": 3}, '{"size":3}'),
        (
            Await(kind="questions", question="Size?", schema=SCHEMA),
            {"size": None, "note": None},
            {"size": 3, "note": None},
            '{"size":3}',
        ),
        (Await(kind="confirmation", question="Sure?", schema={"type": "boolean"}), "yes", True, "true"),
        (Await(kind="external", question="The total?", schema={"type": "number"}), None, 2.5, "2.5"),
    ],
)
async def test_a_planner_may_wait_for_a_person(wait: Await, bad: Any, good: Any, said: str) -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        asked = await waiting(handle)
        assert (asked.kind, asked.question, asked.token) == (wait.kind, wait.question, "")
        with pytest.raises(BadAnswerError):
            await handle.answer(asked, bad)
        await handle.answer(asked, good)
        await handle.answer(asked, good)  # a second answer says nothing more

    found = await ran(ScriptedPlanner([wait, texts]), drive=drive)
    assert found.output.text == f"[Go.] [{wait.question}] [{said}]"
    (event,) = found.of("question_asked")
    assert (event.kind, event.question) == (wait.kind, wait.question)


async def test_a_planner_has_nobody_to_ask() -> None:
    planner = ScriptedPlanner([Await(kind="clarification", question="Which?"), texts])
    found = await ran(planner, options={"waiting": WaitOptions(is_interactive=False)})
    assert found.output.text.endswith("[no person can be asked; continue without an answer]")


async def twice(ctx: ToolContext) -> str | Unfinished:
    """Ask for two things, one after the other."""
    return ToolOutcome.ask("And?") if ctx.answer != "b" else "a then b"


async def pay(ctx: ToolContext) -> str | Unfinished:
    """Pay, once there is a key."""
    return ToolOutcome.need_credential({"key": "bank"}, "The bank?") if ctx.answer is None else "paid"


async def test_a_tool_asks_again_and_a_credential_comes() -> None:
    toolset = function_toolset("x.more", [twice, pay])
    planner = ScriptedPlanner([calling("twice", "pay"), lambda given: str(answers(given))])
    async with running(agent("x.agent", planner, toolset), **keeping()) as (runtime, engine):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        for answer in ("a", "b"):
            output = await handle.settled()
            asked = next(one for one in output.awaiting if one.kind == "input")
            await runtime.suspensions.answer(asked.token, answer)
        asked = await waiting(handle)
        assert (asked.kind, asked.question) == ("credential", "The bank?")
        await runtime.suspensions.answer(asked.token, {"available": True})
        output = await handle.result()
        assert output.text == "['\"a then b\"', '\"paid\"']"
        assert await engine.replay(handle.run_id) == (await engine.status(handle.run_id)).output


def asks(name: str) -> tuple[str, dict[str, Any]]:
    return "ask", {"name": name}


async def test_two_who_answer_at_once_hear_whose_answer_was_taken() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        asked = await waiting(handle)
        one, other = await asyncio.gather(
            runtime.suspensions.answer(asked.token, "Bo"),
            runtime.suspensions.answer(asked.token, "Bo"),
            return_exceptions=True,
        )
        assert not isinstance(one, BaseException)
        assert not isinstance(other, BaseException)
        assert one.json == other.json == b'"a: Bo"'

    bench = Bench()
    planner = ScriptedPlanner([calling(asks("a")), first_answer])
    await ran(planner, toolsets=(bench.toolset,), drive=drive, options=keeping())
    assert bench.did == ["a heard Bo"]


async def test_nobody_answers_in_time() -> None:
    bench = Bench()
    planner = ScriptedPlanner([calling(asks("a")), first_answer])
    async with running(
        agent("x.agent", planner, bench.toolset), **keeping(waiting=WaitOptions(expires_s=0.15, clock=now))
    ) as (runtime, engine):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        asked = await waiting(handle)
        output = await handle.result()
        with pytest.raises(LateAnswerError):
            await runtime.suspensions.answer(asked.token, "Bo")
        events = await runtime.runs.events(handle.run_id)
        check_log(output, events)
        await engine.replay(handle.run_id)
    assert (output.status, output.text) == ("completed", '{"error":"nobody answered in time"}')
    assert [event.status for event in events if event.type == "tool_end"] == ["suspended", "denied"]


BROKEN: Key[object] = Key("broken")


class Broken:
    """A capability that cannot keep anything."""

    name = "broken"

    def open(self, call: CallScope) -> object:
        return object()

    async def close(self, opened: Any) -> None:
        raise OSError("the disk is full")


async def test_whoever_answered_hears_of_the_result_whatever_the_host_cannot_keep() -> None:
    async def ask(ctx: ToolContext) -> str | Unfinished:
        """Ask."""
        ctx.capability(BROKEN)
        return "heard" if ctx.answer else ToolOutcome.ask("Who?")

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        asked = await waiting(handle)
        assert (await asyncio.wait_for(runtime.suspensions.answer(asked.token, "Bo"), 60)).json == b'"heard"'

    planner = ScriptedPlanner([calling("ask"), first_answer])
    options = keeping(capabilities=[Broken()])
    found = await ran(planner, toolsets=(function_toolset("x.t", [ask]),), drive=drive, options=options)
    assert found.output.text == '"heard"'


async def test_the_tool_that_waits_is_the_tool_that_was_called() -> None:
    """A call that was made directly, outside of runs, is answered as ever."""
    bench = Bench()
    async with running(agent("x.agent", ScriptedPlanner(["done"]), bench.toolset), **keeping()) as (
        runtime,
        _,
    ):
        await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        result = await runtime.call("x.bench.ask", {"name": "a"}, CallMeta(run_id="foreign", session_id="s"))
        assert result.suspension is not None
        assert (await runtime.suspensions.answer(result.suspension.token, "Bo")).json == b'"a: Bo"'


def asking(**more: Any) -> dict[str, Any]:
    """Return options of a runtime that can ask, and that knows who calls."""
    return {"interceptors": [Users()], **more}


async def all_waiting(handle: RunHandle) -> tuple[Suspended, ...]:
    output = await asyncio.wait_for(handle.settled(), 60)
    assert output.status == "waiting"
    return output.awaiting


async def test_a_credential_that_nobody_has() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (asked,) = await all_waiting(handle)
        with pytest.raises(BadAnswerError):
            await handle.answer(asked, {"approved": True})
        await handle.answer(asked, {"available": False, "message": "The bank is closed."})

    planner = ScriptedPlanner([calling("pay"), first_answer])
    toolset = function_toolset("x.pay", [pay])
    found = await ran(planner, drive=drive, options=asking(), toolsets=(toolset,))
    assert found.output.text == '{"error":"The bank is closed."}'
    assert [event.kind for event in found.of("input_requested")] == ["credential"]


async def slowly(ctx: ToolContext) -> str | Unfinished:
    """Take long after the answer."""
    if ctx.answer is None:
        return ToolOutcome.ask("Now?")
    await asyncio.sleep(30)
    return "late"


async def test_an_answer_whose_call_takes_too_long_has_a_result_while_the_run_waits() -> None:
    planner = ScriptedPlanner([calling("slowly", "pay"), everything])
    toolset = function_toolset("x.slowly", [slowly, pay])

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        first, second = await all_waiting(handle)
        assert (first.kind, second.kind) == ("input", "credential")
        result = await asyncio.wait_for(runtime.suspensions.answer(first.token, "yes"), 60)
        assert (result.status, result.json) == (
            "unknown",
            b'{"unknown":"its result was not kept; it may have run"}',
        )
        assert await all_waiting(handle) == (second,)
        await runtime.suspensions.answer(second.token, {"available": True})

    policy = RunPolicy(time_budget=0.05)
    found = await ran(planner, policy, drive=drive, options=asking(), toolsets=(toolset,))
    late = '{"unknown":"its result was not kept; it may have run"}'
    assert found.output.text == f'{late} | "paid"'


ASKS = Await(kind="clarification", question="Which?")
FORGED: list[Json] = [
    {"text": "that one", "by": ""},
    {"answer": "that one", "by": "", "key": "00000000", "seal": "x"},
    "that one",
    None,
]


@pytest.mark.parametrize("forged", FORGED, ids=repr)
async def test_an_answer_that_no_host_took_is_not_what_a_planner_hears(forged: Json) -> None:
    """As of somebody who can write the file of the runs."""

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        first = await waiting(handle)
        await engine_of(runtime).answer(first.run_id, f"wait:{first.id}", forged, key="forged")
        again = await waiting(handle)
        assert (again.question, again.kind, again.id != first.id) == ("Which?", "clarification", True)
        assert again.reason == "the answer in the journal has no valid seal"
        with pytest.raises(ConflictingAnswerError):
            await handle.answer(first, "this one")
        await handle.answer(again, "this one", by="jo")

    found = await ran(ScriptedPlanner([ASKS, texts]), drive=drive)
    assert found.output.text == "[Go.] [Which?] [this one]"
    assert [event.reason == "" for event in found.of("question_asked")] == [True, False]
    (answered,) = found.of("answer_accepted")
    assert (answered.kind, answered.answered_by, answered.tool) == ("clarification", "jo", "")


async def test_the_answer_to_one_question_is_none_to_another() -> None:
    """Though a host has sealed it, and both ask the same."""

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        engine = engine_of(runtime)
        first = await waiting(handle)
        await handle.answer(first, "this one")
        second = await waiting(handle)
        kept = await engine.wait_status(first.run_id, f"wait:{first.id}")
        assert kept is not None
        await engine.answer(second.run_id, f"wait:{second.id}", kept.answer, key="replayed")
        await handle.answer(await waiting(handle), "that one")

    found = await ran(ScriptedPlanner([ASKS, ASKS, texts]), drive=drive)
    assert found.output.text == "[Go.] [Which?] [this one] [Which?] [that one]"


async def test_an_answer_to_a_question_that_was_exchanged_is_not_heard() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        asked = await waiting(handle)
        await handle.answer(replace(asked, question="Another?"), "yes")
        await handle.answer(await waiting(handle), "this one")

    found = await ran(ScriptedPlanner([ASKS, texts]), drive=drive)
    assert found.output.text == "[Go.] [Which?] [this one]"
