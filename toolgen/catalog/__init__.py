"""Catalogues: the entry of a tool, the text of `tool_schemas.json`, its reader and its JSON Schema."""

from .format import format_schema
from .reader import Catalogue, CatalogueError, CatalogueType, load_catalogue, read_catalogue

__all__ = [
    "Catalogue",
    "CatalogueError",
    "CatalogueType",
    "format_schema",
    "load_catalogue",
    "read_catalogue",
]
