"""The contract of a catalog or of an MCP server's lock, one side of a comparison."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from toolgen.catalog.reader import Catalog
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

from .documents import SchemaDocument

_HINTS: Final = {
    "destructiveHint": True,
    "openWorldHint": True,
    "readOnlyHint": False,
    "idempotentHint": False,
}
"""Defaults of hints that an entry does not have (MCP 2025-11-25, `ToolAnnotations`)."""


@frozen_record
class Contract:
    """The contract of one side of a comparison."""

    tools: Mapping[str, Mapping[str, Any]]
    """Entries of the catalog by id."""
    agents: Mapping[str, Mapping[str, Any]]
    completions: Mapping[str, Mapping[str, Any]]
    version: str = ""
    has_notes: bool = False
    """Whether every `format` is an annotation only, as in the tools of MCP servers."""

    def document(self, part: Mapping[str, Any]) -> SchemaDocument:
        """Return the schema of one part of an entry, for example its payload, for a comparison."""
        noted = None if self.has_notes else tuple(part.get("noted_formats", ()))
        return SchemaDocument(part.get("schema", True), noted)


def contract_of(catalog: Catalog) -> Contract:
    """Return the contract of a catalog."""
    return Contract(
        tools=_by_id(catalog.tools),
        agents=_by_id(catalog.agents),
        completions=_by_id(catalog.completions),
        version=catalog.version,
    )


def contract_of_server(tools: Iterable[Mapping[str, Json]], version: str = "") -> Contract:
    """Return the contract of an MCP server with these tools, in the format of the protocol."""
    return Contract(
        tools={str(tool["name"]): _entry(tool) for tool in tools},
        agents={},
        completions={},
        version=version,
        has_notes=True,
    )


def _entry(tool: Mapping[str, Any]) -> dict[str, Json]:
    entry = {
        key: tool[key] for key in ("name", "title", "description", "annotations", "icons") if key in tool
    }
    if tool.get("title") and tool.get("annotations", {}).get("title") == tool["title"]:  # a duplicate
        entry["annotations"] = {key: hint for key, hint in tool["annotations"].items() if key != "title"}
    entry |= {"id": str(tool["name"]), "payload": {"schema": tool["inputSchema"]}}
    return {**entry, "result": {"schema": tool["outputSchema"]}} if "outputSchema" in tool else entry


def _by_id(entries: Iterable[Mapping[str, Json]]) -> dict[str, Mapping[str, Json]]:
    return {str(entry.get("id") or entry.get("name")): entry for entry in entries}


def wire_name(entry: Mapping[str, Json]) -> str:
    """Return the wire name of a tool; Goa-AI entries contain it only in their ids."""
    return str(entry.get("name") or str(entry.get("id", "")).rpartition(".")[2])


def canonical(value: object) -> str:
    """Return a text that is equal for the same JSON."""
    return json.dumps(value, sort_keys=True)


def hints_of(entry: Mapping[str, Any]) -> dict[str, bool]:
    """Return the behaviour hints of a tool, or the defaults of MCP."""
    written = entry.get("annotations", {})
    hints = {name: bool(written.get(name, default)) for name, default in _HINTS.items()}
    return {**hints, "destructiveHint": False} if hints["readOnlyHint"] else hints
