"""Memory as two documents describe it: a tool searches it, a model loads it, and requests preload it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.agents.tools import answers, calling, running
from toolgen.agents import AgentRegistration, AgentSpec, ScriptedPlanner, agents_of
from toolgen.capabilities import (
    ArtifactsCapability,
    Capability,
    InMemoryMemoryStore,
    MemoryArtifactStore,
    MemoryCapability,
    MemoryEntry,
    MemoryOwner,
    MemoryStateStore,
    StateCapability,
)
from toolgen.runtime import CallMeta, Runtime, ToolContext
from toolgen.runtime.functions import function_toolset

USER = {"user": "user1234"}
QUERY = "quarterly revenue"


# 004: the tool that works on a document with files, memory and state.


async def process_document(
    document_name: str, analysis_query: str, tool_context: ToolContext
) -> dict[str, Any]:
    """Analyzes a document using context from memory."""
    # 1. Load the artifact
    print(f"Tool: Attempting to load artifact: {document_name}")
    document_part = await tool_context.artifacts.load(document_name)
    document_text = document_part.data.decode()
    print(f"Tool: Loaded document '{document_name}' ({len(document_text)} chars).")

    # 2. Search memory for related context
    print(f"Tool: Searching memory for context related to: '{analysis_query}'")
    memories = await tool_context.memory.search(f"Context for analyzing document about {analysis_query}")
    memory_context = "\n".join(entry.text for entry in memories)
    print(f"Tool: Found memory context: {memory_context[:100]}...")

    # 3. Perform analysis (placeholder)
    analysis_result = (
        f"Analysis of '{document_name}' regarding '{analysis_query}' using memory context: "
        "[Placeholder Analysis Result]"
    )
    print("Tool: Performed analysis.")

    # 4. Save the analysis result as a new artifact
    new_artifact_name = f"analysis_{document_name}"
    saved = await tool_context.artifacts.save(new_artifact_name, analysis_result.encode(), "text/plain")
    print(f"Tool: Saved analysis result as '{new_artifact_name}' version {saved.version}.")
    tool_context.state["last_analysis"] = new_artifact_name
    return {"status": "success", "analysis_artifact": new_artifact_name, "version": saved.version}


async def upload(tool_context: ToolContext) -> None:
    """Upload the report."""
    await tool_context.artifacts.save("report.txt", b"Revenue grew.", "text/plain")


async def test_a_document_is_analyzed_with_files_memory_and_state(
    capsys: pytest.CaptureFixture[str],
) -> None:
    store, states = InMemoryMemoryStore(), MemoryStateStore()
    said = MemoryEntry(text="Last year the revenue fell.", author="person")
    await store.add(MemoryOwner(person="user1234"), "run-1", [said])
    capabilities: list[Capability] = [
        MemoryCapability(store),
        ArtifactsCapability(MemoryArtifactStore()),
        StateCapability(states),
    ]
    async with Runtime(capabilities=capabilities) as runtime:
        runtime.tools.register(function_toolset("x.documents", [process_document, upload]))
        meta = CallMeta(session_id="1234", labels=USER)
        await runtime.call("upload", {}, meta)
        arguments = {"document_name": "report.txt", "analysis_query": QUERY}
        result = await runtime.call("process_document", arguments, meta)
    assert result.result == {
        "status": "success",
        "analysis_artifact": "analysis_report.txt",
        "version": 1,
    }
    assert await states.load("session", "1234") == {"last_analysis": "analysis_report.txt"}
    assert capsys.readouterr().out.splitlines() == [
        "Tool: Attempting to load artifact: report.txt",
        "Tool: Loaded document 'report.txt' (13 chars).",
        "Tool: Searching memory for context related to: 'quarterly revenue'",
        "Tool: Found memory context: Last year the revenue fell....",
        "Tool: Performed analysis.",
        "Tool: Saved analysis result as 'analysis_report.txt' version 1.",
    ]


# 000: the tool by which a model searches the memory, and what a request preloads.


async def test_load_memory_is_declared_and_answers_as_the_document_says() -> None:
    store = InMemoryMemoryStore()
    memory = MemoryCapability(store)
    await store.add(MemoryOwner(person="user1234"), "run-1", [MemoryEntry(text="I live in Paris.")])
    (tool,) = memory.toolset().bound
    declared = tool.spec.payload.schema
    assert (tool.spec.name, declared["required"], declared["properties"]["query"]["type"]) == (
        "load_memory",
        ["query"],
        "string",
    )
    async with Runtime(capabilities=[memory]) as runtime:
        unknown = await runtime.call("load_memory", {"query": "Paris"}, CallMeta(labels=USER))
        assert unknown.status == "error"
        runtime.tools.register(memory.toolset())
        result = await runtime.call("load_memory", {"query": "Paris"}, CallMeta(labels=USER))
    assert result.result == {"memories": [{"text": "I live in Paris.", "author": "", "said_at": ""}]}


async def test_a_request_is_told_of_the_memory_and_preloads_it() -> None:
    store = InMemoryMemoryStore()
    memory = MemoryCapability(store, preload_tokens=200)
    search = calling(("load_memory", {"query": "live"}))
    planner = ScriptedPlanner(by_message={"I": ["Noted."], "Where": [search, "In Paris."]})
    registration = AgentRegistration(
        spec=AgentSpec(id="x.agent", description="Talks."), planner=planner, dynamic=(memory.toolset(),)
    )
    async with running(registration, capabilities=[memory]) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        await client.run("I live in Paris.", session_id="s", labels=USER)
        output = await client.run("Where do I live?", session_id="t", labels=USER)
    assert output.text == "In Paris."
    begun, resumed = planner.inputs[1:]
    assert "You have a memory of earlier conversations" in begun.instructions
    assert [spec.name for spec in begun.tools] == ["load_memory"]
    assert "I live in Paris." in getattr(begun.messages[0], "text", "")
    assert [entry["text"] for entry in json.loads(answers(resumed)[0])["memories"]] == ["I live in Paris."]
