"""An API on this machine that keeps what it is asked, and tools that are imported from its document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from ..conftest import ProjectFolder

COMPONENTS = "#/components/schemas/"


@dataclass(frozen=True)
class Asked:
    """One request."""

    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    """By lower-case names."""
    body: Any
    """JSON, or None for no body."""


@dataclass
class EchoingAPI:
    """The server, with a project whose tools call it."""

    project: ProjectFolder
    url: str
    answer: Any = None
    """The JSON of all answers."""
    asked: list[Asked] = field(default_factory=list)
    said: str = ""
    """What the last import says."""

    def publish(self, paths: Mapping[str, Any], version: str = "3.0.3", **schemas: Any) -> None:
        """Import a document of these paths, and generate its tools."""
        document = {
            "openapi": version,
            "info": {"title": "Desk", "version": "1"},
            "servers": [{"url": self.url}],
            "paths": paths,
            "components": {"schemas": schemas},
        }
        self.project.write("app/api.json", json.dumps(document))
        self.project.write("pyproject.toml", '[tool.toolgen]\ndesign = "app.design"\nout = "app/gen"\n')
        out = str(self.project.path / "app/design.py")
        options = ("--allow-losses", "--accept-server", "--force", "--out", out)
        done = self.project.run("import", "openapi", "app/api.json", *options)
        assert done.code == 0, done.err
        self.said = done.err
        done = self.project.run("gen")
        assert done.code == 0, done.err

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Return what a tool answers; an error has the key `error`."""
        done = self.project.run("call", tool, json.dumps(arguments))
        return json.loads(done.out)

    def sent(self, tool: str, arguments: Mapping[str, Any]) -> Asked:
        """Return the request that a call makes."""
        before = len(self.asked)
        answer = self.call(tool, arguments)
        assert len(self.asked) == before + 1, answer
        return self.asked[-1]

    def refused(self, tool: str, arguments: Mapping[str, Any]) -> list[str]:
        """Return the paths of the issues of a call that is not sent."""
        before = len(self.asked)
        answer = self.call(tool, arguments)
        assert len(self.asked) == before
        return [issue["path"] for issue in answer["issues"]]

    def arguments(self, tool: str) -> dict[str, Any]:
        """Return the published schema of a tool's arguments."""
        tools = json.loads((self.project.path / "app/gen/tool_schemas.json").read_text("utf-8"))["tools"]
        found = next(each for each in tools if each["name"] == tool)
        schema: dict[str, Any] = found["payload"]["schema"]
        return schema

    @property
    def design(self) -> str:
        return (self.project.path / "app/design.py").read_text("utf-8")


@pytest.fixture
def api(project: ProjectFolder) -> Iterator[EchoingAPI]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            echoing.asked.append(
                Asked(
                    path=unquote(url.path),
                    query=parse_qs(url.query, keep_blank_values=True),
                    headers={name.lower(): value for name, value in self.headers.items()},
                    body=json.loads(body) if body else None,
                )
            )
            answer = json.dumps(echoing.answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_POST = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    serving.start()
    echoing = EchoingAPI(project, f"http://127.0.0.1:{server.server_port}")
    yield echoing
    server.shutdown()
    serving.join()
    server.server_close()


def get(name: str, *parameters: Mapping[str, Any], answer: Any = None) -> dict[str, Any]:
    """Return an operation that reads."""
    content = {"content": {"application/json": {"schema": answer}}} if answer is not None else {}
    responses = {"200": {"description": "It.", **content}}
    return {
        "get": {
            "operationId": name,
            "summary": "Do it.",
            "parameters": list(parameters),
            "responses": responses,
        }
    }


def post(name: str, body: Any) -> dict[str, Any]:
    """Return an operation with a JSON body."""
    held = {"required": True, "content": {"application/json": {"schema": body}}}
    responses = {"200": {"description": "It."}}
    return {"post": {"operationId": name, "summary": "Do it.", "requestBody": held, "responses": responses}}
