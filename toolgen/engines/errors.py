"""Errors of engines, and the failures of operations that a loop receives."""

from __future__ import annotations

from typing import Final

from toolgen.contract.errors import ToolgenError

OUTCOME_UNKNOWN: Final = "outcome_unknown"
"""Kind of the failure of an activity that began, must not begin twice, and has an unknown outcome."""


class EngineError(ToolgenError):
    """The engine cannot execute the request; the message gives the reason."""


def already_registered() -> EngineError:
    """Return the error for an engine that already belongs to another runtime."""
    return EngineError("this engine already belongs to a runtime; each runtime needs its own engine")


class EngineClosedError(EngineError):
    """The engine was closed; its runs resume when it is started again, or in another process."""


def engine_closed() -> EngineClosedError:
    """Return the error for an engine that was closed."""
    return EngineClosedError("the engine is closed", hint="start it again")


class UnknownRunError(EngineError):
    """No run has this id, or the caller is not allowed to see the run."""


def unknown_run(run_id: str) -> UnknownRunError:
    """Return the error; the text is the same for a missing run and for another owner's run."""
    return UnknownRunError(
        f"no run has the id {run_id!r}",
        hint="it may have been erased, deleted after its retention, or belong to another session or agent",
    )


class WaitOverError(EngineError):
    """The wait ended without an answer, or its run is over."""


def wait_over(run_id: str, op: str) -> WaitOverError:
    """Return the error for an answer whose wait has ended."""
    return WaitOverError(f"run {run_id} no longer waits for {op}")


def session_over(session: str) -> WaitOverError:
    """Return the error for an answer in a session that has ended."""
    return WaitOverError(
        f"the session {session!r} has ended, and the answer was not stored",
        hint="start a session with a new id; Runtime.suspensions.cancel(token) cancels a call that is still "
        "suspended",
    )


class UnsettledAnswerError(EngineError):
    """It is unknown whether this answer, or an earlier one, counts; you can send the same answer again."""


class DuplicateOperationError(EngineError):
    """The loop used one key for two operations: a bug in toolgen."""


class NondeterminismError(EngineError):
    """The loop requested another operation than its journal has under the key; the run stays unchanged."""


def require_version(run_id: str, loop: str, version: object, newest: int) -> None:
    """Raise if a run began with another version of its loop.

    Raises:
        NondeterminismError: the versions differ.
    """
    if version != newest:
        raise NondeterminismError(
            f"run {run_id} has version {version} of the loop {loop!r}; this toolgen executes {newest}",
            hint="execute it with the version of toolgen that started it, or cancel it",
        )


class PayloadTooLargeError(EngineError):
    """An argument or a result has more bytes than the engine can store."""


class PayloadGoneError(EngineError):
    """A large value of a run was erased or pruned; the run cannot continue without it."""


class NonRetryableError(Exception):
    """Raised by an activity: another attempt would fail the same way."""


class NotRegisteredError(NonRetryableError):
    """Raised by an activity before any effect: this process lacks a dependency, for example an agent.

    With many workers, another one can have it, for example during the deployment of a new version. The
    attempt counts only in `ActivityInfo.missed`. More attempts follow within `CallOptions.timeout`, or
    without end if it is None.
    """


class ActivityFailed(Exception):
    """Exception that a loop receives from an activity or a child run that failed permanently."""

    def __init__(self, op: str, kind: str, message: str) -> None:
        super().__init__(f"{op}: {kind}: {message}")
        self.op = op
        self.kind = kind
        """Name of the exception's class; `timeout`, `failed`, `canceled` or `outcome_unknown`."""
        self.message = message
