"""Catalogues: the entry of a tool, the text of `tool_schemas.json`, its reader and its JSON Schema."""

from .reader import (
    Catalogue,
    CatalogueError,
    CatalogueType,
    format_schema,
    load_catalogue,
    read_catalogue,
)

__all__ = [
    "Catalogue",
    "CatalogueError",
    "CatalogueType",
    "format_schema",
    "load_catalogue",
    "read_catalogue",
]
