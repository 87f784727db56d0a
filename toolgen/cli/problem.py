"""Errors of the environment as findings."""

from __future__ import annotations

from toolgen.contract.errors import ToolgenError
from toolgen.findings import Finding

from .problem_codes import ENVIRONMENT


class FoundError(ToolgenError):
    """An error of the environment with a finding of its own for programs; its text is for people."""

    def __init__(self, message: str, *, finding: Finding) -> None:
        super().__init__(message, hint=finding.hint)
        self.finding = finding


def finding_of(error: ToolgenError) -> Finding:
    """Return the finding of an error of the environment."""
    if isinstance(error, FoundError):
        return error.finding
    return ENVIRONMENT.finding(error.message, hint=error.hint)
