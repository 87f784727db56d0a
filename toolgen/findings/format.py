"""The format of a finding for programs, as a JSON Schema that other languages can read too."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def format_schema() -> dict[str, Any]:
    """Return the JSON Schema 2020-12 of one line of `--format json`, format 1."""
    text = files("toolgen.findings").joinpath("finding-1.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
