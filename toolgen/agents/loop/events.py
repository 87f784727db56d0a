"""The events that the loop itself publishes, each once however often the loop is executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolgen.contract.json_value import Json
from toolgen.runtime.engine import RunContext
from toolgen.runtime.events.document import as_json
from toolgen.runtime.events.records import Event, RunPhase, RunStarted, ToolEnd

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


def last_events(given: RunInput, at: float, log: Sequence[Mapping[str, Any]]) -> list[dict[str, Json]]:
    """Return the events that are missing in the log of a run that ended without its loop."""
    if "frozen" in given or "resolved" in given:  # a call by itself, which is no run of an agent
        return []
    if log:
        return _unanswered(log)
    facts = given["facts"]
    ids: dict[str, Json] = {
        "session_id": facts["session_id"],
        "turn_id": facts["turn_id"],
        "agent_id": facts["agent"],
    }
    return [{**as_json(run_started(facts)), **ids, "time": at}]


def _unanswered(log: Sequence[Mapping[str, Any]]) -> list[dict[str, Json]]:
    """Return a `tool_end` for each call of a run that was canceled before the call had its result."""
    open_calls: dict[str, Mapping[str, Any]] = {}
    for event in log:
        if event.get("type") == "tool_start":
            open_calls[event["tool_call_id"]] = event
        elif event.get("type") == "tool_end" and event["status"] != "suspended":
            open_calls.pop(event["tool_call_id"], None)
    why = "the run ended before this call did"
    ids = ("time", "run_id", "session_id", "turn_id", "tool_call_id", "agent_id")
    return [
        {
            **as_json(ToolEnd(tool=start["tool"], status="error", result={"error": why}, error=why)),
            **{name: start[name] for name in ids if name in start},
        }
        for start in open_calls.values()
    ]
