"""Calls of a tool of LangChain, which asks by a function of the host."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langchain_core.messages import ToolCall, ToolMessage

from tests.matrix.doors.door import Door, Seen
from tests.matrix.doors.person import Person
from tests.matrix.ledger import ARGUMENTS
from tests.matrix.world import CALL, World
from toolgen.adapters.framework_calls import NamedAnswer
from toolgen.adapters.langchain import langchain_tools
from toolgen.contract.json_value import Json
from toolgen.runtime import Runtime, Suspended

from .offered import TURN, snapshot_of


@asynccontextmanager
async def langchain(world: World) -> AsyncIterator[Door]:
    """Open a runtime whose tools LangChain has."""
    async with world.runtime() as runtime, Person() as person:
        yield LangChain(world, runtime, person)


class LangChain:
    """`BaseTool.ainvoke` of a call of a model."""

    agent = ""

    def __init__(self, world: World, runtime: Runtime, person: Person) -> None:
        self._world = world
        self._runtime = runtime
        self._person = person

    async def call(self) -> Seen:
        return await self._person.begin(self._called())

    async def answer(self, answer: Json) -> Seen:
        return await self._person.answer(answer)

    async def _called(self) -> Seen:
        async def ask(asked: Suspended) -> NamedAnswer:
            return {"id": asked.id, "answer": await self._person.ask(asked.question)}

        tools = langchain_tools(await snapshot_of(self._runtime), lambda _: TURN, ask=ask)
        (tool,) = [one for one in tools if one.name == self._world.tool]
        message = await tool.ainvoke(ToolCall(name=tool.name, args=ARGUMENTS, id=CALL, type="tool_call"))
        assert isinstance(message, ToolMessage)
        assert isinstance(message.content, str)
        return Seen(status=message.artifact["status"], text=message.content)

    @asynccontextmanager
    async def process(self) -> AsyncIterator[Runtime]:
        yield self._runtime
