"""Messages as text, as the stores of sessions keep them.

It is ASCII, so that every store and every driver takes it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any, Final

from pydantic_core import to_jsonable_python

from ..planner.messages import Message, messages_from_json


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
