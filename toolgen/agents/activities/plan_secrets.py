"""Sensitive values that a planner sees: in the calls of its conversation and in the call that it answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.secrets import note_document, note_seen
from toolgen.contract.secrets import Secrets

from ..planner.messages import AssistantMessage, Message, ToolMessage, UserMessage


def note_messages(
    secrets: Secrets,
    messages: Iterable[Message],
    tools: Iterable[ToolSpec[Any, Any]],
    answered: ToolSpec[Any, Any] | None,
) -> None:
    """Add the sensitive values of a conversation to `secrets`.

    `tools` are those of the agent, `answered` is the tool whose call the run answers. Its arguments are known
    where they are the message as they are, without a prompt around them.
    """
    specs = {spec.name: spec for spec in tools if spec.is_sensitive}
    for message in messages:
        match message:
            case AssistantMessage(calls=calls):
                for call in calls:
                    if call.name in specs:
                        note_document(secrets, specs[call.name].payload, call.arguments)
            case ToolMessage(answers=answers):
                for answer in answers:
                    if answer.name in specs:
                        note_seen(secrets, specs[answer.name], answer.status, answer.text)
            case UserMessage(source="agent", text=text) if answered is not None:
                note_document(secrets, answered.payload, text)
            case _:
                pass
