"""Last events of calls whose run ended before them; the same code for all loops.

Pure, like the loops, because an engine can replay them.
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
    """Id of the tool."""
    name: str
    question_ids: Sequence[str]
    """Ids of the questions that suspended it."""
    begun_steps: Sequence[int]
    """Numbers of its steps that began an effect that must not run twice; 0 is the first execution."""
    waits: Mapping[int, Json]
    """Subjects of its open waits, by number of the wait."""
    agent_run: str
    """Id of the agent's run that was started to answer it; "" for none."""
    is_not_run: bool = False
    """Whether it must not run twice, and has not begun."""


def cut_end(call: CutCall, ended: EndedRun) -> ToolEnd:
    """Return the end of an interrupted call: `denied` if it was suspended, `unknown` if it might have run.

    A call that asked a question had begun before it was suspended. A call that an agent answers might have
    run if the agent's run has a call with an unknown outcome, or if the engine does not have its log.
    """
    if any(map(is_work, call.waits.values())):
        why = left_work(ended.reason or f"the run was {ended.ending}")
        return _end(call, "unknown", {"unknown": why})
    # The step after a wait has the wait's number, and can have begun although a restored journal lacks the
    # answer. After an answer that was not used, there is one more wait, but no further question.
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
    """Return the last events of the single call of a `waiting_call` that ended without its loop.

    If the call was suspended before its run began, it already has its end, unless it has run since.
    """
    run_input: WaitingInput = ended.input
    call = call_of(run_input)
    ends = [event for event in ended.log if event.get("type") == "tool_end"]
    if not all(map(_is_followed, ends)):
        return []
    question_ids = [str(event.get("suspension_id", "")) for event in ends]
    if "frozen" in run_input:
        question_ids.insert(0, run_input["frozen"]["id"])
    agents = [str(event["child_run_id"]) for event in ended.log if event.get("type") == "agent_run_started"]
    cut = CutCall(
        tool=call["tool"],
        name="the call",
        question_ids=question_ids,
        begun_steps=[0 if op == EXECUTE else int(op.rpartition(":")[2]) for op in ended.begun],
        waits={int(op.rpartition(":")[2]): about for op, about in ended.waits.items()},
        agent_run=agents[-1] if agents else "",
    )
    end = cut_end(cut, ended)
    if "frozen" in run_input and end.status != "unknown" and not agents:
        return []
    return [{**as_json(end), **ids_of(call), "time": ended.at}]


def _is_followed(end: Mapping[str, Json]) -> bool:
    """Return whether another `tool_end` follows this one."""
    return end["status"] in ("suspended", "pending")
