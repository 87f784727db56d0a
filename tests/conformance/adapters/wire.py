"""One answer of a model as its provider sends it, whole or in events (SSE), and where it can be cut off.

Each wire has a module: `wire_chat` and `wire_responses` (OpenAI), `wire_anthropic`, `wire_gemini`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

_PIECE: Final = 7
"""Characters of a delta."""

Place = Literal[
    "in text",
    "before arguments",
    "in arguments",
    "after arguments",
    "between calls",
    "before the end",
    "before the last event",
]
"""Where an answer is cut off. `after arguments` is before the call is closed, where a wire closes calls."""


@dataclass(frozen=True, slots=True)
class Called:
    """One call, as the model writes it."""

    name: str
    arguments: str = "{}"
    id: str = "call_a"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One answer of the model."""

    text: str = ""
    calls: tuple[Called, ...] = ()
    thinking: str = ""
    """Only Anthropic has a place for it."""
    stop: str = ""
    """The provider's word for why it ended; the usual one by default."""
    ended: Literal["", "length", "filter"] = ""
    """Why it ended, for every provider; `stop` has precedence."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A piece of a stream."""

    kind: Literal["start", "text", "call", "arguments", "called", "end", "last"]
    """`call` begins a call, `called` closes it; `end` says why the answer ended, `last` ends the stream."""
    text: str
    call: int = 0
    """Of which call it is, from 0."""


def pieces(text: str) -> list[str]:
    """Return a text in deltas."""
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


def sse(document: Mapping[str, Any]) -> str:
    """Return a server-sent event; its name is the type of the document, if it has one."""
    name = f"event: {document['type']}\n" if "type" in document else ""
    return f"{name}data: {json.dumps(document)}\n\n"


def stream_until(frames: list[Frame], place: Place) -> list[str]:
    """Return what of a stream arrives when it is cut off at a place."""
    return [frame.text for frame in frames[: _end(frames, place)]]


def left_open(frames: list[Frame]) -> list[str]:
    """Return a stream that ends as it should, but never closes its calls."""
    return [frame.text for frame in frames if frame.kind != "called"]


def _end(frames: list[Frame], place: Place) -> int:
    places = {kind: [at for at, frame in enumerate(frames) if frame.kind == kind] for kind in ("text", "end")}
    first = {kind: _of_call(frames, kind) for kind in ("call", "arguments", "called")}
    match place:
        case "in text":
            return places["text"][0] + 1
        case "before arguments":
            return first["call"][0] + 1
        case "in arguments":
            return first["arguments"][0] + 1
        case "after arguments":
            return first["arguments"][-1] + 1
        case "between calls":
            return (first["called"] or first["arguments"])[-1] + 1
        case "before the end":
            return places["end"][0]
        case "before the last event":
            return next(at for at, frame in enumerate(frames) if frame.kind == "last")


def _of_call(frames: list[Frame], kind: str) -> list[int]:
    return [at for at, frame in enumerate(frames) if frame.kind == kind and frame.call == 0]


def text_until(document: Mapping[str, Any], said: Said, place: Place) -> str:
    """Return what of a whole answer arrives when it is cut off at a place."""
    text = json.dumps(document)
    if place == "in text":
        return text[: text.index(said.text) + len(said.text) // 2]
    first = said.calls[0]
    written = next(one for one in _spellings(first.arguments) if one in text)
    start = text.index(written)
    ends: dict[Place, int] = {
        "before arguments": start,
        "in arguments": start + len(written) // 2,
        "after arguments": start + len(written),
        "between calls": text.index(said.calls[1].name, start + len(written)),
        "before the last event": len(text) - 1,
    }
    return text[: ends[place]]


def _spellings(arguments: str) -> tuple[str, ...]:
    """Return arguments as a text in JSON, and as an object in JSON."""
    try:
        return json.dumps(arguments), json.dumps(json.loads(arguments))
    except ValueError:
        return (json.dumps(arguments),)
