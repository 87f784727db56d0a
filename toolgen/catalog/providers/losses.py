"""Losses: rules about a tool's arguments that the provider's schema does not express, as data."""

from __future__ import annotations

from typing import Literal

from toolgen.contract.record import frozen_record

Action = Literal["described", "dropped", "closed", "as JSON text", "not strict"]
"""Replacement of a keyword: words in the description; nothing; undeclared keys cannot be sent; the value is
sent as JSON text whose content is not constrained; the tool is declared without strict."""


@frozen_record
class Loss:
    """One keyword that the provider's schema lacks. The tool's own schema still enforces it."""

    path: str
    """JSON Pointer of the schema that had it, in the tool's own; "" is the schema itself."""
    keyword: str
    action: Action
    detail: str = ""
    """Words in its place, or the reason."""

    def __str__(self) -> str:
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.path or '/'} {self.keyword} ({self.action}){detail}"
