"""The limits of a run, which a design sets and the runtime enforces."""

from __future__ import annotations

from .names import OnMissingFields
from .record import frozen_record


@frozen_record
class History:
    """The part of a session that a planner sees. Tokens are estimated as four bytes of UTF-8 each."""

    keep_turns: int | None = None
    """Number of newest turns that are shown in full; None for as many as fit into `keep_tokens`."""
    summarize_after: int | None = None
    """Number of turns above which the turns before the kept ones are summarized; None leaves them out."""
    keep_tokens: int | None = None
    """Maximum tokens of the kept newest turns; within a run, old results beyond it are left out."""
    summarize_at: int | None = None
    """Tokens above which the turns before the kept ones are summarized; None leaves them out."""


@frozen_record
class RunPolicy:
    """Limits of one run; None for no limit. Times are in seconds."""

    max_tool_calls: int | None = None
    """Maximum number of calls, not counting calls of bookkeeping tools."""
    max_consecutive_failed_tool_calls: int | None = None
    """Maximum number of consecutive batches in which all calls failed."""
    time_budget: float | None = None
    """Seconds of the run, not counting the time in which it waits for a person."""
    plan_timeout: float | None = None
    """Seconds of one planning."""
    tool_timeout: float | None = None
    """Seconds of one call of a tool whose design sets no timeout."""
    interrupts_allowed: bool = False
    """Whether a client can pause a run, or add a message to it."""
    on_missing_fields: OnMissingFields = "resume"
    history: History | None = None
    """Limits of the history that models read; None for the whole session."""
