"""`toolgen approve`: answers a suspended call, through the runtime that the project configures."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import field, replace
from datetime import UTC, datetime
from typing import Any, Final

from toolgen.contract.credentials import Credential
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.printable import printable, printable_lines, visible
from toolgen.contract.record import frozen_record
from toolgen.engines import Engine
from toolgen.runtime import Runtime, Suspended, ToolResult
from toolgen.runtime.public_views import hiding_waiting, shown_document
from toolgen.waiting.answers import cancel_answer
from toolgen.waiting.errors import TamperedSuspensionError, UnsealedSuspensionError
from toolgen.waiting.subjects import planner_question

from .call import (
    PENDING_WORK,
    RESOLUTIONS,
    describe_suspended,
    pending_work_of,
    show_redacted,
    summarize_suspended,
    suspended_record,
    waiting_text,
)
from .config import Project
from .credentials import is_asked_for, read_credential
from .runtime import (
    ELSEWHERE_S,
    NOT_OVER,
    collect_method_faults,
    durable_engine,
    not_over_message,
    open_engine,
    specs_of,
    wait_message,
)
from .terminal import Listing, is_confirmed, show_line, typed_json, user_name

_MOST_SEARCHED: Final = 200
"""Maximum number of runs that are searched for the id of an answered call."""
_SHORTEST: Final = 4
"""Minimum number of characters of an abbreviated id."""
_MOST_NAMED: Final = 5
_GRANT_HINT: Final = """quote it for the shell: --grant '{"uses": 5, "expires_s": 3600}'"""


@frozen_record
class AnswerOptions:
    """The answer that the options of the command contain."""

    value: Json
    is_complete: bool = False
    """Whether the value is the complete answer; otherwise it answers a confirmation."""
    is_sure: bool = False
    """Whether the answer needs no confirmation at the terminal."""
    cancel_reason: str | None = None
    """Reason of a cancellation; None if this is an answer."""
    by: str = ""
    """Name of the person who answers."""
    scope: str | None = None
    """Owner of the credential: `session`, `user` or `service`."""
    credential: Credential | None = field(default=None, repr=False)
    """Credential that the person entered; it is not part of the answer."""


async def answer_call(project: Project, name: str, answer: AnswerOptions, session: str | None) -> int:
    """Show a suspended call or a planner's question, answer it, and print the result.

    Return the exit code: 1 if the call failed or its outcome is unknown, and 3 if the answer was accepted but
    the call is suspended again or still running. For a planner's question, return the exit code of `run` and
    print the answer of the turn.

    `name` is the token or the id of the call. At a terminal, the person confirms the call after seeing all
    of it. If another process executes the runs, it executes the call too. Otherwise this process executes the
    call, and its run until that ends or waits.

    Raises:
        ToolgenError: no call has the name, or the answer does not fit; nothing was executed.
    """
    async with open_engine(project) as (runtime, engine):
        suspended = await _find_suspended(runtime, name, session)
        print(describe_suspended(suspended), file=sys.stderr)
        run_id, answer = suspended.call.run_id, _with_credential(suspended, answer)
        is_approval = suspended.kind == "confirmation" and suspended.token
        if answer.cancel_reason is None and not (is_approval or answer.is_complete):
            what = "the result of work" if suspended.kind == "pending" else "an answer"
            raise ToolgenError(
                f"this waits for {what}, not for an approval",
                hint="add --answer JSON, or cancel the call with --cancel",
            )
        if not answer.is_sure and not is_confirmed("run it?", "answered"):
            print("the call was not answered; to deny it, add --deny", file=sys.stderr)
            return 1
        if not suspended.token:
            return await _answer_planner(runtime, engine, suspended, answer)
        async with hiding_waiting(runtime, suspended.id):
            with collect_method_faults() as faults, redirect_stdout(sys.stderr):
                await runtime.runs.start(run_id)
                if engine.is_worker:
                    await engine.settled(run_id)  # a stalled run gets no answer
                else:
                    print(wait_message(engine), file=sys.stderr)
                result = await _deliver(runtime, suspended, answer, session, is_here=engine.is_worker)
            specs = specs_of(runtime, result.tool)
            shown = shown_document(result, specs[0] if specs else None)
        _show(result, shown, faults, run_id)
        if result.status == "running":
            print(not_over_message(engine), file=sys.stderr)
        if engine.is_worker:
            await _run_to_end_or_wait(engine, run_id)
    return _exit_code(result)


def _exit_code(result: ToolResult) -> int:
    """Return the exit code for the result of an answered call."""
    if result.status in ("suspended", "running"):
        return NOT_OVER
    return 0 if result.status in ("ok", "denied", "pending") else 1


def _with_credential(suspended: Suspended, answer: AnswerOptions) -> AnswerOptions:
    """Return the answer with the credential that the call needs, unless the options contain an answer."""
    if not is_asked_for(suspended) or answer.cancel_reason is not None or answer.value != {"approved": True}:
        return answer
    return replace(answer, credential=read_credential(suspended), is_complete=True, is_sure=True)


async def _answer_planner(
    runtime: Runtime, engine: Engine, question: Suspended, answer: AnswerOptions
) -> int:
    """Answer the question of a planner, or cancel its run; print the end of the turn, as `run` does."""
    from .conversing import show_turn
    from .operations import agents_in
    from .runs import wait_for_status

    agents, top = agents_in(runtime), question.run_id.partition("/")[0]
    facts: Any = (await engine.status(question.run_id)).input
    session = facts["facts"]["session_id"]
    question = replace(question, id=question.id.removeprefix(f"{question.run_id}:"))
    with collect_method_faults() as faults, redirect_stdout(sys.stderr):
        await runtime.runs.start(top)
        if engine.is_worker:
            await engine.settled(question.run_id)  # a stalled run gets no answer
        if answer.cancel_reason is None:
            handle = agents.client(question.tool).handle(question.run_id, session_id=session)
            await handle.answer(question, answer.value, by=answer.by)
        else:
            await runtime.runs.cancel(question.run_id, answer.cancel_reason)
        await wait_for_status(engine, top, engine.settled)
    for line in faults:
        print(line, file=sys.stderr)
    agent = (await agents.snapshot(top)).agent
    return show_turn(runtime, await agents.client(agent).handle(top, session_id=session).output())


async def _deliver(
    runtime: Runtime, suspended: Suspended, answer: AnswerOptions, session: str | None, *, is_here: bool
) -> ToolResult:
    """Deliver the answer and return the result of the call, which this process executes if `is_here`."""
    value = answer.value if answer.cancel_reason is None else cancel_answer(answer.cancel_reason)
    wait_s = None if is_here else ELSEWHERE_S
    token, credential, by = suspended.token, answer.credential, answer.by
    if credential is None:
        return await runtime.suspensions.answer(token, value, session_id=session, by=by, wait_s=wait_s)
    return await runtime.suspensions.give(
        token, credential, scope=answer.scope, session_id=session, by=by, wait_s=wait_s
    )


def _show(result: ToolResult, shown: bytes, faults: Sequence[str], run_id: str) -> None:
    """Print the redacted JSON of the model to stdout, and further information to stderr."""
    for line in faults:
        print(line, file=sys.stderr)
    for suspended in result.suspensions:
        print(waiting_text(suspended), file=sys.stderr)
    for work in pending_work_of(result):
        print(f"{PENDING_WORK}\n{waiting_text(work)}", file=sys.stderr)
    if result.json:
        show_redacted(result, shown)
        sys.stdout.flush()
    elif result.status == "running":
        print(printable_lines(result.display), file=sys.stderr)
        print(f"wait for it with: toolgen runs resume {printable(run_id)}", file=sys.stderr)
    if result.status == "unknown":
        call = printable(f"{run_id} {result.tool_call_id}".rstrip())
        print(
            f"the outcome is unknown; record it with: toolgen runs resolve {call}{RESOLUTIONS}",
            file=sys.stderr,
        )


async def _run_to_end_or_wait(engine: Engine, run_id: str) -> None:
    """Execute the run of a call, and the run that it belongs to, until both end or wait.

    If the command ended earlier, it would interrupt the next call of the run.
    """
    with redirect_stdout(sys.stderr):
        for id_ in dict.fromkeys([run_id, run_id.partition("/")[0]]):
            await engine.settled(id_)


async def _find_suspended(runtime: Runtime, name: str, session: str | None) -> Suspended:
    """Return the suspended call with this token or id, or the only one whose id begins with it.

    Raises:
        ToolgenError: no call matches, or several ids begin with it.
    """
    if name.startswith("s_"):
        return await runtime.suspensions.show(name, session_id=session)
    begins = [
        each
        for each in await _waiting(runtime, session)
        if each.id == name or (len(name) >= _SHORTEST and each.id.startswith(name))
    ]
    found = [each for each in begins if each.id == name] or begins
    if len(found) > 1:
        ids = ", ".join(each.id for each in found[:_MOST_NAMED])
        raise ToolgenError(
            f"{len(found)} suspended calls have ids that begin with {name!r}: {ids}",
            hint="write the whole id",
        )
    if found:
        return found[0]
    for call in await runtime.suspensions.check():
        if call.id == name and call.state == "tampered":
            raise TamperedSuspensionError(call.run_id)
        if call.id == name and call.state == "unsealed":
            raise UnsealedSuspensionError(call.run_id)
    if (run_id := await _run_of(durable_engine(runtime), name, session)) is not None:
        raise ToolgenError(
            f"{name!r} was already answered, or can no longer be answered",
            hint=f"see its run: toolgen runs show {printable(run_id)}",
        )
    raise ToolgenError(
        f"no suspended call has the token or id {name!r}",
        hint="list the suspended calls with `toolgen approve`, or write the whole token",
    )


async def _waiting(runtime: Runtime, session: str | None) -> list[Suspended]:
    """Return the suspended calls, then the questions of planners, each oldest first."""
    engine, questions = durable_engine(runtime), list[Suspended]()
    for wait in await engine.open_waits(session=session, limit=sys.maxsize):
        if (
            planner_question(wait.about) is None
            or wait.fault
            or await runtime.suspensions.at(wait) is not None
        ):
            continue
        from toolgen.agents.output import awaiting_of  # imported only if a planner has a question

        run_input: Any = (await engine.status(wait.run_id)).input
        question = awaiting_of(wait.run_id, wait.about)
        id_, agent = f"{wait.run_id}:{question.id}", run_input["facts"]["agent"]
        questions.append(replace(question, id=id_, tool=agent))
    return [*await runtime.suspensions.list(session), *questions]


async def _run_of(engine: Engine, id_: str, session: str | None) -> str | None:
    """Return the newest run in which the call was suspended; None if there is none."""
    for status in await engine.list_runs(session=session, limit=_MOST_SEARCHED):
        document: Any = status.input
        if isinstance(document, dict) and (document.get("frozen") or {}).get("id") == id_:
            return status.run_id
        async for _, event in engine.events(status.run_id, follow=False):
            if id_ in (event.get("suspension_id"), event.get("answered_id")):
                return status.run_id
    return None


async def show_waiting(project: Project, session: str | None, format: Listing) -> int:
    """Print the suspended calls and questions, oldest first, each with its id."""
    async with open_engine(project) as (runtime, engine):
        waiting = await _waiting(runtime, session)
        for suspended in waiting:
            if format == "json":
                show_line(suspended_record(suspended))
            else:
                print(summarize_suspended(suspended))
        suspects = [call for call in await runtime.suspensions.check() if call.state != "sealed"]
        going_on = await engine.list_runs(state="running", limit=1)
        asking = await engine.list_runs(state="waiting", session=session, limit=1)
    hint = "answer one with: toolgen approve ID"
    print(hint if waiting else "nothing to approve or answer", file=sys.stderr)
    if suspects:
        print("other calls are unsealed or tampered with; see them with: toolgen runs check", file=sys.stderr)
    if asking and not (waiting or suspects):
        print("see paused runs with: toolgen runs list --status waiting", file=sys.stderr)
    if going_on and not waiting:
        print("see running or interrupted runs with: toolgen runs list --status running", file=sys.stderr)
    return 0


async def list_grants(project: Project, session: str | None, format: Listing) -> int:
    """Print the grants that are neither expired nor revoked, the newest first."""
    async with open_engine(project) as (runtime, _):
        grants = await runtime.suspensions.grants(session)
    for grant in grants:
        if format == "json":
            show_line(grant.shown())
            continue
        until = f"{datetime.fromtimestamp(grant.expires_at, UTC):%Y-%m-%d %H:%M} UTC"
        uses = f"{grant.used} of {grant.uses} uses until {until}"
        facts = (grant.id, grant.tool, f"session {grant.session_id}", uses, grant.approved_by)
        print("  ".join(map(printable, facts)), visible(str(grant.shown()["covers"])), sep="  ")
    if not grants:
        print("no active grants", file=sys.stderr)
    return 0


async def revoke_grant(project: Project, grant_id: str, by: str) -> int:
    """Revoke a grant, and print its id.

    Raises:
        UnknownGrantError: no grant has the id.
    """
    async with open_engine(project) as (runtime, _):
        await runtime.suspensions.revoke(grant_id, by=by)
    print(printable(f"revoked {grant_id}"))
    return 0


def answer_of(
    *,
    deny: bool,
    message: str,
    payload: str,
    answer: str,
    cancel: bool = False,
    is_sure: bool = False,
    by: str = "",
) -> AnswerOptions:
    """Return the answer in the options; `by` is by default the user of the machine.

    Raises:
        ToolgenError: a text is not JSON, or the options contradict one another.
    """
    by = by or user_name()
    if is_sure and (deny or cancel):
        raise ToolgenError(
            f"--yes cannot be combined with {'--cancel' if cancel else '--deny'}",
            hint="leave out --yes, which approves the call",
        )
    if cancel:
        if deny or payload or answer:
            raise ToolgenError(
                "--cancel cannot be combined with an answer", hint="leave out --deny, --payload, --answer"
            )
        return AnswerOptions(value=None, is_sure=True, cancel_reason=message, by=by)
    if answer:
        if deny or message or payload:
            raise ToolgenError(
                "--answer cannot be combined with other answer options",
                hint="leave out --deny, --message and --payload",
            )
        return AnswerOptions(value=_json("--answer", answer), is_complete=True, is_sure=True, by=by)
    document: dict[str, Json] = {"approved": not deny}
    if message:
        document["message"] = message
    if payload:
        document["payload"] = _json("--payload", payload)
    return AnswerOptions(value=document, is_sure=deny or is_sure, by=by)


def with_grant(answer: AnswerOptions, grant: str) -> AnswerOptions:
    """Return the approval with the grant in the JSON of `--grant`.

    Raises:
        ToolgenError: the text is not JSON, or the answer is not an approval.
    """
    value = answer.value
    if not isinstance(value, dict) or value.get("approved") is not True or answer.is_complete:
        raise ToolgenError(
            "--grant can only be combined with an approval",
            hint="leave out --deny, --cancel and --answer",
        )
    return replace(answer, value={**value, "grant": _json("--grant", grant, _GRANT_HINT)})


def _json(option: str, text: str, hint: str = "") -> Json:
    try:
        return typed_json(text)  # type: ignore[no-any-return]  # JSON
    except ValueError as error:
        quoted = shlex.quote(json.dumps(text, ensure_ascii=False))
        quoting = f"quote it for the shell; a JSON string keeps its own quotes: {option} {printable(quoted)}"
        raise ToolgenError(f"{option} is not JSON: {error}", hint=hint or quoting) from error
