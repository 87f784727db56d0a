"""Calls of an MCP server's tools: checked before they leave and after they come back."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, types
from mcp_types import CallToolResult

from tests.adapters.mcp.client.conftest import bare, lines, served
from tests.peers import PEERS
from toolgen.adapters.mcp import MCPToolset, StdioServer, server
from toolgen.adapters.mcp.client.binding import Bindings
from toolgen.adapters.mcp.client.listing import ServerListing
from toolgen.adapters.mcp.client.results import outcome_of
from toolgen.adapters.mcp.client.tools import portable_names
from toolgen.clients import UnfitAnswerError
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.runtime import (
    AudioContent,
    CallMeta,
    ImageContent,
    ReadonlyContext,
    ResourceContent,
    Scheduling,
    TextContent,
    ToolError,
    ToolSpec,
)
from toolgen.runtime.functions import json_schema_codec
from toolgen.runtime.views import filter_toolset, prefixed, with_confirmation


async def test_a_tool_is_listed_with_what_its_server_says() -> None:
    async with served(bare("good")) as (_, snapshot):
        specs = {spec.name: spec for spec in snapshot.specs}
        echo = specs["echo"]
        assert (echo.id, echo.title) == ("mcp.bare.echo", "Say it again")
        assert echo.payload.schema["required"] == ["n"]
        assert echo.meta["mcp"] == {"server": "bare", "tool": "echo", "untrusted": True}
        assert specs["die_once"].annotations == {"read_only": True}
        assert "not as instructions" in snapshot.instructions


async def test_names_are_portable_and_descriptions_short_and_visible() -> None:
    async with served(bare("good", longest_description=100)) as (_, snapshot):
        names = {spec.meta["mcp"]["tool"]: spec for spec in snapshot.specs}  # type: ignore[index, call-overload]
        factorial = names["math.factorial"]
        assert factorial.name == "math_factorial_2f2114b7"
        assert names["math_factorial"].name == "math_factorial"
        assert factorial.description.startswith("Says\\u200b its name.\nxxx")
        assert factorial.description.endswith("x…")
        called = await snapshot.call(factorial.name, {})
        assert called.result == "math.factorial"


def test_no_two_tools_have_one_name() -> None:
    hashed = portable_names(["a_b", "a.b"])["a.b"]
    names = portable_names([hashed, "a.b", "a_b", "A_B", "a b", "", "é" * 200])
    assert len(set(names.values())) == 7
    assert (names["a_b"], names["A_B"], names[hashed]) == ("a_b", "A_B", hashed)


async def test_a_tool_has_the_id_of_its_own_list() -> None:
    bindings = Bindings("mcp.s", "server_", lambda tool, id_, wire_name: f"made as {id_}", None)
    name = "y" * 60
    for names in ([f"{name} "], [f"{name} ", f"{name}_"]):  # of one wire name in both
        tools = tuple(types.Tool(name=each, input_schema={"type": "object"}) for each in names)
        made = await bindings.tools(ServerListing(tools=tools))
        assert made.left_out == {id_: f"made as {id_}" for id_ in made.left_out}


async def test_arguments_are_checked_before_they_leave(log: Path) -> None:
    async with served(bare("good")) as (_, snapshot):
        result = await snapshot.call("echo", {"n": "one"})
        assert result.retry_hint is not None
        assert [str(issue) for issue in result.retry_hint.issues] == ["$.n must be an integer, not a string"]
        assert (await snapshot.call("echo", {"n": 1})).json == b'{"n":1}'


async def test_text_that_repeats_the_structured_result_is_left_out() -> None:
    async with served(bare("good")) as (_, snapshot):
        assert (await snapshot.call("echo", {"n": 1})).content == ()


def test_null_is_a_structured_result_where_a_schema_has_it() -> None:
    codec: Any = json_schema_codec({"type": ["object", "null"]}, "Result")
    spec: Any = ToolSpec(id="mcp.it.find", name="find", description="Find.", payload=codec, result=codec)
    answer = CallToolResult.model_validate({"content": [], "structuredContent": None})
    assert outcome_of(answer, spec, "it", has_schema=True).result is None


def test_an_answer_that_is_no_json_is_in_no_error() -> None:
    codec: Any = json_schema_codec({"type": "object", "properties": {"n": {"type": "integer"}}}, "Result")
    spec: Any = ToolSpec(id="mcp.it.find", name="find", description="Find.", payload=codec, result=codec)
    answer = CallToolResult.model_validate_json('{"content": [], "structuredContent": {"n": 1e400}}')
    with pytest.raises(ToolError, match="find ran; its result could not be read") as raised:
        outcome_of(answer, spec, "it", has_schema=True)
    assert not isinstance(raised.value, UnfitAnswerError)


async def test_results_that_do_not_fit_name_the_server() -> None:
    async with served(bare("good")) as (_, snapshot):
        for tool, why in {
            "misfit": "$.n must be an integer, not a string",
            "unstructured": "no structured content",
            "flood": "1001 blocks of content; 1000 are allowed",
        }.items():
            result = await snapshot.call(tool, {})
            assert (result.status, result.retry_hint) == ("error", None)
            assert str(result.error).startswith(
                f"{tool} ran; its result could not be read: the MCP server 'bare' returned an answer that "
                "does not"
            )
            assert why in str(result.error)
        assert json.loads((await snapshot.call("misfit", {})).json)["answer"] == {"n": "one"}
        nonsense = await snapshot.call("nonsense", {})
        assert (nonsense.status, nonsense.retry_hint) == ("unknown", None)
        assert "bare" in str(nonsense.error)


async def test_all_kinds_of_content_come_through_in_their_order() -> None:
    async with served(bare("good")) as (_, snapshot):
        result = await snapshot.call("blocks", {})
        assert result.result == "before"
        assert result.content == (
            ImageContent(data=b"hi", media_type="image/png"),
            AudioContent(data=b"hi", media_type="audio/wav"),
            TextContent(text="after"),
            ResourceContent(
                uri="file:///a.txt", name="a", media_type="text/plain", description="[no web page]", size=2
            ),
            TextContent(text="inside"),
            ImageContent(data=b"hi", media_type="image/gif"),
            ResourceContent(
                uri="file:///d.bin",
                name="d.bin",
                media_type="font/ttf",
                description="[no web page]",
                size=2,
                data=b"hi",
            ),
        )


async def test_an_embedded_resource_is_passed_on_with_its_data() -> None:
    async with served(bare("good")) as (runtime, snapshot):
        font = (await snapshot.call("blocks", {})).content[-1]
        embedded = {"uri": "file:///d.bin", "mimeType": "font/ttf", "blob": "aGk="}
        named = {"name": "d.bin", "description": "[no web page]", "size": 2}
        assert font.as_json() == {"type": "resource", "resource": embedded, **named}
        async with Client(server(runtime).sdk) as client:
            served_again = (await client.call_tool("blocks", {})).content[-1]
        assert isinstance(served_again, types.EmbeddedResource)
        assert served_again.resource.model_dump(by_alias=True, exclude_none=True) == embedded


async def test_a_result_without_content_is_a_result() -> None:
    async with served(bare("good")) as (_, snapshot):
        result = await snapshot.call("empty", {})
        assert (result.status, result.json, result.content) == ("ok", b'""', ())


async def test_the_issues_of_a_failure_are_read() -> None:
    async with served(bare("good")) as (_, snapshot):
        result = await snapshot.call("issues", {})
        assert (result.status, result.retry_hint is not None) == ("error", True)
        assert result.retry_hint is not None
        assert result.retry_hint.reason == "missing_fields"
        assert result.retry_hint.missing_fields == ('$.a[0]["b c"]',)


async def test_progress_is_told() -> None:
    events = Events()
    async with events.subscribe(types=["tool_update"]) as updates:
        async with served(bare("good"), events=events) as (_, snapshot):
            await snapshot.call("progress", {})
        told: list[Any] = [await anext(updates), await anext(updates)]
    assert [(event.fraction, event.message) for event in told] == [(0.25, "step 1"), (0.5, "step 2")]


async def test_progress_after_the_result_is_of_no_call(caplog: pytest.LogCaptureFixture) -> None:
    events = Events()
    told = events.subscribe()
    async with served(bare("good"), events=events) as (_, snapshot):
        late = await snapshot.call("late_progress", {})
        after = await snapshot.call("echo", {"n": 1})
    events.close()
    seen = [event.type async for event in told]
    assert (late.status, after.result) == ("ok", {"n": 1})
    assert "tool_update" not in seen
    assert seen.count("tool_end") == 2
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


async def test_a_question_inside_a_call_is_declined() -> None:
    async with served(bare("good")) as (_, snapshot):
        assert (await snapshot.call("ask", {})).result == "decline"


async def test_a_cancelled_call_is_cancelled_at_the_server(log: Path) -> None:
    async with served(bare("good", log, call_s=None)) as (_, snapshot):
        call = asyncio.create_task(snapshot.call("hang", {}))
        await snapshot.call("echo", {"n": 1})  # the server has both
        call.cancel()
        await asyncio.wait({call})
        await snapshot.call("echo", {"n": 1})
        assert len(lines(log)) == 1


async def test_a_call_that_runs_out_of_time_may_have_run(log: Path) -> None:
    async with served(bare("good", log, call_s=0.1)) as (_, snapshot):
        hangs = await snapshot.call("hang", {})
        assert (hangs.status, str(hangs.error)) == (
            "unknown",
            "hang did not respond within 0.1 seconds; it may have run",
        )
        reads = await snapshot.call("hang_reading", {})
        assert reads.retry_hint is not None
        assert (reads.status, reads.retry_hint.reason) == ("error", "timeout")


async def test_a_call_that_runs_out_of_time_before_it_is_sent_has_not_run() -> None:
    async def token(meta: CallMeta) -> dict[str, str]:
        if meta.session_id:
            await asyncio.Event().wait()
        return {}

    slow = StdioServer(sys.executable, (str(PEERS / "bare.py"), "good"), env=token)
    async with served(MCPToolset("bare", slow, prefix="", call_s=0.1)) as (_, snapshot):
        result = await snapshot.call("hang", {}, CallMeta(session_id="s"))
        assert result.status == "error"


@pytest.mark.exhaustive
async def test_two_hundred_calls_at_once() -> None:
    async with served(bare("good"), scheduling=Scheduling(max_calls_per_run=200)) as (_, snapshot):
        results = await asyncio.gather(*(snapshot.call("echo", {"n": n}) for n in range(200)))
        assert [json.loads(result.json)["n"] for result in results] == list(range(200))


async def test_views_of_the_toolset() -> None:
    view = prefixed(filter_toolset(bare("good"), lambda spec, _: spec.name == "echo"), "srv_")
    async with served(view) as (_, snapshot):
        assert [spec.name for spec in snapshot.specs] == ["srv_echo"]
        assert (await snapshot.call("srv_echo", {"n": 2})).json == b'{"n":2}'


async def test_a_confirmed_call_goes_on_at_the_live_server() -> None:
    view = with_confirmation(bare("good"), hint="Echo {n}?", tools=["echo"])
    async with served(view, engine=InProcessEngine()) as (runtime, snapshot):
        asked = await snapshot.call("echo", {"n": 2}, CallMeta(tool_call_id="c1"))
        assert asked.suspension is not None
        assert asked.suspension.question == "Echo 2?"
        result = await runtime.suspensions.answer(asked.suspension.token, {"approved": True})
        assert result.json == b'{"n":2}'


async def test_a_default_of_a_required_argument_is_approved_and_sent() -> None:
    view = with_confirmation(bare("defaults"), hint="Echo {n}?", tools=["echo_default"])
    async with served(view, engine=InProcessEngine()) as (runtime, snapshot):
        asked = await snapshot.call("echo_default", {}, CallMeta(tool_call_id="c1"))
        assert asked.suspension is not None
        assert asked.suspension.question == "Echo 7?"
        assert asked.suspension.arguments == {"n": 7}
        result = await runtime.suspensions.answer(asked.suspension.token, {"approved": True})
        assert result.json == b'{"n":7}'


async def test_a_result_is_what_the_server_sent() -> None:
    async with served(bare("defaults")) as (_, snapshot):
        result = await snapshot.call("empty_default", {})
        assert "$.n is required and was left out" in str(result.error)


async def test_a_tool_that_changed_meanwhile_is_asked_for_again() -> None:
    view = with_confirmation(bare("good"), tools=["echo"])
    async with served(view, engine=InProcessEngine()) as (runtime, snapshot):
        asked = await snapshot.call("echo", {"n": 2}, CallMeta(tool_call_id="c1"))
        assert asked.suspension is not None
        await snapshot.call("change", {})
        again = await runtime.suspensions.answer(asked.suspension.token, {"approved": True})
        assert again.suspension is not None
        assert again.suspension.reason == "the tool has changed since the question was asked"


async def test_a_tool_that_changed_since_it_was_listed_is_not_called() -> None:
    async with served(bare("good")) as (runtime, snapshot):
        await snapshot.call("change", {})
        result = await snapshot.call("echo", {"n": 2})
        assert str(result.error) == ("the MCP server 'bare' has changed the tool 'echo' since it was listed")
        newer = await runtime.tools.snapshot(ReadonlyContext(), previous=snapshot)
        assert "could not be read" in str((await newer.call("echo", {"n": "one"})).error)
