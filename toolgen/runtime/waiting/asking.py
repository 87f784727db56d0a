"""What a run and the runs below it ask: suspended calls, and the questions of planners below a direct call.

Who made a call of an agent's tool gets each of them with its token, and knows by `Suspended.outer` which of
its own calls waits for the answer. A planner's question of a run that a client of an agent started has no
token: its client answers it by the handle of the run.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic_core import to_json

from toolgen.contract.json_value import Json
from toolgen.contract.limits import Limits
from toolgen.contract.logs import logger

from ..call.frame import RuntimeServices
from ..call.result_encoding import portable_text
from ..call_meta import CallMeta
from ..engine import RunStatus, UnknownRunError, WaitOverError, WaitStatus
from ..results import OuterCall, Suspended
from .answer_schema import answer_issues
from .answers import answer_key, check_answer_limits, without_optional_nulls
from .call_names import CALL
from .errors import (
    BadAnswerError,
    ConflictingAnswerError,
    ForeignAnswerError,
    LateAnswerError,
    NoEngineError,
    TamperedSuspensionError,
    UnknownSuspensionError,
    UnsealedSuspensionError,
)
from .frozen import FrozenCall, SealedCall, TokenClaims
from .loop import CallDocument, call_of
from .wait_registry import WaitRegistry

log = logger("toolgen.runtime")

_CHILD: Final = "child:"
"""What the key of the operation begins with by which a run has another agent answer a call."""


def require_waits(services: RuntimeServices) -> WaitRegistry:
    """Return what a runtime has of calls that wait.

    Raises:
        NoEngineError: none of its calls can.
    """
    if services.waits is None:
        raise NoEngineError
    return services.waits


def question_claims(run_id: str, about: Mapping[str, Any], session_id: str = "") -> TokenClaims:
    """Return the claims to which the seal and the token of a planner's question are bound."""
    seen = json.dumps([about["kind"], about["question"], dict(about["answer_schema"])], sort_keys=True)
    digest = hashlib.sha256(seen.encode()).hexdigest()
    return TokenClaims(run_id, f"wait:{about['id']}", session_id, 0.0, digest)


def planner_question(about: Json) -> dict[str, Any] | None:
    """Return the question of a planner that a wait is about; None where it is about something else."""
    return about if isinstance(about, dict) and "answer_schema" in about else None


def top_run(run_id: str) -> str:
    """Return the run of the direct call that waits for a run, by their ids; the run itself where none does.

    Work that was acknowledged is waited for by none, although its id begins with that of the run.
    """
    top, *below = run_id.split("/")
    is_below = top.startswith(CALL) and all(part.startswith(_CHILD) for part in below)
    return top if is_below else run_id


async def outer_call(waits: WaitRegistry, run_id: str) -> tuple[str, CallDocument] | None:
    """Return the direct call that waits for a run, with the id of its own run; None where none does."""
    top = top_run(run_id)
    if not top.startswith(CALL) or "/" in top:
        return None
    try:
        given: Any = (await waits.engine.status(top)).input
    except UnknownRunError:
        return None
    return (top, call_of(given)) if "facts" not in given and given.keys() & {"call", "frozen"} else None


def question_order(asked: Suspended) -> tuple[bool, str, str, str]:
    """Return the place of a question among those of a direct call: a person's before work, outer runs first.

    It is the same in every process, so that all of them mean the same by the first question of a call.
    """
    return asked.kind == "pending", asked.run_id, asked.tool_call_id, asked.id


async def open_questions(waits: WaitRegistry, status: RunStatus, call: CallDocument) -> tuple[Suspended, ...]:
    """Return what the run of a direct call and those below it ask, in the order of `question_order`.

    Raises:
        SuspensionError: as `WaitRegistry.record`.
    """
    found = [
        asked
        for wait in status.awaiting
        if (asked := await _suspended(waits, status.run_id, wait.op, wait.about, call)) is not None
    ]
    for child in status.children:
        below = await waits.engine.status(child)
        if not below.is_over:
            found += await open_questions(waits, below, call)
    return tuple(sorted(found, key=question_order))


async def suspended_calls(waits: WaitRegistry, session_id: str | None) -> tuple[Suspended, ...]:
    """Return all that waits under a token, oldest first; of one session where it is given."""
    now, found = waits.options.clock(), []
    for wait in await waits.engine.open_waits(session=session_id, limit=sys.maxsize):
        try:
            if wait.fault:
                raise TamperedSuspensionError(wait.run_id)
            asked = await suspended_at(waits, wait.run_id, wait.op, wait.about)
        except (TamperedSuspensionError, UnsealedSuspensionError) as error:
            log.warning("the wait %s is not listed: %s; %s", wait.op, error.message, error.hint)
            continue
        if asked is not None and (not asked.expires_at or asked.expires_at > now):
            found.append(asked)
    return tuple(found)


async def suspended_at(waits: WaitRegistry, run_id: str, op: str, about: Json) -> Suspended | None:
    """Return what waits at an operation of a run; None where it has no token.

    Raises:
        SuspensionError: as `WaitRegistry.record`.
    """
    outer = await outer_call(waits, run_id) if "/" in run_id else None
    return await _suspended(waits, run_id, op, about, None if outer is None else outer[1])


async def _suspended(
    waits: WaitRegistry, run_id: str, op: str, about: Json, call: CallDocument | None
) -> Suspended | None:
    record = await waits.record(run_id, op, about)
    outer = None if call is None or "/" not in run_id else _outer(waits, run_id, call)
    if record is not None:
        asked = waits.suspended(record)
        return asked if outer is None else replace(asked, outer=outer)
    question = planner_question(about)
    if question is None or outer is None or call is None:
        return None
    meta = call["meta"]
    return Suspended(
        token=waits.sealer.issue(question_claims(run_id, question, meta["session_id"])),
        id=f"{run_id}:{question['id']}",  # runs give the same ids to theirs
        kind="input",
        tool=outer.tool,
        question=question["question"],
        preview="",
        answer_schema=question["answer_schema"],
        expires_at=0.0,
        run_id=run_id,
        requested_by=meta.get("requested_by", ""),
        reason=question.get("reason", ""),
        outer=outer,
    )


def _outer(waits: WaitRegistry, run_id: str, call: CallDocument) -> OuterCall:
    meta = CallMeta(**call["meta"])
    return OuterCall(
        run_id=run_id.partition("/")[0],
        tool=call["tool"],
        tool_call_id=meta.tool_call_id,
        arguments_mac=waits.arguments_mac(call["tool"], call["arguments"].encode(), meta),
    )


async def answer_question(
    waits: WaitRegistry, limits: Limits, run_id: str, about: Mapping[str, Any], answer: Json, by: str
) -> None:
    """Give the answer to a question of a planner to its run; `by` says who answers.

    Raises:
        SuspensionError: the answer is not taken; the class says why.
    """
    check_answer_limits(answer, limits)
    answer = without_optional_nulls(about["answer_schema"], answer)
    issues = answer_issues(about["answer_schema"], answer, limits.issues)
    if issues:
        raise BadAnswerError(f"the answer does not fit: {'; '.join(map(str, issues))}", issues)
    text = portable_text(answer) if isinstance(answer, str) else to_json(answer).decode()
    ticket = question_claims(run_id, about)
    sealed = waits.sealer.seal(ticket, text, by)
    try:
        receipt = await waits.engine.answer(run_id, ticket.op, sealed, key=answer_key(text))
    except WaitOverError:
        raise LateAnswerError("the run is over", hint="start another turn") from None
    if receipt == "conflict":
        raise ConflictingAnswerError


@dataclass(frozen=True, slots=True)
class OpenedToken:
    """What a token names."""

    run_id: str
    op: str
    status: WaitStatus
    id: str
    record: SealedCall | None
    """None for a planner's question."""
    question: Mapping[str, Any]
    """Of a planner; empty for a call."""

    @property
    def is_below(self) -> bool:
        """Whether it is asked by the run of an agent, and not a call by itself."""
        return "/" in self.run_id

    @property
    def frozen(self) -> FrozenCall | None:
        return None if self.record is None else self.record.call


async def open_token(waits: WaitRegistry, token: str, session_id: str | None) -> OpenedToken:
    """Open a token and return what it names.

    Raises:
        UnknownSuspensionError: nothing did.
        ForeignAnswerError: it belongs to another session.
        TamperedSuspensionError: the run has a journal that differs from what was asked.
        UnsealedSuspensionError: nobody knows who wrote what the journal keeps of it.
    """
    ticket = waits.sealer.open(token)
    if session_id is not None and session_id != ticket.session_id:
        raise ForeignAnswerError("this call waits in another session", hint="answer it there")
    try:
        status = await waits.engine.wait_status(ticket.run_id, ticket.op)
        if status is None:  # its run was started by a client, and no worker was there yet
            status = WaitStatus(about=(await waits.engine.status(ticket.run_id)).input, is_open=True)
        record = await waits.record(ticket.run_id, ticket.op, status.about)
    except UnknownRunError:
        raise unknown_suspension() from None
    if record is not None and record.claims == ticket:
        return OpenedToken(ticket.run_id, ticket.op, status, record.call.id, record, {})
    question = planner_question(status.about)
    if question is None or question_claims(ticket.run_id, question, ticket.session_id) != ticket:
        raise TamperedSuspensionError(ticket.run_id)
    return OpenedToken(ticket.run_id, ticket.op, status, question["id"], None, question)


def unknown_suspension() -> UnknownSuspensionError:
    return UnknownSuspensionError(
        "no suspended call has this token any more", hint="its run is over and forgotten"
    )
