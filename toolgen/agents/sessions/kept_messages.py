"""Messages as the text that session stores keep: ASCII, so that every store and every driver takes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any, Final

from pydantic_core import to_jsonable_python

from ..planner.messages import AssistantMessage, Message, ToolAnswer, ToolMessage, messages_from_json


def messages_as_text(messages: Sequence[Message]) -> str:
    """Return the messages as JSON text that `messages_from_text` reads back as they were.

    Half of a surrogate pair, which a model may well write, stays what it is; two halves that stand side by
    side come back as the character that they mean (RFC 8259, section 7).

    Raises:
        ValueError: there is no JSON for something in them.
    """
    try:
        return _ENCODER.encode(list(messages))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"the messages hold something that has no JSON: {error}") from error


def messages_from_text(text: str) -> tuple[Message, ...]:
    """Return the messages of a text by `messages_as_text`.

    Raises:
        ValueError: something in it is no message.
    """
    documents = json.loads(text)
    if not isinstance(documents, list):
        raise ValueError("the text is no list of messages")
    return messages_from_json(documents)


def with_answers(messages: Iterable[Message], answers: Mapping[str, ToolAnswer]) -> tuple[Message, ...]:
    """Return what was said in a run, with the results of calls that no step has, by the id of the call.

    The results of a batch are in the order of its calls; those of calls without one are left out. What a
    person has resolved is in the place of what a step has.
    """
    complete: list[Message] = []
    for message in [*messages, None]:
        if isinstance(message, ToolMessage):
            message = _with_resolved(message, answers)
        last = complete[-1] if complete else None
        if isinstance(last, AssistantMessage) and not _has_result_of(message, last):
            present = tuple(answers[call.id] for call in last.calls if call.id in answers)
            if present:
                complete.append(ToolMessage(answers=present))
        if message is not None:
            complete.append(message)
    return tuple(complete)


def _has_result_of(message: Message | None, batch: AssistantMessage) -> bool:
    """Return whether a message has results of a batch, and not of one whose calls the store has lost."""
    if not isinstance(message, ToolMessage):
        return False
    ids = {call.id for call in batch.calls}
    return not ids.isdisjoint(answer.id for answer in message.answers)


def _with_resolved(message: ToolMessage, answers: Mapping[str, ToolAnswer]) -> ToolMessage:
    resolved = {id_: answer for id_, answer in answers.items() if answer.resolved_by}
    if resolved.keys().isdisjoint(answer.id for answer in message.answers):
        return message
    return ToolMessage(answers=tuple(resolved.get(answer.id, answer) for answer in message.answers))


def answers_of(messages: Iterable[Message]) -> dict[str, ToolAnswer]:
    """Return the results that the messages hold, by the id of the call."""
    return {
        answer.id: answer
        for message in messages
        if isinstance(message, ToolMessage)
        for answer in message.answers
    }


def _plain(value: object) -> Any:
    """Return a JSON value for a value that JSON does not have."""
    names = _field_names(type(value))  # type: ignore[arg-type]  # classes have a hash
    if names is not None:
        return {name: getattr(value, name) for name in names}
    return to_jsonable_python(value)


@lru_cache(maxsize=64)
def _field_names(kind: type) -> tuple[str, ...] | None:
    """Return the names of the fields of a dataclass; None for another class."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


_ENCODER: Final = json.JSONEncoder(default=_plain, separators=(",", ":"))
