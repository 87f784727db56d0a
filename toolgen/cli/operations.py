"""`toolgen runs check`, `erase`, `release` and `restore`: maintenance of runs and sessions by operators.

A check reports suspended calls that are unsealed or tampered with, and can adopt them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from typing import Any, Final

from toolgen.agents import Agents, SessionBusyError
from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import printable, visible
from toolgen.engines import Engine, InProcessEngine
from toolgen.runtime import Runtime
from toolgen.runtime.public_views import shown_record
from toolgen.shapes.issues import short
from toolgen.waiting.checking import CheckedCall, waits_of

from .config import Project
from .runs import cancel_run
from .runtime import open_engine
from .terminal import is_confirmed

_LONGEST: Final = 20_000
"""Maximum characters of one field; the run contains all of it."""
_NOTHING: Final = "check the name; data that was erased before leaves no trace"


async def check_runs(
    project: Project, run_ids: Collection[str], *, adopt: bool, is_sure: bool, by: str, as_json: bool = False
) -> int:
    """Print damage and each suspended call that is not sealed; with `adopt`, adopt the unsealed ones.

    As JSON, each is an object on a line. Its `status` is `lost` or `damaged` with a `message`, or the state
    of a call with `run_id`, `op`, `id`, `tool` and `record`, without the seal.

    Return 1 if something is damaged, or if calls are left that cannot be answered.

    Raises:
        UnknownRunError: no run has one of the ids.
        ToolgenError: there is no terminal to confirm the adoption.
    """
    async with open_engine(project, checks=True) as (runtime, engine):
        if run_ids:
            statuses = [await engine.status(run_id) for run_id in run_ids]
            checked = await runtime.suspensions.check(
                [wait for status in statuses for wait in waits_of(status)]
            )
        else:
            checked = await runtime.suspensions.check()
        damage = await _show_damage(runtime, engine, as_json)
        suspects = [call for call in checked if call.state != "sealed"]
        for call in suspects:
            lines = [json.dumps(_object(runtime, call))] if as_json else _lines(runtime, call)
            print("\n".join(map(visible, lines)), file=sys.stderr if adopt and not as_json else sys.stdout)
        if not suspects:
            print("all suspended calls are sealed", file=sys.stderr)
            return 1 if damage else 0
        if adopt:
            suspects = await _adopt(runtime, suspects, is_sure, by)
        elif any(call.state == "unsealed" for call in suspects):
            print(
                "if a call is as it was requested, adopt it with: toolgen runs check --adopt RUN",
                file=sys.stderr,
            )
        for run_id in dict.fromkeys(call.run_id for call in suspects if call.state == "tampered"):
            print(
                f"a call was tampered with; cancel its run with: toolgen runs cancel {printable(run_id)}",
                file=sys.stderr,
            )
    return 1 if suspects or damage else 0


async def _show_damage(runtime: Runtime, engine: Engine, as_json: bool) -> tuple[str, ...]:
    """Print and return the damage of runs and sessions."""
    damage: tuple[str, ...] = ()
    if isinstance(engine, InProcessEngine):
        damage = await engine.check()
        print("\n".join(map(printable, engine.describe())), file=sys.stderr)
    if isinstance(runtime.assembly.joined, Agents):
        sessions = await runtime.assembly.joined.check()
        damage += sessions.damage
        _show_states("lost", sessions.lost, as_json)
    _show_states("damaged", damage, as_json)
    if damage:
        print("restore the file from a backup, or cancel the runs above", file=sys.stderr)
    return damage


def _show_states(state: str, messages: Iterable[str], as_json: bool) -> None:
    for message in messages:
        record = {"status": state, "message": message}
        print(json.dumps(record) if as_json else printable(f"{state}: {message}"))


async def _adopt(
    runtime: Runtime, suspects: Sequence[CheckedCall], is_sure: bool, by: str
) -> list[CheckedCall]:
    """Adopt the unsealed calls of runs without tampered calls; return the calls that were not adopted."""
    tampered = {call.run_id for call in suspects if call.state == "tampered"}
    runs = dict.fromkeys(call.run_id for call in suspects if call.run_id not in tampered)
    if runs and not is_sure and not is_confirmed("adopt the unsealed calls as they are?", "adopted"):
        print("nothing was adopted", file=sys.stderr)
        return list(suspects)
    for run_id in runs:
        for call in await runtime.suspensions.adopt(run_id, by=by, seen=suspects):
            print(printable(f"adopted: {call.run_id}  {call.id}  {call.tool}"), file=sys.stderr)
    return [call for call in suspects if call.run_id in tampered]


def _object(runtime: Runtime, call: CheckedCall) -> dict[str, Any]:
    """Return a call as JSON."""
    facts = {"run_id": call.run_id, "op": call.op, "status": call.state, "id": call.id, "tool": call.tool}
    record = shown_record(runtime, call.record) if isinstance(call.record, dict) else None
    return {**facts, "record": record and {key: value for key, value in record.items() if key != "seal"}}


def _lines(runtime: Runtime, call: CheckedCall) -> list[str]:
    """Return the state of a call, and every field of its record on a separate line."""
    head = printable(f"{call.run_id}  {call.op}  {call.state}  {call.id}  {call.tool}".rstrip())
    if not isinstance(call.record, dict):
        return [head, "  its record cannot be read"]
    shown: dict[str, Any] = shown_record(runtime, call.record)
    fields = [f"  {printable(name)}: {_text(value)}" for name, value in shown.items() if name != "seal"]
    return [head, *fields]


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    cut = short(text, _LONGEST)
    shown = printable(cut) if isinstance(value, str) else visible(cut)
    return shown if cut == text else f"{shown} ({len(text)} characters; toolgen runs show prints all)"


async def erase_sessions(project: Project, *, session: str, label: str, cancel: bool) -> int:
    """Delete sessions with all their data, and print a line of counts for each.

    Raises:
        ToolgenError: not exactly one of session and label is set, the session has no data, a run
            has not ended, or a store cannot delete.
    """
    name, equals, value = label.partition("=")
    if bool(session) == bool(label) or (label and not (name and equals)):
        raise ToolgenError("pass either --session ID or --label NAME=VALUE")
    async with open_engine(project) as (runtime, engine):
        ids = (session,) if session else await agents_in(runtime).labelled(name, value)
        if not ids:
            raise ToolgenError(f"no session has the label {label!r}", hint=_NOTHING)
        busy = [(run, id_) for id_ in ids for run in await _unfinished(engine, id_)]
    if busy and not cancel:
        raise ToolgenError(
            SessionBusyError(*busy[0]).message, hint="wait until it is over, or cancel it: add --cancel"
        )
    for run_id, _ in busy:
        await cancel_run(project, run_id, "erased")
    async with open_engine(project) as (runtime, _):
        await _erase(runtime, ids)
    return 0


async def _erase(runtime: Runtime, ids: tuple[str, ...]) -> None:
    for id_ in ids:
        counts = asdict(await agents_in(runtime).erase(id_, rewrite=id_ == ids[-1]))
        if not any(counts.values()) and len(ids) == 1:
            raise ToolgenError(f"the session {id_!r} has no data", hint=_NOTHING)
        print(printable(f"session {id_}  " + "  ".join(f"{name} {count}" for name, count in counts.items())))


async def _unfinished(engine: Engine, session: str) -> list[str]:
    runs = await engine.list_runs(session=session, limit=sys.maxsize)
    return [run.run_id for run in runs if not run.is_over]


def agents_in(runtime: Runtime) -> Agents:
    """Return the agents of a runtime.

    Raises:
        ToolgenError: it has none.
    """
    if not isinstance(runtime.assembly.joined, Agents):
        raise ToolgenError(
            "the configured runtime has no agents, so it has no sessions",
            hint="construct Agents(runtime, sessions=…) in the function that `runtime` names",
        )
    return runtime.assembly.joined


async def release_sessions(project: Project, *, session: str, engine: str) -> int:
    """Release sessions whose run no longer exists, and print a line for each.

    Raises:
        UnknownSessionError: there is no such session.
        SessionBusyError: its run is not over.
        ToolgenError: the runtime has no agents.
    """
    async with open_engine(project) as (runtime, _):
        await _release(agents_in(runtime), session, engine)
    return 0


async def restore_runs(project: Project) -> int:
    """Accept the journal in place of a lost one, and release the sessions of the lost one.

    Raises:
        EngineError: a worker executes the runs.
        ToolgenError: the engine has no journal with a witness file.
    """
    async with open_engine(project) as (runtime, engine):
        if not isinstance(engine, InProcessEngine):
            raise ToolgenError(
                f"the runs of the engine {engine.name!r} are stored by its server", hint="restore them there"
            )
        lost = await engine.restore()
        if lost is None:
            print(
                "the journal is the one that its witness records; workers detect missing entries themselves"
            )
            return 0
        print(
            f"the journal of engine {lost.engine_id} is lost, with {lost.begun} started calls and"
            f" {lost.answered} accepted answers; a run with an id from it does not repeat such a call"
        )
        if isinstance(runtime.assembly.joined, Agents):
            await _release(runtime.assembly.joined, "", lost.engine_id)
    return 0


async def _release(agents: Agents, session: str, engine: str) -> None:
    done = await agents.release(session_id=session, lost_engine=engine)
    for session_id, holder in done.sessions.items():
        print(printable(f"session {session_id}  released from run {holder.run_id}"))
    for session_id, holder in done.elsewhere.items():
        print(printable(f"session {session_id}  held by run {holder.run_id} of engine {holder.engine_id}"))
    if not done.sessions and not done.elsewhere:
        print("no session is held by a lost run", file=sys.stderr)
    if done.elsewhere:
        print("if that engine is lost, run: toolgen runs release --engine ENGINE", file=sys.stderr)
