"""Errors of engines, and the failures of operations that a loop receives."""

from __future__ import annotations

from typing import Final

from toolgen.contract.errors import ToolgenError

OUTCOME_UNKNOWN: Final = "outcome_unknown"
"""Kind of the failure of an activity that began, must not begin twice, and whose end nobody knows."""


class EngineError(ToolgenError):
    """The engine cannot do what it was asked; the message says why."""


def already_registered() -> EngineError:
    """Return the error of an engine that another runtime has."""
    return EngineError("this engine already belongs to a runtime; each runtime needs its own engine")


class EngineClosedError(EngineError):
    """The engine was closed; what it did goes on when it is started again, or in another process."""


def engine_closed() -> EngineClosedError:
    """Return the error of an engine that was closed."""
    return EngineClosedError("the engine is closed", hint="start it again")


class UnknownRunError(EngineError):
    """No run has this id, or none that the caller may know of."""


def unknown_run(run_id: str) -> UnknownRunError:
    """Return the error; in the same words for a run that is not there and for one of somebody else."""
    return UnknownRunError(
        f"no run has the id {run_id!r}",
        hint="it may have been erased, deleted after its retention, or belong to another session or agent",
    )


class WaitOverError(EngineError):
    """The wait ended without an answer, or its run is over."""


def wait_over(run_id: str, op: str) -> WaitOverError:
    """Return the error of an answer whose wait has ended."""
    return WaitOverError(f"run {run_id} no longer waits for {op}")


def session_over(session: str) -> WaitOverError:
    """Return the error of an answer in a session that has ended."""
    return WaitOverError(
        f"the session {session!r} has ended, and the answer was not stored",
        hint="start a session with a new id; Runtime.waits.cancel(token) cancels a call that is still "
        "suspended",
    )


class UnsettledAnswerError(EngineError):
    """Nobody knows yet whether an answer counts, or one before it; the same answer may be given again."""


class DuplicateOperationError(EngineError):
    """The loop used one key for two operations: our bug."""


class NondeterminismError(EngineError):
    """The loop asked for something else than the journal holds under the key; the run stays as it is."""


def require_version(run_id: str, loop: str, version: object, newest: int) -> None:
    """Raise if another version of a loop began a run.

    Raises:
        NondeterminismError: as said.
    """
    if version != newest:
        raise NondeterminismError(
            f"run {run_id} has version {version} of the loop {loop!r}; this toolgen executes {newest}",
            hint="execute it with the version of toolgen that started it, or cancel it",
        )


class PayloadTooLargeError(EngineError):
    """An argument or a result has more bytes than the engine keeps."""


class PayloadGoneError(EngineError):
    """A large value of a run was erased or pruned; the run cannot go on without it."""


class NonRetryableError(Exception):
    """Raised by an activity: another attempt would fail the same way."""


class NotRegisteredError(NonRetryableError):
    """Raised by an activity before any effect: this process lacks what it needs, such as an agent.

    With many workers another one may have it, as while a new version is deployed. The attempt counts in
    `ActivityInfo.missed` alone, and others follow it within `CallOptions.timeout`; for ever without one.
    """


class ActivityFailed(Exception):
    """What the loop gets of an activity or a child run that failed for good."""

    def __init__(self, op: str, kind: str, message: str) -> None:
        super().__init__(f"{op}: {kind}: {message}")
        self.op = op
        self.kind = kind
        """Name of the exception's class; `timeout`, `failed`, `canceled` or `outcome_unknown`."""
        self.message = message
