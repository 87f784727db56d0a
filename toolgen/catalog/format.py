"""The format of the catalogue, as a JSON Schema that other languages can read too."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def format_schema() -> dict[str, Any]:
    """Return the JSON Schema 2020-12 of `tool_schemas.json`, format 1."""
    text = files("toolgen.catalog").joinpath("format-1.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
