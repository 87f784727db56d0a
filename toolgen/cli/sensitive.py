"""Results and runs as the terminal shows them: without sensitive values."""

from __future__ import annotations

import json
from typing import Any

from toolgen.calls.steps import secrets as of_calls
from toolgen.contract.json_value import compact
from toolgen.contract.secrets import HIDDEN, Secrets, hiding, scrubbed_json
from toolgen.events.redaction import shown_result
from toolgen.runtime import Codec, Runtime, ToolResult, ToolSpec, UnknownToolError
from toolgen.shapes.sensitive import redacted, values_at
from toolgen.waiting.answers import frozen_secrets


def secrets_of(data: bytes, spec: ToolSpec[Any, Any]) -> Secrets | None:
    """Return the sensitive values of a call's arguments; None where its tool has none at all."""
    return of_calls.secrets_of(data, spec.payload) if spec.is_sensitive else None


async def waiting_secrets(runtime: Runtime, id_: str) -> Secrets | None:
    """Return the sensitive values of the arguments of a call that waits; None where it has none."""
    for call in await runtime.waits.check():
        if call.state == "sealed" and call.call is not None and call.id == id_:
            return frozen_secrets(call.call, _spec(runtime, call.tool))
    return None


def shown_document(result: ToolResult, spec: ToolSpec[Any, Any] | None, secrets: Secrets | None) -> bytes:
    """Return the model's JSON of a result, without the sensitive values of the tool and of its call."""
    if secrets is None and (spec is None or not spec.is_sensitive):
        return result.json
    with hiding(secrets):
        return compact(scrubbed_json(shown_result(result, spec))).encode()


def shown_run(runtime: Runtime, run: dict[str, Any]) -> dict[str, Any]:
    """Return the printed form of a run, without the sensitive values of its calls."""
    secrets = Secrets()
    tool = _tool_of(run["input"])
    shown = {key: _shown(runtime, value, tool, secrets) for key, value in run.items()}
    asked = _spec(runtime, _asked_tool(run["input"]))
    if asked is not None and asked.is_sensitive:
        _hide_conversation(shown, asked)
    with hiding(secrets):
        return {key: scrubbed_json(value) for key, value in shown.items()}


def shown_record(runtime: Runtime, record: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a call as an operator sees it before it is trusted.

    Values are redacted where the design of its tool says so, and not where the record does, which could hide
    from the operator what will run.
    """
    spec, secrets = _spec(runtime, str(record.get("tool", ""))), Secrets()
    codec = spec.payload if spec else None
    added = spec.confirm.payload if spec and spec.confirm else None
    shown = dict(record)
    if isinstance(text := record.get("payload_json"), str):
        shown["payload_json"] = _marked(text, codec.sensitive if codec else (), codec, secrets)
    if isinstance(answers := record.get("answers"), list):
        shown["answers"] = [_shown_answer(answer, added, secrets) for answer in answers]
    with hiding(secrets):
        return {key: scrubbed_json(value) for key, value in shown.items()}


def _shown(runtime: Runtime, value: Any, tool: str, secrets: Secrets) -> Any:
    """Return a part of a run with its sensitive places redacted; `secrets` then has their values."""
    match value:
        case {"payload_json": str(text), "tool": str(own)}:
            codec = spec.payload if (spec := _spec(runtime, own)) else None
            places = tuple(place for place in _items(value.get("sensitive")) if isinstance(place, str))
            added = spec.confirm.payload if spec and spec.confirm else None
            answers = [_shown_answer(answer, added, secrets) for answer in _items(value.get("answers"))]
            shown = {"answers": answers} if answers else {}
            return {**value, **shown, "payload_json": _marked(text, places, codec, secrets)}
        case {"arguments": str(text), "tool": str(own), "meta": dict()}:
            codec = spec.payload if (spec := _spec(runtime, own)) else None
            return {**value, "arguments": _marked_arguments(text, codec, secrets)}
        case {"message": str(), "facts": {"parent": {"tool": str(own)}} as facts}:
            is_hidden = (spec := _spec(runtime, own)) is not None and spec.is_sensitive
            return {**value, "facts": facts, "message": HIDDEN if is_hidden else value["message"]}
        case {"json": str(text), "kind": str(kind), "tool": str(own)} if text:
            declared = spec.artifacts.get(kind) if (spec := _spec(runtime, own)) else None
            codec = declared.codec if declared else None
            return {**value, "json": _marked(text, codec.sensitive if codec else (), codec, secrets)}
        case {"json": str(text), "status": "ok", **rest} if text:
            codec = spec.result if (spec := _spec(runtime, tool)) else None
            parts = {key: _shown(runtime, inner, tool, secrets) for key, inner in rest.items()}
            marked = _marked(text, codec.sensitive if codec else (), codec, secrets)
            return {"status": "ok", "json": marked, **parts}
        case dict():
            return {key: _shown(runtime, inner, tool, secrets) for key, inner in value.items()}
        case list():
            return [_shown(runtime, inner, tool, secrets) for inner in value]
        case _:
            return value


def _items(value: Any) -> list[Any]:
    """Return a list of a record; none where somebody has written something else."""
    return value if isinstance(value, list) else []


def _shown_answer(answer: Any, codec: Codec[Any] | None, secrets: Secrets) -> Any:
    """Return an earlier answer to a call, what a person added to an approval marked as in its type."""
    match answer:
        case {"answer": {"payload": payload} as inner} if codec is not None and codec.sensitive:
            of_calls.note_answer(secrets, codec, answer)
            return {**answer, "answer": {**inner, "payload": redacted(payload, codec.sensitive)}}
        case _:
            return answer


def _marked(text: str, places: tuple[str, ...], codec: Codec[Any] | None, secrets: Secrets) -> str:
    """Return a JSON document with its sensitive places redacted; `secrets` then has their values."""
    if not places:
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # somebody has written it there
        return HIDDEN
    secrets.add(values_at(value, places), frozenset() if codec is None else codec.keys)
    return compact(redacted(value, places))


def _marked_arguments(text: str, codec: Codec[Any] | None, secrets: Secrets) -> str:
    """Return arguments as they came, as `_marked`; what is no JSON is hidden as a whole."""
    places = codec.sensitive if codec else ()
    try:
        return _marked(text, places, codec, secrets)
    except ValueError:
        return HIDDEN


def _hide_conversation(run: dict[str, Any], spec: ToolSpec[Any, Any]) -> None:
    """Redact the messages of the agent that answers a tool with sensitive values."""
    run["input"] = {**run["input"], "message": HIDDEN}
    if isinstance(run["output"], dict):
        result = redacted(run["output"].get("result"), spec.result.sensitive)
        run["output"] = {**run["output"], "text": HIDDEN, "result": result}


def _tool_of(document: Any) -> str:
    """Return the id of the tool of the run of one call; "" for the run of an agent."""
    match document:
        case {"frozen": {"tool": str(tool)}} | {"call": {"tool": str(tool)}}:
            return tool
        case _:
            return ""


def _asked_tool(document: Any) -> str:
    """Return the id of the tool whose call the run of an agent answers; "" where nobody called it."""
    match document:
        case {"facts": {"parent": {"tool": str(tool)}}}:
            return tool
        case _:
            return ""


def _spec(runtime: Runtime, tool: str) -> ToolSpec[Any, Any] | None:
    try:
        return runtime.tools.spec(tool) if tool else None
    except UnknownToolError:
        return None
