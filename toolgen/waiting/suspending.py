"""Suspends calls: for a question to a person, a missing credential, or work elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any, Final, assert_never

from toolgen.calls.answer_schema import checked_schema
from toolgen.calls.call import FrozenCall
from toolgen.calls.errors import MalformedResultError, RuntimeClosedError, ToolError
from toolgen.calls.reports import SILENT
from toolgen.calls.results import Pending, RetryHint, ToolResult, Unfinished
from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.failures import error_result
from toolgen.calls.steps.frame import Frame, RuntimeServices
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.calls.steps.result_encoding import truncation_marker
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.limits import portable_text
from toolgen.contract.names import UNAVAILABLE
from toolgen.contract.record import frozen_record
from toolgen.contract.secrets import scrubbed, scrubbed_json

from .errors import UnsharedToolError
from .frozen import Question, new_id
from .options import WaitOptions
from .wait_registry import WaitRegistry

TOO_MANY: Final = "too many calls already wait for an answer; answer one of them first"
"""Reason with which further calls are denied."""

_CREDENTIAL: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {"available": {"type": "boolean"}, "message": {"type": "string"}},
    "required": ["available"],
    "additionalProperties": False,
}


@frozen_record
class CallSuspender:
    """Suspends calls of one runtime, until the run of each has an answer."""

    waits: WaitRegistry
    is_found_again: Callable[[RegisteredTool], bool] | None = None
    """Returns whether the workers of the engine can find a tool themselves; None if they can find every
    tool."""
    further_bytes: Callable[[], int] = int
    """Returns the bytes of JSON that the engine stores in addition to a suspended call, for its run."""

    def obstacle(self, tool: RegisteredTool) -> ToolgenError | None:
        """Return the reason why calls of a tool cannot be suspended: only its caller has the tool."""
        if self.is_found_again is None or self.is_found_again(tool):
            return None
        return UnsharedToolError(tool.spec.id, tool.toolset)

    async def ask(
        self, frame: Frame, frozen: bytes, question: str, preview: str, *, is_shortened: bool
    ) -> ToolResult:
        spec = frame.spec
        if self.waits.refuses:
            raise RuntimeClosedError(spec.id)
        if (denied := await self._without_place(frame, "needs approval, but")) is not None:
            return denied
        call = self._approval(frame, frozen, question, preview, is_shortened)
        return suspended_result(frame.services, await grantable(self.waits, spec, call))

    async def granted(
        self, frame: Frame, frozen: bytes, question: str, preview: str, *, is_shortened: bool
    ) -> bool:
        from .grant_uses import prepare_use  # few tools allow grants

        call = self._approval(frame, frozen, question, preview, is_shortened)
        ask = partial(self.ask, frame, frozen, question, preview, is_shortened=is_shortened)
        return await prepare_use(self.waits, frame, call, ask)

    def _approval(
        self, frame: Frame, frozen: bytes, question: str, preview: str, is_shortened: bool
    ) -> FrozenCall:
        """Return the call, frozen for the approval question."""
        approval = Question(
            kind="confirmation",
            question=question,
            preview=preview,
            is_shortened=is_shortened,
            answer_schema=approval_schema(frame.spec),
        )
        return freeze(frame, frozen, approval, self.waits.options)

    async def suspend(self, frame: Frame, unfinished: Unfinished | Pending, frozen: bytes) -> ToolResult:
        spec, document = frame.spec, b""
        if isinstance(unfinished, Pending):
            document = _acknowledgement(spec, unfinished)
            question = _pending(spec, unfinished)
        elif (denied := await self._without_place(frame, "needs a person's answer, but")) is not None:
            return denied
        else:
            question = _executor_question(spec, unfinished)
        result = suspended_result(frame.services, freeze(frame, frozen, question, self.waits.options))
        if document and result.frozen is not None:
            shown = document if len(document) <= frame.limit else truncation_marker(document, frame.limit)
            return replace(result, status="pending", json=shown)
        return result

    async def _without_place(self, frame: Frame, what: str) -> ToolResult | None:
        """Return the denial of a call if too many calls of its session are suspended; None otherwise.

        Raises:
            ToolError: the call has asked too many questions.
        """
        self.waits.require_question_left(frame.spec.name, len(frame.answers))
        if not await self.waits.is_full(frame.meta.session_id):
            return None
        return frame.denied_result(f"{frame.spec.name} {what} {TOO_MANY}", code=UNAVAILABLE)


def freeze(frame: Frame, payload_json: bytes, question: Question, options: WaitOptions) -> FrozenCall:
    """Return the call of a frame, frozen with the arguments that will run."""
    spec, now = frame.spec, options.clock()
    facts: dict[str, Any] = {field.name: getattr(question, field.name) for field in fields(question)}
    own = portable_text(question.question)
    text = scrubbed(own)
    shown = {
        "question": text,
        "own_question": "" if own == text else own,
        "preview": scrubbed(portable_text(question.preview)),
        "request": scrubbed_json(question.request),
    }
    return FrozenCall(
        **facts | shown,
        id=new_id(),
        tool=spec.id,
        spec_digest=spec.approval_digest,
        payload_json=payload_json,
        meta=frame.meta,
        created_at=now,
        expires_at=now + options.expires_s,
        idempotency_key=frame.context.idempotency_key,
        answers=frame.answers,
        sensitive=spec.payload.sensitive,
        trace="" if frame.services.spans is None else frame.services.spans.here(),
    )


async def grantable(waits: WaitRegistry, spec: ToolSpec, frozen: FrozenCall) -> FrozenCall:
    """Return a call that requests approval; its answer can grant further calls if that is allowed."""
    if spec.confirm is None or not spec.confirm.grantable:
        return frozen
    from .grants import GRANT, grant_schema, may_be_granted

    if not await may_be_granted(waits, spec, frozen):
        return frozen
    schema: dict[str, Any] = dict(frozen.answer_schema)
    schema["properties"] = {**schema["properties"], GRANT: grant_schema(spec, waits.options)}
    return replace(frozen, answer_schema=schema)


def suspended_result(services: RuntimeServices, frozen: FrozenCall) -> ToolResult:
    """Emit that a call is suspended and return its result.

    If the call is larger than the engine accepts, return an error, and the call is not suspended.
    """
    suspender = services.suspender
    assert isinstance(suspender, CallSuspender), "nothing waits without"
    if too_large := suspender.waits.too_large(frozen, suspender.further_bytes()):
        message = f"{frozen.tool.rpartition('.')[2]} cannot wait for an answer: {too_large}"
        hint = RetryHint(reason="invalid_arguments", tool=frozen.tool, message=message)
        error = ToolError(message, retry_hint=hint)
        return error_result(frozen.tool, error, frozen.meta, services.limits.result_bytes)
    if services.reports is not SILENT:
        services.reports.emit_answer_requested(frozen)
    if services.metrics is not None:
        services.metrics.open_wait(frozen.kind)
    return ToolResult(
        tool=frozen.tool, status="suspended", tool_call_id=frozen.meta.tool_call_id, frozen=frozen
    )


def approval_schema(spec: ToolSpec) -> dict[str, Json]:
    """Return the JSON Schema of an answer to a confirmation."""
    properties: dict[str, Json] = {"approved": {"type": "boolean"}, "message": {"type": "string"}}
    schema: dict[str, Json] = {
        "type": "object",
        "properties": properties,
        "required": ["approved"],
        "additionalProperties": False,
    }
    if spec.confirm is not None and spec.confirm.payload is not None:
        payload = spec.confirm.payload.schema
        if "$defs" in payload:  # its references point to the root
            schema["$defs"] = payload.pop("$defs")
        properties["payload"] = payload
    return schema


def _pending(spec: ToolSpec, pending: Pending) -> Question:
    return Question(kind="pending", answer_schema=spec.result.schema, handle=pending.handle)


def _executor_question(spec: ToolSpec, unfinished: Unfinished) -> Question:
    """Return the question of an executor.

    Raises:
        MalformedResultError: the question, its schema, the request or the resume state does not fit.
    """
    return Question(
        kind=unfinished.kind,
        question=_question(spec, unfinished.question),
        answer_schema=_schema(spec, unfinished),
        request=_request(spec, unfinished.request),
        is_asked_by_tool=unfinished.kind == "confirmation",
        resume_state=_json(unfinished.resume_state, f"the resume state of {spec.name}"),
    )


def _acknowledgement(spec: ToolSpec, pending: Pending) -> bytes:
    """Return the model's acknowledgement; empty if the design declares none, so that the model waits.

    Raises:
        MalformedResultError: the handle is not a text, or the acknowledgement is not the declared one.
    """
    assert spec.long_running is not None, "no other tool has an acknowledgement"
    handle: object = pending.handle
    if not isinstance(handle, str) or not handle:
        raise MalformedResultError(
            f"{spec.name} returned a pending result whose handle is {_shown(handle)}; it must be a "
            "non-empty string: ToolOutcome.pending(handle, ack)"
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
            f"{spec.name} returned a pending result without its acknowledgement: its design declares "
            f"LongRunning(ack={codec.name}), so return ToolOutcome.pending(handle, {codec.name}(…))"
        )
    try:
        return codec.encode(pending.ack)
    except MalformedResultError as error:
        raise MalformedResultError(f"the acknowledgement of {spec.name} does not fit: {error}") from error


def _shown(handle: object) -> str:
    return "an empty string" if handle == "" else f"a value of type {type(handle).__name__}"


def _schema(spec: ToolSpec, unfinished: Unfinished) -> Any:
    match unfinished.kind:
        case "credential":
            return _CREDENTIAL
        case "confirmation":
            return approval_schema(spec)
        case "input":
            return _question_schema(unfinished.schema)
        case _:
            assert_never(unfinished.kind)


def _question(spec: ToolSpec, question: object) -> str:
    """Return the question for a person.

    Raises:
        MalformedResultError: it is not a text.
    """
    if not isinstance(question, str):
        raise MalformedResultError(
            f"the question of {spec.name} must be a string, not a value of type {type(question).__name__}"
        )
    return question


def _request(spec: ToolSpec, request: object) -> Mapping[str, Json] | None:
    """Return the request of a missing credential, as stored in the journal.

    Raises:
        MalformedResultError: it is not a JSON object.
    """
    if request is None:
        return None
    if not isinstance(request, Mapping):
        kind = type(request).__name__
        raise MalformedResultError(f"the credential request of {spec.name} must be an object, not a {kind}")
    document: dict[str, Json] = _json(dict(request), f"the credential request of {spec.name}")
    return document


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
        MalformedResultError: clients cannot ask for answers of this type.
    """
    if answer is None:
        return {"type": "string"}
    if isinstance(answer, Mapping):
        checked: Mapping[str, Any] = _json(dict(checked_schema(answer)), "the schema of a question")
        return checked
    from toolgen.calls.functions.questions import (
        question_schema,  # only a typed question needs the codecs of types
    )

    return question_schema(answer)
