"""The runs of grants, and their uses by calls.

A grant is a run that waits until the grant expires or is revoked. Its input is the sealed grant. Each use is
an answer to an operation of the run (`use:1` and so on) that no wait consumes. An engine stores one answer
per operation, so two calls never take the same use, and a call that is executed again finds its own. A
revocation is an answer too. After taking a use, a call checks for a revocation.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from toolgen.calls.argument_patterns import ArgumentPattern
from toolgen.calls.call import FrozenCall
from toolgen.calls.context import set_approved_by
from toolgen.calls.results import GrantLapsedError
from toolgen.calls.resumption import Resumption
from toolgen.calls.specs import ToolSpec
from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.engines import ClockEngine, RunContext, RunStatus, UnknownRunError, WaitOverError
from toolgen.engines.context import GRANT_LOOP, REVOKED, answer_name

from .answers import answer_document
from .errors import LateAnswerError, UnknownGrantError
from .grants import GRANT, Grant, covers, granted_terms, may_approve, pattern_of
from .sending import send_answer
from .wait_registry import WaitRegistry

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from toolgen.calls.results import ToolResult
    from toolgen.calls.steps.frame import Frame

_GRANT_RUN: Final = "grant_"
"""Prefix of the ids of grants."""

log = logger("toolgen.runtime")


def is_grant(run_id: str) -> bool:
    """Return whether a run is a grant."""
    return run_id.startswith(_GRANT_RUN)


async def granted_calls(ctx: RunContext, run_input: Any) -> None:
    """Wait until a grant expires or is revoked."""
    seconds = run_input["expires_at"] - ctx.now()
    await ctx.wait(REVOKED, answer_name(REVOKED), timeout_s=max(seconds, 0.0))


async def store_grant(waits: WaitRegistry, spec: ToolSpec, frozen: FrozenCall, answer: Json, by: str) -> None:
    """Store the grant of an answer that `require_grant` has accepted, once; do nothing without a grant."""
    if (terms := granted_terms(frozen, answer)) is None:
        return
    id_, now, meta, pattern = f"{_GRANT_RUN}{frozen.id}", _now(waits), frozen.meta, pattern_of(terms)
    document: dict[str, Json] = {
        "tool": spec.id,
        "approval_digest": spec.approval_digest,
        "session_id": meta.session_id,
        "requested_by": meta.requested_by,
        "agent": meta.agent,
        "labels": dict(meta.labels),
        "granted_by": by,
        "asked_at": frozen.created_at,
        "granted_at": now,
        "expires_at": now + terms["expires_s"],
        "uses": int(terms["uses"]),
        "pattern": None if pattern is None else pattern.to_json(),
    }
    sealed: Json = {**document, "seal": waits.sealer.mark(GRANT, [id_, document])}
    await waits.engine.start_run(GRANT_LOOP, sealed, run_id=id_, session=meta.session_id)


def _now(waits: WaitRegistry) -> float:
    """Return the time of the host's clock, even if the engine does not trust it."""
    held_s = waits.engine.held_s if isinstance(waits.engine, ClockEngine) else 0.0
    return waits.options.clock() + held_s


def _is_now(waits: WaitRegistry, grant: Grant) -> bool:
    """Return whether a grant is valid now; setting back the clock does not extend it."""
    return grant.granted_at <= _now(waits) < grant.expires_at


async def open_grants(waits: WaitRegistry, session_id: str | None) -> tuple[Grant, ...]:
    """Return the open grants of a session, or of all sessions, newest first."""
    grants = []
    for state in ("running", "waiting"):
        for status in await waits.engine.list_runs(state=state, session=session_id, limit=sys.maxsize):
            if (grant := await _open_grant(waits, status)) is not None:
                grants.append(grant)
    return tuple(sorted(grants, key=lambda grant: grant.granted_at, reverse=True))


async def _open_grant(waits: WaitRegistry, status: RunStatus) -> Grant | None:
    grant = _read(waits, status)
    if grant is None or grant.expires_at <= _now(waits):
        return None
    answer_of = waits.engine.accepted_answer
    if await answer_of(grant.id, REVOKED) is not None:
        return None
    uses = [await answer_of(grant.id, _use(number)) for number in range(1, grant.uses + 1)]
    return replace(grant, used=sum(use is not None for use in uses))


def _read(waits: WaitRegistry, status: RunStatus) -> Grant | None:
    """Return the grant of a run; None for other runs, and for grants without a seal of this host."""
    if not is_grant(status.run_id) or not isinstance(status.input, dict):
        return None
    document = {name: value for name, value in status.input.items() if name != "seal"}
    verdict = waits.sealer.judge(GRANT, [status.run_id, document], status.input.get("seal"))
    if verdict != "sealed":
        log.warning("the grant of run %s is ignored: it is %s", status.run_id, verdict)
        return None
    facts: Any = {name: value for name, value in document.items() if name != "asked_at"}
    pattern = None if facts["pattern"] is None else ArgumentPattern.from_json(facts["pattern"])
    return Grant(**{**facts, "id": status.run_id, "pattern": pattern})


def _use(number: int) -> str:
    return f"use:{number}"


async def find_grant(waits: WaitRegistry, frame: Frame, frozen: FrozenCall) -> Grant | None:
    """Return an open grant that covers a call and has a use left; None without one."""
    for grant in await open_grants(waits, frame.meta.session_id) if frame.meta.session_id else ():
        if not _is_now(waits, grant) or not covers(grant, frame.spec, frame.meta, frozen.payload_json):
            continue
        has_use = grant.used < grant.uses or await _own_use(
            waits, grant, _call_key(frame, frozen.payload_json)
        )
        if has_use and await may_approve(waits, frozen, grant.granted_by):
            may_use = await may_approve(waits, frozen, frozen.meta.requested_by)
            return grant if may_use else None
    return None


def _call_key(frame: Frame, payload_json: bytes) -> str:
    """Return the key of a call among the uses of a grant.

    A call of a run has the same key each time it is executed again. A direct call is never executed again: a
    peer that repeats it, with any ids, makes another call.
    """
    run_id = frame.services.run_id
    facts = [run_id, frame.context.idempotency_key, frame.spec.id, payload_json.decode()]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest() if run_id else secrets.token_hex(16)


async def prepare_use(
    waits: WaitRegistry, frame: Frame, frozen: FrozenCall, ask: Callable[[], Awaitable[ToolResult]]
) -> bool:
    """Return whether a grant covers a call; the call then takes a use immediately before its executor.

    If it gets no use then, because other calls took them or the grant was revoked, it asks.
    """
    grant = await find_grant(waits, frame, frozen)
    if grant is None:
        return False
    record_begin = frame.record_begin

    async def begin() -> None:
        if not await take_use(waits, grant, frame, frozen.payload_json):
            raise GrantLapsedError(await ask())
        emit = frame.services.reports.emit_granted
        emit(frame.spec.id, frame.meta, grant.id, grant.granted_by, grant.approved_by)
        set_approved_by(frame.context, grant.approved_by)
        approval = answer_document(frozen, {"approved": True, GRANT: grant.id})
        frame.resume(Resumption(answers=(*frame.answers, approval), key=frame.context.idempotency_key))
        if record_begin is not None:
            await record_begin()

    frame.record_begin = begin
    return True


async def _own_use(waits: WaitRegistry, grant: Grant, key: str) -> bool:
    uses = [await waits.engine.accepted_answer(grant.id, _use(number)) for number in range(1, grant.uses + 1)]
    return any(isinstance(use, dict) and use.get("key") == key for use in uses)


async def take_use(waits: WaitRegistry, grant: Grant, frame: Frame, payload_json: bytes) -> bool:
    """Take a use of a grant for a call that is about to begin, and return whether the call can run.

    A call that is executed again already has its use. A process that does not execute runs takes none,
    because the use would not be recorded in the witness.
    """
    engine, key, meta = waits.engine, _call_key(frame, payload_json), frame.meta
    await waits.start(grant.id)
    if not engine.is_worker:
        return False
    use: Json = {"key": key, "run_id": meta.run_id, "tool_call_id": meta.tool_call_id, "at": _now(waits)}
    try:
        for number in range(1, grant.uses + 1):
            answer = await engine.accepted_answer(grant.id, _use(number))
            if answer is None:
                facts = (waits, grant.id, _use(number), use)
                receipt = await send_answer(*facts, key=key, session_id=grant.session_id)
                if receipt == "conflict":
                    continue
                if receipt == "recorded":  # and therefore in no witness
                    return False
            elif not isinstance(answer, dict) or answer.get("key") != key:
                continue
            return await engine.accepted_answer(grant.id, REVOKED) is None and _is_now(waits, grant)
    except (UnknownRunError, LateAnswerError):
        pass
    return False


async def revoke_grants(waits: WaitRegistry, session_id: str) -> None:
    """Revoke the grants of a session, even with an unknown seal, and wait for the end of their runs."""
    for state in ("running", "waiting"):
        for status in await waits.engine.list_runs(state=state, session=session_id, limit=sys.maxsize):
            if is_grant(status.run_id):
                await revoke_grant(waits, status.run_id, "")
                await waits.engine.result(status.run_id)


async def revoke_denied(waits: WaitRegistry, spec: ToolSpec, frozen: FrozenCall, by: str) -> None:
    """Revoke the grants that cover a denied call, because it would otherwise run if it is repeated."""
    if spec.confirm is None or not spec.confirm.grantable or not frozen.meta.session_id:
        return
    for grant in await open_grants(waits, frozen.meta.session_id):
        if covers(grant, spec, frozen.meta, frozen.payload_json):
            await revoke_grant(waits, grant.id, by)


async def revoke_grant(waits: WaitRegistry, grant_id: str, by: str, session_id: str | None = None) -> None:
    """Revoke a grant; no effect if it is expired, used up or revoked.

    Raises:
        UnknownGrantError: no grant has the id, or it belongs to another session.
    """
    await waits.start(grant_id)
    try:
        if not is_grant(grant_id):
            raise UnknownGrantError(grant_id)
        status = await waits.engine.status(grant_id)
        if session_id not in (None, status.session):
            raise UnknownGrantError(grant_id)
        await waits.engine.answer(grant_id, REVOKED, {"by": by, "at": _now(waits)}, key=REVOKED)
        log.info("the grant %s was revoked by %s", grant_id, by or "an unnamed person")
    except UnknownRunError:
        raise UnknownGrantError(grant_id) from None
    except WaitOverError:  # it has expired
        pass
