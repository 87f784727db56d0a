"""Artifacts of documents 000 and 004: a person's upload is found by tools, and loaded into a request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tests.agents.tools import agent, answers, calling, running
from toolgen.agents import AgentClient, LLMPlanner, PlanInput, ScriptedPlanner, Upload, agents_of
from toolgen.capabilities import ArtifactsCapability, MemoryArtifactStore
from toolgen.runtime import Limits, Runtime, ToolContext
from toolgen.runtime.functions import function_toolset

PNG = b"\x89PNG\r\n\x1a\npixels"


async def list_documents(tool_context: ToolContext) -> list[str]:
    """Lists the names of all artifacts of the session."""
    return [info.name for info in await tool_context.artifacts.list()]


async def process_document(document_name: str, analysis_query: str, tool_context: ToolContext) -> str:
    """Analyzes a document."""
    document = await tool_context.artifacts.load(document_name)
    text = document.data.decode()
    return f"Analysis of '{document_name}' regarding '{analysis_query}': {len(text)} chars"


DOCUMENTS = function_toolset("x.documents", [list_documents, process_document])


def options(**more: Any) -> dict[str, Any]:
    return {"capabilities": [ArtifactsCapability(MemoryArtifactStore())], **more}


def client(runtime: Runtime) -> AgentClient:
    return agents_of(runtime).client("x.agent")


async def test_tools_find_what_the_user_has_uploaded() -> None:
    """004, Context-Aware Data Access Methods: files that the user uploaded or tools generated."""
    arguments = {"document_name": "report.txt", "analysis_query": "risks"}
    seen: list[list[str]] = []

    def end(given: PlanInput) -> str:
        seen.append(answers(given))
        return "Analyzed."

    planner = ScriptedPlanner([calling("list_documents", ("process_document", arguments)), end])
    async with running(agent("x.agent", planner, DOCUMENTS), **options()) as (runtime, _):
        report = Upload(name="report.txt", data=b"All is well.", media_type="text/plain")
        output = await client(runtime).run("Analyze it.", session_id="1234", files=[report])
    assert output.text == "Analyzed."
    assert seen == [['["report.txt"]', "\"Analysis of 'report.txt' regarding 'risks': 12 chars\""]]


def asked(messages: Sequence[ModelMessage]) -> list[Any]:
    """Return what stands in a request that nobody but a person or the runtime has said."""
    parts = [part for message in messages for part in message.parts if isinstance(part, UserPromptPart)]
    contents = [[part.content] if isinstance(part.content, str) else part.content for part in parts]
    return [item for content in contents for item in content]


def images(messages: Sequence[ModelMessage]) -> list[bytes]:
    return [item.data for item in asked(messages) if isinstance(item, BinaryContent)]


async def test_a_loaded_artifact_is_content_of_one_request() -> None:
    """000, loadartifactstool: the content is appended to the request, and stands in no later one."""
    requests: list[list[ModelMessage]] = []
    script: list[ModelResponsePart] = [
        TextPart(content="A cat."),
        ToolCallPart(tool_name="load_artifacts", args={"names": ["cat.png"]}, tool_call_id="c1"),
        TextPart(content="It is still a cat."),
        TextPart(content="You are welcome."),
    ]

    def speak(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        requests.append(messages)
        return ModelResponse(parts=[script[len(requests) - 1]])

    planner = LLMPlanner(FunctionModel(speak))
    limits = Limits(attached_bytes=len(PNG))
    async with running(agent("x.agent", planner), **options(limits=limits)) as (runtime, _):
        cat = Upload(name="cat.png", data=PNG, media_type="image/png")
        note = Upload(name="note.txt", data=b"Its name: Ada.", media_type="text/plain")
        await client(runtime).run("What is it?", session_id="s", files=[cat])
        await client(runtime).run("Look again, and read this.", session_id="s", files=[note])
        output = await client(runtime).run("Thanks.", session_id="s")
    assert output.text == "You are welcome."
    first, second, third, fourth = requests
    assert images(first) == [PNG]
    assert images(second) == []  # the newest file takes the room of the older one
    listed = [item for item in asked(second) if isinstance(item, str) and item.startswith("[Files")]
    assert listed == [
        "[Files of this conversation for load_artifacts:\n"
        '- "cat.png" (image/png, 14 bytes)\n'
        '- "note.txt" (text/plain, 14 bytes)\n]'
    ]
    assert images(third) == [PNG]
    assert images(fourth) == []
