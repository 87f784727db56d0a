"""The checked design, and what can be wrong with one."""

from .codes import RULES, Rule
from .diagnostics import Diagnostic, Related
from .rendering import Format, render
from .source import Source

__all__ = ["RULES", "Diagnostic", "Format", "Related", "Rule", "Source", "render"]
