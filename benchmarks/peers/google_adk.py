"""google-adk: `FunctionTool.run_async`, and an agent with a scripted `BaseLlm`."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import Agent
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.function_tool import FunctionTool
from google.genai import types

from ..bare import GOOD, PING, Once
from .peer import CALLS, LARGE, ROUNDS, SMALL, Way, show
from .tools import count, lister, ping

NOT_REFUSED = (
    "it accepts arguments that violate the schema: their validation is experimental, and off by default"
)


def list_devices(size: int) -> FunctionTool:
    return FunctionTool(lister(size, as_text=True))


def calling(tool: FunctionTool, arguments: bytes) -> Once:
    """Return a call with the dict of the model's answer; none of these tools takes a context."""
    context: Any = None
    return lambda: tool.run_async(args=json.loads(arguments), tool_context=context)


class Scripted(BaseLlm):
    """Makes three rounds of three calls, and answers."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        done = sum(content.role == "model" for content in llm_request.contents)
        if done == ROUNDS:
            parts = [types.Part(text="done")]
        else:
            parts = [
                types.Part(function_call=types.FunctionCall(name="count", args={"upto": number}))
                for number in range(CALLS)
            ]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def main() -> None:
    """Print what google-adk costs."""
    agent = Agent(name="bench", model=Scripted(model="scripted"), tools=[count])
    sessions = InMemorySessionService()
    runner = Runner(app_name="bench", agent=agent, session_service=sessions)
    message = types.Content(role="user", parts=[types.Part(text="count")])

    async def run() -> str:
        session = await sessions.create_session(app_name="bench", user_id="u")
        text = ""
        async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message):
            if event.is_final_response() and event.content and event.content.parts:
                text = event.content.parts[0].text or ""
        await sessions.delete_session(app_name="bench", user_id="u", session_id=session.id)
        return text

    one = Way(
        name="`FunctionTool.run_async`",
        large=calling(list_devices(LARGE), GOOD),
        small=calling(list_devices(SMALL), GOOD),
        ping=calling(FunctionTool(ping), PING),
        invalid=NOT_REFUSED,
    )
    show(["google-adk", "google-genai"], [one], run)


if __name__ == "__main__":
    main()
