"""Open questions of a run and the runs below it: suspended calls, and planners' questions below direct calls.

The caller of an agent's tool receives each of them with its token, and `Suspended.outer` says which of its
calls waits for the answer. If a client of an agent started the run, a planner's question has no token: the
client answers it through the handle of the run.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic_core import to_json

from toolgen.calls.answer_schema import answer_issues
from toolgen.calls.call import CALL, CallMeta
from toolgen.calls.results import OuterCall, Suspended
from toolgen.contract.json_value import Json
from toolgen.contract.limits import Limits, portable_text
from toolgen.contract.logs import logger
from toolgen.engines import RunStatus, UnknownRunError

from .answers import answer_key, check_answer_limits, without_optional_nulls
from .errors import (
    BadAnswerError,
    ConflictingAnswerError,
    TamperedSuspensionError,
    UnsealedSuspensionError,
)
from .loop import CallDocument, call_of
from .sealing import question_claims
from .sending import send_answer
from .subjects import planner_question, top_run
from .wait_registry import WaitRegistry

log = logger("toolgen.runtime")


async def outer_call(waits: WaitRegistry, run_id: str) -> tuple[str, CallDocument] | None:
    """Return the direct call that waits for a run, with the id of the call's own run; None without one."""
    top = top_run(run_id)
    if not top.startswith(CALL) or "/" in top:
        return None
    try:
        run_input: Any = (await waits.engine.status(top)).input
    except UnknownRunError:
        return None
    return (
        (top, call_of(run_input))
        if "facts" not in run_input and run_input.keys() & {"call", "frozen"}
        else None
    )


def question_order(suspended: Suspended) -> tuple[bool, str, str, str]:
    """Return the sort key of a question of a direct call: questions before pending work, outer runs first.

    It is the same in every process, so that the first question of a call is the same everywhere.
    """
    return suspended.kind == "pending", suspended.run_id, suspended.tool_call_id, suspended.id


async def open_questions(waits: WaitRegistry, status: RunStatus, call: CallDocument) -> tuple[Suspended, ...]:
    """Return the questions of the run of a direct call and the runs below it, ordered by `question_order`.

    Raises:
        SuspensionError: as `WaitRegistry.record`.
    """
    questions = [
        question
        for wait in status.awaiting
        if (question := await _suspended(waits, status.run_id, wait.op, wait.about, call)) is not None
    ]
    for child in status.children:
        below = await waits.engine.status(child)
        if not below.is_over:
            questions += await open_questions(waits, below, call)
    return tuple(sorted(questions, key=question_order))


async def asked_ids(waits: WaitRegistry, status: RunStatus) -> set[str]:
    """Return the ids of all questions that the run of a direct call and the runs below it have asked.

    Questions of runs that the engine has deleted are missing.
    """
    run_input: Any = status.input
    frozen = run_input.get("frozen") if isinstance(run_input, dict) else None
    ids = {str(frozen["id"])} if frozen else set()
    runs = [status.run_id]
    while runs:
        run_id = runs.pop()
        try:
            events = [event async for _, event in waits.engine.events(run_id, follow=False)]
        except UnknownRunError:
            continue
        for event in events:
            if event["type"] == "agent_run_started":
                runs.append(str(event["child_run_id"]))
            if id_ := str(event.get("suspension_id", "")):
                ids.add(f"{run_id}:{id_}" if event["type"] == "question_asked" else id_)
    return ids


async def suspended_calls(waits: WaitRegistry, session_id: str | None) -> tuple[Suspended, ...]:
    """Return all suspended calls and questions with a token, oldest first; optionally of one session."""
    now, calls = waits.options.clock(), []
    for wait in await waits.engine.open_waits(session=session_id, limit=sys.maxsize):
        try:
            if wait.fault:
                raise TamperedSuspensionError(wait.run_id)
            suspended = await suspended_at(waits, wait.run_id, wait.op, wait.about)
        except (TamperedSuspensionError, UnsealedSuspensionError) as error:
            log.warning("the suspended call at %s is not listed: %s; %s", wait.op, error.message, error.hint)
            continue
        if suspended is not None and (not suspended.expires_at or suspended.expires_at > now):
            calls.append(suspended)
    return tuple(calls)


async def suspended_at(waits: WaitRegistry, run_id: str, op: str, about: Json) -> Suspended | None:
    """Return the suspended call or question at an operation of a run; None if it has no token.

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
        suspended = waits.suspended(record)
        return suspended if outer is None else replace(suspended, outer=outer)
    question = planner_question(about)
    if question is None or outer is None or call is None:
        return None
    meta = call["meta"]
    return Suspended(
        token=waits.sealer.issue(question_claims(run_id, question, meta["session_id"])),
        id=f"{run_id}:{question['id']}",  # the ids are unique only within a run
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
    waits: WaitRegistry,
    limits: Limits,
    run_id: str,
    about: Mapping[str, Any],
    answer: Json,
    by: str,
    session_id: str,
) -> None:
    """Send the answer to a planner's question to its run in this session; `by` names the person.

    Raises:
        SuspensionError: the answer is not accepted; the class says why.
    """
    check_answer_limits(answer, limits)
    answer = without_optional_nulls(about["answer_schema"], answer)
    issues = answer_issues(about["answer_schema"], answer, limits.issues)
    if issues:
        raise BadAnswerError(f"the answer does not fit: {'; '.join(map(str, issues))}", issues)
    text = portable_text(answer) if isinstance(answer, str) else to_json(answer).decode()
    claims = question_claims(run_id, about)
    sealed = waits.sealer.seal(claims, text, by)
    key, hint = answer_key(text), "start another turn"
    receipt = await send_answer(waits, run_id, claims.op, sealed, key=key, session_id=session_id, hint=hint)
    if receipt == "conflict":
        raise ConflictingAnswerError
