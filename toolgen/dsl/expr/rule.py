"""The shape of one row of the tables of diagnostics."""

from __future__ import annotations

from toolgen.contract.record import frozen_record


@frozen_record(kw_only=False)
class Rule:
    """One code with its templates; the facts in braces are passed when a rule is broken."""

    code: str
    """Stable code in kebab-case."""
    message: str
    hint: str
    explanation: str
    is_warning: bool = False
    """Whether a design that breaks the rule can still be generated."""
