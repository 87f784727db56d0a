"""Fuzz target: whatever planners, tools and clients do, a run ends, and log, transcript and replay are whole.

Time is virtual: `python -m tests.fuzz.loop --seconds 60 --seed 1`
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import warnings
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from random import Random
from typing import Any

from pydantic_core import to_jsonable_python

from tests.agents.tools import agent, check_log, exported
from tests.runtime.raising import leaving_nothing
from tests.virtual_time import VirtualTimeLoop, now
from toolgen.agents import (
    Agents,
    AssistantMessage,
    History,
    PlannerRetry,
    RunHandle,
    RunPolicy,
    SessionBusyError,
    SessionStore,
    ToolMessage,
    agents_of,
)
from toolgen.agents.planner.messages import without_artifacts
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.agents.turns import START_S
from toolgen.capabilities import MemoryStateStore, StateCapability
from toolgen.engines import InProcessEngine, RunStatus
from toolgen.events.records import Event, ToolEnd
from toolgen.runtime import Runtime, Scheduling
from toolgen.waiting.options import WEEK_S, WaitOptions

from .calls import Caller
from .clients import Client
from .planners import Erratic
from .running import Outcome, Target, main
from .tools import SECRET, Moody, Tools, Users

SESSION = "s"


class Loop:
    """The target: a world of its own for each input."""

    def __init__(self, sessions: Callable[[], SessionStore] = MemorySessionStore) -> None:
        """Make the target; `sessions` makes what keeps the conversations of one input."""
        self._sessions = sessions
        self._tools = Tools()

    def __call__(self, chance: Random) -> Outcome:
        """Return how some runs ended, and check that all is right with them.

        Raises:
            AssertionError: it is not.
        """
        complaints: list[str] = []
        with quiet(complaints), asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            runner.get_loop().set_exception_handler(lambda _, context: complaints.append(str(context)))
            outcome = runner.run(World(chance, self._tools, self._sessions()).run())
        assert not complaints, complaints
        return outcome


@contextmanager
def quiet(complaints: list[str]) -> Iterator[None]:
    """Log nothing, and collect warnings, such as of coroutines that nobody awaits."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
            complaints += [str(one.message) for one in caught]
    finally:
        logging.disable(before)


class World:
    """Two agents, their tools and their clients; what is random about the host is drawn once."""

    def __init__(self, chance: Random, tools: Tools, sessions: SessionStore) -> None:
        self._chance, self.tools = chance, tools
        tools.chance, tools.ran = chance, Counter()
        self.sessions = sessions
        self.states = MemoryStateStore()
        policy = _policy(chance)
        is_limited = policy.plan_timeout is not None and policy.tool_timeout is not None
        self._low = Erratic(chance, is_limited=is_limited)
        self._top = Erratic(chance, is_limited=is_limited)
        self._agents = [
            agent("x.low", self._low, *tools.toolsets, policy=policy),
            agent(
                "x.top",
                self._top,
                *tools.toolsets,
                exported("x.lows", "x.low"),
                policy=policy,
                transfers=("x.low",) if chance.random() < 0.5 else (),
            ),
        ]
        self._options: dict[str, Any] = {
            "interceptors": [Users(chance)],
            "policy": Moody(chance) if chance.random() < 0.3 else None,
            "waiting": _waiting(chance),
            "scheduling": Scheduling(
                max_calls=chance.choice((1, 2, 256)), max_calls_per_run=chance.choice((1, 2, 16))
            ),
        }

    async def run(self) -> Outcome:
        async with leaving_nothing(), self.serving(InProcessEngine(clock=now)) as runtime:
            stop = await self.act(runtime)
            return Outcome(kind=stop, detail=await self.checked(runtime))

    @asynccontextmanager
    async def serving(self, engine: InProcessEngine) -> AsyncIterator[Runtime]:
        """Give an open runtime on the engine and on the stores of now."""
        self._engine = engine
        capabilities = [StateCapability(self.states)]
        runtime = Runtime(engine=engine, capabilities=capabilities, **self._options)
        retry = PlannerRetry(random=self._chance.random)
        agents = Agents(runtime, sessions=self.sessions, planner_retry=retry)
        for one in self._agents:
            agents.register(one)
        async with runtime:
            yield runtime

    async def act(self, runtime: Runtime, life: int = 0) -> str:
        """Have some turns and calls, bring all to its end, and return how the last turn ended."""
        chance = self._chance
        stops = [
            await self._turn(runtime, f"run-{life}-{number}") for number in range(chance.choice((1, 2, 2)))
        ]
        await self.end_all(runtime)
        caller = Caller(chance, runtime, self._engine, SESSION)
        numbers = range(chance.choice((0, 0, 1, 3)))
        await asyncio.gather(*(caller.call(f"direct-{life}-{number}") for number in numbers))
        await self.end_all(runtime)
        return stops[-1]

    async def _turn(self, runtime: Runtime, run_id: str) -> str:
        """Run one turn and return how it ended."""
        handle = await self._started(runtime, run_id)
        client = Client(self._chance, runtime, SESSION)
        output = await client.drive(handle)
        for work in output.pending:
            await client.deliver(work)
        await self.end_all(runtime)
        return output.stop or output.status

    async def _started(self, runtime: Runtime, run_id: str) -> RunHandle:
        """Start a turn, as soon as one is over whose start was cut by a kill.

        Raises:
            TimeoutError: another one never ends.
        """
        top = agents_of(runtime).client("x.top")
        async with asyncio.timeout(2 * START_S):
            while True:
                try:
                    return await top.start("Go.", session_id=SESSION, run_id=run_id)
                except SessionBusyError:
                    await asyncio.sleep(1)

    async def end_all(self, runtime: Runtime) -> None:
        """End the runs that a meddler or delivered work has begun, and then the work."""
        while left := [one for one in await self._engine.list_runs(limit=10_000) if not one.is_over]:
            turns = [one for one in left if not _is_work(one)]
            client = Client(self._chance, runtime, SESSION)
            if turns:
                given: Any = turns[-1].input
                facts = given["facts"]
                owner = agents_of(runtime).client(facts.get("client") or facts["agent"])
                await client.drive(owner.handle(turns[-1].run_id, session_id=facts["session_id"]))
            elif waits := await runtime.suspensions.list():
                await client.finish(waits[0])
            else:  # it is answered, and opens the turn that gets its result
                await asyncio.sleep(1)
            await asyncio.sleep(0)

    async def checked(self, runtime: Runtime) -> str:
        """Check all runs, the transcript and what planners saw; return what stood in the log of the first."""
        types = ""
        ended: set[str] = set()
        for status in await self._engine.list_runs(limit=10_000):
            assert status.state != "failed", status.error
            if status.state == "completed":
                assert await self._engine.replay(status.run_id) == status.output
            if _is_work(status):
                continue
            output = await agents_of(runtime).snapshot(status.run_id)
            events = await runtime.runs.events(status.run_id)
            check_log(output, events)
            types = " ".join(event.type for event in events)
            if status.state == "completed" and "/child:" not in status.run_id:
                ended |= set(_ended(events))
        messages = [one for said in await self.sessions.transcript(SESSION) for one in said.messages]
        for_models = [without_artifacts(message) for message in messages]
        text = json.dumps(to_jsonable_python(for_models), allow_nan=False, ensure_ascii=False)
        assert SECRET not in text.encode().decode(), text
        _check_pairs(messages)
        told = {one.id for message in messages if isinstance(message, ToolMessage) for one in message.answers}
        assert ended <= told, ended - told
        assert await runtime.suspensions.list() == ()
        twice = [key for key, times in self.tools.ran.items() if times > 1]
        assert not twice, twice
        wrong = [*self._low.wrong, *self._top.wrong]
        assert not wrong, wrong
        return types


def _ended(events: Sequence[Event]) -> Iterator[str]:
    """Yield the ids of the calls that ended."""
    for event in events:
        if isinstance(event, ToolEnd) and event.status != "suspended":
            yield event.tool_call_id


def _is_work(status: RunStatus) -> bool:
    """Return whether a run is that of a call by itself: one that waits, or whose outcome was settled."""
    return status.run_id.startswith("call_") or any(
        kind in status.run_id for kind in ("/work:", "/resolved:")
    )


def _check_pairs(messages: list[Any]) -> None:
    """Check that results stand behind their calls, and nowhere else, each once; a batch may be cut."""
    ids = [call.id for one in messages if isinstance(one, AssistantMessage) for call in one.calls]
    assert len(ids) == len(set(ids)), ids
    for before, message in zip([None, *messages], messages, strict=False):
        if isinstance(message, ToolMessage):
            assert isinstance(before, AssistantMessage), messages
            answered = [one.id for one in message.answers]
            called = [call.id for call in before.calls]
            assert answered == [id_ for id_ in called if id_ in answered], messages


def _policy(chance: Random) -> RunPolicy:
    return RunPolicy(
        max_tool_calls=chance.choice((None, 5, 12)),
        max_consecutive_failed_tool_calls=chance.choice((None, 2)),
        time_budget=chance.choice((None, None, 3, 600)),
        plan_timeout=chance.choice((None, 5, 60)),
        tool_timeout=chance.choice((None, 1, 30)),
        interrupts_allowed=chance.random() < 0.7,
        on_missing_fields=chance.choice(("resume", "await_clarification", "finalize")),
        history=chance.choice((None, History(keep_turns=1))),
    )


def _waiting(chance: Random) -> WaitOptions:
    return WaitOptions(
        clock=now,
        is_interactive=chance.random() < 0.9,
        expires_s=chance.choice((WEEK_S, WEEK_S, 60)),
        max_per_run=chance.choice((100, 100, 1)),
        max_per_session=chance.choice((1000, 1000, 2)),
    )


def target(seed: int) -> Target:
    """Return the target; it is the same for every seed."""
    return Loop()


if __name__ == "__main__":
    sys.exit(main("tests.fuzz.loop", target))
