"""`toolgen runs`: lists, shows, resumes, cancels and resolves runs of the configured runtime."""

from __future__ import annotations

import asyncio
import datetime as dt
import sys
from collections.abc import Awaitable, Callable
from contextlib import redirect_stdout, suppress
from typing import Any, Final, Literal

from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.printable import printable, visible
from toolgen.engines import ClockEngine, Engine, RunState, RunStatus
from toolgen.runtime import Runtime
from toolgen.runtime.public_views import shown_document, shown_run
from toolgen.shapes.issues import short
from toolgen.stores import StoreCorruptError
from toolgen.waiting.checking import CheckedCall, waits_of
from toolgen.waiting.once_call import Resolution
from toolgen.waiting.resolving import resolved_ends, unknown_ends
from toolgen.waiting.subjects import planner_question

from .call import RESOLUTIONS, show_redacted
from .config import Project
from .runtime import (
    ELSEWHERE_S,
    NOT_OVER,
    collect_method_faults,
    not_over_message,
    open_engine,
    specs_of,
    wait_message,
)
from .terminal import Listing, show_json, show_line, typed_json
from .timeline import Span, span_of, timeline

_ANSWER: Final = "answer a suspended call with: toolgen approve ID"
_IN_STATE: Final = {None: "is stored", "unknown": "has a call of unknown outcome"}


_PAGE: Final = 100
"""Runs per page that is read from the engine."""
_LONGEST: Final = 2_000
"""Maximum characters of a line about a suspended call; `toolgen runs show` prints all."""


async def list_runs(
    project: Project,
    *,
    state: RunState | Literal["unknown"] | None,
    session: str | None,
    limit: int,
    format: Listing = "text",
) -> int:
    """Print one line for each run, the newest first, then its waits and its calls of unknown outcome.

    As JSON, each line has the same keys as the output of `show_run`, except events. The state `unknown`
    selects runs with a call of unknown outcome.
    """
    async with open_engine(project, checks=True) as (runtime, engine):
        if state == "unknown":
            runs, after = list[RunStatus](), ""
            while len(runs) < limit and (
                page := await engine.list_runs(session=session, after=after, limit=_PAGE)
            ):
                runs += [run for run in page if await _has_unknown(engine, run.run_id)]
                after = page[-1].run_id
            del runs[limit:]
        else:
            runs = list(await runtime.runs.list(state=state, session=session, limit=limit))
        for status in runs:
            if format == "json":
                await _show_record(runtime, engine, runtime.runs.status_of(status))
                continue
            times = None
            with suppress(StoreCorruptError):  # reported below
                times = await _span(engine, status)
            try:
                await _show_line(runtime, engine, runtime.runs.status_of(status), times)
                await _show_unknown(engine, status.run_id)
            except StoreCorruptError as error:  # the other runs can be listed
                print(visible(f"  {error.message}"))
        calls = [call for status in runs for call in await runtime.suspensions.check(waits_of(status))]
    if not runs:
        of = "" if session is None else f" of session {printable(session)}"
        print(f"no run{of} {_IN_STATE.get(state, f'is {state}')}", file=sys.stderr)
    if any(call.state == "sealed" for call in calls) or any(map(_asks, runs)):
        print(_ANSWER, file=sys.stderr)
    if any(call.state != "sealed" for call in calls):
        print("see the unsealed or tampered calls with: toolgen runs check", file=sys.stderr)
    if any(status.state == "running" for status in runs):
        command = "toolgen worker" if engine.caps.has_many_workers else "toolgen runs resume RUN"
        print(f"if no worker executes these runs, continue them with: {command}", file=sys.stderr)
    return 0


async def show_run(project: Project, run_id: str, *, as_json: bool = True) -> int:
    """Print the state of a run, why it failed and its events, as one JSON document, or as a timeline.

    Raises:
        UnknownRunError: no run has the id.
    """
    async with open_engine(project, checks=True) as (runtime, engine):
        status = await runtime.runs.status(run_id)
        log = engine.events(run_id, follow=False)
        events: list[dict[str, Any]] = [{**event, "seq": offset} async for offset, event in log]
        unknown = [end["tool_call_id"] for end in await unknown_ends(engine, run_id)]
        resolved = await resolved_ends(engine, run_id, events)
        times = span_of(events, is_over=status.is_over)
        record = {**_record(status), **(times.record() if times else {})}
        record |= {"events": events, "unknown_calls": unknown, "resolved": resolved}
        shown = shown_run(runtime, record)
        if not as_json:
            await _show_line(runtime, engine, runtime.runs.status_of(status))
            await _show_unknown(engine, run_id)
            for line in timeline(shown["events"], is_over=status.is_over):
                print(visible(line))
    if as_json:
        show_json(shown)
    return 0


def _record(status: RunStatus) -> dict[str, Any]:
    """Return a run as JSON, without facts from its log."""
    return {
        "run_id": status.run_id,
        "status": status.state,
        "error": status.error,
        "session": status.session,
        "awaiting": [{"op": wait.op, "about": wait.about} for wait in status.awaiting],
        "children": list(status.children),
        "input": status.input,
        "output": status.output,
    }


async def _show_record(runtime: Runtime, engine: Engine, status: RunStatus) -> None:
    """Print the record of a run on one line, with the seals of its waits and its calls of unknown outcome.

    If its rows cannot be read, `error` is the reason.
    """
    record, seals = (
        _record(status),
        {call.op: call.state for call in await runtime.suspensions.check(waits_of(status))},
    )
    record["awaiting"] = [{**wait, "seal": seals.get(wait["op"], "")} for wait in record["awaiting"]]
    try:
        record["unknown_calls"] = [end["tool_call_id"] for end in await unknown_ends(engine, status.run_id)]
        times = await _span(engine, status)
        record |= times.record() if times else {}
    except StoreCorruptError as error:  # the other runs can be listed
        record |= {"error": error.message, "unknown_calls": []}
    show_line(shown_run(runtime, record))


async def resume_run(project: Project, run_id: str) -> int:
    """Execute one run in this process until it ends or waits.

    Return 1 if it failed, or if the outcome of one of its calls is unknown.

    If other processes execute the runs, wait for them for 30 seconds; return 3 if the run has not ended
    by then.

    Raises:
        UnknownRunError: no run has the id.
        NondeterminismError: the run is stalled.
    """
    async with open_engine(project) as (runtime, engine):
        await engine.status(run_id)
        with collect_method_faults() as faults, redirect_stdout(sys.stderr):
            await runtime.runs.start(run_id)
            status = runtime.runs.status_of(await wait_for_status(engine, run_id, engine.settled))
        for line in faults:
            print(line, file=sys.stderr)
        await _show_line(runtime, engine, status)
        is_unknown = await _show_unknown(engine, run_id)
        calls = await runtime.suspensions.check(waits_of(status))
        if _asks(status) or any(call.state == "sealed" for call in calls):
            print(_ANSWER, file=sys.stderr)
    if status.state == "failed" or is_unknown:
        return 1
    return NOT_OVER if status.state == "running" else 0


async def cancel_run(project: Project, run_id: str, reason: str) -> int:
    """Cancel a run with its child runs and suspended calls.

    Return 3 if other processes execute the runs, and the run has not ended after 30 seconds.

    Raises:
        UnknownRunError: no run has the id.
    """
    async with open_engine(project, checks=True) as (runtime, engine):
        was_over = (await engine.status(run_id)).is_over
        await runtime.runs.cancel(run_id, reason)
        await runtime.runs.start(run_id)  # after the cancellation, so that the run is not executed here
        status = await engine.status(run_id)
        if not status.is_over:
            status = await wait_for_status(engine, run_id, engine.result)
        await _show_line(runtime, engine, runtime.runs.status_of(status))
    if was_over:
        print("the run had already ended; nothing was canceled", file=sys.stderr)
    return 0 if status.is_over else NOT_OVER


async def resolve_call(project: Project, run_id: str, call: str, resolution: Resolution, by: str) -> int:
    """Store the outcome of a call, and print the JSON that the model gets.

    Raises:
        UnknownRunError: no run has the id.
        ResolveError: the outcome is not accepted.
    """
    async with open_engine(project) as (runtime, _):
        result = await runtime.runs.resolve(run_id, call, resolution, by=by)
        specs = specs_of(runtime, result.tool)
    show_redacted(result, shown_document(result, specs[0] if specs else None))
    return 0


async def wait_for_status(
    engine: Engine, run_id: str, when: Callable[[str], Awaitable[RunStatus]]
) -> RunStatus:
    """Return the status from `when`, or the current one if another process takes too long to reach it."""
    if engine.is_worker:
        return await when(run_id)
    print(wait_message(engine), file=sys.stderr)
    try:
        async with asyncio.timeout(ELSEWHERE_S):
            return await when(run_id)
    except TimeoutError:
        print(not_over_message(engine), file=sys.stderr)
        return await engine.status(run_id)


async def release_clock(project: Project) -> int:
    """Let the runs follow the wall clock again, and print its time.

    Raises:
        ToolgenError: the engine does not use the clock of this machine.
    """
    async with open_engine(project) as (_, engine):
        if not isinstance(engine, ClockEngine):
            raise ToolgenError(
                f"the engine {engine.name!r} uses the clock of its server", hint="set the clock there"
            )
        await engine.release_clock()
    shown = f"{dt.datetime.now(dt.UTC):%Y-%m-%d %H:%M} UTC"
    print(f"the runs follow the wall clock again: {shown}; suspended calls past their deadline expire now")
    return 0


async def _span(engine: Engine, status: RunStatus) -> Span | None:
    """Return the times of the first and the last event of a run; None if its log has no events."""
    events = [event async for _, event in engine.events(status.run_id, follow=False)]
    return span_of(events, is_over=status.is_over)


async def _show_line(runtime: Runtime, engine: Engine, status: RunStatus, times: Span | None = None) -> None:
    """Print the state of a run, with its times, and each of its waits on a separate line."""
    document: Any = status.input
    match document:
        case (
            {"frozen": {"tool": str(what)}} | {"call": {"tool": str(what)}} | {"facts": {"agent": str(what)}}
        ):
            pass
        case {"resolved": {"tool": str(what)}}:
            pass
        case _:  # a loop of the host
            what = ""
    session = f"session {status.session}" if status.session else ""
    when = times.text if times else ""
    parts = (status.run_id, status.state, _result_of(status), what, session, when, status.error)
    print(printable("  ".join(part for part in parts if part)))
    waits = waits_of(status)
    calls = {call.op: call for call in await runtime.suspensions.check(waits)}
    for wait in waits:
        call = calls.get(wait.op)
        text = _question(wait.about, status.run_id, what) if call is None else _call_question(call)
        stored = await engine.wait_status(status.run_id, wait.op)
        if stored is not None and stored.answer is not None:
            text = f"answered, not executed yet: {text.removeprefix('waits for ')}"
        print(f"  {printable(short(text, _LONGEST))}")


def _result_of(status: RunStatus) -> str:
    """Return the status of a call that is its own run; "" if it succeeded, and for other runs."""
    document, output = status.input, status.output
    if not (isinstance(document, dict) and {"call", "frozen"} & document.keys() and isinstance(output, dict)):
        return ""
    result = output.get("status")
    return result if isinstance(result, str) and result != "ok" else ""


async def _has_unknown(engine: Engine, run_id: str) -> bool:
    """Return whether a run has a call of unknown outcome, or a log that cannot be read."""
    try:
        return bool(await unknown_ends(engine, run_id))
    except StoreCorruptError:
        return True


async def _show_unknown(engine: Engine, run_id: str) -> bool:
    """Print each call of a run whose outcome is unknown; return whether there is one."""
    ends = await unknown_ends(engine, run_id)
    for end in ends:
        command = f"toolgen runs resolve {run_id} {end['tool_call_id']}".rstrip() + RESOLUTIONS
        print(printable(f"  outcome unknown: {end['tool']}; record it with: {command}"))
    return bool(ends)


def _call_question(checked: CheckedCall) -> str:
    """Return a summary of a suspended call; if it is not sealed, only its id and tool."""
    if checked.state != "sealed" or checked.call is None:
        return f"{checked.state}: {checked.id}  {checked.tool}".rstrip()
    call = checked.call
    text = call.question or call.preview or call.handle
    again = f"  (asked again: {call.reason})" if call.reason else ""
    return f"waits for {call.kind}: {call.id}  {call.tool}  {text}{again}"


def _asks(status: RunStatus) -> bool:
    """Return whether a run waits for the answer to a planner's question."""
    return any(planner_question(wait.about) is not None for wait in waits_of(status))


def _question(about: Json, run_id: str, agent: str) -> str:
    """Return a summary of a wait that is not a call, with the id for `toolgen approve`."""
    facts: Any = about if isinstance(about, dict) else {}
    match facts.get("kind"):
        case None:
            return "waits for its client"
        case "pause":
            return "is paused; a program resumes it with RunHandle.resume()"
        case kind if planner_question(about) is not None:
            return f"waits for {kind}: {run_id}:{facts['id']}  {agent}  {facts.get('question', '')}"
        case kind:
            answered = "(a program answers with RunHandle.answer())"
            return f"waits for {kind}: {facts.get('question', '')}  {answered}"


def resolution_of(*, result: str, failed: str, not_run: bool) -> Resolution:
    """Return the resolution in the options.

    Raises:
        ToolgenError: not exactly one of them is set, or the result is not JSON.
    """
    if (result != "") + (failed != "") + not_run != 1:
        raise ToolgenError(
            "the outcome of the call is missing",
            hint="add --result JSON, --failed TEXT or --not-run, one of them",
        )
    if not result:
        return Resolution(outcome="not_run" if not_run else "failed", message=failed)
    try:
        return Resolution(outcome="result", result=typed_json(result))
    except ValueError as error:
        raise ToolgenError(f"--result is not JSON: {error}", hint="quote it for the shell") from error
