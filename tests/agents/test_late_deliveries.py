"""Answers that come when their session has ended, or while it ends: each is late, or its result is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from itertools import product
from pathlib import Path
from typing import Final

import pytest

from tests.many_workers import ManyWorkers
from tests.virtual_time import now
from toolgen.agents import (
    Await,
    FinalResponse,
    MemorySessionStore,
    PlanInput,
    PlanResult,
    ScriptedPlanner,
    SessionStore,
    SqliteSessionStore,
    UserMessage,
    agents_of,
)
from toolgen.agents.sessions.sqlite import SESSIONS
from toolgen.agents.sessions.tables import TableSessionStore
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime, Suspended
from toolgen.stores.sqlite_file import SqliteFile
from toolgen.waiting import ConflictingAnswerError, LateAnswerError, WaitOptions

from .test_long_work import long_running
from .tools import agent, calling, engine_of, exported, running, waiting

Opened = AbstractAsyncContextManager[tuple[Runtime, InProcessEngine]]
Open = Callable[[], Opened]
STORES: Final[dict[str, Callable[[Path], tuple[InProcessEngine, SessionStore | None]]]] = {
    "memory": lambda _: (InProcessEngine(clock=now), None),
    "one file": lambda folder: (InProcessEngine(folder / "runs.db", clock=now), None),
    "one file, FULL": lambda folder: (
        InProcessEngine(folder / "runs.db", clock=now, synchronous="FULL"),
        None,
    ),
    "sessions apart": lambda folder: (
        InProcessEngine(folder / "runs.db", clock=now),
        SqliteSessionStore(folder / "sessions.db", clock=now),
    ),
    "sessions in a file": lambda folder: (
        InProcessEngine(clock=now),
        SqliteSessionStore(folder / "sessions.db", clock=now),
    ),
}
"""Where runs and conversations are; those of one file are in one transaction."""


ENDS_LATER: Final = (60, 300, 3_000, 10_000)
"""Turns of the event loop for which the end waits, where a thread writes the file meanwhile."""
FAR: Final = 1e11
"""A time after every end of a session, in seconds since 1970."""


class Exporting:
    """Makes the call of each turn of a person, and answers with what it is told then."""

    def __init__(self, *calls: str) -> None:
        self._calls = calls

    async def plan_start(self, given: PlanInput) -> PlanResult:
        newest = given.messages[-1]
        is_asked = isinstance(newest, UserMessage) and newest.source != "runtime"
        return calling(*self._calls) if is_asked else FinalResponse(text="done")

    async def plan_resume(self, given: PlanInput) -> PlanResult:
        return FinalResponse(text="done")


@pytest.fixture(autouse=True)
def engine_in() -> None:
    """Run each test once: it has engines of its own."""


@pytest.fixture(params=STORES)
def open_stores(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Return what opens a runtime with an agent that leaves work pending."""
    return lambda: opened(*STORES[request.param](tmp_path))


def opened(engine: InProcessEngine, sessions: SessionStore | None = None) -> Opened:
    one = agent("x.agent", Exporting("update"), long_running(ack=True))
    return running(one, engine=engine, sessions=sessions)


async def pending_work(runtime: Runtime, session_id: str = "s") -> Suspended:
    """Lead a turn that leaves work pending, and return that."""
    output = await agents_of(runtime).client("x.agent").run("Go.", session_id=session_id)
    (work,) = output.pending
    return work


async def said_later(runtime: Runtime, session_id: str = "s") -> list[str]:
    """Return what the runtime has said in a conversation of pending work."""
    said = await agents_of(runtime).sessions.transcript(session_id)
    messages = [message for run in said for message in run.messages if isinstance(message, UserMessage)]
    return [message.text for message in messages if message.source == "runtime"]


DONE: Final = 'The work of update (call_0_0) is done: "2.4.0"'


async def test_work_is_not_taken_after_the_end_of_its_session(open_stores: Open) -> None:
    async with open_stores() as (runtime, engine):
        work = await pending_work(runtime)
        await agents_of(runtime).sessions.end("s")
        with pytest.raises(LateAnswerError, match="the session 's' has ended, and the answer was not stored"):
            await runtime.suspensions.answer(work.token, "2.4.0")
        assert await engine.accepted_answer(work.run_id, "wait:1") is None
        assert (await engine.status(work.run_id)).state == "waiting"
        assert [asked.token for asked in await runtime.suspensions.list("s")] == [work.token]
        taken_back = await runtime.suspensions.cancel(work.token, "the session is over")
        assert taken_back.status == "unknown"
        await engine.result(work.run_id)
        told = '{"unknown":"the session is over; the work may be done all the same"}'
        assert await said_later(runtime) == [f"The work of update (call_0_0) has an unknown outcome: {told}"]


async def test_work_that_was_taken_before_is_in_the_conversation(open_stores: Open) -> None:
    async with open_stores() as (runtime, engine):
        agents = agents_of(runtime)
        work = await pending_work(runtime)
        other = await agents.client("x.agent").start("Go.", session_id="s")  # has the turn
        done = await runtime.suspensions.answer(work.token, "2.4.0")
        assert done.json == b'"2.4.0"'
        await agents.sessions.end("s")
        await other.result()
        status = await asyncio.wait_for(engine.result(work.run_id), 600)
        assert status.state == "completed"
        assert await said_later(runtime) == [DONE]
        again = await runtime.suspensions.answer(work.token, "2.4.0")
        assert again.json == done.json, "it was accepted, so it is no late one"
        with pytest.raises(ConflictingAnswerError):
            await runtime.suspensions.answer(work.token, "2.5.0")


async def raced(runtime: Runtime, number: int, delivers_after: int, ends_after: int) -> str:
    """Deliver and end at once, after so many turns of the event loop each; return what came of it."""
    session_id = f"s{number}"
    work = await pending_work(runtime, session_id)

    async def deliver() -> str:
        for _ in range(delivers_after):
            await asyncio.sleep(0)
        try:
            return (await runtime.suspensions.answer(work.token, "2.4.0")).status
        except LateAnswerError:
            return "late"

    async def end() -> None:
        for _ in range(ends_after):
            await asyncio.sleep(0)
        await agents_of(runtime).sessions.end(session_id)

    told, _ = await asyncio.gather(deliver(), end())
    engine = engine_of(runtime)
    is_stored = await engine.accepted_answer(work.run_id, "wait:1") is not None
    assert is_stored == (told == "ok"), f"{told}, and the answer is stored: {is_stored}"
    if is_stored:
        assert (await asyncio.wait_for(engine.result(work.run_id), 600)).state == "completed"
    expected = [DONE] if is_stored else []
    assert await said_later(runtime, session_id) == expected
    return told


async def test_of_an_end_and_a_delivery_at_once_each_order_has_one_outcome(open_stores: Open) -> None:
    async with open_stores() as (runtime, _):
        pairs = enumerate(product(range(0, 20, 4), (*range(0, 24, 3), *ENDS_LATER)))
        told = [await raced(runtime, number, *pair) for number, pair in pairs]
    assert {"ok", "late"} == set(told)


async def test_the_end_of_the_same_transaction_comes_first(tmp_path: Path) -> None:
    async with opened(InProcessEngine(tmp_path / "runs.db", clock=now)) as (runtime, engine):
        work = await pending_work(runtime)
        store = SqliteSessionStore(engine.file) if engine.file is not None else None
        assert store is not None
        ended, receipt = await asyncio.gather(
            store.end("s"),
            engine.answer(work.run_id, "wait:1", {}, key="k", session="s"),
            return_exceptions=True,
        )
        assert not isinstance(ended, BaseException)
        assert "has ended" in str(receipt)
        assert await engine.accepted_answer(work.run_id, "wait:1") is None


async def test_a_process_without_agents_cannot_deliver_either(tmp_path: Path) -> None:
    async with opened(InProcessEngine(tmp_path / "runs.db", clock=now)) as (runtime, _):
        work = await pending_work(runtime)
        await agents_of(runtime).sessions.end("s")
        client = Runtime(
            engine=InProcessEngine(tmp_path / "runs.db", worker=False, clock=now),
            waiting=WaitOptions(clock=now),
        )
        async with client:
            with pytest.raises(LateAnswerError, match="the session 's' has ended"):
                await client.suspensions.answer(work.token, "2.4.0", wait_s=1)


async def test_an_engine_with_many_workers_asks_the_store_of_the_sessions(tmp_path: Path) -> None:
    sessions = TableSessionStore(SqliteFile(tmp_path / "sessions.db", SESSIONS), clock=now)
    async with opened(ManyWorkers(clock=now), sessions) as (runtime, _):
        work = await pending_work(runtime)
        await agents_of(runtime).sessions.end("s")
        with pytest.raises(LateAnswerError, match="the session 's' has ended"):
            await runtime.suspensions.answer(work.token, "2.4.0")


async def test_work_of_a_session_that_was_dropped_brings_it_back_no_more(open_stores: Open) -> None:
    async with open_stores() as (runtime, engine):
        agents = agents_of(runtime)
        work = await pending_work(runtime)
        await agents.sessions.end("s")
        await agents.forget(FAR)
        with pytest.raises(LateAnswerError, match="the session 's' has ended"):
            await runtime.suspensions.answer(work.token, "2.4.0")
        await runtime.suspensions.cancel(work.token)
        await engine.result(work.run_id)
        assert await agents.sessions.list() == ()


async def test_work_of_an_agent_below_is_in_the_conversation_too(tmp_path: Path) -> None:
    below = agent("x.below", Exporting("update"), long_running(ack=True))
    above = agent("x.agent", Exporting("look"), exported("x.desk", "x.below"))
    engine = InProcessEngine(tmp_path / "runs.db", clock=now)
    async with running(below, above, engine=engine) as (runtime, _):
        agents = agents_of(runtime)
        await agents.client("x.agent").run("Go.", session_id="s")
        (work,) = await runtime.suspensions.list("s")
        other = await agents.client("x.agent").start("Go.", session_id="s")
        await runtime.suspensions.answer(work.token, "2.4.0")
        await agents.sessions.end("s")
        await other.result()
        await asyncio.wait_for(engine.result(work.run_id), 600)
        (said,) = await said_later(runtime)
        assert said.endswith(' of x.below) is done: "2.4.0"')


async def test_a_direct_call_of_an_ended_session_is_not_approved(open_stores: Open) -> None:
    emptied: list[str] = []

    async def empty(folder: str) -> str:
        """Empty a folder."""
        emptied.append(folder)
        return "empty"

    tool = func_tool(empty, toolset="x.disk", confirm=ConfirmSpec(hint="Empty {folder}?"))
    async with open_stores() as (runtime, _):
        runtime.tools.register(function_toolset("x.disk", [tool]))
        await pending_work(runtime)
        asked = [
            (await runtime.call("empty", {"folder": "old"}, CallMeta(session_id=session))).suspension
            for session in ("s", "no session of an agent")
        ]
        await agents_of(runtime).sessions.end("s")
        in_session, alone = [each.token for each in asked if each is not None]
        with pytest.raises(LateAnswerError, match="the session 's' has ended"):
            await runtime.suspensions.answer(in_session, {"approved": True})
        assert (await runtime.suspensions.cancel(in_session)).status == "denied"
        assert emptied == []
        assert (await runtime.suspensions.answer(alone, {"approved": True})).status == "ok"


async def test_a_question_of_a_planner_is_not_answered_where_its_run_is_not_canceled_yet(
    tmp_path: Path,
) -> None:
    for number, (engine, sessions) in enumerate(
        (
            (InProcessEngine(clock=now), MemorySessionStore()),
            (InProcessEngine(tmp_path / "runs.db", clock=now), None),
        )
    ):
        one = agent("x.agent", ScriptedPlanner([Await(kind="clarification", question="When?"), "done"]))
        async with running(one, engine=engine, sessions=sessions) as (runtime, _):
            handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
            asked = await waiting(handle)
            store = sessions or SqliteSessionStore(engine.file or "")
            await store.end("s")  # whoever ended it was killed before the run was canceled
            with pytest.raises(LateAnswerError, match="the session 's' has ended"):
                await handle.answer(asked, "now")
            assert (await handle.output()).status == "waiting", number


async def test_a_session_that_is_dropped_while_its_result_waits_stays_dropped(open_stores: Open) -> None:
    async with open_stores() as (runtime, engine):
        agents = agents_of(runtime)
        work = await pending_work(runtime)
        other = await agents.client("x.agent").start("Go.", session_id="s")
        await runtime.suspensions.answer(work.token, "2.4.0")
        await agents.sessions.end("s")
        await other.result()
        await agents.forget(FAR)
        await asyncio.wait_for(engine.result(work.run_id), 600)
        assert await agents.sessions.list() == ()
