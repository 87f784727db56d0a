"""The shape of one row of the tables of diagnostics."""

from __future__ import annotations

from toolgen.contract.record import frozen_record


@frozen_record(kw_only=False)
class Rule:
    """One code with its templates; the facts in braces are given where the rule is broken."""

    code: str
    """Stable, kebab-case."""
    message: str
    hint: str
    explanation: str
    is_warning: bool = False
    """A design that breaks it is generated all the same."""
