"""Entries of `tool_schemas.json` for a checked design: its tools, agents, toolsets and completions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields, replace
from typing import Any

from toolgen.catalog.entry import (
    NativeToolRecord,
    ToolRecord,
    ToolsetRecord,
    TypeRecord,
    confirmation_entry,
    native_entry,
    tool_entry,
    type_entry,
)
from toolgen.catalog.writer import CatalogHead, Entry, catalog_json
from toolgen.contract.json_value import Json
from toolgen.contract.policy import History, RunPolicy
from toolgen.contract.tool_facts import Artifact, Confirmation, Error
from toolgen.dsl.expr.tree import (
    Agent,
    Completion,
    Design,
    Export,
    NativeTool,
    Service,
    Tool,
    Toolset,
    UsedTool,
)
from toolgen.shapes.fields import Objects, ObjectType
from toolgen.shapes.sensitive import pointers_of
from toolgen.shapes.tree.schema import SchemaParts, noted_formats

from . import names
from .layout import ModuleScope


class CatalogWriter:
    """Writes the catalogs of a design; shared parts of tools are written once."""

    def __init__(self, head: CatalogHead, shared: Objects) -> None:
        self.head = head
        self._shared = shared
        self._schemas = SchemaParts(shared=shared)
        self._records: dict[str, TypeRecord] = {}
        """Records of shared types by name."""

    def catalog_json(self, entries: Iterable[Entry], **facts: Any) -> str:
        """Return the text of a catalog, see `toolgen.catalog.writer.catalog_json`."""
        return catalog_json(self.head, entries, **facts)

    def type_record(self, of: ObjectType, scope: ModuleScope, examples: tuple[Json, ...] = ()) -> TypeRecord:
        """Return the entry of an object type in a catalog."""
        schema = self._schemas.schema(of, scope.objects)
        return TypeRecord(
            name=of.name,
            schema=schema,
            examples=examples,
            noted_formats=noted_formats(of, schema, scope.objects),
            sensitive=pointers_of(scope.sensitive_places(of)),
        )

    def shared_record(self, of: ObjectType, scope: ModuleScope) -> TypeRecord:
        """Return the entry of an object type; the entry of a shared type is created only once."""
        if self._shared.get(of.name) is not of:
            return self.type_record(of, scope)
        if of.name not in self._records:
            self._records[of.name] = self.type_record(of, scope)
        return self._records[of.name]

    def types(self, tool: Tool, scope: ModuleScope) -> Mapping[str, TypeRecord]:
        """Return the object types that payloads and results contain, by class name."""
        return {name: self.shared_record(scope.objects[name], scope) for name in tool.classes}


def tool_record(writer: CatalogWriter, toolset: Toolset, tool: Tool, scope: ModuleScope) -> ToolRecord:
    """Return the catalog record of a tool; its schemas need much memory."""
    type_record, types = writer.type_record, writer.types(tool, scope)
    results = tuple(example.result for example in tool.examples if example.result is not None)
    return ToolRecord(
        id=tool.id,
        name=names.wire(toolset, tool),
        facts=tool.facts,
        payload=type_record(tool.payload, scope, tuple(example.args for example in tool.examples)),
        result=type_record(tool.result, scope, results),
        toolset=_toolset(toolset),
        bounded=tool.bounded,
        artifacts=tuple(
            Artifact(
                kind=part.kind,
                type=types[part.type],
                description=part.description,
                view=part.view,
                audience=part.audience,
            )
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


def agent_tool_entry(
    writer: CatalogWriter, entry: Entry, toolset: Toolset, used: UsedTool, scope: ModuleScope
) -> Entry:
    """Return the entry of a tool for one agent; `entry` is the tool's own entry."""
    tool, confirmation = used.tool, used.confirmation
    if confirmation in (None, tool.confirmation) and used.name == names.wire(toolset, tool):
        return entry
    record = replace(tool_record(writer, toolset, tool, scope), name=used.name)
    if confirmation is not None:
        types = writer.types(tool, scope)
        record = replace(record, confirmation=confirmation.typed(types.__getitem__))
    return tool_entry(record)


def native(writer: CatalogWriter, toolset: Toolset, tool: NativeTool) -> Entry:
    """Return the entry of a tool that the model's provider runs."""
    record = NativeToolRecord(
        id=tool.id, provider=tool.provider, kind=tool.kind, config=tool.config, toolset=_toolset(toolset)
    )
    return native_entry(record)


def _toolset(of: Toolset) -> ToolsetRecord:
    return ToolsetRecord(title=of.title or "", instructions=of.instructions, agent=of.exporter)


def agent_entries(
    writer: CatalogWriter,
    agent: Agent,
    entries: Mapping[str, Entry],
    scopes: Mapping[str, ModuleScope],
) -> Iterator[Entry]:
    """Yield the entry of every tool of an agent.

    `entries` has the entries of the design by id, `scopes` the scopes by the qualified name of a toolset.
    """
    for used in agent.uses:
        toolset, scope = used.toolset, scopes[names.qualified(used.toolset)]
        for tool in used.tools:
            yield agent_tool_entry(writer, entries[tool.tool.id], toolset, tool, scope)
    for toolset in toolsets_of(agent):
        yield from (native(writer, toolset, tool) for tool in toolset.native)


def agent_header(agent: Agent) -> dict[str, Json]:
    """Return the head of an agent's own catalog."""
    return _without_empty(
        {
            "id": agent.id,
            "description": agent.description,
            "policy": _policy(agent.policy),
            "transfers": list(agent.transfers),
        }
    )


def agents_and_completions(
    writer: CatalogWriter,
    design: Design,
    scopes: Mapping[str, ModuleScope],
    completion_scopes: Mapping[str, ModuleScope],
) -> dict[str, Json]:
    """Return the agents and completions of the design.

    `scopes` is keyed by the qualified name of a toolset, `completion_scopes` by the name of a service.
    """
    agents: list[Json] = [
        _agent(writer, agent, scopes) for service in design.services for agent in service.agents
    ]
    completions: list[Json] = [
        _completion(writer, completion, completion_scopes[service.name])
        for service in design.services
        for completion in service.completions
    ]
    return _without_empty({"agents": agents, "completions": completions})


def completion_facts(writer: CatalogWriter, service: Service, scope: ModuleScope) -> dict[str, Json]:
    """Return the completions of one service."""
    return {"completions": [_completion(writer, completion, scope) for completion in service.completions]}


def non_default_limits(policy: RunPolicy | History) -> dict[str, object]:
    """Return the limits of a policy that differ from their defaults, by name."""
    values = {field.name: getattr(policy, field.name) for field in fields(policy)}
    defaults = {field.name: field.default for field in fields(policy)}
    return {name: value for name, value in values.items() if value != defaults[name]}


def _agent(writer: CatalogWriter, agent: Agent, scopes: Mapping[str, ModuleScope]) -> Json:
    called: list[Json] = []
    for toolset, used_tool in ((used.toolset, each) for used in agent.uses for each in used.tools):
        tool, own = used_tool.tool, own_confirmation(used_tool)
        entry: dict[str, Json] = {"id": tool.id, "name": used_tool.name}
        if own is not None:  # a confirmation without settings requires approval too
            types = writer.types(tool, scopes[names.qualified(toolset)])
            entry["confirmation"] = confirmation_entry(own.typed(types.__getitem__))
        called.append(entry)
    native: list[Json] = [
        {"id": tool.id, "name": tool.kind} for of in toolsets_of(agent) for tool in of.native
    ]
    head: dict[str, Json] = {
        "id": agent.id,
        "service": agent.service,
        "description": agent.description,
        "tools": [*called, *native],
    }
    return head | _without_empty(
        {
            "policy": _policy(agent.policy),
            "exports": [_export(export) for export in agent.exports],
            "transfers": list(agent.transfers),
        }
    )


def _export(export: Export) -> Json:
    ids = {tool.name: tool.id for tool in export.toolset.tools}
    prompts: dict[str, Json] = {ids[name]: prompt for name, prompt in export.prompts.items()}
    return _without_empty({"toolset": names.qualified(export.toolset), "prompts": prompts})


def _completion(writer: CatalogWriter, completion: Completion, scope: ModuleScope) -> Json:
    return {
        "id": completion.id,
        "name": completion.name,
        "description": completion.description,
        "result": type_entry(writer.type_record(completion.result, scope)),
    }


def _policy(policy: RunPolicy) -> dict[str, Json]:
    limits: dict[str, Json] = {}
    for name, value in non_default_limits(policy).items():
        if isinstance(value, History):
            limits[name] = {key: part for key, part in asdict(value).items() if part is not None}
        elif isinstance(value, bool | int | float | str):
            limits[name] = value
    return limits


def _without_empty(facts: dict[str, Json]) -> dict[str, Json]:
    """Return the facts without empty values."""
    return {key: value for key, value in facts.items() if value not in (None, [], {})}


def toolsets_of(agent: Agent) -> list[Toolset]:
    """Return the toolsets of an agent, each once, in the order of their first use."""
    return list({names.qualified(used.toolset): used.toolset for used in agent.uses}.values())


def own_confirmation(used: UsedTool) -> Confirmation[str] | None:
    """Return the confirmation of an agent's calls if it differs from the tool's confirmation."""
    return used.confirmation if used.confirmation != used.tool.confirmation else None
