"""Reads third-party JSON Schemas into the field tree, with the rules that the tree cannot express."""

from .problems import Reading, SchemaProblem
from .reading import read, read_text, upgraded

__all__ = ["Reading", "SchemaProblem", "read", "read_text", "upgraded"]
