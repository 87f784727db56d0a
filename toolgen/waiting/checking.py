"""Checks the suspended calls in a journal: which ones a host has sealed, and which an operator must
review."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from typing import Any, Final

from toolgen.calls.call import FrozenCall
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.engines import RunState, RunStatus, RunWait, WaitOverError
from toolgen.shapes.issues import short

from .errors import ConflictingAnswerError, LateAnswerError, TamperedSuspensionError, UnsealedSuspensionError
from .frozen import Verdict, adoption_of, digest_of, read_call
from .sealing import adoption_op
from .subjects import is_call
from .wait_registry import WaitRegistry, log

_OPEN: Final[tuple[RunState, ...]] = ("running", "waiting")
_LONGEST: Final = 200
"""Maximum number of characters shown of an id or a name that might be forged."""


@frozen_record
class CheckedCall:
    """A suspended call in the journal of its run, with the verdict on its seal."""

    run_id: str
    op: str
    """Key of the wait within the run."""
    state: Verdict
    id: str
    tool: str
    """Both from the record, so they might be forged unless `state` is `sealed`; "" if it cannot be read."""
    call: FrozenCall | None
    """The call of the record; None if the record cannot be read."""
    record: Json = None
    """The complete record."""


async def checked_calls(
    waits: WaitRegistry, open_waits: Iterable[RunWait] | None = None
) -> tuple[CheckedCall, ...]:
    """Return the suspended calls among these waits, in order; by default among the waits of all runs.

    Calls that were answered but not executed yet are included: they run when they are adopted.
    """
    if open_waits is None:
        open_waits = await _all_waits(waits)
    calls = [await _checked(waits, wait) for wait in open_waits]
    return tuple([call for call in calls if call is not None])


def waits_of(status: RunStatus) -> list[RunWait]:
    """Return the open waits of a run."""
    run_id = status.run_id
    return [
        RunWait(run_id=run_id, op=wait.op, about=wait.about, fault=wait.fault) for wait in status.awaiting
    ]


async def adopt_calls(
    waits: WaitRegistry, run_id: str, by: str, seen: Collection[CheckedCall] | None
) -> tuple[CheckedCall, ...]:
    """Seal the unsealed calls of a run, unchanged or as they were reviewed, and return them.

    Raises:
        UnknownRunError: no run has the id.
        TamperedSuspensionError: one of them was changed.
        UnsealedSuspensionError: one of them differs from the reviewed calls.
        LateAnswerError: one of them is no longer suspended.
        ConflictingAnswerError: the journal already has another, invalid adoption.
    """
    calls = await checked_calls(waits, waits_of(await waits.engine.status(run_id)))
    if any(call.state == "tampered" for call in calls):
        raise TamperedSuspensionError(run_id)
    unsealed = tuple([call for call in calls if call.state == "unsealed"])
    if seen is not None and not all(call in seen for call in unsealed):
        raise UnsealedSuspensionError(run_id)
    waits.make_secret()
    for call in unsealed:
        await _adopt(waits, call, by)
        log.info("run %s: the suspended call of %s was adopted unchanged by %s", run_id, call.tool, by)
    return unsealed


async def _adopt(waits: WaitRegistry, call: CheckedCall, by: str) -> None:
    assert isinstance(call.record, dict), "only a record that can be read is without a seal"
    adoption = adoption_of(waits.sealer, call.run_id, call.op, call.record, by)
    op, digest = adoption_op(call.op, waits.sealer.keys[0]), digest_of(call.record)
    try:
        receipt = await waits.engine.answer(call.run_id, op, adoption, key=digest)
    except WaitOverError as error:
        raise LateAnswerError(error.message, hint="the call is no longer suspended") from None
    if receipt == "conflict":
        raise ConflictingAnswerError


async def _all_waits(waits: WaitRegistry) -> Iterable[RunWait]:
    """Return the open waits of all unfinished runs, each once."""
    waits_by_op: dict[tuple[str, str], RunWait] = {}
    for state in _OPEN:
        for status in reversed(await waits.engine.list_runs(state=state, limit=sys.maxsize)):
            waits_by_op |= {(wait.run_id, wait.op): wait for wait in waits_of(status)}
    return waits_by_op.values()


async def _checked(waits: WaitRegistry, wait: RunWait) -> CheckedCall | None:
    """Return the call of a wait; None if the wait is not for a call."""
    if wait.fault:
        return CheckedCall(run_id=wait.run_id, op=wait.op, state="tampered", id="", tool="", call=None)
    if not is_call(wait.about):
        return None
    record = wait.about["frozen"]
    state: Verdict = "sealed"
    call: FrozenCall | None
    try:
        call = (await waits.verify(wait.run_id, wait.op, record)).call
    except UnsealedSuspensionError:
        state, call = "unsealed", read_call(wait.run_id, record)
    except TamperedSuspensionError:
        state, call = "tampered", _readable(wait.run_id, record)
    return CheckedCall(
        run_id=wait.run_id,
        op=wait.op,
        state=state,
        id=_name(record, "id"),
        tool=_name(record, "tool"),
        call=call,
        record=record,
    )


def _readable(run_id: str, record: Any) -> FrozenCall | None:
    try:
        return read_call(run_id, record)
    except TamperedSuspensionError:
        return None


def _name(record: object, field: str) -> str:
    return short(str(record.get(field, "")), _LONGEST) if isinstance(record, dict) else ""
