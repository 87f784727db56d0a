"""The two agents of the laboratory, one of which answers a tool of the other, and their planner."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from toolgen.agents import (
    AgentRegistration,
    AgentRoute,
    AgentSpec,
    AgentTool,
    AssistantMessage,
    CallTools,
    FinalResponse,
    FinalResult,
    Message,
    PlanInput,
    PlannedCall,
    PlanResult,
    ToolMessage,
    UserMessage,
)
from toolgen.calls.functions.tools import func_tool
from toolgen.runtime import ToolsetRegistration

from .ledger import Ledger
from .tools import DELEGATE, Tools

TOP: Final = "lab.top"
BELOW: Final = "lab.below"


def registrations(ledger: Ledger) -> Iterator[AgentRegistration]:
    """Yield both agents, as one process registers them."""
    tools, planner = Tools(ledger).toolset(), Obeying(ledger)
    own = tuple(AgentTool(id=tool.spec.id, name=tool.spec.name) for tool in tools.bound)
    below = AgentSpec(id=BELOW, description="Does what it is told to.", tools=own)
    yield AgentRegistration(spec=below, planner=planner, toolsets=(tools,))
    child = _delegating()
    tool = AgentTool(id=child.specs[0].id, name=DELEGATE)
    top = AgentSpec(id=TOP, description="Does it, and delegates.", tools=(*own, tool))
    yield AgentRegistration(spec=top, planner=planner, toolsets=(tools, child))


def _delegating() -> ToolsetRegistration:
    def delegate(rounds: str) -> str:
        """Let another agent do it."""
        return rounds

    spec = func_tool(delegate, toolset="lab.child", name=DELEGATE).spec
    return ToolsetRegistration(name="lab.child", specs=[spec], executor=AgentRoute(agent=BELOW))


class Obeying:
    """A planner that makes the rounds of calls of its last message, and writes what it is shown.

    As models do, it makes a call again that failed with a hint to try again.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def plan_start(self, given: PlanInput) -> PlanResult:
        self._ledger.write(
            "plan", run=given.run_id, session=given.session_id, unpaired=list(unpaired(given.messages))
        )
        if again := tuple(_again(given)):
            return CallTools(calls=again)
        rounds, made = rounds_of(given.messages)
        if made >= len(rounds) or given.closing:
            text = f"{made} rounds are over"
            return FinalResponse(text=text) if given.result_schema is None else FinalResult(result=text)
        return CallTools(calls=tuple(PlannedCall.of(tool, arguments) for tool, arguments in rounds[made]))

    plan_resume = plan_start


def rounds_of(messages: Iterable[Message]) -> tuple[list[Any], int]:
    """Return the rounds that the last message asks for, maybe none, and how many of them were made."""
    rounds: list[Any] = []
    made, known = 0, set[str]()
    for message in messages:
        if isinstance(message, UserMessage):
            rounds, made = [], 0
            if message.text.startswith("{"):
                told = json.loads(message.text)["rounds"]
                rounds = json.loads(told) if isinstance(told, str) else told
        elif isinstance(message, AssistantMessage) and message.calls:
            arguments = {call.arguments for call in message.calls}
            made += not arguments <= known
            known |= arguments
    return rounds, made


def _again(given: PlanInput) -> Iterator[PlannedCall]:
    """Yield the newest calls that failed with a hint to try again; each is made twice at the most."""
    called = [one for one in given.messages if isinstance(one, AssistantMessage) and one.calls]
    newest = given.messages[-1]
    if not given.retry_hints or given.closing or not isinstance(newest, ToolMessage):
        return
    made = Counter(call.arguments for message in called for call in message.calls)
    hinted = {hint.tool.rpartition(".")[2] for hint in given.retry_hints}
    for call, answer in zip(called[-1].calls, newest.answers, strict=False):
        if answer.status == "error" and call.name in hinted and made[call.arguments] == 1:
            yield PlannedCall(name=call.name, arguments=call.arguments)


def unpaired(messages: Iterable[Message]) -> Iterator[str]:
    """Yield the calls that have not exactly one result right behind them, and results of no call."""
    open_: list[str] = []
    seen: set[str] = set()
    for message in messages:
        answered = [one.id for one in message.answers] if isinstance(message, ToolMessage) else []
        if answered != open_:
            yield f"calls {open_} are followed by results {answered}"
        called = [call.id for call in message.calls] if isinstance(message, AssistantMessage) else []
        if again := seen.intersection(called):
            yield f"calls {sorted(again)} come twice"
        seen.update(called)
        open_ = called
    if open_:
        yield f"calls {open_} have no results"
