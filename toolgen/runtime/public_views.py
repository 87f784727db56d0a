"""Results and runs as the commands and the HTTP interface show them: without sensitive values."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from toolgen.calls.codec import Codec
from toolgen.calls.errors import UnknownToolError
from toolgen.calls.results import ToolResult
from toolgen.calls.sensitive import note_typed
from toolgen.calls.specs import ToolSpec
from toolgen.contract.json_value import Json, compact
from toolgen.contract.secrets import HIDDEN, Secrets, current, hiding, noting, scrubbed_json
from toolgen.events.redaction import is_public, note_result, public_result
from toolgen.shapes.sensitive import redacted, values_at
from toolgen.waiting.answers import hiding_call
from toolgen.waiting.work_texts import note_work

from .runtime import Runtime


@contextmanager
def hiding_arguments(data: bytes, spec: ToolSpec | None) -> Iterator[None]:
    """Redact the sensitive values of a call's arguments inside the block."""
    with hiding(Secrets() if spec is not None and spec.is_sensitive else None):
        if spec is not None:
            note_typed(spec.payload, data)
        yield


@asynccontextmanager
async def hiding_waiting(runtime: Runtime, id_: str) -> AsyncIterator[None]:
    """Redact the sensitive arguments of a suspended call inside the block."""
    for call in await runtime.suspensions.check():
        if call.state == "sealed" and call.call is not None and call.id == id_:
            with hiding_call(call.call, _spec(runtime, call.tool)):
                yield
            return
    yield


def shown_document(result: ToolResult, spec: ToolSpec | None) -> bytes:
    """Return the model's JSON of a result, without sensitive values of its tool or the current block."""
    if current() is None and (spec is None or not spec.is_sensitive):
        return result.json
    return compact(scrubbed_json(public_result(result, spec))).encode()


def shown_run(runtime: Runtime, run: dict[str, Any]) -> dict[str, Any]:
    """Return the printed form of a run, without the sensitive values of its calls."""
    with hiding(Secrets()):
        tool = _tool_of(run["input"])
        shown = {key: _shown(runtime, value, tool) for key, value in run.items()}
        if isinstance(run["input"], dict) and isinstance(message := run["input"].get("message"), str):
            note_work(message, runtime.tools.list())
        question_tool = _spec(runtime, _asked_tool(run["input"]))
        if question_tool is not None and question_tool.is_sensitive:
            _hide_conversation(shown, question_tool)
        return {key: scrubbed_json(value) for key, value in shown.items()}


def shown_record(runtime: Runtime, record: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a call for an operator who has not verified it yet.

    Values are redacted only according to the design of the tool. The record itself could otherwise hide from
    the operator what will run.
    """
    with hiding(Secrets()):
        spec, shown = _spec(runtime, str(record.get("tool", ""))), dict(record)
        if spec and isinstance(text := record.get("payload_json"), str):
            shown["payload_json"] = _public(text, spec.payload)
        if spec and isinstance(answers := record.get("answers"), list):
            shown["answers"] = [_public_answer(answer, spec) for answer in answers]
        return {key: scrubbed_json(value) for key, value in shown.items()}


def _shown(runtime: Runtime, value: Any, tool: str) -> Any:
    """Return the public view of a part of a run, and register its sensitive values."""
    match value:
        case {"payload_json": str(text), "tool": str(own)}:
            spec = _spec(runtime, own)
            places = tuple(place for place in _items(value.get("sensitive")) if isinstance(place, str))
            shown = {"payload_json": _public(text, spec.payload if spec else None, places)}
            answers = [_public_answer(answer, spec) for answer in _items(value.get("answers"))]
            return {**value, **shown, **({"answers": answers} if answers else {})}
        case {"arguments": str(text), "tool": str(own), "meta": dict()}:
            spec = _spec(runtime, own)
            return {**value, "arguments": _public(text, spec.payload if spec else None)}
        case {"message": str(), "facts": {"parent": {"tool": str(own)}} as facts}:
            is_hidden = (spec := _spec(runtime, own)) is not None and spec.is_sensitive
            return {**value, "facts": facts, "message": HIDDEN if is_hidden else value["message"]}
        case {"data": data, "kind": str(kind), "digest": str(), "tool": str(own)}:
            declared = spec.artifacts.get(kind) if (spec := _spec(runtime, own)) else None
            return {**value, "data": _public_value(data, declared.codec if declared else None)}
        case {"result": result, "status": "ok", "tool_call_id": str(), **rest}:
            spec = _spec(runtime, tool)
            parts = {key: _shown(runtime, inner, tool) for key, inner in rest.items() if key != "json"}
            head = {"status": "ok", "tool_call_id": value["tool_call_id"]}
            if spec and spec.is_lenient and not is_public(compact(result).encode(), spec.result):
                note_result(spec, compact(result), is_whole=True)
                return {**head, **parts, "result": HIDDEN, "warnings": []}
            return {**head, "result": _public_value(result, spec.result if spec else None), **parts}
        case dict():
            return {key: _shown(runtime, inner, tool) for key, inner in value.items()}
        case list():
            return [_shown(runtime, inner, tool) for inner in value]
        case _:
            return value


def _items(value: object) -> list[object]:
    """Return a list of a record; an empty one if the value is not a list."""
    return value if isinstance(value, list) else []


def _public_answer(answer: Any, spec: ToolSpec | None) -> object:
    """Return an earlier answer to a call, with the public view of the payload that a person added."""
    codec = spec.confirm.payload if spec and spec.confirm else None
    match answer:
        case {"answer": {"payload": payload} as inner} if codec is not None:
            note_typed(codec, json.dumps(payload))
            return {**answer, "answer": {**inner, "payload": codec.public(payload)}}
        case _:
            return answer


def _public(text: str, codec: Codec | None, places: tuple[str, ...] | None = None) -> str:
    """Return the public view of a JSON document, by its codec or by the sensitive places in its record.

    A text that is not JSON is hidden completely. The sensitive values are registered.
    """
    if places is None:
        places = () if codec is None else codec.sensitive
    if not places:
        return text
    note_typed(codec, text)
    try:
        value = json.loads(text)
        if (secrets := noting()) is not None:
            secrets.add(values_at(value, places), frozenset() if codec is None else codec.keys)
        return compact(redacted(value, places))
    except (ValueError, IndexError, RecursionError):  # the record was changed
        return HIDDEN


def _public_value(value: Json, codec: Codec | None) -> Json:
    """Return the public view of a JSON value; as `_public`."""
    if codec is None or not codec.sensitive:
        return value
    text = _public(compact(value), codec)
    return text if text == HIDDEN else json.loads(text)


def _hide_conversation(run: dict[str, Any], spec: ToolSpec) -> None:
    """Redact the messages of the agent that answers a tool with sensitive values."""
    run["input"] = {**run["input"], "message": HIDDEN}
    if isinstance(output := run["output"], dict):
        run["output"] = {**output, "text": HIDDEN, "result": spec.result.public(output.get("result"))}


def _tool_of(document: object) -> str:
    """Return the id of the tool of a single-call run; "" for an agent's run."""
    match document:
        case {"frozen": {"tool": str(tool)}} | {"call": {"tool": str(tool)}}:
            return tool
        case _:
            return ""


def _asked_tool(document: object) -> str:
    """Return the id of the tool whose call an agent's run answers; "" for other runs."""
    match document:
        case {"facts": {"parent": {"tool": str(tool)}}}:
            return tool
        case _:
            return ""


def _spec(runtime: Runtime, tool: str) -> ToolSpec | None:
    try:
        return runtime.tools.spec(tool) if tool else None
    except UnknownToolError:
        return None
