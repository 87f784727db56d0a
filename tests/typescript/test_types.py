"""Types of what a caller sends and of what he receives, for each shape of data."""

from __future__ import annotations

import re
import typing as t

import pytest

from tests.checked import built
from toolgen.codegen.typescript import generate
from toolgen.codegen.typescript.layout import PLAIN
from toolgen.dsl import (
    Any,
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    Boolean,
    Bytes,
    Confirm,
    DateTime,
    Enum,
    Error,
    Float,
    Int,
    JSONSchema,
    LongRunning,
    MapOf,
    Nullable,
    Object,
    OneOf,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Type,
    Value,
)


def files(*tools: Tool, further: tuple[Type, ...] = ()) -> dict[str, str]:
    toolset = Toolset("finding", "Finding.", *tools)
    return generate(built(Service("things", "Things.", toolset), *further), module="tests.types")


def of_tool(*clauses: t.Any, further: tuple[Type, ...] = ()) -> str:
    """Return the file of a toolset with one tool."""
    return files(Tool("find", "Find.", *clauses), further=further)["things/finding.ts"]


def declared(text: str, name: str) -> str:
    """Return the lines of a type without comments."""
    (found,) = re.findall(rf"^export (?:interface {name} .*?\n\}}|type {name} .*?;)$", text, re.M | re.S)
    return re.sub(r"\n *(/\*\*.*?\*/)", "", str(found), flags=re.DOTALL)


def property_of(type_: t.Any, **facts: t.Any) -> str:
    """Return the line of an attribute of arguments."""
    text = declared(of_tool(Args(Attribute("a", type_, "An attribute.", **facts))), "FindPayload")
    return text.split("\n")[1].strip()


@pytest.mark.parametrize(
    ("type_", "written"),
    [
        (String, "string"),
        (Int, "number"),
        (Float, "number"),
        (Boolean, "boolean"),
        (DateTime, "string"),
        (Bytes, "string"),
        (Any, "Json"),
        (ArrayOf(Int), "number[]"),
        (ArrayOf(Nullable(Int)), "(number | null)[]"),
        (MapOf(String, ArrayOf(String)), "Record<string, string[]>"),
        (Nullable(String), "string | null"),
        (Nullable(Any), "Json"),
        (String(enum=("a", "b")), '"a" | "b"'),
        (Int(enum=(1, -2)), "1 | -2"),
    ],
)
def test_each_shape_has_its_type(type_: object, written: str) -> None:
    assert property_of(type_, required=True) == f"a: {written};"
    assert property_of(type_) == f"a?: {written};"


def test_defaults_are_optional_where_they_are_sent_and_there_where_they_are_received() -> None:
    part = Type("Part", "A part.", Attribute("size", Int, "Its size.", default=3))
    whole = Attribute("part", part, "A part.", required=True)
    limit = Attribute("limit", Int, "Most.", default=20)
    tree = files(Tool("find", "Find.", Args(whole, limit), Return(whole, limit)))
    text = tree["things/finding.ts"]
    assert declared(text, "FindPayload").split("\n")[1:3] == ["  part: PartInput;", "  limit?: number;"]
    assert declared(text, "FindResult").split("\n")[1:3] == ["  part: Part;", "  limit: number;"]
    assert declared(tree["types.ts"], "PartInput") == "export interface PartInput {\n  size?: number;\n}"
    assert declared(tree["types.ts"], "Part") == "export interface Part {\n  size: number;\n}"
    assert "@defaultValue 20" in text.partition("FindResult")[0]
    assert "@defaultValue" not in text.partition("interface FindResult")[2]


def test_a_type_whose_sides_are_alike_is_one() -> None:
    part = Type("Part", "A part.", Attribute("size", Int, "Its size."))
    whole = Attribute("part", part, "A part.", required=True)
    tree = files(Tool("find", "Find.", Args(whole), Return(whole)))
    assert "PartInput" not in "".join(tree.values())


def test_sensitive_values_are_sent_and_not_received() -> None:
    secret = Attribute("pin", Int, "Its PIN.", required=True, sensitive=True)
    may = Attribute("note", Nullable(String), "A note.", sensitive=True)
    text = of_tool(Args(secret, may), Return(secret, may))
    assert declared(text, "FindPayload") == (
        "export interface FindPayload {\n  pin: number;\n  note?: string | null;\n}"
    )
    assert declared(text, "FindResult") == (
        "export interface FindResult {\n  pin: Hidden;\n  note?: Hidden | null;\n}"
    )
    assert "Sensitive: keep it out of logs." in text
    assert 'import type { Call, CallOptions, Hidden, Surface } from "../surface.js";' in text


def test_unions_are_told_apart_by_their_tag() -> None:
    light = Object(Attribute("level", Int, "How bright.", default=50))
    text = of_tool(
        Args(Attribute("command", OneOf("kind", light=light, off=Object()), "What.", required=True))
    )
    assert "  command: FindPayloadCommandLight | FindPayloadCommandOff;\n" in text
    assert declared(text, "FindPayloadCommandLight").split("\n")[1:3] == [
        '  kind: "light";',
        "  level?: number;",
    ]


def test_types_may_hold_themselves() -> None:
    node = Type("Node", "A node.", Attribute("below", ArrayOf("Node"), "Those below."))
    tree = files(Tool("find", "Find.", Return(Attribute("root", node, "The root."))))
    assert declared(tree["types.ts"], "Node") == "export interface Node {\n  below?: Node[];\n}"


def test_comments_say_formats_limits_and_meanings() -> None:
    kind = Enum("Kind", "A kind.", Value("a", "the first"), Value("b", "the second"))
    tree = files(
        Tool(
            "find",
            "Find.",
            Args(
                Attribute("at", DateTime, "When."),
                Attribute("tags", ArrayOf(String(min_length=2), max_length=9), "Tags."),
                Attribute("kind", kind, "Its kind."),
                Attribute("id", Int, "Its id.", maximum=2**63 - 1),
                Attribute("old", Boolean, "Old.", deprecated=True),
            ),
        )
    )
    text = tree["things/finding.ts"]
    assert "/** When. Format: date-time. */" in text
    assert "/** Tags. Must have at most 9 items. Each: must have at least 2 characters. */" in text
    assert "Must be at most 9223372036854775807. JavaScript rounds integers beyond 2^53." in text
    assert "   * Old.\n   *\n   * @deprecated\n" in text
    assert ' * - `"a"`: the first\n * - `"b"`: the second\n' in tree["types.ts"]


def test_schemas_of_others_are_types() -> None:
    schema = {
        "type": "object",
        "properties": {
            "mode": {"enum": ["a", "b", 3, True, None]},
            "id": {"type": "integer", "format": "int64", "description": "An id."},
            "at": {"type": "string", "format": "date-time", "description": "When."},
            "either": {"anyOf": [{"type": "string"}, {"enum": ["x"]}, {"type": "array", "items": {}}]},
            "map": {"type": "object", "additionalProperties": {"type": "number"}},
            "next": {"$ref": "#"},
            "odd name": {"type": ["string", "null"], "default": "x"},
        },
        "required": ["mode"],
    }
    text = of_tool(Args(JSONSchema(schema)))
    assert declared(text, "FindPayload") == (
        "export interface FindPayload {\n"
        '  mode: "a" | "b" | 3 | true | null;\n'
        "  id?: number;\n"
        "  at?: string;\n"
        "  either?: string | Json[];\n"
        "  map?: Record<string, number>;\n"
        "  next?: FindPayload;\n"
        '  "odd name"?: string | null;\n'
        "  [key: string]: unknown;\n"
        "}"
    )
    assert "/** An id. */" in text
    assert "/** When. Format: date-time. */" in text


def test_a_call_has_the_types_of_its_outcomes() -> None:
    rows = Type("Rows", "Rows.", Attribute("rows", ArrayOf(Int), "Them.", required=True))
    text = of_tool(
        Return(Attribute("count", Int, "How many.", default=0)),
        Artifact("rows", rows, "All of them."),
        Confirm("Sure?", payload=Object(Attribute("why", String, "Why.", default="so"))),
        LongRunning(ack=rows),
    )
    assert 'export type FindCall = Call<FindResult, Artifact<"rows", Rows>, never, Rows>;' in text
    assert "export type FindAnswer = Approval<FindApproval> | WorkAnswer<FindResultInput>;" in text
    assert declared(text, "FindApproval") == "export interface FindApproval {\n  why?: string;\n}"
    assert "A person has to approve it first. Its result can arrive later." in text


def test_names_that_are_taken_are_others() -> None:
    call = Type("Call", "A call.", Attribute("record", "Record", "A record."))
    record = Type("Record", "A record.", Attribute("json", MapOf(String, Any), "Anything."))
    again = Type("CallInput", "Another.", Attribute("a", Int, "A number.", default=1))
    tools = [
        Tool(
            "constructor", "A word.", Args(Attribute("call", call, "It."), Attribute("again", again, "It."))
        ),
        Tool("list_all_2", "Words.", Args()),
        Tool("delete", "A keyword.", Args()),
    ]
    tree = files(*tools, further=(call, record, again))
    text = tree["things/finding.ts"]
    assert re.findall(r"^  async (\w+)\(", text, re.MULTILINE) == ["constructor_", "listAll2", "delete"]
    assert declared(tree["types.ts"], "Call_") == "export interface Call_ {\n  record?: Record_;\n}"
    assert declared(tree["types.ts"], "CallInputInput").startswith("export interface CallInputInput {")


def test_toolsets_of_one_name_are_properties_of_two() -> None:
    tool = Tool("find", "Find.", Args())
    services = (Service(name, "A service.", Toolset("types", "Types.", tool)) for name in ("one", "two_2"))
    tree = generate(built(*services), module="tests.types")
    properties = re.findall(r"^    readonly (\w+): (\w+);$", tree["client.ts"], re.MULTILINE)
    assert properties == [("oneTypes", "TypesTools"), ("two2Types", "TypesTools_")]
    assert 'import { TypesTools as TypesTools_ } from "./two_2/types.js";' in tree["client.ts"]
    assert 'export * as two2Types from "./two_2/types.js";' in tree["index.ts"]


def test_details_that_may_be_empty_may_be_left_out() -> None:
    why = Object(Attribute("why", String, "Why."))
    what = Object(Attribute("what", String, "What.", required=True))
    text = of_tool(
        Return(), Error("odd", why, "Odd."), Error("even", what, "Even."), Error("bare", description="Bare.")
    )
    assert (
        "export type FindCall = Call<\n"
        "  FindResult,\n"
        "  never,\n"
        '  | DeclaredError<"odd", FindOdd | undefined>\n'
        '  | DeclaredError<"even", FindEven>\n'
        '  | DeclaredError<"bare">\n'
        ">;"
    ) in text


def test_a_design_without_tools_has_a_client_of_its_surface() -> None:
    tree = generate(built(Service("things", "Things.")), module="tests.types")
    assert tree["client.ts"].endswith("export class Client extends Surface {}\n")
    assert "SurfaceOptions" not in tree["client.ts"]
    assert list(tree) == ["index.ts", "client.ts", *PLAIN]


def test_a_toolset_is_no_default_export() -> None:
    toolset = Toolset("default", "Some.", Tool("find", "Find."))
    tree = generate(built(Service("things", "Things.", toolset)), module="tests.types")
    assert 'export * as default_ from "./things/default.js";' in tree["index.ts"]
