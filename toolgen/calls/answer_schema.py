"""Validates answers by the schemas of their questions, and the schemas themselves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from pydantic_core import SchemaValidator, core_schema

from toolgen.contract.json_pointer import referred
from toolgen.contract.json_value import Json, identity
from toolgen.shapes.constraints import FLAGS, Constraint, IssueCode, lengths_of, limits_of
from toolgen.shapes.issues import FieldIssue, Keys, bound_issue, json_type
from toolgen.shapes.lexical import FORMAT_NAMES
from toolgen.shapes.patterns import PatternError, to_rust
from toolgen.shapes.union_shapes import types_of

from .errors import MalformedResultError

_TYPES: Final = ("string", "boolean", "integer", "number")
"""JSON types of the fields of a question; the subset that MCP's elicitation has."""
_MOST_STEPS: Final = 32
"""References one after the other; a circle of them says nothing of a value."""
_BOUNDS: Final = limits_of("number")
_LENGTHS: Final = limits_of("string")
_OF_OBJECTS: Final = frozenset(
    ("type", "title", "description", "default", "properties", "required", "additionalProperties")
)
"""What the schema of a flat object says; another keyword is of other values, or nobody can ask by it."""
_SIZES: Final = {list: limits_of("array"), dict: limits_of("map")}
_KEYWORDS: Final = frozenset(
    (
        *"type title description default enum enumNames const format pattern".split(),
        *"properties required additionalProperties".split(),
        *(row.keyword for row in (*_LENGTHS, *_BOUNDS)),
    )
)
_OF_CHOICES: Final = frozenset(("type", "title", "description", "default"))
"""What the schema of a choice among titled texts says beside them, and with sizes that of several choices."""
_FORMATS: Final = {name: (form, example) for form, (name, example) in FORMAT_NAMES.items()}
"""Forms and examples of formats by name; other formats say nothing."""


def answer_issues(schema: Mapping[str, object], answer: Json, most: int) -> tuple[FieldIssue, ...]:
    """Return the issues of an answer to a question of this schema, the first ones."""
    if not schema:
        return ()
    closed = {"type": "object", **schema, "additionalProperties": False}
    return _first(_issues(closed, answer, closed), most)


def value_issues(
    schema: Mapping[str, object], value: Json, most: int, root: Mapping[str, object]
) -> tuple[FieldIssue, ...]:
    """Return the issues of a value by a schema of a tool's types, the first ones.

    The root has what its references lead to. What cannot be decided here is left to the tool: `contains`,
    conditions and dependencies, what is unevaluated or has patterns for names, patterns that Rust does not
    have, and under `not` and `oneOf` all that `PlainFit` does not tell.
    """
    return _first(_issues(schema, value, root), most)


def _first(issues: Iterator[FieldIssue], most: int) -> tuple[FieldIssue, ...]:
    return tuple([issue.shortened() for issue in islice(issues, most)])


def checked_schema(schema: Any) -> Any:
    """Return the schema of a question.

    Raises:
        MalformedResultError: it is not of the subset that every client can ask: one string, number or
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
            "the schema of a question is one string, number or boolean, one or several choices, or a flat "
            "object of them"
        )
    return schema


def _is_field(schema: object) -> bool:
    return _is_scalar(schema) or _is_titled(schema) or _is_several(schema)


def _is_titled(schema: object) -> bool:
    """Return whether a schema is of one text among some that have titles."""
    if not isinstance(schema, Mapping) or not set(schema) <= {*_OF_CHOICES, "oneOf"}:
        return False
    return schema.get("type") == "string" and _are_titled(schema.get("oneOf"))


def _is_several(schema: object) -> bool:
    """Return whether a schema is of several texts among some, with titles or without."""
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
    """Return whether a schema is of one string, number or boolean, with supported keywords only."""
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


def _issues(
    schema: object, value: Json, root: object, keys: Keys = (), steps: int = 0
) -> Iterator[FieldIssue]:
    """Yield the issues of a value; `steps` are the references that led to its schema."""
    if schema is False:
        yield FieldIssue(keys=keys, constraint="invalid_value", message="is not allowed here")
    if not isinstance(schema, Mapping):
        return
    if "$ref" in schema and steps < _MOST_STEPS:
        yield from _issues(referred(root, schema["$ref"]), value, root, keys, steps + 1)
    for part in schema.get("allOf", ()):
        yield from _issues(part, value, root, keys, steps)
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            yield from _of_branches(schema[keyword], value, root, keys, steps)
    if ("not" in schema or "oneOf" in schema) and (why := _exclusion(schema, value, root)):
        yield FieldIssue(keys=keys, constraint="invalid_value", message=why)
    if (fault := _value_fault(schema, value)) is not None:
        yield FieldIssue(keys=keys, constraint=fault[0], message=fault[1])
    elif isinstance(value, dict):
        yield from _of_members(schema, value, root, keys)
    elif isinstance(value, list):
        first = schema.get("prefixItems", ())
        for place, item in enumerate(value):
            part = first[place] if place < len(first) else schema.get("items", True)
            yield from _issues(part, item, root, (*keys, place))


def _exclusion(schema: Any, value: Json, root: Any) -> str:
    """Return why a value that must fit something once, or not at all, surely does not; "" in doubt."""
    from toolgen.shapes.foreign.plain_fit import PlainFit  # few schemas exclude anything

    plain = PlainFit(root)
    if "not" in schema and plain.fits(schema["not"], value):
        return "must not be what its schema excludes"
    if sum(plain.fits(branch, value) for branch in schema.get("oneOf", ())) > 1:
        return "must fit one alternative, and fits several"
    return ""


def _of_branches(branches: Any, value: Json, root: Any, keys: Keys, steps: int) -> Iterator[FieldIssue]:
    """Yield the issues by the branch that fits best; nothing where one fits."""
    if branches and all(isinstance(branch, Mapping) and "const" in branch for branch in branches):
        branches = [{"enum": [branch["const"] for branch in branches]}]
    faults = [list(_issues(branch, value, root, keys, steps)) for branch in branches]
    if all(faults):
        # The fault of a branch for another kind of value is that value itself.
        yield from min(faults, key=lambda issues: (issues[0].keys == keys, len(issues)), default=[])


def _of_members(schema: Any, value: dict[str, Json], root: Any, keys: Keys) -> Iterator[FieldIssue]:
    """Yield the issues of the members of an object; null stands for a missing one."""
    properties, required = schema.get("properties", {}), schema.get("required", ())
    for name in required:
        if name not in value:
            message = "is required and was left out"
            yield FieldIssue(keys=(*keys, name), constraint="missing_field", message=message)
    others = True if "patternProperties" in schema else schema.get("additionalProperties", True)
    for name, part in value.items():
        at = (*keys, name)
        for issue in _issues(schema.get("propertyNames", True), name, root, at):
            yield replace(issue, message=f"has a name that {issue.message}")
        if part is None and name in properties and name not in required:
            continue
        if name in properties or others is not False:
            yield from _issues(properties.get(name, others), part, root, at)
        else:
            message, allowed = "is not a field here", tuple(properties)
            yield FieldIssue(keys=at, constraint="unknown_field", message=message, allowed=allowed)


def _value_fault(schema: Any, value: Any) -> tuple[IssueCode, str] | None:
    """Return the fault of a value as a whole."""
    type_ = schema.get("type", ())
    kinds = (type_,) if isinstance(type_, str) else type_
    if kinds and set(kinds).isdisjoint(types_of(value)):
        words = "an object" if kinds == ("object",) else f"of type {' or '.join(kinds)}"
        return "invalid_type", f"must be {words}, not {json_type(value)}"
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if allowed is not None and identity(value) not in map(identity, allowed):
        return "invalid_enum_value", f"must be one of {', '.join(map(str, allowed))}"
    if isinstance(value, str):
        return _text_fault(schema, value)
    if isinstance(value, list):
        for row in FLAGS:
            if schema.get(row.keyword) and len(set(map(identity, value))) < len(value):
                return row.code, row.message
    if isinstance(value, list | dict):
        return _limit_fault(schema, len(value), _SIZES[type(value)])
    if value is not None and not isinstance(value, bool):
        return _limit_fault(schema, value, _BOUNDS)
    return None


def _limit_fault(schema: Any, value: Any, rows: Iterable[Constraint]) -> tuple[IssueCode, str] | None:
    """Return the fault of a number, or of the size of another value."""
    for row in rows:
        if row.keyword in schema and not row.passes(value, schema[row.keyword]):
            issue = bound_issue((), row, schema[row.keyword], of_object=False)
            return issue.constraint, issue.message
    return None


def _text_fault(schema: Any, text: str) -> tuple[IssueCode, str] | None:
    """Return the fault of a text."""
    if (fault := _limit_fault(schema, len(text), _LENGTHS)) is not None:
        return fault
    form, example = _FORMATS.get(schema.get("format"), ("", ""))
    if form and not _matches(form, text):
        return "invalid_format", f"must be written as {schema['format']}, such as {example}"
    pattern = _rust(schema.get("pattern"))
    if pattern and not _matches(pattern, text):
        return "invalid_pattern", f"must match {schema['pattern']}"
    return None


def _rust(pattern: object) -> str:
    """Return a pattern in Rust's dialect; "" for one that has no equivalent, which is not checked."""
    try:
        return to_rust(pattern) if isinstance(pattern, str) else ""
    except PatternError:
        return ""


def _matches(pattern: str, text: str) -> bool:
    """Return whether a pattern of Rust's dialect is found in the text, in linear time."""
    return SchemaValidator(core_schema.str_schema(pattern=pattern)).isinstance_python(text)
