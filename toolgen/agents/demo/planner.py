"""The planner `demo`: it picks a tool by words, calls read-only tools, and asks before any other call.

It has no state: its question is stored in its own message of the conversation, so that another process can
continue its runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from toolgen.calls.specs import ToolSpec
from toolgen.contract.json_value import Json

from ..planner.messages import AssistantMessage, PlannedCall, ToolMessage, UserMessage
from ..planner.planner import (
    Await,
    CallTools,
    FinalResponse,
    FinalResult,
    HandOver,
    PlanInput,
    PlanResult,
)
from .filling import FilledArguments, converted, filled, is_yes, shown
from .matching import ToolMatch, best_match
from .rendering import result_text, typed_result

_WRITER: Final = "demo"
_WHO: Final = "Demo model (it matches words; it is not a language model)"
_MOST_TOOLS: Final = 12
_PIECE: Final = re.compile(r"\S+\s*|\s+")


class DemoPlanner:
    """Plans without a model: words of the message select a tool; message and example fill its arguments."""

    async def plan_start(self, plan_input: PlanInput) -> PlanResult:
        """Return the call of the matching tool, a question about it, or a list of the tools.

        Later it returns the newest results in words, or the call that a person agreed to.
        """
        newest = plan_input.messages[-1] if plan_input.messages else UserMessage(text="")
        if isinstance(newest, ToolMessage):
            return _final("\n\n".join(map(result_text, newest.answers)), plan_input)
        if plan_input.closing:
            why = plan_input.closing.replace("_", " ")
            return _final(f"{_WHO}: the run ends here ({why}).", plan_input)
        text = newest.text
        before = plan_input.messages[-2] if len(plan_input.messages) > 1 else None
        if isinstance(before, AssistantMessage) and (question := _question_facts(before)) is not None:
            if isinstance(newest, UserMessage) and newest.source == "runtime":
                return _final(f"{_WHO}: {question['tool']} was not called: {text}", plan_input)
            if (spec := _spec(question["tool"], plan_input.tools)) is not None:
                return _answered(spec, question, text, plan_input)
        if isinstance(newest, UserMessage) and newest.source == "runtime":
            return _final(f"{_WHO}: {text}", plan_input)
        return _begin(text, plan_input)

    plan_resume = plan_start


def _begin(text: str, plan_input: PlanInput) -> PlanResult:
    """Return the plan for a new message; a message from another agent is not handed over again."""
    newest = plan_input.messages[-1] if plan_input.messages else None
    is_from_agent = isinstance(newest, UserMessage) and newest.source == "agent"
    match = best_match(text, plan_input.tools, {} if is_from_agent else plan_input.transfers)
    if match is None:
        return _final(_offers(text, plan_input), plan_input)
    spec = _spec(match.name, plan_input.tools)
    if spec is None:
        return HandOver(agent=match.name, message=text)
    return _next(spec, filled(spec, text, match.words), match, plan_input)


def _answered(spec: ToolSpec, question: Mapping[str, Any], text: str, plan_input: PlanInput) -> PlanResult:
    """Return the plan after a person's answer, which is a missing argument or an approval."""
    arguments, sources = dict(question["arguments"]), dict(question["sources"])
    match = ToolMatch(name=spec.name, words=tuple(question["words"]), score=0.0)
    if not question["field"]:
        if is_yes(text):
            return _call(spec, arguments)
        return _final(f"{spec.name} was not called: you answered {text.strip()!r}.", plan_input)
    properties: Any = spec.payload.schema.get("properties")
    field: str = question["field"]
    arguments[field] = converted(text, properties.get(field))
    sources[field] = "your answer"
    missing = tuple(name for name in question["missing"] if name != field)
    return _next(
        spec, FilledArguments(arguments=arguments, sources=sources, missing=missing), match, plan_input
    )


def _next(spec: ToolSpec, draft: FilledArguments, match: ToolMatch, plan_input: PlanInput) -> PlanResult:
    """Return the call if it is complete and read-only; otherwise the question to ask first."""
    matched = f"{_WHO}: {_matched(match)} {spec.name}"
    listed = "; ".join(shown(draft.arguments, draft.sources))
    how = f"with {listed}" if listed else "without arguments"
    if draft.missing:
        field = draft.missing[0]
        properties: Any = spec.payload.schema.get("properties")
        about = str((properties.get(field) or {}).get("description", "")).strip()
        question = f"{matched}, which needs {field!r}{f' ({about})' if about else ''}. What is it?"
        native = _native(spec, draft, match, field)
        return Await(kind="clarification", question=question, missing_fields=(field,), native=native)
    if spec.hints["read_only"] or spec.confirm is not None:  # a tool with its own confirmation asks by itself
        return _announced_call(spec, draft, f"{matched}; I call it {how}.", plan_input)
    question = f"{matched}, which may change something. Shall I call it {how}?"
    native = _native(spec, draft, match, "")
    return Await(kind="confirmation", question=question, schema={"type": "boolean"}, native=native)


def _matched(match: ToolMatch) -> str:
    words = ", ".join(map(repr, match.words))
    return f"{words} {'matches' if len(match.words) == 1 else 'match'}"


def _announced_call(spec: ToolSpec, draft: FilledArguments, text: str, plan_input: PlanInput) -> PlanResult:
    _stream(text, plan_input)
    return CallTools(calls=(PlannedCall.of(spec.name, draft.arguments),), text=text)


def _call(spec: ToolSpec, arguments: Mapping[str, Json]) -> PlanResult:
    return CallTools(calls=(PlannedCall.of(spec.name, arguments),))


def _native(spec: ToolSpec, draft: FilledArguments, match: ToolMatch, field: str) -> dict[str, object]:
    """Return the planner's question for the conversation: the missing `field`, or "" for an approval."""
    return {
        "writer": _WRITER,
        "tool": spec.name,
        "arguments": draft.arguments,
        "sources": draft.sources,
        "missing": list(draft.missing),
        "words": list(match.words),
        "field": field,
    }


def _question_facts(message: AssistantMessage) -> Mapping[str, Any] | None:
    native: Any = message.native
    return native if isinstance(native, Mapping) and native.get("writer") == _WRITER else None


def _spec(name: str, tools: Iterable[ToolSpec]) -> ToolSpec | None:
    return next((spec for spec in tools if spec.name == name), None)


def _offers(text: str, plan_input: PlanInput) -> str:
    """Return a list of the tools, for a message whose words match nothing."""
    if not plan_input.tools:
        return f"{_WHO}: I have no tools here, so I can only repeat what you said: {text}"
    lines = [f"{_WHO}: no word of {text.strip()!r} matches a tool. These are the tools:"]
    for spec in plan_input.tools[:_MOST_TOOLS]:
        lines.append(f"- {spec.name}: {spec.description.partition(chr(10))[0].strip() or spec.title}")
    if len(plan_input.tools) > _MOST_TOOLS:
        lines.append(f"- and {len(plan_input.tools) - _MOST_TOOLS} more")
    example = next((spec for spec in plan_input.tools if spec.example), plan_input.tools[0])
    called = f"{example.name} {example.example or '{}'}"
    lines.append(f"Say what one of them does, or its name with arguments: {called}")
    return "\n".join(lines)


def _final(text: str, plan_input: PlanInput) -> PlanResult:
    """Return the plan that ends the run with a text, or with a result that fits the result schema."""
    if plan_input.result_schema is not None:
        answers = [
            answer
            for message in plan_input.messages
            if isinstance(message, ToolMessage)
            for answer in message.answers
        ]
        return FinalResult(result=typed_result(plan_input.result_schema, answers, text), text=text)
    _stream(text, plan_input)
    return FinalResponse(text=text)


def _stream(text: str, plan_input: PlanInput) -> None:
    for piece in _PIECE.findall(text):
        plan_input.reports.text(piece)
