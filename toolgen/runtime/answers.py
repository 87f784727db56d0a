"""Whether an answer to a suspended call fits."""

from __future__ import annotations

from typing import Any, Final

from pydantic_core import to_json

from toolgen.contract.fields import Json
from toolgen.contract.issues import FieldIssue, json_type

from .codec import Codec
from .errors import ToolValidationError
from .specs import ToolSpec
from .suspension import Suspension
from .suspension_errors import BadAnswerError

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
"""JSON types of the fields of a question; the subset that MCP's elicitation has."""


def checked_answer(spec: ToolSpec[Any, Any], suspension: Suspension, answer: Json) -> Json:
    """Return the answer.

    Raises:
        BadAnswerError: it does not fit what was asked; the suspension still waits.
    """
    match suspension.kind:
        case "confirmation":
            codec = spec.confirm.payload if spec.confirm else None
            return _decision(answer, "approved", codec)
        case "credential":
            return _decision(answer, "available", None)
        case "pending":
            if not _is_failure(answer):
                _decoded(spec.result, answer)
            return answer
        case "input":
            issues = tuple(_issues(suspension.answer_schema, answer, ()))
            if issues:
                raise BadAnswerError(f"the answer does not fit: {'; '.join(map(str, issues))}", issues)
            return answer


def _is_failure(answer: Json) -> bool:
    return isinstance(answer, dict) and set(answer) == {"error"} and isinstance(answer["error"], str)


def _decision(answer: Json, key: str, codec: Codec[Any] | None) -> Json:
    known = {key, "message", *(["payload"] if codec else [])}
    if not isinstance(answer, dict) or not isinstance(answer.get(key), bool):
        raise BadAnswerError(f"the answer is an object with {key!r}, true or false")
    if unknown := sorted(set(answer) - known):
        raise BadAnswerError(f"the answer has {', '.join(unknown)}, and may have {', '.join(sorted(known))}")
    if not isinstance(answer.get("message", ""), str):
        raise BadAnswerError("the message of the answer is a text")
    if codec is not None and answer[key] and "payload" in answer:
        _decoded(codec, answer["payload"])
    return answer


def _decoded(codec: Codec[Any], value: Json) -> None:
    try:
        codec.decode(to_json(value))
    except ToolValidationError as error:
        raise BadAnswerError(f"the answer does not fit: {error}", error.issues) from None


def _issues(schema: Any, value: Json, keys: tuple[int | str, ...]) -> list[FieldIssue]:
    """Return what is wrong with an answer to a question: one value, or a flat object of such."""
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if kind != "object":
        return _scalar_issues(schema, kind, value, keys)
    if not isinstance(value, dict):
        return [_mismatch("object", value, keys)]
    properties = schema.get("properties", {})
    found = [
        FieldIssue(keys=(*keys, name), constraint="missing_field", message="is required and was left out")
        for name in schema.get("required", ())
        if name not in value
    ]
    for name, part in value.items():
        if name in properties:
            found += _issues(properties[name], part, (*keys, name))
        else:
            known = tuple(properties)
            found.append(
                FieldIssue(
                    keys=(*keys, name),
                    constraint="unknown_field",
                    message="is not a field here",
                    allowed=known,
                )
            )
    return found


def _scalar_issues(schema: Any, kind: Any, value: Json, keys: tuple[int | str, ...]) -> list[FieldIssue]:
    wanted = _TYPES.get(kind)
    if wanted is not None and (
        not isinstance(value, wanted) or (isinstance(value, bool) and kind != "boolean")
    ):
        return [_mismatch(kind, value, keys)]
    if "enum" in schema and value not in schema["enum"]:
        allowed = tuple(schema["enum"])
        return [
            FieldIssue(
                keys=keys,
                constraint="invalid_enum_value",
                message=f"must be one of {', '.join(map(str, allowed))}",
                allowed=allowed,
            )
        ]
    return []


def _mismatch(wanted: str, value: Json, keys: tuple[int | str, ...]) -> FieldIssue:
    found = json_type(value)
    message = f"must be of type {wanted}, not {found}"
    return FieldIssue(keys=keys, constraint="invalid_type", message=message, expected=wanted, actual=found)
