"""Validation of the value that a planner returned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, Final, get_args

from pydantic_core import to_json

from toolgen.engines import NonRetryableError

from ..loop.documents import AwaitKind
from .messages import PlannedCall
from .planner import Await, CallTools, FinalResponse, FinalResult, HandOver, PlanResult
from .portable import escaped_text, portable_text
from .provider_facts import ProviderFacts, portable_facts

_KINDS: Final = get_args(AwaitKind)
_CALL: Final = 'PlannedCall.of("name", {"argument": …})'


class PlannerError(NonRetryableError):
    """A planner cannot plan, and a retry would fail too; the message has the reason."""


def checked_plan(result: PlanResult, who: str = "the planner") -> PlanResult:
    """Validate the value that a planner returned, and return it; `who` names the planner in errors.

    Raises:
        PlannerError: it is none of the five plans, or one of its fields has the wrong type.
    """
    if wrong := "; ".join(faults(result)):
        raise PlannerError(f"{who} returned {type(result).__name__}; {wrong}")
    return without_surrogates(result)


def misused_record(error: Exception, who: str) -> PlannerError | None:
    """Return the error for a planner that constructs a plan with wrong arguments; None for another error.

    A retry would fail too.
    """
    for kind in (PlannedCall, CallTools, FinalResponse, FinalResult, Await, HandOver):
        if isinstance(error, TypeError) and str(error).startswith(f"{kind.__name__}.__init__()"):
            names = ", ".join(f"{field.name}=…" for field in fields(kind) if field.init)
            written = _CALL if kind is PlannedCall else f"{kind.__name__}({names})"
            return PlannerError(f"{who} failed: {error}; write {written}")
    return None


def faults(result: object) -> Iterator[str]:
    """Yield the type errors of the value that a planner returned."""
    match result:
        case CallTools():
            yield from _no_texts(result, "text")
            yield from _wrong_calls(result.calls)
            yield from _no_facts(result.provider)
        case FinalResponse():
            yield from _no_texts(result, "text")
            truncated: object = result.is_truncated
            if not isinstance(truncated, bool):
                yield f"its is_truncated has the type {type(truncated).__name__}; it must be a bool"
            yield from _no_facts(result.provider)
        case FinalResult():
            yield from _no_texts(result, "text")
            yield from _no_json(result.result)
            yield from _no_facts(result.provider)
        case Await():
            yield from _no_texts(result, "question", "restrict_to_tool", "text")
            if result.kind not in _KINDS:
                yield f"its kind is {result.kind!r}; kinds are {', '.join(_KINDS)}"
            if not _is_row(result.missing_fields, str):
                yield "its missing_fields are not a tuple of strings"
            schema: object = result.schema
            if not isinstance(schema, Mapping | None):
                yield f"its schema has the type {type(schema).__name__}; it must be a mapping"
        case HandOver():
            yield from _no_texts(result, "agent", "message")
        case _:
            yield "it must return CallTools, FinalResponse, FinalResult, Await or HandOver"


def without_surrogates(result: PlanResult) -> PlanResult:
    """Return the result without lone surrogates, which logs and stores reject."""
    match result:
        case CallTools():
            calls = tuple(map(_without_surrogates, result.calls))
            facts = portable_facts(result.provider)
            return replace(result, text=portable_text(result.text), calls=calls, provider=facts)
        case FinalResponse() | FinalResult():
            facts = portable_facts(result.provider)
            return replace(result, text=portable_text(result.text), provider=facts)
        case Await():
            missing = tuple(map(portable_text, result.missing_fields))
            question, text = portable_text(result.question), portable_text(result.text)
            return replace(result, question=question, text=text, missing_fields=missing)
        case HandOver():
            return replace(result, agent=portable_text(result.agent), message=portable_text(result.message))


def _without_surrogates(call: PlannedCall) -> PlannedCall:
    name, arguments = portable_text(call.name), escaped_text(call.arguments)
    is_same = (name, arguments) == (call.name, call.arguments)
    return call if is_same else replace(call, name=name, arguments=arguments)


def _no_texts(result: object, *names: str) -> Iterator[str]:
    for name in names:
        value = getattr(result, name)
        if not isinstance(value, str):
            yield f"its {name} has the type {type(value).__name__}; it must be a string"


def _no_facts(facts: object) -> Iterator[str]:
    if not isinstance(facts, ProviderFacts | None):
        yield f"its provider has the type {type(facts).__name__}; it must be a ProviderFacts"


def _wrong_calls(calls: Any) -> Iterator[str]:
    if not _is_row(calls, PlannedCall):
        yield f"its calls are {_shown(calls)}, not a tuple of PlannedCall"
        return
    for call in calls:
        yield from _no_texts(call, "name", "id")
        arguments: object = call.arguments
        if not isinstance(arguments, str):
            kind = type(arguments).__name__
            yield f"the arguments of its call of {call.name!r} have the type {kind}; write {_CALL}"


def _shown(calls: object) -> str:
    """Return the type of a value that should be calls, with the types of its items if it is a sequence."""
    kind = type(calls).__name__
    if not isinstance(calls, tuple | list):
        return f"a value of type {kind}"
    return f"a {kind} of {', '.join(dict.fromkeys(type(call).__name__ for call in calls))}"


def _no_json(value: object) -> Iterator[str]:
    try:
        to_json(value)
    except Exception as error:  # noqa: BLE001 - any exception of the author's value is the fault
        yield f"its result is not JSON: {error}"


def _is_row(values: object, kind: type) -> bool:
    return isinstance(values, tuple | list) and all(isinstance(value, kind) for value in values)
