"""Catalogues: the entry of a tool, and the format of `tool_schemas.json` as a JSON Schema."""

from .format import format_schema

__all__ = ["format_schema"]
