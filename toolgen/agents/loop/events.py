"""The events that the loop itself publishes, each once however often the loop is executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolgen.contract.json_value import Json
from toolgen.contract.names import CANCELED
from toolgen.contract.record import record
from toolgen.runtime.engine import EndedRun, RunContext
from toolgen.runtime.events.document import as_json
from toolgen.runtime.events.records import Event, RunPhase, RunStarted, ToolEnd
from toolgen.runtime.waiting.call_machine import UNKNOWN

from .documents import RunFacts, RunInput


class RunEvents:
    """Publishes the events of one run."""

    def __init__(self, ctx: RunContext, facts: RunFacts) -> None:
        self._ctx = ctx
        self._facts = facts

    async def phase(self, phase: Any, key: int | str) -> None:
        await self.publish(f"phase:{phase}:{key}", RunPhase(phase=phase))

    async def publish(self, key: str, event: Event, tool_call_id: str = "") -> None:
        document = {**as_json(event), **self.ids(tool_call_id), "time": self._ctx.now()}
        await self._ctx.publish(key, document)

    def ids(self, tool_call_id: str) -> dict[str, Json]:
        return {
            "run_id": self._ctx.run_id,
            "session_id": self._facts["session_id"],
            "turn_id": self._facts["turn_id"],
            "tool_call_id": tool_call_id,
            "agent_id": self._facts["agent"],
        }


def run_started(facts: RunFacts) -> RunStarted:
    """Return the first event of a run."""
    parent = facts["parent"]
    return RunStarted(agent=facts["agent"], parent_run_id=parent["run_id"] if parent else "")


def last_events(ended: EndedRun) -> list[dict[str, Json]]:
    """Return the events that are missing in the log of a run that ended without its loop."""
    given: RunInput = ended.input
    if "resolved" in given:  # of a call that somebody resolved, which is no run of an agent
        return []
    if ended.log:
        return [_last_end(call, ended) for call in _open_calls(ended.log)]
    facts = given["facts"]
    ids: dict[str, Json] = {
        "session_id": facts["session_id"],
        "turn_id": facts["turn_id"],
        "agent_id": facts["agent"],
    }
    return [{**as_json(run_started(facts)), **ids, "time": ended.at}]


@record
class _OpenCall:
    """A call of a run that ended before the call had its result."""

    start: Mapping[str, Any]
    """Its `tool_start`."""
    waits: int
    """How often it was suspended."""


def _open_calls(log: Sequence[Mapping[str, Any]]) -> list[_OpenCall]:
    found: dict[str, _OpenCall] = {}
    for event in log:
        id_ = event.get("tool_call_id", "")
        if event.get("type") == "tool_start":
            found[id_] = _OpenCall(start=event, waits=0)
        elif event.get("type") == "tool_end" and id_ in found:
            call = found.pop(id_)
            if event["status"] == "suspended":
                found[id_] = _OpenCall(start=call.start, waits=call.waits + 1)
    return list(found.values())


def _last_end(call: _OpenCall, ended: EndedRun) -> dict[str, Json]:
    """Return the `tool_end` of an open call: of unknown outcome where it had begun, else denied or an error.

    A call that asked something, and was not answered, had begun before, and did not go on.
    """
    start, id_ = call.start, call.start["tool_call_id"]
    ops = [f"tool:{id_}", *(f"answer:{id_}:{number}" for number in range(1, call.waits + 1))]
    if ops[-1] in ended.begun:
        end = ToolEnd(tool=start["tool"], status="unknown", result=UNKNOWN)
    elif ended.ending == "canceled" and f"wait:{id_}:{call.waits}" in ended.waits:
        why = ended.reason or f"{start['name']} was canceled"
        end = ToolEnd(tool=start["tool"], status="denied", result={"error": why, "code": CANCELED}, error=why)
    else:
        why = "the run ended before this call did"
        if start.get("runs_once") and ended.begun.isdisjoint(ops):
            why = f"{start['name']} was not run: the run ended before"
        end = ToolEnd(tool=start["tool"], status="error", result={"error": why}, error=why)
    ids = ("time", "run_id", "session_id", "turn_id", "tool_call_id", "agent_id")
    return {**as_json(end), **{name: start[name] for name in ids if name in start}}
