"""Imported services pass on answers that do not fit, from the document to the call."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from ..conftest import ProjectFolder

ITEM = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "state": {"type": "string", "enum": ["open", "done"]},
        "foo": {"type": "string"},
        "tags": {"type": "object", "additionalProperties": {"type": "string"}},
        "at": {"type": "string", "format": "date-time"},
        "owner": {
            "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],
            "discriminator": {"propertyName": "kind"},
        },
    },
    "required": ["id", "foo"],
}
PET = {"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}}}
LIST = {"type": "array", "items": {"$ref": "#/components/schemas/Item"}}
FIT = {"id": 1, "foo": "x"}
ANSWERS: dict[str, tuple[Any, list[str]]] = {
    "null in a required text": (FIT | {"foo": None}, ["$.foo"]),
    "null in a required number": (FIT | {"id": None}, ["$.id"]),
    "a new value of an enumeration": (FIT | {"state": "paused"}, ["$.state"]),
    "a text for a number": (FIT | {"id": "5"}, ["$.id"]),
    "a number for a text": (FIT | {"foo": 5}, ["$.foo"]),
    "an empty list for an empty map": (FIT | {"tags": []}, ["$.tags"]),
    "a missing field": ({"id": 1}, ["$.foo"]),
    "a new tag": (FIT | {"owner": {"kind": "fish"}}, ["$.owner"]),
    "a list for the object": ([], ["$"]),
}


def document(url: str) -> str:
    def operation(name: str, schema: dict[str, Any]) -> dict[str, Any]:
        content = {"application/json": {"schema": schema}}
        responses = {"200": {"description": "Fine.", "content": content}}
        return {"operationId": name, "summary": "Ask.", "responses": responses}

    return json.dumps(
        {
            "openapi": "3.0.3",
            "info": {"title": "Desk", "version": "1"},
            "servers": [{"url": url}],
            "paths": {
                "/item": {"get": operation("read_item", {"$ref": "#/components/schemas/Item"})},
                "/items": {"get": operation("list_items", LIST)},
            },
            "components": {"schemas": {"Item": ITEM, "Cat": PET, "Dog": PET}},
        }
    )


class Desk(BaseHTTPRequestHandler):
    """Answers what its server has for now."""

    def do_GET(self) -> None:
        body: bytes = getattr(self.server, "body", b"")
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def desk() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Desk)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.exhaustive
def test_no_drift_of_an_api_loses_an_answer(project: ProjectFolder, desk: ThreadingHTTPServer) -> None:
    url = f"http://127.0.0.1:{desk.server_port}"
    project.write("desk.json", document(url))
    project.write("pyproject.toml", '[tool.toolgen]\ndesign = "app.desk"\nout = "app/gen"\n')
    for command in (("import", "openapi", "desk.json", "--server", url, "--out", "app/desk.py"), ("gen",)):
        done = project.run(*command)
        assert done.code == 0, done.err

    def call(tool: str, body: bytes) -> tuple[Any, str]:
        desk.body = body  # type: ignore[attr-defined]  # of this test
        done = project.run("call", tool, "{}")
        assert done.code == 0, done.out + done.err
        return json.loads(done.out), done.err

    for body, paths in ANSWERS.values():
        data = json.dumps(body).encode()
        result, told = call("read_item", data)
        assert (result, [line.split()[3] for line in told.splitlines()]) == (body, paths)
        if isinstance(body, dict):
            result, told = call("list_items", json.dumps([FIT, body]).encode())
            assert result == {"items": [FIT, body]}
            assert [line.split()[3] for line in told.splitlines()] == [
                path.replace("$", "$.items[1]") for path in paths
            ]
    for data in (codecs.BOM_UTF8 + json.dumps(FIT).encode(), json.dumps(FIT).encode("utf-16")):
        assert call("read_item", data) == (FIT, "")
