"""Strings that become Python values in a design: types with limits, defaults and examples.

A design contains a date as a date, never as a string.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from toolgen.contract.json_value import Json
from toolgen.dsl.evaluation.types.spelling import SCALARS
from toolgen.shapes.constraints import LIMITS, constraints_in
from toolgen.shapes.fields import ScalarKind, ScalarType, StringType
from toolgen.shapes.foreign.annotations import annotated_type, is_annotated
from toolgen.shapes.foreign.nodes import Node, nodes_in, without_null
from toolgen.shapes.lexical import STRING_FORMATS
from toolgen.shapes.tree.validator import Validator

from .clauses_built import NotExpressibleError
from .clauses_layout import Named, Part, literal

TYPED_FORMATS: Final = {
    "byte": "Bytes",
    "date-time": "DateTime",
    "date": "Date",
    "duration": "Duration",
    "uuid": "Uuid",
    "uri": "Url",
}
"""Clause names by the format that they represent."""

ALL_FORMATS: Final = frozenset([*TYPED_FORMATS, *STRING_FORMATS])
"""Formats that have a type."""
REQUEST_FORMATS: Final = frozenset(["byte", "date-time", "date", "uuid", "uri"])
"""Formats in requests that become types, although JSON Schema treats them as annotations."""

_KINDS: Final[dict[str, ScalarKind]] = {
    "byte": "bytes",
    "date-time": "datetime",
    "date": "date",
    "duration": "duration",
}
"""Types whose values are not strings in Python, by format."""


def holds(node: Node, value: object, typed: Collection[str] = ALL_FORMATS) -> bool:
    """Return whether a JSON value that fits a node can be written next to its type in a design.

    `typed` are the formats that are types: a URI must be well-formed, and a date is not a string.
    """
    formats = set(_formats(node)).intersection(typed)
    if not formats or value is None or value in ([], {}):
        return True
    if len(formats) > 1 or not isinstance(value, str):
        return False
    if type_ := _type_of_format(node):
        return not Validator(type_, {}).issues(value)
    (format_,) = formats
    if format_ in STRING_FORMATS:
        return not Validator(StringType(format=format_), {}).issues(value)
    return format_ == "uri" and not Validator(ScalarType(kind="url"), {}).issues(value)


def _formats(node: Node) -> Iterator[str]:
    for part in nodes_in(node):
        format_ = part.get("format")
        if format_ in TYPED_FORMATS or format_ in STRING_FORMATS:
            yield format_


def limited_clause(node: Node) -> tuple[Part, tuple[Named, ...]]:
    """Return the type clause of a node with format-specific limits, and its constraints.

    Raises:
        NotExpressibleError: The limits do not match a type.
    """
    type_ = annotated_type(node)
    if type_ is None:
        raise NotExpressibleError("the limits of a string do not match its format")
    limits = (Named(row.name, literal(value)) for row, value in constraints_in(type_, LIMITS))
    return SCALARS[type_.kind], tuple(limits)


def limited_type(node: Node) -> ScalarType | None:
    """Return the type of a node with format-specific limits, nullable or not; None for other nodes."""
    rest = without_null(node)
    return annotated_type(rest[0]) if len(rest) == 1 and is_annotated(rest[0]) else None


def _type_of_format(node: Node) -> ScalarType | None:
    """Return the type of a string node with a typed format, nullable or not."""
    kind = _KINDS.get(_format(node))
    return ScalarType(kind=kind) if kind else None


def _format(node: Node) -> str:
    """Return the format of a string node, nullable or not; "" for none."""
    rest = without_null(node)
    return str(rest[0].get("format", "")) if len(rest) == 1 else ""


def python_value(node: Node, value: Json, typed: Collection[str]) -> object:
    """Return a default or an example as a Python value of its node.

    `typed` are the formats that are types.
    """
    type_ = limited_type(node) or (_type_of_format(node) if _format(node) in typed else None)
    return value if type_ is None or not isinstance(value, str) else Validator(type_, {}).parse(value)


def holds_limited(node: Node, value: Json) -> bool:
    """Return whether a default or an example is within the limits and can be written in a design."""
    if value is None or value in ([], {}):
        return True
    type_ = limited_type(node)
    if type_ is not None:
        return not Validator(type_, {}).issues(value)
    return not any(map(is_annotated, nodes_in(node)))
