"""Every generated catalog is of the format that toolgen ships as a JSON Schema."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest

import benchmarks.generate
from tests.selection import first
from toolgen.catalog import CatalogError, format_schema, load_catalog, parse_catalog
from toolgen.catalog.entry import tool_digest
from toolgen.catalog.reader import FORMAT_ID
from toolgen.catalog.repeated_types import RepeatedTypes, with_types
from toolgen.codegen import generate
from toolgen.contract.names import CATALOG_FORMAT
from toolgen.dsl import Agent, Design, Service, Use, build

ROOT = Path(__file__).parents[1]
CATALOGS = sorted(
    [*ROOT.glob("gen/**/tool_schemas.json"), *ROOT.glob("tests/cases/*/gen/**/tool_schemas.json")]
)


def test_a_catalog_names_the_schema_of_its_format() -> None:
    schema = format_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == FORMAT_ID
    assert schema["properties"]["$schema"] == {"const": FORMAT_ID}
    assert schema["properties"]["catalog"]["properties"]["format"] == {"const": CATALOG_FORMAT}


@cache
def format_validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(format_schema())


@pytest.mark.parametrize("file", first(CATALOGS, 8), ids=lambda file: str(file.relative_to(ROOT)))
def test_the_catalog_is_of_the_format(file: Path) -> None:
    written = json.loads(file.read_text("utf-8"))
    format_validator().validate(written)
    catalog = {**written, "tools": load_catalog(file).tools}
    assert catalog["catalog"]["digest"] == digest_of(catalog)
    assert all(tool["digest"] == tool_digest(tool) for tool in catalog["tools"])
    ids = [tool["id"] for tool in catalog["tools"]]
    assert ids == sorted(ids)
    for tool in (tool for tool in catalog["tools"] if tool["kind"] != "native"):
        for part in (tool["payload"], tool["result"], *tool.get("artifacts", ()), *_behaviour(tool)):
            jsonschema_rs.meta.validate(part["schema"])
            assert "$schema" not in part["schema"]
        judge = jsonschema_rs.Draft202012Validator(tool["payload"]["schema"])
        assert all(judge.is_valid(example) for example in tool["payload"].get("examples", ()))
    for completion in catalog.get("completions", ()):
        jsonschema_rs.meta.validate(completion["result"]["schema"])


def digest_of(catalog: dict[str, Any]) -> str:
    """Return the digest of a catalog, made as its format says."""
    whole = {key: value for key, value in catalog.items() if key not in ("$schema", "catalog", "types")}
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def shared(tools: list[dict[str, Any]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the types of several tools, and the tools with references to them."""
    types = RepeatedTypes(tools)
    return types.types(), [types.with_references(tool) for tool in tools]


def test_a_type_of_several_tools_stands_in_a_file_once() -> None:
    one = {"type": "object", "title": "Device"}
    nested = {"type": "object", "properties": {"of": {"$ref": "#/$defs/Device"}}, "$defs": {"Device": one}}
    tools: list[dict[str, Any]] = [
        {"id": "s.t.a", "payload": {"name": "A", "schema": nested}, "errors": [{"name": "no"}]},
        {"id": "s.t.b", "payload": {"name": "B", "schema": {**nested, "title": "B"}}},
        {"id": "s.t.c", "confirmation": {"hint": "?", "payload": {"name": "Device", "schema": one}}},
        {"id": "s.t.d", "errors": [{"name": "gone", "type": "Device", "schema": {**one, "title": 1}}]},
    ]
    types, short = shared(tools)
    assert types == {"Device": one}
    assert short[0]["payload"]["schema"]["$defs"] == {"Device": {"$ref": "#/types/Device"}}
    assert short[2]["confirmation"]["payload"]["schema"] == {"$ref": "#/types/Device"}
    assert short[3] == tools[3]
    assert [with_types(tool, types) for tool in short] == tools
    for definition in (True, {"$defs": {"Device": one}}):
        odd = {"$defs": {"Odd": definition, "Device": one}}
        tools = [{"id": f"s.t.{id_}", "payload": {"name": id_, "schema": odd}} for id_ in "xy"]
        types, short = shared(tools)
        assert [with_types(tool, types) for tool in short] == tools
        assert types == {"Odd": definition, "Device": one}
    theirs = {"name": "C", "schema": {"$defs": {"X": {"$ref": "#/types/X"}}, "types": {"X": {}}}}
    assert shared([*tools, {"id": "s.t.e", "payload": theirs}])[0] == {}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "is not a tool catalog"),
        ({"catalog": 3, "tools": []}, "is not a tool catalog"),
        ({"tools": [1]}, "is not a tool catalog"),
        ({"catalog": {"format": True}, "tools": []}, "is a catalog of format True, and this toolgen reads"),
        (
            {"tools": [{"payload": {"schema": {"$ref": "#/types/A"}}}], "types": {"B": {}}},
            "is not a tool catalog",
        ),
        ({"tools": [{"payload": 3}], "types": {"B": {}}}, "is not a tool catalog"),
        (
            {"catalog": {"format": 3, "root": "/etc/passwd"}, "tools": []},
            "but the root catalog that it names cannot be read",
        ),
        ({"catalog": {"format": 3, "root": 3}, "tools": []}, "is not a tool catalog"),
        (
            {"catalog": {"format": 3, "root": "../tool_schemas.json"}, "tools": [{"id": "a"}]},
            "'a', which its root lacks",
        ),
    ],
)
def test_what_is_no_catalog_is_said(document: object, message: str) -> None:
    with pytest.raises(CatalogError, match=message):
        parse_catalog(document, lambda path: {"tools": []})


@pytest.mark.exhaustive
def test_a_catalog_has_at_most_9_kilobytes_a_tool() -> None:
    namespace: dict[str, Any] = {"TOOLSETS": 5, "TOOLS": 20}
    exec(benchmarks.generate.DESIGN, namespace)  # the design of the benchmark, which has 1,000 tools
    everything = Agent("all", "Uses all.", *map(Use, namespace["toolsets"]))
    service = Service("big", "All of it.", *namespace["toolsets"], everything)
    evaluation = build(Design("large", "A large catalog.", service))
    assert evaluation.design is not None
    tree = generate(evaluation.design, module="design")
    sizes = {path: len(text.encode()) for path, text in tree.items() if path.endswith(".json")}
    assert sum(sizes.values()) < 100 * 9_000
    assert sizes["big/agents/all/tool_schemas.json"] < 100 * 60


def _behaviour(tool: dict[str, dict[str, Any]]) -> list[Any]:
    """Return the types of approvals, acknowledgements and progress."""
    late = tool.get("long_running", {})
    types = (tool.get("confirmation", {}).get("payload"), late.get("ack"), late.get("progress"))
    return [type_ for type_ in types if type_]
