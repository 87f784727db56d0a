"""Hints with which a planner repairs a failed call."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from toolgen.contract.names import RetryReason as RetryReason
from toolgen.contract.record import record

if TYPE_CHECKING:
    from toolgen.shapes.issues import FieldIssue


@record
class RetryHint:
    """A hint with which a planner repairs a failed call (Goa-AI's `RetryHint`)."""

    reason: RetryReason
    tool: str
    restrict_to_tool: bool = False
    """The next attempt should offer this tool only."""
    missing_fields: tuple[str, ...] = ()
    """Paths of the required fields that were left out."""
    issues: tuple[FieldIssue, ...] = ()
    """The first ones, as many as the limits of the runtime allow."""
    more_issues: int = 0
    """Issues beyond those, at least."""
    example_input: str | None = None
    """A document that the tool accepts, as JSON text."""
    prior_input: str | None = field(default=None, repr=False)
    """The document that was refused, as it came; its beginning when it is longer than a result may be."""
    clarifying_question: str | None = None
    message: str | None = None
    retry_after: float | None = None
    """Seconds."""
