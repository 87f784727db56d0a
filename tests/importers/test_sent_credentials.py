"""Environment variables of credentials: none of another program, and the import says where each is sent."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from toolgen.cli.import_changes import sent_credentials
from toolgen.contract.credentials import client_names, environment_name

from ..conftest import ProjectFolder

ANSWER = {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "object"}}}}}
SERVER = "https://weather.example/v1"
API_KEY = {"type": "apiKey", "in": "header", "name": "X-K"}
TOKEN = "https://login.example/token"
OAUTH = {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": TOKEN, "scopes": {}}}}


def document(schemes: dict[str, Any], servers: tuple[str, ...] = (SERVER,)) -> str:
    return json.dumps(
        {
            "openapi": "3.1.0",
            "info": {"title": "Weather", "version": "1"},
            "servers": [{"url": server} for server in servers],
            "security": [{name: []} for name in schemes],
            "components": {"securitySchemes": schemes},
            "paths": {"/a": {"get": {"operationId": "weather", "summary": "Weather.", "responses": ANSWER}}},
        }
    )


def sent(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("TOOLGEN_")]


@pytest.mark.parametrize(
    ("service", "scheme", "known"),
    [
        ("aws", "secret_access_key", "AWS_SECRET_ACCESS_KEY"),
        ("openai", "apiKey", "OPENAI_API_KEY"),
        ("github", "token", "GITHUB_TOKEN"),
        ("toolgen", "config", "TOOLGEN_CONFIG"),
    ],
)
def test_no_name_of_a_document_makes_the_variable_of_another_program(
    service: str, scheme: str, known: str
) -> None:
    names = {environment_name(service, scheme), *client_names(service, scheme)}
    assert known not in names
    assert all(name.startswith("TOOLGEN_") and "__" in name for name in names)


def test_no_two_services_have_one_variable() -> None:
    """Of `github` a document chooses the scheme, so that it must not be that of `github_enterprise`."""
    pairs = [("github", "enterprise_token"), ("github_enterprise", "token"), ("github__enterprise", "token")]
    names = {environment_name(*pair) for pair in pairs}
    assert names == {"TOOLGEN_GITHUB__ENTERPRISE_TOKEN", "TOOLGEN_GITHUB_ENTERPRISE__TOKEN"}


def test_an_import_says_which_variable_is_sent_where(project: ProjectFolder) -> None:
    schemes = {"secret_access_key": API_KEY, "account": {"type": "http", "scheme": "basic"}, "login": OAUTH}
    project.write("aws.json", document(schemes))
    done = project.run("import", "openapi", "aws.json")
    assert done.code == 0, done.err
    name = "TOOLGEN_AWS__LOGIN"
    assert sent(done.err) == [
        f"TOOLGEN_AWS__SECRET_ACCESS_KEY, if set, is sent to: {SERVER} (header X-K)",
        f"TOOLGEN_AWS__ACCOUNT, if set, is sent to: {SERVER} (header Authorization (basic))",
        f"{name}__CLIENT_ID and {name}__CLIENT_SECRET, if set, are sent to: token {TOKEN}; "
        f"the token, or {name}, to: {SERVER}",
    ]


def test_a_later_import_says_what_is_sent_elsewhere_then(project: ProjectFolder) -> None:
    project.write("aws.json", document({"key": API_KEY}))
    assert len(sent(project.run("import", "openapi", "aws.json").err)) == 1
    assert sent(project.run("import", "openapi", "aws.json").err) == []
    project.write("aws.json", document({"key": {**API_KEY, "in": "query"}}, ("https://other.example",)))
    for options in ("--check",), ():
        moved = sent(project.run("import", "openapi", "aws.json", *options).err)
        assert [line for line in moved if "other.example" in line], moved


def test_many_servers_are_named_in_short_and_none_is_the_host_s(project: ProjectFolder) -> None:
    servers = tuple(f"https://s{number}.example" for number in range(5))
    project.write("aws.json", document({"key": API_KEY}, servers))
    (line,) = sent(project.run("import", "openapi", "aws.json").err)
    assert line.endswith(f"is sent to: {', '.join(servers[:3])}, … (header X-K)")
    module = 'd.Service("one", "One.", http.Security(http.APIKeySecurity("key", "Key.", query="k")), METHOD)'
    (line,) = sent_credentials(ast.parse(f"from toolgen.dsl import *\nservice = {module}\n"))
    assert line == "TOOLGEN_ONE__KEY, if set, is sent to: the server that is set on its client (query k)"


def test_a_new_project_says_it_too(project: ProjectFolder) -> None:
    project.write("aws.json", document({"key": API_KEY}))
    done = project.run("init", "clouds", "--from", "openapi", "aws.json")
    assert done.code == 0, done.err
    (line,) = sent(done.err)
    assert line.endswith(f"__KEY, if set, is sent to: {SERVER} (header X-K)")
    assert "TOOLGEN_" not in project.run("init", "plain").err


def test_the_variable_of_another_program_is_sent_nowhere(
    project: ProjectFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The document of a stranger whose service and scheme make the name of a well-known variable."""
    project.write("aws.json", document({"secret_access_key": API_KEY}))
    project.write("pyproject.toml", '[tool.toolgen]\ndesign = "app.aws"\nout = "app/gen"\n')
    assert project.run("import", "openapi", "aws.json", "--out", "app/aws.py").code == 0
    assert project.run("gen").code == 0
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the-aws-key")
    done = project.run("call", "weather", "{}")
    assert done.code == 1
    assert "set it in the environment as TOOLGEN_AWS__SECRET_ACCESS_KEY" in done.out
