"""Events that the loop itself publishes, each of them once, no matter how often the loop is replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, Final

from toolgen.calls.documents.results import failure_document
from toolgen.contract.json_value import Json
from toolgen.contract.record import record
from toolgen.engines.context import EndedRun, RunContext
from toolgen.events.document import as_json, tool_end
from toolgen.events.records import AssistantReply, Event, RunPhase, RunStarted
from toolgen.waiting.cut_calls import CutCall, cut_end
from toolgen.waiting.loop import UNKNOWN

from .documents import CallsStep, FinalStep, RunDocument, RunFacts, RunInput, event_ids

_TOOL: Final = "tool:"
"""Prefix of the key of an operation that executes a call."""


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


def reply_of(step: CallsStep | FinalStep) -> AssistantReply:
    """Return the planner's text as an event for the person."""
    is_truncated = step["kind"] == "final" and step.get("is_truncated", False)
    return AssistantReply(text=step["text"], is_truncated=is_truncated, provider=step.get("provider"))


def copy_end(ended: FinalStep | RunDocument, document: RunDocument) -> None:
    """Copy the truncation flag and the provider's facts of the text to the run's end."""
    if ended.get("is_truncated"):
        document["is_truncated"] = True
    if provider := ended.get("provider"):
        document["provider"] = provider


def last_events(ended: EndedRun) -> list[dict[str, Json]]:
    """Return the events that are missing from the log of a run that ended without its loop."""
    run_input: RunInput = ended.input
    if "resolved" in run_input:  # the run of a resolved call is not an agent run
        return []
    if ended.log:
        ends = [_last_end(call, ended) for call in _open_calls(ended.log)]
        return [*ends, *_ends_without_start(ended)]
    facts = run_input["facts"]
    return [{**as_json(run_started(facts)), **event_ids(facts), "time": ended.at}]


@record
class _OpenCall:
    """A call without a result when its run ended."""

    start: Mapping[str, Any]
    """The call's `tool_start` event."""
    question_ids: tuple[str, ...] = ()
    """IDs of the questions that it waited for."""
    agent_run: str = ""
    """ID of the other agent's run that had begun to answer it."""


def _open_calls(log: Sequence[Mapping[str, Any]]) -> list[_OpenCall]:
    calls: dict[str, _OpenCall] = {}
    for event in log:
        id_ = event.get("tool_call_id", "")
        if event.get("type") == "tool_start":
            calls[id_] = _OpenCall(start=event)
        elif event.get("type") == "agent_run_started" and id_ in calls:
            calls[id_] = replace(calls[id_], agent_run=str(event["child_run_id"]))
        elif event.get("type") == "tool_end" and id_ in calls:
            call = calls.pop(id_)
            if event["status"] == "suspended":
                question_ids = (*call.question_ids, str(event.get("suspension_id", "")))
                calls[id_] = _OpenCall(start=call.start, question_ids=question_ids)
    return list(calls.values())


def _last_end(call: _OpenCall, ended: EndedRun) -> dict[str, Json]:
    """Return the `tool_end` of an open call."""
    start, id_ = call.start, call.start["tool_call_id"]
    attempts = [*_numbers(ended.begun, f"answer:{id_}"), *([0] if f"{_TOOL}{id_}" in ended.begun else [])]
    cut = CutCall(
        tool=start["tool"],
        name=start["name"],
        question_ids=call.question_ids,
        begun_steps=attempts,
        waits={n: about for op, about in ended.waits.items() for n in _numbers({op}, f"wait:{id_}")},
        agent_run=call.agent_run,
        is_not_run=bool(start.get("runs_once") and not attempts),
    )
    ids = ("run_id", "session_id", "turn_id", "tool_call_id", "agent_id")
    ids_of_call = {name: start[name] for name in ids if name in start}
    return {**as_json(cut_end(cut, ended)), **ids_of_call, "time": ended.at}


def _ends_without_start(ended: EndedRun) -> list[dict[str, Json]]:
    """Return the ends of calls that had begun, but whose start is not in the log.

    On Temporal, the log is written in parallel with the calls, and lacks its newest part if the server
    terminates a run. Nothing else records then that these calls may have been executed.
    """
    started = {str(event.get("tool_call_id")) for event in ended.log if event.get("type") == "tool_start"}
    ids_of_begun = sorted(op.removeprefix(_TOOL) for op in ended.begun if op.startswith(_TOOL))
    first, end = ended.log[0], as_json(tool_end(failure_document("", "", "unknown", UNKNOWN)))
    ids = {name: first[name] for name in ("run_id", "session_id", "turn_id", "agent_id") if name in first}
    return [
        {**end, **ids, "tool_call_id": id_, "time": ended.at} for id_ in ids_of_begun if id_ not in started
    ]


def _numbers(ops: Set[str], prefix: str) -> list[int]:
    """Return the numbers of the operations `<prefix>:<number>`."""
    return [int(op.rpartition(":")[2]) for op in ops if op.rpartition(":")[0] == prefix]
