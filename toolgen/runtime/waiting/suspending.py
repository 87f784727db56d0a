"""Suspends calls: for a question to a person, a missing credential, or work elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, assert_never

from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.contract.names import UNAVAILABLE

from ..call.authorization import TOO_MANY, approval_schema, freeze, suspended_result
from ..call.frame import Frame
from ..call.result_encoding import truncate_document
from ..errors import MalformedResultError
from ..results import Pending, ToolResult, Unfinished
from ..specs import ToolSpec
from .answer_schema import checked_schema
from .errors import NoEngineError
from .frozen import Asked

log = logger("toolgen.runtime")

_CREDENTIAL: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {"available": {"type": "boolean"}, "message": {"type": "string"}},
    "required": ["available"],
    "additionalProperties": False,
}


def refuse_work(frame: Frame) -> ToolResult:
    """Return the denial of a call whose result may come later, where nothing can wait for it."""
    spec, services = frame.spec, frame.services
    error = services.no_wait or NoEngineError("this runtime has no engine")
    log.warning("%s was not run: %s; %s", spec.id, error.message, error.hint)
    services.reports.emit_authorization(spec.id, frame.meta, "denied", "runtime", UNAVAILABLE)
    message = f"{spec.name} was not run: its result comes later, and {error.message}"
    return frame.denied_result(message, code=UNAVAILABLE)


async def suspend(frame: Frame, unfinished: Unfinished | Pending[Any], frozen: bytes) -> ToolResult:
    """Suspend a call whose executor has no result yet, and return its result with the frozen arguments.

    Raises:
        MalformedResultError: the design does not say that the tool may answer later, or its handle, its
            acknowledgement, its question, the schema of it or its request for a credential does not fit.
        ToolError: the call has asked too many questions.
    """
    spec, services = frame.spec, frame.services
    asked = None if isinstance(unfinished, Pending) else unfinished
    document = _acknowledgement(spec, unfinished) if isinstance(unfinished, Pending) else b""
    if services.waits is None or (not services.is_interactive and asked is not None):
        message = f"{spec.name} has to ask a person, but {services.nobody_to_ask}"
        return frame.denied_result(message, code=UNAVAILABLE)
    if asked is not None:
        services.waits.require_question_left(spec.name, len(frame.answers))
    if asked is not None and await services.waits.is_full(frame.meta.session_id):
        return frame.denied_result(f"{spec.name} has to ask a person, and {TOO_MANY}", code=UNAVAILABLE)
    question = _pending(spec, unfinished) if isinstance(unfinished, Pending) else _asked(spec, unfinished)
    result = suspended_result(services, freeze(frame, frozen, question, services.waits.options))
    if document and result.frozen is not None:
        return replace(result, status="pending", json=truncate_document(document, frame.limit))
    return result


def _pending(spec: ToolSpec[Any, Any], pending: Pending[Any]) -> Asked:
    return Asked(kind="pending", answer_schema=spec.result.schema, handle=pending.handle)


def _asked(spec: ToolSpec[Any, Any], unfinished: Unfinished) -> Asked:
    """Return what an executor asks.

    Raises:
        MalformedResultError: the question, its schema, the request or what is kept does not fit.
    """
    return Asked(
        kind=unfinished.kind,
        question=_question(spec, unfinished.question),
        answer_schema=_schema(spec, unfinished),
        request=_request(spec, unfinished.request),
        is_asked_by_tool=unfinished.kind == "confirmation",
        keep=_json(unfinished.keep, f"what {spec.name} keeps"),
    )


def _acknowledgement(spec: ToolSpec[Any, Any], pending: Pending[Any]) -> bytes:
    """Return the model's acknowledgement; nothing where the design declares none, and the model waits.

    Raises:
        MalformedResultError: the tool's design does not say `LongRunning`, the handle is no text, or the
            acknowledgement is not the one that is declared.
    """
    if spec.long_running is None:
        raise MalformedResultError(f"{spec.name} returned pending, but its design has no LongRunning")
    handle: object = pending.handle
    if not isinstance(handle, str) or not handle:
        raise MalformedResultError(
            f"{spec.name} is pending under {_shown(handle)}, and a handle is a text that is not empty: "
            "ToolOutcome.pending(handle, ack)"
        )
    codec = spec.long_running.ack
    if codec is None and pending.ack is not None:
        raise MalformedResultError(
            f"{spec.name} returned an acknowledgement, but its LongRunning declares no ack"
        )
    if codec is None:
        return b""
    if pending.ack is None:
        raise MalformedResultError(
            f"{spec.name} is pending without its acknowledgement: its design declares "
            f"LongRunning(ack={codec.name}), so return ToolOutcome.pending(handle, {codec.name}(…))"
        )
    try:
        return codec.encode(pending.ack)
    except MalformedResultError as error:
        raise MalformedResultError(f"the acknowledgement of {spec.name} does not fit: {error}") from error


def _shown(handle: object) -> str:
    return "an empty text" if handle == "" else f"a {type(handle).__name__}"


def _schema(spec: ToolSpec[Any, Any], unfinished: Unfinished) -> Any:
    match unfinished.kind:
        case "credential":
            return _CREDENTIAL
        case "confirmation":
            return approval_schema(spec)
        case "input":
            return _question_schema(unfinished.schema)
        case _:
            assert_never(unfinished.kind)


def _question(spec: ToolSpec[Any, Any], question: object) -> str:
    """Return the question for a person.

    Raises:
        MalformedResultError: it is no text.
    """
    if not isinstance(question, str):
        raise MalformedResultError(f"{spec.name} asks a {type(question).__name__}, and a question is a text")
    return question


def _request(spec: ToolSpec[Any, Any], request: object) -> Mapping[str, Json] | None:
    """Return the request of a missing credential, as the journal keeps it.

    Raises:
        MalformedResultError: it is no JSON object.
    """
    if request is None:
        return None
    if not isinstance(request, Mapping):
        kind = type(request).__name__
        raise MalformedResultError(f"{spec.name} needs a credential by a {kind}, and a request is an object")
    kept: dict[str, Json] = _json(dict(request), f"the request of {spec.name}")
    return kept


def _json(value: Any, what: str) -> Any:
    """Return a value after a round trip through its JSON text.

    Raises:
        MalformedResultError: it is not JSON.
    """
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise MalformedResultError(f"{what} is not JSON: {error}") from error
    return json.loads(text)


def _question_schema(answer: type[Any] | Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the JSON Schema of an answer.

    Raises:
        MalformedResultError: no client can ask for it.
    """
    if answer is None:
        return {"type": "string"}
    if isinstance(answer, Mapping):
        checked: Mapping[str, Any] = _json(dict(checked_schema(answer)), "the schema of a question")
        return checked
    from .questions import question_schema  # only a typed question needs the codecs of types

    return question_schema(answer)
