"""Parameters that repeat a credential: the credential fills them, and no model is asked for them."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ProjectFolder
from tests.conftest import project as project
from tests.importers.recording_api import RecordingAPI
from tests.importers.recording_api import api as api
from toolgen.importers.design import DesignFiles
from toolgen.importers.openapi import openapi_files
from toolgen.importers.text import SourceDocument

SLACK = Path(__file__).parents[3] / "shared/corpora/openapi/slack.json.gz"
SECRET = "xoxb-3141/5926+53"
SCHEMES: dict[str, Any] = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "office": {
        "type": "oauth2",
        "flows": {"clientCredentials": {"tokenUrl": "https://t.example", "scopes": {"read": "Read."}}},
    },
    "key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
    "login": {"type": "http", "scheme": "basic"},
}
TEXT = {"type": "string"}
SAID = {"description": "Authentication token."}


def imported(
    *parameters: dict[str, Any],
    security: list[dict[str, list[str]]] | None = None,
    body: dict[str, Any] | None = None,
    server: str = "https://x.example",
    **components: Any,
) -> DesignFiles:
    return openapi_files(
        SourceDocument(
            name="api", value=document(*parameters, security=security, body=body, server=server, **components)
        ),
        name="api",
        service="api",
    )


def document(
    *parameters: dict[str, Any],
    security: list[dict[str, list[str]]] | None = None,
    body: dict[str, Any] | None = None,
    server: str = "https://x.example",
    **components: Any,
) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": "do",
        "summary": "Do it.",
        "parameters": list(parameters),
        "responses": {"200": {"description": "It.", "content": {"application/json": {"schema": {}}}}},
    }
    if security is not None:
        operation["security"] = security
    if body is not None:
        operation["requestBody"] = {"required": True, "content": body}
    return {
        "openapi": "3.1.0",
        "info": {},
        "servers": [{"url": server}],
        "paths": {"/do": {"post": operation}},
        "components": {"securitySchemes": SCHEMES, **components},
    }


def parameter(name: str, place: str = "query", **facts: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": TEXT, **facts}


def text(files: DesignFiles) -> str:
    return " ".join(files.files["api.py"].split())


def assumed(files: DesignFiles) -> list[str]:
    return [each.message for each in files.findings if each.code == "import-assumed"]


@pytest.mark.parametrize(
    ("scheme", "name", "place", "described"),
    [
        ("bearer", "token", "header", ""),
        ("bearer", "token", "query", "The access token."),
        ("bearer", "token", "header", "Authentication token. Requires scope: `read`"),
        ("office", "access_token", "query", "Any words."),
        ("office", "X-Auth-Token", "header", ""),
        ("bearer", "oauthToken", "query", ""),
    ],
)
def test_a_token_fills_what_is_called_like_one(scheme: str, name: str, place: str, described: str) -> None:
    files = imported(parameter(name, place, description=described), security=[{scheme: []}])
    assert f'http.Security({scheme}, {place}="{name}")' in text(files)
    assert "d.Attribute(" not in text(files).partition("d.Payload(")[2].partition(")")[0]
    assert "d.Payload(" not in text(files)
    assert assumed(files) == [
        f"the {place} parameter {name!r} is filled by the credential and is not an argument (1 place)"
    ]


@pytest.mark.parametrize(
    ("security", "parameter_of"),
    [
        ([{"bearer": []}], parameter("token", description="Token of the invitation.")),
        ([{"bearer": []}], parameter("token", "cookie")),
        ([{"bearer": []}], parameter("page_token")),
        ([{"bearer": []}], parameter("token", schema={"type": "integer"})),
        ([{"bearer": []}, {"login": []}], parameter("access_token")),
        ([{"login": []}], parameter("access_token")),
        ([{"key": []}], parameter("X-Api-Key")),
        ([], parameter("access_token")),
    ],
)
def test_what_may_be_something_else_is_an_argument(
    security: list[dict[str, list[str]]], parameter_of: dict[str, Any]
) -> None:
    files = imported(parameter_of, security=security)
    assert f'd.Attribute("{parameter_of["name"]}"' in text(files)
    assert assumed(files) == []


def test_a_token_in_the_query_that_nobody_describes_is_an_argument() -> None:
    """It may be the token of a page or of an invitation, and a credential does not belong in an address."""
    files = imported(parameter("token", required=True), security=[{"bearer": []}])
    assert 'd.Attribute("token", d.String' in text(files)
    assert "query=" not in text(files)
    assert assumed(files) == [
        "the query parameter 'token' looks like the credential, but is an argument (1 place)"
    ]


def test_the_scopes_and_another_scheme_stay() -> None:
    files = imported(parameter("token", **SAID), security=[{"key": [], "office": ["read"]}, {}])
    assert 'http.Security(office, key, scopes=["read"], query="token"), http.NoSecurity()' in text(files)


def test_a_key_that_is_needed_fills_its_parameter() -> None:
    files = imported(parameter("x-api-key", "header", required=True), security=[{"key": []}])
    assert "d.Payload(" not in text(files)
    assert (assumed(files), "http.Security(key)" in text(files)) == ([], True)


@pytest.mark.parametrize(
    ("parameters", "clauses"),
    [
        ([parameter("X-Api-Key", "header", required=True)], "http.Security(key))"),
        ([parameter("X-Api-Key", "header")], "http.Security(key), http.NoSecurity())"),
    ],
)
@pytest.mark.parametrize("security", [None, []])
def test_a_key_that_no_operation_asks_for_fills_its_parameter(
    parameters: list[dict[str, Any]], clauses: str, security: Any
) -> None:
    files = imported(*parameters, security=security)
    assert "d.Payload(" not in text(files)
    assert clauses in text(files)
    assert assumed(files) == [
        "the header parameter 'X-Api-Key' is filled by the credential 'key', although its operation "
        "does not require it (1 place)"
    ]


@pytest.mark.parametrize(
    ("security", "required", "clauses"),
    [
        ([{"login": []}], True, "http.Security(login, key))"),
        ([{"login": []}], False, "http.Security(login, key), http.Security(login))"),
        (
            [{"bearer": []}, {}],
            False,
            "http.Security(bearer, key), http.Security(key), http.Security(bearer), http.NoSecurity())",
        ),
        ([{"login": []}, {"key": []}], True, "http.Security(login), http.Security(key))"),
    ],
)
def test_a_key_is_sent_beside_other_credentials(
    security: list[dict[str, list[str]]], required: bool, clauses: str
) -> None:
    files = imported(parameter("X-Api-Key", "header", required=required), security=security)
    assert "d.Payload(" not in text(files)
    assert clauses in text(files)


def test_only_the_keys_that_are_required_are_needed() -> None:
    """A call without the optional one is sent, as the document allows."""
    files = imported(
        parameter("X-Api-Key", "header", required=True),
        parameter("sid", "cookie"),
        security=[],
        securitySchemes={**SCHEMES, "session": {"type": "apiKey", "in": "cookie", "name": "sid"}},
    )
    assert "d.Payload(" not in text(files)
    assert "http.Security(key, session), http.Security(key))" in text(files)


def test_a_credential_of_the_document_is_kept_beside_that_of_a_parameter() -> None:
    value = document(parameter("X-Api-Key", "header", required=True))
    value["security"] = [{"login": []}]
    files = openapi_files(SourceDocument(name="api", value=value), name="api", service="api")
    assert "http.Security(login, key))" in text(files)
    authorization = document(parameter("Authorization", "header"), security=[{"login": []}])
    files = openapi_files(SourceDocument(name="api", value=authorization), name="api", service="api")
    assert "http.Security(login))" in text(files)


def test_the_header_authorization_is_the_only_scheme_that_stands_there() -> None:
    value = document(parameter("authorization", "header", required=True))
    value["components"]["securitySchemes"] = {"bearer": SCHEMES["bearer"]}
    files = openapi_files(SourceDocument(name="api", value=value), name="api", service="api")
    assert "http.Security(bearer))" in text(files)
    several = imported(parameter("authorization", "header", required=True))
    assert "http.Security(" not in text(several).replace("http.BearerSecurity(", "")


@pytest.mark.parametrize(
    ("media", "properties", "clauses"),
    [
        (
            "application/x-www-form-urlencoded",
            {"token": TEXT | SAID, "name": TEXT},
            ['http.Body("body", media="form")', 'd.Attribute("name"', 'http.Security(bearer, body="token")'],
        ),
        (
            "application/x-www-form-urlencoded",
            {"token": TEXT | SAID},
            ['http.Body(media="form")', 'http.Security(bearer, body="token")'],
        ),
        (
            "multipart/form-data",
            {"token": TEXT | SAID, "file": {"type": "string", "format": "binary"}},
            ['http.Body(http.File("file"))', 'http.Security(bearer, body="token")'],
        ),
        (
            "application/json",
            {"token": TEXT | SAID},
            ['http.POST("/do"), http.Body()', 'http.Security(bearer, body="token")'],
        ),
    ],
)
def test_a_token_fills_a_part_of_a_body(media: str, properties: dict[str, Any], clauses: list[str]) -> None:
    body = {media: {"schema": {"type": "object", "properties": properties, "required": ["token"]}}}
    files = imported(security=[{"bearer": []}], body=body)
    for clause in clauses:
        assert clause in text(files), clause
    assert 'd.Attribute("token"' not in text(files)


def test_a_property_of_a_body_is_an_argument_unless_it_says_what_it_is() -> None:
    schema = {"type": "object", "properties": {"token": TEXT}}
    for body in (schema, {"$ref": "#/components/schemas/Device"}):
        for media in ("application/json", "application/x-www-form-urlencoded"):
            files = imported(
                security=[{"bearer": []}], body={media: {"schema": body}}, schemas={"Device": schema}
            )
            assert 'd.Attribute("token"' in text(files)
            assert assumed(files) == [
                "the property of the body 'token' looks like the credential, but is an argument (1 place)"
            ]


@pytest.mark.exhaustive
@pytest.mark.skipif(
    not SLACK.exists() and "CI" not in os.environ, reason="the corpus of documents is not there"
)
def test_no_tool_of_a_published_document_asks_for_its_token() -> None:
    value = json.loads(gzip.decompress(SLACK.read_bytes()))
    files = openapi_files(SourceDocument(name="slack", value=value), name="slack", service="slack")
    module = files.files["slack.py"]
    assert 'd.Attribute("token"' not in module
    assert {message for message in assumed(files) if "filled" in message} == {
        "the header parameter 'token' is filled by the credential and is not an argument (101 places)",
        "the query parameter 'token' is filled by the credential and is not an argument (54 places)",
        "the property of the body 'token' is filled by the credential and is not an argument (15 places)",
    }


def test_what_arrives_has_the_credential(
    project: ProjectFolder, api: RecordingAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = {"type": "object", "properties": {"token": TEXT | SAID, "name": TEXT}}
    value = document(
        parameter("token", "header", required=True),
        parameter("token", "query", **SAID),
        security=[{"bearer": []}],
        body={"application/x-www-form-urlencoded": {"schema": form}},
        server=api.address,
    )
    project.write("api.json", json.dumps(value))
    project.write("pyproject.toml", '[tool.toolgen]\ndesign = "app.api"\nout = "app/gen"\n')
    done = project.run("import", "openapi", "api.json", "--accept-server", "--out", "app/api.py")
    assert done.code == 0, done.err
    assert "; in some requests also as body token, header token, query token" in done.err
    assert project.run("gen").code == 0
    missing = project.run("call", "do", '{"body": {"name": "Ida"}}')
    assert "TOOLGEN_API__BEARER" in missing.err + missing.out
    assert api.arrived == []
    monkeypatch.setenv("TOOLGEN_API__BEARER", SECRET)
    api.answers["POST /do"] = 200, {"you sent": SECRET}, {}
    done = project.run("call", "do", '{"body": {"name": "Ida"}}')
    [request] = api.arrived
    assert request.target == "/do?token=xoxb-3141%2F5926%2B53"
    assert request.body == b"name=Ida&token=xoxb-3141%2F5926%2B53"
    assert request.headers["token"] == SECRET
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert SECRET not in done.out + done.err
    schemas = [file.read_text("utf-8") for file in (project.path / "app/gen").rglob("tool_schemas.json")]
    assert schemas
    assert not any("token" in each for each in schemas)
    api.answers["POST /do"] = 307, {}, {"Location": "http://127.0.0.2:9/do"}
    assert project.run("call", "do", '{"body": {}}').code != 0
    assert len(api.arrived) == 2


def test_an_edit_of_the_design_makes_it_an_argument_again(
    project: ProjectFolder, api: RecordingAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = document(parameter("token", **SAID), security=[{"bearer": []}], server=api.address)
    project.write("api.json", json.dumps(value))
    project.write("pyproject.toml", '[tool.toolgen]\ndesign = "app.api"\nout = "app/gen"\n')
    project.run("import", "openapi", "api.json", "--accept-server", "--out", "app/api.py")
    design = (project.path / "app/api.py").read_text("utf-8")
    edited = design.replace('http.Security(bearer, query="token")', "http.Security(bearer)")
    edited = edited.replace(
        'http.HTTP(http.POST("/do")',
        'd.Payload(d.Attribute("token", d.String, "It.")), http.HTTP(http.POST("/do"), http.Param("token")',
    )
    assert edited != design
    project.write("app/api.py", edited)
    again = project.run("import", "openapi", "api.json", "--out", "app/api.py")
    assert again.code == 0, again.err
    assert (project.path / "app/api.py").read_text("utf-8") == edited
    assert project.run("gen").code == 0
    monkeypatch.setenv("TOOLGEN_API__BEARER", SECRET)
    project.run("call", "do", '{"token": "mine"}')
    assert api.arrived[0].target == "/do?token=mine"


def test_a_new_place_of_a_credential_is_a_decision_of_the_author(project: ProjectFolder) -> None:
    project.write("api.json", json.dumps(document(security=[{"bearer": []}])))
    assert project.run("import", "openapi", "api.json").code == 0
    project.write("api.json", json.dumps(document(parameter("token", **SAID), security=[{"bearer": []}])))
    done = project.run("import", "openapi", "api.json")
    assert done.code == 1
    assert "are now 'bearer+(query:token) https://x.example'" in done.err
    assert "in some requests also as query token" in done.err
    resolved = project.run("import", "--resolve", "security:do")
    assert resolved.code == 0, resolved.err
    assert 'query="token"' in (project.path / "api_design.py").read_text("utf-8")
