"""Names that the importers derive: none costs an operation, and none changes by what is listed before."""

from __future__ import annotations

import re
import runpy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.importers.changing_sources import LIST, Shop, api
from tests.importers.changing_sources import shop as shop
from tests.importers.designs import built, errors, object_, source, tool
from toolgen.codegen import generate
from toolgen.contract.names import RESERVED_CODES
from toolgen.dsl import build
from toolgen.importers.design import DesignFiles, design_files
from toolgen.importers.openapi import openapi_files
from toolgen.importers.text import SourceDocument
from toolgen.shapes import naming

TEXT = {"type": "string"}
TWO: dict[str, Any] = {"type": "object", "properties": {"orgRole": TEXT, "org_role": {"type": "integer"}}}


def names_of(files: DesignFiles, kind: str) -> dict[str, str]:
    """Return the names of a kind by what they stand for."""
    kinds = {key: key.partition(" ")[0] for key in files.names}
    return {key.removeprefix(f"{kind} "): files.names[key] for key in kinds if kinds[key] == kind}


def operation(id_: str, **more: Any) -> dict[str, Any]:
    return {"operationId": id_, "summary": "Do it.", "responses": {"204": {"description": "Done."}}, **more}


def answer(schema: object, status: str = "200") -> dict[str, Any]:
    return {status: {"description": "It.", "content": {"application/json": {"schema": schema}}}}


def body(schema: object, media: str = "application/json") -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {media: {"schema": schema}}}}


def query(*names: str) -> dict[str, Any]:
    return {"parameters": [{"name": name, "in": "query", "schema": TEXT} for name in names]}


def document(
    *operations: dict[str, Any], paths: Mapping[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    held = {f"/{each['operationId']}": {"post": each} for each in operations}
    servers = [{"url": "https://x.example"}]
    return {"openapi": "3.1.0", "info": {"title": "T"}, "servers": servers, "paths": paths or held, **more}


def schemas(**named: object) -> dict[str, Any]:
    return {"components": {"schemas": named}}


def imported(value: object, name: str = "api", service: str = "", **more: Any) -> DesignFiles:
    read = SourceDocument(name=name, value=value)
    return openapi_files(read, name=name, service=service or name, **more)


def checked(files: DesignFiles, folder: Path, name: str = "api") -> Any:
    """Return the design that was imported whole."""
    for path, text in files.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    evaluation = build(runpy.run_path(str(folder / f"{name}.py"))["design"])
    assert errors(evaluation) == []
    return evaluation.design


FULL = {"$ref": "#/components/schemas/Two"}
CLASHES: dict[str, dict[str, Any]] = {
    "a body": operation("x", **body(TWO)),
    "a list in a body": operation("x", **body({"type": "array", "items": TWO})),
    "a map in a body": operation("x", **body({"type": "object", "additionalProperties": TWO})),
    "a component": operation("x", **body(FULL)),
    "a part of a body": operation("x", **body(object_({"a": TWO, "b": TEXT}))),
    "a form": operation("x", **body(TWO, "application/x-www-form-urlencoded")),
    "parts of a form": operation("x", **body(TWO, "multipart/form-data")),
    "parts of a form beside a parameter": operation(
        "x",
        **body({"type": "object", "properties": {"orgRole": TEXT}}, "multipart/form-data"),
        **query("org_role"),
    ),
    "an answer": operation("x", responses=answer(TWO)),
    "a list in an answer": operation("x", responses=answer({"type": "array", "items": TWO})),
    "an error": operation("x", responses={**answer({}), **answer(TWO, "404")}),
    "a component of an error": operation("x", responses={**answer({}), **answer(FULL, "404")}),
    "parameters": operation("x", **query("orgRole", "org_role", "org-role")),
    "a parameter and the body": operation("x", **body(TEXT), **query("body")),
    "keywords": operation("x", **query("class", "class_", "from")),
}


@pytest.mark.parametrize("value", CLASHES.values(), ids=CLASHES)
def test_names_that_are_one_in_python_lose_no_operation(value: dict[str, Any], tmp_path: Path) -> None:
    files = imported(document(value, **schemas(Two=TWO)))
    assert files.imported == 1
    assert [each.message for each in files.findings if not each.is_warning] == []
    checked(files, tmp_path)


@pytest.mark.parametrize("code", sorted(RESERVED_CODES))
def test_errors_that_are_called_like_those_of_the_runtime(code: str, tmp_path: Path) -> None:
    name = naming.class_name(code)
    held = answer({"type": "object", "properties": {"m": TEXT}}, "429")["429"]
    reference = {"$ref": f"#/components/responses/{name}"}
    both = {**answer({}), "429": reference, "default": reference}
    value = document(operation("x", responses=both), components={"responses": {name: held}})
    files = imported(value)
    assert [*names_of(files, "error").values()] == [f"{code}_429", f"{code}_default"]
    assert {each.code for each in files.findings} == {"import-renamed"}
    assert f"the error '{code}' is called '{code}_429'" in files.findings[0].message
    checked(files, tmp_path)


def test_errors_and_tools_that_would_be_one_constant(tmp_path: Path) -> None:
    failed = {**answer({}), **answer({"type": "object", "properties": {"m": TEXT}}, "404")}
    wrong = {"$ref": "#/components/responses/XNotFound"}
    parts = {"XNotFound": answer(TEXT, "400")["400"]}
    value = document(
        operation("get", responses={**failed, "400": wrong}),
        operation("get_not_found"),
        operation("get_x", responses=failed),
        components={"responses": parts},
    )
    files = imported(value)
    assert files.imported == 3
    assert names_of(files, "error") == {
        "get 404": "not_found_404",
        "get 400": "x_not_found",
        "get_x 404": "not_found_404",
    }
    checked(files, tmp_path)


OBJECT = {"type": "object", "properties": {"id": TEXT}}


@pytest.mark.parametrize(
    ("name", "service", "component", "expected"),
    [
        ("user", "", "User", ("user_service", "User")),
        ("user", "user", "user", ("user_service", "User")),
        ("shop", "user", "User", ("user", "User2")),
        ("types", "", "User", ("types_service", "User")),
        ("api", "none", "User", ("none_service", "User")),
        ("pets", "", "PetsExecutor", ("pets", "PetsExecutor2")),
        ("pets", "", "BoundPetsExecutor", ("pets", "BoundPetsExecutor2")),
        ("api", "", "ToolId", ("api", "ToolId2")),
        ("api", "", "SPECS", ("api", "SPECS2")),
        ("api", "", "XPayload", ("api", "XPayload2")),
        ("api", "", "Design", ("api", "DesignValue")),
        ("api", "", "None", ("api", "NoneValue")),
        ("api", "", "List", ("api", "List")),
    ],
)
def test_a_component_that_is_called_like_what_is_generated(
    name: str, service: str, component: str, expected: tuple[str, str], tmp_path: Path
) -> None:
    held = {"$ref": f"#/components/schemas/{component}"}
    value = document(operation("x", **body(held), responses=answer(held)), **schemas(**{component: OBJECT}))
    files = imported(value, name, service)
    design = checked(files, tmp_path, name)
    assert (design.services[0].name, *names_of(files, "type").values()) == expected


@pytest.mark.parametrize("order", [("Filter", "FilterNode"), ("FilterNode", "Filter")])
def test_a_component_that_is_called_like_a_class_in_a_schema_that_is_kept(
    order: tuple[str, str], tmp_path: Path
) -> None:
    kept = object_({**TWO["properties"], "node": OBJECT})
    bodies = [
        operation(f"x{at}", **body({"$ref": f"#/components/schemas/{name}"})) for at, name in enumerate(order)
    ]
    files = imported(document(*bodies, **schemas(Filter=kept, FilterNode=OBJECT)))
    assert (files.imported, files.findings) == (2, ())
    assert 'Filter = d.JSONSchema("api_schemas/Filter.json", name="Filter2")' in files.files["api.py"]
    checked(files, tmp_path)


USER = operation("x", responses=answer({"$ref": "#/components/schemas/User"}))
LOWER = operation("w", responses=answer({"$ref": "#/components/schemas/user"}))
LOCKED: dict[str, Any] = {"security": [{"api-key": []}]}
KEY = {"type": "apiKey", "in": "header", "name": "K"}
GONE = {"description": "Gone.", "content": {"application/json": {"schema": OBJECT}}}
OTHER = {"description": "Gone.", "content": {"application/json": {"schema": TWO}}}
NEWER: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "tool": ("tool", document(operation("getUser")), document(operation("get_user"), operation("getUser"))),
    "type": (
        "type",
        document(USER, **schemas(User=OBJECT)),
        document(LOWER, USER, **schemas(user=TWO, User=OBJECT)),
    ),
    "argument": (
        "argument",
        document(operation("x", **query("a_b"))),
        document(operation("x", **query("aB", "a-b", "a_b"))),
    ),
    "the body": (
        "argument",
        document(operation("x", **body(TEXT))),
        document(operation("x", **body(TEXT), **query("body"))),
    ),
    "error": (
        "error",
        document(operation("x", responses={"404": GONE})),
        document(
            operation("x", responses={"400": {"$ref": "#/components/responses/NotFound"}, "404": GONE}),
            components={"responses": {"NotFound": OTHER}},
        ),
    ),
    "toolset": (
        "toolset",
        document(operation("x", tags=["Pets"])),
        document(operation("y", tags=["pets"]), operation("x", tags=["Pets"])),
    ),
    "scheme": (
        "scheme",
        document(operation("x"), **LOCKED, components={"securitySchemes": {"api-key": KEY}}),
        document(
            operation("x", security=[{"api_key": []}]),
            operation("y"),
            **LOCKED,
            components={"securitySchemes": {"api_key": {**KEY, "name": "L"}, "api-key": KEY}},
        ),
    ),
    "service": (
        "service",
        document(operation("x"), operation("y", servers=[{"url": "https://y.example"}])),
        document(
            operation("z", servers=[{"url": "https://a.example"}]),
            operation("y", servers=[{"url": "https://y.example"}]),
            operation("x"),
        ),
    ),
    "an object of an error": (
        "object",
        document(operation("x", responses={"404": GONE})),
        document(operation("a", responses={"404": OTHER}), operation("x", responses={"404": GONE})),
    ),
    "a schema that is kept": (
        "object",
        document(operation("b", **body(TWO))),
        document(
            operation("a", **body({"$ref": "#/components/schemas/BPayloadBody"})),
            operation("b", **body(TWO)),
            **schemas(BPayloadBody={"type": "array", "items": TWO}),
        ),
    ),
}


@pytest.mark.parametrize(("kind", "before", "after"), NEWER.values(), ids=NEWER)
def test_what_is_listed_before_something_does_not_rename_it(
    kind: str, before: dict[str, Any], after: dict[str, Any], tmp_path: Path
) -> None:
    first = imported(before)
    again = imported(after, names=first.names)
    old, new = names_of(first, kind), names_of(again, kind)
    assert old
    assert old.items() <= new.items()
    assert not old.items() <= names_of(imported(after), kind).items()
    assert (again.imported, checked(again, tmp_path) is not None) == (len(after["paths"]), True)
    third = imported(after, names=again.names)
    assert (third.files, third.names) == (again.files, again.names)


NODE: dict[str, Any] = {
    "type": "object",
    "properties": {"next": {"$ref": "#/$defs/Node"}},
    "additionalProperties": False,
}
TREE: dict[str, Any] = {**NODE, "properties": {**NODE["properties"], "size": {"type": "integer"}}}


def tree(node: object) -> dict[str, Any]:
    return {**object_({"a": {"$ref": "#/$defs/Node"}}, additionalProperties=False), "$defs": {"Node": node}}


def listed(*tools: Any, names: Mapping[str, str] | None = None) -> DesignFiles:
    return design_files(source(*tools), name="tools", service="assistant", names=names)


def test_tools_of_one_name_are_all_imported() -> None:
    tools = tool("get"), tool("get 2"), tool("get"), tool("get")
    found = listed(*tools)
    assert (found.imported, set(names_of(found, "tool").values())) == (4, {"get", "get_2", "get_3", "get_4"})
    assert listed(*tools, names=found.names).names == found.names


def test_a_tool_that_is_listed_before_others_renames_none(tmp_path: Path) -> None:
    old = tool("get_user", tree(NODE)), tool("load", tree(TREE))
    first = listed(*old)
    new = tool("getUser", tree(TREE)), tool("put", tree(NODE))
    again = listed(*new, *old, names=first.names)
    assert first.names.items() <= again.names.items()
    assert names_of(again, "tool") == {
        "getUser": "get_user_2",
        "get_user": "get_user",
        "put": "put",
        "load": "load",
    }
    types = {key: name for key, name in names_of(again, "object").items() if " " in key}
    assert types == {
        "GetUser2Payload GetUser2PayloadNode": "GetUser2PayloadNode",
        "PutPayload PutPayloadNode": "Node",
        "GetUserPayload GetUserPayloadNode": "Node",
        "LoadPayload LoadPayloadNode": "LoadPayloadNode",
    }
    assert again.files["tools.py"].count("= d.Type(") == 3
    assert errors(built(again, tmp_path)) == []
    fewer = listed(old[1], names=again.names)
    assert names_of(fewer, "object")["LoadPayload LoadPayloadNode"] == "LoadPayloadNode"
    assert fewer.names.keys() < again.names.keys()


def test_a_module_of_functions_that_is_called_like_a_class_in_it(tmp_path: Path) -> None:
    user = {"type": "object", "properties": {"name": TEXT}, "additionalProperties": False}
    reference = {"$ref": "#/$defs/User"}
    arguments = object_({"a": reference, "b": reference}, additionalProperties=False)
    find = tool("find", {**arguments, "$defs": {"User": user}}, function="user:find")
    files = design_files(replace(source(find), module="user"), name="user", service="user")
    design = checked(files, tmp_path, "user")
    assert design.services[0].name == "user"
    assert {each.name for each in design.types} == {"FindArguments", "FindPayloadUser"}


def test_the_attribute_of_a_key_does_not_depend_on_what_stands_before_it(tmp_path: Path) -> None:
    for keys in (["org_role"], ["orgRole", "org_role"], ["org_role", "org-role", "orgRole"]):
        evaluation = built(listed(tool("find", object_(dict.fromkeys(keys, TEXT)))), tmp_path)
        assert evaluation.design is not None
        generated = generate(evaluation.design, module="tools")
        (text,) = (text for path, text in generated.items() if path.endswith("tools/types.py"))
        field = text.partition("    org_role: ")[2].partition("= None")[0]
        assert field.split() == ["str", "|", "None"] or 'alias="org_role"' in field


def test_an_operation_that_cannot_be_read_keeps_its_short_name(shop: Shop) -> None:
    made = operation("read_items_get")
    shop.imported(api(("get", "/items", made), LIST))
    assert 'd.Tool("read", ' in shop.design
    before = shop.design
    shop.publish(api(("get", "/items", {**made, "parameters": 5}), LIST))
    assert shop.run().code == 1
    assert shop.design == before
    shop.publish(api(("get", "/a", operation("read_a_get")), ("get", "/items", made), LIST))
    assert shop.run().code == 0
    assert set(re.findall(r'd\.Tool\(\s*"(\w+)"', shop.design)) == {"read", "read_a_get", "list"}
