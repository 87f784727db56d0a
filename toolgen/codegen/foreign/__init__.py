"""Python classes for JSON Schemas that somebody else wrote, by datamodel-code-generator."""

from .types import ForeignClass, ForeignField, ForeignTypes, foreign_types

__all__ = ["ForeignClass", "ForeignField", "ForeignTypes", "foreign_types"]
