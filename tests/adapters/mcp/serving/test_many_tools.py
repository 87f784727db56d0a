"""Tools that are registered after the start, and more of them than one page has."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from mcp import Client, MCPError, types
from mcp.client._memory import InMemoryTransport

from tests.selection import first
from toolgen.adapters.mcp import server
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.runtime import BoundTool, ReadonlyContext, Runtime, ToolSpec
from toolgen.runtime.functions import TypeCodec, json_schema_codec

from .desk import ERAS, MIRA

pytestmark = pytest.mark.parametrize("era", first(ERAS))
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def look() -> str:
    """Look."""
    return "seen"


_LOOK = func_tool(look, toolset="desk.many")


def register(runtime: Runtime, toolset: str) -> None:
    runtime.tools.register(function_toolset(toolset, [func_tool(look, toolset=toolset)]))


class Many:
    """A toolset of so many tools, less those that are gone."""

    name = "desk.many"
    instructions = ""

    def __init__(self, count: int) -> None:
        self.tools_by_name = {f"t{number:04}": self.tool(f"t{number:04}") for number in range(count)}

    def tool(self, name: str) -> BoundTool:
        return replace(_LOOK, spec=replace(_LOOK.spec, id=f"{self.name}.{name}", name=name))

    async def tools(self, context: ReadonlyContext) -> Sequence[BoundTool]:
        return list(self.tools_by_name.values())


async def test_a_toolset_that_is_registered_later_is_told(era: str) -> None:
    runtime, told = Runtime(), asyncio.Event()

    async def tell(message: object) -> None:
        assert isinstance(message, types.ToolListChangedNotification)
        told.set()

    register(runtime, "desk.first")
    transport = InMemoryTransport(server(runtime, session_id=MIRA).sdk)
    async with runtime, Client(transport, mode=era, message_handler=tell) as client:
        assert client.server_capabilities.tools is not None
        assert client.server_capabilities.tools.list_changed is True
        for toolset in ("desk.second", "desk.third"):
            count = len((await client.list_tools()).tools)
            if era == "legacy":
                register(runtime, toolset)
                await told.wait()
                told.clear()
            else:
                async with client.listen(tools_list_changed=True) as changes:
                    register(runtime, toolset)
                    assert type(await anext(aiter(changes))).__name__ == "ToolsListChanged"
            assert len((await client.list_tools()).tools) == count + 1


async def test_who_listens_is_told_without_having_listed(era: str) -> None:
    runtime = Runtime()
    transport = InMemoryTransport(server(runtime, session_id=MIRA).sdk)
    async with runtime, Client(transport, mode=era) as client:
        if era == "legacy":
            return  # it has no streams to listen to; its connection is told of lists that it has seen
        for toolset in ("desk.first", "desk.second"):
            async with client.listen(tools_list_changed=True) as changes:
                register(runtime, toolset)
                assert type(await anext(aiter(changes))).__name__ == "ToolsListChanged"


async def test_a_list_builds_no_codec(era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime, built = Runtime(), []
    build = TypeCodec.__init__

    def noted(self: TypeCodec[Any], type_: Any, name: str, **options: Any) -> None:
        built.append(name)
        build(self, type_, name, **options)

    monkeypatch.setattr(TypeCodec, "__init__", noted)
    register(runtime, "desk.first")
    async with runtime, Client(InMemoryTransport(server(runtime).sdk), mode=era) as client:
        before = list(built)
        assert before[-2:] == ["LookPayload", "LookResult"], "the server has made them"
        assert [tool.name for tool in (await client.list_tools()).tools] == ["look"]
        assert built == before


@pytest.mark.exhaustive
async def test_many_tools_come_in_pages_that_stay_right_when_tools_come_and_go(era: str) -> None:
    runtime, many = Runtime(), Many(1_002)
    runtime.tools.add_toolset(many)
    async with runtime, Client(InMemoryTransport(server(runtime).sdk), mode=era) as client:
        first = await client.list_tools()
        gone = ("t0007", first.tools[-1].name)
        pages = [first]
        while (cursor := pages[-1].next_cursor) is not None:
            if len(pages) == 1:
                for name in gone:
                    del many.tools_by_name[name]
                many.tools_by_name["t0003b"] = many.tool("t0003b")
            pages.append(await client.list_tools(cursor=cursor))
        names = [tool.name for page in pages for tool in page.tools]
        assert [len(page.tools) for page in pages] == [500, 500, 2]
        assert names == [f"t{number:04}" for number in range(1_002)]
        for cursor in ("x", "é", "dDAwMDc", "////"):
            with pytest.raises(MCPError, match="the cursor is not from this server"):
                await client.list_tools(cursor=cursor)


async def test_the_dialect_of_a_foreign_schema_stays(era: str) -> None:
    schema: dict[str, Any] = {"$schema": DRAFT_7, "type": "object", "properties": {"a": {"type": "string"}}}
    spec: ToolSpec[Any, Any] = ToolSpec(
        id="desk.foreign.note",
        description="Note.",
        payload=json_schema_codec(schema, "Payload"),
        result=json_schema_codec({"$schema": DRAFT_7, "type": "integer"}, "Result"),
    )

    async def note(payload: Any, ctx: Any) -> int:
        return 1

    runtime = Runtime()
    runtime.tools.register(function_toolset("desk.foreign", [BoundTool(spec=spec, execute=note)]))
    async with runtime, Client(InMemoryTransport(server(runtime).sdk), mode=era) as client:
        (tool,) = (await client.list_tools()).tools
        assert tool.input_schema == schema
        wrapped = {
            "$schema": DRAFT_7,
            "type": "object",
            "properties": {"result": {"type": "integer"}},
            "required": ["result"],
        }
        assert tool.output_schema == (wrapped if era == "legacy" else {"$schema": DRAFT_7, "type": "integer"})
        assert (await client.call_tool("note", {})).structured_content in (1, {"result": 1})
