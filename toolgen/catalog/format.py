"""The formats of the catalogue, as JSON Schemas that other languages can read too."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from toolgen.contract.names import CATALOG_FORMAT, CatalogFormat


def format_id(format: CatalogFormat = CATALOG_FORMAT) -> str:
    """Return the `$id` of the schema of a format, which catalogues name as their `$schema`."""
    return f"urn:toolgen:catalog:{format}"


def format_schema(format: CatalogFormat = CATALOG_FORMAT) -> dict[str, Any]:
    """Return the JSON Schema 2020-12 of `tool_schemas.json` in a format."""
    text = files("toolgen.catalog").joinpath(f"format-{format}.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
