"""Texts and names of an OpenAPI document in the form that a design can hold."""

from __future__ import annotations

import re

from toolgen.shapes import naming
from toolgen.shapes.foreign.normal_form import safe_text

from .design_types import DIGITS, digest, identifier


def shown_text(text: str) -> str:
    """Return a text for readers that a design can hold."""
    return safe_text(text).encode(errors="replace").decode().strip()


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
