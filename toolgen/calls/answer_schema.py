"""Validates answers against the schemas of their questions, and the schemas themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from toolgen.contract.json_value import Json
from toolgen.shapes.constraints import lengths_of, limits_of
from toolgen.shapes.evaluator import Evaluator, Undecided
from toolgen.shapes.issues import FieldIssue
from toolgen.shapes.patterns import PatternError, to_rust

from .errors import MalformedResultError

_TYPES: Final = ("string", "boolean", "integer", "number")
"""JSON types of the fields of a question; the subset that MCP's elicitation supports."""
_BOUNDS: Final = limits_of("number")
_LENGTHS: Final = limits_of("string")
_OF_OBJECTS: Final = frozenset(
    ("type", "title", "description", "default", "properties", "required", "additionalProperties")
)
"""Keywords of the schema of a flat object; clients cannot display other keywords."""
_KEYWORDS: Final = frozenset(
    (
        *"type title description default enum enumNames const format pattern".split(),
        *"properties required additionalProperties".split(),
        *(row.keyword for row in (*_LENGTHS, *_BOUNDS)),
    )
)
_OF_CHOICES: Final = frozenset(("type", "title", "description", "default"))
"""Additional keywords of the schema of a choice among titled strings."""


def answer_issues(schema: Mapping[str, object], answer: Json, most: int) -> tuple[FieldIssue, ...]:
    """Return the first issues of an answer to a question with this schema."""
    if not schema:
        return ()
    closed = {"type": "object", **schema, "additionalProperties": False}
    return value_issues(closed, answer, most, closed)


def value_issues(
    schema: Mapping[str, object], value: Json, most: int, root: Mapping[str, object]
) -> tuple[FieldIssue, ...]:
    """Return the first issues of a value, validated with a schema of a tool's types.

    References are resolved in `root`. Rules that cannot be decided here are left to the tool.
    """
    issues = Evaluator(root, Undecided.LEFT_TO_TOOL, most=most).issues(schema, value)
    return tuple([issue.shortened() for issue in issues])


def checked_schema(schema: Any) -> Any:
    """Return the schema of a question, checked.

    Raises:
        MalformedResultError: it is outside the subset that every client supports: one string, number or
            boolean, one or several choices, or a flat object of them (MCP 2025-11-25, Elicitation).
    """
    is_supported = isinstance(schema, Mapping) and set(schema) <= _KEYWORDS
    properties = schema.get("properties", {}) if is_supported else {}
    if is_supported and schema.get("type", "object") == "object" and isinstance(properties, Mapping):
        good = set(schema) <= _OF_OBJECTS and (not schema or "type" in schema or "properties" in schema)
        good = good and isinstance(schema.get("additionalProperties", False), bool)
        good = good and _are_texts(schema.get("required", ())) and all(map(_is_field, properties.values()))
    else:
        good = _is_field(schema)
    if not good:
        raise MalformedResultError(
            "the schema of a question must describe a string, a number, a boolean, one or several "
            "choices, or a flat object of these"
        )
    return schema


def _is_field(schema: object) -> bool:
    return _is_scalar(schema) or _is_titled(schema) or _is_several(schema)


def _is_titled(schema: object) -> bool:
    """Return whether a schema is a choice of one titled string."""
    if not isinstance(schema, Mapping) or not set(schema) <= {*_OF_CHOICES, "oneOf"}:
        return False
    return schema.get("type") == "string" and _are_titled(schema.get("oneOf"))


def _is_several(schema: object) -> bool:
    """Return whether a schema is a choice of several strings, with or without titles."""
    sizes = set(lengths_of("array"))
    if not isinstance(schema, Mapping) or not set(schema) <= {*_OF_CHOICES, *sizes, "items"}:
        return False
    items = schema.get("items")
    if schema.get("type") != "array" or not isinstance(items, Mapping):
        return False
    if any(type(schema[size]) is not int for size in sizes & set(schema)):
        return False
    if set(items) == {"anyOf"}:
        return _are_titled(items["anyOf"])
    return set(items) == {"type", "enum"} and items["type"] == "string" and _are_texts(items["enum"])


def _are_titled(choices: object) -> bool:
    return (
        isinstance(choices, list | tuple)
        and bool(choices)
        and all(
            isinstance(choice, Mapping)
            and set(choice) == {"const", "title"}
            and _are_texts(list(choice.values()))
            for choice in choices
        )
    )


def _is_scalar(schema: object) -> bool:
    """Return whether a schema describes one string, number or boolean with supported keywords only."""
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
    """Return whether the limits of a schema can be compared with an answer."""
    lengths = [schema[row.keyword] for row in _LENGTHS if row.keyword in schema]
    bounds = [schema[row.keyword] for row in _BOUNDS if row.keyword in schema]
    steps = [schema[row.keyword] for row in _BOUNDS if row.takes == "step" and row.keyword in schema]
    return (
        all(type(length) is int for length in lengths)
        and all(type(bound) in (int, float) and math.isfinite(bound) for bound in bounds)
        and all(step > 0 for step in steps)
        and isinstance(schema.get("enum", ()), list | tuple)
        and isinstance(schema.get("format", ""), str)
    )
