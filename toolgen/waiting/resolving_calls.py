"""Stores what somebody found out of the unknown outcome of a call that is a run of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from toolgen.calls.call import CallMeta
from toolgen.calls.resolution import Resolution, ResolveError
from toolgen.calls.results import ToolResult
from toolgen.calls.steps.frame import RuntimeServices
from toolgen.contract.logs import logger
from toolgen.runs import UnknownRunError

from .late_ends import BY_ITSELF
from .loop import call_of, is_unknown_end
from .resolving import (
    becomes_unknown,
    found_out,
    keep_outcome,
    known_outcome,
    resolved_end,
)
from .resuming import WaitingTools
from .wait_registry import WaitRegistry

log = logger("toolgen.runtime")


async def settle_call(
    services: RuntimeServices,
    waits: WaitRegistry,
    tools: WaitingTools,
    run_id: str,
    resolution: Resolution,
) -> None:
    """Store what became of the one call of a run, which ended late, once the run has called it unknown.

    Raises:
        ResolveError: somebody was faster.
    """
    if await becomes_unknown(waits.engine, run_id):
        await waits.engine.result(run_id)
        await resolve_call(services, waits, tools, run_id, "", resolution, BY_ITSELF)


async def resolve_call(
    services: RuntimeServices,
    waits: WaitRegistry,
    tools: WaitingTools,
    run_id: str,
    tool_call_id: str,
    resolution: Resolution,
    by: str,
) -> ToolResult | None:
    """Store the outcome of the one call of a run, and return it; None for a run of an agent.

    Raises:
        ResolveError: as `Runtime.runs.resolve`.
    """
    engine = waits.engine
    try:
        given: Any = (await engine.status(run_id)).input
    except UnknownRunError:
        return None
    if not isinstance(given, dict) or not ({"frozen", "call"} & given.keys()):
        return None
    call = call_of(given)  # type: ignore[arg-type]  # as the loop takes it
    meta = replace(CallMeta(**call["meta"]), run_id=run_id)
    if tool_call_id not in ("", meta.tool_call_id):
        known = f"it is {meta.tool_call_id}" if meta.tool_call_id else "leave out the id of the call"
        raise ResolveError(f"the call of run {run_id} is not {tool_call_id!r}", hint=known)
    if (said := await resolved_end(engine, run_id, meta.tool_call_id)) is not None:
        raise known_outcome(meta.tool_call_id, said["status"], said["resolved_by"])
    ends = [one async for _, one in engine.events(run_id, follow=False) if one.get("type") == "tool_end"]
    if not ends or not (await engine.status(run_id)).is_over:
        raise ResolveError(
            f"run {run_id} is not over, so the outcome of its call may still come",
            hint="resume the run, or cancel it",
        )
    if not is_unknown_end(ends[-1]):
        raise known_outcome(meta.tool_call_id, str(ends[-1]["status"]))
    tool = await tools.find(call["tool"], CallMeta(**call["meta"]), run_id)
    spec = None if tool is None else tool.spec
    result = found_out(call["tool"].rpartition(".")[2], spec, meta, resolution, services.limits)
    await waits.start(f"{run_id}/resolved:{meta.tool_call_id}")
    who = await keep_outcome(engine, result, spec, meta, by)
    log.info("the outcome of run %s is %s, says %s", run_id, resolution.outcome, who)
    return result
