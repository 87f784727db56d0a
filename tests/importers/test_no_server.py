"""Documents that do not say where they answer: tools are written, and the first call says what is missing."""

from __future__ import annotations

import json

import pytest

from tests.conftest import ProjectFolder
from tests.conftest import project as project
from tests.importers.recording_api import RecordingAPI
from tests.importers.recording_api import api as api

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {},
    "servers": [{"url": "/v1"}],
    "paths": {"/books": {"get": {"operationId": "list", "summary": "List books."}}},
    "security": [{"key": []}],
    "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
}
SWAGGER = {
    "swagger": "2.0",
    "basePath": "/v1",
    "paths": {
        "/books": {"get": {"operationId": "list", "summary": "List books.", "security": [{"key": []}]}}
    },
    "securityDefinitions": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
}


@pytest.mark.parametrize("document", [DOCUMENT, SWAGGER])
def test_the_import_and_the_first_call_say_which_setting_names_the_server(
    project: ProjectFolder, api: RecordingAPI, monkeypatch: pytest.MonkeyPatch, document: dict[str, object]
) -> None:
    project.write("library.json", json.dumps(document))
    project.write("pyproject.toml", '[tool.toolgen]\ndesign = "app.library"\nout = "app/gen"\n')
    monkeypatch.setenv("TOOLGEN_LIBRARY__KEY", "k-3141592")
    done = project.run("import", "openapi", "library.json", "--out", "app/library.py")
    assert done.code == 0
    assert "imported 1 tool; 1 warning; calls fail until you set the server: --server URL, or" in done.err
    assert "is sent to: the server that is set on its client (header X-Key)" in done.err
    assert project.run("gen").code == 0
    failed = project.run("call", "list", "{}")
    assert failed.code == 1
    message = json.loads(failed.out)["error"]
    assert message == (
        'library.list was not sent: the server of library has no address. Write it into Server("/v1") in the '
        "design, import the API again with --server, or make the client with LibraryClient(server=…)"
    )
    assert api.arrived == []
    again = project.run(
        "import", "openapi", "library.json", "--out", "app/library.py", "--server", api.address
    )
    assert again.code == 0, again.err
    assert "calls fail" not in again.err
    assert project.run("gen").code == 0
    done = project.run("call", "list", "{}")
    assert done.code == 0, done.err
    assert (api.arrived[0].target, api.arrived[0].headers["x-key"]) == ("/v1/books", "k-3141592")


def test_an_address_that_the_author_writes_stays(project: ProjectFolder, api: RecordingAPI) -> None:
    project.write("library.json", json.dumps(DOCUMENT))
    project.run("import", "openapi", "library.json")
    design = (project.path / "library_design.py").read_text("utf-8")
    assert 'http.Server("/v1"),' in design
    project.write("library_design.py", design.replace('"/v1"', '"https://books.example/v1"'))
    again = project.run("import", "openapi", "library.json")
    assert again.code == 0
    assert "calls fail" not in again.err
    assert 'http.Server("https://books.example/v1")' in (project.path / "library_design.py").read_text(
        "utf-8"
    )


def test_an_address_that_the_document_names_later_is_not_accepted(project: ProjectFolder) -> None:
    project.write("library.json", json.dumps(DOCUMENT))
    project.run("import", "openapi", "library.json")
    project.write("library.json", json.dumps({**DOCUMENT, "servers": [{"url": "https://books.example"}]}))
    done = project.run("import", "openapi", "library.json")
    assert done.code == 1
    assert "the address was '/v1' and is now 'https://books.example', which is not accepted" in done.err
