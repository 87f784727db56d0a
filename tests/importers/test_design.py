"""Design modules for imported tools: they read well, they build, and they say what the schemas say."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal as Number
from pathlib import Path
from typing import Annotated, Any

import jsonschema_rs
import pytest
from annotated_types import MultipleOf
from pydantic import Field

from tests import golden
from tests.checked import bound
from tests.importers.designs import UNIQUE, built, errors, imported, object_, schemas, source, tool
from toolgen.catalog import parse_catalog
from toolgen.codegen import generate
from toolgen.codegen.write.staging import stage
from toolgen.contract.tool_facts import Icon
from toolgen.dsl import (
    Args,
    ArrayOf,
    Attribute,
    Date,
    DateTime,
    Decimal,
    Duration,
    MapOf,
    Method,
    Nullable,
    String,
    Tool,
)
from toolgen.importers.design import DesignFiles, design_files
from toolgen.importers.names import identifier
from toolgen.importers.python_functions import read_functions
from toolgen.shapes.tree.schema import object_schema

DAY = dt.date(2026, 1, 31)
NOON = dt.datetime(2026, 1, 31, 12, tzinfo=dt.timezone(dt.timedelta(hours=-5)))
LIMITED = (
    Attribute("day", Date, "A day", minimum=DAY, exclusive_maximum=dt.date(2027, 1, 1), default=DAY),
    Attribute("since", DateTime(exclusive_minimum=NOON), "An instant.", required=True),
    Attribute("until", DateTime, "Another.", maximum=dt.datetime(2026, 1, 1, tzinfo=dt.UTC)),
    Attribute("wait", Duration, "A wait.", minimum=-dt.timedelta(1), multiple_of=dt.timedelta(minutes=15)),
    Attribute("price", Nullable(Decimal(multiple_of=Number("0.05"))), "A price.", default=Number("1.50")),
    Attribute("days", ArrayOf(Date(maximum=DAY)), "Several days."),
    Attribute("prices", MapOf(String, Nullable(Decimal(minimum=Number(0)))), "Prices.", examples=({},)),
    Attribute("cost", Decimal, "A cost.", maximum=Number(9), examples=(Number("8.5"),)),
)


def test_limits_of_dates_and_decimals_come_back(tmp_path: Path) -> None:
    arguments = object_schema(bound(Method("m", "M."), Tool("find", "F.", Args(*LIMITED))).payload, {})
    found = imported(tool(arguments=arguments, result=object_({"total": {"type": "integer"}})))
    assert found.findings == ()
    assert "JSONSchema" not in found.files["tools.py"]
    assert "ust be" not in found.files["tools.py"]
    assert "import datetime as dt\nimport decimal\n\nfrom" in found.files["tools.py"]
    evaluation = built(found, tmp_path)
    assert errors(evaluation) == []
    assert evaluation.design is not None
    (again,) = evaluation.design.services[0].toolsets[0].tools
    assert object_schema(again.payload, {}) == arguments


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"description": "A day. Must be at least 2026-02-01."}, "import-note-left-out"),
        ({"description": ""}, "import-note-left-out"),
        ({"x-maximum": "2026-01-01"}, "import-note-left-out"),
        ({"x-minimum": 3}, "import-note-left-out"),
        ({"format": "date-time"}, "import-note-left-out"),
        ({"default": "2026-01-01"}, "import-left-out"),
    ],
)
def test_annotations_that_toolgen_did_not_write_are_no_limits(
    changed: dict[str, Any], code: str, tmp_path: Path
) -> None:
    day = {
        "type": "string",
        "format": "date",
        "x-minimum": "2026-01-31",
        "description": "Must not be before 2026-01-31.",
    }
    found = imported(tool(arguments=object_({"day": {**day, **changed}})))
    assert found.findings[0].code == code
    assert errors(built(found, tmp_path)) == []
    assert ("minimum=" in found.files["tools.py"]) is (code == "import-left-out")


def test_a_module_reads_as_if_somebody_had_written_it(tmp_path: Path) -> None:
    limit = {"type": "integer", "description": "Most things.", "maximum": 50, "default": 10}
    arguments = object_(
        {"query": {"type": "string", "description": "What to look for."}, "limit": limit}, "query"
    )
    result = object_({"total": {"type": "integer"}}, "total", additionalProperties=False)
    found = imported(
        tool("Find.things", arguments, result=result, title="Finder", annotations={"read_only": True})
    )
    assert found.imported == 1
    assert found.findings == ()
    folder = tmp_path / "formatted"
    folder.mkdir()
    stage(folder, found.files, {})
    assert list(found.files) == ["tools.py"]
    assert (
        (folder / "tree/tools.py").read_text("utf-8")
        == '''\
"""The tools of tools: `toolgen gen` reads `design` and writes their types and codecs."""

from toolgen import dsl as d

tools = d.Toolset(
    "tools",
    "Some tools.",
    d.Tool(
        "find_things",
        "Find a thing.",
        d.Args(
            d.Attribute("query", d.String, "What to look for.", required=True),
            d.Attribute("limit", d.Int, "Most things.", maximum=50, default=10),
            open=True,
        ),
        d.Return(d.Attribute("total", d.Int, None, required=True)),
        d.Annotations(read_only=True),
        d.Meta(name="Find.things"),
        title="Finder",
    ),
)

design = d.Design("tools", "Some tools.", d.Service("assistant", "Some tools.", tools))
'''
    )
    assert errors(built(found, tmp_path)) == []


def test_a_schema_that_words_cannot_say_is_a_file_as_its_author_wrote_it(tmp_path: Path) -> None:
    arguments = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **object_({"a": {"type": "string"}}),
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    found = imported(tool("find", arguments))
    assert 'd.Args(d.JSONSchema("tools_schemas/find.args.json"))' in found.files["tools.py"]
    assert json.loads(found.files["tools_schemas/find.args.json"]) == arguments
    assert errors(built(found, tmp_path)) == []


def test_one_property_that_words_cannot_say_leaves_words_to_the_others(tmp_path: Path) -> None:
    tags = {"type": "array", "contains": {"const": "a"}, "description": "Labels."}
    found = imported(tool("find", object_({"query": {"type": "string"}, "tags": tags})))
    text = 'd.JSONSchema({"type": "array", "contains": {"const": "a"}})'
    assert text in found.files["tools.py"]
    assert '"Labels."' in found.files["tools.py"]
    assert 'd.Attribute("query", d.String, None)' in found.files["tools.py"]
    assert errors(built(found, tmp_path)) == []


def test_items_that_differ_are_words_where_they_are_plain(tmp_path: Path) -> None:
    """Of other items two texts may be one value in a design: the schema stays where it is."""
    names = {**UNIQUE, "items": {"enum": ["a", "b"]}, "minItems": 1, "default": ["a"]}
    twice = {**UNIQUE, "items": {"type": "integer"}, "default": [1, 1]}
    arguments = object_({"names": names, "twice": twice, "all": UNIQUE, "tags": {**UNIQUE, "items": True}})
    found = imported(tool("find", arguments))
    module = found.files["tools.py"]
    assert "min_length=1, unique_items=True" in module.replace("\n", " ").replace("  ", "")
    assert 'd.Attribute("twice", d.ArrayOf(d.Int), None, unique_items=True)' in module
    assert 'd.Attribute("all", d.JSONSchema({"type": "array", "uniqueItems": True}), None)' in module
    assert errors(built(found, tmp_path)) == []


@pytest.mark.parametrize(
    "arguments",
    [
        object_({"most": {"$ref": "#/properties/all"}, "all": UNIQUE}),
        object_({"all": UNIQUE, "a": {"type": "string"}}, additionalProperties={"$ref": "#/properties/all"}),
        object_({"all": UNIQUE}, allOf=[{"properties": {"all": {"maxItems": 3}}}]),
    ],
)
def test_what_is_said_elsewhere_of_a_property_keeps_the_schema(arguments: object) -> None:
    found = imported(tool("find", arguments))
    assert 'd.Args(d.JSONSchema("tools_schemas/find.args.json"))' in found.files["tools.py"]


def test_a_type_that_leads_back_to_the_arguments_keeps_the_schema_of_a_property(tmp_path: Path) -> None:
    found = imported(tool("find", object_({"inner": {"$ref": "#"}, "all": UNIQUE})))
    text = 'd.Attribute("all", d.JSONSchema({"type": "array", "uniqueItems": True}), None)'
    assert text in found.files["tools.py"]
    assert errors(built(found, tmp_path)) == []


def test_a_small_result_that_is_no_object_stands_in_the_module(tmp_path: Path) -> None:
    found = imported(tool("find", {"type": "object"}, result={"type": "string"}))
    assert 'd.Return(d.JSONSchema({"type": "string"}))' in found.files["tools.py"]
    assert errors(built(found, tmp_path)) == []


def test_a_tool_whose_source_says_nothing_of_its_result_gives_anything(tmp_path: Path) -> None:
    found = imported(tool("find", object_({}, additionalProperties=False)))
    assert 'd.Tool("find", "Find a thing.", d.Return(d.JSONSchema({})))' in found.files["tools.py"]
    assert errors(built(found, tmp_path)) == []


@pytest.mark.parametrize(
    "arguments",
    [
        object_({"__class__": {"type": "string"}, "self": {"type": "integer"}, "class": {}}),
        object_({"model_config": {}, "model_fields": {}, "json": {"type": "string"}}),
        object_({"a b": {"type": "string"}}),
        object_({"fooBar": {}, "foo_bar": {}}),
        object_({"x": object_({"b_c": object_({"d": {}})}), "x_b": object_({"c": object_({"e": {}})})}),
        object_({"x": {"enum": ["3d", "", "."]}}),
        object_({"x": {"type": "integer", "minimum": 3, "maximum": 1}}),
        object_({"x": {"$ref": "#"}}),
        object_({"x": {"$ref": "#"}}, "x"),
        object_({"x": {"type": "string", "description": 'a "quoted" \\ text\u2028\x7f'}}),
        True,
        {},
    ],
)
def test_odd_arguments_build(arguments: object, tmp_path: Path) -> None:
    found = imported(tool("find", arguments))
    assert found.imported == 1
    assert errors(built(found, tmp_path)) == []


def test_a_schema_in_words_accepts_what_it_accepted(tmp_path: Path) -> None:
    action = (
        {"kind": {"const": "stop"}},
        {"kind": {"const": "wait"}, "seconds": {"type": "number", "minimum": 0}},
    )
    arguments = object_(
        {
            "id": {"type": "string", "pattern": "^[a-z]+$"},
            "state": {"enum": ["on", "off"]},
            "note": {"type": ["string", "null"]},
            "labels": {"type": "object", "additionalProperties": {"type": "integer"}},
            "action": {"oneOf": [object_(each, "kind") for each in action]},
        },
        "id",
        additionalProperties=False,
    )
    found = imported(tool("find", arguments))
    assert "d.JSONSchema(" not in found.files["tools.py"].replace("d.Return(d.JSONSchema({}))", "")
    exported = schemas(built(found, tmp_path))["find"]["payload"]["schema"]
    validator, original = jsonschema_rs.validator_for(exported), jsonschema_rs.validator_for(arguments)
    for instance in (
        {"id": "a"},
        {"id": "A"},
        {},
        {"id": "a", "more": 1},
        {"id": "a", "state": "on", "note": None, "labels": {"x": 1}},
        {"id": "a", "state": "?"},
        {"id": "a", "labels": {"x": "1"}},
        {"id": "a", "action": {"kind": "stop", "more": 1}},
        {"id": "a", "action": {"kind": "wait", "seconds": -1}},
        {"id": "a", "action": {"kind": "go"}},
    ):
        assert validator.is_valid(instance) == original.is_valid(instance), instance


def test_a_union_that_toolgen_wrote_is_read_back(tmp_path: Path) -> None:
    checked = golden.design("unions")
    files = generate(checked, module="unions")
    (exported,) = parse_catalog(json.loads(files["tool_schemas.json"])).tools
    found = imported(tool("draw", exported["payload"]["schema"]))
    text = found.files["tools.py"]
    assert text.count("d.OneOf(") == 8
    assert "d.JSONSchema(" not in text.replace("d.Return(d.JSONSchema({}))", "")
    assert [each.message for each in found.findings if "default" in each.message] == []
    again = schemas(built(found, tmp_path))["draw"]["payload"]["schema"]["properties"]
    unions = ("main", "second", "third", "frame")  # `only` has one branch, and is read as its object
    before = exported["payload"]["schema"]["properties"]
    assert {name: again[name] for name in unions} == {name: before[name] for name in unions}


def test_icons_stand_in_the_design(tmp_path: Path) -> None:
    icon = Icon(src="https://e.org/a.svg", mime_type="image/svg+xml", sizes=("any", "48x48"), theme="dark")
    evaluation = built(imported(tool(icons=(icon,))), tmp_path)
    assert evaluation.design is not None
    assert evaluation.design.services[0].toolsets[0].tools[0].facts.icons == (icon,)


def test_deprecated_tools_have_the_clause(tmp_path: Path) -> None:
    evaluation = built(imported(tool(deprecated="Use another one.")), tmp_path)
    assert evaluation.design is not None
    deprecation = evaluation.design.services[0].toolsets[0].tools[0].facts.deprecated
    assert deprecation is not None
    assert deprecation.reason == "Use another one."


@pytest.mark.parametrize(
    "name", ["types", "self", "design", "list", "class", "annotations", "tool", "3d maps"]
)
def test_any_name_of_a_source_builds(name: str, tmp_path: Path) -> None:
    found = design_files(
        source(tool("find", {"type": "object"})), name=name, service=identifier(name, "tools")
    )
    (text,) = found.files.values()
    assert errors(built(DesignFiles(files={"tools.py": text}, findings=(), imported=1), tmp_path)) == []


def test_a_format_of_a_python_source_is_a_type(tmp_path: Path) -> None:
    since = {"type": "string", "format": "date-time"}
    arguments = object_({"since": {"anyOf": [since, {"type": "null"}], "default": None}, "until": since})
    found = imported(tool("find", arguments, formats_are_types=True))
    assert 'd.Attribute("since", d.Nullable(d.DateTime), None, default=None)' in found.files["tools.py"]
    assert 'd.Attribute("until", d.DateTime, None)' in found.files["tools.py"]
    assert errors(built(found, tmp_path)) == []


def test_limits_of_a_function_are_those_of_its_clauses(tmp_path: Path) -> None:
    def find(
        day: Annotated[dt.date, Field(ge=dt.date(2026, 1, 31))],
        since: Annotated[dt.datetime, Field(lt=dt.datetime(2026, 1, 31, tzinfo=dt.UTC))],
        wait: Annotated[dt.timedelta, Field(gt=dt.timedelta(seconds=2))],
        price: Annotated[Number, Field(ge=Number("1.50")), MultipleOf(Number("0.25"))],
        end: Annotated[dt.date, Field(le=dt.date(2026, 1, 31))] | None = None,
    ) -> None:
        """Find.

        Args:
            day: The first day.
        """

    (read,) = read_functions("tools", "Tools.", {"find": find}).tools
    found = imported(read)
    text = " ".join(found.files["tools.py"].split()).replace("( ", "(").replace(", )", ")")
    assert found.findings == ()
    for attribute in (
        '("day", d.Date, "The first day.", minimum=dt.date(2026, 1, 31), required=True)',
        '("since", d.DateTime, None, exclusive_maximum=dt.datetime(2026, 1, 31, 0, 0, tzinfo=dt.UTC), '
        "required=True)",
        '("wait", d.Duration, None, exclusive_minimum=dt.timedelta(seconds=2), required=True)',
        '("price", d.Decimal, None, minimum=decimal.Decimal("1.50"), '
        'multiple_of=decimal.Decimal("0.25"), required=True)',
        '("end", d.Nullable(d.Date(maximum=dt.date(2026, 1, 31))), None)',
    ):
        assert f"d.Attribute{attribute}" in text
    assert errors(built(found, tmp_path)) == []


def test_a_required_key_without_a_property_stands_beside_a_schema(tmp_path: Path) -> None:
    unexpressed = {"type": ["object", "string"], "not": {"type": "null"}}
    found = imported(tool("find", object_({"when": unexpressed}, "undeclared")))
    assert found.findings == ()
    assert 'd.Attribute("undeclared", d.Any, None, required=True)' in found.files["tools.py"]
    assert errors(built(found, tmp_path)) == []
