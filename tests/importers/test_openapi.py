"""Operations of OpenAPI documents as methods of a service, and as tools that are bound to them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.operations import LIBRARY, answer, body, design, operation, yaml_files
from toolgen.importers.design import DesignFiles
from toolgen.importers.openapi import openapi_files
from toolgen.importers.text import SourceDocument


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> DesignFiles:
    return yaml_files(tmp_path_factory.mktemp("openapi"), LIBRARY)


def test_a_document_is_a_service_with_a_toolset_for_each_tag(library: DesignFiles) -> None:
    text = design(library)
    assert library.imported == 3
    assert [each.message for each in library.findings] == [
        "the design leaves out the header 'Authorization', which the client sends itself (1 place)",
        "the design leaves out keywords of request bodies: text/plain (1)",
        "the design leaves out 'xml' of schemas (1 place, in Series)",
        "nullable (1) next to $ref is used, although OpenAPI 3.0 ignores it",
    ]
    assert (
        'http.Server("https://{city}.books.example/v1", '
        'http.Variable("city", "bonn", "ulm", default="bonn"), ' in text
    )
    assert 'key = http.APIKeySecurity("key", "Key of the library.", header="X-Key")' in text
    assert 'read_books = d.Toolset("read_books", "Read books.", d.Tool("get_book", ' in text
    assert 'api = d.Toolset("api", "Books to borrow.", d.Tool("delete_books_id", ' in text
    assert text.rstrip().endswith('design = d.Design("api", "Books to borrow.", api_service)')


def test_a_tool_is_bound_to_its_method(library: DesignFiles) -> None:
    text = design(library)
    assert '"Return one book with its copies.", d.BindTo("get_book"), d.Meta(name="getBook")' in text
    assert (
        'd.Annotations(destructive=True), d.Deprecated("The API marks this operation as deprecated.")' in text
    )


def test_parameters_are_attributes_with_what_is_not_their_place_anyway(library: DesignFiles) -> None:
    text = design(library)
    assert 'd.Attribute("id", d.Int, "Number of the book.", required=True)' in text
    assert 'd.Attribute("lang", d.String, "The language.", enum=("no", "en"))' in text
    placed = (
        'http.Header("X-Trace"), http.Header("id_header", "id"), http.Param("tags", explode=False), '
        'http.Response(404, "gone")'
    )
    assert f'http.HTTP(http.GET("/books/{{id}}"), {placed}, http.Response("default", "failed"' in text
    assert "Authorization" not in text
    assert '"X-Key", d.String' not in text


def test_what_the_server_makes_is_not_asked_for(library: DesignFiles) -> None:
    book, asked = (
        next(line for line in design(library).splitlines() if line.startswith(f"{name} = d.Type("))
        for name in ("Book", "BookInput")
    )
    assert 'd.Attribute("id", d.Int, None, required=True)' in book
    assert "secret" not in book
    assert '"secret"' in asked
    assert '"id"' not in asked
    assert 'd.Attribute("sequel", d.Nullable("BookInput"), "The next one.")' in asked
    assert 'd.Attribute("series", d.Nullable(Series), None)' in book
    assert 'd.Attribute("pages", d.Int, None, exclusive_minimum=0)' in book
    assert 'd.Attribute("state", d.Nullable(d.String(enum=("in", "out"))), None)' in book
    assert 'd.Attribute("title", d.String, None, required=True, examples=("Emma",))' in book


def test_security_and_errors_are_those_of_the_operation(library: DesignFiles) -> None:
    text = design(library)
    assert 'GONE = d.Error("gone", Problem, "No such book.")' in text
    assert 'http.HTTP(http.DELETE("/books/{id}"), http.Response(404, "gone")), http.NoSecurity())' in text
    assert "http.Security(key), d.Method(" in text


@pytest.mark.parametrize(
    ("media_type", "clause"),
    [
        ("application/json", 'http.Body("body")'),
        ("application/merge-patch+json", 'http.Body("body", content_type="application/merge-patch+json")'),
        ("application/x-www-form-urlencoded", 'http.Body("body", media="form")'),
        ("text/csv", 'http.Body("body", media="text", content_type="text/csv")'),
        ("image/png", 'http.Body("body", media="bytes", content_type="image/png")'),
    ],
)
def test_a_body_is_one_attribute(media_type: str, clause: str) -> None:
    files = operation(body({"type": "object", "properties": {"a": {"type": "string"}}}, media_type))
    assert f'http.HTTP(http.POST("/x"), {clause})' in design(files)
    assert files.findings == ()


def test_the_parts_of_a_form_are_attributes_and_files_are_bytes() -> None:
    properties = {"file": {"type": "string", "format": "binary"}, "note": {"type": "string"}}
    text = design(operation(body({"type": "object", "properties": properties}, "multipart/form-data")))
    assert 'd.Attribute("file", d.Bytes, None), d.Attribute("note", d.String, None)' in text
    assert 'http.HTTP(http.POST("/x"), http.Body(http.File("file")))' in text


def test_a_parameter_called_body_keeps_its_name() -> None:
    parameter = {"name": "body", "in": "query", "schema": {"type": "string"}}
    text = design(operation({"parameters": [parameter]} | body({"type": "string"})))
    assert 'd.Attribute("body", d.String, None)' in text
    assert 'http.Body("request_body")' in text


def test_a_schema_that_is_null_takes_any_value() -> None:
    parameter = {"name": "a", "in": "query", "schema": None}
    files = operation({"parameters": [parameter]} | body(None))
    assert [str(finding) for finding in files.findings if finding.severity == "error"] == []
    assert 'd.Attribute("a", ' in design(files)
    assert 'd.Attribute("body", ' in design(files)


def test_several_successes_are_attributes_of_one_result() -> None:
    made = {"type": "object", "properties": {"id": {"type": "integer"}}}
    responses = {"200": answer({}, "text/plain"), "201": answer(made), "204": {"description": ""}}
    text = design(operation({"responses": responses}))
    assert 'd.Result(d.Attribute("ok", d.String, "It."), d.Attribute("created", Created, "It."))' in text
    bodies = (
        'http.Response(200, http.Body("ok", media="text")), http.Response(201, http.Body("created")), '
        "http.Response(204)"
    )
    assert f'http.HTTP(http.POST("/x"), http.Accept("text/plain", "application/json"), {bodies})' in text


def test_a_result_that_is_no_object_is_an_attribute() -> None:
    text = design(operation({"responses": {"200": answer({"type": "array", "items": {"type": "string"}})}}))
    assert 'd.Result(d.Attribute("items", d.ArrayOf(d.String), "It.", required=True))' in text
    assert 'http.HTTP(http.POST("/x"), http.Response(200, http.Body("items")))' in text


PETS = {
    "Cat": {"type": "object", "properties": {"kind": {"type": "string"}, "lives": {"type": "integer"}}},
    "Dog": {"type": "object", "properties": {"kind": {"type": "string"}}},
    "Pet": {
        "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],
        "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/components/schemas/Cat"}},
    },
}


def test_a_discriminator_is_the_tag_of_a_union() -> None:
    text = design(operation(body({"$ref": "#/components/schemas/Pet"}), schemas=PETS))
    assert 'Pet = d.OneOf("kind", "Pet", cat=Cat, Dog=Dog)' in text
    assert 'Cat = d.Type("Cat", None, d.Attribute("lives", d.Int, None), open=True)' in text


def test_a_component_is_one_type_and_one_that_no_clause_expresses_one_schema() -> None:
    either = {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"type": "integer"}}}]}
    schemas = {
        "Either": either,
        "Holder": {"properties": {"either": {"$ref": "#/components/schemas/Either"}}},
    }
    holder = {"$ref": "#/components/schemas/Holder"}
    files = operation(body(holder) | {"responses": {"200": answer(holder)}}, schemas=schemas)
    text = design(files)
    assert 'Either = d.JSONSchema("api_schemas/Either.json", name="Either")' in text
    assert text.count("= d.Type(") == 1
    assert 'd.Attribute("either", Either, None)' in text
    assert list(files.files) == ["api.py", "api_schemas/Either.json"]


def test_long_ids_are_shortened_and_keep_a_digest() -> None:
    path = "/api/v1/customers/{customer_id}/subscriptions/{subscription_id}/invoices"
    function = "list_customer_subscription_invoices"
    made = f"{function}_api_v1_customers__customer_id__subscriptions__subscription_id__invoices_post"
    text = design(operation({"operationId": made}, path=path))
    assert f'd.Tool("{function}", ' in text
    assert f'd.Meta(name="{made}")' in text
    other = made.replace("_api_", "_apis_")
    text = design(operation({"operationId": other}, path=path))
    assert f'd.Tool("{other[:55].rstrip("_")}_' in text
    assert f'd.Meta(name="{other}")' in text


def test_variables_that_nobody_describes_are_texts() -> None:
    files = operation({}, path="/a/{name}")
    assert 'd.Payload(d.Attribute("name", d.String, None, min_length=1, required=True))' in design(files)
    [finding] = files.findings
    assert finding.is_warning
    assert finding.message == "no parameter describes the path variable 'name'; it is a required string"


def test_references_to_files_of_the_folder_are_followed() -> None:
    held: dict[str, object] = {
        "parts/body.yml": {"content": {"application/json": {"schema": {"$ref": "models/pet.yml"}}}},
        "parts/models/pet.yml": {"type": "object", "properties": {"friend": {"$ref": "#"}}},
    }
    files = operation({"requestBody": {"$ref": "parts/body.yml"}}, read=held.__getitem__)
    assert files.findings == ()
    assert 'Pet = d.Type("Pet", None, d.Attribute("friend", "Pet", None), open=True)' in design(files)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"requestBody": {"$ref": "https://x.example/a.yml"}}, "points outside the document"),
        ({"requestBody": {"$ref": "../a.yml"}}, "points outside the document's folder"),
        ({"requestBody": {"$ref": "a%00.yml"}}, "points outside the document's folder"),
        ({"requestBody": {"$ref": "#/components/requestBodies/No"}}, "points to nothing"),
        ({"parameters": [{"name": "a"}]}, "a parameter needs 'name' and 'in'"),
        ({"parameters": {"a": 1}}, "the parameters are an object, not a list"),
        ({"requestBody": 3}, "expected an object, not a number"),
        ({"parameters": [{"$ref": "#/paths/~1x/post/parameters/0"}]}, "the reference is circular"),
    ],
)
def test_what_cannot_be_read_costs_its_operation_only(value: dict[str, object], message: str) -> None:
    files = operation(value, read=lambda path: {})
    assert files.imported == 0
    [finding] = files.findings
    assert finding.tool == "x"
    assert message in finding.message


def test_a_bad_result_is_any_json_and_a_warning() -> None:
    files = operation({"responses": {"200": answer({"$ref": "#/no"})}})
    assert 'd.Result(d.Attribute("value", d.Any, ' in design(files)
    assert [finding.is_warning for finding in files.findings] == [True]


@pytest.mark.parametrize(
    ("scheme", "clause"),
    [
        ({"type": "http", "scheme": "Basic"}, 'http.BasicSecurity("s", "S.")'),
        ({"type": "http", "scheme": "bearer"}, 'http.BearerSecurity("s", "S.")'),
        ({"type": "apiKey", "in": "query", "name": "k"}, 'http.APIKeySecurity("s", "S.", query="k")'),
        (
            {"type": "openIdConnect", "openIdConnectUrl": "https://a.x/o"},
            'http.OAuth2Security("s", "S.", '
            'http.AuthorizationCodeFlow(discovery="https://a.x/o", accepted=False), '
            'http.Scope("r", "r"))',
        ),
        (
            {
                "type": "oauth2",
                "flows": {"clientCredentials": {"tokenUrl": "https://a.example/t", "scopes": {}}},
            },
            'http.OAuth2Security("s", "S.", '
            'http.ClientCredentialsFlow(token="https://a.example/t", accepted=False), '
            'http.Scope("r", "r"))',
        ),
        (
            {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "/o/token/", "scopes": {}}}},
            'http.OAuth2Security("s", "S.", http.ClientCredentialsFlow(token="https://x.example/o/token/", '
            'accepted=False), http.Scope("r", "r"))',
        ),
        (
            {"type": "openIdConnect", "openIdConnectUrl": "/.well-known/openid-configuration"},
            'http.OAuth2Security("s", "S.", http.AuthorizationCodeFlow(discovery="https://x.example/'
            '.well-known/openid-configuration", accepted=False), http.Scope("r", "r"))',
        ),
    ],
)
def test_security_schemes_are_clauses(scheme: dict[str, object], clause: str) -> None:
    files = operation({"security": [{"s": ["r"]}]}, securitySchemes={"s": scheme})
    assert f"s = {clause}" in design(files)
    assert files.findings == ()


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        ({"type": "mutualTLS"}, "the client does not support 'mutualTLS'"),
        ({"type": "http", "scheme": "digest"}, "the client does not support 'digest'"),
        (
            {"type": "oauth2", "flows": {"password": {"tokenUrl": "token"}}},
            "the client supports none of the OAuth 2 flows",
        ),
        (
            {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "ftp://a.example/t"}}},
            "the OAuth 2 flows (clientCredentials) have no absolute address",
        ),
    ],
)
def test_what_no_client_offers_is_a_finding(scheme: dict[str, object], message: str) -> None:
    files = operation({"security": [{"s": []}]}, securitySchemes={"s": scheme})
    [finding] = files.findings
    assert finding.is_warning
    assert message in finding.message


def test_an_exception_in_one_operation_is_its_finding_and_leaves_the_others() -> None:
    class Odd(dict[str, object]):
        """An object that no reader of documents makes."""

        def get(self, *key: object) -> Any:
            raise OSError("its file is gone")

    def post(**facts: object) -> dict[str, object]:
        return {"post": {"summary": "Do it.", "responses": {}, **facts}}

    body = Odd({"content": {}})
    paths = {"/a": post(operationId="broken", requestBody=body), "/b": post(operationId="good")}
    value = {"openapi": "3.1.0", "servers": [{"url": "https://a.example"}], "paths": paths}
    files = openapi_files(SourceDocument(name="api", value=value), name="api", service="api")
    [finding] = [finding for finding in files.findings if finding.code == "import-internal-error"]
    assert (finding.tool, finding.place.pointer) == ("broken", "/paths/~1a/post")
    assert "OSError" in finding.message
    assert files.imported == 1
