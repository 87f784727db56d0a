"""Small schemas that a design contains unchanged: `JSONSchema({"type": "string", "format": "uri"})`."""

from __future__ import annotations

from typing import Any, Final

from toolgen.contract.json_value import objects_in
from toolgen.shapes.foreign.nodes import ENUM, MEANINGS, NULL, Node, meanings_of, without_null
from toolgen.shapes.foreign.reader.keywords import ANNOTATIONS
from toolgen.shapes.keywords import REFERENCES

from .clauses_built import NotExpressibleError
from .clauses_layout import Part, call, literal

_OBJECTS: Final = ("properties", "patternProperties", *REFERENCES, "$id", "$defs", "definitions")
_LONGEST: Final = 188
"""Maximum number of characters of a schema."""


def schema_clause(node: Node) -> Part:
    """Return the clause for a node that remains a schema.

    Raises:
        NotExpressibleError: The schema contains objects or references, or is too long to be readable.
    """
    schema = _with_titles(as_written(node))
    literal_schema = literal(schema)
    if any(not part.keys().isdisjoint(_OBJECTS) for part in objects_in(schema)):
        raise NotExpressibleError("an attribute contains objects that clauses cannot express")
    if len(literal_schema.flat) > _LONGEST:
        raise NotExpressibleError("an attribute has a long schema that clauses cannot express")
    return call("JSONSchema", literal_schema)


def _with_titles(schema: Any) -> Any:
    """Return a node in which enums with meanings are replaced by constants with titles."""
    match schema:
        case {"enum": list(values)} if MEANINGS in schema:
            choices = [
                {"const": value, "title": meaning} if meaning else {"const": value}
                for value, meaning in zip(values, meanings_of(schema), strict=True)
            ]
            return {"oneOf": choices}
        case dict():
            return {key: _with_titles(value) for key, value in schema.items() if key != ENUM}
        case list():
            return [_with_titles(value) for value in schema]
        case _:
            return schema


def as_written(node: Node) -> Node:
    """Return a node without the annotations that belong to its attribute."""
    return {key: value for key, value in node.items() if key not in ANNOTATIONS}


def notes(node: Node) -> Node:
    """Return the annotations of a node, which belong to its attribute."""
    return {key: value for key, value in node.items() if key in ANNOTATIONS}


def compact(node: Node) -> Node:
    """Return a normal-form union as a list of types or as one enum, as authors write it."""
    schema = as_written(node)
    branches = schema.get("anyOf")
    if not isinstance(branches, list) or len(schema) > 1:
        return schema
    nulls: list[None] = [None for branch in branches if branch == NULL]
    rest = without_null(schema)
    if all(branch.keys() - {ENUM} == {"enum"} for branch in rest):
        return {"enum": [*(member for branch in rest for member in branch["enum"]), *nulls]}
    kinds = [branch.get("type") for branch in branches]
    are_plain = all(isinstance(kind, str) for kind in kinds) and len(set(kinds)) == len(kinds)
    constrained = [branch for branch in branches if len(branch) > 1]
    if are_plain and len(constrained) <= 1 and not ("integer" in kinds and "number" in kinds):
        facts = constrained[0] if constrained else {}
        return {"type": kinds, **{key: value for key, value in facts.items() if key != "type"}}
    return schema
