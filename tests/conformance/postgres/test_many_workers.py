"""Runs that several workers execute in turns, over one database of sessions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from tests.agents.tools import Bench, agent, calling, everything, first_answer, is_paired, texts, work
from tests.many_workers import SECRET, Cluster
from tests.selection import volume
from toolgen.adapters.postgres import Postgres, PostgresSessionStore
from toolgen.agents import AgentRegistration, Agents, Await, PlanInput, ScriptedPlanner, agents_of, host
from toolgen.calls.functions.tools import func_tool
from toolgen.events.hub import Events
from toolgen.events.telemetry.spans import ToolSpans
from toolgen.runtime import ConfirmSpec, Runtime

SEEDS = range(volume(2, lab=6))


@asynccontextmanager
async def workers(
    database: Postgres,
    seed: int,
    *agents: AgentRegistration,
    events: Events | None = None,
    spans: Callable[[], ToolSpans | None] = lambda: None,
) -> AsyncIterator[list[Runtime]]:
    """Yield the open runtimes of three workers with these agents."""
    cluster = Cluster(seed)
    runtimes = [
        Runtime(engine=cluster.worker(), secret=SECRET, events=events, spans=spans()) for _ in range(3)
    ]
    for runtime in runtimes:
        made = Agents(runtime, sessions=PostgresSessionStore(database))
        for one in agents:
            made.register(one)
    async with AsyncExitStack() as stack:
        for runtime in runtimes:
            await stack.enter_async_context(runtime)
        yield runtimes


class Growing:
    """A toolset whose one tool has another name in each planning."""

    name = "x.growing"

    def __init__(self) -> None:
        self.version = 0

    async def tools(self, context: Any) -> Any:
        return [func_tool(self.grow, toolset="x.growing", name=f"grow_{self.version}")]

    async def grow(self) -> int:
        """Grow."""
        self.version += 1
        return self.version


@pytest.mark.volume
@pytest.mark.parametrize("seed", SEEDS)
async def test_a_call_is_executed_as_its_planning_saw_the_tools(database: Postgres, seed: int) -> None:
    steps = [calling(f"grow_{step}") for step in range(5)]
    one = agent("x.agent", ScriptedPlanner([*steps, first_answer]), dynamic=(Growing(),))
    async with workers(database, seed, one) as (first, *_):
        output = await agents_of(first).client("x.agent").run("Go.", session_id="s")
    assert output.text == "5"


@pytest.mark.volume
@pytest.mark.parametrize("seed", SEEDS)
async def test_each_planning_sees_what_others_have_planned(database: Postgres, seed: int) -> None:
    seen: list[str] = []

    def tell(given: PlanInput) -> str:
        assert is_paired(given)
        seen.append(texts(given))
        return f"turn {len(seen)}"

    bench = Bench()
    steps: list[Any] = [calling(work("a"), work("b")), calling(work("c"), text="more"), tell]
    one = agent("x.agent", ScriptedPlanner(steps), bench.toolset)
    async with workers(database, seed, one) as runtimes:
        for number, runtime in enumerate(runtimes, 1):
            output = await agents_of(runtime).client("x.agent").run(f"say {number}", session_id="s")
            assert output.text == f"turn {number}"
    turn = "[say {}] [] [results] [more] [results]"
    ends = ["", " [turn 1] ", " [turn 2] "]
    assert seen[2] == "".join(turn.format(n) + end for n, end in zip((1, 2, 3), [*ends[1:], ""], strict=True))
    assert sorted(bench.did) == sorted(f"{name} {what}" for name in "abc" * 3 for what in ("begins", "ends"))


@pytest.mark.volume
@pytest.mark.parametrize("seed", SEEDS)
async def test_events_have_their_session_and_the_turn_is_free_whoever_hears_the_end(
    database: Postgres, seed: int
) -> None:
    events = Events()
    told = events.subscribe()
    sessions = PostgresSessionStore(database)
    asks: list[Any] = [Await(kind="clarification", question="When?")]
    async with workers(database, seed, agent("x.agent", ScriptedPlanner(asks)), events=events) as runtimes:
        client = agents_of(runtimes[0]).client("x.agent")
        for number, runtime in enumerate(runtimes):
            handle = await client.start(f"{number}", session_id="s")
            await handle.settled()
            again = agents_of(runtime).client("x.agent").handle(handle.run_id, session_id="s")
            await again.cancel("enough")
            await again.result()
    assert await sessions.holder("s") is None
    events.close()
    found = [event async for event in told]
    assert {event.session_id for event in found} == {"s"}
    turns = list(dict.fromkeys(event.turn_id for event in found))
    assert len(turns) == 3
    of_last = sorted(
        (event for event in found if event.turn_id == turns[-1] and event.seq), key=lambda one: one.seq
    )
    assert [event.type for event in of_last[-2:]] == ["run_completed", "run_stream_end"]
    assert [event.seq for event in of_last] == list(range(1, len(of_last) + 1))


@pytest.mark.volume
@pytest.mark.parametrize("seed", SEEDS)
async def test_an_answer_to_any_worker_resumes_the_call_once(database: Postgres, seed: int) -> None:
    ran: list[str] = []

    async def wipe(disk: str) -> str:
        """Wipe a disk."""
        ran.append(disk)
        return f"{disk} is empty"

    class Disks:
        name = "x.disks"

        async def tools(self, context: Any) -> Any:
            return [func_tool(wipe, toolset="x.disks", confirm=ConfirmSpec())]

    script: list[Any] = [
        calling(("wipe", {"disk": "a"}), ("wipe", {"disk": "b"})),
        everything,
    ]
    one = agent("x.agent", ScriptedPlanner(script), dynamic=(Disks(),))
    async with workers(database, seed, one) as runtimes:
        handle = await agents_of(runtimes[0]).client("x.agent").start("Go.", session_id="s")
        asked = (await handle.settled()).awaiting
        for runtime, one_asked in zip(runtimes[1:], asked, strict=True):
            done = await runtime.suspensions.answer(one_asked.token, {"approved": True})
            assert done.status == "ok"
        output = await handle.result()
    assert output.text == '"a is empty" | "b is empty"'
    assert sorted(ran) == ["a", "b"]


async def test_what_a_process_has_dropped_of_a_run_is_read_again(
    database: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "MOST_RUNS", 1)
    events = Events()
    told = events.subscribe()
    bench = Bench()
    script: list[Any] = [calling(work("a")), calling(("ask", {"name": "q"})), calling(work("b")), everything]
    one = agent("x.agent", ScriptedPlanner(script), bench.toolset)
    async with workers(database, 1, one, events=events) as runtimes:

        async def lead(session: str) -> str:
            client = agents_of(runtimes[0]).client("x.agent")
            handle = await client.start("Go.", session_id=session)
            (asked,) = (await handle.settled()).awaiting
            await handle.answer(asked, "yes")
            return (await handle.result()).text

        assert await asyncio.gather(*map(lead, "pqrst")) == ['"b"'] * 5
    events.close()
    found = [event async for event in told]
    ids = {(event.run_id, event.session_id, event.turn_id) for event in found}
    assert {session for _, session, _ in ids} == {*"pqrst"}
    assert len(ids) == 5
    assert [event.type for event in found].count("run_stream_end") == 5
