"""Runs of named calls, whose ids are derived from the names: their state and their questions."""

from __future__ import annotations

from itertools import count
from typing import Any, Final

from toolgen.calls.call import Arguments, CallMeta, CallName, CallNameError, arguments_json
from toolgen.calls.errors import ToolValidationError
from toolgen.calls.results import Suspended
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.contract.limits import Limits
from toolgen.contract.names import CANCELED
from toolgen.contract.record import record
from toolgen.engines import EngineClosedError, RunStatus, UnknownRunError

from .asking import asked_ids, open_questions
from .call_results import is_of_not_begun
from .errors import SuspensionError
from .loop import call_of
from .wait_registry import WaitRegistry

EDITED: Final = "the call was made again with other arguments"
"""Reason for canceling a question when the arguments of its call are edited."""


@record
class LedgerPlace:
    """Place of a named call in the ledger, taken or free."""

    run_id: str
    is_taken: bool = False
    """Whether this exact call is at this place."""
    edited: RunStatus | None = None
    """Run of the same call with the arguments before they were edited; its question is still open."""


class NamedCalls:
    """Finds the runs of the named calls of one tool."""

    def __init__(self, limits: Limits, waits: WaitRegistry, tool: RegisteredTool) -> None:
        self._limits = limits
        self._waits = waits
        self._tool = tool

    async def question(self, name: CallName, arguments: Arguments, meta: CallMeta) -> Suspended | None:
        """Return the open question of a named call with these arguments; None without one.

        If an agent's tool waits for several answers, it is the first. Pending work is not a question.

        It is also None if the record is damaged or has no valid seal, or if another call has the name:
        `result` reports these errors.

        Raises:
            Exception: the engine, or its store, cannot be used, so the answer is unknown.
        """
        payload = canonical_arguments(self._tool, arguments, self._limits)
        if payload is None:
            return None
        try:
            place = await self.place(name, payload, meta)
            if not place.is_taken:
                return None
            status = await self._waits.engine.status(place.run_id)
            questions = await open_questions(self._waits, status, call_of(status.input))  # type: ignore[arg-type]
        except (CallNameError, EngineClosedError, SuspensionError, UnknownRunError):
            return None
        return next((question for question in questions if question.kind != "pending"), None)

    async def question_ids(
        self, name: CallName, arguments: Arguments, meta: CallMeta
    ) -> frozenset[str] | None:
        """Return the ids of all questions that a named call has asked, also before its arguments were edited.

        None if the call has no record, but its kind of call has a record from its beginning.
        """
        ids: set[str] = set()
        for edits in count():
            run_id = name.run_id(meta, edits)
            await self._waits.start(run_id)
            try:
                status = await self._waits.engine.status(run_id)
            except UnknownRunError:
                needs_none = bool(edits) or (self._tool.may_repeat and not name.is_idempotency_key)
                if needs_none or canonical_arguments(self._tool, arguments, self._limits) is None:
                    return frozenset(ids)
                return None
            ids |= await asked_ids(self._waits, status)
        raise AssertionError("counting ends never")

    async def place(self, name: CallName, payload: bytes, meta: CallMeta) -> LedgerPlace:
        """Return the place of the call, or the place where it can begin; the newest arguments count.

        If a later call with other arguments has begun, an earlier one stays denied.

        Raises:
            CallNameError: another call has the name.
        """
        edited: RunStatus | None = None
        denied: LedgerPlace | None = None
        for edits in count():
            run_id = name.run_id(meta, edits)
            await self._waits.start(run_id)
            try:
                status = await self._waits.engine.status(run_id)
            except UnknownRunError:
                return LedgerPlace(run_id=run_id, edited=edited)
            if await self._has_not_begun(status):
                edited = None
                continue
            stored = call_of(status.input)  # type: ignore[arg-type]  # as it was passed to the loop
            is_this = (stored["tool"], stored["arguments"]) == (self._tool.spec.id, payload.decode())
            edited = None if _was_edited(status) else status
            if is_this and edited is not None:
                return LedgerPlace(run_id=run_id, is_taken=True)
            if is_this:
                denied = LedgerPlace(run_id=run_id, is_taken=True)
            may_edit = stored["tool"] == self._tool.spec.id and not name.is_idempotency_key
            if edited is not None and not (may_edit and await self._is_unapproved(status)):
                if denied is not None:
                    return denied
                raise CallNameError(
                    f"the call {name.call_id!r} was made before with another tool or other arguments; "
                    "nothing was executed"
                )
        raise AssertionError("counting ends never")

    async def _has_not_begun(self, run: RunStatus) -> bool:
        """Return whether a run ended before its call began, because it was rejected or canceled.

        There is no result to keep, and the call can be repeated.
        """
        if run.state == "completed":
            return is_of_not_begun(run.output)  # type: ignore[arg-type]  # as the loop returns it
        if not run.is_over:
            return False
        events = [event async for _, event in self._waits.engine.events(run.run_id, follow=False)]
        ends = [event["status"] for event in events if event.get("type") == "tool_end"]
        has_child = any(event.get("type") == "agent_run_started" for event in events)
        return ends[-1:] == ["error"] and not has_child

    async def _is_unapproved(self, run: RunStatus) -> bool:
        """Return whether a call has not begun, because it waits for an approval by design or policy."""
        for wait in run.awaiting:
            record = await self._waits.record(run.run_id, wait.op, wait.about)
            call = None if record is None else record.call
            if call is None or call.kind != "confirmation" or call.is_asked_by_tool or call.answers:
                return False
        return run.state == "waiting" and bool(run.awaiting)


def canonical_arguments(tool: RegisteredTool, arguments: Arguments, limits: Limits) -> bytes | None:
    """Return the canonical arguments; None if they do not fit, so that nothing is executed."""
    codec = tool.spec.payload
    try:
        return codec.encode(codec.decode_null_as_absent(arguments_json(arguments), limits))
    except ToolValidationError:
        return None


def _was_edited(run: RunStatus) -> bool:
    """Return whether the question of a call was canceled because its arguments were edited."""
    outcome: Any = run.output
    if run.state != "completed" or outcome["status"] != "denied":
        return False
    error = outcome["error"]
    return (error.get("code"), error["message"]) == (CANCELED, EDITED)
