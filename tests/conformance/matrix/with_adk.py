"""Calls of an agent of Google's ADK, which asks by its confirmation."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from tests.conformance.adapters.frameworks.with_adk import CONFIRMATION, ScriptedLlm, asked_by, run
from tests.matrix.doors.door import Door, Seen
from tests.matrix.ledger import ARGUMENTS
from tests.matrix.world import CALL, FACTS, World
from toolgen.adapters.adk import FACTS as KEPT
from toolgen.adapters.adk import adk_tools
from toolgen.contract.json_value import Json
from toolgen.runtime import Runtime

from .offered import snapshot_of


@asynccontextmanager
async def adk(world: World) -> AsyncIterator[Door]:
    """Open a runtime whose tools an agent of ADK has."""
    async with world.runtime() as runtime:
        door = ADK(runtime)
        tools = adk_tools(await snapshot_of(runtime), lambda _: FACTS)
        call = types.Part(function_call=types.FunctionCall(id=CALL, name=world.tool, args=ARGUMENTS))
        agent = LlmAgent(
            name="fake",
            model=ScriptedLlm(model="scripted", calls=[call]),
            tools=list(tools),
            after_tool_callback=door.keep,
        )
        sessions = InMemorySessionService()
        await sessions.create_session(app_name="test", user_id="mira", session_id="s")
        door.runner = Runner(app_name="test", agent=agent, session_service=sessions)
        yield door


class ADK:
    """`Runner.run_async`."""

    agent = ""
    runner: Runner

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._asked = ""
        self._status = ""

    async def keep(self, tool: Any, args: Any, tool_context: ToolContext, tool_response: Any) -> None:
        """Keep the facts that ADK has no other place for."""
        self._status = tool_context.state.get(f"{KEPT}{CALL}", {}).get("status", "")

    async def call(self) -> Seen:
        return self._seen(await self._said(types.Part(text="go")))

    async def answer(self, answer: Json) -> Seen:
        is_approval = isinstance(answer, dict) and "approved" in answer
        given = answer if is_approval else {"answer": answer}
        response = {"confirmed": True, "payload": given}
        said = types.FunctionResponse(id=self._asked, name=CONFIRMATION, response=response)
        return self._seen(await self._said(types.Part(function_response=said)))

    async def _said(self, part: types.Part) -> list[Event]:
        return await run(self.runner, types.Content(role="user", parts=[part]))

    def _seen(self, events: list[Event]) -> Seen:
        for _, (id_, shown) in asked_by(events):
            self._asked = id_
            return Seen(status="suspended", question=shown["question"])
        responses = [one for event in events for one in event.get_function_responses() if one.id == CALL]
        document: Any = responses[-1].response
        document = document["result"] if set(document) == {"result"} else document
        return Seen(status=self._status, text=json.dumps(document))

    @asynccontextmanager
    async def process(self) -> AsyncIterator[Runtime]:
        yield self._runtime
