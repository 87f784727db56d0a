"""The messages of a conversation, as planners read them and session stores store them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias

from pydantic_core import to_json

from toolgen.calls.results import ArtifactRef, ToolStatus
from toolgen.contract.bounds import Bounds
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

from .provider_facts import ProviderFacts


@frozen_record
class PlannedCall:
    """A tool call that a planner requests."""

    name: str
    """The wire name, as the model wrote it."""
    arguments: str = "{}"
    """JSON text as the model wrote it, possibly invalid; in a stored conversation always a JSON object."""
    id: str = ""
    """The model's own ID; "" lets the runtime assign one. A stored ID is unique within its session."""

    @staticmethod
    def of(name: str, arguments: Mapping[str, Json] | None = None, *, id: str = "") -> PlannedCall:
        """Return the call with these arguments."""
        return PlannedCall(name=name, arguments=to_json(arguments or {}).decode(), id=id)


@frozen_record
class UserMessage:
    """A message of a person, of the agent that called this one, or of the runtime."""

    text: str
    source: Literal["person", "agent", "runtime", "memory"] = "person"
    """`memory`: entries of earlier conversations, which are data; only in plannings, and never stored."""
    content: tuple[Any, ...] = ()
    """Files of the person, as blocks (MCP): links in the store, with the data for a planner."""
    type: Literal["user"] = "user"


@frozen_record
class AssistantMessage:
    """A message of the planner: text, calls, or both."""

    text: str = ""
    calls: tuple[PlannedCall, ...] = ()
    native: Any = None
    """The same message in the provider's own format, as JSON; for the planner that wrote it."""
    provider: ProviderFacts | None = None
    """Facts of the provider about the message; None if there are none."""
    type: Literal["assistant"] = "assistant"


@frozen_record
class ToolAnswer:
    """The result of a call, as a planner sees it."""

    id: str
    """Id of the call."""
    name: str
    """The wire name."""
    status: ToolStatus
    text: str
    """JSON text; exactly what the model sees."""
    reminder: str = ""
    """Reminder for the model after the result."""
    content: tuple[Any, ...] = ()
    """Blocks of text, images, audio and resources (MCP), as JSON."""
    bounds: Bounds | None = None
    """Bounds of a bounded result: how much of the data it shows."""
    artifacts: tuple[ArtifactRef, ...] = ()
    """References for user interfaces; not passed to planners."""
    resolved_by: str = ""
    """Person who reported the outcome of a call whose outcome was unknown; "" for the result of the tool
    itself.
    """


@frozen_record
class ToolMessage:
    """The results of one batch of calls, in the order of the calls."""

    answers: tuple[ToolAnswer, ...]
    type: Literal["tools"] = "tools"


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage


def without_artifacts(message: Message) -> Message:
    """Return a message without the artifacts of its results, which models must not read."""
    if not isinstance(message, ToolMessage) or not any(answer.artifacts for answer in message.answers):
        return message
    return replace(message, answers=tuple(replace(answer, artifacts=()) for answer in message.answers))


def is_unchanging(message: Message) -> bool:
    """Return whether a message is immutable: it contains no JSON of a provider or a peer."""
    match message:
        case UserMessage():
            return not message.content
        case AssistantMessage():
            return message.native is None and message.provider is None
        case ToolMessage():
            return not any(answer.content for answer in message.answers)


def messages_from_json(documents: Sequence[Any]) -> tuple[Message, ...]:
    """Return the messages of JSON documents.

    Raises:
        ValueError: a document is not a message.
    """
    messages: tuple[Message, ...] = _adapter().validate_python(documents)
    return messages


@cache
def _adapter() -> Any:
    """Return pydantic's adapter for messages; created at first use, because it takes milliseconds."""
    from pydantic import Field, TypeAdapter

    return TypeAdapter(tuple[Annotated[Message, Field(discriminator="type")], ...])
