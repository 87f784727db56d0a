"""Freezes a call: with the arguments that will run, until somebody answers what it asks."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from toolgen.contract.json_value import Json
from toolgen.contract.portable import portable_text
from toolgen.contract.record import record
from toolgen.contract.secrets import scrubbed, scrubbed_json

from ..specs import ToolSpec
from .frozen import FrozenCall, SuspensionKind
from .options import WaitOptions

if TYPE_CHECKING:
    from ..call.frame import Frame


@record
class Asked:
    """What a call asks before it goes on, as `FrozenCall` has it."""

    kind: SuspensionKind
    answer_schema: Mapping[str, Any]
    question: str = ""
    preview: str = ""
    is_shortened: bool = False
    handle: str = ""
    request: Mapping[str, Json] | None = None
    is_asked_by_tool: bool = False
    keep: Json = None


def freeze(frame: Frame, payload_json: bytes, asked: Asked, options: WaitOptions) -> FrozenCall:
    """Return the call of a frame, frozen with the arguments that will run."""
    spec, now = frame.spec, options.clock()
    facts: dict[str, Any] = {one.name: getattr(asked, one.name) for one in fields(asked)}
    shown = {
        "question": scrubbed(portable_text(asked.question)),
        "preview": scrubbed(portable_text(asked.preview)),
        "request": scrubbed_json(asked.request),
    }
    return FrozenCall(
        **facts | shown,
        id=_new_id(),
        tool=spec.id,
        spec_digest=spec.approval_digest,
        payload_json=payload_json,
        meta=frame.meta,
        created_at=now,
        expires_at=now + options.expires_s,
        idempotency_key=frame.context.idempotency_key,
        answers=frame.answers,
        sensitive=spec.payload.sensitive,
    )


def ask_again(
    call: FrozenCall,
    spec: ToolSpec[Any, Any] | None,
    answer_schema: Mapping[str, Any],
    reason: str,
    options: WaitOptions,
) -> FrozenCall:
    """Return a frozen call that asks the same again, with the current tool where there is one."""
    now = options.clock()
    return replace(
        call,
        id=_new_id(),
        spec_digest=call.spec_digest if spec is None else spec.approval_digest,
        answer_schema=answer_schema,
        sensitive=call.sensitive if spec is None else spec.payload.sensitive,
        created_at=now,
        expires_at=now + options.expires_s,
        reason=reason,
    )


def _new_id() -> str:
    return secrets.token_hex(8)
