"""The ledger of calls that a peer may make again, such as a framework that runs a node of a graph again.

It has no store: such a call is a run of the loop `waiting_call` whose id follows from the name of the call.
Engines start a run of an id once, join it, keep its result as long as they keep runs, and say of one whose
process ended that its outcome is unknown.
"""

from __future__ import annotations

from itertools import count
from typing import Any, Final

from pydantic_core import from_json

from toolgen.calls.call import CallMeta, CallName, CallNameError
from toolgen.calls.codec import Arguments, arguments_json
from toolgen.calls.context import set_idempotency_key
from toolgen.calls.errors import RuntimeClosedError, ToolValidationError
from toolgen.calls.results import Suspended, ToolResult
from toolgen.calls.steps.dispatch import dispatch, failed_call_result
from toolgen.calls.steps.frame import Frame
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.contract.limits import Limits
from toolgen.contract.names import CANCELED
from toolgen.contract.record import record
from toolgen.runs import EngineClosedError, RunStatus, UnknownRunError

from .asking import asked_ids, open_questions
from .call_results import is_of_not_begun
from .call_runs import CallRuns
from .errors import SuspensionError
from .loop import call_of
from .unfit import unverified_error
from .wait_registry import WaitRegistry
from .waits import Waits

_EDITED: Final = "the call was made again with other arguments"
"""Why the question of a call was taken back whose arguments somebody edited."""


@record
class _Place:
    """Where a named call is in the ledger, or is to be."""

    run_id: str
    is_taken: bool = False
    """Whether this very call took the place."""
    edited: RunStatus | None = None
    """The run of the same call with the arguments before they were edited; its question is still open."""


class Ledger:
    """The named calls of one runtime."""

    def __init__(self, limits: Limits, waits: WaitRegistry, runs: CallRuns, waiting: Waits) -> None:
        self._limits = limits
        self._waits = waits
        self._runs = runs
        self._waiting = waiting

    async def result(self, name: CallName, frame: Frame) -> ToolResult:
        """Return the result of a named call: kept, of one that runs already, or of one that is made now.

        One that waits is suspended, with its open question. One that may run twice has a run once it asks
        somebody, any other one from its beginning.

        Raises:
            Exception: the engine, or its store, cannot be used; the call can be made again under its name.
        """
        tool, meta = frame.tool, frame.meta
        payload = canonical_arguments(tool, frame.arguments, self._limits)
        if payload is None:
            return await dispatch(frame)
        try:
            if self._waits.refuses:
                raise RuntimeClosedError(tool.spec.id)
            place = await self._place(name, tool, payload, meta)
            if place.edited is not None:
                await self._take_back(name, place.edited)
        except CallNameError as error:
            return frame.error_result(error)
        except SuspensionError as error:
            return frame.error_result(unverified_error(error))
        except (EngineClosedError, RuntimeClosedError) as error:
            return failed_call_result(tool, error, meta, frame.services)
        if place.is_taken or tool.runs_once or name.is_idempotency_key:
            return await self._runs.execute(
                tool,
                payload,
                meta,
                place.run_id,
                is_detached=name.is_detached,
                is_made_again=place.is_taken,
            )
        set_idempotency_key(frame.context, name.idempotency_key(meta, tool.spec.id, payload))
        result = await dispatch(frame)
        if result.delegated is None and result.frozen is None:
            return result
        return await self._runs.later(tool, payload, result, meta, place.run_id, is_detached=name.is_detached)

    async def question(
        self, name: CallName, tool: RegisteredTool, arguments: Arguments, meta: CallMeta
    ) -> Suspended | None:
        """Return the open question of a named call with these arguments; None where it asks nothing now.

        Nor does one whose record is damaged, or not sealed as it stands, or another one that has its name:
        its `result` says so.

        Raises:
            Exception: the engine, or its store, cannot be used, so that nobody knows.
        """
        payload = canonical_arguments(tool, arguments, self._limits)
        if payload is None:
            return None
        try:
            place = await self._place(name, tool, payload, meta)
            if not place.is_taken:
                return None
            status = await self._waits.engine.status(place.run_id)
            questions = await open_questions(self._waits, status, call_of(status.input))  # type: ignore[arg-type]
        except (CallNameError, EngineClosedError, SuspensionError, UnknownRunError):
            return None
        return next((question for question in questions if question.kind != "pending"), None)

    async def question_ids(
        self, name: CallName, tool: RegisteredTool, arguments: Arguments, meta: CallMeta
    ) -> frozenset[str] | None:
        """Return the ids of all questions that a named call has asked, also before its arguments were edited.

        None if the call has no record, and is one that has a record from its beginning.
        """
        ids: set[str] = set()
        for edits in count():
            run_id = name.run_id(meta, edits)
            await self._waits.start(run_id)
            try:
                status = await self._waits.engine.status(run_id)
            except UnknownRunError:
                needs_none = bool(edits) or not (tool.runs_once or name.is_idempotency_key)
                if needs_none or canonical_arguments(tool, arguments, self._limits) is None:
                    return frozenset(ids)
                return None
            ids |= await asked_ids(self._waits, status)
        raise AssertionError("counting ends never")

    async def _place(self, name: CallName, tool: RegisteredTool, payload: bytes, meta: CallMeta) -> _Place:
        """Return where the call stands, or is to begin: the newest edition of its arguments counts.

        Where that has begun, an earlier one stays denied.

        Raises:
            CallNameError: another call has the name.
        """
        edited: RunStatus | None = None
        denied: _Place | None = None
        for edits in count():
            run_id = name.run_id(meta, edits)
            await self._waits.start(run_id)
            try:
                status = await self._waits.engine.status(run_id)
            except UnknownRunError:
                return _Place(run_id=run_id, edited=edited)
            if await self._has_not_begun(status):
                edited = None
                continue
            made = call_of(status.input)  # type: ignore[arg-type]  # as it was given to the loop
            is_this = (made["tool"], made["arguments"]) == (tool.spec.id, payload.decode())
            edited = None if _was_edited(status) else status
            if is_this and edited is not None:
                return _Place(run_id=run_id, is_taken=True)
            if is_this:
                denied = _Place(run_id=run_id, is_taken=True)
            may_edit = made["tool"] == tool.spec.id and not name.is_idempotency_key
            if edited is not None and not (may_edit and await self._is_unapproved(status)):
                if denied is not None:
                    return denied
                raise CallNameError(
                    f"the call {name.call_id!r} was made before, of another tool or with other arguments; "
                    "nothing was executed"
                )
        raise AssertionError("counting ends never")

    async def _has_not_begun(self, run: RunStatus) -> bool:
        """Return whether a run is over whose call never began: there was no room, or it was cancelled before.

        It has no result that could be kept, and the call may be made again.
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
        """Return whether a call has not begun, since it waits for the approval by design or policy."""
        for wait in run.awaiting:
            record = await self._waits.record(run.run_id, wait.op, wait.about)
            call = None if record is None else record.call
            if call is None or call.kind != "confirmation" or call.is_asked_by_tool or call.answers:
                return False
        return run.state == "waiting" and bool(run.awaiting)

    async def _take_back(self, name: CallName, edited: RunStatus) -> None:
        """Take back the question of a call whose arguments were edited.

        Raises:
            CallNameError: somebody has answered it meanwhile.
        """
        for asked in await open_questions(self._waits, edited, call_of(edited.input)):  # type: ignore[arg-type]
            try:
                await self._waiting.cancel(asked.token, _EDITED, wait_s=None)
            except SuspensionError as error:
                raise CallNameError(
                    f"the call {name.call_id!r} was answered, so its arguments stay: {error.message}"
                ) from None


async def unkept_result(name: CallName, frame: Frame, runs: CallRuns) -> ToolResult:
    """Return the result of a call of which nothing is kept but, by its name, its idempotency key."""
    tool, meta = frame.tool, frame.meta
    payload = canonical_arguments(tool, frame.arguments, frame.services.limits)
    if payload is not None:
        set_idempotency_key(frame.context, name.idempotency_key(meta, tool.spec.id, payload))
    result = await dispatch(frame)
    if result.delegated is None:
        return result
    return await runs.later(tool, frame.arguments, result, meta)


def canonical_arguments(tool: RegisteredTool, arguments: Arguments, limits: Limits) -> bytes | None:
    """Return the canonical arguments; None for those that do not fit, with which nothing is executed."""
    codec = tool.spec.payload
    try:
        return codec.encode(codec.decode_lenient(arguments_json(arguments), limits))
    except ToolValidationError:
        return None


def _was_edited(run: RunStatus) -> bool:
    """Return whether the question of a call was taken back because its arguments were edited."""
    outcome: Any = run.output
    if run.state != "completed" or outcome["status"] != "denied":
        return False
    error = from_json(outcome["json"])
    return isinstance(error, dict) and (error.get("code"), error.get("error")) == (CANCELED, _EDITED)
