"""Parts of clauses without other clauses: enumerations, constraints, descriptions and values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from toolgen.contract.json_value import Json
from toolgen.shapes.constraints import CONSTRAINTS, FLAGS, LIMITS
from toolgen.shapes.foreign.nodes import NULL, Node, without_null

from .clauses_built import NotExpressibleError, check_type
from .clauses_layout import ClauseCall, CodeValue, Items, Named, Part, Text, call, literal, pattern
from .clauses_schemas import compact, schema_clause

_CONSTRAINTS: Final = {
    row.keyword: row.name for row in CONSTRAINTS if row in (*LIMITS, *FLAGS) or row.name == "pattern"
}


def nullable_type(node: Node) -> Part:
    """Return the type of a node without null, which an optional attribute accepts anyway."""
    rest = without_null(node)
    if NULL not in node.get("anyOf", ()):
        return schema_clause(compact(node))
    return call("Nullable", schema_clause(compact({"anyOf": rest} if len(rest) > 1 else rest[0])))


def enum_clause(members: list[str | int], meanings: list[str]) -> tuple[Part, tuple[Named, ...]]:
    written: Part = Items(enum_values(members, meanings)) if any(meanings) else literal(tuple(members))
    if all(isinstance(member, str) for member in members):
        return "String", (Named("enum", written),)
    if any(type(member) is not int for member in members):
        raise NotExpressibleError("the values of an enum are neither all strings nor all integers")
    return "Int", (Named("enum", written),)


def enum_values(members: list[str | int], meanings: list[str]) -> Iterator[Part]:
    """Yield the values of an enumeration, each with its meaning."""
    for member, meaning in zip(members, meanings, strict=True):
        text = " ".join(meaning.split())
        yield call("Value", literal(member), Text(text)) if text else literal(member)


def constraints_of(node: Node, type_: Part) -> tuple[Named, ...]:
    """Return the constraints of a node that becomes this type.

    Raises:
        NotExpressibleError: A design does not allow this combination.
    """
    constraints = tuple(
        Named(word, pattern_value(node[key]) if key == "pattern" else literal(node[key]))
        for key, word in _CONSTRAINTS.items()
        if key in node
    )
    if len(constraints) > 1:
        check_type(with_constraints(type_, constraints))
    return constraints


def pattern_value(text: str) -> CodeValue:
    return CodeValue(text, pattern(text))


def with_constraints(type_: Part, constraints: tuple[Named, ...]) -> Part:
    """Return a type that includes the constraints."""
    if not constraints:
        return type_
    if isinstance(type_, ClauseCall):
        return call(type_.clause, *type_.parts, *constraints)
    assert isinstance(type_, str)
    return call(type_, *constraints)


def integral(value: Json, node: Node) -> Json:
    """Return an integral default as an int: 5.0 becomes 5."""
    is_whole = node.get("type") == "integer" or "enum" in node
    return int(value) if is_whole and isinstance(value, float) and value.is_integer() else value


def description_part(text: str | None) -> Part:
    """Return the description of a clause; None if the source has none."""
    stripped = (text or "").strip()
    return Text(stripped) if stripped else literal(None)
