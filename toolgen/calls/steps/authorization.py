"""Authorization of a call by the host's policy, and by people if the design requires a confirmation."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolgen.contract.boundary import run_with_timeout
from toolgen.contract.limits import UNLIMITED, is_shortened_by, render_template
from toolgen.contract.names import UNAVAILABLE

from .hooks import Deny
from .policy import Allow, Ask

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json

    from ..call import ToolCall
    from ..results import ToolResult
    from ..specs import ConfirmSpec, ToolSpec
    from .frame import Frame
    from .registered_tool import RegisteredTool


async def authorize(frame: Frame, call: ToolCall) -> ToolResult | None:
    """Authorize a call by policy and confirmation; return a result that ends it, or None to execute it.

    The call has its frozen arguments. If a person has approved the call, the policy is evaluated again, but
    only its `Deny` counts.

    Raises:
        RuntimeClosedError: a person has to be asked, but no engine can store the question.
        ToolError: a person has to be asked, but the call has asked too many questions.
        Exception: an exception of the policy, the preview or the engine; the call has then failed.
    """
    spec, services, frozen = frame.spec, frame.services, call.payload_json
    is_approved = frame.resumption is not None and frame.resumption.is_approved
    if is_approved and services.policy is None:
        return None
    arguments: Mapping[str, Json] = json.loads(frozen)
    shown = spec.payload.for_people(arguments)
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
        _run_frozen(call, spec)
        return None
    suspender = services.suspender
    if (why := frame.nobody_to_ask) or suspender is None:
        services.reports.emit_authorization(spec.id, frame.meta, "denied", "runtime", UNAVAILABLE)
        return frame.denied_result(f"{spec.name} needs approval, but {why}", code=UNAVAILABLE)
    question = question or f'Allow "{spec.title}"?'
    request = frame, frozen, question, preview
    is_grantable = spec.confirm is not None and spec.confirm.grantable
    if is_grantable and await suspender.granted(*request, is_shortened=is_shortened):
        _run_frozen(call, spec)
        return None
    return await suspender.ask(*request, is_shortened=is_shortened)


def _run_frozen(call: ToolCall, spec: ToolSpec) -> None:
    """Set the payload to exactly the arguments that were authorized, as after an answer.

    The payload from the model's text may have fields that its type does not encode.
    """
    mine: Any = call
    mine.payload = spec.payload.decode_null_as_absent(call.payload_json, UNLIMITED)


async def _policy_decision(frame: Frame, call: ToolCall, preview: str) -> Allow | Ask | Deny:
    """Return the decision of the host's policy; without a policy, the call is allowed.

    Raises:
        TypeError: the decision is none of the three, or its text is not a string.
        Exception: an exception of the policy.
    """
    spec, policy = frame.spec, frame.services.policy
    if policy is None:
        return Allow()
    # A copy, so that the frozen call cannot be changed.
    looked_at = replace(call, payload=spec.payload.decode_null_as_absent(call.payload_json, UNLIMITED))
    decision: object = await run_with_timeout(
        frame.services.stage_timeout, policy.decide(looked_at, spec, preview)
    )
    if not isinstance(decision, Allow | Ask | Deny):
        raise TypeError(f"the policy returned {type(decision).__name__}; it must return Allow, Ask or Deny")
    for name in ("question", "message"):
        if not isinstance(text := getattr(decision, name, ""), str):
            raise TypeError(
                f"the policy returned a {name} of type {type(text).__name__}; it must be a string"
            )
    return decision


def _needs_confirmation(confirm: ConfirmSpec, arguments: Mapping[str, Json]) -> bool:
    """Return whether the design's `Confirm` covers these arguments."""
    return all(arguments.get(name) in values for name, values in confirm.when.items())


async def _preview(tool: RegisteredTool, frozen: bytes, arguments: Mapping[str, Json]) -> str:
    """Return the preview of a call from the executor's preview function, or from its call hint."""
    if tool.preview is None:
        return render_template(tool.spec.call_hint, arguments)
    preview = tool.preview(tool.spec.payload.decode_null_as_absent(frozen, UNLIMITED))
    return str(await preview if inspect.isawaitable(preview) else preview)
