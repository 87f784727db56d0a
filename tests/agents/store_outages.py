"""Stores in memory that are away for some steps, and a turn that uses them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tests.agents.tools import agent, running
from toolgen.agents import Message, PlannerRetry, RunOutput, RunPolicy, ScriptedPlanner, agents_of
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.agents.sessions.sessions import RunMessages, Summary, Turn
from toolgen.calls.state import Scope
from toolgen.capabilities import Change, MemoryArtifactStore, MemoryStateStore
from toolgen.contract.json_value import Json
from toolgen.events.records import Event, PlanRetry
from toolgen.runtime import StaticToolset
from toolgen.stores import (
    StoreConnectionError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreLockedError,
)

SERVER = "postgresql://bob@db.internal:5432/agents"
AWAY = StoreConnectionError("cannot be reached: connection refused", server=SERVER, hint="start it")
UNKNOWN = StoreConnectionError("closed the connection", server=SERVER, hint="read it", is_unknown=True)
LOCKED = StoreLockedError("was locked for 10 s", server=SERVER, hint="look for long transactions")
DAMAGED = StoreCorruptError("is damaged", server=SERVER, hint="restore it")
FULL = StoreFullError("has no room", server=SERVER, hint="free space")
EVER = 10**6
LONGEST = PlannerRetry(random=lambda: 1.0)
"""Every pause is as long as it may be."""


class Outage:
    """Fails the first steps of some kinds."""

    def __init__(self, error: StoreError = AWAY, **left: int) -> None:
        """Construct an outage of so many steps, by the name of the method."""
        self.error = error
        self.left = Counter(left)

    def step(self, name: str) -> None:
        """Raise where the step fails."""
        if self.left[name] > 0:
            self.left[name] -= 1
            raise self.error


class Sessions(MemorySessionStore):
    """Sessions in memory, with an outage."""

    def __init__(self, outage: Outage) -> None:
        super().__init__()
        self.outage = outage

    async def transcript(self, session_id: str, **given: Any) -> tuple[RunMessages, ...]:
        self.outage.step("transcript")
        return await super().transcript(session_id, **given)

    async def turns(self, session_id: str, **given: Any) -> tuple[Turn, ...]:
        self.outage.step("turns")
        return await super().turns(session_id, **given)

    async def summarize(self, session_id: str, summary: Summary) -> None:
        self.outage.step("summarize")
        await super().summarize(session_id, summary)

    async def create(self, session_id: str, agent: str, labels: Mapping[str, str] | None = None) -> Any:
        self.outage.step("create")
        return await super().create(session_id, agent, labels)

    async def hand_over(self, session_id: str, agent: str) -> None:
        self.outage.step("hand_over")
        await super().hand_over(session_id, agent)

    async def write(self, run_id: str, step: int, messages: Sequence[Message], **given: Any) -> None:
        """Fail before the messages are stored; where that is not known, after it."""
        if self.outage.error is UNKNOWN:
            await super().write(run_id, step, messages, **given)
        self.outage.step("write")
        await super().write(run_id, step, messages, **given)


class States(MemoryStateStore):
    """State in memory, with an outage."""

    def __init__(self, outage: Outage) -> None:
        super().__init__()
        self.outage = outage

    async def load(self, scope: Scope, owner: str) -> dict[str, Json]:
        self.outage.step("load")
        return await super().load(scope, owner)

    async def apply(self, scope: Scope, owner: str, changes: Sequence[Change]) -> None:
        if self.outage.error is UNKNOWN and self.outage.left["apply"]:
            await super().apply(scope, owner, changes)
        self.outage.step("apply")
        await super().apply(scope, owner, changes)


class Artifacts(MemoryArtifactStore):
    """Artifacts in memory, with an outage."""

    def __init__(self, outage: Outage) -> None:
        super().__init__()
        self.outage = outage

    async def save(
        self, owner: str, name: str, data: bytes, media_type: str, metadata: Mapping[str, Json], most: int
    ) -> int:
        if self.outage.error is UNKNOWN and self.outage.left["save"]:
            await super().save(owner, name, data, media_type, metadata, most)
        self.outage.step("save")
        return await super().save(owner, name, data, media_type, metadata, most)

    async def load(self, owner: str, name: str, version: int | None = None) -> Any:
        self.outage.step("load")
        return await super().load(owner, name, version)


class Turned:
    """A turn of one agent, and what it left."""

    def __init__(self, output: RunOutput, events: Sequence[Event], messages: Sequence[Message]) -> None:
        self.output = output
        self.messages = messages
        self.retries = [event for event in events if isinstance(event, PlanRetry)]
        self.text = f"{output} {events} {messages}"
        """All that clients and models get of it."""


async def turn(
    planner: ScriptedPlanner,
    sessions: MemorySessionStore,
    *toolsets: StaticToolset,
    retry: PlannerRetry = LONGEST,
    policy: RunPolicy | None = None,
    **options: Any,
) -> Turned:
    """Run a turn, and replay it."""
    registration = agent("x.agent", planner, *toolsets, policy=policy)
    given = {"sessions": sessions, "planner_retry": retry, **options}
    async with running(registration, **given) as (runtime, engine):
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        events = await runtime.runs.events(output.run_id)
        status = await engine.status(output.run_id)
        if status.state == "completed":
            assert await engine.replay(output.run_id) == status.output
    found = Turned(output, events, await sessions.run_messages(output.run_id))
    assert "db.internal" not in found.text
    assert "Traceback" not in found.text
    return found
