"""Sensitive values that a planner sees: of calls in its conversation, and of the call that it answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolgen.contract.secrets import Secrets
from toolgen.runtime.call.secrets import note_document
from toolgen.runtime.specs import ToolSpec

from ..planner.messages import AssistantMessage, Message, UserMessage


def note_messages(
    secrets: Secrets,
    messages: Iterable[Message],
    tools: Iterable[ToolSpec[Any, Any]],
    answered: ToolSpec[Any, Any] | None,
) -> None:
    """Know the sensitive values of a conversation.

    `tools` are those of the agent, `answered` is the tool whose call the run answers. Its arguments are known
    where they are the message as they are, without a prompt around them.
    """
    codecs = {spec.name: spec.payload for spec in tools if spec.payload.sensitive}
    for message in messages:
        match message:
            case AssistantMessage(calls=calls):
                for call in calls:
                    note_document(secrets, codecs.get(call.name), call.arguments)
            case UserMessage(source="agent", text=text) if answered is not None:
                note_document(secrets, answered.payload, text)
            case _:
                pass
