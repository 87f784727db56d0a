"""One turn of a session goes on at a time, whichever engine has its run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.agents.tools import agent, calling, first_answer, keeping, running, texts, waiting
from tests.virtual_time import now
from toolgen.agents import (
    Agents,
    AssistantMessage,
    EndedSessionError,
    EngineLease,
    FinalResponse,
    PlanInput,
    ScriptedPlanner,
    SessionBusyError,
    Turn,
    TurnHolder,
    UnknownSessionError,
    UserMessage,
    agents_of,
)
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.engines import Engine, EngineError, InProcessEngine
from toolgen.runtime import Runtime


def asking() -> ScriptedPlanner:
    return ScriptedPlanner([calling("ask"), first_answer])


async def test_a_run_elsewhere_keeps_its_turn_until_it_is_over() -> None:
    sessions = MemorySessionStore(clock=now)
    first, second = agent("x.agent", asking()), agent("x.agent", ScriptedPlanner([texts]))
    async with (
        running(first, sessions=sessions, **keeping()) as (here, _),
        running(second, sessions=sessions) as (there, _),
    ):
        handle = await agents_of(here).client("x.agent").start("Go.", session_id="s")
        awaiting = await waiting(handle)
        await asyncio.sleep(60)  # it beats all the while
        client = agents_of(there).client("x.agent")
        with pytest.raises(SessionBusyError) as caught:
            await client.run("And?", session_id="s")
        assert caught.value.run_id == handle.run_id
        (said,) = await sessions.transcript("s")
        assert [type(one) for one in said.messages] == [UserMessage, AssistantMessage]
        await handle.answer(awaiting, "Mira")
        assert (await handle.result()).text == '"hello Mira"'
        output = await client.run("And?", session_id="s")
        assert output.text == '[Go.] [] [results] ["hello Mira"] [And?]'


async def test_the_turn_of_an_engine_that_was_closed_is_free() -> None:
    sessions, engine = MemorySessionStore(clock=now), InProcessEngine(clock=now)
    async with running(agent("x.agent", asking()), sessions=sessions, engine=engine) as (runtime, _):
        await waiting(await agents_of(runtime).client("x.agent").start("Go.", session_id="s"))
    async with running(agent("x.agent", ScriptedPlanner(["hi"])), sessions=sessions) as (runtime, _):
        assert (await agents_of(runtime).client("x.agent").run("Go.", session_id="s")).text == "hi"


@pytest.mark.parametrize("is_durable", [False, True])
async def test_the_turn_of_an_engine_that_is_gone_is_free_unless_it_comes_back(is_durable: bool) -> None:
    sessions = MemorySessionStore(clock=now)
    await sessions.create("s", "x.agent")
    turn = Turn(id="t", session_id="s", run_id="gone", agent="x.agent", started_at=0.0)
    await sessions.take(turn, EngineLease(engine_id="e", is_durable=is_durable, seconds=15.0), [])
    async with running(agent("x.agent", ScriptedPlanner(["hi"])), sessions=sessions) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        await asyncio.sleep(14)
        with pytest.raises(SessionBusyError, match="run 'gone' of session 's' is not over"):
            await client.run("Go.", session_id="s")
        await asyncio.sleep(2)
        if is_durable:
            with pytest.raises(SessionBusyError):
                await client.run("Go.", session_id="s")
        else:
            assert (await client.run("Go.", session_id="s")).text == "hi"


async def test_a_run_that_its_engine_never_started_has_no_turn_for_long() -> None:
    sessions, engine = MemorySessionStore(clock=now), InProcessEngine(clock=now)
    await sessions.create("s", "x.agent")
    turn = Turn(id="t", session_id="s", run_id="lost", agent="x.agent", started_at=0.0)
    await sessions.take(turn, EngineLease(engine_id=engine.id, is_durable=False, seconds=15.0), [])
    async with Runtime(engine=engine) as runtime:
        Agents(runtime, sessions=sessions).register(agent("x.agent", ScriptedPlanner(["hi"])))
        client = agents_of(runtime).client("x.agent")
        with pytest.raises(SessionBusyError):
            await client.run("Go.", session_id="s")
        await asyncio.sleep(11)
        assert (await client.run("Go.", session_id="s")).text == "hi"


async def test_a_start_that_fails_keeps_no_turn() -> None:
    engine: Engine = InProcessEngine(max_payload_bytes=2000)
    async with Runtime(engine=engine) as runtime:
        agents_of(runtime).register(agent("x.agent", ScriptedPlanner([lambda given: "hi"])))
        client = agents_of(runtime).client("x.agent")
        with pytest.raises(EngineError):
            await client.run("x" * 3000, session_id="s")
        assert (await client.run("Go.", session_id="s")).text == "hi"


async def test_a_turn_that_was_handed_over_and_back_is_over_with_its_first_run() -> None:
    sessions = MemorySessionStore(clock=now)

    async def slowly(given: PlanInput) -> FinalResponse:
        await asyncio.sleep(2)
        return FinalResponse(text="done")

    first = ScriptedPlanner([calling(("go", {"agent": "x.b"})), slowly])
    agents = agent("x.a", first, transfers=("x.b",)), agent("x.b", ScriptedPlanner([calling("back")]))
    async with running(*agents, sessions=sessions) as (runtime, _):
        client = agents_of(runtime).client("x.a")
        handle = await client.start("Go.", session_id="s")
        await asyncio.sleep(1)
        with pytest.raises(SessionBusyError) as caught:
            await client.start("And?", session_id="s")
        assert caught.value.run_id == handle.run_id
        await handle.result()
        assert await sessions.holder("s") is None


async def test_the_end_of_a_session_cancels_its_run() -> None:
    async with running(agent("x.agent", asking()), **keeping()) as (runtime, _):
        client, sessions = agents_of(runtime).client("x.agent"), agents_of(runtime).sessions
        handle = await client.start("Go.", session_id="s")
        await waiting(handle)
        assert (await sessions.end("s")).is_over
        assert (await handle.result()).status == "canceled"
        with pytest.raises(EndedSessionError):
            await client.start("And?", session_id="s")
        assert (await sessions.end("s")).is_over
        await client.run("Go.", session_id="t")
        with pytest.raises(UnknownSessionError):
            await sessions.end("nobody's")


async def test_a_session_that_ends_while_its_run_is_started_cancels_it() -> None:
    class EndsOnce(MemorySessionStore):
        async def take(self, turn: Turn, *more: Any, **how: Any) -> TurnHolder:
            held = await super().take(turn, *more, **how)
            await agents_of(made).sessions.end(turn.session_id)  # as another process may at any moment
            return held

    async with running(agent("x.agent", asking()), sessions=EndsOnce(clock=now)) as (made, _):
        handle = await agents_of(made).client("x.agent").start("Go.", session_id="s")
        output = await handle.settled()
        assert (output.status, output.error) == ("canceled", "the session ended")


async def test_the_end_of_a_session_leaves_a_run_elsewhere() -> None:
    sessions = MemorySessionStore(clock=now)
    async with (
        running(agent("x.agent", asking()), sessions=sessions, **keeping()) as (here, _),
        running(agent("x.agent", asking()), sessions=sessions) as (there, _),
    ):
        handle = await agents_of(here).client("x.agent").start("Go.", session_id="s")
        await waiting(handle)
        assert (await agents_of(there).sessions.end("s")).is_over
        assert (await handle.output()).status == "waiting"


async def test_a_start_that_is_cancelled_and_goes_on_keeps_its_turn(tmp_path: Path) -> None:
    engine = InProcessEngine(tmp_path / "runs.db", clock=now)
    runtime = Runtime(engine=engine)
    Agents(runtime, sessions=MemorySessionStore(clock=now)).register(agent("x.agent", asking()))
    async with runtime:
        client = agents_of(runtime).client("x.agent")
        starting = asyncio.ensure_future(client.start("Go.", session_id="s", run_id="r"))
        while not await engine.list_runs():  # noqa: ASYNC110
            await asyncio.sleep(0)
        assert not starting.done()
        starting.cancel()
        await asyncio.wait([starting])
        await engine.settled("r")
        with pytest.raises(SessionBusyError):
            await client.start("And?", session_id="s")
