"""What the loops did when their histories were stored: they do the same over the stored journals.

A run that is not over when toolgen is replaced goes on from its journal, if the loop has the same version.
Where the loop asks for something else than the journal has, the run stands still until its toolgen is back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

import pytest

from tests.agents.histories.files import NAMES, stored
from tests.agents.histories.store import SCENARIOS
from tests.agents.tools import agent, running
from toolgen.agents import ScriptedPlanner, agents_of
from toolgen.agents.loop.documents import LOOP
from toolgen.agents.loop.loop import agent_loop
from toolgen.contract.json_value import Json
from toolgen.engines import CallOptions, EngineError, Loop, RunContext, Signal
from toolgen.engines.in_process.journal import RunRecord
from toolgen.engines.in_process.live_run import call_later
from toolgen.engines.in_process.runs import LoopRuns
from toolgen.engines.in_process.store import RunStore
from toolgen.waiting.loop import LOOP as WAITING
from toolgen.waiting.loop import waiting_call

LOOPS: Final[Mapping[str, Loop]] = {LOOP: agent_loop, WAITING: waiting_call}
STANDS_STILL: Final = """
the loop of {run} does not do what the stored history {name} says: {what}
Such runs would stand still after an update. Let the loop do the same for them, or raise its version and store
the history anew:
    python -m tests.agents.histories.store {name}"""


class Noting:
    """The context of a loop, and the keys that the loop used."""

    def __init__(self, ctx: RunContext) -> None:
        self._ctx = ctx
        self.ops: list[str] = []
        self.published: set[str] = set()

    @property
    def run_id(self) -> str:
        return self._ctx.run_id

    @property
    def has_room(self) -> bool:
        return self._ctx.has_room

    def now(self) -> float:
        return self._ctx.now()

    def start(self, op: str, activity: str, arg: Json, options: CallOptions | None = None) -> Awaitable[Json]:
        self.ops.append(op)
        return self._ctx.start(op, activity, arg, options)

    async def child(self, op: str, loop: str, arg: Json) -> Json:
        self.ops.append(op)
        return await self._ctx.child(op, loop, arg)

    async def detach(self, op: str, loop: str, arg: Json) -> str:
        self.ops.append(op)
        return await self._ctx.detach(op, loop, arg)

    def one_by_one(self) -> AbstractAsyncContextManager[None]:
        return self._ctx.one_by_one()

    async def gather(self, *awaitables: Awaitable[Json]) -> list[Any]:
        return await self._ctx.gather(*awaitables)

    async def wait(
        self, op: str, *names: str, timeout_s: float | None = None, about: Json = None
    ) -> Signal | None:
        self.ops.append(op)
        return await self._ctx.wait(op, *names, timeout_s=timeout_s, about=about)

    async def publish(self, key: str, event: Mapping[str, Json]) -> None:
        self.published.add(str(event["type"]) if event["type"] == "run_completed" else key)
        await self._ctx.publish(key, event)


async def check(name: str, records: list[RunRecord], loops: Mapping[str, Loop] = LOOPS) -> None:
    """Run the loops over their journals, and fail where one does something else, more or less."""
    journal = RunStore()
    for record in records:
        journal.add(record)
    for record in records:
        noted: list[Noting] = []

        async def loop(ctx: RunContext, given: Any, noted: list[Noting] = noted) -> Any:
            noted.append(Noting(ctx))
            return await loops[record.loop](noted[0], given)  # noqa: B023  # it ends within the round

        runs = LoopRuns(journal, lambda: 0.0, call_later, None)
        runs.register({record.loop: loop}, {}, None, None)
        what = ""
        try:
            await runs.replay(record)
        except EngineError as error:
            what = error.message
        else:
            (found,) = noted
            told = {key for key in record.keys if ":begun:" not in key} - {"run_stream_end"}
            left = {*record.ops} - {*found.ops} or told - found.published  # the engine tells the others
            what = f"it leaves out {sorted(left)}" if left else ""
        if what:
            pytest.fail(STANDS_STILL.format(run=record.run_id, name=name, what=what), pytrace=False)


@pytest.mark.parametrize("name", NAMES)
async def test_the_loops_do_what_stored_runs_did(name: str) -> None:
    await check(name, stored(name))


def test_every_scenario_is_stored() -> None:
    assert sorted(SCENARIOS) == NAMES


async def test_every_activity_is_in_a_history() -> None:
    async with running(agent("x.agent", ScriptedPlanner(["done"]))) as (runtime, engine):
        await agents_of(runtime).client("x.agent").one_shot("Go.")
        known = {*engine._runs.activities.functions}
    done = {op.what for name in NAMES for record in stored(name) for op in record.ops.values()}
    assert known | {LOOP, WAITING, "wait"} == done


class Hasty(Noting):
    """A loop that publishes nothing."""

    async def publish(self, key: str, event: Mapping[str, Json]) -> None:
        pass


async def more(ctx: RunContext, given: Any) -> Any:
    await ctx.start("more", "plan", {})
    return await agent_loop(ctx, given)


async def less(ctx: RunContext, given: Any) -> Any:
    return await agent_loop(Hasty(ctx), given)


async def other(ctx: RunContext, given: Any) -> Any:
    return await agent_loop(ctx, {**given, "message": "Stop."})  # type: ignore[typeddict-item]  # it is one


async def end(ctx: RunContext, given: Any) -> Any:
    return [await agent_loop(ctx, given)]


@pytest.mark.parametrize(
    ("loop", "says"),
    [
        (more, "run r never did 'more'"),
        (less, "it leaves out .*'run_started'"),
        (other, "run r does 'plan:0' with something else"),
        (end, "run r returned another result than before"),
    ],
)
async def test_a_loop_that_changes_is_seen(loop: Loop, says: str) -> None:
    with pytest.raises(pytest.fail.Exception, match=says):
        await check(LOOP, stored(LOOP), {LOOP: loop})
