"""The calls of a plan for the loop and for the conversation, and the events of the planner."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from typing import Final

from toolgen.calls.call import NO_META, CallMeta
from toolgen.calls.errors import ToolValidationError
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.calls.toolsets.snapshot import Snapshot
from toolgen.contract.limits import truncate_text
from toolgen.contract.names import SESSION
from toolgen.contract.tasks import in_pieces
from toolgen.engines import ActivityInfo
from toolgen.events.document import as_json, ids_of
from toolgen.events.event_reporter import planned_start
from toolgen.events.records import AssistantReply, Event, PlannerThought, PlanRetry, ToolArgsDelta

from ..loop.documents import CallsStep, Dropped, ModelUsage, RunFacts, Step, StepCall
from ..planner.messages import AssistantMessage, PlannedCall
from ..planner.planner import CallTools, PlanResult
from ..planner.portable import portable_arguments, portable_json, portable_text
from .plan_secrets import sensitive_tools

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""IDs that every provider accepts."""

_PIECE: Final = 64
"""Number of calls of a plan that are processed in one iteration of the event loop."""


async def calls_step(
    result: CallTools,
    snapshot: Snapshot,
    offered: Sequence[RegisteredTool | None],
    facts: RunFacts,
    ids: PlannedCallIds,
    limit: int,
) -> CallsStep:
    """Return the step of a plan that calls tools; texts and values of events have at most `limit` bytes.

    `offered` are the runtime's own tools that were offered in addition to the tools of the snapshot.
    """
    parent = facts["parent"]["tool_call_id"] if facts["parent"] else ""
    named = zip(result.calls, ids.all(call.id for call in result.calls), strict=True)
    calls = [
        _call(call, id_, snapshot, offered, parent, limit) async for call, id_ in in_pieces(named, _PIECE)
    ]
    return {"kind": "calls", "text": result.text, "calls": calls, "usage": []}


def _call(
    call: PlannedCall,
    id_: str,
    snapshot: Snapshot,
    offered: Sequence[RegisteredTool | None],
    parent_id: str,
    limit: int,
) -> StepCall:
    """Return a planned call for the loop."""
    tool = snapshot.directory.by_name.get(call.name)
    if tool is None:
        tool = next((each for each in offered if each and each.spec.name == call.name), None)
    arguments = call.arguments if call.arguments.strip() else "{}"
    start = planned_start(
        tool.spec if tool else None,
        call.name,
        arguments,
        parent_tool_call_id=parent_id,
        runs_once=tool is not None and not tool.may_repeat,
        limit=limit,
    )
    if tool is None and sensitive_tools(snapshot).streamed is not None:
        start = replace(start, arguments=None)  # it is unknown which arguments are sensitive
    step_call: StepCall = {
        "id": id_,
        "name": call.name,
        "arguments": arguments,
        "tool": tool.spec.id if tool else call.name,
        "tags": list(tool.spec.tags) if tool else [],
        "is_bookkeeping": tool.spec.is_bookkeeping if tool else False,
        "is_sequential": tool.spec.is_sequential if tool else False,
        "starts_run": tool.starts_run if tool else False,
        "start": as_json(start),
    }
    if tool is not None and (key := _sequential_key(tool, arguments)):
        step_call["sequential_key"] = key
    return step_call


def _sequential_key(tool: RegisteredTool, arguments: str) -> str:
    """Return the key of the calls in a batch that must run one at a time; "" to include all of them.

    All calls of a run have one session, so `session` includes all. The value of an injected argument is not
    known before the call, so it includes all too. A value may be sensitive, so the key is its digest.
    """
    by = tool.spec.sequential_by
    if by in ("", SESSION) or by in tool.spec.injected:
        return ""
    try:
        payload = tool.spec.payload.decode_null_as_absent(arguments)
    except ToolValidationError:  # the call is not executed
        return ""
    return hashlib.sha256(repr(tool.lock_key(payload, NO_META)).encode()).hexdigest()


def with_run_ids(result: PlanResult, step: Step) -> PlanResult:
    """Return the plan with the call ids that the run assigned, without rejected calls."""
    if not isinstance(result, CallTools):
        return result
    if step["kind"] != "calls":
        return CallTools(calls=(), text=result.text)
    named = tuple(
        PlannedCall(name=call["name"], arguments=call["arguments"], id=call["id"]) for call in step["calls"]
    )
    return replace(result, calls=named)


async def portable_message(message: AssistantMessage) -> AssistantMessage:
    """Return a planner's message in the form that the conversation stores and every provider accepts."""
    calls = [_portable_call(call) async for call in in_pieces(message.calls, _PIECE)]
    return replace(message, calls=tuple(calls), native=portable_json(message.native))


def _portable_call(call: PlannedCall) -> PlannedCall:
    arguments = portable_arguments(call.arguments)
    return call if arguments == call.arguments else replace(call, arguments=arguments)


class PlannedCallIds:
    """Assigns IDs to the calls of one planning; keeps a planner's own ID if it is new.

    If a run does not see all calls of its session, its IDs contain a mark of the run. That is the case for a
    run that answers a call, because several can run at once, and for a run whose history policy hides turns.
    """

    def __init__(self, run_id: str, step: int, *, is_alone: bool) -> None:
        self._step = step
        self._mark = f"_{hashlib.sha256(run_id.encode()).hexdigest()[:12]}" if is_alone else ""
        self._taken: Set[str] = frozenset()
        """IDs of the session's calls; the conversation adds to this set."""
        self._new_ids: set[str] = set()
        self._assigned: dict[str, str] = {}
        """IDs in the conversation by the planner's own ID."""

    def reserve(self, ids: Set[str]) -> None:
        """Reserve the ids of earlier calls of the session, before the first id is assigned."""
        self._taken = ids

    def assign_id(self, own: str) -> str:
        """Assign an id to a call while it is still streamed, and return it."""
        if own and own not in self._assigned:
            self._assigned[own] = self._new(own, len(self._assigned))
        return self._assigned.get(own, own)

    def all(self, own: Iterable[str]) -> list[str]:
        """Return the IDs of calls in order, given the planner's own IDs; "" is a call without an ID."""
        ids: list[str] = []
        for place, id_ in enumerate(own):
            assigned = self._assigned.pop(id_, "")  # if two calls have the same ID, the second needs another
            ids.append(assigned or self._new(id_, place))
        return ids

    def _new(self, own: str, place: int) -> str:
        id_, number = "" if self._mark else own, 1
        while not _ID.fullmatch(id_) or id_ in self._taken or id_ in self._new_ids:
            id_ = f"call_{self._step}_{place}{self._mark}" + (f"_{number}" if number > 1 else "")
            number += 1
        self._new_ids.add(id_)
        return id_


class PlanEvents:
    """The `PlanReports` of one attempt at a planning."""

    def __init__(
        self,
        info: ActivityInfo,
        meta: CallMeta,
        clock: Callable[[], float],
        ids: PlannedCallIds,
        limit: int,
        attempt: int = 1,
    ) -> None:
        """Construct the reports of one attempt; each text is truncated to `limit` bytes."""
        self._limit = limit
        self._emit = info.emit
        self._attempt = attempt
        self._meta = meta
        self._clock = clock
        self.ids = ids
        self.spent: list[ModelUsage] = []
        """Usage reported through `usage`; the loop publishes each item once."""
        self._streamed: frozenset[str] | None = None
        self.without: list[Dropped] = []
        """Missing toolsets reported through `dropped`; the loop publishes each item once."""

    def text(self, delta: str) -> None:
        self._report(AssistantReply(text=self._truncate(delta), is_partial=True))

    def thought(self, text: str) -> None:
        self._report(PlannerThought(text=self._truncate(text)))

    def arguments(self, call_id: str, name: str, delta: str) -> None:
        if self._streamed is not None and name not in self._streamed:
            return
        self._report(
            ToolArgsDelta(name=self._truncate(name), delta=self._truncate(delta)), self.ids.assign_id(call_id)
        )

    def usage(self, model: str, input_tokens: int, output_tokens: int) -> None:
        self.spent.append({"model": model, "input_tokens": input_tokens, "output_tokens": output_tokens})

    def restarted(self, reason: str) -> None:
        self._report(PlanRetry(attempt=self._attempt, reason=self._truncate(reason)))

    def dropped(self, snapshot: Snapshot) -> None:
        """Record the tools of the request, and the toolsets that are missing from it.

        Arguments of a tool with sensitive arguments and of an unknown tool are not streamed.
        """
        self._streamed = sensitive_tools(snapshot).streamed
        self.without = [{"toolset": name, "reason": why} for name, why in snapshot.dropped.items()]

    def _truncate(self, text: str) -> str:
        return truncate_text(portable_text(text), self._limit)

    def _report(self, event: Event, tool_call_id: str = "") -> None:
        ids = {**ids_of(self._meta), "tool_call_id": tool_call_id}
        self._emit({**as_json(event), **ids, "time": self._clock()})
