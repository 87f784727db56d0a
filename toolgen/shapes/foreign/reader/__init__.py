"""Reads JSON Schemas that somebody else wrote into the field tree, with what the tree cannot hold."""

from .problems import Reading, SchemaProblem
from .reading import read, read_text, upgraded

__all__ = ["Reading", "SchemaProblem", "read", "read_text", "upgraded"]
