"""`tool_schemas.json`: the tools of a toolset, and of the whole design, for every other reader."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from toolgen.catalog.entry import (
    NativeToolRecord,
    ToolRecord,
    ToolsetRecord,
    TypeRecord,
    canonical,
    native_entry,
    sha256,
    tool_entry,
)
from toolgen.catalog.format import FORMAT_ID
from toolgen.contract.json_value import Json, without_surrogates
from toolgen.contract.names import CATALOG_FORMAT, CatalogFormat
from toolgen.contract.tool_facts import Artifact, Error
from toolgen.expr.tree import NativeTool, Tool, Toolset, UsedTool
from toolgen.shapes.design.schema import ASSERTED_FORMATS, Schema, noted_formats, object_schema
from toolgen.shapes.fields import Objects, ObjectType
from toolgen.shapes.sensitive import pointers_of, sensitive_places

from . import names


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What all catalogues of a design have in common."""

    design: str
    version: str = ""
    """Of the design; "" for none."""
    format: CatalogFormat = CATALOG_FORMAT

    def type(self, of: ObjectType, objects: Objects, examples: tuple[Json, ...] = ()) -> TypeRecord:
        """Return the entry of an object that crosses the JSON boundary."""
        schema = self.schema(of, objects)
        noted = noted_formats(of, schema, objects)
        places = pointers_of(sensitive_places(of, objects))
        return TypeRecord(
            name=of.name, schema=schema, examples=examples, noted_formats=noted, sensitive=places
        )

    def schema(self, of: ObjectType, objects: Objects) -> Schema:
        """Return the JSON Schema of an object; until format 2, titles were names of classes."""
        return object_schema(of, objects, has_class_titles=self.format == 1)


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
    """One tool of the catalogue."""

    entry: CatalogEntry
    record: ToolRecord
    types: Mapping[str, TypeRecord]
    """By class name, of what crosses the JSON boundary beside payload and result."""


def catalog_tool(head: Head, toolset: Toolset, tool: Tool, objects: Objects) -> CatalogTool:
    types = {name: head.type(objects[name], objects) for name in tool.classes}
    results = tuple(example.result for example in tool.examples if example.result is not None)
    record = ToolRecord(
        id=tool.id,
        name=names.wire(toolset, tool),
        facts=tool.facts,
        payload=head.type(tool.payload, objects, tuple(example.args for example in tool.examples)),
        result=head.type(tool.result, objects, results),
        toolset=_toolset(toolset),
        bounded=tool.bounded,
        artifacts=tuple(
            Artifact(kind=one.kind, type=types[one.type], description=one.description, view=one.view)
            for one in tool.artifacts
        ),
        errors=tuple(
            Error(
                name=one.name,
                description=one.description,
                type=types[one.type] if one.type else None,
                is_retryable=one.is_retryable,
            )
            for one in tool.errors
        ),
        confirmation=tool.confirmation.typed(types.__getitem__) if tool.confirmation else None,
        long_running=tool.long_running.typed(types.__getitem__) if tool.long_running else None,
        injected=tuple(field.name for field in tool.injected),
        binding=(tool.binding.service, tool.binding.method) if tool.binding else None,
    )
    return CatalogTool(
        entry=_catalog_entry(tool.id, tool_entry(record, head.format)), record=record, types=types
    )


def agent_tool_entry(head: Head, entry: CatalogTool, used: UsedTool) -> CatalogEntry:
    """Return the entry of a tool as one agent calls it."""
    record = replace(entry.record, name=used.name)
    if used.confirmation is not None:
        record = replace(record, confirmation=used.confirmation.typed(entry.types.__getitem__))
    return _catalog_entry(used.tool.id, tool_entry(record, head.format))


def native(head: Head, toolset: Toolset, tool: NativeTool) -> CatalogEntry:
    """Return the entry of a tool that the model's provider runs."""
    record = NativeToolRecord(
        id=tool.id, provider=tool.provider, kind=tool.kind, config=tool.config, toolset=_toolset(toolset)
    )
    return _catalog_entry(tool.id, native_entry(record, head.format))


def _catalog_entry(id_: str, entry: Json) -> CatalogEntry:
    return CatalogEntry(
        id=id_,
        text=f"    {_indented(entry, '    ')}",
        canonical=canonical(entry),
    )


def document(
    head: Head,
    entries: Iterable[CatalogEntry],
    *,
    agent: Json = None,
    further: Mapping[str, Json] | None = None,
) -> str:
    """Return the text of a catalogue; tools are sorted by id.

    `agent` is whose tools they are, `further` what stands after them.
    """
    ordered = sorted(entries, key=lambda one: one.id)
    facts: dict[str, Json] = {} if agent is None else {"agent": agent}
    facts |= further or {}
    parts = {} if head.format == 1 else {"$schema": json.dumps(FORMAT_ID)}
    parts["catalog"] = _line(_catalog(head, ordered, facts))
    if agent is not None:
        parts["agent"] = _indented(agent, "  ")
    tools = ",\n".join(one.text for one in ordered)
    parts["tools"] = f"[\n{tools}\n  ]" if ordered else "[]"
    parts |= {key: _indented(value, "  ") for key, value in (further or {}).items()}
    return "{\n" + ",\n".join(f'  "{key}": {text}' for key, text in parts.items()) + "\n}\n"


def _catalog(head: Head, tools: list[CatalogEntry], facts: Mapping[str, Json]) -> dict[str, Json]:
    """Return the head of a catalogue; its digest covers the tools, since format 2 all entries."""
    canonical_tools = f"[{','.join(one.canonical for one in tools)}]"
    found: dict[str, Json] = {"format": head.format, "design": head.design}
    if head.format == 1:
        return {**found, "digest": sha256(canonical_tools)}
    if head.version:
        found["version"] = head.version
    found["asserted_formats"] = list(ASSERTED_FORMATS)
    texts = {"tools": canonical_tools, **{key: canonical(value) for key, value in facts.items()}}
    whole = ",".join(f"{canonical(key)}:{texts[key]}" for key in sorted(texts))
    return {**found, "digest": sha256(f"{{{whole}}}")}


def _line(value: Json) -> str:
    return without_surrogates(json.dumps(value, ensure_ascii=False))


def _indented(value: Json, margin: str) -> str:
    """Return JSON on several lines; all but the first start with the margin."""
    text = without_surrogates(json.dumps(value, indent=2, ensure_ascii=False))
    return text.replace("\n", f"\n{margin}")


def _toolset(of: Toolset) -> ToolsetRecord:
    return ToolsetRecord(title=of.title or "", instructions=of.instructions, agent=of.exporter)
