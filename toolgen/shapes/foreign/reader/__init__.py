"""Reads JSON Schemas that somebody else wrote into the field tree, with what the tree cannot hold."""

from .problems import Problem, Reading
from .reading import read, read_text, upgraded

__all__ = ["Problem", "Reading", "read", "read_text", "upgraded"]
