"""`toolgen runs`: what an operator sees and does of runs, by the engine of the configured runtime."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.printable import printable
from toolgen.runtime import Runtime
from toolgen.runtime.engine import Engine, RunState, RunStatus
from toolgen.runtime.waiting.waits import frozen_about

from .config import Project
from .runtime import load_runtime
from .terminal import show_document


async def list_runs(project: Project, *, state: RunState | None, session: str | None, limit: int) -> int:
    """Print one line a run, the newest first."""
    async with _opened(project) as (_, engine):
        for status in await engine.list_runs(state=state, session=session, limit=limit):
            print(printable(_line(status)))
    return 0


async def show_run(project: Project, run_id: str) -> int:
    """Print where a run stands and its events, as one JSON document.

    Raises:
        UnknownRunError: no run has the id.
    """
    async with _opened(project) as (_, engine):
        status = await engine.status(run_id)
        events: list[Json] = [dict(event) async for _, event in engine.events(run_id, follow=False)]
    document: dict[str, Any] = {
        "run_id": run_id,
        "state": status.state,
        "session": status.session,
        "awaiting": [{"op": wait.op, "about": wait.about} for wait in status.awaiting],
        "children": list(status.children),
        "error": status.error,
        "input": status.input,
        "output": status.output,
        "events": events,
    }
    show_document(json.dumps(document, ensure_ascii=False).encode())
    return 0


async def resume_run(project: Project, run_id: str) -> int:
    """Execute one run in this process until it is over or waits; return 1 when it failed.

    Where another process executes the runs of the file, it is waited for.

    Raises:
        UnknownRunError: no run has the id.
    """
    async with _opened(project) as (runtime, engine):
        await engine.status(run_id)
        await runtime.start_runs(run_id)
        status = await engine.settled(run_id)
    print(printable(_line(status)))
    return 1 if status.state == "failed" else 0


async def cancel_run(project: Project, run_id: str, reason: str) -> int:
    """Cancel a run, with all that it has started and waits for.

    Raises:
        UnknownRunError: no run has the id.
    """
    async with _opened(project) as (runtime, engine):
        await engine.status(run_id)
        await runtime.start_runs(run_id)
        await engine.cancel(run_id, reason=reason)
        status = await engine.status(run_id)
    print(printable(_line(status)))
    return 0


@asynccontextmanager
async def _opened(project: Project) -> AsyncIterator[tuple[Runtime, Engine]]:
    """Open the runtime as a client, and give it with its engine.

    Raises:
        ToolgenError: its runs end with its process, so another process never sees any.
    """
    runtime = await load_runtime(project)
    engine = runtime.engine
    if engine is None or not engine.caps.is_durable:
        raise ToolgenError(
            "the configured runtime keeps no runs beyond its process",
            hint='give it a file: Runtime(engine=InProcessEngine("runs.db"))',
        )
    runtime.be_client()
    async with runtime:
        yield runtime, engine


def _line(status: RunStatus) -> str:
    given: Any = status.input
    what = given["facts"]["agent"] if "facts" in given else given["frozen"]["tool"]
    waits = "; ".join(filter(None, (_asked(wait.about) for wait in status.awaiting)))
    parts = (status.run_id, status.state, what, status.session, waits or status.error)
    return "  ".join(part for part in parts if part)


def _asked(about: Json) -> str:
    """Return what a wait asks, in short."""
    frozen = frozen_about(about)
    if frozen is not None:
        return f"{frozen.kind} {frozen.id}: {frozen.question or frozen.handle}"
    return str(about.get("question") or about.get("kind", "")) if isinstance(about, dict) else ""
