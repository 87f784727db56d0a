"""Sessions over several turns, and the log of a run for readers and subscribers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.agents.tools import agent, calling, first_answer, running, texts
from toolgen.agents import (
    EndedSessionError,
    FinalResponse,
    History,
    Message,
    PlanInput,
    RunFailedError,
    RunPolicy,
    ScriptedPlanner,
    SessionBusyError,
    SessionError,
    UnknownRunError,
    agents_of,
)
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.engines import InProcessEngine
from toolgen.events.document import as_json, from_json
from toolgen.events.hub import Events
from toolgen.events.records import Event
from toolgen.runtime import Runtime

ADD = calling(("add", {"a": 1, "b": 1}))


async def test_turns_follow_one_another() -> None:
    planner = ScriptedPlanner(["one"], [texts], [texts])
    async with running(agent("x.agent", planner)) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        await client.run("First.", session_id="s", labels={"user": "mira"})
        assert (await client.run("Second.", session_id="s")).text == "[First.] [one] [Second.]"
        assert (await client.run("Other.", session_id="t")).text == "[Other.]"
        assert (await client.one_shot("Alone.")).text == "[Alone.]"
        sessions = agents_of(runtime).sessions
        assert {session.id for session in await sessions.list()} == {"s", "t"}
        assert (await sessions.get("s")).labels == {"user": "mira"}
        assert len(await sessions.transcript("s")) == 2
        await sessions.end("s")
        with pytest.raises(EndedSessionError):
            await client.run("Third.", session_id="s")


async def test_a_turn_needs_a_session() -> None:
    async with running(agent("x.agent", ScriptedPlanner(["one"]))) as (runtime, _):
        with pytest.raises(SessionError, match="session id is empty") as failure:
            await agents_of(runtime).client("x.agent").start("First.", session_id="")
        assert failure.value.hint == "pass a session id, or use one_shot(…)"
        assert await agents_of(runtime).sessions.list() == ()


async def test_a_file_keeps_a_conversation_for_the_next_process(tmp_path: Path) -> None:
    for number, expected in enumerate(["[Hi.]", "[Hi.] [[Hi.]] [Again.]"]):
        store = SqliteSessionStore(tmp_path / "sessions.db")
        async with running(agent("x.agent", ScriptedPlanner([texts])), sessions=store) as (runtime, _):
            said = "Again." if number else "Hi."
            assert (await agents_of(runtime).client("x.agent").run(said, session_id="s")).text == expected


async def test_the_newest_turns_are_kept() -> None:
    policy = RunPolicy(history=History(keep_turns=1))
    async with running(agent("x.agent", ScriptedPlanner([texts]), policy=policy)) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        found = [(await client.run(str(number), session_id="s")).text for number in range(3)]
    assert found == ["[0]", "[0] [[0]] [1]", "[1] [[0] [[0]] [1]] [2]"]


class Forgetful(ScriptedPlanner):
    """Says how much it summarizes."""

    async def summarize(self, messages: tuple[Message, ...], given: PlanInput, history: History) -> str:
        return f"{len(messages)} messages"


async def test_older_turns_are_summarized() -> None:
    policy = RunPolicy(history=History(keep_turns=1, summarize_after=1))
    planner = Forgetful(["a"], ["b"], [texts])
    async with running(agent("x.agent", planner, policy=policy)) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        for said in ("1", "2"):
            await client.run(said, session_id="s")
        output = await client.run("3", session_id="s")
        summary = await agents_of(runtime).sessions.summary("s")
    assert output.text == "[Summary of the conversation so far: 2 messages] [2] [b] [3]"
    assert summary is not None


async def _slowly(given: PlanInput) -> FinalResponse:
    await asyncio.sleep(0.05)
    return FinalResponse(text="done")


async def test_one_turn_goes_on_at_a_time() -> None:
    async with running(agent("x.agent", ScriptedPlanner([_slowly]))) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        at_once = [client.run("Go.", session_id="s") for _ in range(4)]
        found = await asyncio.gather(*at_once, return_exceptions=True)
        assert [type(one) for one in found].count(SessionBusyError) == 3
        same = [client.run("Go.", session_id="t", run_id="run-1") for _ in range(4)]
        assert {output.run_id for output in await asyncio.gather(*same)} == {"run-1"}
        assert len(await agents_of(runtime).sessions.transcript("t")) == 1


async def _all(events: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in events]


async def test_a_log_is_read_again_from_any_place() -> None:
    planner = ScriptedPlanner([ADD, first_answer])
    async with running(agent("x.agent", planner)) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        first, second = await asyncio.gather(_all(handle.events()), _all(handle.events(after=4)))
        assert [event.seq for event in first] == list(range(1, len(first) + 1))
        assert second == first[4:]
        assert [event async for event in handle.events()] == first
        assert list(await runtime.runs.events(handle.run_id)) == first
        assert all(from_json(as_json(event)) == event for event in first)
        streamed = [
            event.type async for event in agents_of(runtime).client("x.agent").stream("Go.", session_id="t")
        ]
        assert streamed == [event.type for event in first]


async def test_subscribers_hear_each_event_once() -> None:
    hub = Events()
    planner = ScriptedPlanner([ADD, first_answer])
    async with running(agent("x.agent", planner), events=hub) as (runtime, _):
        told = hub.subscribe()
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        logged = await runtime.runs.events(output.run_id)
        hub.close()
        assert [event async for event in told] == list(logged)


async def test_what_nobody_ran_is_not_known() -> None:
    async with running(agent("x.agent", ScriptedPlanner([]))) as (runtime, _):
        handle = agents_of(runtime).client("x.agent").handle("run_none")
        for asked in (
            handle.output(),
            handle.settled(),
            handle.cancel(),
            agents_of(runtime).snapshot("run_none"),
        ):
            with pytest.raises(UnknownRunError):
                await asked
        with pytest.raises(UnknownRunError):
            await runtime.runs.events("run_none")


async def test_runs_are_listed_by_their_state() -> None:
    async with running(agent("x.agent", ScriptedPlanner(["a"], []))) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        good = await client.one_shot("Go.")
        with pytest.raises(RunFailedError, match=r"^the run run_\w+ failed: .* has 0 steps") as failed:
            await client.one_shot("Go.")
        bad = failed.value.output
        assert (bad.status, bad.text) == ("failed", "")
        listed = await agents_of(runtime).list_runs()
    assert [run.run_id for run in listed] == [bad.run_id, good.run_id]
    assert [run.status for run in listed] == ["failed", "completed"]


async def test_closing_a_runtime_leaves_its_runs() -> None:
    engine = InProcessEngine()
    runtime = Runtime(engine=engine)
    agents_of(runtime).register(agent("x.agent", ScriptedPlanner([calling("hang")])))
    async with runtime:
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        await asyncio.sleep(0.02)
    assert (await engine.status(handle.run_id)).state == "running"
