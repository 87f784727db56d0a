"""What planners are given in these tests."""

from __future__ import annotations

from typing import Any

from gen.assistant.toolsets import devices
from toolgen.agents import (
    AssistantMessage,
    Message,
    PlanInput,
    PlannedCall,
    ToolAnswer,
    ToolMessage,
    UserMessage,
)

TOOLS = devices.SPECS[:2]
ASKED = (UserMessage(text="Which devices are at s1?"),)
FOUND = '{"devices":[],"returned":0,"truncated":false}'


class Reports:
    """Keeps what a planner tells while it works."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.deltas: list[tuple[str, str, str]] = []
        self.spent: list[tuple[str, int, int]] = []
        self.restarts: list[str] = []

    def text(self, delta: str) -> None:
        self.texts.append(delta)

    def thought(self, text: str) -> None:
        self.thoughts.append(text)

    def arguments(self, call_id: str, name: str, delta: str) -> None:
        self.deltas.append((call_id, name, delta))

    def usage(self, model: str, input_tokens: int, output_tokens: int) -> None:
        self.spent.append((model, input_tokens, output_tokens))

    def restarted(self, reason: str) -> None:
        self.restarts.append(reason)


def given(*messages: Message, **facts: Any) -> PlanInput:
    """Return the input of a planning: a person's question and two tools, unless it is said otherwise."""
    made: dict[str, Any] = {
        "agent": "assistant.home",
        "description": "Looks after homes.",
        "run_id": "r",
        "session_id": "s",
        "turn_id": "t",
        "labels": {},
        "step": 1 if len(messages) > 1 else 0,
        "messages": messages or ASKED,
        "tools": TOOLS,
        "reports": Reports(),
    }
    return PlanInput(**{**made, **facts})


def called(*answers: ToolAnswer, text: str = "", native: Any = None) -> tuple[Message, ...]:
    """Return a question, the calls of one answer to it, and their results."""
    calls = tuple(PlannedCall(name=one.name, arguments='{"site_id":"s1"}', id=one.id) for one in answers)
    return (*ASKED, AssistantMessage(text=text, calls=calls, native=native), ToolMessage(answers=answers))


def answer(name: str = "list_devices", id: str = "call_a", **facts: Any) -> ToolAnswer:
    """Return the result of a call."""
    made: dict[str, Any] = {"id": id, "name": name, "status": "ok", "text": FOUND}
    return ToolAnswer(**{**made, **facts})
