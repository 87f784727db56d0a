"""Swagger 2.0: what of a document becomes which clause, and the requests that its tools send."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ProjectFolder
from tests.conftest import project as project
from tests.importers.operations import yaml_files
from tests.importers.recording_api import RecordingAPI
from tests.importers.recording_api import api as api
from toolgen.importers.design import DesignFiles
from toolgen.importers.openapi import openapi_files
from toolgen.importers.text import SourceDocument

SLACK = Path(__file__).parents[3] / "shared/corpora/openapi/slack.json.gz"

SHOP = """\
swagger: "2.0"
info: {title: Shop, description: Pets to buy., version: "1"}
host: shop.example
basePath: /v2/
schemes: [http, https]
consumes: [application/json, application/xml]
produces: [application/json]
securityDefinitions:
  key: {type: apiKey, in: header, name: X-Key, description: Key of the shop.}
  login: {type: basic}
  office:
    type: oauth2
    flow: accessCode
    authorizationUrl: https://shop.example/authorize
    tokenUrl: https://shop.example/token
    scopes: {read: Read pets.}
security: [{key: []}]
parameters:
  Limit: {name: limit, in: query, type: integer, maximum: 50, exclusiveMaximum: true, default: 10}
  Note: {name: note, in: formData, type: string, description: For the clerk.}
responses:
  Missing: {description: There is none., schema: {$ref: '#/definitions/Problem'}}
paths:
  /pets:
    get:
      operationId: findPets
      summary: Find pets.
      parameters:
        - $ref: '#/parameters/Limit'
        - {name: tags, in: query, type: array, items: {type: string}, description: Any of these.}
        - {name: states, in: query, type: array, items: {type: string}, collectionFormat: multi}
        - {name: sizes, in: query, type: array, items: {type: integer}, collectionFormat: pipes}
        - {name: rows, in: query, type: array, items: {type: string}, collectionFormat: tsv}
        - {name: X-Trace, in: header, type: string, x-nullable: true}
      responses:
        200:
          description: Pets.
          schema: {type: array, items: {$ref: '#/definitions/Pet'}}
          headers: {X-Total: {type: integer, description: Of all.}}
          examples: {application/json: []}
    post:
      operationId: addPet
      summary: Add a pet.
      security: [{office: [read]}]
      parameters:
        - {name: dry, in: query, type: boolean}
        - {name: pet, in: body, required: true, description: The pet., schema: {$ref: '#/definitions/Pet'}}
      responses:
        200: {description: The pet., schema: {$ref: '#/definitions/Pet'}}
        404: {$ref: '#/responses/Missing'}
  /pets/{id}:
    parameters:
      - {name: id, in: path, required: true, type: string, description: Its number.}
      - $ref: '#/parameters/Note'
    put:
      operationId: renamePet
      summary: Rename a pet.
      security: [{login: []}]
      parameters:
        - {name: name, in: formData, type: string, required: true, minLength: 1}
        - {name: nicks, in: formData, type: array, items: {type: string}, collectionFormat: multi}
        - {name: colours, in: formData, type: array, items: {type: string}}
      responses: {204: {description: Renamed.}}
  /pets/{id}/picture:
    parameters: [{name: id, in: path, required: true, type: string}]
    post:
      operationId: addPicture
      summary: Add a picture.
      consumes: [multipart/form-data]
      parameters:
        - {name: title, in: formData, type: string}
        - {name: picture, in: formData, type: file, required: true, description: A photo.}
      responses: {default: {description: It., schema: {type: object}}}
    get:
      operationId: getPicture
      summary: Get the picture.
      produces: [image/png]
      responses: {200: {description: It., schema: {type: file}}}
definitions:
  Problem: {type: object, required: [detail], properties: {detail: {type: string}}}
  Pet:
    type: object
    discriminator: kind
    required: [kind, name]
    properties:
      kind: {type: string}
      name: {type: string, x-nullable: true}
      owner: {$ref: '#/definitions/Owner'}
  Owner: {type: object, properties: {name: {type: string}, pets: {type: array, items: {type: string}}}}
"""


def design(files: DesignFiles) -> str:
    return files.files["api.py"]


def swagger(operation: dict[str, Any], **document: Any) -> DesignFiles:
    """Return the design of a POST of a document."""
    value = {
        "swagger": "2.0",
        "host": "x.example",
        "schemes": ["https"],
        "paths": {"/x": {"post": {"operationId": "x", "summary": "Do x.", "responses": {}, **operation}}},
        **document,
    }
    return openapi_files(SourceDocument(name="api", value=value), name="api", service="api")


def test_a_document_has_server_security_types_and_tools(tmp_path: Path) -> None:
    files = yaml_files(tmp_path, SHOP)
    text = " ".join(design(files).split())
    assert files.imported == 5
    for clause in (
        'http.Server("https://shop.example/v2", accepted=False)',
        'http.APIKeySecurity("key", "Key of the shop.", header="X-Key")',
        'http.BasicSecurity("login", "Login.")',
        'token="https://shop.example/token"',
        'http.Security(office, scopes=["read"])',
        "http.Security(login)",
        'd.Attribute("limit", d.Int, None, exclusive_maximum=50, default=10)',
        'http.Param("tags", explode=False)',
        'http.Param("sizes", style="pipeDelimited")',
        'http.Header("X-Trace")',
        'd.Attribute("name", d.Nullable(d.String), None, required=True)',
        'd.Error("missing", Problem',
        'http.Body("body", media="form")',
        'http.Body(http.File("picture"))',
    ):
        assert clause in text, clause
    assert "explode=True" not in text
    assert 'http.Param("states"' not in text


def test_findings_have_the_places_of_the_document(tmp_path: Path) -> None:
    found = {(each.place.pointer, each.message) for each in yaml_files(tmp_path, SHOP).findings}
    assert found == {
        (
            "/paths/~1pets/get/parameters/4",
            "'rows' is a list in one string, separated by tabs; its argument is plain text",
        ),
        (
            "/paths/~1pets~1{id}/put/parameters/2",
            "'colours' is a list in one string, separated by commas; its argument is plain text",
        ),
        ("/paths/~1pets/get/responses/200/headers", "the design leaves out headers of responses (1 place)"),
        ("/paths/~1pets/get/responses/200", "the design leaves out examples of responses (1 place)"),
        (
            "/definitions/Pet/discriminator",
            "the design leaves out 'discriminator' of schemas (1 place, in Pet)",
        ),
        (
            "/paths/~1pets/post/parameters/1",
            "the design leaves out keywords of request bodies: application/xml (1)",
        ),
    }


@pytest.mark.parametrize(
    ("document", "server"),
    [
        ({"schemes": ["http"]}, "http://x.example"),
        ({"schemes": ["wss", "https", "http"], "basePath": "/v1"}, "https://x.example/v1"),
        ({"schemes": None, "basePath": "/"}, "https://x.example"),
    ],
)
def test_the_server_is_the_safest_address(document: dict[str, Any], server: str) -> None:
    files = swagger({}, **document)
    assert f'http.Server("{server}"' in design(files)
    is_assumed = [each.message for each in files.findings if each.code == "import-assumed"]
    assert is_assumed == (
        [] if document["schemes"] else ["the document has no scheme for x.example; https is used"]
    )


def test_an_operation_may_have_another_scheme() -> None:
    assert 'http.Server("http://x.example"' in design(swagger({"schemes": ["http"]}))


@pytest.mark.parametrize(
    ("definition", "clause"),
    [
        (
            {"type": "oauth2", "flow": "application", "tokenUrl": "https://t.example", "scopes": {}},
            "http.ClientCredentialsFlow(",
        ),
        (
            {"type": "oauth2", "flow": "implicit", "authorizationUrl": "https://t.example", "scopes": {}},
            "http.BearerSecurity(",
        ),
        ({"type": "oauth2", "flow": "password", "tokenUrl": "https://t.example"}, "http.BearerSecurity("),
        ({"type": "apiKey", "in": "query", "name": "k"}, 'query="k"'),
    ],
)
def test_flows_of_oauth(definition: dict[str, Any], clause: str) -> None:
    files = swagger({}, securityDefinitions={"auth": definition}, security=[{"auth": []}])
    assert clause in design(files)
    places = {each.place.pointer for each in files.findings if each.code == "import-assumed"}
    assert places <= {"/securityDefinitions/auth"}


def test_a_body_parameter_counts_for_all_operations_of_its_path() -> None:
    parameters = [{"name": "pet", "in": "body", "schema": {"type": "object", "properties": {"a": {}}}}]
    operation = {"operationId": "x", "summary": "Do x.", "responses": {}}
    files = swagger({}, paths={"/x": {"parameters": parameters, "post": operation}})
    assert 'd.Attribute("body"' in design(files)


def test_what_stands_beside_the_body_of_a_request_is_named() -> None:
    held = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}
    parameters = [
        {"name": "one", "in": "body", "schema": held},
        {"name": "two", "in": "body", "schema": {"type": "string"}},
        {"name": "three", "in": "formData", "type": "string"},
    ]
    files = swagger({"parameters": parameters})
    assert 'd.Attribute("a", d.String' in design(files)
    assert [(each.code, each.place.pointer) for each in files.findings] == [
        ("import-left-out", "/paths/~1x/post/parameters/1"),
        ("import-left-out", "/paths/~1x/post/parameters/2"),
    ]


def test_parts_of_other_files_are_read(tmp_path: Path) -> None:
    held = {
        "shared/common.yaml": {
            "parameters": {
                "Body": {"name": "b", "in": "body", "schema": {"$ref": "#/definitions/Thing"}},
                "Ids": {"name": "ids", "in": "query", "type": "array", "items": {"type": "string"}},
            },
            "responses": {"Thing": {"description": "It.", "schema": {"$ref": "#/definitions/Thing"}}},
            "definitions": {
                "Thing": {
                    "type": "object",
                    "required": ["size"],
                    "properties": {"size": {"type": "integer", "x-nullable": True}},
                }
            },
        }
    }
    operation = {
        "operationId": "x",
        "summary": "Do x.",
        "parameters": [
            {"$ref": "shared/common.yaml#/parameters/Body"},
            {"$ref": "shared/common.yaml#/parameters/Ids"},
        ],
        "responses": {"200": {"$ref": "shared/common.yaml#/responses/Thing"}},
    }
    value = {"swagger": 2.0, "host": "x.example", "schemes": ["https"], "paths": {"/x": {"post": operation}}}
    document = SourceDocument(name="api", value=value)
    files = openapi_files(document, held.__getitem__, name="api", service="api")
    text = " ".join(design(files).split())
    assert files.findings == ()
    assert 'd.Attribute("size", d.Nullable(d.Int), None, required=True)' in text
    assert text.count("Thing") >= 3
    assert 'http.Param("ids", explode=False)' in text


@pytest.mark.parametrize(
    ("operation", "pointer", "message"),
    [
        (
            {"parameters": [{"name": "b", "in": "body", "schema": {"$ref": "#/definitions/None"}}]},
            "/paths/~1x/post/parameters/0/schema/$ref",
            "the reference '#/definitions/None' points to nothing; any JSON is accepted in its place",
        ),
        (
            {"parameters": [{"$ref": "#/parameters/None"}]},
            "/paths/~1x/post/parameters/0/$ref",
            "the reference '#/parameters/None' points to nothing",
        ),
        (
            {"responses": {"200": {"$ref": "#/responses/None"}}},
            "/paths/~1x/post/responses/200/$ref",
            "the reference '#/responses/None' points to nothing; any JSON is accepted as its response",
        ),
    ],
)
def test_what_leads_nowhere_is_named_as_the_author_wrote_it(
    operation: dict[str, Any], pointer: str, message: str
) -> None:
    [finding] = swagger(operation).findings
    assert (finding.place.pointer, finding.message) == (pointer, message)


@pytest.mark.exhaustive
@pytest.mark.skipif(
    not SLACK.exists() and "CI" not in os.environ, reason="the corpus of documents is not there"
)
def test_all_operations_of_a_published_document_are_imported(tmp_path: Path) -> None:
    value = json.loads(gzip.decompress(SLACK.read_bytes()))
    files = openapi_files(SourceDocument(name="slack", value=value), name="slack", service="slack")
    assert files.imported == 174
    assert [each for each in files.findings if not each.is_warning] == []
    assert not any("/components/" in f"{each.message}{each.place.pointer}" for each in files.findings)


CALLS: tuple[tuple[str, dict[str, Any], str, bytes | None], ...] = (
    (
        "find_pets",
        {"tags": ["a b", "c"], "states": ["x", "y"], "sizes": [1, 2], "rows": "1\t2", "X-Trace": "t"},
        "GET /v2/pets?limit=10&tags=a%20b,c&states=x&states=y&sizes=1%7C2&rows=1%092",
        None,
    ),
    (
        "rename_pet",
        {"id": "7", "body": {"name": "Ida & co", "nicks": ["i", "d"], "colours": "red,blue", "note": "n"}},
        "PUT /v2/pets/7",
        b"note=n&name=Ida%20%26%20co&nicks=i&nicks=d&colours=red%2Cblue",
    ),
)


def test_requests_are_those_of_the_document(
    project: ProjectFolder, api: RecordingAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write(
        "shop.yaml", SHOP.replace("shop.example\nbase", f"{api.host}\nbase").replace("http, https", "http")
    )
    project.write("pyproject.toml", '[tool.toolgen]\ndesign = "app.shop"\nout = "app/gen"\n')
    monkeypatch.setenv("TOOLGEN_SHOP__KEY", "k-1")
    monkeypatch.setenv("TOOLGEN_SHOP__LOGIN", "ann:pw-12345")
    api.answers["GET /v2/pets"] = 200, [{"kind": "cat", "name": None}], {}
    api.answers["PUT /v2/pets/7"] = 204, b"", {}
    api.answers["GET /v2/pets/7/picture"] = 200, b"\x89PNG", {"Content-Type": "image/png"}
    done = project.run("import", "openapi", "shop.yaml", "--accept-server", "--out", "app/shop.py")
    assert done.code == 0, done.err
    assert project.run("gen").code == 0
    results = []
    for tool, arguments, target, body in CALLS:
        done = project.run("call", tool, json.dumps(arguments))
        assert done.code == 0, done.err
        results.append(json.loads(done.out))
        request = api.arrived.pop()
        assert f"{request.verb} {request.target}" == target
        assert body is None or request.body == body
    assert results == [{"items": [{"kind": "cat", "name": None}]}, {}]
    done = project.run("call", "add_picture", json.dumps({"id": "7", "picture": "aGk=", "title": "Ida"}))
    assert done.code == 0, done.err
    request = api.arrived.pop()
    assert request.headers["content-type"].startswith("multipart/form-data; boundary=")
    assert request.headers["x-key"] == "k-1"
    assert b'name="picture"' in request.body
    assert b"\r\n\r\nhi\r\n" in request.body
    done = project.run("call", "get_picture", '{"id": "7"}')
    assert done.code == 0, done.err
    assert json.loads(done.out) == {"content": "iVBORw=="}
