"""Google's ADK with a model that says what it is told, and its services in memory."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.artifacts import InMemoryArtifactService
from google.adk.events import Event
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from toolgen.adapters.adk import FACTS, adk_tools

from .home import MIRA, Call, Home, Seen

CONFIRMATION = "adk_request_confirmation"


class ScriptedLlm(BaseLlm):
    """Makes calls once, and then says that it is done."""

    calls: list[types.Part]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        said = [part for content in llm_request.contents for part in content.parts or ()]
        parts = [types.Part(text="done")] if any(part.function_response for part in said) else self.calls
        yield LlmResponse(content=types.Content(role="model", parts=parts))


class ADK:
    """Drives ADK."""

    has_facts_of_errors = True
    has_artifact_data = True

    def __str__(self) -> str:
        return "ADK"

    async def run(self, home: Home, *calls: Call) -> list[Seen]:
        by_id = {f"c{n}": call for n, call in enumerate(calls)}
        made = [
            types.Part(function_call=types.FunctionCall(id=id_, name=call.tool, args=dict(call.arguments)))
            for id_, call in by_id.items()
        ]
        facts: dict[str, Any] = {}

        async def keep(tool: Any, args: Any, tool_context: ToolContext, tool_response: Any) -> None:
            id_ = tool_context.function_call_id or ""
            facts[id_] = tool_context.state.get(f"{FACTS}{id_}", {})

        agent = LlmAgent(
            name="fake",
            model=ScriptedLlm(model="scripted", calls=made),
            tools=list(adk_tools(home.snapshot, lambda _: MIRA)),
            on_tool_error_callback=_unknown,
            after_tool_callback=keep,
        )
        sessions = InMemorySessionService()
        await sessions.create_session(app_name="test", user_id="mira", session_id="s")
        runner = Runner(
            app_name="test",
            agent=agent,
            session_service=sessions,
            artifact_service=InMemoryArtifactService(),
        )
        events = await run(runner, types.Content(role="user", parts=[types.Part(text="go")]))
        asked = dict(asked_by(events))
        answers = [
            confirmation(id_, by_id[call_id]) for call_id, (id_, _) in asked.items() if by_id[call_id].answer
        ]
        if answers:
            events += await run(runner, types.Content(role="user", parts=answers))
        shown = {call_id: shown for call_id, (_, shown) in asked.items()}
        return [_seen(events, id_, shown.get(id_, {}), facts.get(id_, {})) for id_ in by_id]


async def _unknown(tool: Any, args: Any, tool_context: Any, error: Exception) -> dict[str, Any]:
    return {"error": str(error)}


async def run(runner: Runner, message: types.Content) -> list[Event]:
    return [event async for event in runner.run_async(user_id="mira", session_id="s", new_message=message)]


def confirmation(id_: str, call: Call) -> types.Part:
    """Return what a client of ADK sends when a person has answered."""
    is_decision = isinstance(call.answer, dict)
    confirmed = call.answer["approved"] if isinstance(call.answer, dict) else True
    payload = call.answer if is_decision else {"answer": call.answer}
    response = {"confirmed": confirmed, "payload": payload}
    return types.Part(function_response=types.FunctionResponse(id=id_, name=CONFIRMATION, response=response))


def asked_by(events: list[Event]) -> list[tuple[str, tuple[str, Mapping[str, Any]]]]:
    """Return, by the id of a call, the id and the payload of the confirmation that ADK asks for."""
    found = []
    for event in events:
        for call in event.get_function_calls():
            if call.name == CONFIRMATION and call.args is not None and call.id is not None:
                confirmation = call.args["toolConfirmation"]
                assert confirmation["payload"]["question"] in confirmation["hint"]
                found.append((call.args["originalFunctionCall"]["id"], (call.id, confirmation["payload"])))
    return found


def _seen(events: list[Event], id_: str, asked: Mapping[str, Any], facts: Mapping[str, Any]) -> Seen:
    responses = [one for event in events for one in event.get_function_responses() if one.id == id_]
    if not responses:
        return Seen(text="", asked=asked)
    response = responses[-1]
    document: Any = response.response
    if document.get("status") == "suspended":
        return Seen(text="", asked=asked)
    document = document["result"] if set(document) == {"result"} else document
    return Seen(
        text=json.dumps(document),
        is_error="error" in document if isinstance(document, dict) else False,
        facts=facts,
        images=tuple(
            part.inline_data.mime_type
            for part in response.parts or ()
            if part.inline_data is not None and part.inline_data.mime_type is not None
        ),
        asked=asked,
    )
