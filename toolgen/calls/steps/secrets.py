"""The sensitive values of one call: of its arguments, and of its result."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from pydantic_core import from_json, to_json

from toolgen.contract.limits import UNLIMITED
from toolgen.contract.secrets import Secrets, within
from toolgen.shapes.sensitive import values_at

from ..errors import ToolValidationError

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json

    from ..codec import Codec
    from ..results import ToolResult, ToolStatus
    from ..specs import ToolSpec


def secrets_of(document: bytes, codec: Codec[Any]) -> Secrets:
    """Return the sensitive values of a call's arguments, with those of the call that contains it."""
    secrets = within()
    note_document(secrets, codec, document)
    return secrets


def note_document(secrets: Secrets | None, codec: Codec[Any] | None, document: bytes | str) -> None:
    """Add the sensitive values of a JSON document, also of a broken one; none of what is not JSON."""
    if secrets is None or codec is None or not codec.sensitive:
        return
    try:
        value = from_json(document, allow_partial="trailing-strings")
    except (ValueError, TypeError):
        return
    secrets.add(values_at(value, codec.sensitive), codec.keys)


def note_value(secrets: Secrets | None, codec: Codec[Any] | None, value: object) -> None:
    """Add the sensitive values of a typed value, as Python writes them."""
    if secrets is None or codec is None or not codec.sensitive or not isinstance(value, BaseModel):
        return
    try:
        dumped = value.model_dump(by_alias=True, warnings=False)
    except Exception:  # author code may have put anything into it
        return
    secrets.add(values_at(dumped, codec.sensitive), codec.keys)


def note_answer(secrets: Secrets, codec: Codec[Any] | None, answer: Json) -> None:
    """Know the sensitive values of what a person added to an approval, as a resumption keeps the answer."""
    match answer:
        case {"answer": {"payload": dict() as payload}}:
            document = to_json(payload)
        case _:
            return
    note_document(secrets, codec, document)
    if codec is not None and codec.sensitive:
        with suppress(ToolValidationError):
            note_value(secrets, codec, codec.decode(document, UNLIMITED))


def note_seen(secrets: Secrets, spec: ToolSpec[Any, Any], status: ToolStatus, text: str) -> None:
    """Know the sensitive values of what a model saw of a call, whole or truncated."""
    try:
        seen = from_json(text)
    except ValueError:
        return
    codec: Codec[Any] | None = None
    match status, seen:
        case "ok", {"truncated_by": str(), "beginning": str(beginning)}:
            codec, text = spec.result, beginning
        case "ok", _:
            codec = spec.result
        case "pending", _ if spec.long_running:
            codec = spec.long_running.ack
        case "error", {"code": str(code), "details": details} if code in spec.errors:
            codec, text = spec.errors[code].codec, to_json(details).decode()
        case _:
            pass
    note_document(secrets, codec, text)


def note_result(secrets: Secrets, spec: ToolSpec[Any, Any], result: ToolResult) -> None:
    """Add the sensitive values of a result and of its artifacts."""
    note_document(secrets, spec.result, result.json)
    note_value(secrets, spec.result, result.result)
    for artifact in result.artifacts:
        note_document(secrets, spec.artifacts[artifact.kind].codec, artifact.json)
