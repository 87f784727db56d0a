"""The checked design, and the table of what can be wrong with one."""

from .codes import RULES, Rule
from .source import Source

__all__ = ["RULES", "Rule", "Source"]
