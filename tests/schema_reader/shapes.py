"""Schemas of any width: whatever there are many of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Schema = dict[str, Any]


def an_object(properties: Mapping[str, Any], **others: Any) -> Schema:
    return {"type": "object", "properties": dict(properties), **others}


def nested(depth: int) -> Schema:
    """Return objects inside each other."""
    schema = an_object({})
    for _ in range(depth):
        schema = an_object({"a": schema})
    return schema


def tagged(number: int) -> Schema:
    return an_object({"kind": {"const": f"k{number}"}, "v": {"type": "integer"}}, required=["kind"])


def _value(schema: Schema) -> Schema:
    return an_object({"x": schema})


def _text(number: int) -> Schema:
    return {"type": "string", "description": f"Text {number}."}


def _many(number: int, schema: Callable[[int], Any], prefix: str = "p") -> Schema:
    return {f"{prefix}{n}": schema(n) for n in range(number)}


def _chain(number: int, link: Callable[[int], Schema]) -> Schema:
    """Return an object whose definitions refer to each other."""
    return an_object({"x": {"$ref": "#/$defs/d0"}}, **{"$defs": _many(number, link, "d")})


def _ref(number: int) -> Schema:
    return {"$ref": f"#/$defs/d{number}"}


SHAPES: Mapping[str, Callable[[int], Schema]] = {
    "oneOf of objects with a tag": lambda n: _value({"oneOf": [tagged(i) for i in range(n)]}),
    "anyOf of objects": lambda n: _value({"anyOf": [an_object({f"p{i}": _text(i)}) for i in range(n)]}),
    "anyOf of objects of one title": lambda n: _value(
        {"anyOf": [an_object({f"p{i}": _text(i)}, title="Same") for i in range(n)]}
    ),
    "anyOf of patterns": lambda n: _value(
        {"anyOf": [{"type": "string", "pattern": f"^a{i}$"} for i in range(n)]}
    ),
    "anyOf of arrays": lambda n: _value(
        {"anyOf": [{"type": "array", "items": {"maxLength": i, "type": "string"}} for i in range(n)]}
    ),
    "oneOf of constants": lambda n: _value({"oneOf": [{"const": f"c{i}", "title": "C"} for i in range(n)]}),
    "oneOf of references": lambda n: an_object(
        {"x": {"oneOf": [_ref(i) for i in range(n)]}}, **{"$defs": _many(n, tagged, "d")}
    ),
    "oneOf at the root": lambda n: {"type": "object", "oneOf": [tagged(i) for i in range(n)]},
    "anyOf beside properties": lambda n: an_object(
        {"a": _text(0)}, anyOf=[{"properties": {f"b{i}": _text(i)}, "required": [f"b{i}"]} for i in range(n)]
    ),
    "allOf": lambda n: {"type": "object", "allOf": [{"properties": {f"p{i}": _text(i)}} for i in range(n)]},
    "allOf of references": lambda n: {
        "type": "object",
        "allOf": [_ref(i) for i in range(n)],
        "$defs": _many(n, lambda i: {"properties": {f"p{i}": _text(i)}}, "d"),
    },
    "allOf of names": lambda n: {"type": "object", "allOf": [{"required": [f"p{i}"]} for i in range(n)]},
    "enum": lambda n: _value({"enum": [f"v{i}" for i in range(n)]}),
    "enum of two kinds": lambda n: _value({"enum": [i if i % 2 else str(i) for i in range(n)]}),
    "enum of objects": lambda n: _value({"enum": [{"a": i} for i in range(n)]}),
    "enum within a range": lambda n: _value({"type": "integer", "minimum": 1, "enum": list(range(n))}),
    "enum of names": lambda n: _value({"type": "object", "propertyNames": {"enum": [*_many(n, _text)]}}),
    "properties": lambda n: an_object(_many(n, _text), required=[f"p{i}" for i in range(n)]),
    "properties of one attribute": lambda n: an_object(
        {"a" + "".join("!?"[int(bit)] for bit in f"{i:b}"): _text(i) for i in range(n)}
    ),
    "properties that are objects": lambda n: an_object(_many(n, lambda i: an_object({"a": _text(i)}))),
    "properties with defaults": lambda n: an_object(
        _many(n, lambda i: {"type": "string", "minLength": 1, "default": "d" * (i % 2)})
    ),
    "properties with examples": lambda n: an_object(
        _many(n, lambda i: {"type": "string", "examples": [f"e{i}", i]})
    ),
    "properties beside definitions": lambda n: an_object(
        _many(n, lambda i: {"type": "array", "uniqueItems": True, "items": {"type": "string"}}),
        **{"$defs": _many(n, lambda i: an_object({"a": _text(i)}), "d")},
    ),
    "references to one large object": lambda n: an_object(
        _many(n, lambda i: _ref(0)), **{"$defs": {"d0": an_object(_many(n, _text))}}
    ),
    "references to no definition": lambda n: an_object(
        _many(n, lambda i: {"$ref": f"#/x/d{i}"}), x=_many(n, _text, "d")
    ),
    "chain of objects": lambda n: _chain(
        n, lambda i: an_object({"a": _ref(i + 1) if i + 1 < n else {}}, title="Same")
    ),
    "chain of references": lambda n: _chain(n, lambda i: _ref(i + 1) if i + 1 < n else {"type": "string"}),
    "circle of objects": lambda n: _chain(
        n, lambda i: an_object({"a": _ref((i + 1) % n), "b": _ref(i * 7 % n)})
    ),
    "tree of objects": lambda n: _chain(
        n, lambda i: an_object({f"a{k}": _ref(2 * i + k) for k in (1, 2) if 2 * i + k < n})
    ),
    "patternProperties": lambda n: {
        "type": "object",
        "patternProperties": _many(n, lambda i: {"type": "string"}, "^p"),
    },
    "prefixItems": lambda n: _value(
        {"type": "array", "prefixItems": [{"type": "string", "maxLength": i} for i in range(n)]}
    ),
    "dependentRequired": lambda n: an_object(
        _many(n, _text), dependentRequired=_many(n, lambda i: [f"p{(i + 1) % n}"])
    ),
    "if and then": lambda n: {
        "type": "object",
        "allOf": [{"if": {"required": [f"a{i}"]}, "then": {"required": ["b"]}} for i in range(n)],
    },
    "long texts": lambda n: _value({"title": "T " * n, **an_object({"a": {"description": "d " * n}})}),
    "a long title above many objects": lambda n: _value(
        {"title": "Title " * n, **an_object(_many(n, lambda i: an_object({"a": _text(i)})))}
    ),
    "a long pattern": lambda n: _value(
        {"type": "string", "pattern": "^(" + "|".join(f"a{i}" for i in range(n)) + ")$"}
    ),
    "a long default": lambda n: _value(
        {"type": "array", "items": {"type": "integer"}, "default": list(range(n))}
    ),
}
"""By name, the schema of a tool's arguments that has so many of it."""
