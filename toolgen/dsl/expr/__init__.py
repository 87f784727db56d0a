"""The checked design, and the table of its possible diagnostics."""

from .codes import RULES, Rule
from .source import Source

__all__ = ["RULES", "Rule", "Source"]
