"""The limits of a run, which a design sets and the runtime enforces."""

from __future__ import annotations

from .names import OnMissingFields
from .record import frozen_record


@frozen_record
class History:
    """The part of a session that a planner sees. Tokens are estimated as four bytes of UTF-8 each."""

    keep_turns: int | None = None
    """The newest turns, as they were; None for all that `keep_tokens` has room for."""
    summarize_after: int | None = None
    """Number of turns beyond which those before the kept ones are summarized; None leaves them out."""
    keep_tokens: int | None = None
    """Size of the newest turns that are kept; within a run, that beyond which old results are left out."""
    summarize_at: int | None = None
    """Tokens beyond which the turns before the kept ones are summarized; None leaves them out."""


@frozen_record
class RunPolicy:
    """Limits of one run; None for no limit. Times are in seconds."""

    max_tool_calls: int | None = None
    """Calls of bookkeeping tools excepted."""
    max_consecutive_failed_tool_calls: int | None = None
    """Batches of calls of which each failed, one after the other."""
    time_budget: float | None = None
    """Seconds of the run; the time in which it waits for a person does not count."""
    plan_timeout: float | None = None
    """Seconds of one planning."""
    tool_timeout: float | None = None
    """Seconds of one call of a tool whose design says nothing."""
    interrupts_allowed: bool = False
    """Whether a client may pause a run, or speak into it."""
    on_missing_fields: OnMissingFields = "resume"
    history: History | None = None
    """Limits of the history that models read; None for the whole session."""
