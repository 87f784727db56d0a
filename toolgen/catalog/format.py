"""The formats of the catalogue, as JSON Schemas that other languages can read too."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final

from toolgen.contract.names import CATALOG_FORMAT, CatalogFormat

FORMAT_ID: Final = f"urn:toolgen:catalog:{CATALOG_FORMAT}"
"""The `$id` of the schema of the newest format, which catalogues name as their `$schema`."""


def format_schema(format: CatalogFormat = CATALOG_FORMAT) -> dict[str, Any]:
    """Return the JSON Schema 2020-12 of `tool_schemas.json` in a format."""
    text = files("toolgen.catalog").joinpath(f"format-{format}.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
