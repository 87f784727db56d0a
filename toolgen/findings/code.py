"""The shape of one row of the tables of codes that are not diagnostics of a design."""

from __future__ import annotations

from dataclasses import dataclass

from .finding import NOWHERE, Finding, Place, Severity


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
