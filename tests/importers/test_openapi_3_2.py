"""What OpenAPI 3.2 adds: whole queries, further methods, and the address of a document."""

from __future__ import annotations

from tests.importers.operations import answer, body, design, operation
from toolgen.importers.openapi import openapi_files
from toolgen.importers.text import SourceDocument

FORM = "application/x-www-form-urlencoded"
FILTER = {"type": "object", "properties": {"a": {"type": "string"}}}


def test_a_whole_query_is_an_object_whose_properties_are_its_parameters() -> None:
    parameter = {"name": "filter", "in": "querystring", "content": {FORM: {"schema": FILTER}}}
    files = operation({"parameters": [parameter]}, version="3.2.0")
    assert files.findings == ()
    assert 'http.HTTP(http.POST("/x"), http.Param("filter"))' in design(files)


def test_a_whole_query_that_is_no_form_costs_its_operation() -> None:
    parameter = {"name": "filter", "in": "querystring", "content": {"application/json": {}}}
    files = operation({"parameters": [parameter]}, version="3.2.0")
    [finding] = files.findings
    assert not finding.is_warning
    assert finding.message == "the parameter 'filter' is the whole query with the content application/json"


def test_methods_that_no_client_sends_are_named_one_by_one() -> None:
    other = {"operationId": "other", "summary": "Other."}
    files = operation({}, trace=other, query=other, additionalOperations={"LINK": other})
    assert files.imported == 1
    assert [(each.tool, each.message, each.place.pointer) for each in files.findings] == [
        ("other", "the client cannot send TRACE; the operation is left out", "/paths/~1x/trace"),
        ("other", "the client cannot send QUERY; the operation is left out", "/paths/~1x/query"),
        (
            "other",
            "the client cannot send LINK; the operation is left out",
            "/paths/~1x/additionalOperations/LINK",
        ),
    ]


def test_references_by_the_address_of_the_document_stay_in_it() -> None:
    address = "https://x.example/apis/api.json"
    schemas: dict[str, object] = {
        "A": {"type": "object", "properties": {"b": {"$ref": f"{address}#/components/schemas/B"}}},
        "B": {"type": "object", "properties": {"c": {"$ref": "https://x.example/apis/c.json"}}},
    }
    post = {"operationId": "x", "summary": "Do x.", **body({"$ref": "api.json#/components/schemas/A"})}
    value = {
        "openapi": "3.2.0",
        "$self": address,
        "info": {},
        "servers": [{"url": "v1"}],
        "paths": {"/x": {"post": {**post, "responses": {"200": answer({"type": "string"})}}}},
        "components": {"schemas": schemas},
    }
    held: dict[str, object] = {"c.json": {"type": "object", "properties": {"d": {"type": "string"}}}}
    files = openapi_files(
        SourceDocument(name="api", value=value), held.__getitem__, name="api", service="api"
    )
    assert files.findings == ()
    text = files.files["api.py"]
    assert 'http.Server("https://x.example/apis/v1", accepted=False)' in text
    assert 'd.Attribute("b", B, None)' in text
    assert 'd.Attribute("c", C, None)' in text


def test_a_style_that_nobody_sends_is_named() -> None:
    parameter = {"name": "c", "in": "cookie", "style": "cookie", "schema": {"type": "string"}}
    files = operation({"parameters": [parameter]}, version="3.2.0")
    [finding] = files.findings
    assert finding.is_warning
    assert finding.message == "the parameter 'c' has the style 'cookie', but is sent as 'form'"
