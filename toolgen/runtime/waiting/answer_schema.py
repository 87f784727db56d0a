"""What is wrong with an answer, by the schema of its question; and which schemas may be asked."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import islice
from typing import Any, Final

from pydantic_core import SchemaValidator, core_schema

from toolgen.contract.json_value import Json
from toolgen.shapes.issues import Constraint, FieldIssue, Keys, json_type
from toolgen.shapes.lexical import FORM_NAMES
from toolgen.shapes.patterns import PatternError, to_rust

from ..errors import MalformedResultError

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
"""JSON types of the fields of a question; the subset that MCP's elicitation has."""
_KEYWORDS: Final = frozenset(
    "type title description default enum enumNames const format pattern minLength maxLength minimum maximum "
    "exclusiveMinimum exclusiveMaximum multipleOf properties required additionalProperties".split()
)
_FORMS: Final = {name: (form, example) for form, (name, example) in FORM_NAMES.items()}
"""By the name of a format, how a text of it is written; other formats say nothing."""
_BOUNDS: Final[dict[str, tuple[Callable[[Any, Any], bool], str]]] = {
    "minimum": (operator.ge, "at least"),
    "maximum": (operator.le, "at most"),
    "exclusiveMinimum": (operator.gt, "more than"),
    "exclusiveMaximum": (operator.lt, "less than"),
    "multipleOf": (lambda value, step: Fraction(str(value)) % Fraction(str(step)) == 0, "a multiple of"),
}
_LENGTHS: Final = ("minLength", "maxLength")


def answer_issues(schema: Mapping[str, Any], answer: Json, most: int) -> tuple[FieldIssue, ...]:
    """Return what is wrong with an answer to a question of this schema, the first issues of it."""
    return tuple([one.shortened() for one in islice(_issues(schema, answer), most)]) if schema else ()


def checked_schema(schema: Any) -> Any:
    """Return the schema of a question.

    Raises:
        MalformedResultError: it is not of the subset that every client can ask: one string, number or
            boolean, or a flat object of them (MCP, elicitation).
    """
    known = isinstance(schema, Mapping) and set(schema) <= _KEYWORDS
    properties = schema.get("properties", {}) if known else {}
    if known and schema.get("type", "object") == "object" and isinstance(properties, Mapping):
        good = isinstance(schema.get("additionalProperties", False), bool)
        good = good and _are_texts(schema.get("required", ())) and all(map(_is_scalar, properties.values()))
    else:
        good = _is_scalar(schema)
    if not good:
        raise MalformedResultError(
            "the schema of a question is one string, number or boolean, or a flat object of them"
        )
    return schema


def _is_scalar(schema: Any) -> bool:
    """Return whether it asks for one string, number or boolean, in words that are checked here."""
    if not isinstance(schema, Mapping) or not set(schema) <= _KEYWORDS:
        return False
    try:
        to_rust(schema.get("pattern", ""))
    except (PatternError, TypeError):
        return False
    kind = schema.get("type")
    return isinstance(kind, str) and kind in _TYPES and _are_limits(schema)


def _are_texts(names: object) -> bool:
    return isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)


def _are_limits(schema: Mapping[str, Any]) -> bool:
    """Return whether an answer can be compared with what its schema says of it."""
    lengths = [schema[keyword] for keyword in _LENGTHS if keyword in schema]
    bounds = [schema[keyword] for keyword in _BOUNDS if keyword in schema]
    return (
        all(type(length) is int for length in lengths)
        and all(type(bound) in (int, float) and math.isfinite(bound) for bound in bounds)
        and schema.get("multipleOf", 1) > 0
        and isinstance(schema.get("enum", ()), list | tuple)
        and isinstance(schema.get("format", ""), str)
    )


def _issues(schema: Any, value: Json, keys: Keys = ()) -> Iterator[FieldIssue]:
    """Yield what is wrong with an answer to a question."""
    if schema.get("type", "object") != "object":
        if (found := _fault(schema, value)) is not None:
            yield FieldIssue(keys=keys, constraint=found[0], message=found[1])
        return
    if not isinstance(value, dict):
        message = f"must be an object, not {json_type(value)}"
        yield FieldIssue(keys=keys, constraint="invalid_type", message=message)
        return
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield FieldIssue(
                keys=(*keys, name), constraint="missing_field", message="is required and was left out"
            )
    for name, part in value.items():
        at = (*keys, name)
        if name in properties:
            yield from _issues(properties[name], part, at)
        else:
            message, allowed = "is not a field here", tuple(properties)
            yield FieldIssue(keys=at, constraint="unknown_field", message=message, allowed=allowed)


def _fault(schema: Any, value: Any) -> tuple[Constraint, str] | None:
    """Return what is wrong with one value."""
    kind = schema["type"]
    is_whole = isinstance(value, float) and value.is_integer()
    is_of_type = isinstance(value, _TYPES[kind]) or (kind == "integer" and is_whole)
    if not is_of_type or (isinstance(value, bool) and kind != "boolean"):
        return "invalid_type", f"must be of type {kind}, not {json_type(value)}"
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if allowed is not None and value not in allowed:
        return "invalid_enum_value", f"must be one of {', '.join(map(str, allowed))}"
    if isinstance(value, str):
        return _text_fault(schema, value)
    for keyword, (holds, words) in _BOUNDS.items():
        if kind != "boolean" and keyword in schema and not holds(value, schema[keyword]):
            return "invalid_range", f"must be {words} {schema[keyword]}"
    return None


def _text_fault(schema: Any, text: str) -> tuple[Constraint, str] | None:
    """Return what is wrong with a text."""
    if len(text) < schema.get("minLength", 0):
        return "invalid_length", f"must have at least {schema['minLength']} characters"
    if len(text) > schema.get("maxLength", len(text)):
        return "invalid_length", f"must have at most {schema['maxLength']} characters"
    form, example = _FORMS.get(schema.get("format"), ("", ""))
    if form and not _matches(form, text):
        return "invalid_format", f"must be written as {schema['format']}, such as {example}"
    if "pattern" in schema and not _matches(to_rust(schema["pattern"]), text):
        return "invalid_pattern", f"must match {schema['pattern']}"
    return None


def _matches(pattern: str, text: str) -> bool:
    """Return whether a pattern of Rust's dialect is found in the text, in linear time."""
    return SchemaValidator(core_schema.str_schema(pattern=pattern)).isinstance_python(text)
