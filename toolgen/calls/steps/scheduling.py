"""How a runtime executes calls, as a host sets it: how many at once, and for how long."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from toolgen.contract.record import frozen_record


@frozen_record
class Scheduling:
    """How many calls of one runtime run at once, how many wait, and for how long one may run.

    A call counts from its admission to the end of its executor. Hooks, policies and encoding do not count,
    nor does a call while it waits for an answer, for a run, for a call that it has made, or for its next
    attempt. A call that has waited for another one goes on at once, also where a limit is reached by then.
    """

    max_calls: int = 256
    """Calls of the process that run at once."""
    max_calls_per_run: int = 16
    """Calls of a run, its child runs included, that run at once; of a `call_all` outside of runs too."""
    max_calls_per_session: int | None = None
    """Calls of a session that run at once; None for no limit."""
    max_calls_per_tool: int | None = None
    """Calls of a tool that run at once; None for no limit."""
    max_queued: int = 65_536
    """Calls that wait for another one to end; those beyond end as `BusyError`, without having begun.

    A call that was approved or answered is not refused: it waits, and counts.
    A run has at most as many waiting as there are places left for others: with nobody else, half of them.
    """
    max_threads: int = 8
    """Calls of synchronous tools that run at once, each in a thread."""
    max_stuck_threads: int = 32
    """Threads that are replaced while their function runs on after the end of its call. While so many are
    stuck, the tools that hold them are not available."""
    max_retries: int = 2
    """Further attempts at a tool that is idempotent or only reads, after a failure that may pass."""
    tool_timeout_s: float | None = None
    """Seconds for a tool whose design says nothing; None for no limit."""
    stage_timeout_s: float | None = 30.0
    """Seconds for one step of a hook, an interceptor, a policy, a preview or a store; None for no limit."""

    def __post_init__(self) -> None:
        """Check the limits.

        Raises:
            TypeError: one is no whole number, or a time is no number.
            ValueError: one is less than what lets calls run.
        """
        for limit in fields(self):
            value, least = getattr(self, limit.name), _LEAST.get(limit.name, 1)
            if value is None and limit.name in _OPTIONAL:
                continue
            if limit.name.endswith("_s"):
                _check_seconds(limit.name, value)
                continue
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"{limit.name} is {value!r}; it must be a whole number")
            if value < least:
                raise ValueError(f"{limit.name} is {value}; it must be at least {least}")


def _check_seconds(name: str, value: object) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; it must be a number of seconds, or None")
    if not value > 0:
        raise ValueError(f"{name} is {value}; it must be more than 0")


_OPTIONAL: Final = frozenset(
    {"max_calls_per_session", "max_calls_per_tool", "stage_timeout_s", "tool_timeout_s"}
)
"""Limits that may be None, for no limit."""
_LEAST: Final = {"max_queued": 0, "max_stuck_threads": 0, "max_retries": 0}

DEFAULT_SCHEDULING: Final = Scheduling()
