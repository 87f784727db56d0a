"""Declarations of all tools of a request: envelopes, names, and budgets that they share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from examples.home.app import runtime_for_tests
from gen.assistant.toolsets import devices
from tests.selection import first
from toolgen.catalog import load_catalog
from toolgen.catalog.providers import DIALECTS, EntryError, declarations
from toolgen.contract.errors import ToolgenError


def entry(name: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {"name": name, "description": f"Does {name}.", "payload": {"schema": schema}}


TEXT = {"type": "string"}
CATALOG = load_catalog(Path(__file__).parents[2] / "gen/tool_schemas.json")


def test_the_envelopes() -> None:
    tools = [entry("go", a=TEXT)]
    wire = {"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]}
    strict = {**wire, "additionalProperties": False}
    (chat,) = declarations(tools, "openai-strict").fragment
    said = {"name": "go", "description": "Does go."}
    assert chat == {"type": "function", "function": {**said, "parameters": strict, "strict": True}}
    (flat,) = declarations(tools, "openai-responses-strict").fragment
    assert flat == {"type": "function", **said, "parameters": strict, "strict": True}
    (plain,) = declarations(tools, "openai").fragment
    assert plain["function"]["strict"] is False
    (claude,) = declarations(tools, "anthropic-strict").fragment
    own = {"type": "object", "properties": {"a": TEXT}, "required": [], "additionalProperties": False}
    assert claude == {**said, "input_schema": own, "strict": True}
    (gemini,) = declarations(tools, "gemini").fragment
    declared = {**said, "parameters": {"type": "object", "properties": {"a": TEXT}}}
    assert gemini == {"functionDeclarations": [declared]}
    (gemini,) = declarations(tools, "gemini-json").fragment
    assert gemini == {"functionDeclarations": [{**said, "parametersJsonSchema": own}]}
    bare = {"functionDeclarations": [said]}
    assert declarations([entry("go")], "gemini").fragment == [bare]
    assert declarations([], "gemini").fragment == []


@pytest.mark.parametrize(
    "odd",
    [
        {"name": "odd"},
        {"name": "odd", "payload": None},
        {"name": "odd", "payload": {}},
        {"name": "odd", "payload": {"schema": True}},
        {"name": "odd", "inputSchema": {"type": "object"}},
        {"payload": {"schema": {"type": "object"}}},
        {"name": 3, "payload": {"schema": {"type": "object"}}},
    ],
)
def test_an_entry_without_a_name_or_a_schema_is_an_error(odd: dict[str, Any]) -> None:
    tools = [entry("go"), {"kind": "native", "name": "search"}, odd]
    with pytest.raises(
        EntryError, match=r"entry 3 of the tools \('(odd|3|)'\) has no name or no payload schema"
    ):
        declarations(tools, "openai")


def test_two_tools_of_one_name_are_an_error() -> None:
    tools: list[Any] = [entry("go"), entry("stop"), {**entry("go"), "id": "b.c.go"}]
    with pytest.raises(EntryError, match=r"two tools have the name 'go' 'b\.c\.go'"):
        declarations(tools, "openai")
    native: dict[str, Any] = {"kind": "native", "name": "go"}
    assert len(declarations([*tools[:2], native], "openai").projections) == 2


def test_a_tool_whose_schema_is_no_json_takes_none_of_the_others_with_it() -> None:
    odd: dict[str, Any] = {
        "name": "odd",
        "description": "Odd.",
        "payload": {"schema": {"type": "object", "x-y": {1, 2}}},
    }
    go, one, stop = declarations([entry("go"), odd, entry("stop")], "openai-strict").projections
    assert (go.losses, stop.losses) == ((), ())
    assert "not JSON serializable" in one.losses[0].detail


def test_examples_of_a_tool_without_room_are_those_of_its_plain_schema() -> None:
    tool = entry("go", m={"type": "object", "additionalProperties": {"type": "integer"}})
    tool["payload"]["examples"] = [{"m": {"x": 1}}]
    full = [entry(f"t{number}") for number in range(20)]
    *_, one = declarations([*full, tool], "anthropic-strict").fragment
    assert (one["strict"], one["input_examples"]) == (False, [{"m": {"x": 1}}])


def test_names_are_those_of_the_provider_and_lead_back() -> None:
    long = "x" * 70
    assert declarations([entry("a\ud800")], "openai").projections[0].name == "a_"
    names = ["math.factorial", "math__factorial", long, "é", "1st", "plain"]
    found = declarations([entry(name) for name in names], "openai")
    assert [one.name for one in found.projections] == [
        "math__factorial_2f2114b",
        "math__factorial",
        "x" * 56 + "_c71bd10",
        "_",
        "1st",
        "plain",
    ]
    for one in found.projections:
        assert found.tool_named(one.name) is one
    assert [one.tool for one in found.projections] == names
    assert found.tool_named("math.factorial") is None
    assert declarations([entry("1st")], "gemini").projections[0].name == "_1st"


def test_a_tool_that_has_the_marked_name_of_another_keeps_it() -> None:
    (_, marked) = declarations([entry("a__b"), entry("a.b")], "openai").projections
    names = ["a__b", "a.b", marked.name]
    sent = [one.name for one in declarations([entry(name) for name in names], "openai").projections]
    assert len(set(sent)) == 3
    assert (sent[0], sent[2]) == ("a__b", marked.name)


def test_strict_tools_share_the_budgets_of_a_request_in_their_order() -> None:
    many = {f"p{number}": TEXT for number in range(10)}
    tools = [entry("a", **many), entry("b", **many), entry("c", **many), entry("d", p=TEXT)]
    found = declarations(tools, "anthropic-strict").projections
    assert [one.is_strict for one in found] == [True, True, False, True]
    assert found[2].losses[0].detail == "the request would have 30 optional properties, more than 24"
    assert found[2].declaration["strict"] is False
    most = declarations([entry(f"t{number}") for number in range(22)], "anthropic-strict").projections
    assert [one.is_strict for one in most] == [True] * 20 + [False] * 2
    assert all(one.is_strict for one in declarations(tools, "openai-strict").projections)


@pytest.mark.parametrize("dialect", first(DIALECTS, 3))
async def test_specs_snapshots_and_entries_give_the_same(dialect: str) -> None:
    async with runtime_for_tests() as runtime:
        snapshot = await runtime.tools.snapshot()
    of_snapshot = declarations(snapshot, dialect).projections
    assert of_snapshot == declarations(snapshot.specs, dialect).projections
    tools = CATALOG.tools
    of_entries = {one.tool: one.schema for one in declarations(tools, dialect).projections if one.is_strict}
    for one in of_snapshot:
        assert not one.is_strict or of_entries.get(one.tool, one.schema) == one.schema
    assert {one.tool for one in of_snapshot} <= {tool["name"] for tool in tools}


def test_equal_tools_are_projected_once() -> None:
    first = declarations(devices.SPECS, "openai-strict").projections
    again = declarations(devices.SPECS, "openai-strict").projections
    assert all(one.schema is other.schema for one, other in zip(first, again, strict=True))


def test_tools_of_the_provider_are_left_out_and_dialects_are_named() -> None:
    native: dict[str, Any] = {
        "id": "a.b.search",
        "name": "search",
        "kind": "native",
        "provider": "openai",
        "config": {},
    }
    assert declarations([native], "openai").fragment == []
    with pytest.raises(ToolgenError, match="'nope'"):
        declarations([], "nope")


def test_examples_are_as_the_model_sends_them() -> None:
    tool = entry("go", m={"type": "object", "additionalProperties": {"type": "integer"}})
    tool["payload"]["examples"] = [{"m": {"x": 1}}, {"undeclared": 1}]
    (one,) = declarations([tool], "anthropic-strict").fragment
    assert one["input_examples"] == [{"m": [{"key": "x", "value": 1}]}]
    assert json.dumps(one)
