"""The shape of one row of the tables of diagnostics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One code with its templates; the facts in braces are given where the rule is broken."""

    code: str
    """Stable, kebab-case."""
    message: str
    hint: str
    explanation: str
    is_warning: bool = False
    """A design that breaks it is generated all the same."""
