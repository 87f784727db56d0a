"""Failures on Temporal: activity and child failures for a loop, server errors for a client."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    ChildWorkflowError,
    TimeoutError,
    TimeoutType,
)
from temporalio.service import RPCError, RPCStatusCode

from ..errors import OUTCOME_UNKNOWN, ActivityFailed, EngineError, unknown_run
from .documents import AGENT, SESSION, TURN, WAITS

_OF_WORKFLOW: Final = re.compile(r"Cancel requested by workflow with run id \S+ with reason: ")
"""Text that the server puts before the reason when one workflow cancels another."""
ADD_SEARCH_ATTRIBUTES: Final = (
    f"temporal operator search-attribute create --name {SESSION} --type Keyword --name {AGENT} --type Keyword"
    f" --name {TURN} --type Keyword --name {WAITS} --type KeywordList"
)
"""Command that adds the search attributes of runs to a namespace."""
ALL_LOST: Final = "the processes that executed it ended, one after the other"
LOST: Final = "its process ended while it was executed; it may have had its effect"


def activity_failure(op: str, error: ActivityError, *, once: bool) -> ActivityFailed:
    """Return the failure of an operation."""
    cause = error.cause
    if isinstance(cause, ApplicationError):
        return ActivityFailed(op, cause.type or "failed", cause.message)
    if isinstance(cause, CancelledError):
        return ActivityFailed(op, "canceled", "it was canceled")
    if isinstance(cause, TimeoutError) and cause.type != TimeoutType.SCHEDULE_TO_START and once:
        return ActivityFailed(op, OUTCOME_UNKNOWN, LOST)
    if isinstance(cause, TimeoutError) and cause.type == TimeoutType.START_TO_CLOSE:
        return ActivityFailed(op, "timeout", "no answer within its time")
    return ActivityFailed(op, "failed", ALL_LOST)


def child_failure(op: str, error: ChildWorkflowError) -> ActivityFailed:
    """Return the failure of a child run."""
    cause = error.cause
    if isinstance(cause, ApplicationError):
        return ActivityFailed(op, "failed", cause.message)
    if isinstance(cause, CancelledError):
        return ActivityFailed(op, "canceled", "")
    return ActivityFailed(op, "failed", str(cause or error))


def cancel_reason(text: str) -> str:
    """Return the reason of a cancellation without the server's prefix."""
    return _OF_WORKFLOW.sub("", text, count=1)


@contextmanager
def of_server(run_id: str | None = None) -> Iterator[None]:
    """Convert errors of the server to toolgen errors.

    Raises:
        UnknownRunError: no run has the id.
        EngineError: the server cannot be reached, or refuses.
    """
    try:
        yield
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND and run_id is not None:
            raise unknown_run(run_id) from error
        hint = "check that it is running and that its namespace exists"
        if "search attribute" in error.message:
            hint = f"start a worker, which adds them (toolgen worker), or run: {ADD_SEARCH_ATTRIBUTES}"
        raise EngineError(
            f"the Temporal server returned {error.status.name}: {error.message}", hint=hint
        ) from error
