"""Results that are not there yet: a question to a person, a missing credential, work elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, assert_never

from toolgen.contract.fields import Json

from .answers import checked_schema
from .context import ToolContext
from .errors import MalformedResultError
from .failures import denied
from .guard import UNAVAILABLE, approval_schema
from .host import Host
from .results import ToolResult, Unfinished
from .specs import ToolSpec

_CREDENTIAL: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {"available": {"type": "boolean"}, "message": {"type": "string"}},
    "required": ["available"],
    "additionalProperties": False,
}


async def suspend(
    spec: ToolSpec[Any, Any],
    unfinished: Unfinished,
    frozen: bytes,
    context: ToolContext,
    host: Host,
    answers: tuple[Json, ...],
) -> ToolResult:
    """Return the result of a call whose executor has none yet.

    Raises:
        MalformedResultError: the design does not say that the tool may answer later, or the
            acknowledgement does not fit.
        RuntimeError: the work is pending, and the runtime keeps no suspensions.
    """
    is_pending = unfinished.kind == "pending"
    if is_pending and spec.long_running is None:
        raise MalformedResultError(f"{spec.name} is pending, and its design does not say LongRunning")
    if host.suspensions is None and is_pending:
        raise RuntimeError(
            f"{spec.id} is pending, and this Runtime keeps no suspensions: Runtime(suspensions=…)"
        )
    if host.suspensions is None or (not host.is_interactive and not is_pending):
        message = f"{spec.name} has to ask a person, and there is nobody to ask"
        return denied(spec, message, context.meta, code=UNAVAILABLE)
    document = _acknowledged(spec, unfinished) if is_pending else b""
    suspended = await host.suspensions.open(
        kind=unfinished.kind,
        spec=spec,
        payload_json=frozen,
        meta=context.meta,
        question=unfinished.question,
        answer_schema=_schema(spec, unfinished),
        handle=unfinished.handle,
        request=unfinished.request,
        answers=answers,
        is_asked_by_tool=unfinished.kind == "confirmation",
    )
    host.reports.asked(suspended, context.meta)
    return ToolResult(
        tool=spec.id,
        status="pending" if document else "suspended",
        json=document,
        tool_call_id=context.meta.tool_call_id,
        suspension=suspended,
    )


def _acknowledged(spec: ToolSpec[Any, Any], unfinished: Unfinished) -> bytes:
    """Return what the model gets at once; nothing without an acknowledgement, and the turn waits."""
    codec = spec.long_running.ack if spec.long_running else None
    if unfinished.ack is None:
        return b""
    if codec is None:
        raise MalformedResultError(f"{spec.name} acknowledges, and its LongRunning has no ack")
    return codec.encode(unfinished.ack)


def _schema(spec: ToolSpec[Any, Any], unfinished: Unfinished) -> Any:
    match unfinished.kind:
        case "pending":
            return spec.result.schema
        case "credential":
            return _CREDENTIAL
        case "confirmation":
            return approval_schema(spec)
        case "input":
            return _question_schema(unfinished.schema)
        case _:
            assert_never(unfinished.kind)


def _question_schema(answer: type[Any] | Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the JSON Schema of an answer.

    Raises:
        MalformedResultError: no client can ask for it.
    """
    if answer is None:
        return {"type": "string"}
    if isinstance(answer, Mapping):
        checked: Mapping[str, Any] = checked_schema(answer)
        return checked
    from .questions import question_schema  # only a typed question needs the codecs of types

    return question_schema(answer)
