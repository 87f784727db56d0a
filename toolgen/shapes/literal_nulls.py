"""Validators for which null is only a value, as in their JSON Schema, and never means absent."""

from __future__ import annotations

from .exact import keeps_null, means_absent
from .numbers import AnySchema
from .union_guard import mapped


def literal_nulls(schema: AnySchema) -> AnySchema:
    """Return a core schema that rejects null for an optional attribute, unless null is one of its values."""
    node = mapped(schema, literal_nulls)
    if node["type"] == "default" and not keeps_null(node):
        inner = node["schema"]
        if means_absent(inner):
            inner = inner["schema"]
        if inner["type"] == "nullable":
            node["schema"] = inner["schema"]
    return node
