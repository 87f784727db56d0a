"""What a planning reads of the session: the turns that its history policy shows, and each of them once."""

from __future__ import annotations

from typing import Any

from tests.agents.tools import agent, calling, first_answer, running, texts
from toolgen.agents import (
    HandOver,
    History,
    Message,
    PlanInput,
    RunPolicy,
    ScriptedPlanner,
    agents_of,
)
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.agents.sessions.sessions import RunMessages

ADD = calling(("add", {"a": 1, "b": 1}))


class CountingStore(MemorySessionStore):
    """Knows how many messages were read."""

    def __init__(self) -> None:
        super().__init__()
        self.read = 0

    async def run_messages(self, run_id: str, **given: Any) -> tuple[Message, ...]:
        found = await super().run_messages(run_id, **given)
        self.read += len(found)
        return found

    async def transcript(self, session_id: str, **given: Any) -> tuple[RunMessages, ...]:
        found = await super().transcript(session_id, **given)
        self.read += sum(len(one.messages) for one in found)
        return found


class Short(ScriptedPlanner):
    """Summarizes."""

    async def summarize(self, messages: tuple[Message, ...], given: PlanInput, history: History) -> str:
        return "short"


async def test_a_turn_reads_the_turns_that_the_policy_shows() -> None:
    store = CountingStore()
    policy = RunPolicy(history=History(keep_turns=2))
    planner = ScriptedPlanner(["one"])
    read = []
    async with running(agent("x.agent", planner, policy=policy), sessions=store) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        for number in range(12):
            before = store.read
            await client.run(str(number), session_id="s")
            read.append(store.read - before)
    assert len(set(read[3:])) == 1, read


async def test_a_turn_reads_nothing_that_the_summary_covers() -> None:
    store = CountingStore()
    policy = RunPolicy(history=History(keep_turns=1, summarize_after=2))
    read = []
    async with running(agent("x.agent", Short(["one"]), policy=policy), sessions=store) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        for number in range(24):
            before = store.read
            await client.run(str(number), session_id="s")
            read.append(store.read - before)
    assert max(read[12:]) <= max(read[:12]), read


async def test_the_rounds_of_a_run_read_nothing_again() -> None:
    read = []
    for rounds in (2, 20):
        store = CountingStore()
        planner = ScriptedPlanner([*[ADD] * rounds, first_answer])
        async with running(agent("x.agent", planner), sessions=store) as (runtime, _):
            output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        assert output.text == "2"
        read.append(store.read)
    assert read[0] == read[1]


async def test_a_run_that_has_the_conversation_back_hears_what_was_said_meanwhile() -> None:
    first = ScriptedPlanner([ADD, HandOver(agent="x.b", message="Yours."), texts])
    second = ScriptedPlanner([ADD, calling("back")])
    agents = agent("x.a", first, transfers=("x.b",)), agent("x.b", second)
    async with running(*agents) as (runtime, _):
        output = await agents_of(runtime).client("x.a").run("Go.", session_id="s")
    assert "[Yours.]" in output.text
    assert output.text.count("[results]") == 3
