"""Guards of tools and agents, which no way of changing a contract weakens without a word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from toolgen.catalog import parse_catalog
from toolgen.checks.compatibility import compare, contract_of


def sent(schema: Mapping[str, Any]) -> Any:
    """Return a contract of one tool that takes what fits a schema."""
    tools = [{"id": "desk.devices.list", "payload": {"name": "P", "schema": {"type": "object", **schema}}}]
    return contract_of(parse_catalog({"tools": tools}))


@pytest.mark.parametrize(
    ("old", "now"),
    [
        (("a.x.list", "a.y.list"), ("b.x.list", "b.y.list")),
        (("a.x.list", "a.y.list"), ("a.v.list", "a.w.list")),
        (("a.x.list", "b.y.list"), ("b.z.list",)),
    ],
    ids=["another service", "other toolsets", "one of two"],
)
def test_tools_of_one_name_that_move_together_keep_their_guards(
    old: tuple[str, ...], now: tuple[str, ...]
) -> None:
    def asking(ids: Sequence[str], **guards: Any) -> Any:
        tools = [{"id": id_, "payload": {"name": "P", "schema": {"type": "object"}}, **guards} for id_ in ids]
        return contract_of(parse_catalog({"tools": tools}))

    changes = compare(asking(old, confirmation={}), asking(now))
    assert [each.tool for each in changes if each.rule.is_weakening] == [*now]
    assert [each.tool for each in changes if each.code == "tool-moved"] == [*now]


def test_an_agent_of_another_service_keeps_its_guards() -> None:
    def limited(service: str, most: int, **confirmation: Any) -> Any:
        tools = [{"id": "else.where.list", "name": "list", **confirmation}]
        agent = {"id": f"{service}.clerk", "tools": tools, "policy": {"max_tool_calls": most}}
        return contract_of(parse_catalog({"tools": [], "agents": [agent]}))

    changes = compare(limited("desk", 8, confirmation={}), limited("office", 80))
    assert [each.code for each in changes] == ["confirmation-removed", "agent-removed", "limit-loosened"]
    assert {each.tool for each in changes if each.rule.is_weakening} == {"office.clerk"}


def test_a_tool_that_the_provider_runs_now_asks_nobody() -> None:
    tool = {
        "id": "desk.devices.list",
        "payload": {"name": "P", "schema": {"type": "object"}},
        "confirmation": {},
    }
    native = {"id": "desk.devices.list", "kind": "native", "provider": "openai", "config": {}}
    changes = compare(*(contract_of(parse_catalog({"tools": [each]})) for each in (tool, native)))
    assert [each.code for each in changes] == ["tool-removed", "confirmation-removed"]


@pytest.mark.parametrize(
    ("had", "has"),
    [
        ({"type": "integer", "maximum": 10}, {"enum": [1, 1000]}),
        ({"type": "integer", "maximum": 10}, {"const": 1000}),
        (
            {"anyOf": [{"type": "integer", "maximum": 10}, {"type": "string"}]},
            {"anyOf": [{"type": "integer", "maximum": 10}, {"const": 1000}, {"type": "string"}]},
        ),
        (
            {"if": {"type": "integer"}, "then": {"maximum": 10}},
            {"if": {"type": "integer"}, "then": {"maximum": 1000}},
        ),
    ],
    ids=["list", "value", "branch", "condition"],
)
def test_a_limit_behind_a_reference_is_not_left_out_by_other_keywords(had: Any, has: Any) -> None:
    old, new = (
        {"properties": {"x": {"$ref": "#/$defs/X"}}, "additionalProperties": False, "$defs": {"X": each}}
        for each in (had, has)
    )
    assert "limit-loosened" in {each.code for each in compare(sent(old), sent(new))}


def test_a_branch_of_another_kind_loosens_no_limit() -> None:
    old, new = (
        {
            "properties": {
                "x": {"anyOf": [{"type": "integer", "maximum": 10}, *({"type": kind} for kind in kinds)]}
            }
        }
        for kinds in (("null",), ("null", "string"))
    )
    assert [each.code for each in compare(sent(old), sent(new))] == ["argument-widened"]


def test_a_masked_field_among_the_others_of_a_map_is_still_there() -> None:
    def masked(schema: Any, *places: str) -> Any:
        result = {"name": "R", "schema": schema, "sensitive": [*places]}
        return contract_of(parse_catalog({"tools": [{"id": "desk.devices.list", "result": result}]}))

    text = {"type": "string"}
    named = masked({"type": "object", "properties": {"pin": text}, "additionalProperties": text}, "/pin")
    others = masked({"type": "object", "additionalProperties": text})
    assert "sensitive-removed" in {each.code for each in compare(named, others)}
