"""Fills the arguments of a tool from the words of a message and from its author's example. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from pydantic_core import from_json

from toolgen.calls.specs import ToolSpec
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

from .matching import stem, words_of

_MESSAGE: Final = "your message"
_EXAMPLE: Final = "the tool's example"
_NUMBER: Final = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-])")
_LONGEST_NUMBER: Final = 300
"""Maximum length of a number; Python always parses so many digits."""
_MOMENT: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})?)?")
_QUOTED: Final = re.compile(r'"([^"]+)"|“([^“”]+)”|(?<!\w)\'([^\']+)\'(?!\w)')
_VALUE: Final = r"(?:\"([^\"]*)\"|'([^']*)'|([^\s,;\0]+))"
_HOLE: Final = "\0"
"""Replaces a value that was taken out of a message, so that the text before and after it is not joined."""
_TRUE: Final = frozenset(("true", "yes", "y", "on", "ok", "1"))
_FALSE: Final = frozenset(("false", "no", "n", "off", "0"))
_NONE: Final = object()


@frozen_record
class FilledArguments:
    """Arguments of a call and their sources."""

    arguments: dict[str, Json] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    """Source of each argument: `your message`, or `the tool's example`."""
    missing: tuple[str, ...] = ()
    """Required arguments that neither source provides."""


def filled(spec: ToolSpec, message: str, matched: Sequence[str]) -> FilledArguments:
    """Return the arguments that a message and the example of a tool provide.

    Optional arguments are taken from the message only. `matched` are the words that matched the tool.
    """
    schema: Any = spec.payload.schema
    properties: Mapping[str, Any] = schema.get("properties") or {}
    required = [name for name in schema.get("required", ()) if name in properties]
    example = _object(spec.example or "")
    text = _Text(message, matched, spec)
    written = text.document()
    draft = FilledArguments()
    order = sorted(properties, key=lambda name: name not in required)
    for name in order:
        value: Any = written[name] if name in written else text.named(name, properties[name])
        if value is not _NONE:
            _take(draft, name, value, _MESSAGE)
    for name in order:
        if name not in draft.arguments:
            value = text.unnamed(name, properties[name], example.get(name), is_required=name in required)
            if value is not _NONE:
                _take(draft, name, value, _MESSAGE)
    for name in required:
        if name not in draft.arguments and name in example:
            _take(draft, name, example[name], _EXAMPLE)
    ordered = [name for name in properties if name in draft.arguments]
    return FilledArguments(
        arguments={name: draft.arguments[name] for name in ordered},
        sources={name: draft.sources[name] for name in ordered},
        missing=tuple(name for name in required if name not in draft.arguments),
    )


def converted(text: str, property_: Any) -> Json:
    """Return a text as a value of a property's type; the text itself if it cannot be converted."""
    value = _converted(text.strip(), property_ if isinstance(property_, Mapping) else {})
    return text.strip() if value is _NONE else value


def is_yes(text: str) -> bool:
    """Return whether an answer of a person agrees."""
    return text.strip().strip('".!').lower() in _TRUE


def _take(draft: FilledArguments, name: str, value: Json, source: str) -> None:
    draft.arguments[name] = value
    draft.sources[name] = source


def _object(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text) if text else {}
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


class _Text:
    """A message; each value is taken out of it once."""

    def __init__(self, message: str, matched: Sequence[str], spec: ToolSpec) -> None:
        self._left = message.replace(_HOLE, " ")
        self._matched = {stem(word) for word in [*matched, *words_of(spec.name.replace("_", " "))]}

    def document(self) -> dict[str, Any]:
        """Return the JSON object in the message; an empty object if there is none."""
        start = self._left.find("{")
        if start < 0:
            return {}
        try:
            _, end = json.JSONDecoder().raw_decode(self._left, start)
            document = from_json(self._left[start:end])  # rejects lone surrogates
        except (ValueError, RecursionError):
            return {}
        self._take(start, end)
        return document if isinstance(document, dict) else {}

    def named(self, name: str, property_: Any) -> Any:
        """Return the value after the name of an argument: `limit=5`, `limit 5`, `site harbour`."""
        spoken = _spoken(name)
        for pattern in (rf"\b{spoken}\s*[=:]\s*{_VALUE}", rf"\b{spoken}\s+(?:is\s+|of\s+)?{_VALUE}"):
            if (value := self._behind(pattern, property_, name)) is not _NONE:
                return value
        short = re.sub(r"[_ ]?(id|name|key)$", "", name)
        if short and short != name:
            return self._behind(rf"\b{_spoken(short)}\s+{_VALUE}", property_, name)
        return _NONE

    def unnamed(self, name: str, property_: Json, example: Any, *, is_required: bool) -> object:
        """Return the value that fits the type of an argument; free text only fills required arguments."""
        schema: Mapping[str, Any] = property_ if isinstance(property_, Mapping) else {}
        if "enum" in schema:
            return self._choice(schema["enum"])
        if schema.get("type") == "boolean":
            return self._flag(name)
        if isinstance(example, str) and self._cut(rf"(?<!\w){re.escape(example)}(?!\w)"):
            return example
        if not is_required:
            return _NONE
        match schema.get("type"), schema.get("format", ""):
            case (("integer" | "number"), _):
                return self._first(_NUMBER, schema)
            case "string", ("date" | "date-time"):
                return self._first(_MOMENT, schema)
            case "string", _:
                return self._words(name, schema, example)
            case _:
                return _NONE

    def _behind(self, pattern: str, property_: Json, name: str) -> object:
        schema: Mapping[str, Any] = property_ if isinstance(property_, Mapping) else {}
        for hit in re.finditer(pattern, self._left, re.IGNORECASE):
            text = next((part for part in hit.groups() if part is not None), "")
            is_bare = hit.groups()[-1] is not None
            if is_bare:
                text = text.rstrip(".?!")
            is_marked = "=" in hit[0] or ":" in hit[0] or not is_bare
            if is_bare and not is_marked and not (re.search(r"\d", text) or name.endswith(("_id", "_name"))):
                continue  # `text of`, `state are`: half a sentence
            if is_bare and not is_marked and not list(words_of(text)):
                continue
            value = _converted(text, schema)
            if value is not _NONE:
                self._take(*hit.span())
                return value
        return _NONE

    def _choice(self, values: Any) -> object:
        roots = {stem(word) for word in words_of(self._left)}
        for value in values:
            if isinstance(value, str) and stem(value) in roots:
                return value
        return _NONE

    def _flag(self, name: str) -> object:
        spoken = _spoken(name.removeprefix("is_"))
        hit = re.search(rf"(\b(?:not|no|without|off)\s+)?\b{spoken}\b", self._left, re.IGNORECASE)
        return _NONE if hit is None else hit[1] is None

    def _first(self, pattern: re.Pattern[str], schema: Mapping[str, Json]) -> object:
        if (hit := pattern.search(self._left)) is None:
            return _NONE
        self._take(*hit.span())
        return _converted(hit[0], schema)

    def _words(self, name: str, schema: Mapping[str, Json], example: Json) -> object:
        """Return quoted text, a token shaped like the example, or the rest of the message."""
        if hit := _QUOTED.search(self._left):
            self._take(*hit.span())
            return next(part for part in hit.groups() if part is not None)
        if isinstance(example, str) and re.search(r"\d", example):
            for token in re.findall(r"[\w-]+", self._left):
                if _shape(token) == _shape(example) and self._cut(rf"(?<!\w){re.escape(token)}(?!\w)"):
                    return token
        if name.endswith("id") and (token := re.search(r"\b[^\W\d_][\w-]*\d[\w-]*", self._left)):
            return token[0]
        if name.endswith("id") or schema.get("pattern") or schema.get("format"):
            return _NONE
        before, colon, after = self._left.partition(": ")
        if colon and after.strip():
            self._left = before
            return " ".join(after.split(_HOLE)).strip()
        return self._rest(name)

    def _rest(self, name: str) -> Any:
        """Return the text after the name of an argument, otherwise the longest remaining part.

        A part extends from its first to its last word that did not match the tool.
        """
        behind = re.search(rf"\b{_spoken(name)}\s+([^\0]+)", self._left, re.IGNORECASE)
        spans = [behind.span(1)] if behind else [part.span() for part in re.finditer(r"[^\0]+", self._left)]
        start, end = max(map(self._trimmed, spans), key=lambda span: span[1] - span[0], default=(0, 0))
        if start == end:
            return _NONE
        text = self._left[start:end]
        self._take(start, end)
        return text

    def _trimmed(self, span: tuple[int, int]) -> tuple[int, int]:
        """Return the span from the first to the last word that did not match the tool; (0, 0) if none."""
        words = [
            hit.span()
            for hit in re.compile(r"[^\W_]+").finditer(self._left, *span)
            if list(words_of(hit[0])) and stem(hit[0]) not in self._matched
        ]
        return (words[0][0], words[-1][1]) if words else (0, 0)

    def _take(self, start: int, end: int) -> None:
        self._left = f"{self._left[:start]} {_HOLE} {self._left[end:]}"

    def _cut(self, pattern: str) -> bool:
        """Remove the first match from the message; return whether there was one."""
        hit = re.search(pattern, self._left, re.IGNORECASE)
        if hit is not None:
            self._take(*hit.span())
        return hit is not None


def _spoken(name: str) -> str:
    """Return the pattern of a name with underscores or spaces between its words."""
    return "[ _]".join(map(re.escape, name.split("_")))


def _shape(token: str) -> str:
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", token))


def _converted(text: str, schema: Mapping[str, Any]) -> Any:
    """Return a text as a value of a schema's type; `_NONE` if it cannot be converted."""
    values = schema.get("enum")
    if values is not None:
        return next((value for value in values if str(value).lower() == text.lower()), _NONE)
    match schema.get("type"):
        case "string":
            return text
        case "boolean":
            return True if text.lower() in _TRUE else False if text.lower() in _FALSE else _NONE
        case "integer" | "number" as kind:
            if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
                return _NONE
            return int(text) if text.lstrip("-").isdecimal() else _NONE if kind == "integer" else float(text)
        case "array":
            document = _parsed(text)
            if isinstance(document, list):
                return document
            items = [_converted(part.strip(), schema.get("items") or {}) for part in text.split(",")]
            return _NONE if _NONE in items else items
        case _:
            return _parsed(text)


def _parsed(text: str) -> object:
    try:
        return from_json(text)
    except ValueError:
        return _NONE


def shown(arguments: Mapping[str, Json], sources: Mapping[str, str]) -> Iterator[str]:
    """Yield each argument as text, with its source."""
    for name, value in arguments.items():
        source = sources.get(name, "")
        text = json.dumps(value, ensure_ascii=False)
        yield f"{name} {text}" + (f" (from {source})" if source else "")
