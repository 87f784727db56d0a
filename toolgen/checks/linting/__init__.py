"""Lint rules for valid tools that models would use badly: descriptions, names, sizes, lists, enums."""

from .linter import CODES, Linted, LintSettings, Setting, lint
from .rule import LintRule
from .rules import RULES
from .tool import LintedTool, ToolsetContext, tool_of_entry

__all__ = [
    "CODES",
    "RULES",
    "LintRule",
    "LintSettings",
    "Linted",
    "LintedTool",
    "Setting",
    "ToolsetContext",
    "lint",
    "tool_of_entry",
]
