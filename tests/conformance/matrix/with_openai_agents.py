"""Calls of an agent of OpenAI's Agents SDK, which knows approvals alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from agents import Agent, RunConfig, Runner, RunResult, ToolCallOutputItem, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from tests.matrix.doors.door import Door, Seen
from tests.matrix.ledger import ARGUMENTS
from tests.matrix.world import CALL, World
from toolgen.adapters.openai_agents import openai_agents_question, openai_agents_tools
from toolgen.contract.json_value import Json
from toolgen.runtime import Runtime, Snapshot

from .offered import TURN, snapshot_of

set_tracing_disabled(True)
CONFIG = RunConfig(tracing_disabled=True)


@asynccontextmanager
async def openai_agents(world: World) -> AsyncIterator[Door]:
    """Open a runtime whose tools an agent of the SDK has."""
    async with world.runtime() as runtime:
        yield OpenAIAgents(world, runtime, await snapshot_of(runtime))


class OpenAIAgents:
    """`Runner.run`."""

    agent = ""

    def __init__(self, world: World, runtime: Runtime, snapshot: Snapshot) -> None:
        self._runtime = runtime
        self._snapshot = snapshot
        self._answer: Json = None
        tools = openai_agents_tools(
            snapshot,
            lambda _: TURN,
            may_ask=[spec.id for spec in snapshot.specs],
            answer=lambda context, asked: {"id": asked.id, "answer": self._answer},
        )
        steps = [[function_call(world.tool, ARGUMENTS, call_id=CALL)], [assistant_message("done")]]
        self._agent: Agent[Any] = Agent("fake", model=ScriptedModel(steps), tools=list(tools))
        self._run: RunResult | None = None

    async def call(self) -> Seen:
        self._run = await Runner.run(self._agent, "go", run_config=CONFIG)
        return await self._seen(self._run)

    async def answer(self, answer: Json) -> Seen:
        assert self._run is not None, "it is called first"
        self._answer, state = answer, self._run.to_state()
        (item,) = state.get_interruptions()
        state.approve(item)
        return await self._seen(await Runner.run(self._agent, state, run_config=CONFIG))

    async def _seen(self, run: RunResult) -> Seen:
        if run.interruptions:
            question = await openai_agents_question(self._snapshot, run.interruptions[0], TURN)
            assert question is not None
            return Seen(status="suspended", question=question.question)
        (item,) = [one for one in run.new_items if isinstance(one, ToolCallOutputItem)]
        facts = (item.custom_data or {})["toolgen"]
        return Seen(status=facts["status"], text=str(item.output))

    @asynccontextmanager
    async def process(self) -> AsyncIterator[Runtime]:
        yield self._runtime
