"""The entry that a tool has in a catalogue, for tools that no generator has written."""

from __future__ import annotations

import json
from typing import Any

from toolgen.contract.json_value import Json
from toolgen.contract.names import MCP_HINTS

from ..codec import Codec
from ..specs import ToolSpec


def catalog_entry(spec: ToolSpec[Any, Any]) -> dict[str, Json]:
    """Return the tool as `tool_schemas.json` has it, format 1, less what only a design knows.

    That is: titles of toolsets, bindings, and examples of results.
    """
    service, _, toolset = spec.toolset.rpartition(".")
    example: list[Json] = [_parsed(spec.example)] if spec.example is not None else []
    facts: dict[str, Json] = {
        "id": spec.id,
        "name": spec.name,
        "service": service,
        "toolset": toolset,
        "title": spec.title,
        "description": spec.description,
        "tags": list(spec.tags),
        "kind": "function",
        "annotations": _annotations(spec),
        "bounded": _bounded(spec),
        "payload": {**_type(spec.payload), **({"examples": example} if example else {})},
        "result": _type(spec.result),
        "output": _output(spec),
        "artifacts": [{"kind": kind, **_type(one.codec)} for kind, one in spec.artifacts.items()],
        "long_running": _long_running(spec),
        "inject": list(spec.injected),
        "meta": dict(spec.meta) or None,
    }
    return {key: value for key, value in facts.items() if value is not None and value != []}


def _annotations(spec: ToolSpec[Any, Any]) -> Json:
    """Return MCP's hints, the careful default for those that the author did not set."""
    hints: dict[str, Json] = {name: spec.hints[hint] for hint, (name, _) in MCP_HINTS.items()}
    return {**hints, "edit": spec.annotations["edit"]} if "edit" in spec.annotations else hints


def _bounded(spec: ToolSpec[Any, Any]) -> Json:
    if spec.bounded is None:
        return None
    cursors = {"cursor": spec.bounded.cursor, "next_cursor": spec.bounded.next_cursor}
    return {name: key for name, key in cursors.items() if key is not None}


def _long_running(spec: ToolSpec[Any, Any]) -> Json:
    if spec.long_running is None:
        return None
    parts = {"ack": spec.long_running.ack, "progress": spec.long_running.progress}
    return {key: _type(codec) for key, codec in parts.items() if codec is not None}


def _output(spec: ToolSpec[Any, Any]) -> Json:
    """Return the schema of what the model gets at once, where this is not always the result."""
    return None if spec.long_running is None or spec.long_running.ack is None else spec.output_schema


def _type(codec: Codec[Any]) -> dict[str, Json]:
    return {"name": codec.name, "schema": codec.schema}


def _parsed(text: str) -> Json:
    return json.loads(text)  # type: ignore[no-any-return]  # text that the generator wrote
