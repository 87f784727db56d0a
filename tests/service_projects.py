"""Projects whose services are an API over HTTP or functions, generated from their designs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from .conftest import ProjectFolder

HTTP = '''\
"""Tariffs over HTTP, for a test."""

from toolgen.dsl import (
    Args, ArrayOf, Attribute, BindTo, BoundedResult, Design, Error, Int, Method, Payload, Result, Return,
    Service, String, Tool, Toolset, Type,
)
from toolgen.dsl.http import GET, HTTP, APIKeySecurity, Paging, Param, Response, Security, Server

Price = Type(
    "Price",
    "What an hour costs.",
    Attribute("hour", Int, "The hour.", required=True),
    Attribute("cents", Int, "What it costs.", required=True),
)
ZONE = Attribute("zone", String, "Which zone.", required=True)
PRICES = Attribute("prices", ArrayOf(Price), "By hour.", required=True)
CURSOR = Attribute("cursor", String, "Where to go on.")
NEXT = Attribute("next", String, "Where to go on the next time.")

tariffs = Service(
    "Tariffs",
    "What electricity costs.",
    Server("SERVER"),
    Security(APIKeySecurity("key", "Key of the tariffs.", header="X-Api-Key")),
    Method(
        "list_prices",
        "Read the prices of a zone.",
        Payload(ZONE, CURSOR),
        Result(PRICES, NEXT),
        Error("unknown_zone", None, "There is no such zone."),
        HTTP(
            GET("/zones/{zone}/prices"),
            Param("cursor", "page"),
            Response(200),
            Response(404, "unknown_zone"),
            Paging(cursor="cursor", next="next"),
        ),
    ),
)
prices = Toolset(
    "prices",
    "Prices of electricity.",
    Tool(
        "list_prices",
        "Read the prices of a zone.",
        Args(ZONE, CURSOR),
        Return(PRICES, NEXT),
        BoundedResult(cursor="cursor", next_cursor="next"),
        BindTo("Tariffs", "list_prices"),
    ),
)
design = Design("app", "A small application.", tariffs, Service("assistant", "Tools.", prices))
'''

FUNCTIONS = '''\
"""Rooms by functions, for a test."""

from toolgen.dsl import (
    Agent, Args, Attribute, BindTo, Design, Error, Export, Functions, Inject, Method, Payload, Result, Return,
    Service, String, Tool, Toolset,
)

ROOM = Attribute("room", String, "Which room.", required=True)
NUMBER = Attribute("number", String, "Number of the booking.", required=True)

rooms = Service(
    "Rooms",
    "Rooms of the office.",
    Functions("app.rooms"),
    Method("book_room", "Book a room.", Payload(ROOM), Result(NUMBER), Error("taken", None, "It is taken.")),
)
bookings = Toolset(
    "bookings",
    "Bookings of rooms.",
    Tool("book", "Book a room.", Args(ROOM), Return(NUMBER), BindTo("Rooms", "book_room")),
)
design = Design("app", "A small application.", rooms, Service("assistant", "Tools.", bookings))
'''

ROOMS = '''\
"""Functions that were there before."""


def book_room(room: str) -> dict[str, str]:
    return {"number": f"{room}-1"}
'''

SETTINGS = '[tool.toolgen]\ndesign = "app.design"\nout = "app/gen"\n'
PAGES: dict[str, dict[str, object]] = {
    "": {"prices": [{"hour": 0, "cents": 31, "currency": "EUR"}], "next": "b"},
    "b": {"prices": [{"hour": 1, "cents": 29}], "next": None},
}


class Tariffs(BaseHTTPRequestHandler):
    """What the design describes, written by somebody else."""

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        page = parse_qs(asked.query).get("page", [""])[0]
        status: int = 200
        answer: dict[str, object] = PAGES[page]
        if self.headers["X-Api-Key"] != "k-1":
            status, answer = 401, {}
        elif asked.path == "/descriptions":
            answer = {"pages": 120, "more": {"colour": ["red"]}, "vendor": 7}
        elif asked.path != "/zones/north/prices":
            status, answer = 404, {"detail": "no such zone"}
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    """Give the URL of a server of tariffs that runs meanwhile."""
    tariffs = ThreadingHTTPServer(("127.0.0.1", 0), Tariffs)
    serving = Thread(target=tariffs.serve_forever, kwargs={"poll_interval": 0.01})
    serving.start()
    yield f"http://127.0.0.1:{tariffs.server_port}"
    tariffs.shutdown()
    serving.join()
    tariffs.server_close()


@pytest.fixture
def tariffs(project: ProjectFolder, server: str, monkeypatch: pytest.MonkeyPatch) -> ProjectFolder:
    """Give a project whose service is the server, generated and without settings."""
    monkeypatch.setenv("TOOLGEN_TARIFFS__KEY", "k-1")
    generate(project, HTTP.replace("SERVER", server))
    return project


@pytest.fixture
def rooms(project: ProjectFolder) -> ProjectFolder:
    project.write("app/rooms.py", ROOMS)
    generate(project, FUNCTIONS)
    return project


def generate(project: ProjectFolder, design: str) -> None:
    project.write("pyproject.toml", SETTINGS)
    project.write("app/design.py", design)
    done = project.run("gen")
    assert done.code == 0, done.err
