"""What is wrong with a design: values that are collected and shown together."""

from __future__ import annotations

from dataclasses import dataclass

from .source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """Another place that has to do with a diagnostic."""

    message: str
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One mistake of the author."""

    code: str
    """Stable, a key of `codes.RULES`."""
    message: str
    source: Source
    hint: str = ""
    """An action; may be empty."""
    related: tuple[Related, ...] = ()
    is_warning: bool = False
    """What it names is not as it should be, and the design is good all the same."""
