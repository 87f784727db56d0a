"""The authorization of a call: by the host's policy, and by people where the design wants a confirmation."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Final

from toolgen.contract.json_value import Json
from toolgen.contract.limits import UNLIMITED
from toolgen.contract.names import UNAVAILABLE
from toolgen.contract.secrets import scrubbed, scrubbed_json
from toolgen.shapes.sensitive import for_people

from ..calls import ToolCall
from ..errors import ToolError
from ..results import RetryHint, ToolResult
from ..specs import ConfirmSpec, ToolSpec
from ..waiting.frozen import Asked, FrozenCall, new_id
from ..waiting.options import WaitOptions
from .boundary import run_with_timeout
from .failures import error_result
from .frame import Frame, RuntimeServices
from .hooks import Deny
from .policy import Allow, Ask
from .registered_tool import RegisteredTool
from .result_encoding import is_shortened_by, portable_text, render_template

TOO_MANY: Final = "too many calls wait for an answer already; answer one of them first"
"""Why a further one is denied."""


async def authorize(frame: Frame, call: ToolCall) -> ToolResult | None:
    """Authorize a call by policy and confirmation; return a result that ends it, or None when it may run.

    The call has its frozen arguments. Of one that a person has approved the policy is asked again, and only
    its `Deny` counts.

    Raises:
        ToolError: a person has to be asked, and the call has asked too many questions.
        Exception: what the policy, the preview or the engine raises; the call has failed then.
    """
    spec, services, frozen = frame.spec, frame.services, call.payload_json
    is_approved = frame.resumption is not None and frame.resumption.is_approved
    if is_approved and services.policy is None:
        return None
    arguments: Mapping[str, Json] = json.loads(frozen)
    places = spec.payload.sensitive
    shown = for_people(arguments, places) if places else arguments
    preview = await run_with_timeout(services.stage_timeout, _preview(frame.tool, frozen, shown))
    question = ""
    must_ask = False
    is_shortened = frame.tool.preview is None and is_shortened_by(spec.call_hint, shown)
    match await _policy_decision(frame, call, preview):
        case Deny(message=message):
            services.reports.emit_authorization(spec.id, frame.meta, "denied", "policy", message)
            return frame.denied_result(message)
        case Ask(question=question):
            must_ask = True
        case Allow():
            pass
    if is_approved:
        return None
    if spec.confirm is not None and _needs_confirmation(spec.confirm, arguments):
        must_ask = True
        if not question:
            question = render_template(spec.confirm.hint, shown)
            is_shortened = is_shortened or is_shortened_by(spec.confirm.hint, shown)
    if not must_ask:
        return None
    asked = Asked(
        kind="confirmation",
        question=question or f"Run {spec.title}?",
        preview=preview,
        is_shortened=is_shortened,
        answer_schema=approval_schema(spec),
    )
    return await _ask(frame, frozen, asked)


async def _ask(frame: Frame, frozen: bytes, asked: Asked) -> ToolResult:
    """Suspend a call with these arguments until a person has answered; deny it where nobody can.

    Raises:
        ToolError: the call has asked too many questions.
    """
    spec, services = frame.spec, frame.services
    waits = services.waits if services.is_interactive else None
    if waits is None:
        services.reports.emit_authorization(spec.id, frame.meta, "denied", "runtime", UNAVAILABLE)
        message = f"{spec.name} needs approval, but {services.nobody_to_ask}"
        return frame.denied_result(message, code=UNAVAILABLE)
    waits.require_question_left(spec.name, len(frame.answers))
    if await waits.is_full(frame.meta.session_id):
        return frame.denied_result(f"{spec.name} needs approval, but {TOO_MANY}", code=UNAVAILABLE)
    return suspended_result(services, freeze(frame, frozen, asked, waits.options))


def freeze(frame: Frame, payload_json: bytes, asked: Asked, options: WaitOptions) -> FrozenCall:
    """Return the call of a frame, frozen with the arguments that will run."""
    spec, now = frame.spec, options.clock()
    facts: dict[str, Any] = {one.name: getattr(asked, one.name) for one in fields(asked)}
    own = portable_text(asked.question)
    question = scrubbed(own)
    shown = {
        "question": question,
        "own_question": "" if own == question else own,
        "preview": scrubbed(portable_text(asked.preview)),
        "request": scrubbed_json(asked.request),
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


def suspended_result(services: RuntimeServices, frozen: FrozenCall) -> ToolResult:
    """Emit that a call is suspended and return its result.

    Of one that is larger than the engine keeps, it is an error, and nothing waits.
    """
    assert services.waits is not None, "nothing waits without"
    if excess := services.waits.excess(frozen, services.beside()):
        message = f"{frozen.tool.rpartition('.')[2]} cannot wait for an answer: {excess}"
        hint = RetryHint(reason="invalid_arguments", tool=frozen.tool, message=message)
        error = ToolError(message, retry_hint=hint)
        return error_result(frozen.tool, error, frozen.meta, services.limits.result_bytes)
    services.reports.emit_answer_requested(frozen)
    if services.metrics is not None:
        services.metrics.open_wait(frozen.kind)
    return ToolResult(
        tool=frozen.tool, status="suspended", tool_call_id=frozen.meta.tool_call_id, frozen=frozen
    )


async def _policy_decision(frame: Frame, call: ToolCall, preview: str) -> Allow | Ask | Deny:
    """Return the decision of the host's policy; without a policy the call may run.

    Raises:
        TypeError: it decides none of the three, or with a text that is no string.
        Exception: what the policy raises.
    """
    spec, policy = frame.spec, frame.services.policy
    if policy is None:
        return Allow()
    # A copy: what was frozen stays as it is.
    looked_at = replace(call, payload=spec.payload.decode(call.payload_json, UNLIMITED))
    decision: object = await run_with_timeout(
        frame.services.stage_timeout, policy.decide(looked_at, spec, preview)
    )
    if not isinstance(decision, Allow | Ask | Deny):
        raise TypeError(f"the policy decided {type(decision).__name__}; it returns Allow, Ask or Deny")
    if isinstance(decision, Ask) and not isinstance(decision.question, str):
        raise TypeError(f"the policy asks a {type(decision.question).__name__}; a question must be a string")
    if isinstance(decision, Deny) and not isinstance(decision.message, str):
        raise TypeError(
            f"the policy denies with a {type(decision.message).__name__}; a message must be a string"
        )
    return decision


def approval_schema(spec: ToolSpec[Any, Any]) -> dict[str, Json]:
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
        if "$defs" in payload:  # its references lead to the root
            schema["$defs"] = payload.pop("$defs")
        properties["payload"] = payload
    return schema


def _needs_confirmation(confirm: ConfirmSpec, arguments: Mapping[str, Json]) -> bool:
    """Return whether the design's `Confirm` covers these arguments."""
    return all(arguments.get(name) in values for name, values in confirm.when.items())


async def _preview(tool: RegisteredTool, frozen: bytes, arguments: Mapping[str, Json]) -> str:
    """Return the preview of a call: by the executor's preview function, else by its call hint."""
    if tool.preview is None:
        return render_template(tool.spec.call_hint, arguments)
    said = tool.preview(tool.spec.payload.decode(frozen, UNLIMITED))
    return str(await said if inspect.isawaitable(said) else said)
