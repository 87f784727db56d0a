"""The checked design, its diagnostics, and the table of their codes."""

from .codes import RULES, Rule
from .diagnostics import Diagnostic, Related
from .rendering import Format, render
from .source import Source

__all__ = ["RULES", "Diagnostic", "Format", "Related", "Rule", "Source", "render"]
