"""The ledger of calls that a peer can repeat, for example a framework that runs a graph node again.

It has no store: such a call is a run of the loop `waiting_call` whose id is derived from the name of the
call. Engines start a run with an id only once, let callers join it, and keep its result as long as they keep
runs. If the process of a run ended, they report an unknown outcome.
"""

from __future__ import annotations

from toolgen.calls.call import CallName, CallNameError
from toolgen.calls.context import set_idempotency_key
from toolgen.calls.errors import RuntimeClosedError
from toolgen.calls.results import ToolResult
from toolgen.calls.steps.dispatch import dispatch, failed_call_result
from toolgen.calls.steps.frame import Frame
from toolgen.contract.limits import Limits
from toolgen.engines import EngineClosedError, RunStatus

from .asking import open_questions
from .call_runs import CallRuns
from .errors import SuspensionError
from .loop import call_of
from .named_calls import EDITED, NamedCalls, canonical_arguments
from .suspensions import Suspensions
from .unfit import unverified_error
from .wait_registry import WaitRegistry


class Ledger:
    """The named calls of one runtime."""

    def __init__(self, limits: Limits, waits: WaitRegistry, runs: CallRuns, waiting: Suspensions) -> None:
        self._limits = limits
        self._waits = waits
        self._runs = runs
        self._waiting = waiting

    async def result(self, name: CallName, frame: Frame) -> ToolResult:
        """Return the result of a named call: recorded, of the running call, or of a new call.

        If the call waits for a person, the result is suspended, with its open question. A call that can run
        twice gets a run when it asks a question; every other call has one from its beginning.

        Raises:
            Exception: the engine, or its store, cannot be used; the call can be repeated under its name.
        """
        tool, meta = frame.tool, frame.meta
        payload = canonical_arguments(tool, frame.arguments, self._limits)
        if payload is None:
            return await dispatch(frame)
        try:
            if self._waits.refuses:
                raise RuntimeClosedError(tool.spec.id)
            place = await NamedCalls(self._limits, self._waits, tool).place(name, payload, meta)
            if place.edited is not None:
                await self._cancel_question(name, place.edited)
        except CallNameError as error:
            return frame.error_result(error)
        except SuspensionError as error:
            return frame.error_result(unverified_error(error))
        except (EngineClosedError, RuntimeClosedError) as error:
            return failed_call_result(tool, error, meta, frame.services)
        if place.is_taken or not tool.may_repeat or name.is_idempotency_key:
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
        return await self._runs.hand_to_run(
            tool, payload, result, meta, place.run_id, is_detached=name.is_detached
        )

    async def _cancel_question(self, name: CallName, edited: RunStatus) -> None:
        """Cancel the question of a call whose arguments were edited.

        Raises:
            CallNameError: it was answered meanwhile.
        """
        for question in await open_questions(self._waits, edited, call_of(edited.input)):  # type: ignore[arg-type]
            try:
                await self._waiting.cancel(question.token, EDITED, wait_s=None)
            except SuspensionError as error:
                raise CallNameError(
                    f"the call {name.call_id!r} was answered, so its arguments can no longer change: "
                    f"{error.message}"
                ) from None


async def unrecorded_result(name: CallName, frame: Frame, runs: CallRuns) -> ToolResult:
    """Return the result of a call that is not recorded; its name only provides an idempotency key."""
    tool, meta = frame.tool, frame.meta
    payload = canonical_arguments(tool, frame.arguments, frame.services.limits)
    if payload is not None:
        set_idempotency_key(frame.context, name.idempotency_key(meta, tool.spec.id, payload))
    result = await dispatch(frame)
    if result.delegated is None:
        return result
    return await runs.hand_to_run(tool, frame.arguments, result, meta)
