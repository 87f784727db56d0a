"""Joins agents to their runtime, which opens them, lists their tools, and lets calls start their runs."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from typing import Any

from toolgen.calls.call import NO_META, CallMeta
from toolgen.calls.errors import ToolError
from toolgen.calls.results import Delegated, ToolResult
from toolgen.calls.steps.frame import Frame
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.calls.toolsets.snapshot import Listing
from toolgen.contract.json_value import Json
from toolgen.engines import RunStatus
from toolgen.waiting.activities import AgentAnswer
from toolgen.waiting.loop import ChildOfCall
from toolgen.waiting.once_call import Resolution

from .activities.call_activities import result_of_run
from .erasing import Retention
from .host import AgentHost
from .loop.calls import empty_document
from .loop.documents import LOOP, Failure, RunDocument, RunInput, as_plain_json, event_ids
from .output import child_artifacts, documents_so_far, status_of
from .owner import facts_of_run, has_facts, is_of_agent
from .resolving import resolve
from .runs import AgentRuns


class AgentLoops:
    """The `LoopOwner` of the agents of one runtime."""

    def __init__(self, host: AgentHost, runs: AgentRuns, retention: Retention) -> None:
        self._host = host
        self._runs = runs
        self._retention = retention

    async def open(self) -> None:
        """Open the dynamic toolsets of the agents, and start executing runs."""
        for agent in self._host.agents.values():
            await agent.toolsets.open()
        await self._host.turns.open()
        await self._host.waits.start()
        self._retention.open()

    async def close(self) -> None:
        """Stop executing runs, and close the dynamic toolsets."""
        host = self._host
        async with AsyncExitStack() as parts:  # closed in reverse order
            for agent in host.agents.values():
                parts.push_async_callback(agent.toolsets.close)
            parts.push_async_callback(host.turns.close)
            parts.push_async_callback(host.events.settle)
            parts.push_async_callback(host.engine.close)
            parts.push_async_callback(host.run_ends.settle)
            parts.push_async_callback(host.events.settle)  # events that the engine emits
            parts.push_async_callback(self._retention.close)

    async def find_tool(self, tool: str, meta: CallMeta, run_id: str) -> RegisteredTool | None:
        """Return the current tool of a call of an agent's run, or of its pending work."""
        status = await self._host.engine.status(run_id)
        return await self._host.tool_now(tool, meta, status) if has_facts(status) else None

    async def resolve(self, run_id: str, tool_call_id: str, resolution: Resolution, *, by: str) -> ToolResult:
        """Return the outcome of a call that a person determined, after its conversation has stored it."""
        return await resolve(self._host, run_id, tool_call_id, resolution, by)

    def status_of(self, status: RunStatus) -> RunStatus:
        """Return the status of a run for its clients."""
        return status_of(status) if is_of_agent(status) else status

    def event_ids(self, status: RunStatus) -> dict[str, Json]:
        """Return the IDs to add to the events of a run."""
        document: Any = status.input
        return event_ids(document["facts"] if has_facts(status) else None)

    @property
    def listings(self) -> tuple[Listing, ...]:
        """Functions that list the tools of each agent with dynamic toolsets, without facts of a call."""
        dynamic = [agent for agent in self._host.agents.values() if agent.toolsets.is_dynamic]
        return tuple(partial(agent.snapshot, NO_META, None) for agent in dynamic)

    @property
    def stores(self) -> tuple[object, ...]:
        """The session store."""
        return (self._host.sessions,)

    async def child_of(
        self, tool: RegisteredTool, delegated: Delegated, meta: CallMeta, run_id: str
    ) -> ChildOfCall:
        """Return the run with this ID that is to answer a call.

        Raises:
            RegistrationError: the agent, or an agent whose tools it calls, is not registered.
            ToolError: the agents are nested too deep.
        """
        self._runs.check(delegated.agent)
        self._host.served.put(run_id, tool)
        run_input = await self._input(tool, delegated, run_id, meta)
        return {"loop": LOOP, "agent": delegated.agent, "input": as_plain_json(run_input)}

    async def conclude(self, frame: Frame, answer: AgentAnswer) -> ToolResult:
        """Return the result of a call from the output of its run, after its hooks."""
        host, run_id = self._host, answer.link.run_id
        document: RunDocument
        if answer.failure is None:
            document = answer.output
        else:
            kind = answer.failure["kind"]
            why = answer.failure["message"] or f"the run was {kind}"
            failure: Failure = {"kind": kind, "message": why, "causes": []}
            document = empty_document(answer.link.agent, "failed", failure)
            document["artifacts"] = await documents_so_far(host.engine, run_id)
        took = max(0.0, host.clock() - answer.began - document["waited_s"])
        result = await result_of_run(frame, document, answer.link, host.engine, duration_s=took)
        below = await child_artifacts(document["artifacts"], host.find_tool, host.tools)
        return replace(result, artifacts=(*below, *result.artifacts))

    async def _input(
        self, tool: RegisteredTool, delegated: Delegated, run_id: str, meta: CallMeta
    ) -> RunInput:
        spec = tool.spec
        above = await facts_of_run(self._host.engine, meta.run_id)
        run_input = self._host.called_run(delegated, spec.id, spec.timeout, meta, above, run_id)
        facts, parent = run_input["facts"], run_input["facts"]["parent"]
        if facts["depth"] >= self._host.most_depth:
            raise ToolError(f"{spec.name} was not run: the agents are nested too deep")
        if parent is not None:
            parent["child"] = run_id
        return run_input
