"""What reads `tool_schemas.json`."""

from .format import format_schema

__all__ = ["format_schema"]
