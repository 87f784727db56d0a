"""The checked design, and what can be wrong with one."""

from .codes import RULES, Rule
from .diagnostics import Diagnostic, Related
from .source import Source

__all__ = ["RULES", "Diagnostic", "Related", "Rule", "Source"]
