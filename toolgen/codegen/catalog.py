"""The entries of `tool_schemas.json`, of a checked design."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from toolgen.catalog.entry import (
    NativeToolRecord,
    ToolRecord,
    ToolsetRecord,
    TypeRecord,
    native_entry,
    tool_entry,
)
from toolgen.catalog.writer import CatalogEntry, Head, catalog_entry
from toolgen.contract.json_value import Json
from toolgen.contract.tool_facts import Artifact, Error
from toolgen.expr.tree import NativeTool, Tool, Toolset, UsedTool
from toolgen.shapes.design.schema import noted_formats, object_schema
from toolgen.shapes.fields import Objects, ObjectType
from toolgen.shapes.sensitive import pointers_of, sensitive_places

from . import names


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogTool:
    """One tool of the catalogue."""

    entry: CatalogEntry
    record: ToolRecord
    types: Mapping[str, TypeRecord]
    """Types by class name that cross the JSON boundary beside payload and result."""


def type_record(head: Head, of: ObjectType, objects: Objects, examples: tuple[Json, ...] = ()) -> TypeRecord:
    """Return what a catalogue says of an object that crosses the JSON boundary."""
    schema = object_schema(of, objects, has_class_titles=head.format == 1)
    return TypeRecord(
        name=of.name,
        schema=schema,
        examples=examples,
        noted_formats=noted_formats(of, schema, objects),
        sensitive=pointers_of(sensitive_places(of, objects)),
    )


def catalog_tool(head: Head, toolset: Toolset, tool: Tool, objects: Objects) -> CatalogTool:
    types = {name: type_record(head, objects[name], objects) for name in tool.classes}
    results = tuple(example.result for example in tool.examples if example.result is not None)
    record = ToolRecord(
        id=tool.id,
        name=names.wire(toolset, tool),
        facts=tool.facts,
        payload=type_record(head, tool.payload, objects, tuple(example.args for example in tool.examples)),
        result=type_record(head, tool.result, objects, results),
        toolset=_toolset(toolset),
        bounded=tool.bounded,
        artifacts=tuple(
            Artifact(kind=part.kind, type=types[part.type], description=part.description, view=part.view)
            for part in tool.artifacts
        ),
        errors=tuple(
            Error(
                name=part.name,
                description=part.description,
                type=types[part.type] if part.type else None,
                is_retryable=part.is_retryable,
            )
            for part in tool.errors
        ),
        confirmation=tool.confirmation.typed(types.__getitem__) if tool.confirmation else None,
        long_running=tool.long_running.typed(types.__getitem__) if tool.long_running else None,
        injected=tuple(field.name for field in tool.injected),
        binding=(tool.binding.service, tool.binding.method) if tool.binding else None,
    )
    return CatalogTool(entry=catalog_entry(tool_entry(record, head.format)), record=record, types=types)


def agent_tool_entry(head: Head, entry: CatalogTool, used: UsedTool) -> CatalogEntry:
    """Return the entry of a tool as one agent calls it."""
    if used.confirmation in (None, used.tool.confirmation) and used.name == entry.record.name:
        return entry.entry
    record = replace(entry.record, name=used.name)
    if used.confirmation is not None:
        record = replace(record, confirmation=used.confirmation.typed(entry.types.__getitem__))
    return catalog_entry(tool_entry(record, head.format))


def native(head: Head, toolset: Toolset, tool: NativeTool) -> CatalogEntry:
    """Return the entry of a tool that the model's provider runs."""
    record = NativeToolRecord(
        id=tool.id, provider=tool.provider, kind=tool.kind, config=tool.config, toolset=_toolset(toolset)
    )
    return catalog_entry(native_entry(record, head.format))


def _toolset(of: Toolset) -> ToolsetRecord:
    return ToolsetRecord(title=of.title or "", instructions=of.instructions, agent=of.exporter)
