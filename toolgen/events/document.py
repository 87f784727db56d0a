"""An event as JSON: written, read back, and its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Annotated, Any, Final, TypeVar

from pydantic_core import to_jsonable_python

from toolgen.calls.call import CallMeta
from toolgen.calls.documents.results import journal_value
from toolgen.calls.documents.types import ResultDocument
from toolgen.contract.json_value import Json

from .records import Event, EventHead, ToolEnd, ToolStart

E = TypeVar("E", bound=Event)

FORMAT: Final = 2
"""Version of the JSON format. Within a version, events and fields are added, but never changed or removed."""
_ALWAYS: Final = frozenset({"type", "tool", "status", *(field.name for field in fields(EventHead))})
"""Fields that every `tool_end` has; the others are left out if they are empty, as in a `ResultDocument`."""
_OF_RESULT: Final = frozenset(field.name for field in fields(ToolEnd))


class Encoded:
    """An encoded document of arguments or of a result, in an event that was not read yet.

    If no journal can store the value, for example a number with 5,000 digits, the value is its text, so that
    no reader fails because of it.
    """

    __slots__ = ("document",)

    def __init__(self, document: bytes) -> None:
        self.document = document

    def value(self) -> Json:
        """Return the value of the document."""
        try:
            return journal_value(self.document)
        except ValueError:
            return self.document.decode(errors="replace")


def as_read(event: E) -> E:
    """Return the event with its encoded documents replaced by values."""
    if isinstance(event, ToolEnd) and isinstance(event.result, Encoded):
        event.result = event.result.value()  # type: ignore[misc]  # every reader gets the same value
    elif isinstance(event, ToolStart) and isinstance(event.arguments, Encoded):
        event.arguments = event.arguments.value()  # type: ignore[misc]  # as above
    return event


def as_json(event: Event) -> dict[str, Json]:
    """Return the event as JSON, with its format; infinite numbers become null.

    Raises:
        ValueError: the event has a value that is not JSON.
    """
    facts: dict[str, Json] = to_jsonable_python(as_read(event), inf_nan_mode="null")
    if event.type == "tool_end":
        null = event.status in ("ok", "pending") and event.result is None  # null is a result, too
        shown = _ALWAYS | {"result"} if null or event.result is not None else _ALWAYS
        facts = {name: value for name, value in facts.items() if value or name in shown}
    return {"format": FORMAT, **facts}


def tool_end(document: ResultDocument, **facts: Any) -> ToolEnd:
    """Return the event of a result without sensitive values; `facts` are further fields of the event."""
    shown = {name: value for name, value in document.items() if name in _OF_RESULT}
    return ToolEnd(**{**shown, **facts})


def ids_of(meta: CallMeta) -> dict[str, Json]:
    """Return the ids for the events of a call."""
    return {
        "run_id": meta.run_id,
        "session_id": meta.session_id,
        "turn_id": meta.turn_id,
        "tool_call_id": meta.tool_call_id,
        "agent_id": meta.agent,
    }


def from_json(document: Mapping[str, Any]) -> Event:
    """Return the event of a document by `as_json`; ignore fields that this version does not know.

    Raises:
        ValueError: it has another format or an unknown type, or does not fit its type.
    """
    format_ = document.get("format")
    if type(format_) is not int or format_ != FORMAT:
        raise ValueError(f"the event has format {format_!r}, and this toolgen reads format {FORMAT}")
    event: Event = _adapter().validate_python(document)
    return event


def logged_event(run_id: str, seq: int, document: Mapping[str, Json], ids: Mapping[str, Json]) -> Event:
    """Return a log document of a run as an event; events of the engine itself get the ids.

    Raises:
        ValueError: it has another format.
    """
    return from_json({"format": FORMAT, **ids, **document, "seq": seq, "run_id": run_id})


def event_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of `as_json`; the file events-2.schema.json has the same content."""
    schema = _adapter().json_schema(mode="serialization")
    for definition in schema["$defs"].values():
        if "type" in definition["properties"]:
            definition["properties"] = {"format": {"const": FORMAT}, **definition["properties"]}
            names = definition["properties"]
            is_end = names["type"]["const"] == "tool_end"
            definition["required"] = [
                name for name in names if not is_end or name == "format" or name in _ALWAYS
            ]
    title = f"An event of the toolgen runtime, format {FORMAT}"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **schema}


@cache
def _adapter() -> Any:
    """Return pydantic's reader of events, created at the first use because that takes milliseconds."""
    from pydantic import Field, TypeAdapter

    return TypeAdapter(Annotated[Event, Field(discriminator="type")])
