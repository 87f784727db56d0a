"""What the next turn knows of a run that did not come to its end: what happened, and nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.agents.tools import (
    Bench,
    agent,
    answers,
    calling,
    is_paired,
    keeping,
    running,
    texts,
    until,
    waiting,
    work,
)
from toolgen.agents import (
    AssistantMessage,
    FinalResponse,
    HandOver,
    Message,
    PlanInput,
    RunPolicy,
    ScriptedPlanner,
    ToolAnswer,
    ToolMessage,
    UserMessage,
    agents_of,
)
from toolgen.agents.sessions.memory import MemorySessionStore

UNKNOWN = "its result was not kept; it may have run"
SPEAKING = RunPolicy(interrupts_allowed=True)


def unknown(text: str) -> bool:
    return bool(json.loads(text) == {"unknown": UNKNOWN})


async def test_a_canceled_batch_keeps_what_finished() -> None:
    bench = Bench()
    seen: list[PlanInput] = []

    def hearing(given: PlanInput) -> str:
        seen.append(given)
        return "done"

    planner = ScriptedPlanner([calling(work("quick"), work("slow", 60), "through")], [hearing])
    async with running(agent("x.agent", planner, bench.toolset)) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        handle = await client.start("Go.", session_id="s")
        await until(lambda: "quick ends" in bench.did and "slow begins" in bench.did)
        await handle.cancel("enough")
        await client.run("And?", session_id="s")
    (given,) = seen
    quick, slow, hang = answers(given)
    assert quick == '"quick"'
    assert [unknown(text) for text in (slow, hang)] == [True, True]
    assert is_paired(given)
    (batch,) = [message for message in given.messages if isinstance(message, ToolMessage)]
    assert "error" not in [answer.status for answer in batch.answers]


async def test_a_call_that_was_taken_back_is_known_to_be_canceled() -> None:
    planner = ScriptedPlanner(
        [calling(work("first"), ("ask", {"name": "Which"}))], [lambda given: " ".join(answers(given))]
    )
    bench = Bench()
    async with running(agent("x.agent", planner, bench.toolset), **keeping()) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        handle = await client.start("Go.", session_id="s")
        await waiting(handle)
        await handle.cancel("another time")
        output = await client.run("And?", session_id="s")
    first, asked = output.text.split(" ", 1)
    assert first == '"first"'
    assert "another time" in json.loads(asked)["error"]


class Slow(MemorySessionStore):
    """Keeps the words of a planner, and is slow to say so."""

    async def write(self, run_id: str, step: int, messages: Sequence[Message], **given: Any) -> None:
        await super().write(run_id, step, messages, **given)
        if any(isinstance(one, AssistantMessage) and one.text == "FIRST" for one in messages):
            await asyncio.sleep(60)


async def test_words_that_nobody_received_are_not_kept() -> None:
    sessions = Slow()
    planner = ScriptedPlanner(["FIRST", texts])
    policy = RunPolicy(time_budget=2)
    async with running(agent("x.agent", planner, policy=policy), sessions=sessions) as (runtime, _):
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        (said,) = await sessions.transcript("s")
    assert output.text == "[Go.]"
    assert [getattr(one, "text", "") for one in said.messages] == ["Go.", "[Go.]"]


async def test_words_of_a_run_that_is_canceled_meanwhile_are_not_kept() -> None:
    sessions = Slow()
    async with running(agent("x.agent", ScriptedPlanner(["FIRST"])), sessions=sessions) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        await asyncio.sleep(1)
        await handle.cancel()
        await asyncio.sleep(1)
        (said,) = await sessions.transcript("s")
    assert said.messages == (UserMessage(text="Go."),)


async def _thoughtful(given: PlanInput) -> FinalResponse:
    await asyncio.sleep(1)
    return FinalResponse(text="hi")


async def test_last_words_are_heard_in_the_next_turn() -> None:
    planner = ScriptedPlanner([_thoughtful], [texts])
    async with running(agent("x.agent", planner, policy=SPEAKING)) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        handle = await client.start("Go.", session_id="s")
        await asyncio.sleep(0.5)
        await handle.interrupt("bye")
        await handle.interrupt("really")
        assert (await handle.result()).text == "hi"
        output = await client.run("Again.", session_id="s")
    assert output.text == "[Go.] [hi] [bye] [really] [Again.]"


async def test_last_words_are_heard_after_a_failure() -> None:
    async def failing(given: PlanInput) -> FinalResponse:
        await asyncio.sleep(1)
        raise SystemExit

    planner = ScriptedPlanner([failing], [texts])
    async with running(agent("x.agent", planner, policy=SPEAKING)) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        handle = await client.start("Go.", session_id="s")
        await asyncio.sleep(0.5)
        await handle.interrupt("bye")
        assert (await handle.result()).status == "failed"
        output = await client.run("Again.", session_id="s")
    assert output.text == "[Go.] [bye] [Again.]"


async def test_last_words_are_heard_after_a_cancellation() -> None:
    planner = ScriptedPlanner([_thoughtful], [texts])
    async with running(agent("x.agent", planner, policy=SPEAKING)) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        handle = await client.start("Go.", session_id="s")
        await asyncio.sleep(0.5)
        await handle.interrupt("Rather this.")
        await handle.cancel()
        output = await client.run("Again.", session_id="s")
    assert output.text == "[Go.] [Rather this.] [Again.]"


async def test_words_that_were_heard_are_there_once() -> None:
    planner = ScriptedPlanner([calling(work("x", 1)), texts], [texts])
    bench = Bench()
    async with running(agent("x.agent", planner, bench.toolset, policy=SPEAKING)) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        handle = await client.start("Go.", session_id="s")
        await asyncio.sleep(0.5)
        await handle.pause()
        await handle.interrupt("Quick.")
        await handle.resume("Now.")
        assert (await handle.result()).text == "[Go.] [] [results] [Quick.] [Now.]"
        output = await client.run("Again.", session_id="s")
    assert output.text.count("[Quick.]") == 2
    assert output.text.startswith("[Go.] [] [results] [Quick.] [Now.] [[Go.]")


async def test_who_takes_over_hears_what_was_said_to_the_one_before() -> None:
    async def handing(given: PlanInput) -> HandOver:
        await asyncio.sleep(1)
        return HandOver(agent="x.b", message="Yours.")

    agents = (
        agent("x.a", ScriptedPlanner([handing]), transfers=("x.b",), policy=SPEAKING),
        agent("x.b", ScriptedPlanner([texts])),
    )
    async with running(*agents) as (runtime, _):
        handle = await agents_of(runtime).client("x.a").start("Go.", session_id="s")
        await asyncio.sleep(0.5)
        await handle.interrupt("quick")
        output = await handle.result()
    assert output.text == "[Go.] [Yours.] [quick] [Yours.]"


class Full(MemorySessionStore):
    """Takes no results of calls."""

    async def answer(self, run_id: str, answer: ToolAnswer) -> None:
        raise OSError("no space left")


async def test_a_result_that_cannot_be_kept_at_once_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    planner = ScriptedPlanner([calling(("add", {"a": 1, "b": 1})), lambda given: answers(given)[0]])
    async with running(agent("x.agent", planner), sessions=Full()) as (runtime, _):
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        (said,) = await agents_of(runtime).sessions.transcript("s")
    assert output.text == "2"
    assert any(isinstance(one, ToolMessage) for one in said.messages)
    assert "was not stored yet" in caplog.text
