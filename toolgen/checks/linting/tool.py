"""The form of a tool that the rules check, from a checked design or a catalog entry."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from toolgen.contract.findings import NOWHERE, Place
from toolgen.contract.json_pointer import escaped, referred
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.contract.tokens import declaration_text, estimated_tokens

_MOST_NODES: Final = 20_000
"""Maximum number of schemas of one tool that are checked."""


class LintedSchema(NamedTuple):
    """A schema inside the schema of a payload or a result."""

    pointer: str
    """JSON Pointer (RFC 6901) into the schema of the tool."""
    name: str
    """The JSON key of a property; "" for another schema."""
    depth: int
    """Number of properties in the path to it: 1 for an argument."""
    schema: Mapping[str, Any]
    key: str = ""
    """Path to it in readable form: `filter.sites[].name`."""


@frozen_record
class ToolsetContext:
    """The suppressed rules of a toolset, and its place."""

    suppressed: Mapping[str, str] = field(default_factory=dict)
    """Reasons by rule code."""
    place: Place = NOWHERE


@dataclass(frozen=True, kw_only=True)
class LintedTool:
    """A tool with its suppressed rules."""

    id: str
    name: str
    toolset: str
    """`service.toolset`; "" for none."""
    description: str
    payload: Mapping[str, Any]
    """JSON Schema of the arguments."""
    result: Mapping[str, Any] | None
    """JSON Schema of the result; None if it is not known."""
    has_examples: bool
    is_bounded: bool
    has_annotations: bool | None
    """Whether the author wrote annotations; None if that is unknown."""
    place: Place = NOWHERE
    suppressed: Mapping[str, str] = field(default_factory=dict)
    """Reasons by rule code."""
    toolset_context: ToolsetContext = field(default_factory=ToolsetContext)
    """Rules that its toolset turns off."""

    @cached_property
    def nodes(self) -> tuple[LintedSchema, ...]:
        """The schemas inside the payload, outer ones first; a referenced schema is listed once."""
        return tuple(_nodes(self.payload))

    @cached_property
    def arguments(self) -> tuple[LintedSchema, ...]:
        """The properties of the payload, at any depth."""
        return tuple(node for node in self.nodes if node.name)

    @cached_property
    def result_nodes(self) -> tuple[LintedSchema, ...]:
        return tuple(_nodes(self.result or {}))

    @cached_property
    def tokens(self) -> int:
        """Estimated number of tokens that the tool costs in a request."""
        return estimated_tokens(declaration_text(self.name, self.description, self.payload))


def tool_of_entry(entry: Mapping[str, Any]) -> LintedTool:
    """Return a tool of a catalog.

    Raises:
        LookupError, TypeError, AttributeError: the entry lacks keys of its format, or schemas.
    """
    payload, result = entry["payload"], entry.get("result")
    toolset = ".".join(part for part in (entry.get("service"), entry.get("toolset")) if part)
    return LintedTool(
        id=str(entry.get("id") or entry["name"]),
        name=str(entry["name"]),
        toolset=toolset,
        description=str(entry.get("description") or ""),
        payload=_schema(payload),
        result=_schema(result) if result else None,
        has_examples=bool(payload.get("examples")),
        is_bounded="bounded" in entry,
        has_annotations=None if entry.get("annotations") else False,
    )


def _schema(part: Mapping[str, Any]) -> Mapping[str, Any]:
    schema: Any = {} if part["schema"] is True else part["schema"]
    if not isinstance(schema, Mapping):
        raise TypeError("a schema is an object or true here")
    return schema


def _nodes(root: Mapping[str, Json]) -> Iterator[LintedSchema]:
    """Yield the schemas inside another one; a referenced schema only at its first place."""
    waiting = deque([LintedSchema("", "", 0, root)])
    seen = {"#"}
    for _ in range(_MOST_NODES):
        if not waiting:
            return
        node = waiting.popleft()
        yield node
        reference = node.schema.get("$ref")
        if isinstance(reference, str) and reference not in seen:
            seen.add(reference)
            if isinstance(target := referred(root, reference), Mapping):
                waiting.append(LintedSchema(node.pointer, "", node.depth, target, node.key))
        waiting.extend(_children(node))


def _children(node: LintedSchema) -> Iterator[LintedSchema]:
    pointer, _, depth, schema, key = node
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        for name, value in properties.items():
            if isinstance(value, Mapping):
                inner = f"{key}.{name}" if key else name
                yield LintedSchema(f"{pointer}/properties/{escaped(name)}", name, depth + 1, value, inner)
    for keyword, mark in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(value := schema.get(keyword), Mapping):
            yield LintedSchema(f"{pointer}/{keyword}", "", depth, value, f"{key}{mark}")
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        branches = schema.get(keyword)
        for number, value in enumerate(branches if isinstance(branches, list) else ()):
            if isinstance(value, Mapping):
                yield LintedSchema(f"{pointer}/{keyword}/{number}", "", depth, value, key)
