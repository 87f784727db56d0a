"""Keywords of a document with values that they cannot have: each costs its own schema, and no operation."""

from __future__ import annotations

from typing import Any

import pytest

from toolgen.importers.openapi import openapi_files
from toolgen.importers.text import SourceDocument

REFERENCE = {"$ref": "#/components/schemas/Pet"}


def require_whole(schemas: dict[str, Any], identifier: object = None, version: str = "3.1.0") -> None:
    """Import an operation that takes and gives a pet, and one that has an identifier; both are there."""
    content = {"application/json": {"schema": REFERENCE}}
    pet = {
        "operationId": "keep",
        "summary": "Keep a pet.",
        "requestBody": {"content": content},
        "responses": {"200": {"description": "It.", "content": content}},
    }
    parameter = {"name": "id", "in": "path", "required": True, "schema": identifier or {"type": "string"}}
    ping = {"operationId": "ping", "summary": "Ping.", "parameters": [parameter], "responses": {}}
    document = {
        "openapi": version,
        "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": "https://pets.example"}],
        "paths": {"/pets": {"post": pet}, "/ping/{id}": {"get": ping}},
        "components": {"schemas": schemas},
    }
    files = openapi_files(SourceDocument(name="pets", value=document), name="pets", service="pets")
    assert [each for each in files.findings if not each.is_warning] == []
    assert files.imported == 2
    assert all(f'd.Method("{name}"' in files.files["pets.py"] for name in ("keep", "ping"))


@pytest.mark.parametrize(
    "odd",
    [
        {"required": 5},
        {"required": [["name"]]},
        {"required": [{"name": 1}]},
        {"allOf": None},
        {"allOf": 5},
        {"properties": {"name": {"type": "string", "format": ["date"]}}},
        {"properties": {"name": {"type": "string", "format": {"a": 1}}}},
        {"properties": {"name": {"type": [["string"]]}}},
    ],
    ids=str,
)
@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_an_odd_keyword_of_a_component_keeps_the_operations(odd: dict[str, Any], version: str) -> None:
    pet = {"type": "object", "properties": {"name": {"type": "string"}}, "readOnly": True, **odd}
    require_whole({"Pet": pet}, version=version)


@pytest.mark.parametrize("kind", [True, None, 5, "text", ["text"]])
def test_a_tag_that_is_no_object_keeps_the_operations(kind: object) -> None:
    cat = {"type": "object", "required": ["kind"], "properties": {"kind": kind, "lives": {"type": "integer"}}}
    dog = {"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}}}
    branches = [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}]
    pet = {"oneOf": branches, "discriminator": {"propertyName": "kind"}}
    require_whole({"Pet": pet, "Cat": cat, "Dog": dog})


@pytest.mark.parametrize(
    "identifier",
    [
        {"type": "string", "format": ["uuid"]},
        {"type": "string", "format": {"a": 1}},
        {"type": "string", "format": 5},
    ],
)
def test_an_odd_format_of_a_parameter_is_a_note(identifier: dict[str, Any]) -> None:
    require_whole({"Pet": {"type": "object"}}, identifier)
