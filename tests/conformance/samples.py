"""One document of a schema: its smallest sensible one, made without drawing."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def sample(schema: Any, root: Any = None, depth: int = 6) -> Any:
    """Return a document that mostly fits; what is required is there, and half of the rest."""
    root = schema if root is None else root
    if not isinstance(schema, dict) or depth == 0:
        return None
    for keyword in ("const", "default"):
        if keyword in schema:
            return schema[keyword]
    if schema.get("enum"):
        return schema["enum"][0]
    if "$ref" in schema:
        return sample(_resolved(schema["$ref"], root), root, depth - 1)
    for keyword in ("anyOf", "oneOf", "allOf"):
        if schema.get(keyword) and "properties" not in schema:
            return sample(schema[keyword][0], root, depth - 1)
    kind = schema.get("type", "object" if "properties" in schema else None)
    match kind[0] if isinstance(kind, list) else kind:
        case "object":
            return _object(schema, root, depth)
        case "array":
            count = max(int(schema.get("minItems", 0)), 1)
            return [sample(schema.get("items", {}), root, depth - 1) for _ in range(min(count, 5))]
        case "string":
            return "x" * min(max(int(schema.get("minLength", 1)), 1), 200)
        case "integer":
            return int(schema.get("minimum") or schema.get("maximum") or 1)
        case "number":
            return schema.get("minimum", schema.get("maximum", 1.5))
        case "boolean":
            return True
        case _:
            return None


def _object(schema: Schema, root: Any, depth: int) -> dict[str, Any]:
    required = schema.get("required", ())
    keys = [
        key
        for index, key in enumerate(schema.get("properties", {}))
        if key in required or (index % 2 == 0 and depth > 3)
    ]
    return {key: sample(schema["properties"][key], root, depth - 1) for key in keys}


def _resolved(ref: str, root: Any) -> Any:
    node = root
    for step in ref.removeprefix("#").split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        node = node[int(key)] if isinstance(node, list) else node.get(key, {})
    return node
