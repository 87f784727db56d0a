"""Calls by a client of each era: results, errors, content, injected fields."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from mcp import Client, MCPError, types
from mcp.client._memory import InMemoryTransport

from tests.selection import diagonal, first
from toolgen.adapters.mcp import server
from toolgen.adapters.mcp.client.failures import failure_of
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.calls.specs import ErrorSpec
from toolgen.capabilities import ArtifactsCapability, MemoryArtifactStore
from toolgen.runtime import (
    CallMeta,
    Limits,
    OutcomeUnknownError,
    Runtime,
    ToolContext,
    ToolModel,
    ToolOutcome,
)
from toolgen.runtime.functions import ArtifactSpec

from .desk import ERAS, META, Parcel, served

pytestmark = pytest.mark.parametrize("era", first(ERAS))


class Taken(ToolModel):
    """Who has a name."""

    by: str


TAKEN: ErrorSpec[Taken] = ErrorSpec("taken", TypeCodec(Taken, "Taken"))
FILE: ArtifactSpec[Parcel] = ArtifactSpec("file", TypeCodec(Parcel, "Parcel"), "All of it.", view="table")


async def test_the_text_is_exactly_the_result_of_the_runtime(era: str) -> None:
    async with served(era) as one:
        result = await one.client.call_tool("weigh", {"id": "p1"})
        same = await one.runtime.call("weigh", {"id": "p1"}, META)
    assert result.content == [types.TextContent(type="text", text=same.json.decode())]
    assert result.structured_content == {"id": "p1", "weight": 1.5}
    assert not result.is_error
    assert one.desk.log[0] == "weigh p1 kg for s-mira"


@pytest.mark.parametrize(
    ("tool", "value"), [("count", 3), ("names", ["a", "b"]), ("find", None), ("sign_in", True)]
)
async def test_what_is_no_object_is_wrapped_as_its_schema_says(era: str, tool: str, value: Any) -> None:
    """The SDK's client validates it; null does not cross the SDK, so `find` is wrapped in both eras."""
    async with served(era) as one:
        result = await one.client.call_tool(tool, {})
    wrapped = {"result": value}
    assert result.structured_content == (wrapped if era == "legacy" or tool == "find" else value)
    assert result.content == [types.TextContent(type="text", text=json.dumps(value, separators=(",", ":")))]


async def test_invalid_arguments_are_a_result_with_issues(era: str) -> None:
    async with served(era) as one:
        result = await one.client.call_tool("weigh", {"id": 5, "colour": "red"})
    assert isinstance(result.content[0], types.TextContent)
    document = json.loads(result.content[0].text)
    assert result.is_error
    assert result.structured_content is None
    assert [issue["path"] for issue in document["issues"]] == ["$.id", "$.colour"]
    assert result.meta is not None
    assert result.meta["dev.toolgen/retry"] == {"reason": "invalid_arguments"}
    assert one.desk.log == []


async def test_a_missing_field_is_named_in_the_hint(era: str) -> None:
    async with served(era) as one:
        result = await one.client.call_tool("weigh", {})
    assert result.meta is not None
    assert result.meta["dev.toolgen/retry"]["missing_fields"] == ["$.id"]


async def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(era: str) -> None:
    async with served(era) as one:
        with pytest.raises(MCPError) as raised:
            await one.client.call_tool("weihg", {})
    assert raised.value.error.code == types.INVALID_PARAMS
    assert "similar names: weigh" in raised.value.error.message


async def test_an_error_of_a_tool_is_a_result(era: str) -> None:
    async with served(era) as one:
        failed = await one.client.call_tool("fail", {})
        crashed = await one.text("crash")
    assert failed.is_error
    assert failed.content == [types.TextContent(type="text", text='{"error":"the scale is broken"}')]
    assert "hunter2" not in crashed
    assert "failed with an internal error" in crashed


async def test_content_blocks_are_passed_on(era: str) -> None:
    async with served(era) as one:
        result = await one.client.call_tool("show", {})
    assert [block.type for block in result.content] == ["text", "text", "image", "audio", "resource_link"]
    image, link = result.content[2], result.content[4]
    assert isinstance(image, types.ImageContent)
    assert (image.data, image.mime_type) == ("iVBORw==", "image/png")
    assert isinstance(link, types.ResourceLink)
    assert (link.uri, link.size) == ("https://desk.example/1", 7)
    assert result.meta is not None
    assert result.meta["dev.toolgen/display"] == "A **parcel**."


async def test_a_declared_error_has_its_code_and_details(era: str) -> None:
    async def name(name: str) -> str:
        """Give a name."""
        raise TAKEN.of("it is taken", Taken(by="d7"))

    async with Client(InMemoryTransport(one_tool(name, errors={"taken": TAKEN}).sdk), mode=era) as client:
        result = await client.call_tool("name", {"name": "x"})
    assert isinstance(result.content[0], types.TextContent)
    document = {"error": "it is taken", "code": "taken", "details": {"by": "d7"}}
    assert json.loads(result.content[0].text) == document
    assert result.is_error


async def test_an_unknown_outcome_stays_one_for_a_client_of_toolgen(era: str) -> None:
    async def pay() -> str:
        """Pay."""
        raise OutcomeUnknownError("the bank gave no answer; it may have run")

    made = one_tool(pay)
    async with Client(InMemoryTransport(made.sdk), mode=era) as client:
        result = await client.call_tool("pay", {})
    assert isinstance(result, types.CallToolResult)
    assert result.is_error
    assert result.meta is not None
    assert result.meta["dev.toolgen/status"] == "unknown"
    told = failure_of(result, func_tool(pay).spec)
    assert isinstance(told, OutcomeUnknownError)
    assert str(told) == "the bank gave no answer; it may have run"


async def test_an_injected_field_is_the_servers_alone(era: str) -> None:
    async def open_drawer(drawer: str, ctx: ToolContext) -> str:
        """Open a drawer."""
        return f"{drawer} of {ctx.meta.session_id}"

    made = one_tool(open_drawer, injected=("session_id",), session_id="s-mira")
    async with Client(InMemoryTransport(made.sdk), mode=era) as client:
        (tool,) = (await client.list_tools()).tools
        forged = await client.call_tool("open_drawer", {"drawer": "top", "session_id": "s-jonas"})
        opened = await client.call_tool("open_drawer", {"drawer": "top"})
    assert list(tool.input_schema["properties"]) == ["drawer"]
    assert forged.is_error
    assert not opened.is_error
    assert opened.content == [types.TextContent(type="text", text='"top of s-mira"')]


async def test_what_a_hook_raises_is_told_by_a_reference(era: str, caplog: pytest.LogCaptureFixture) -> None:
    def meta(ctx: Any) -> CallMeta:
        raise RuntimeError("password hunter2")

    async with Client(InMemoryTransport(one_tool(len_of, meta=meta).sdk), mode=era) as client:
        with pytest.raises(
            MCPError, match=r"could not determine the caller of this request \(reference"
        ) as raised:
            await client.call_tool("len_of", {"text": "a"})
    assert "hunter2" not in str(raised.value)
    assert "hunter2" in caplog.text


async def len_of(text: str) -> int:
    """Count."""
    return len(text)


async def test_for_whom_a_call_is_says_the_hook(era: str) -> None:
    def meta(ctx: Any) -> CallMeta:
        return CallMeta(session_id=f"of {ctx.method}", labels={"user": "mira"})

    async with served(era, meta=meta) as one:
        await one.text("weigh", id="p1")
    assert one.desk.log == ["weigh p1 kg for of tools/call"]


async def test_an_artifact_is_a_link_that_its_session_reads(era: str) -> None:
    async def export(ctx: ToolContext) -> ToolOutcome[str]:
        """Export."""
        return ToolOutcome.of("done", artifacts=[FILE.of(Parcel(id="p1", weight=2))])

    who = ["s-mira"]
    made = one_tool(export, artifacts={"file": FILE}, meta=lambda ctx: CallMeta(session_id=who[0]))
    async with Client(InMemoryTransport(made.sdk), mode=era, cache=None) as client:
        result = await client.call_tool("export", {})
        text, link = result.content
        assert isinstance(text, types.TextContent)
        assert text.text == '"done"'
        assert isinstance(link, types.ResourceLink)
        assert (link.name, link.description, link.mime_type) == ("file", "All of it.", "application/json")
        assert link.annotations is not None
        assert link.annotations.audience == ["user"]
        assert link.meta is not None
        assert link.meta["dev.toolgen/view"] == "table"
        (contents,) = (await client.read_resource(link.uri)).contents
        assert isinstance(contents, types.TextResourceContents)
        assert json.loads(contents.text) == {"id": "p1", "weight": 2}
        who[0] = "s-jonas"
        with pytest.raises(MCPError, match="belong to another session") as raised:
            await client.read_resource(link.uri)
    assert raised.value.error.code == types.INVALID_PARAMS


async def test_bytes_that_are_no_text_are_a_blob(era: str) -> None:
    async def draw(ctx: ToolContext) -> str:
        """Draw."""
        return (await ctx.artifacts.save("a.png", b"\x89PNG", "image/png")).uri

    async with Client(InMemoryTransport(one_tool(draw, session_id="s-1").sdk), mode=era) as client:
        assert (await client.list_resources()).resources == []
        uri = (await client.call_tool("draw", {})).content[0]
        assert isinstance(uri, types.TextContent)
        (contents,) = (await client.read_resource(json.loads(uri.text))).contents
    assert isinstance(contents, types.BlobResourceContents)
    assert (contents.blob, contents.mime_type) == ("iVBORw==", "image/png")


async def test_a_truncated_result_breaks_no_schema(era: str) -> None:
    async with served(era, runtime_options={"limits": Limits(result_bytes=120)}) as one:
        result = await one.client.call_tool("weigh", {"id": "p" * 500})
    assert isinstance(result.content[0], types.TextContent)
    assert "truncated_by" in result.content[0].text
    assert result.is_error
    assert result.structured_content is None


async def test_a_tool_with_a_limit_of_its_own_sends_text_alone(era: str) -> None:
    async def tell() -> str:
        """Tell."""
        return "x" * 500

    async with Client(InMemoryTransport(one_tool(tell, max_result_bytes=120).sdk), mode=era) as client:
        (tool,) = (await client.list_tools()).tools
        result = await client.call_tool("tell", {})
    assert tool.output_schema is None
    assert not result.is_error
    assert result.structured_content is None


async def test_an_acknowledgement_is_answered_at_once(era: str) -> None:
    async with served(era) as one:
        result = await one.client.call_tool("export", {})
    assert result.structured_content == {"minutes": 4}
    assert result.meta is not None
    assert result.meta["dev.toolgen/status"] == "pending"


async def test_progress_comes_before_the_result_and_grows(era: str) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def keep(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async with served(era) as one:
        await one.client.call_tool("walk", {}, progress_callback=keep)
        await one.client.call_tool("walk", {})
    assert told == [(0.25, 1.0, "a quarter"), (0.250001, 1.0, "still on the way"), (1.0, 1.0, None)]


@pytest.mark.parametrize(
    ("kind", "is_async"),
    diagonal([SystemExit, asyncio.CancelledError, GeneratorExit, StopIteration, MCPError], [True, False]),
)
async def test_a_meta_hook_ends_no_server_by_what_it_raises(era: str, kind: Any, is_async: bool) -> None:
    is_broken: list[bool] = []

    def hook(ctx: Any) -> CallMeta:
        if is_broken:
            raise kind(-32000, "password hunter2") if kind is MCPError else kind("password hunter2")
        return META

    async def hook_later(ctx: Any) -> CallMeta:
        return hook(ctx)

    async with served(era, meta=hook_later if is_async else hook) as one:
        is_broken.append(True)
        with pytest.raises(MCPError, match="could not determine the caller") as raised:
            await one.client.call_tool("count", {})
        assert "hunter2" not in str(raised.value)
        is_broken.clear()
        assert await one.text("count") == "3"


async def test_a_cancelled_request_cancels_its_call(era: str) -> None:
    async with served(era) as one:
        call = asyncio.create_task(one.client.call_tool("hang", {}))
        async with asyncio.timeout(10):
            await one.desk.has_begun.wait()
            call.cancel()
            await one.desk.was_cancelled.wait()
        assert await one.text("count") == "3"


def one_tool(function: Any, **facts: Any) -> Any:
    """Return a server with one tool; facts of its spec, and options of the server."""
    of_spec = {key: facts.pop(key) for key in ("errors", "artifacts", "injected") if key in facts}
    of_server = {key: facts.pop(key) for key in ("meta", "session_id") if key in facts}
    runtime = Runtime(capabilities=[ArtifactsCapability(MemoryArtifactStore())])
    tool = func_tool(function, toolset="desk.one", **facts)
    runtime.tools.register(function_toolset("desk.one", [replace(tool, spec=replace(tool.spec, **of_spec))]))
    return server(runtime, **of_server)
