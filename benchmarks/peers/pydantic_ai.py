"""pydantic-ai: a toolset alone, the `ToolManager` of its agents, and an agent with a `FunctionModel`."""

from __future__ import annotations

from typing import Literal

from pydantic import ValidationError
from pydantic_ai import Agent, FunctionToolset, RunContext
from pydantic_ai.exceptions import ToolRetryError
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.tool_manager import ToolManager
from pydantic_ai.usage import RunUsage

from ..bare import Once
from .peer import CALLS, ROUNDS, Way, show
from .tools import count, lister, ping


def toolset(size: int) -> FunctionToolset[None]:
    return FunctionToolset([lister(size), ping], max_retries=1)


def context() -> RunContext[None]:
    return RunContext(deps=None, model=TestModel(), usage=RunUsage())


def returned(
    name: str, content: object, outcome: Literal["success", "retried"] = "success"
) -> ToolReturnPart:
    return ToolReturnPart(tool_name=name, content=content, tool_call_id="c-1", outcome=outcome)


def alone(size: int, name: str, arguments: bytes) -> Once:
    """Return a call of the toolset's own two methods; who calls them makes the texts for the model."""
    tools, ctx, text, found = toolset(size), context(), arguments.decode(), None

    async def call() -> str:
        nonlocal found
        if found is None:
            found = (await tools.get_tools(ctx))[name]
        try:
            values = found.args_validator.validate_json(text)
        except ValidationError as error:
            issues = error.errors(include_url=False, include_context=False)
            return returned(name, issues, outcome="retried").model_response_str()
        return returned(name, await tools.call_tool(name, values, ctx, found)).model_response_str()

    return call


def managed(size: int, name: str, arguments: bytes) -> Once:
    """Return a call by the manager, as an agent makes it."""
    ctx, text, manager = context(), arguments.decode(), None

    async def call() -> str:
        nonlocal manager
        if manager is None:
            manager = await ToolManager(toolset(size)).for_run_step(ctx)
        part = ToolCallPart(tool_name=name, args=text, tool_call_id="c-1")
        try:
            content = await manager.handle_call(part)
        except ToolRetryError as error:
            return text_of(error)
        return returned(name, content).model_response_str()

    return call


def text_of(error: ToolRetryError) -> str:
    part = error.tool_retry
    assert isinstance(part, ToolReturnPart)
    return part.model_response_str()


def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    done = sum(isinstance(message, ModelResponse) for message in messages)
    if done == ROUNDS:
        return ModelResponse(parts=[TextPart("done")])
    return ModelResponse(parts=[ToolCallPart("count", {"upto": number}) for number in range(CALLS)])


def main() -> None:
    """Print what pydantic-ai costs."""
    agent = Agent(FunctionModel(scripted))
    agent.tool_plain(count)

    async def run() -> str:
        return (await agent.run("count")).output

    ways = [Way.by("`FunctionToolset.call_tool`", alone), Way.by("`ToolManager.handle_call`", managed)]
    show(["pydantic-ai-slim"], ways, run)


if __name__ == "__main__":
    main()
