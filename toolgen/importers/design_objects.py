"""The part of a tool's schema that clauses express, and the part that remains a schema."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from toolgen.contract.json_pointer import escaped
from toolgen.contract.json_value import Json, objects_in, size_of
from toolgen.shapes.constraints import FLAGS
from toolgen.shapes.evaluator import Evaluator, Undecided
from toolgen.shapes.fields import Foreign
from toolgen.shapes.foreign.nodes import Classes, Node, target, targets
from toolgen.shapes.foreign.reader import read
from toolgen.shapes.foreign.reader.keywords import CONSTRAINTS
from toolgen.shapes.foreign.reader.validator import rejected_values
from toolgen.shapes.keywords import REFERENCES, VALUES

from .clauses import ClauseSource, WrittenClauses
from .clauses_built import NotExpressibleError
from .clauses_schemas import as_written, notes, schema_clause
from .design_types import TypeTable

_INEXACT: Final = "the types cannot express the whole schema"
_FLAGS: Final = tuple(row.keyword for row in FLAGS)
_PLAIN: Final = ("string", "integer", "number", "boolean")
_MOST_READ: Final = 200_000
"""Maximum size of definitions that are read again for each property that refers to one."""
_APART: Final = frozenset(["type", "properties", "required", "additionalProperties"])
"""Keywords of an object that do not restrict the values of its properties beyond their own schemas."""


def to_clauses(
    foreign: Foreign, class_name: str, types: TypeTable, *, formats_are_types: bool
) -> WrittenClauses:
    """Return the clauses that have exactly the same meaning as a foreign schema.

    Raises:
        NotExpressibleError: Clauses cannot express exactly the same.
    """
    shape = ClauseSource(root=foreign.root, classes=foreign.classes, formats_are_types=formats_are_types)
    if not foreign.is_exact:
        shape = replace(_with_kept_schemas(foreign, class_name), formats_are_types=formats_are_types)
    return types.write(with_good_examples(shape), class_name)


def required_defaults(schema: Node) -> Iterator[tuple[str, str]]:
    """Yield pointer and message for each default of a required property, which has no effect or clause."""
    waiting: list[tuple[Json, str]] = [(schema, "")]
    while waiting:
        node, pointer = waiting.pop()
        if isinstance(node, list):
            waiting += [(item, f"{pointer}/{index}") for index, item in enumerate(node)]
        if not isinstance(node, dict):
            continue
        waiting += [(value, f"{pointer}/{escaped(key)}") for key, value in node.items() if key not in VALUES]
        properties, required = node.get("properties"), node.get("required")
        if isinstance(properties, dict) and isinstance(required, list):
            for key, property_ in properties.items():
                if key in required and isinstance(property_, dict) and _loses_default(property_):
                    place = f"{pointer}/properties/{escaped(key)}/default"
                    yield place, f"the default of the required property {key!r} is left out"


def _loses_default(property_: Node) -> bool:
    """Return whether a property has a default other than its only allowed value."""
    return "default" in property_ and not (
        "const" in property_ and property_["const"] == property_["default"]
    )


def _with_kept_schemas(foreign: Foreign, class_name: str) -> ClauseSource:
    """Return the shape of a schema in which only a few properties have no exact Python type.

    Those properties keep their schemas; clauses express all others.
    """
    schema: Node = foreign.schema
    properties = schema.get("properties")
    others = CONSTRAINTS.intersection(schema) - _APART
    are_apart = not others and schema.get("additionalProperties", True) in (True, False, {})
    if target(foreign.root) is None or not isinstance(properties, dict) or not are_apart:
        raise NotExpressibleError(_INEXACT)
    definitions: Node = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    referring = {key for key, property_ in properties.items() if _refers(property_)}
    if len(referring) * size_of(definitions) > _MOST_READ:
        raise NotExpressibleError("the schema has too many properties")
    leaves: dict[str, Node] = {}
    flags: dict[str, Node] = {}
    rest: dict[str, Node] = {}
    for key, property_ in properties.items():
        used_definitions = definitions if key in referring else {}
        classes, is_exact = _read({"properties": {key: property_}, **used_definitions}, class_name)
        flags[key] = {}
        if classes and not is_exact and isinstance(property_, dict):
            plain = _without_flags(property_, classes[class_name]["properties"][key])
            plain_classes, is_plain = _read({"properties": {key: plain}, **used_definitions}, class_name)
            if is_plain and _is_plain_array(plain_classes[class_name]["properties"][key]):
                flags[key] = {word: True for word in _FLAGS if property_.get(word) is True}
                classes, is_exact, property_ = plain_classes, True, plain
        if not classes:  # it refers to another property, which might keep its schema
            raise NotExpressibleError(_INEXACT)
        rest[key] = property_
        if not is_exact and isinstance(property_, dict):
            annotations = notes(classes[class_name]["properties"][key])
            leaves[key] = {**as_written(property_), **annotations}
            rest[key] = annotations
            schema_clause(leaves[key])
    classes, is_exact = _read({**schema, "properties": rest}, class_name)
    if not (leaves or any(flags.values())) or not is_exact:
        raise NotExpressibleError(_INEXACT)
    for key, node in classes[class_name]["properties"].items():
        node.update(flags.get(key, {}))  # a required key can lack a property
    return ClauseSource(root=foreign.root, classes=classes, as_written=leaves)


def _without_flags(property_: Node, node: Node) -> Node:
    """Return a property without constraints that only rules check, or a default that violates them."""
    unflagged = {word: value for word, value in property_.items() if word not in _FLAGS}
    return {word: value for word, value in unflagged.items() if word != "default" or word in node}


def _is_plain_array(node: Node) -> bool:
    """Return whether a node is an array of values with the same equality in the design and in JSON."""
    return node.get("type") == "array" and ("enum" in node["items"] or node["items"].get("type") in _PLAIN)


def _refers(schema: object) -> bool:
    """Return whether a schema contains a reference keyword."""
    return any(not part.keys().isdisjoint(REFERENCES) for part in objects_in(schema))


def with_good_examples(shape: ClauseSource) -> ClauseSource:
    """Return the shape without examples that do not fit their schema."""
    root = target(shape.root)
    evaluator = Evaluator({"$defs": shape.classes}, Undecided.AS_MISFIT)
    schemas: dict[str, Node] = {}
    values: list[tuple[str, Any]] = []
    classes: dict[str, Node] = {}
    for name, class_ in shape.classes.items():
        classes[name] = {**class_, "properties": dict(class_["properties"])}
        for key, property_ in class_["properties"].items():
            if shape.shared and any(each in shape.shared for each, _ in targets(property_)):
                if not shape.is_bound:  # shared types are not known here
                    classes[name]["properties"][key] = {**property_, "examples": []}
                continue
            schema = as_written(shape.as_written.get(key, property_) if name == root else property_)
            for number, example in enumerate(_examples(property_)):
                if not evaluator.fits(schema, example):
                    schemas[place := f"{name} {number} {key}"] = schema
                    values.append((f"/properties/{escaped(place)}", example))
    if not values:
        return replace(shape, classes=classes)
    rejected = rejected_values({"properties": schemas, "$defs": dict(shape.classes)}, values)
    for name, class_ in classes.items():
        for key, property_ in class_["properties"].items():
            examples = _examples(property_)
            fitting = [
                example
                for number, example in enumerate(examples)
                if f"/properties/{escaped(f'{name} {number} {key}')}" not in rejected
            ]
            if len(fitting) < len(examples):
                class_["properties"][key] = {**property_, "examples": fitting}
    leaves = {
        key: {**node, "examples": _examples(classes[root]["properties"][key])}
        for key, node in shape.as_written.items()
        if root is not None
    }
    return replace(shape, classes=classes, as_written=leaves)


def _examples(property_: Node) -> list[Json]:
    examples = property_.get("examples")
    return examples if isinstance(examples, list) else []


def _read(schema: Node, name: str) -> tuple[Classes, bool]:
    """Return the classes of an object's schema, and whether they are exact; no classes if it is invalid."""
    foreign = read({"type": "object", **schema}, name=name, arguments=True).foreign
    return (foreign.classes, foreign.is_exact) if foreign else ({}, False)


def root_schema_clause(foreign: Foreign) -> Any:
    """Return the clause for a small schema without objects, for example a result that is a string.

    Raises:
        NotExpressibleError: The schema is an object, or too large.
    """
    if target(foreign.root) is not None:
        raise NotExpressibleError("the schema is an object")
    return schema_clause(foreign.schema)
