"""The amount of a provider's budgets that a schema uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgen.contract.record import frozen_record

from .dialects import SchemaBudget
from .parts import Schema


@frozen_record
class Spent:
    """Counts of one schema; references are not followed, and each part of `$defs` counts once."""

    properties: int = 0
    optional: int = 0
    unions: int = 0
    enum_values: int = 0
    characters: int = 0


def spent(schema: Schema) -> Spent:
    """Return the counts of the provider's schema of a tool."""
    parts = list(nodes(schema))
    objects = [node for node in parts if "properties" in node]
    values = [
        value for node in parts for value in node.get("enum", [node["const"]] if "const" in node else [])
    ]
    names = [name for node in objects for name in node["properties"]]
    return Spent(
        properties=len(names),
        optional=sum(len(node["properties"].keys() - set(node.get("required", ()))) for node in objects),
        unions=sum("anyOf" in node or isinstance(node.get("type"), list) for node in parts),
        enum_values=len(values),
        characters=sum(map(len, [*names, *schema.get("$defs", {}), *map(str, values)])),
    )


def overspent(schema: Schema, budget: SchemaBudget) -> str:
    """Return the budget of one tool that its schema exceeds, in words; "" if there is none."""
    counts = spent(schema)
    for count, most, what in (
        (counts.properties, budget.properties, "properties"),
        (counts.enum_values, budget.enum_values, "enum values"),
        (counts.characters, budget.characters, "characters of names and enum values"),
        (counts.optional, budget.optional, "optional properties"),
        (counts.unions, budget.unions, "unions"),
    ):
        if most is not None and count > most:
            return f"{count} {what}, more than {most}"
    return ""


class RequestBudget:
    """The remaining budget that the strict tools of a request share."""

    def __init__(self, budget: SchemaBudget) -> None:
        self._budget = budget
        self._tools = self._optional = self._unions = 0

    def take(self, schema: Schema) -> str:
        """Count a strict tool; return the reason if the budget does not suffice for it, otherwise ""."""
        counts = spent(schema)
        tools, optional = self._tools + 1, self._optional + counts.optional
        unions = self._unions + counts.unions
        for count, most, what in (
            (tools, self._budget.tools, "strict tools"),
            (optional, self._budget.optional, "optional properties"),
            (unions, self._budget.unions, "unions"),
        ):
            if most is not None and count > most:
                return f"the request would have {count} {what}, more than {most}"
        self._tools, self._optional, self._unions = tools, optional, unions
        return ""


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield each schema in a provider's schema."""
    if not isinstance(schema, dict):
        return
    yield schema
    for key in ("properties", "$defs"):
        for part in schema.get(key, {}).values():
            yield from nodes(part)
    for key in ("items", "additionalProperties"):
        yield from nodes(schema.get(key))
    for part in schema.get("anyOf", ()):
        yield from nodes(part)
