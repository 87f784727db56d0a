"""What happens when somebody answers a suspended call."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal

from pydantic_core import to_json

from toolgen.contract.bounds import Bounds
from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger

from ..call.batch import Batch
from ..call.bounds import remember
from ..call.dispatch import dispatch
from ..call.ending import ended
from ..call.entry import Entry
from ..call.failures import denied, failed, failure_of
from ..call.finishing import finish
from ..call.frame import Frame
from ..call.host import Host
from ..calls import CallMeta
from ..errors import ToolError
from ..events.progress import check_told, progress_of
from ..results import Delegated, Suspended, ToolResult
from ..specs import ToolSpec
from .answers import cancel_reason
from .resumption import Resumption, answer_document

if TYPE_CHECKING:
    from .approvals import Claim, Suspensions
    from .suspension import Suspension, SuspensionStore

EntryOf = Callable[[str], Entry | None]
"""Finds a tool by its id."""
Delegate = Callable[[Entry, bytes, Delegated, CallMeta], Awaitable[ToolResult]]
"""Returns the result of a call of an agent's tool: that of a run."""

log = logger("toolgen.runtime")


class Answering:
    """Takes answers for one runtime."""

    def __init__(self, host: Host, store: SuspensionStore | None) -> None:
        self._host = host
        if store is not None:
            from .approvals import Suspensions  # only a runtime that keeps suspensions needs it

            host.suspensions = Suspensions(store, limits=host.limits)

    async def deliver(
        self,
        token: str,
        answer: Json,
        session_id: str | None,
        batch: Batch,
        entry_of: EntryOf,
        delegate: Delegate | None = None,
    ) -> ToolResult:
        """Return the result of the call that waited; as `Runtime.deliver`.

        Without `delegate` the caller has to start the run that an agent's tool asks for.
        """
        suspensions = self._suspensions()

        def spec_of(tool: str) -> ToolSpec[Any, Any] | None:
            entry = entry_of(tool)
            return entry.spec if entry else None

        claim = await suspensions.claim(token, answer, spec_of=spec_of, session_id=session_id)
        if claim.outcome is not None:
            return remembered(claim.suspension, claim.outcome)
        entry = entry_of(claim.suspension.tool)
        assert entry is not None  # the claim has looked for it
        result = await self._answered(entry, claim, batch)
        if result.delegated is not None and delegate is not None:
            waited = claim.suspension
            result = await delegate(entry, waited.payload_json, result.delegated, waited.meta)
        try:
            await suspensions.finish(token, _outcome(result))
        except Exception:
            log.exception("the outcome of suspension %s was not kept", claim.suspension.id)
        return result

    async def progress(
        self, token: str, fraction: float | None, message: str, value: Any, entry_of: EntryOf
    ) -> None:
        """Report how far pending work is; as `Runtime.progress`."""
        check_told(fraction, message)
        suspension = await self._suspensions().find(token)
        if suspension.kind != "pending":
            from .errors import UnknownSuspensionError

            raise UnknownSuspensionError(
                f"nothing is pending under this token: {suspension.tool} waits for an answer",
                hint="deliver the answer",
            )
        entry = entry_of(suspension.tool)
        if entry is not None:
            shown = None if value is None else progress_of(entry.spec, value)
            report = self._host.reports.of(entry.spec, suspension.meta)
            if report is not None:
                report(fraction=fraction, message=message, value=shown)

    async def shown(self, token: str, session_id: str | None) -> Suspended:
        return await self._suspensions().shown(token, session_id)

    async def waiting(self, session_id: str | None) -> tuple[Suspended, ...]:
        return await self._suspensions().open_suspensions(session_id)

    async def _answered(self, entry: Entry, claim: Claim, batch: Batch) -> ToolResult:
        spec, suspension = entry.spec, claim.suspension
        meta, answer = suspension.meta, claim.answer
        result, resumption = self._without_running(spec, claim), None
        if result is None:
            resumption = Resumption(answers=(*suspension.answers, answer_document(suspension, answer)))
        frame = Frame(entry, suspension.payload_json, meta, batch, self._host, resumption=resumption)
        frame.context.report = self._host.reports.of(spec, meta)
        if result is None:
            return await dispatch(frame)
        if self._host.policy is not None:
            remember(result, frame.context.values)
        return await ended(frame, result)

    def _without_running(self, spec: ToolSpec[Any, Any], claim: Claim) -> ToolResult | None:
        """Return the result of a call whose executor does not run again; None where it does."""
        suspension, meta = claim.suspension, claim.suspension.meta
        given: Any = claim.answer
        limit = self._host.limit_of(spec)
        if (canceled := cancel_reason(claim.answer)) is not None:
            return self._taken_back(spec, suspension, canceled)
        match suspension.kind:
            case "confirmation":
                decision: Literal["approved", "denied"] = "approved" if given["approved"] else "denied"
                reason = _refusal(given, "" if given["approved"] else "a person did not approve the call")
                self._host.reports.authorized(spec.id, meta, decision, "person", reason, suspension.id)
                if not given["approved"]:
                    return denied(spec, reason, meta, limit)
                return None
            case "credential":
                if not given["available"]:
                    error = ToolError(_refusal(given, "the credential is missing"))
                    return failed(spec.id, error, meta, limit)
                return None
            case "pending":
                return self._completed(spec, given, meta)
            case "input":
                return None

    def _taken_back(self, spec: ToolSpec[Any, Any], suspension: Suspension, reason: str) -> ToolResult:
        """Return the result of a call that nobody is to answer any more."""
        meta = suspension.meta
        reason = reason or f"{spec.name} was canceled"
        if suspension.kind == "confirmation":
            self._host.reports.authorized(spec.id, meta, "denied", "runtime", reason, suspension.id)
        return denied(spec, reason, meta, self._host.limit_of(spec), code="canceled")

    def _completed(self, spec: ToolSpec[Any, Any], given: Any, meta: CallMeta) -> ToolResult:
        """Return the result of work that was pending."""
        limit = self._host.limit_of(spec)
        try:
            if isinstance(given, dict) and set(given) == {"error"} and isinstance(given["error"], str):
                return failed(spec.id, ToolError(given["error"]), meta, limit)
            return finish(spec, spec.result.decode(to_json(given), self._host.limits), meta)
        except Exception as error:
            return failed(spec.id, failure_of(spec, error), meta, limit)

    def _suspensions(self) -> Suspensions:
        if self._host.suspensions is None:
            from .errors import SuspensionError

            raise SuspensionError(
                "this runtime keeps no suspensions", hint="give it a store: Runtime(suspensions=…)"
            )
        return self._host.suspensions


def _refusal(answer: dict[str, Any], otherwise: str) -> str:
    message = answer.get("message")
    return message if isinstance(message, str) and message else otherwise


def _outcome(result: ToolResult) -> bytes:
    """Return what is kept of a result, to be given again to the same answer."""
    facts: dict[str, Any] = {"status": result.status, "display": result.display, "json": result.json.decode()}
    if result.bounds is not None:
        facts["bounds"] = result.bounds
    return to_json({**facts, "is_final": True} if result.is_final else facts)


def remembered(suspension: Suspension, outcome: bytes | str) -> ToolResult:
    """Return the result of an answer as a store keeps it, without the typed value."""
    kept: dict[str, Any] = json.loads(outcome)
    error = None if kept["status"] in ("ok", "pending", "suspended") else _error(kept["json"])
    return ToolResult(
        tool=suspension.tool,
        status=kept["status"],
        json=kept["json"].encode(),
        tool_call_id=suspension.meta.tool_call_id,
        display=kept["display"],
        error=error,
        bounds=Bounds(**kept["bounds"]) if "bounds" in kept else None,
        is_final=kept.get("is_final", False),
    )


def _error(document: str) -> ToolError:
    """Return the error of a result that failed, of what the model was told."""
    told = json.loads(document)
    return ToolError(str(told["error"]) if isinstance(told, dict) and "error" in told else document)
