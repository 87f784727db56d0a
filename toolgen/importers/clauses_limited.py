"""Dates, durations and decimals with limits, of schemas that toolgen wrote, as clauses."""

from __future__ import annotations

from toolgen.contract.json_value import Json
from toolgen.dsl.evaluation.types.spelling import SCALARS
from toolgen.shapes.constraints import LIMITS, given
from toolgen.shapes.design.annotations import annotated_type, is_annotated
from toolgen.shapes.design.validator import Validator
from toolgen.shapes.fields import ScalarType

from .clauses_built import NotExpressibleError
from .clauses_layout import Named, Part, literal
from .clauses_nodes import Node, inner


def limited_clause(node: Node) -> tuple[Part, tuple[Named, ...]]:
    """Return the type clause of a node with such limits, and its constraints.

    Raises:
        NotExpressibleError: the limits are not those of one of these types.
    """
    type_ = annotated_type(node)
    if type_ is None:
        raise NotExpressibleError("limits of a text are not of its form")
    limits = (Named(row.name, literal(value)) for row, value in given(type_, LIMITS))
    return SCALARS[type_.kind], tuple(limits)


def limited_type(node: Node) -> ScalarType | None:
    """Return the type of a node with such limits, null beside it or not; None of every other node."""
    rest = [branch for branch in node.get("anyOf", [node]) if branch != {"type": "null"}]
    return annotated_type(rest[0]) if len(rest) == 1 and is_annotated(rest[0]) else None


def python_value(node: Node, value: Json) -> object:
    """Return a default or an example as a value of the Python type of its node."""
    type_ = limited_type(node)
    return value if type_ is None or not isinstance(value, str) else Validator(type_, {}).parse(value)


def holds_limited(node: Node, value: Json) -> bool:
    """Return whether a default or an example is within the limits and can be written in a design."""
    if value is None or value in ([], {}):
        return True
    type_ = limited_type(node)
    if type_ is not None:
        return not Validator(type_, {}).issues(value)
    return not _has_limited(node)


def _has_limited(node: Node) -> bool:
    return is_annotated(node) or any(map(_has_limited, inner(node)))
