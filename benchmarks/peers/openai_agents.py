"""openai-agents: `FunctionTool.on_invoke_tool`, and an agent with a scripted `Model`."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable
from typing import Any

from agents import (
    Agent,
    FunctionTool,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    Usage,
    function_tool,
    set_tracing_disabled,
)
from agents.tool_context import ToolContext
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from ..bare import BAD, GOOD, PING, Once
from .peer import CALLS, LARGE, ROUNDS, SMALL, Way, show
from .tools import count, lister, ping


def list_devices(size: int) -> FunctionTool:
    return function_tool(lister(size, as_text=True))


def calling(tool: FunctionTool, arguments: bytes) -> Once:
    text = arguments.decode()

    def call() -> Awaitable[object]:
        ctx = ToolContext(context=None, tool_name=tool.name, tool_call_id="c-1", tool_arguments=text)
        return tool.on_invoke_tool(ctx, text)

    return call


class Scripted(Model):
    """Makes three rounds of three calls, and answers."""

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        done = sum(item.get("type") == "function_call_output" for item in input) if input != "count" else 0
        if done == ROUNDS * CALLS:
            text = ResponseOutputText(text="done", type="output_text", annotations=[])
            message = ResponseOutputMessage(
                id="m", content=[text], role="assistant", status="completed", type="message"
            )
            return ModelResponse(output=[message], usage=Usage(), response_id=None)
        calls = [
            ResponseFunctionToolCall(
                call_id=f"c-{done + number}",
                name="count",
                arguments=f'{{"upto":{number}}}',
                type="function_call",
            )
            for number in range(CALLS)
        ]
        return ModelResponse(output=[*calls], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise AssertionError("nothing streams here")


def main() -> None:
    """Print what openai-agents costs."""
    set_tracing_disabled(True)
    logging.getLogger("openai.agents").setLevel(logging.CRITICAL)  # no text of each call that fails
    agent = Agent(name="bench", model=Scripted(), tools=[function_tool(count)])

    async def run() -> str:
        return str(
            (await Runner.run(agent, "count", run_config=RunConfig(tracing_disabled=True))).final_output
        )

    large, small = list_devices(LARGE), list_devices(SMALL)
    one = Way(
        name="`FunctionTool.on_invoke_tool`",
        large=calling(large, GOOD),
        small=calling(small, GOOD),
        ping=calling(function_tool(ping), PING),
        invalid=calling(small, BAD),
    )
    show(["openai-agents", "openai"], [one], run)


if __name__ == "__main__":
    main()
