"""The record of one problem, and of its code. Every command reports its problems as findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The place of a problem; lines and columns count from 1, and 0 means not known."""

    file: str = ""
    """Path as Python or the command line names it; empty where there is none."""
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    """The place right after the last character."""
    pointer: str | None = None
    """JSON Pointer (RFC 6901) into an imported document; empty for the whole of it, None for other files."""
    excerpt: str = ""
    """The line of the file and, below it, carets under what is meant; only text shows it."""


NOWHERE: Final = Place()


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """Another place that concerns a finding."""

    message: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One problem: an error, or a warning about something that works all the same."""

    code: str
    """Stable; `toolgen explain` explains it."""
    message: str
    severity: Severity = "error"
    place: Place = NOWHERE
    tool: str = ""
    """The tool of an imported document, as written there; empty where it is about none."""
    hint: str = ""
    """An action; may be empty."""
    related: tuple[Related, ...] = ()
    is_suppressible: bool = False
    """The author may decide that it is right as it is, so that a reader may hide it."""

    @property
    def is_warning(self) -> bool:
        return self.severity == "warning"


@dataclass(frozen=True, slots=True)
class Code:
    """A code with what it means and what to do."""

    name: str
    """Stable, kebab-case."""
    explanation: str
    severity: Severity = "error"
    is_suppressible: bool = False

    def finding(self, message: str, *, place: Place = NOWHERE, hint: str = "", tool: str = "") -> Finding:
        """Return a finding of this code."""
        return Finding(
            code=self.name,
            message=message,
            severity=self.severity,
            place=place,
            tool=tool,
            hint=hint,
            is_suppressible=self.is_suppressible,
        )
