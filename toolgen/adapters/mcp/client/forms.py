"""Questions of a server for a person, reduced to form keywords. Their content is untrusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolgen.calls.answer_schema import checked_schema
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.runtime import MalformedResultError
from toolgen.shapes.foreign.bounded_patterns import is_quick

from .errors import cleaned, unmistakable

_ADDRESSES: Final = ("https://", "http://")
"""Allowed URL prefixes: a browser executes `javascript:` and opens files with `file:`."""
_LONGEST_ADDRESS: Final = 8_192
"""Maximum number of characters of a URL."""
_LONGEST_QUESTION: Final = 4_096
"""Maximum number of characters of a question's text."""
_LONGEST_TEXT: Final = 1_000
"""Maximum number of characters of a name, title, description, choice or pattern."""
_MOST_FIELDS: Final = 100
_MOST_CHOICES: Final = 1_000
_MOST_PARTS: Final = 10_000
"""Maximum number of keys and values of a form, including its choices."""
_MOST_CHARACTERS: Final = 2**17
"""Maximum number of characters of all texts of a form."""
_TEXTS: Final = ("title", "description")
_RULES: Final = (
    *("type", "format", "pattern", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"),
)
"""Keywords of a field besides its texts, default and choices (MCP 2025-11-25, Elicitation)."""


class UnaskableError(ToolgenError):
    """A server's question cannot be shown to a person; the message continues after the name of its tool."""


@frozen_record
class FormQuestion:
    """Question for a person: to fill in a form, or to open a page."""

    message: str
    schema: dict[str, Any]
    """JSON Schema of the answer, a flat object; empty for a page."""
    url: str = ""
    """URL of the page."""


def question_of(message: str, requested: Mapping[str, Any]) -> FormQuestion:
    """Return a question with its form, rebuilt from the keywords that MCP defines for it.

    Raises:
        UnaskableError: The form is not a flat object of values and choices, contains invisible characters, or
            is too large, which is checked first.
    """
    properties = requested.get("properties")
    fields = properties if isinstance(properties, Mapping) else {}
    if len(fields) > _MOST_FIELDS:
        raise UnaskableError(f"asks for {len(fields)} values at once; {_MOST_FIELDS} are allowed")
    _require_small(requested)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {_shown(name): _field(part) for name, part in fields.items()},
    }
    if required := requested.get("required"):
        schema["required"] = _value(required)
    try:
        checked_schema(schema)
    except MalformedResultError:
        raise UnaskableError("asks for a value that no form can contain") from None
    return FormQuestion(message=unmistakable(message, _LONGEST_QUESTION), schema=schema)


def _require_small(requested: Mapping[str, Json]) -> None:
    """Raise if a form takes long to read; count no more of it than is allowed.

    Raises:
        UnaskableError: The form has too many keys, values or characters.
    """
    parts, characters = 0, 0
    waiting: list[object] = [requested]
    while waiting:
        value = waiting.pop()
        inner = [*value, *value.values()] if isinstance(value, Mapping) else value
        if isinstance(inner, list):
            parts += len(inner)
            if parts > _MOST_PARTS:
                raise UnaskableError(f"has a form of more than {_MOST_PARTS} keys and values")
            waiting += inner
        elif isinstance(value, str):
            characters += len(value)
            if characters > _MOST_CHARACTERS:
                raise UnaskableError(f"has a form of more than {_MOST_CHARACTERS} characters")


def page_of(message: str, url: str) -> FormQuestion:
    """Return a question that asks a person to open a page.

    Raises:
        UnaskableError: The URL is not a web address.
    """
    if len(url) > _LONGEST_ADDRESS or not url.lower().startswith(_ADDRESSES):
        raise UnaskableError("asks a person to open an address that is not a web page")
    return FormQuestion(message=unmistakable(message, _LONGEST_QUESTION), schema={}, url=url)


def with_defaults(schema: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer with the defaults of missing fields (MCP 2025-11-25, SEP-1034)."""
    fields = schema.get("properties", {})
    defaults = {name: part["default"] for name, part in fields.items() if "default" in part}
    return {**defaults, **{name: value for name, value in answer.items() if value is not None}}


def _field(part: object) -> object:
    """Return the schema of a field; `checked_schema` rejects values that are not schemas."""
    if not isinstance(part, Mapping):
        return part
    field: dict[str, Any] = {
        **{key: unmistakable(part[key], _LONGEST_TEXT) for key in _TEXTS if isinstance(part.get(key), str)},
        **_rules(part),
        **{key: _choices(part[key]) for key in ("enum", "enumNames", "oneOf") if key in part},
    }
    if isinstance(items := part.get("items"), Mapping):
        field["items"] = {key: items[key] for key in ("type",) if key in items and "anyOf" not in items}
        field["items"] |= {key: _choices(items[key]) for key in ("enum", "anyOf") if key in items}
    if "default" in part:
        field["default"] = _value(part["default"])
    return field


def _rules(part: Mapping[str, Json]) -> dict[str, object]:
    """Return the rules of a field; without a pattern that is slow, because the server checks it as well."""
    rules = {key: _value(part[key]) for key in _RULES if key in part}
    if isinstance(pattern := rules.get("pattern"), str) and not is_quick(pattern):
        del rules["pattern"]
    return rules


def _choices(choices: object) -> object:
    """Return the choices of a field.

    Raises:
        UnaskableError: There are too many choices, or one contains invisible characters.
    """
    if not isinstance(choices, list):
        return choices
    if len(choices) > _MOST_CHOICES:
        raise UnaskableError(f"offers {len(choices)} choices; {_MOST_CHOICES} are allowed")
    return [_choice(choice) for choice in choices]


def _choice(choice: object) -> object:
    if not isinstance(choice, Mapping):
        return _value(choice)
    return {key: _value(choice[key]) for key in ("const", "title") if key in choice}


def _value(value: object) -> object:
    """Return a value of a form after checking its texts for length and invisible characters.

    Raises:
        UnaskableError: A text is too long or has invisible characters, or the value is an object.
    """
    if isinstance(value, Mapping):
        raise UnaskableError("asks for a value that no form can contain")
    if isinstance(value, list):
        return [_value(part) for part in value[:_MOST_CHOICES]]
    return _shown(value) if isinstance(value, str) else value


def _shown(text: str) -> str:
    """Return a text that is sent back to the server unchanged.

    Raises:
        UnaskableError: The text is too long, or has invisible characters.
    """
    if cleaned(text, _LONGEST_TEXT) != text.strip():
        raise UnaskableError("asks with a text that is too long or has invisible characters")
    return text
