"""Final events of calls whose run ended first, decided here for all loops.

Pure, as the loops are: an engine may execute them again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolgen.calls.documents.results import failure_document
from toolgen.contract.json_value import Json
from toolgen.contract.names import CANCELED
from toolgen.contract.record import frozen_record
from toolgen.engines.context import EndedRun
from toolgen.events.document import as_json, tool_end
from toolgen.events.records import ToolEnd

from .loop import EXECUTE, UNKNOWN, WaitingInput, call_of, ids_of, is_unknown_end, is_work, left_work


@frozen_record
class CutCall:
    """A call of a run that ended before the call had its result."""

    tool: str
    """Id."""
    name: str
    question_ids: Sequence[str]
    """Ids of the questions for which it was suspended."""
    begun_steps: Sequence[int]
    """Numbers of its steps that began what may not run twice; 0 is that of its first execution."""
    waits: Mapping[int, Json]
    """Subjects of its open waits, by number of the wait."""
    agent_run: str
    """Id of the run of an agent that was to answer it; "" for none."""
    is_not_run: bool = False
    """It may not run twice, and has not begun."""


def cut_end(call: CutCall, ended: EndedRun) -> ToolEnd:
    """Return the end of a cut call: `denied` if it was suspended, `unknown` if it may have run.

    One that asked something had begun before it was suspended. One that an agent was to answer may have run
    where that agent's run has left a call of unknown outcome, or where the engine does not know its log.
    """
    if any(map(is_work, call.waits.values())):
        why = left_work(ended.reason or f"the run was {ended.ending}")
        return _end(call, "unknown", {"unknown": why})
    # The step after a wait has its number, and may have begun where a restored journal lacks the answer.
    # After an answer that was not taken there is a wait more, and no further question.
    has_begun = max(call.begun_steps, default=-1) >= (
        max(call.waits) if call.waits else len(call.question_ids)
    )
    if call.waits and not has_begun and ended.ending == "canceled":
        why = ended.reason or f"{call.name} was canceled"
        return _end(call, "denied", {"error": why, "code": CANCELED})
    if has_begun:
        answered = call.question_ids[-1] if call.question_ids else ""
        return _end(call, "unknown", UNKNOWN, answered_id=answered)
    why = "the run ended before this call did"
    if call.agent_run:
        why = f"{why}; work that its agent had started may have been done"
        log = ended.child_log(call.agent_run)
        if log is None or any(map(is_unknown_end, log)):
            return _end(call, "unknown", {"unknown": why})
    elif call.is_not_run:
        why = f"{call.name} was not run: the run ended before"
    return _end(call, "error", {"error": why})


def _end(call: CutCall, status: Any, seen: dict[str, Json], **facts: Any) -> ToolEnd:
    return tool_end(failure_document(call.tool, "", status, seen), **facts)


def last_events(ended: EndedRun) -> list[dict[str, Json]]:
    """Return the end of the one call of a `waiting_call` that ended without its loop.

    One that was suspended before its run began has its end already, unless it has run since.
    """
    run_input: WaitingInput = ended.input
    call = call_of(run_input)
    ends = [event for event in ended.log if event.get("type") == "tool_end"]
    if not all(map(_is_followed, ends)):
        return []
    asked = [str(event.get("suspension_id", "")) for event in ends]
    if "frozen" in run_input:
        asked.insert(0, run_input["frozen"]["id"])
    agents = [str(event["child_run_id"]) for event in ended.log if event.get("type") == "agent_run_started"]
    cut = CutCall(
        tool=call["tool"],
        name="the call",
        question_ids=asked,
        begun_steps=[0 if op == EXECUTE else int(op.rpartition(":")[2]) for op in ended.begun],
        waits={int(op.rpartition(":")[2]): about for op, about in ended.waits.items()},
        agent_run=agents[-1] if agents else "",
    )
    end = cut_end(cut, ended)
    if "frozen" in run_input and end.status != "unknown" and not agents:
        return []
    return [{**as_json(end), **ids_of(call), "time": ended.at}]


def _is_followed(end: Mapping[str, Json]) -> bool:
    """Return whether another one follows a `tool_end`."""
    return end["status"] in ("suspended", "pending")
