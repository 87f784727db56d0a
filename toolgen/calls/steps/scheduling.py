"""Options of a host for the execution of calls: concurrency, threads, time and retries."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from toolgen.contract.record import frozen_record


@frozen_record
class Scheduling:
    """Limits of concurrency, threads, time and retries of a runtime.

    A call counts from its admission to the end of its executor. It does not count while it waits for an
    answer, a run, a call that it has made, or its next attempt; it continues immediately afterwards, even
    beyond a limit.

    Raises:
        TypeError: A limit is not a number.
        ValueError: A limit is too small.
    """

    max_calls: int = 256
    """Maximum number of concurrent calls of the runtime."""
    max_calls_per_run: int = 16
    """Maximum number of concurrent calls of a run with its child runs, or of a `call_all` outside of runs."""
    max_calls_per_session: int | None = None
    """Maximum number of concurrent calls of a session; None for no limit."""
    max_calls_per_tool: int | None = None
    """Maximum number of concurrent calls of a tool; None for no limit."""
    max_queued: int = 65_536
    """Maximum number of waiting calls. Further ones end with `BusyError`.

    A run can have at most as many waiting calls as there are free places left, which is half of them if no
    other run waits. A call that was approved or answered always waits.
    """
    max_threads: int = 8
    """Maximum number of concurrent calls of synchronous tools, each in a thread."""
    max_stuck_threads: int = 32
    """Maximum number of threads that are replaced because their function runs on after its call. Beyond it,
    calls of the tools that hold them end with `tool_unavailable`. Such threads do not keep the process
    alive."""
    max_retries: int = 2
    """Maximum number of retries of a read-only or idempotent tool."""
    tool_timeout_s: float | None = None
    """Seconds that a tool can run if its design has no `Timeout`; None for no limit. An asynchronous executor
    that times out is cancelled, and has one second to clean up."""
    stage_timeout_s: float | None = 30.0
    """Seconds for a step of a hook, an interceptor, a policy, a preview or a store; None for no limit."""

    def __post_init__(self) -> None:
        """Validate the limits.

        Raises:
            TypeError: a limit is not a whole number, or a time is not a number.
            ValueError: a limit is below its minimum.
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
"""Limits that can be None, for no limit."""
_LEAST: Final = {"max_queued": 0, "max_stuck_threads": 0, "max_retries": 0}

DEFAULT_SCHEDULING: Final = Scheduling()
