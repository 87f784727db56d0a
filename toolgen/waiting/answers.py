"""Answers to suspended calls: validated when they are received, and read when the call resumes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from pydantic_core import PydanticSerializationError, from_json, to_json

from toolgen.calls.answer_schema import answer_issues, value_issues
from toolgen.calls.call import FrozenCall
from toolgen.calls.codec import Codec
from toolgen.calls.errors import DeclaredError, MalformedResultError, ToolError, ToolValidationError
from toolgen.calls.sensitive import note_typed
from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.result_encoding import bounds_of
from toolgen.contract.credentials import is_of_service
from toolgen.contract.json_value import Json
from toolgen.contract.limits import Limits, exceeded_limit
from toolgen.contract.secrets import HIDDEN, Secrets, hiding
from toolgen.shapes.design.model import ToolModel
from toolgen.shapes.issues import FieldIssue, short
from toolgen.shapes.sensitive import keys_of, values_at

from .errors import BadAnswerError
from .loop import INTERMEDIATE

T = TypeVar("T")

_LONGEST: Final = 200
"""Maximum number of characters shown of unexpected names."""
CANCELED: Final = "toolgen.canceled"
"""Only key of the answer that cancels a question."""
FAILED: Final = "toolgen.failed"
"""Only key of the answer that ends pending work with a declared error."""


def failure_answer(error: DeclaredError) -> Json:
    """Return the answer that delivers a declared error: its code, its message and its details.

    Raises:
        BadAnswerError: the details have no JSON form.
    """
    failure: dict[str, Json] = {"code": error.code, "message": str(error.message)}
    if error.details is not None:
        # None is an absent field in a ToolModel, as in its codec
        has_absent = isinstance(error.details, ToolModel)
        try:
            document = to_json(error.details, by_alias=True, exclude_none=has_absent)
        except PydanticSerializationError as problem:
            raise BadAnswerError(f"the details of the error {error.code} are not JSON: {problem}") from None
        failure["details"] = from_json(document)
    return {FAILED: failure}


def failure_of(spec: ToolSpec, answer: Json, limits: Limits) -> ToolError | None:
    """Return the failure of pending work; None if the answer is a result.

    Raises:
        BadAnswerError: the tool declares no such error, or the details do not fit.
    """
    if not _is_failure(answer):
        return None
    assert isinstance(answer, dict), "only such an answer is a failure"
    failure = answer.get(FAILED)
    if not isinstance(failure, dict):
        return ToolError(str(answer["error"]))
    code, details = str(failure["code"]), failure.get("details")
    declared = spec.errors.get(code)
    if declared is None:
        raise BadAnswerError(f"{spec.id} does not declare the error {short(code, _LONGEST)!r}")
    if (declared.codec is None) != ("details" not in failure):
        fault = "has no details" if declared.codec is None else "needs details"
        raise BadAnswerError(f"the answer does not fit: the error {code} {fault}")
    value = None if declared.codec is None else _decoded(declared.codec, details, limits)
    return DeclaredError(str(failure["message"]), code=code, details=value)


def cancel_answer(reason: str) -> Json:
    """Return the answer that cancels a suspended call of any kind."""
    return {CANCELED: reason}


def cancel_reason(answer: Json) -> str | None:
    """Return the reason with which an answer cancels a call; None for every other answer."""
    reason = answer.get(CANCELED) if isinstance(answer, dict) and len(answer) == 1 else None
    return reason if isinstance(reason, str) else None


def answer_key(answer: Json) -> str:
    """Return a key that is equal for equal answers; all cancellations of a call are equal.

    Raises:
        BadAnswerError: the answer is not JSON.
    """
    try:
        text = json.dumps(answer, sort_keys=True, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise BadAnswerError(f"the answer is not JSON: {error}") from None
    return hashlib.sha256(CANCELED.encode() if cancel_reason(answer) is not None else text).hexdigest()


def without_nulls(frozen: FrozenCall, answer: Json) -> Json:
    """Return the answer without its optional parts that are null: null means absent, as in arguments."""
    match frozen.kind:
        case "confirmation" | "credential":
            return _without_absent(answer, ("message", "payload", "grant"))
        case "input":
            return without_optional_nulls(frozen.answer_schema, answer)
        case "pending":  # the codec of the result handles null
            return answer


def without_optional_nulls(schema: Mapping[str, Any], answer: Json) -> Json:
    """Return an answer to a question of this schema without the fields that are null and not required."""
    required = schema.get("required", ())
    return _without_absent(answer, [name for name in schema.get("properties", ()) if name not in required])


def _without_absent(answer: Json, optional: Collection[str]) -> Json:
    if not isinstance(answer, dict):
        return answer
    return {name: part for name, part in answer.items() if part is not None or name not in optional}


def validate_answer(spec: ToolSpec | None, frozen: FrozenCall, answer: Json, limits: Limits) -> Json:
    """Validate an answer and return it; without the spec, the types of the tool are not checked.

    Raises:
        BadAnswerError: it exceeds the limits, or does not fit the question; the call is still suspended.
    """
    check_answer_limits(answer, limits)
    if cancel_reason(answer) is not None:
        return answer
    match frozen.kind:
        case "confirmation":
            optional = [name for name in frozen.answer_schema.get("properties", ()) if name != "approved"]
            decided = _decision(frozen, answer, "approved", optional)
            codec = spec.confirm.payload if spec is not None and spec.confirm is not None else None
            if codec is not None and decided["approved"] and "payload" in decided:
                _decoded(codec, decided["payload"], limits)
            elif spec is None and decided["approved"] and "payload" in decided:
                schema = frozen.answer_schema["properties"]["payload"]
                _refuse(frozen, value_issues(schema, decided["payload"], limits.issues, frozen.answer_schema))
            return answer
        case "credential":
            _require_no_secret(frozen, answer)
            return answer
        case "pending":
            if isinstance(answer, dict) and INTERMEDIATE in answer:
                raise BadAnswerError(
                    f"{INTERMEDIATE!r} is not part of a result", hint="use Runtime.suspensions.intermediate"
                )
            if spec is not None and failure_of(spec, answer, limits) is None:
                _check_bounds(spec, _decoded(spec.result, answer, limits))
            elif spec is None and not _is_failure(answer):
                _refuse(
                    frozen, value_issues(frozen.answer_schema, answer, limits.issues, frozen.answer_schema)
                )
            return answer
        case "input":
            _refuse(frozen, answer_issues(frozen.answer_schema, answer, limits.issues))
            return answer


def check_answer_limits(answer: Json, limits: Limits) -> None:
    """Check the size and the depth of an answer.

    Raises:
        BadAnswerError: it exceeds a limit.
    """
    # Other code checks whether it is JSON.
    text = json.dumps(answer, ensure_ascii=False, default=repr)
    if len(text) > limits.small_bytes and (violation := exceeded_limit(text, limits)) is not None:
        raise BadAnswerError(f"the answer {violation.message}")


def _refuse(frozen: FrozenCall, issues: tuple[FieldIssue, ...]) -> None:
    """Raise if there are issues. If the call has sensitive arguments, they quote only keys of the schema.

    Raises:
        BadAnswerError: there are issues.
    """
    if frozen.sensitive:
        schema_keys = frozenset(keys_of(frozen.answer_schema))
        issues = tuple(issue.without_other_keys(schema_keys) for issue in issues)
    if issues:
        raise BadAnswerError(f"the answer does not fit: {'; '.join(map(str, issues))}", issues)


def _is_failure(answer: Json) -> bool:
    if not isinstance(answer, dict) or len(answer) != 1:
        return False
    failure = answer.get(FAILED)
    if isinstance(failure, dict):
        texts = (failure.get("code"), failure.get("message"))
        return all(isinstance(text, str) for text in texts) and not set(failure) - {
            "code",
            "message",
            "details",
        }
    return isinstance(answer.get("error"), str)


def _decision(frozen: FrozenCall, answer: Json, key: str, optional: Collection[str]) -> dict[str, Json]:
    if not isinstance(answer, dict) or not isinstance(answer.get(key), bool):
        raise BadAnswerError(f"the answer must be an object with {key!r}, true or false")
    allowed = {key, *optional}
    if unknown := sorted(set(answer) - allowed):
        shown = HIDDEN if frozen.sensitive else short(", ".join(unknown), _LONGEST)
        raise BadAnswerError(f"the answer can have {', '.join(sorted(allowed))}, but not {shown}")
    if not isinstance(answer.get("message", ""), str):
        raise BadAnswerError("the message of the answer must be a string")
    return answer


def _require_no_secret(frozen: FrozenCall, answer: Json) -> None:
    """Check that an answer contains no credential, because the journal must not store one.

    Raises:
        BadAnswerError: the answer might contain a credential; the message does not quote it.
    """
    match answer:
        case {"available": bool(), **rest} if not rest:
            return
        case {"available": bool(is_there), "message": str(), **rest} if not rest:
            if not (is_there and is_of_service(frozen.request)):
                return
    raise BadAnswerError(
        "the answer must not contain the credential, only whether it is available: {'available': true}",
        hint="pass the credential to Runtime.suspensions.give(token, Credential(secret=…)) or to `toolgen "
        "approve ID`",
    )


def _decoded(codec: Codec, value: Json, limits: Limits) -> Any:
    try:
        return codec.decode_null_as_absent(to_json(value), limits)
    except ToolValidationError as error:
        problem = error.without_other_keys(codec.keys) if codec.sensitive else error
        raise BadAnswerError(f"the answer does not fit: {problem}", problem.issues) from None


def _check_bounds(spec: ToolSpec, result: object) -> None:
    """Check the bounds of a delivered result, so that a wrong one can be delivered again."""
    try:
        bounds_of(spec, result)
    except MalformedResultError as error:
        raise BadAnswerError(f"the answer does not fit: {error}") from None


def answer_document(frozen: FrozenCall, answer: Json) -> Json:
    """Return the document of an accepted answer for the journal."""
    facts: dict[str, Json] = {"kind": frozen.kind, "answer": answer, "question": frozen.question}
    if frozen.own_question:
        facts["own_question"] = frozen.own_question
    if frozen.kind == "input":
        facts["schema"] = dict(frozen.answer_schema)
    if frozen.is_asked_by_tool:
        facts["by_tool"] = True
    if frozen.resume_state is not None:
        facts["resume_state"] = frozen.resume_state
    return facts


@contextmanager
def hiding_call(frozen: FrozenCall, spec: ToolSpec | None) -> Iterator[None]:
    """Redact the sensitive values of a suspended call, and of earlier answers to it, inside the block.

    `spec` is None if the tool no longer exists. Values decoded in the block, for example the answer, are
    redacted too.
    """
    if not frozen.sensitive and (spec is None or not spec.is_sensitive):
        yield
        return
    secrets, names = Secrets(), frozenset() if spec is None else spec.payload.keys
    secrets.add(values_at(from_json(frozen.payload_json), frozen.sensitive), names)
    with hiding(secrets):
        if spec is not None:
            note_typed(spec.payload, frozen.payload_json)
            for answer in frozen.answers:
                match answer:
                    case {"answer": {"payload": dict() as added}} if spec.confirm is not None:
                        note_typed(spec.confirm.payload, added)
                    case _:
                        pass
        yield
