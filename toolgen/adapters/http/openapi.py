"""The OpenAPI 3.1 document of the surface: its paths, and the schemas of its records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

from pydantic import TypeAdapter

from toolgen.contract.json_value import Json
from toolgen.events.document import event_schema

from . import records
from .problems import MEDIA_TYPE

_VERSION: Final = "1"
"""Version of the surface; within it paths and fields are added, never changed or removed."""
_RECORDS: Final = (
    records.AgentPage, records.Answered, records.Call, records.ProblemRecord, records.Run, records.RunPage,
    records.SessionPage, records.Transcript, records.Suspension, records.SuspensionPage,
)  # fmt: skip
_REF: Final = "#/components/schemas/"
_TEXT: Final[Mapping[str, Json]] = {"type": "string"}
_NUMBER: Final[Mapping[str, Json]] = {"type": "number"}
_ANY: Final[Mapping[str, Json]] = {}
_OBJECT: Final[Mapping[str, Json]] = {"type": "object"}

_PAGED: Final = {
    "limit": ("Items of a page, 100 by default, from 1 to 1,000.", {"type": "integer"}),
    "after": ("What `next` of the page before says.", _TEXT),
}
_SESSION: Final = {"session": ("Of this session alone.", _TEXT)}
_STATUS: Final = {"status": ("Only with this status.", _TEXT)}
_RUN_STATUS: Final = {
    "status": ("Only with this status; `unknown` is a run with a call of unknown outcome.", _TEXT)
}
_KEY: Final = ("Idempotency-Key", "Names the request, so that it is done once, however often it is sent.")
_LAST: Final = ("Last-Event-ID", "The id of the event that was seen last.")


@cache
def openapi_json() -> bytes:
    """Return the document as it is kept beside this file: to make it anew takes a second."""
    return files("toolgen.adapters.http").joinpath("openapi-1.json").read_bytes()


def openapi() -> dict[str, Any]:
    """Return the document as the records are now; the file openapi-1.json holds the same."""
    schemas = _schemas()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "toolgen",
            "version": _VERSION,
            "description": "Tools, suspensions, runs, sessions, artifacts and events of a runtime.",
        },
        "servers": [{"url": "."}],
        "paths": _paths(),
        "components": {
            "schemas": schemas,
            "responses": {"Problem": _response("A refusal (RFC 9457).", MEDIA_TYPE, "ProblemRecord")},
        },
    }


def _schemas() -> dict[str, Any]:
    schemas: dict[str, Any] = {}
    for record in _RECORDS:
        schema = TypeAdapter(record).json_schema(mode="serialization", ref_template=_REF + "{model}")
        schemas |= schema.pop("$defs", {})
        schemas[record.__name__] = schema
    event = event_schema()
    events = event.pop("$defs")
    prefixed = {name: f"Event{name}" for name in events if name in schemas}
    for name, schema in events.items():
        schemas[prefixed.get(name) or name] = _renamed(schema, prefixed)
    schemas["Event"] = _renamed({key: value for key, value in event.items() if key[0] != "$"}, prefixed)
    return dict(sorted(schemas.items()))


def _renamed(schema: Any, names: Mapping[str, str]) -> Any:
    """Return a schema of events whose references are those of this document."""
    match schema:
        case dict():
            return {key: _renamed(value, names) for key, value in schema.items()}
        case list():
            return [_renamed(item, names) for item in schema]
        case str() if schema.startswith("#/$defs/"):
            name = schema.removeprefix("#/$defs/")
            return _REF + names.get(name, name)
        case _:
            return schema


def _paths() -> dict[str, Any]:
    return {**_of_tools(), **_of_suspensions(), **_of_runs(), **_of_sessions(), **_of_data()}


def _of_tools() -> dict[str, Any]:
    tool = {"tool": "The id of a tool, or its wire name where one tool has it."}
    trace = {"type": "boolean"}
    body = _body(arguments=_OBJECT, session=_TEXT, trace=trace, required=("arguments",))
    return {
        "/catalog": {"get": _reads("catalog", "The catalogue of the tools that are offered now.", None)},
        "/openapi.json": {"get": _reads("openapi", "This document.", None)},
        "/agents": {"get": _reads("agents", "The agents.", "AgentPage")},
        "/tools/{tool}/calls": {
            "post": _writes("call", "Make a call.", "Call", path=tool, headers=(_KEY,), body=body)
        },
        "/calls/{call}": {
            "get": _reads("read_call", "A call that is kept.", "Call", path={"call": "Its id."})
        },
    }


def _of_suspensions() -> dict[str, Any]:
    path = {"suspension": "The id of a suspension."}
    run = {"run": ("The run that is suspended, by which it is found faster.", _TEXT)}
    answer = _body(answer=_ANY, wait_s=_NUMBER, required=("answer",))
    reason = _body(reason=_TEXT, wait_s=_NUMBER)
    query = _SESSION | run | _PAGED
    answered = _writes("answer", "Answer a suspension.", "Answered", path=path, query=run, body=answer)
    canceled = _writes(
        "cancel_suspension", "Cancel what is suspended.", "Answered", path=path, query=run, body=reason
    )
    return {
        "/suspensions": {
            "get": _reads("suspensions", "Suspensions, oldest first.", "SuspensionPage", query=query)
        },
        "/suspensions/{suspension}": {
            "get": _reads("suspension", "A suspension.", "Suspension", path=path, query=run)
        },
        "/suspensions/{suspension}/answer": {"post": answered},
        "/suspensions/{suspension}/cancel": {"post": canceled},
    }


def _of_runs() -> dict[str, Any]:
    run = {"run": "The id of a run."}
    started = _body(agent=_TEXT, message=_TEXT, session=_TEXT, required=("agent", "message"))
    outcome: Any = {"enum": ["result", "failed", "not_run"]}
    resolution = _body(tool_call_id=_TEXT, outcome=outcome, result=_ANY, message=_TEXT, required=("outcome",))
    resolved = "Store what became of a call whose outcome was unknown."
    return {
        "/runs": {
            "get": _reads("runs", "Runs, newest first.", "RunPage", query=_RUN_STATUS | _SESSION | _PAGED),
            "post": _writes(
                "start", "Start a run of an agent.", "Run", status=201, headers=(_KEY,), body=started
            ),
        },
        "/runs/{run}": {"get": _reads("run", "A run.", "Run", path=run)},
        "/runs/{run}/events": {
            "get": _streams("run_events", "The events of a run, to its end.", path=run, headers=(_LAST,))
        },
        "/runs/{run}/cancel": {
            "post": _writes("cancel_run", "Cancel a run.", "Run", path=run, body=_body(reason=_TEXT))
        },
        "/runs/{run}/resolve": {"post": _writes("resolve", resolved, "Call", path=run, body=resolution)},
    }


def _of_sessions() -> dict[str, Any]:
    session = {"session": "The id of a session."}
    message = _body(message=_TEXT, agent=_TEXT, required=("message",))
    listed = _reads("sessions", "Sessions, newest first.", "SessionPage", query=_STATUS | _PAGED)
    return {
        "/sessions": {"get": listed},
        "/sessions/{session}/messages": {
            "get": _reads("messages", "What was said in a session.", "Transcript", path=session),
            "post": _writes(
                "speak", "Start a turn.", "Run", status=201, path=session, headers=(_KEY,), body=message
            ),
        },
    }


def _of_data() -> dict[str, Any]:
    types = {"types": ("Types of events, separated by commas.", _TEXT)}
    description = "The events of all sessions of the caller."
    data = {"200": {"description": "The data.", "content": {"*/*": {}}}}
    uri = {"uri": ("The URI of the artifact.", _TEXT)}
    ranges = (("Range", "The bytes that are wanted (RFC 9110, 14)."),)
    read = "The data of an artifact, or a part of it."
    return {
        "/events": {"get": _streams("events", description, headers=(_LAST,), query=_SESSION | types)},
        "/artifacts": {"get": _described("artifact", read, data, query=uri, headers=ranges)},
    }


def _reads(name: str, text: str, record: str | None, **parts: Any) -> dict[str, Any]:
    return _described(name, text, {"200": _response(text, "application/json", record)}, **parts)


def _writes(
    name: str, text: str, record: str, *, body: Json, status: int = 200, **parts: Any
) -> dict[str, Any]:
    answers = {str(status): _response(text, "application/json", record)}
    return {**_described(name, text, answers, **parts), "requestBody": body}


def _streams(name: str, text: str, **parts: Any) -> dict[str, Any]:
    description = "Server-sent events; each `data` is an `Event` as JSON."
    answers = {"200": {"description": description, "content": {"text/event-stream": {"schema": dict(_TEXT)}}}}
    return _described(name, text, answers, **parts)


def _described(
    name: str,
    text: str,
    answers: Mapping[str, Any],
    *,
    path: Mapping[str, str] | None = None,
    query: Mapping[str, tuple[str, Any]] | None = None,
    headers: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    """Return an operation; the query of an artifact is required, and that of all others is not."""
    parameters: list[Any] = [
        {"name": name, "in": "path", "required": True, "description": text, "schema": dict(_TEXT)}
        for name, text in (path or {}).items()
    ]
    parameters += [
        {"name": name, "in": "query", "required": name == "uri", "description": text, "schema": dict(schema)}
        for name, (text, schema) in (query or {}).items()
    ]
    parameters += [
        {"name": name, "in": "header", "description": text, "schema": dict(_TEXT)} for name, text in headers
    ]
    default = {"$ref": "#/components/responses/Problem"}
    operation = {"operationId": name, "summary": text, "responses": {**answers, "default": default}}
    return {**operation, "parameters": parameters} if parameters else operation


def _body(*, required: Sequence[str] = (), **members: Mapping[str, Json]) -> Any:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: dict(member) for name, member in members.items()},
        "additionalProperties": False,
    }
    if required:
        schema["required"] = list(required)
    return {"required": bool(required), "content": {"application/json": {"schema": schema}}}


def _response(text: str, media_type: str, record: str | None) -> dict[str, Any]:
    schema: dict[str, Any] = {} if record is None else {"$ref": _REF + record}
    return {"description": text, "content": {media_type: {"schema": schema}}}
