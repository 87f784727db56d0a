"""A conversation with the assistant, and its events as a timeline."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Final

from gen.assistant.agents import chat
from toolgen.agents import RunHandle, RunOutput
from toolgen.events import Event
from toolgen.runtime import Runtime, Suspended

from .scripts import LAMP, LIGHTS

SESSION: Final = "s-mira"
_LONGEST: Final = 96


async def conversation(runtime: Runtime, *said: str) -> AsyncIterator[str]:
    """Yield what happens, line by line, when Mira says these things.

    By default two turns, with a confirmation that is given and a diagnosis by a child.
    """
    client = chat.client(runtime)
    for one in said or (LIGHTS, LAMP):
        yield f"Mira: {one}"
        handle = await client.start(one, session_id=SESSION)
        async for line in turn(runtime, handle):
            yield line


async def turn(runtime: Runtime, handle: RunHandle) -> AsyncIterator[str]:
    """Yield what happens in one turn, to its end; Mira answers what it asks."""
    timeline = Timeline(runtime, handle.run_id)
    while (output := await handle.settled()).status == "waiting":
        for line in await timeline.new():
            yield f"  {line}"
        for awaiting in output.awaiting:
            yield f"  Mira is asked: {awaiting.question}"
            yield f"  Mira: {await _answer(handle, awaiting)}"
    for line in await timeline.new():
        yield f"  {line}"
    yield f"assistant: {output.text or output.error}"
    yield f"  ({_facts(output)})"


async def _answer(handle: RunHandle, awaiting: Suspended) -> str:
    """Say yes to a confirmation, and that one does not know to everything else."""
    if awaiting.kind == "confirmation" and awaiting.token:
        await handle.answer(awaiting, {"approved": True})
        return "yes"
    await handle.answer(awaiting, "I do not know.")
    return "I do not know."


def _facts(output: RunOutput) -> str:
    facts = [f"{output.status} by {output.agent}", f"{output.tool_calls} tool calls"]
    facts += [f"{output.children_count} child run"] if output.children_count else []
    facts += [f"artifacts: {', '.join(one.kind for one in output.artifacts)}"] if output.artifacts else []
    facts += [f"{output.telemetry.output_tokens} tokens"] if output.telemetry.output_tokens else []
    return ", ".join(facts)


class Timeline:
    """The events of a run, as far as they are there; those of a child stand under the call it answers."""

    def __init__(self, runtime: Runtime, run_id: str) -> None:
        self._runtime = runtime
        self._run_id = run_id
        self._seen = 0
        self._children: dict[str, Timeline] = {}

    async def new(self) -> list[str]:
        """Return a line for each event that is new."""
        lines = [f"  {line}" for child in self._children.values() for line in await child.new()]
        for event in await self._runtime.runs.events(self._run_id, after=self._seen):
            self._seen = event.seq
            lines += _lines(event)
            if event.type == "agent_run_started":
                child = self._children[event.child_run_id] = Timeline(self._runtime, event.child_run_id)
                lines += [f"  {line}" for line in await child.new()]
        return lines


def _lines(event: Event) -> Iterator[str]:
    """Yield the event as a person reads it; those that say nothing new are left out."""
    match event.type:
        case "tool_start":
            yield _short(f"→ {event.name} {json.dumps(event.arguments, ensure_ascii=False)}")
        case "tool_end" if event.status != "suspended":
            failed = event.error["message"] if event.error else ""
            shown = event.display or failed or json.dumps(event.result, ensure_ascii=False)
            yield _short(f"← {event.tool.rpartition('.')[2]}: {event.status}, {shown}")
        case "agent_run_started":
            yield f"{event.agent} begins"
        case "approval_requested":
            yield f"a person has to approve {event.tool.rpartition('.')[2]}"
        case "tool_authorization":
            yield f"{event.decision} by a {event.decided_by}"
        case "run_completed":
            yield f"run {event.status}"
        case _:
            pass


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
