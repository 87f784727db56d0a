"""Whose a run is: its id alone, which events carry, opens nothing of it to another agent or session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.agents.tools import agent, calling, exported, first_answer, running
from tests.selection import diagonal
from toolgen.agents import (
    Await,
    FinalResult,
    RunHandle,
    RunPolicy,
    ScriptedPlanner,
    ScriptStep,
    UnknownRunError,
    agents_of,
)
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.specs import LongRunningSpec
from toolgen.runtime import CallMeta, Pending, Runtime, Suspended, ToolContext, ToolOutcome, Unfinished
from toolgen.waiting.errors import ForeignAnswerError


class Safe:
    """A tool that asks first, and what it opened."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.toolset = function_toolset("x.safe", [self.open])

    async def open(self, box: str, ctx: ToolContext) -> str | Unfinished:
        """Open a box."""
        question = f"Open {box}?"
        if not ctx.approved(question):
            return ToolOutcome.approval(question)
        self.opened.append(box)
        return f"{box} is open"


def opening(box: str) -> list[ScriptStep]:
    """Return the script of a run that opens a box."""
    return [calling(("open", {"box": box})), first_answer]


@asynccontextmanager
async def bank(path: Path, safe: Safe) -> AsyncIterator[Runtime]:
    """Yield a runtime of two agents, each of which opens a box."""
    one = ScriptedPlanner(*[opening(f"box {number}") for number in "123"])
    two = ScriptedPlanner(*[opening(f"till {number}") for number in "123"])
    policy = RunPolicy(interrupts_allowed=True)
    agents = (
        agent("x.one", one, safe.toolset, policy=policy),
        agent("x.two", two, safe.toolset, policy=policy),
    )
    async with running(*agents) as (runtime, _):
        yield runtime


async def waits(handle: RunHandle) -> Suspended:
    (awaiting,) = (await asyncio.wait_for(handle.settled(), 60)).awaiting
    return awaiting


async def events(handle: RunHandle) -> list[Any]:
    return [event async for event in handle.events()]


USES: dict[str, Callable[[RunHandle, Suspended], Awaitable[Any]]] = {
    "output": lambda handle, awaiting: handle.output(),
    "settled": lambda handle, awaiting: handle.settled(),
    "result": lambda handle, awaiting: handle.result(),
    "events": lambda handle, awaiting: events(handle),
    "answer": lambda handle, awaiting: handle.answer(awaiting, {"approved": True}),
    "cancel": lambda handle, awaiting: handle.cancel("mine now"),
    "interrupt": lambda handle, awaiting: handle.interrupt("Open box 2 too."),
    "pause": lambda handle, awaiting: handle.pause(),
    "resume": lambda handle, awaiting: handle.resume("Open box 2 too."),
}


@pytest.mark.parametrize(
    ("use", "name", "session"),
    diagonal(USES, [("x.two", "s-1"), ("x.one", "s-2"), ("x.one", ""), ("x.two", "s-2")]),
)
async def test_a_handle_of_somebody_else_knows_no_such_run(
    tmp_path: Path, use: str, name: str, session: str
) -> None:
    safe = Safe()
    async with bank(tmp_path, safe) as runtime:
        handle = await agents_of(runtime).client("x.one").start("Open it.", session_id="s-1")
        awaiting = await waits(handle)
        foreign = agents_of(runtime).client(name).handle(handle.run_id, session_id=session)
        with pytest.raises(UnknownRunError) as refused:
            await USES[use](foreign, awaiting)
        with pytest.raises(UnknownRunError) as missing:
            await USES[use](agents_of(runtime).client(name).handle("run_none", session_id=session), awaiting)
        assert str(refused.value) == str(missing.value).replace("run_none", handle.run_id)
        output = await handle.output()
        assert (output.status, output.awaiting, safe.opened) == ("waiting", (awaiting,), [])


async def test_the_owner_has_its_run_again_by_id(tmp_path: Path) -> None:
    safe = Safe()
    async with bank(tmp_path, safe) as runtime:
        run_id = (await agents_of(runtime).client("x.one").start("Open it.", session_id="s-1")).run_id
        again = agents_of(runtime).client("x.one").handle(run_id, session_id="s-1")
        awaiting = await waits(again)
        assert awaiting.token
        await again.answer(awaiting, {"approved": True})
        assert (await again.result()).text == '"box 1 is open"'
        assert [event.type for event in await events(again)][-1] == "run_stream_end"
        alone = await agents_of(runtime).client("x.one").one_shot("Open it.")
        assert await agents_of(runtime).client("x.one").handle(alone.run_id).output() == alone


async def test_what_one_session_waits_for_is_answered_by_no_other(tmp_path: Path) -> None:
    safe = Safe()
    async with bank(tmp_path, safe) as runtime:
        client = agents_of(runtime).client("x.one")
        mine = await client.start("Open it.", session_id="s-1")
        theirs = await client.start("Open it.", session_id="s-2")
        asked, own = await waits(mine), await waits(theirs)
        with pytest.raises(UnknownRunError):
            await theirs.answer(asked, {"approved": True})
        with pytest.raises(ForeignAnswerError):
            await theirs.answer(replace(own, token=asked.token), {"approved": True})
        assert safe.opened == []
        await mine.answer(asked, {"approved": True})
        await mine.result()
        assert safe.opened == ["box 1"]


async def test_nor_is_what_its_planner_asks(tmp_path: Path) -> None:
    script: list[ScriptStep] = [Await(kind="clarification", question="Which?"), "done"]
    planner = ScriptedPlanner(script, script)
    async with running(agent("x.one", planner)) as (runtime, _):
        mine = await agents_of(runtime).client("x.one").start("Go.", session_id="s-1")
        theirs = await agents_of(runtime).client("x.one").start("Go.", session_id="s-2")
        asked = await waits(mine)
        await waits(theirs)
        with pytest.raises(UnknownRunError):
            await theirs.answer(asked, "all of them")
        await mine.answer(asked, "the red one")
        assert (await mine.result()).text == "done"
        assert (await theirs.output()).status == "waiting"


@pytest.mark.parametrize(("name", "session"), [("x.two", "s-1"), ("x.one", "s-2"), ("x.two", "s-2")])
async def test_the_id_of_a_run_starts_it_again_for_its_owner_only(
    tmp_path: Path, name: str, session: str
) -> None:
    safe = Safe()
    async with bank(tmp_path, safe) as runtime:
        handle = await agents_of(runtime).client("x.one").start("Open it.", session_id="s-1", run_id="r-1")
        awaiting = await waits(handle)
        with pytest.raises(UnknownRunError):
            await agents_of(runtime).client(name).start("Open it.", session_id=session, run_id="r-1")
        with pytest.raises(UnknownRunError):
            await agents_of(runtime).client(name).run("Open it.", session_id=session, run_id="r-1")
        again = await agents_of(runtime).client("x.one").start("Open it.", session_id="s-1", run_id="r-1")
        assert (await again.output()).awaiting == (awaiting,)
        assert [session.id for session in await agents_of(runtime).sessions.list()] == ["s-1"]
        assert len(await agents_of(runtime).sessions.transcript("s-1")) == 1


async def test_an_id_alone_gives_no_token(tmp_path: Path) -> None:
    async with bank(tmp_path, Safe()) as runtime:
        handle = await agents_of(runtime).client("x.one").start("Open it.", session_id="s-1")
        awaiting = await waits(handle)
        shown = await agents_of(runtime).snapshot(handle.run_id)
        (listed,) = await agents_of(runtime).list_runs()
        log = await runtime.runs.events(handle.run_id)
        assert shown == listed
        assert shown.awaiting == (replace(awaiting, token=""),)
        assert awaiting.token not in f"{shown!r} {log!r} {shown.awaiting[0].token}"


async def test_a_call_that_waits_by_itself_is_no_run_of_an_agent(tmp_path: Path) -> None:
    """One that no agent made, and work that goes on after its run."""

    async def update() -> str | Pending[str]:
        """Update."""
        return ToolOutcome.pending("job-1", "begun")

    late = LongRunningSpec(ack=func_tool(update, toolset="x.jobs").spec.result)
    jobs = function_toolset("x.jobs", [func_tool(update, toolset="x.jobs", long_running=late)])
    planner = ScriptedPlanner([calling("update"), "done"])
    async with running(agent("x.agent", planner, jobs)) as (runtime, engine):
        client = agents_of(runtime).client("x.agent")
        output = await client.run("Go.", session_id="s")
        await runtime.call("x.jobs.update", {}, CallMeta(session_id="s"))
        waits = await runtime.suspensions.list("s")
        assert [one.run_id.partition("_")[0] for one in waits] == ["run", "call"]
        for one in waits:
            assert (await engine.status(one.run_id)).state == "waiting"
            handle = client.handle(one.run_id, session_id="s")
            for asked in (handle.settled(), handle.cancel(), handle.interrupt("Hey.")):
                with pytest.raises(UnknownRunError):
                    await asked
            with pytest.raises(UnknownRunError):
                await agents_of(runtime).snapshot(one.run_id)
            assert await runtime.runs.events(one.run_id) == ()  # nothing is logged before it ends
            with pytest.raises(UnknownRunError):
                await client.start("Go.", session_id="s", run_id=one.run_id)
        assert [run.run_id for run in await agents_of(runtime).list_runs()] == [output.run_id]


async def test_whoever_has_the_run_answers_what_its_child_waits_for(tmp_path: Path) -> None:
    safe = Safe()
    low = ScriptedPlanner([calling(("open", {"box": "box 1"})), FinalResult(result="seen")])
    high = ScriptedPlanner([calling("look"), first_answer], ["done"])
    agents = (
        agent("x.low", low, safe.toolset),
        agent("x.high", high, exported("x.views", "x.low")),
    )
    async with running(*agents) as (runtime, _):
        handle = await agents_of(runtime).client("x.high").start("Look.", session_id="s")
        awaiting = await waits(handle)
        assert awaiting.run_id == f"{handle.run_id}/child:call_0_0"
        other = await agents_of(runtime).client("x.high").start("Look.", session_id="s-2")
        with pytest.raises(UnknownRunError):
            await other.answer(awaiting, {"approved": True})
        below = agents_of(runtime).client("x.low").handle(awaiting.run_id, session_id="s")
        assert (await below.output()).awaiting == (awaiting,)
        with pytest.raises(UnknownRunError):
            await agents_of(runtime).client("x.high").handle(awaiting.run_id, session_id="s").output()
        await handle.answer(awaiting, {"approved": True})
        assert ((await handle.result()).text, safe.opened) == ('"seen"', ["box 1"])


async def test_a_conversation_that_was_handed_over_has_the_client_that_speaks_to_it(tmp_path: Path) -> None:
    def planner() -> ScriptedPlanner:
        return ScriptedPlanner([calling(("go", {"agent": "x.two"}))], ["later"])

    two = ScriptedPlanner(["taken over"], ["still here"], ["still here"])
    agents = (
        agent("x.one", planner(), transfers=("x.two",)),
        agent("x.two", two),
        agent("x.three", ScriptedPlanner()),
    )
    async with running(*agents) as (runtime, _):
        first = await agents_of(runtime).client("x.one").start("Go.", session_id="s")
        assert (await first.result()).agent == "x.two"
        second = await agents_of(runtime).client("x.one").start("And?", session_id="s", run_id="r-2")
        assert ((await second.result()).agent, (await second.result()).text) == ("x.two", "still here")
        for name in ("x.one", "x.two"):
            assert (
                await agents_of(runtime).client(name).handle("r-2", session_id="s").output()
            ).text == "still here"
        again = await agents_of(runtime).client("x.one").start("And?", session_id="s", run_id="r-2")
        assert (await again.output()).text == "still here"
        with pytest.raises(UnknownRunError):
            await agents_of(runtime).client("x.three").handle("r-2", session_id="s").output()
