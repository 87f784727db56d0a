"""`toolgen runs release` and `toolgen runs restore`: after a journal was lost, or replaced by another one."""

from __future__ import annotations

import sys

from toolgen.agents import Agents
from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import printable
from toolgen.runs import RestoringEngine

from .config import Project
from .erasing import agents_in
from .runs import open_engine


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
