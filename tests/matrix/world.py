"""The runtime of one cell: its tools, its agents, and what they saw."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tests.virtual_time import now
from toolgen.agents import (
    AgentRegistration,
    Agents,
    AgentSpec,
    AgentTool,
    CallTools,
    FinalResponse,
    FinalResult,
    HandOver,
    PlanInput,
    PlannedCall,
    PlannerError,
    PlanResult,
    ToolAnswer,
    ToolMessage,
    UserMessage,
)
from toolgen.calls.toolsets.dynamic import DynamicToolset
from toolgen.engines import Engine, InProcessEngine
from toolgen.events.hub import Events
from toolgen.events.records import Event
from toolgen.runtime import Allow, CallMeta, Runtime, StaticToolset, ToolCall, ToolsetRegistration, ToolSpec
from toolgen.waiting.options import WaitOptions

from .cells import Cell
from .ledger import ARGUMENTS, Dynamic, Ledger, function, routed, static

FACTS: Final = CallMeta(session_id="s", requested_by="ann", labels={"tier": "gold"})
"""Of every call of the matrix."""
CALL: Final = "c1"
"""Id of a call, where a door gives one."""
Tools = ToolsetRegistration | StaticToolset


class World:
    """What one cell has: the parts that outlive a process, and those that record what it did."""

    def __init__(self, cell: Cell, folder: Path) -> None:
        self.cell = cell
        self.ledger = Ledger(is_later=cell.door == "detached work")
        self.decided: list[ToolCall] = []
        self.hub = Events()
        self._told = self.hub.subscribe(size=10_000)
        self.folder = folder
        """Where its files are."""
        self.heard: list[ToolAnswer] = []
        """Results that the planner of the run heard."""

    @property
    def tool(self) -> str:
        """Wire name of the tool that the door calls."""
        return f"agent_{self.cell.outcome}" if self.is_agents else self.cell.outcome

    @property
    def is_agents(self) -> bool:
        """Whether an agent answers the call."""
        return self.cell.kind == "agent's tool"

    def runtime(self) -> Runtime:
        """Return a new runtime, as another process would make it: with the same stores and tools."""
        made = Runtime(
            engine=self.engine(),
            secret=b"the same in all processes, always",
            policy=self,
            events=self.hub,
            waiting=WaitOptions(clock=now),
        )
        agents, given, dynamic = Agents(made), self._given(), self._dynamic()
        if self.is_agents:
            agents.register(_agent("m.low", _Answering(), static(self.ledger, "m.inner")))
        agents.register(_agent("m.top", _Calling(self), *given, dynamic=dynamic))
        agents.register(_agent("m.outer", _Delegating(self), routed("m.delegates", "m.mid", "delegate_")))
        agents.register(_agent("m.mid", _Repeating(self), *given, dynamic=dynamic))
        agents.register(_agent("m.first", _HandingOver(), transfers=("m.top",)))
        for one in dynamic:
            made.tools.add_toolset(one)
        return made

    def engine(self) -> Engine:
        """Return the engine of a new runtime."""
        if self.cell.store == "SQLite":
            return InProcessEngine(self.folder / "runs.db", clock=now)
        return InProcessEngine(clock=now)

    def _given(self) -> tuple[Tools, ...]:
        match self.cell.kind:
            case "static":
                return (static(self.ledger, "m.tools"),)
            case "function":
                return (function(self.ledger, "m.tools"),)
            case "agent's tool":
                return (routed("m.tools", "m.low", "agent_"),)
            case "dynamic":
                return (StaticToolset(name="m.nothing", bound=()),)

    def _dynamic(self) -> tuple[DynamicToolset, ...]:
        return (Dynamic(self.ledger, "m.tools"),) if self.cell.kind == "dynamic" else ()

    async def decide(self, call: ToolCall, spec: ToolSpec[Any, Any], preview: str) -> Allow:
        self.decided.append(call)
        return Allow()

    async def events(self) -> list[Event]:
        """Return all events, when no more come."""
        self.hub.close()
        return [event async for event in self._told]


def _agent(
    id_: str,
    planner: Any,
    *given: Tools,
    dynamic: tuple[DynamicToolset, ...] = (),
    transfers: tuple[str, ...] = (),
) -> AgentRegistration:
    specs = [
        spec
        for one in given
        for spec in ([tool.spec for tool in one.bound] if isinstance(one, StaticToolset) else one.specs)
    ]
    tools = tuple(AgentTool(id=spec.id, name=spec.name) for spec in specs)
    spec = AgentSpec(id=id_, description=id_, tools=tools, transfers=transfers)
    return AgentRegistration(spec=spec, planner=planner, toolsets=given, dynamic=dynamic)


def _newest(given: PlanInput) -> ToolAnswer:
    message = given.messages[-1]
    assert isinstance(message, ToolMessage)
    (answer,) = message.answers
    return answer


def _call(tool: str) -> CallTools:
    return CallTools(calls=(PlannedCall.of(tool, ARGUMENTS),))


class _Calling:
    """Calls the tool of the cell, and ends with what became of it."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def plan_start(self, given: PlanInput) -> PlanResult:
        message = given.messages[-1]
        if isinstance(message, UserMessage) and message.source == "runtime" and "The work" in message.text:
            return FinalResponse(text=message.text)
        return _call(self._world.tool)

    async def plan_resume(self, given: PlanInput) -> PlanResult:
        answer = _newest(given)
        self._world.heard.append(answer)
        return FinalResponse(text=answer.text)


class _Delegating(_Calling):
    """Has another agent call the tool of the cell."""

    async def plan_start(self, given: PlanInput) -> PlanResult:
        planned = await super().plan_start(given)
        return _call(f"delegate_{self._world.cell.outcome}") if isinstance(planned, CallTools) else planned

    async def plan_resume(self, given: PlanInput) -> PlanResult:
        return FinalResponse(text=_newest(given).text)


class _Repeating(_Calling):
    """Calls the tool of the cell for another agent, and returns what became of it."""

    async def plan_resume(self, given: PlanInput) -> PlanResult:
        await super().plan_resume(given)
        return FinalResult(result=_said(_newest(given)))


class _HandingOver:
    """Hands the conversation over."""

    async def plan_start(self, given: PlanInput) -> PlanResult:
        return HandOver(agent="m.top", message="Go on.")

    async def plan_resume(self, given: PlanInput) -> PlanResult:
        raise AssertionError(given)


class _Answering:
    """Answers a call by the inner tool of the outcome; where that fails, it fails too."""

    async def plan_start(self, given: PlanInput) -> PlanResult:
        message = given.messages[-1]
        assert isinstance(message, UserMessage)
        return _call(message.text)

    async def plan_resume(self, given: PlanInput) -> PlanResult:
        answer = _newest(given)
        if answer.status == "error":
            raise PlannerError("it broke")
        return FinalResult(result=_said(answer))


def _said(answer: ToolAnswer) -> str:
    """Return what a call gave, as a text."""
    given = json.loads(answer.text)
    return given if isinstance(given, str) else answer.text
