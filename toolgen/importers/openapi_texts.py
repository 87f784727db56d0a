"""Texts of an OpenAPI document in the form that a design can hold."""

from __future__ import annotations

from toolgen.shapes import naming
from toolgen.shapes.foreign.normal_form import safe_text

from .clauses_layout import Named, literal
from .openapi_document import mapping, text


def own_title(schema: object, name: str) -> list[Named]:
    """Return the title of a component, where a type of this name would have another one."""
    title = safe_text(text(mapping(schema).get("title")))
    return [Named("title", literal(title))] if title and naming.words(title) != naming.words(name) else []
