"""The catalog of tools: its entries, writer, reader and JSON Schema, and schemas for model providers."""

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
