"""`tool_schemas.json`: the tools of a toolset, and of the whole design, for every other reader."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolgen.contract.json_value import Json, without_surrogates
from toolgen.contract.names import FORMAT, MCP_HINTS
from toolgen.expr.tree import Artifact, Behaviour, Confirmation, NativeTool, Tool, Toolset, UsedTool
from toolgen.shapes.design.schema import Schema, object_schema
from toolgen.shapes.fields import Objects
from toolgen.shapes.foreign.schema import any_of

from . import names


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """One entry of the catalogue."""

    id: str
    text: str
    """As it stands in the file."""
    canonical: str
    """What the digest counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogTool:
    """One tool of the catalogue, with its schemas at hand."""

    entry: CatalogEntry
    facts: Mapping[str, Json]
    """None and empty where they say nothing."""
    payload: Json
    result: Json
    artifacts: tuple[Json, ...]
    behaviour: Mapping[str, Json]
    """By class name, of what else crosses the JSON boundary."""


def catalog_tool(toolset: Toolset, tool: Tool, objects: Objects) -> CatalogTool:
    payload, result = object_schema(tool.payload, objects), object_schema(tool.result, objects)
    artifacts = [object_schema(objects[artifact.type], objects) for artifact in tool.artifacts]
    behaviour = {name: object_schema(objects[name], objects) for name in tool.behaviour.classes}
    facts: dict[str, Json] = {
        "id": tool.id,
        "name": names.wire(toolset, tool),
        "service": toolset.service,
        "toolset": toolset.name,
        "toolset_title": toolset.title,
        "toolset_instructions": toolset.instructions or None,
        "title": tool.title,
        "description": tool.description,
        "tags": list(tool.tags),
        "kind": "agent" if toolset.exporter else "function",
        "agent": toolset.exporter or None,
        "annotations": _annotations(tool),
        "bounded": _bounded(tool),
        "payload": _type(tool.payload.name, payload, [example.args for example in tool.examples]),
        "result": _type(
            tool.result.name,
            result,
            [example.result for example in tool.examples if example.result is not None],
        ),
        "output": _output(tool, result, behaviour),
        "artifacts": [_artifact(*pair) for pair in zip(tool.artifacts, artifacts, strict=True)],
        **_behaviour(tool.behaviour, behaviour),
        "inject": [field.name for field in tool.injected],
        "bind_to": {"service": tool.binding.service, "method": tool.binding.method} if tool.binding else None,
        "meta": dict(tool.meta) if tool.meta else None,
    }
    return CatalogTool(
        entry=_catalog_entry(tool.id, facts),
        facts=facts,
        payload=payload,
        result=result,
        artifacts=tuple(artifacts),
        behaviour=behaviour,
    )


def agent_tool_entry(entry: CatalogTool, used: UsedTool) -> CatalogEntry:
    """Return the entry of a tool as one agent calls it."""
    facts = {**entry.facts, "name": used.name}
    if used.confirmation is not None:
        facts["confirmation"] = _confirmation(used.confirmation, entry.behaviour)
    return _catalog_entry(used.tool.id, facts)


def native_entry(toolset: Toolset, tool: NativeTool) -> CatalogEntry:
    """Return the entry of a tool that the model's provider runs; it has no schemas."""
    facts: dict[str, Json] = {
        "id": tool.id,
        "name": tool.kind,
        "service": toolset.service,
        "toolset": toolset.name,
        "toolset_title": toolset.title,
        "toolset_instructions": toolset.instructions or None,
        "kind": "native",
        "provider": tool.provider,
        "config": dict(tool.config),
    }
    return _catalog_entry(tool.id, facts)


def _catalog_entry(id_: str, facts: dict[str, Json]) -> CatalogEntry:
    """Return the entry of these facts; those that say nothing are left out."""
    given: Json = {key: value for key, value in facts.items() if value not in (None, [])}
    return CatalogEntry(
        id=id_,
        text=f"    {_indented(given, '    ')}",
        canonical=json.dumps(given, sort_keys=True, separators=(",", ":")),
    )


def document(
    design: str,
    entries: Iterable[CatalogEntry],
    *,
    agent: Json = None,
    further: Mapping[str, Json] | None = None,
) -> str:
    """Return the text of a catalogue; tools are sorted by id.

    `agent` is whose tools they are, `further` what stands after them.
    """
    ordered = sorted(entries, key=lambda one: one.id)
    canonical = f"[{','.join(one.canonical for one in ordered)}]"
    digest = f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"
    catalog = without_surrogates(
        json.dumps({"format": FORMAT, "design": design, "digest": digest}, ensure_ascii=False)
    )
    tools = ",\n".join(one.text for one in ordered)
    parts = {
        "catalog": catalog,
        **({} if agent is None else {"agent": _indented(agent, "  ")}),
        "tools": f"[\n{tools}\n  ]" if ordered else "[]",
        **{key: _indented(value, "  ") for key, value in (further or {}).items()},
    }
    return "{\n" + ",\n".join(f'  "{key}": {text}' for key, text in parts.items()) + "\n}\n"


def _indented(value: Json, margin: str) -> str:
    """Return JSON on several lines; all but the first start with the margin."""
    text = without_surrogates(json.dumps(value, indent=2, ensure_ascii=False))
    return text.replace("\n", f"\n{margin}")


def _annotations(tool: Tool) -> Json:
    """Return MCP's hints, the careful default for those that the author did not set."""
    given = tool.annotations or {}
    if given.get("read_only"):
        given = {"destructive": False, **given}
    hints: dict[str, Json] = {name: given.get(hint, default) for hint, (name, default) in MCP_HINTS.items()}
    return {**hints, "edit": given["edit"]} if "edit" in given else hints


def _bounded(tool: Tool) -> Json:
    if tool.bounded is None:
        return None
    cursors = {"cursor": tool.bounded.cursor, "next_cursor": tool.bounded.next_cursor}
    return {name: key for name, key in cursors.items() if key is not None}


def _output(tool: Tool, result: Schema, schemas: Mapping[str, Schema]) -> Json:
    """Return the schema of what the model gets at once, where this is not always the result."""
    late = tool.behaviour.long_running
    if late is None or late.ack is None:
        return None
    return any_of({late.ack: schemas[late.ack], tool.result.name: result})


def _behaviour(of: Behaviour, schemas: Mapping[str, Json]) -> dict[str, Json]:
    """Return the words that a tool has, each under its own name; None and empty where it has not."""
    hints: dict[str, Json] = {"call": of.call_hint, "result": of.result_hint}
    confirm, late = of.confirmation, of.long_running
    return {
        "confirmation": _confirmation(confirm, schemas) if confirm else None,
        "long_running": _named({"ack": late.ack, "progress": late.progress}, schemas) if late else None,
        "timeout": of.timeout,
        "sequential": of.is_sequential or None,
        "terminal": of.is_terminal or None,
        "bookkeeping": of.is_bookkeeping or None,
        "needs": list(of.needs),
        "instructions": of.instructions or None,
        "result_reminder": of.result_reminder or None,
        "hints": {key: text for key, text in hints.items() if text} or None,
    }


def _confirmation(of: Confirmation, schemas: Mapping[str, Json]) -> Json:
    when: dict[str, Json] = {name: list(values) for name, values in of.when.items()}
    facts: dict[str, Json] = {"hint": of.hint, "when": when}
    return {
        **{key: value for key, value in facts.items() if value},
        **_named({"payload": of.payload}, schemas),
    }


def _named(classes: dict[str, str | None], schemas: Mapping[str, Json]) -> dict[str, Json]:
    return {key: _type(name, schemas[name], []) for key, name in classes.items() if name is not None}


def _type(name: str, schema: Json, examples: Sequence[Json]) -> Json:
    return {"name": name, "schema": schema, **({"examples": list(examples)} if examples else {})}


def _artifact(artifact: Artifact, schema: Json) -> Json:
    description: dict[str, Json] = {"description": artifact.description} if artifact.description else {}
    return {"kind": artifact.kind, "name": artifact.type, **description, "schema": schema}
