"""The server that the official conformance suite of MCP calls: its tools, as functions of a runtime.

`python suite_server.py` writes its URL. What toolgen does not offer, such as prompts, is not here.
"""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any, Final

from toolgen.adapters.mcp import serve_http, server
from toolgen.engines import InProcessEngine
from toolgen.events import Events
from toolgen.runtime import (
    AudioContent,
    BoundTool,
    Content,
    ImageContent,
    ResourceContent,
    Runtime,
    TextContent,
    ToolContext,
    ToolError,
    ToolModel,
    ToolOutcome,
    ToolSpec,
    Unfinished,
)
from toolgen.runtime.functions import func_tool, function_toolset, json_schema_codec

TOOLSET: Final = "suite.tools"
PIXEL: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
SILENCE: Final = b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80>\0\0\2\0\x10\0data\0\0\0\0"
ADDRESS: Final[dict[str, Any]] = {
    "$anchor": "addressDef",
    "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
}
FOREIGN: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": ADDRESS},
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
HEADERS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
}
TITLED: Final = [{"const": f"value{number}", "title": f"Option {number}"} for number in (1, 2, 3)]
OPTIONS: Final = ["option1", "option2", "option3"]
CHOICES: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": OPTIONS},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {"type": "string", "enum": OPTIONS, "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
}
DEFAULTS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
}


class User(ToolModel):
    """Who somebody is."""

    username: str
    email: str


class Name(ToolModel):
    """A name."""

    name: str


class Confirmed(ToolModel):
    """A confirmation."""

    ok: bool


class Color(ToolModel):
    """A colour."""

    color: str


def test_simple_text() -> str:
    """Return a text."""
    return "This is a simple text response for testing."


def test_image_content() -> ToolOutcome[str]:
    """Return an image."""
    return ToolOutcome.of("an image", content=[ImageContent(data=PIXEL, media_type="image/png")])


def test_audio_content() -> ToolOutcome[str]:
    """Return a sound."""
    return ToolOutcome.of("a sound", content=[AudioContent(data=SILENCE, media_type="audio/wav")])


def test_embedded_resource() -> ToolOutcome[str]:
    """Return a resource with its data."""
    return ToolOutcome.of("a resource", content=[embedded("test://embedded-resource", "text/plain")])


def test_multiple_content_types() -> ToolOutcome[str]:
    """Return a text, an image and a resource."""
    content: list[Content] = [
        TextContent(text="Multiple content types test:"),
        ImageContent(data=PIXEL, media_type="image/png"),
        embedded("test://mixed-content-resource", "application/json"),
    ]
    return ToolOutcome.of("three of them", content=content)


def embedded(uri: str, media_type: str) -> ResourceContent:
    return ResourceContent(uri=uri, name="data", media_type=media_type, data=b'{"test":"data"}')


def test_error_handling() -> str:
    """Fail."""
    raise ToolError("This tool intentionally returns an error for testing")


async def test_tool_with_progress(ctx: ToolContext) -> str:
    """Say how far it is."""
    for fraction in (0.0, 0.5, 1.0):
        ctx.progress(fraction)
    return "done"


async def test_elicitation(message: str, ctx: ToolContext) -> str | Unfinished:
    """Ask who somebody is."""
    if (user := ctx.answered(User)) is None:
        return ToolOutcome.ask(message, User)
    return f"User response: {user.username}, {user.email}"


async def test_elicitation_sep1034_defaults(ctx: ToolContext) -> str | Unfinished:
    """Ask for values that have defaults."""
    return asked(ctx, DEFAULTS)


async def test_elicitation_sep1330_enums(ctx: ToolContext) -> str | Unfinished:
    """Ask for one and for several choices, with titles and without."""
    return asked(ctx, CHOICES)


def asked(ctx: ToolContext, schema: dict[str, Any]) -> str | Unfinished:
    if ctx.answer is None:
        return ToolOutcome.ask("Please say", schema)
    return f"Elicitation completed: action=accept, content={json.dumps(ctx.answer)}"


async def test_input_required_result_elicitation(ctx: ToolContext) -> str | Unfinished:
    """Ask for a name."""
    if (found := ctx.answered(Name)) is None:
        return ToolOutcome.ask("What is your name?", Name)
    return f"Hello, {found.name}!"


async def test_streaming_elicitation(ctx: ToolContext) -> str | Unfinished:
    """Say how far it is, and ask for a name."""
    ctx.progress(0.5)
    return await test_input_required_result_elicitation(ctx)


async def test_input_required_result_request_state(ctx: ToolContext) -> str | Unfinished:
    """Ask for a confirmation."""
    if ctx.answered(Confirmed) is None:
        return ToolOutcome.ask("Please confirm", Confirmed)
    return "state-ok"


async def test_input_required_result_tampered_state(ctx: ToolContext) -> str | Unfinished:
    """Ask for a confirmation."""
    return await test_input_required_result_request_state(ctx)


async def test_input_required_result_multi_round(ctx: ToolContext) -> str | Unfinished:
    """Ask twice."""
    if (found := ctx.answered(Name)) is None:
        return ToolOutcome.ask("Step 1: What is your name?", Name)
    if (liked := ctx.answered(Color)) is None:
        return ToolOutcome.ask("Step 2: What is your favorite color?", Color)
    return f"{found.name} likes {liked.color}"


def test_reconnection() -> str:
    """Return at once; a stream that was cut cannot be resumed."""
    return "done"


def test_logging_tool() -> str:
    """Return without a message of a log."""
    return "done"


async def noted(payload: dict[str, Any], ctx: ToolContext) -> str:
    return "noted"


def foreign_tool(name: str, schema: dict[str, Any]) -> BoundTool:
    """Return a tool whose arguments have a schema that somebody else wrote."""
    spec: ToolSpec[Any, Any] = ToolSpec(
        id=f"suite.foreign.{name}",
        description="Note something.",
        payload=json_schema_codec(schema, "Payload"),
        result=json_schema_codec({"type": "string"}, "Result"),
    )
    return BoundTool(spec=spec, execute=noted)


def suite_runtime() -> Runtime:
    """Return a runtime with the tools; one of them registers another one."""
    runtime = Runtime(engine=InProcessEngine(), events=Events())
    registered = 0

    async def test_trigger_tool_change() -> str:
        """Register one more tool."""
        nonlocal registered
        registered += 1
        toolset = f"suite.later{registered}"
        tool = func_tool(test_simple_text, name=f"later{registered}", toolset=toolset)
        runtime.tools.register(function_toolset(toolset, [tool]))
        return "registered"

    tools = [tool for name, tool in globals().items() if name.startswith("test_")]
    runtime.tools.register(function_toolset(TOOLSET, [*tools, test_trigger_tool_change]))
    foreign = [foreign_tool("json_schema_2020_12_tool", FOREIGN), foreign_tool("test_headers", HEADERS)]
    runtime.tools.register(function_toolset("suite.foreign", foreign))
    return runtime


async def main() -> None:
    async with suite_runtime() as runtime:
        served = server(runtime, name="suite", version="1.0.0", approvals="elicitation")
        await serve_http(served, port=0, on_ready=lambda url: print(url, flush=True))


if __name__ == "__main__":
    asyncio.run(main())
