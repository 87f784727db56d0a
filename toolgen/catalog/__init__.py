"""The catalog of tools: its entries, writer, reader and JSON Schema, and schemas for model providers."""

from .reader import (
    Catalog,
    CatalogError,
    CatalogType,
    format_schema,
    load_catalog,
    parse_catalog,
)

__all__ = [
    "Catalog",
    "CatalogError",
    "CatalogType",
    "format_schema",
    "load_catalog",
    "parse_catalog",
]
