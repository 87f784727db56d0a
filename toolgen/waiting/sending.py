"""Sends answers to waiting runs, unless the session of an answer has ended."""

from __future__ import annotations

from toolgen.contract.json_value import Json
from toolgen.engines import Receipt, WaitOverError
from toolgen.engines.errors import session_over

from .errors import LateAnswerError
from .wait_registry import WaitRegistry


async def require_session(waits: WaitRegistry, session_id: str, run_id: str, op: str) -> None:
    """Check that the session of an operation still accepts answers.

    Raises:
        LateAnswerError: the session has ended, and no answer was accepted before.
        UnknownRunError: no run has the id.
    """
    if not session_id or waits.has_ended is None or not await waits.has_ended(session_id, run_id):
        return
    if await waits.engine.accepted_answer(run_id, op) is None:
        over = session_over(session_id)
        raise LateAnswerError(over.message, hint=over.hint)


async def send_answer(
    waits: WaitRegistry, run_id: str, op: str, sealed: Json, *, key: str, session_id: str, hint: str = ""
) -> Receipt:
    """Send an answer to a run whose session has not ended; with `session_id` "" this is not checked.

    An engine that stores sessions in the same file stores the answer in the transaction that checks the
    session. In memory, no other task can run in between. Elsewhere the session can end in between; the answer
    counts then.

    Raises:
        LateAnswerError: the session or the wait has ended, or the run is over; `hint` says what to do.
        UnknownRunError, UnsettledAnswerError: as `Engine.answer`.
    """
    await require_session(waits, session_id, run_id, op)
    try:
        return await waits.engine.answer(run_id, op, sealed, key=key, session=session_id)
    except WaitOverError as error:
        raise await late_answer(waits, run_id, error.message, error.hint or hint) from None


async def late_answer(waits: WaitRegistry, run_id: str, why: str, hint: str = "") -> LateAnswerError:
    """Return the error for a late answer; its message says so if the run was canceled."""
    status = await waits.engine.status(run_id)
    if status.state == "canceled":
        reason = f": {status.error}" if status.error else ""
        return LateAnswerError(f"the run of this call was canceled{reason}", hint="start another run")
    return LateAnswerError(why, hint=hint or "let the model call the tool again if the call is still needed")
