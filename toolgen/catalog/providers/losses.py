"""Losses: rules about a tool's arguments that the provider's schema does not express, as data."""

from __future__ import annotations

from typing import Literal

from toolgen.contract.record import frozen_record

Action = Literal["described", "dropped", "closed", "as JSON text", "not strict"]
"""Replacement for a keyword that the provider's schema lacks.

Words in the description; nothing; a schema that does not allow undeclared keys; a value sent as JSON text
with unconstrained content; a declaration without strict.
"""


@frozen_record
class Loss:
    """One keyword that the provider's schema lacks. The tool's own schema still enforces it."""

    path: str
    """JSON Pointer into the tool's own schema to the schema with the keyword; "" is the root."""
    keyword: str
    action: Action
    detail: str = ""
    """Words that replace it, or the reason."""

    def __str__(self) -> str:
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.path or '/'} {self.keyword} ({self.action}){detail}"
