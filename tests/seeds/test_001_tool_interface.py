"""Five proposals for the interface of tools: each works as its document proposes."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from tests.runtime.tools import nothing, spec
from tests.runtime.tools import runtime as running
from tests.runtime.typed_functions import called
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    BoundTool,
    CallMeta,
    ConfirmSpec,
    Continue,
    Hook,
    Key,
    ReadonlyContext,
    Runtime,
    SyncToolContext,
    ToolCall,
    ToolContext,
    ToolResult,
    Verdict,
)
from toolgen.runtime.functions import func_tool, function_toolset

META = CallMeta(session_id="s", tool_call_id="call-1")


# 1. The schema follows from the type of the input, and its author may replace it.


class ReadFileInput(BaseModel):
    file_path: str = Field(description="The absolute path to the file to read")
    offset: int = Field(1, description="The line number to start reading from (1-based)")
    limit: int | None = Field(None, description="The number of lines to read")


def read_file(input: ReadFileInput) -> str:
    """Read a file."""
    return f"{input.file_path} from {input.offset}"


async def test_the_schema_and_the_type_of_the_input_cannot_drift() -> None:
    inner = func_tool(read_file).spec.payload.schema["$defs"]["ReadFileInput"]
    assert inner["required"] == ["file_path"]
    assert [part["description"] for part in inner["properties"].values()] == [
        "The absolute path to the file to read",
        "The line number to start reading from (1-based)",
        "The number of lines to read",
    ]
    assert (await called(read_file, {"input": {"file_path": "/a"}})).result == "/a from 1"


async def test_an_author_can_provide_the_schema() -> None:
    """`SchemaProvider`."""

    def read(file_path: str) -> str:
        return file_path

    properties = {"file_path": {"type": "string", "pattern": "^/"}}
    schema = {"type": "object", "properties": properties, "required": ["file_path"]}
    payload = func_tool(read, input_schema=schema).spec.payload
    assert payload.schema["properties"] == properties
    assert payload.decode('{"file_path": "/a"}').file_path == "/a"


# 2. A tool has the call, and values that it shares with the hooks.

WORKSPACE: Key[str] = Key("workspace_dir")
LINES: Key[int] = Key("lines")


class Workspace(Hook):
    def __init__(self) -> None:
        self.lines = 0

    async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        ctx.values[WORKSPACE] = "/work"
        return Continue()

    async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
        self.lines = ctx.values[LINES]
        return Continue()


async def test_hooks_and_tools_share_values() -> None:
    def count(tool_context: SyncToolContext) -> str:
        tool_context.values[LINES] = 3
        return f"{tool_context.meta.tool_call_id} in {tool_context.values[WORKSPACE]}"

    hook = Workspace()
    runtime = Runtime(hooks=[hook])
    runtime.tools.register(function_toolset("x.tools", [count]))
    assert (await runtime.call("count", {}, META)).result == "call-1 in /work"
    assert hook.lines == 3


# 3. Tools that come and go: `upload` after `login`.


class Files:
    name = "x.files"

    def __init__(self) -> None:
        self.users: set[str] = set()

    async def tools(self, context: ReadonlyContext) -> Sequence[BoundTool]:
        def login() -> None:
            self.users.add(context.meta.session_id)

        def upload(name: str) -> str:
            return f"{name} is there"

        functions: list[Any] = [login]
        functions += [upload] if context.meta.session_id in self.users else []
        return [func_tool(function, toolset=self.name) for function in functions]


async def test_tools_are_resolved_for_each_request() -> None:
    async with Runtime() as runtime:
        runtime.tools.add_toolset(Files())
        before = await runtime.tools.snapshot(ReadonlyContext(meta=META))
        assert [spec.name for spec in before.specs] == ["login"]
        await before.call("login", {}, META)
        after = await runtime.tools.snapshot(ReadonlyContext(meta=META))
        assert [spec.name for spec in after.specs] == ["login", "upload"]
        assert (await after.call("upload", {"name": "a"}, META)).result == "a is there"


# 4. A tool of one function.


def weather(city: Annotated[str, "City name"], units: Literal["celsius", "fahrenheit"] = "celsius") -> str:
    return f"Temperature: 20{units}"


async def test_a_tool_is_one_line() -> None:
    tool = func_tool(
        weather,
        name="get_weather",
        description="Get current weather for a city",
        annotations={"read_only": True},
    )
    properties = tool.spec.payload.schema["properties"]
    assert properties["city"]["description"] == "City name"
    assert properties["units"]["enum"] == ["celsius", "fahrenheit"]
    assert properties["units"]["default"] == "celsius"
    assert tool.spec.hints["read_only"]
    assert (await called(weather, {"city": "Ulm"})).result == "Temperature: 20celsius"


# 5. A panic is an error that the model reads; the stack trace is for the log.


async def test_a_panic_ends_its_call_and_not_the_process(caplog: pytest.LogCaptureFixture) -> None:
    def panics() -> None:
        raise RecursionError("deep inside")

    with caplog.at_level(logging.ERROR):
        result = await called(panics, {})
    assert result.status == "error"
    assert "failed with an internal error" in json.loads(result.json)["error"]
    assert b"deep inside" not in result.json
    assert "RecursionError: deep inside" in caplog.text


# What it praises: a preview before a person decides.


async def test_a_person_reads_a_preview_before_the_call_runs() -> None:
    class Devices:
        async def list_devices(self, payload: Any, ctx: ToolContext) -> Any:
            return nothing()

        async def preview_list_devices(self, payload: Any) -> str:
            return f"reads all of {payload.site_id}"

    host = running(Devices(), spec(confirm=ConfirmSpec(hint="Go?")), engine=InProcessEngine())
    asked = await host.call("assistant.devices.list_devices", {"site_id": "s1"}, META)
    assert asked.suspension is not None
    assert asked.suspension.preview == "reads all of s1"
