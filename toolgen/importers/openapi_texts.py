"""Texts and names of an OpenAPI document in the form that a design can hold."""

from __future__ import annotations

import re

from toolgen.shapes import naming
from toolgen.shapes.foreign.normal_form import safe_text

from .clauses_layout import Named, literal
from .design_types import DIGITS, digest, identifier
from .openapi_document import mapping, text


def own_title(schema: object, name: str) -> list[Named]:
    """Return the title of a component, where a type of this name would have another one."""
    title = safe_text(text(mapping(schema).get("title")))
    return [Named("title", literal(title))] if title and naming.words(title) != naming.words(name) else []


def tool_name(operation_id: str, path: str, method: str) -> str:
    """Return the name of a tool for an operation: of more than 64 characters, its beginning and a digest.

    Of an id that FastAPI made, the beginning is the name of its function.
    """
    name = identifier(operation_id, "tool")
    if len(name) <= naming.LONGEST_NAME:
        return name
    made = re.sub(r"\W", "_", path) + f"_{method}"
    start = identifier(operation_id.removesuffix(made), "tool") if operation_id.endswith(made) else name
    return f"{start[: naming.LONGEST_NAME - DIGITS - 1].rstrip('_')}_{digest(operation_id)}"
