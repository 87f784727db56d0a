"""How a client of each era sees the tools of a runtime."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.client._memory import InMemoryTransport

from tests.virtual_time import in_virtual_time
from toolgen.adapters.mcp import server
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.capabilities import DisabledTools, MemoryStateStore
from toolgen.contract.errors import ToolgenError
from toolgen.runtime import CallMeta, ReadonlyContext, Runtime

from .desk import ERAS, Desk, desk_runtime, served

pytestmark = pytest.mark.parametrize("era", ERAS)
PREFIX = "dev.toolgen/"


async def listed(era: str) -> dict[str, Any]:
    async with served(era) as one:
        return {tool.name: tool for tool in (await one.client.list_tools()).tools}


async def test_tools_are_listed_in_the_order_of_registration(era: str) -> None:
    async with served(era) as one:
        tools = (await one.client.list_tools()).tools
    assert [tool.name for tool in tools] == [spec.name for spec in one.runtime.tools.list()]


async def test_a_server_of_a_design_without_a_version_has_one(era: str) -> None:
    """MCP requires a text, and clients show it."""
    async with served(era) as one:
        about = one.client.server_info
        assert about is not None
        assert about.version == "0"


async def test_tools_of_one_name_in_two_toolsets_are_listed_and_called_by_the_names_of_both(era: str) -> None:
    async def count() -> int:
        """Count the shelves."""
        return 8

    async with served(era) as one:
        one.runtime.tools.register(function_toolset("desk.racks", [func_tool(count, toolset="desk.racks")]))
        tools = {tool.name: tool.meta or {} for tool in (await one.client.list_tools()).tools}
        assert "count" not in tools
        assert tools["racks_count"][f"{PREFIX}id"] == "desk.racks.count"
        assert tools["parcels_count"][f"{PREFIX}id"] == "desk.parcels.count"
        assert await one.text("racks_count") == "8"


async def test_an_entry_says_what_the_spec_says(era: str) -> None:
    tool = (await listed(era))["weigh"]
    assert (tool.title, tool.description) == ("Weigh", "Weigh a parcel.")
    assert tool.input_schema["type"] == "object"
    assert list(tool.input_schema["properties"]) == ["id", "unit"]
    hints = tool.annotations
    assert (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint) == (
        True,
        False,
        False,
        True,
    )
    assert tool.meta[f"{PREFIX}id"] == "desk.parcels.weigh"
    assert tool.meta[f"{PREFIX}tags"] == ["scale"]
    assert tool.meta[f"{PREFIX}digest"].startswith("sha256:")
    assert f"{PREFIX}confirmation" not in tool.meta


async def test_a_confirmation_is_told(era: str) -> None:
    assert (await listed(era))["burn"].meta[f"{PREFIX}confirmation"] is True


async def test_results_that_are_no_objects_are_wrapped_where_the_era_wants_it(era: str) -> None:
    tools = await listed(era)
    plain = {"type": "integer", "title": "Count result"}
    wrapped = {"type": "object", "properties": {"result": plain}, "required": ["result"]}
    assert tools["count"].output_schema == (wrapped if era == "legacy" else plain)
    assert tools["names"].output_schema["type"] == ("object" if era == "legacy" else "array")
    assert tools["weigh"].output_schema["properties"]["id"] == {"type": "string", "title": "Id"}


async def test_a_long_running_tool_has_the_schemas_of_both_answers(era: str) -> None:
    schema = (await listed(era))["export"].output_schema
    assert schema["type"] == "object"
    assert [one["$ref"] for one in schema["anyOf"]] == ["#/$defs/Receipt", "#/$defs/Parcel"]


async def test_tools_that_come_are_announced_and_listed(era: str) -> None:
    async with served(era) as one:
        assert "rename" not in {tool.name for tool in (await one.client.list_tools()).tools}
        if era == "legacy":
            await one.text("sign_in")
            assert [message.method for message in one.messages] == ["notifications/tools/list_changed"]
        else:
            async with one.client.listen(tools_list_changed=True) as changes:
                await one.text("sign_in")
                assert type(await anext(aiter(changes))).__name__ == "ToolsListChanged"
        assert "rename" in {tool.name for tool in (await one.client.list_tools()).tools}
        await one.text("count")
        assert await one.text("rename", old="a", new="b") == "2"
        assert len(one.messages) <= 1


async def test_a_host_announces_changes_from_elsewhere(era: str) -> None:
    async with served(era) as one:
        await one.client.list_tools()
        if era == "legacy":
            await one.server.announce_tools_changed()
            await one.client.session.send_ping()
            assert [message.method for message in one.messages] == ["notifications/tools/list_changed"]
        else:
            async with one.client.listen(tools_list_changed=True) as changes:
                await one.server.announce_tools_changed()
                assert type(await anext(aiter(changes))).__name__ == "ToolsListChanged"


async def test_a_tool_that_is_disabled_is_not_listed_and_a_call_of_it_says_why(era: str) -> None:
    disabled = DisabledTools(MemoryStateStore())
    async with served(era, runtime_options={"disabled": disabled}) as one:
        names = {tool.name for tool in (await one.client.list_tools()).tools}
        await one.runtime.tools.disable("count", "the shelf is moved")
        assert {tool.name for tool in (await one.client.list_tools()).tools} == names - {"count"}
        result = await one.client.call_tool("count", {})
        assert result.is_error
        assert "count is disabled: the shelf is moved" in str(result.content[0])
        await one.runtime.tools.enable("count")
        assert {tool.name for tool in (await one.client.list_tools()).tools} == names


@in_virtual_time
async def test_tools_that_change_without_a_call_are_told(era: str) -> None:
    async with served(era, watch_s=30.0) as one:
        names = {tool.name for tool in (await one.client.list_tools()).tools}
        if era == "legacy":
            await asyncio.sleep(100)
            assert one.messages == []
            one.desk.is_signed_in = True
            await asyncio.sleep(100)
            assert [message.method for message in one.messages] == ["notifications/tools/list_changed"]
        else:
            async with one.client.listen(tools_list_changed=True) as changes:
                one.desk.is_signed_in = True
                assert type(await anext(aiter(changes))).__name__ == "ToolsListChanged"
        assert {tool.name for tool in (await one.client.list_tools()).tools} == {*names, "rename"}


async def test_instructions_come_with_the_description_of_the_server(era: str) -> None:
    told = []
    for toolset in ("", "desk.parcels", "desk.shelves"):
        async with served(era, toolset=toolset) as one:
            told.append(one.client.instructions)
    assert told[0] is not None
    assert "export can return before its work is done" in told[0]
    assert "The result is not sent automatically: if one of these tools reads it, call that tool" in told[0]
    assert told == [told[0], told[0], None]


async def test_one_toolset_alone_is_served(era: str) -> None:
    async with served(era, toolset="desk.shelves") as one:
        assert (await one.client.list_tools()).tools == []
        with pytest.raises(MCPError, match="there is no tool 'count'"):
            await one.client.call_tool("count", {})


async def test_a_toolset_that_is_not_there_is_refused(era: str) -> None:
    runtime = desk_runtime(Desk())
    with pytest.raises(ToolgenError, match=r"toolset 'desk\.parcel' is not registered"):
        server(runtime, toolset="desk.parcel")


async def test_a_list_that_fails_tells_a_reference_and_nothing_else(
    era: str, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        name = "desk.broken"

        async def tools(self, context: object) -> Any:
            raise RuntimeError("password hunter2")

    async with served(era) as one:
        one.runtime.tools.add_toolset(Broken())
        with pytest.raises(MCPError, match=r"cannot be listed now \(reference [0-9a-f]{12}\)") as raised:
            await one.client.list_tools()
    assert "hunter2" not in str(raised.value)
    assert "hunter2" in caplog.text


async def test_a_runtime_without_tools_is_served(era: str) -> None:
    async with Client(InMemoryTransport(server(Runtime()).sdk), mode=era) as client:
        assert (await client.list_tools()).tools == []


async def test_a_client_is_listed_what_its_own_session_may_have(era: str) -> None:
    def secret() -> str:
        """Tell it."""
        return "it"

    class Own:
        name = "desk.own"

        async def tools(self, context: ReadonlyContext) -> Any:
            return [func_tool(secret, toolset=self.name)] if context.meta.session_id == "s-1" else ()

    session = "s-1"
    async with served(era, meta=lambda ctx: CallMeta(session_id=session)) as one:
        one.runtime.tools.add_toolset(Own())
        seen = [{tool.name for tool in (await one.client.list_tools()).tools}]
        session = "s-2"
        async with Client(InMemoryTransport(one.server.sdk), mode=era) as other:
            seen.append({tool.name for tool in (await other.list_tools()).tools})
            with pytest.raises(MCPError, match="there is no tool 'secret'"):
                await other.call_tool("secret", {})
    assert ["secret" in names for names in seen] == [True, False]


@in_virtual_time
async def test_a_toolset_that_breaks_for_one_client_hides_no_change_from_others(era: str) -> None:
    class Fragile:
        name = "desk.fragile"

        async def tools(self, context: ReadonlyContext) -> Any:
            if one.desk.is_signed_in and context.meta.session_id == "s-1":
                raise RuntimeError("it broke")
            return ()

    told = asyncio.Event()

    async def tell(message: object) -> None:
        told.set()

    session = "s-1"
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(
            served(era, watch_s=30.0, meta=lambda ctx: CallMeta(session_id=session))
        )
        one.runtime.tools.add_toolset(Fragile())
        await one.client.list_tools()
        session = "s-2"
        other = Client(InMemoryTransport(one.server.sdk), mode=era, message_handler=tell)
        await stack.enter_async_context(other)
        await other.list_tools()
        async with asyncio.timeout(100):
            if era == "legacy":
                one.desk.is_signed_in = True
                await told.wait()
            else:
                async with other.listen(tools_list_changed=True) as changes:
                    one.desk.is_signed_in = True
                    assert type(await anext(aiter(changes))).__name__ == "ToolsListChanged"
