"""Calls of agents' tools outside of loops, as by `Runtime.call`: the run that answers one, and its result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from toolgen.runtime.call.frame import Frame
from toolgen.runtime.call.registered_tool import RegisteredTool
from toolgen.runtime.calls import CallMeta
from toolgen.runtime.errors import ToolError
from toolgen.runtime.results import Delegated, ToolResult
from toolgen.runtime.waiting.call_runs import AgentAnswer
from toolgen.runtime.waiting.loop import ChildOfCall

from .activities.call_activities import result_of_run
from .loop.calls import empty_document
from .loop.documents import LOOP, Failure, RunDocument, RunInput, as_plain_json
from .owner import facts_of_run
from .run_artifacts import child_artifacts, documents_so_far

if TYPE_CHECKING:
    from .host import AgentHost


class DirectCalls:
    """Answers the calls that no agent made, for the agents of one runtime."""

    def __init__(self, host: AgentHost) -> None:
        self._host = host

    async def child_of(
        self, tool: RegisteredTool, delegated: Delegated, meta: CallMeta, run_id: str
    ) -> ChildOfCall:
        """Return the run of this id that is to answer a call.

        Raises:
            ToolError: the agents are nested too deep.
        """
        self._host.serve_tool(run_id, tool)
        given = await self._input(tool, delegated, run_id, meta)
        return {"loop": LOOP, "agent": delegated.agent, "input": as_plain_json(given)}

    async def conclude(self, frame: Frame, answer: AgentAnswer) -> ToolResult:
        """Return the result of a call by what its run said, after its hooks."""
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
        given = self._host.called_run(delegated, spec.id, spec.timeout, meta, above, run_id)
        facts, parent = given["facts"], given["facts"]["parent"]
        if facts["depth"] >= self._host.most_depth:
            raise ToolError(f"{spec.name} was not run: the agents are nested too deep")
        if parent is not None:
            parent["child"] = run_id
        return given
