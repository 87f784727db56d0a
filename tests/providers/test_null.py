"""Null of an optional attribute means absent, whatever provider's model sends it."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.catalog.providers import DIALECTS, declarations
from toolgen.runtime import Runtime, ToolModel


class Place(ToolModel):
    kind: Literal["place"]
    name: str
    floor: int | None = None
    of_building: Annotated[str | None, Field(alias="of building")] = None


class Person(ToolModel):
    kind: Literal["person"]
    name: str
    room: Place | None = None
    shown_as: Annotated[str | None, Field(alias="shown as", max_length=9)] = None


Target = Annotated[Place | Person, Field(discriminator="kind")]
WHOLE: Any = {
    "target": {
        "kind": "person",
        "name": "Ann",
        "shown as": "A.",
        "room": {"kind": "place", "name": "hall", "floor": 1, "of building": "B"},
    },
    "others": [{"kind": "place", "name": "attic", "floor": 1, "of building": "B"}],
    "limit": 5,
    "tags": ["t"],
    "by_name": {"a": {"kind": "place", "name": "cellar", "floor": 1, "of building": "B"}},
}
KEPT = ("target", "kind", "name", "room", "others", "by_name", "a")
"""What is sent; the rest of it is null."""


def find(
    target: Target,
    others: list[Target] | None = None,
    limit: Annotated[int, Field(ge=1)] = 5,
    tags: list[str] | None = None,
    by_name: dict[str, Place] | None = None,
) -> str:
    """Find it."""
    assert target == Person(kind="person", name="Ann", room=Place(kind="place", name="hall"))
    assert others == [Place(kind="place", name="attic")]
    assert by_name == {"a": Place(kind="place", name="cellar")}
    return f"{limit} {tags}"


@pytest.mark.parametrize("dialect", [dialect.name for dialect in DIALECTS.values()])
async def test_null_of_an_optional_attribute_means_absent(dialect: str) -> None:
    tool = func_tool(find, toolset="host.tools")
    runtime = Runtime()
    runtime.tools.register(function_toolset("host.tools", [tool]))
    [projection] = declarations([tool.spec], dialect).projections
    whole = json.loads(projection.encode(json.dumps(WHOLE)))
    part = json.loads(projection.encode(json.dumps(kept(WHOLE))))
    for sent in (with_nulls(part, whole), with_nulls(kept(WHOLE), WHOLE)):
        result = await runtime.call("find", projection.decode(json.dumps(sent)))
        assert (result.status, result.result) == ("ok", "5 None"), (sent, result.json)


def kept(value: Any) -> Any:
    """Return the document without what is null in the end."""
    if isinstance(value, dict):
        return {key: kept(inner) for key, inner in value.items() if key in KEPT}
    return [kept(item) for item in value] if isinstance(value, list) else value


def with_nulls(part: Any, whole: Any) -> Any:
    """Return a part of a document with null for each key that the whole has and the part has not."""
    if isinstance(part, dict) and isinstance(whole, dict):
        nulls = dict.fromkeys(whole)
        return nulls | {key: with_nulls(inner, whole.get(key)) for key, inner in part.items()}
    if isinstance(part, list) and isinstance(whole, list):
        return [with_nulls(one, other) for one, other in zip(part, whole, strict=True)]
    return part
