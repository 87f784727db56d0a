"""Agents, their toolsets and completions in `tool_schemas.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields

from toolgen.catalog.entry import type_entry
from toolgen.catalog.writer import CatalogEntry, Head
from toolgen.contract.json_value import Json
from toolgen.contract.policy import History, RunPolicy
from toolgen.contract.tool_facts import Confirmation
from toolgen.expr.tree import Agent, Completion, Design, Export, Service, Toolset, UsedTool
from toolgen.shapes.fields import Objects

from . import names
from .catalog import CatalogTool, agent_tool_entry, native, type_record


def agent_entries(head: Head, agent: Agent, tools: Mapping[str, CatalogTool]) -> Iterator[CatalogEntry]:
    """Return the entry of every tool that an agent has; `tools` are those of the design by id."""
    for used in agent.uses:
        yield from (agent_tool_entry(head, tools[used_tool.tool.id], used_tool) for used_tool in used.tools)
    for toolset in toolsets_of(agent):
        yield from (native(head, toolset, tool) for tool in toolset.native)


def agent_header(agent: Agent) -> dict[str, Json]:
    """Return what stands at the top of an agent's own catalogue."""
    return _without_empty(
        {
            "id": agent.id,
            "description": agent.description,
            "policy": _policy(agent.policy),
            "transfers": list(agent.transfers),
        }
    )


def agents_and_completions(
    head: Head, design: Design, completion_objects: Mapping[str, Objects]
) -> dict[str, Json]:
    """Return the agents and completions of the design; the objects are given by service."""
    agents: list[Json] = [_agent(agent) for service in design.services for agent in service.agents]
    completions: list[Json] = [
        _completion(head, completion, completion_objects[service.name])
        for service in design.services
        for completion in service.completions
    ]
    return _without_empty({"agents": agents, "completions": completions})


def completion_facts(head: Head, service: Service, objects: Objects) -> dict[str, Json]:
    """Return the completions of one service."""
    return {"completions": [_completion(head, completion, objects) for completion in service.completions]}


def non_default_limits(policy: RunPolicy | History) -> dict[str, object]:
    """Return the limits of a policy that differ from their defaults, by name."""
    values = {field.name: getattr(policy, field.name) for field in fields(policy)}
    defaults = {field.name: field.default for field in fields(policy)}
    return {name: value for name, value in values.items() if value != defaults[name]}


def _agent(agent: Agent) -> Json:
    called = [(used_tool.tool.id, used_tool.name) for used in agent.uses for used_tool in used.tools]
    native = [(tool.id, tool.kind) for toolset in toolsets_of(agent) for tool in toolset.native]
    head: dict[str, Json] = {
        "id": agent.id,
        "service": agent.service,
        "description": agent.description,
        "tools": [{"id": id_, "name": name} for id_, name in (*called, *native)],
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


def _completion(head: Head, completion: Completion, objects: Objects) -> Json:
    return {
        "id": completion.id,
        "name": completion.name,
        "description": completion.description,
        "result": type_entry(type_record(head, completion.result, objects), head.format),
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
    """Return the facts that are not empty."""
    return {key: value for key, value in facts.items() if value not in (None, [], {})}


def toolsets_of(agent: Agent) -> list[Toolset]:
    """Return the toolsets of an agent, each once, in the order of their first use."""
    return list({names.qualified(used.toolset): used.toolset for used in agent.uses}.values())


def own_confirmation(used: UsedTool) -> Confirmation[str] | None:
    """Return the confirmation of an agent's calls, where it differs from the tool's own."""
    return used.confirmation if used.confirmation != used.tool.confirmation else None
