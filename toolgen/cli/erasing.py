"""`toolgen runs erase`, `release` and `restore`: what becomes of sessions whose runs are erased or lost."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Final

from toolgen.agents import Agents, SessionBusyError
from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import printable
from toolgen.runs import Engine, RestoringEngine
from toolgen.runtime import Runtime

from .config import Project
from .runs import cancel_run, open_engine

_NOTHING: Final = "correct its name; what was erased before is gone, and nothing says so"


async def erase_sessions(project: Project, *, session: str, label: str, cancel: bool) -> int:
    """Delete sessions with all that belongs to them, and print a line of counts for each.

    Raises:
        ToolgenError: not just one of session and label is given, nothing is kept of such a session, a run is
            not over, or a store cannot delete.
    """
    name, equals, value = label.partition("=")
    if bool(session) == bool(label) or (label and not (name and equals)):
        raise ToolgenError("say whose data is erased", hint="give --session ID, or --label NAME=VALUE")
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
            raise ToolgenError(f"nothing is kept of a session {id_!r}", hint=_NOTHING)
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
            "the configured runtime has no agents, and so no sessions",
            hint="construct Agents(runtime, sessions=…) in the function that `runtime` names",
        )
    return runtime.assembly.joined


async def release_sessions(project: Project, *, session: str, engine: str) -> int:
    """Release sessions whose run is gone, and print a line for each.

    Raises:
        UnknownSessionError: there is no such session.
        SessionBusyError: its run is not over.
        ToolgenError: the runtime has no agents.
    """
    async with open_engine(project) as (runtime, _):
        await _release(agents_in(runtime), session, engine)
    return 0


async def restore_runs(project: Project) -> int:
    """Accept the journal in the place of the one that was lost, and release the sessions of that.

    Raises:
        EngineError: a worker executes the runs.
        ToolgenError: the engine keeps no journal beside which a witness stands.
    """
    async with open_engine(project) as (runtime, engine):
        if not isinstance(engine, RestoringEngine):
            raise ToolgenError(
                f"the runs of the {engine.name} engine are kept by its server", hint="restore them there"
            )
        lost = await engine.restore()
        if lost is None:
            print("the journal is the one that its witness knows; a worker notices by itself what it lacks")
            return 0
        print(
            f"the journal of engine {lost.engine_id} is lost, with {lost.begun} calls that had begun and"
            f" {lost.answered} answers that were taken; a run with an id of it makes no such call again"
        )
        if isinstance(runtime.assembly.joined, Agents):
            await _release(runtime.assembly.joined, "", lost.engine_id)
    return 0


async def _release(agents: Agents, session: str, engine: str) -> None:
    done = await agents.release(session_id=session, lost_engine=engine)
    for held in done.sessions:
        print(printable(f"session {held.session_id}  released from run {held.run_id}"))
    for held in done.elsewhere:
        print(printable(f"session {held.session_id}  held by run {held.run_id} of engine {held.engine_id}"))
    if not done.sessions and not done.elsewhere:
        print("no session is held by a run that is gone", file=sys.stderr)
    if done.elsewhere:
        print("where such an engine is lost: toolgen runs release --engine ENGINE", file=sys.stderr)
