"""From the document of an application to a call that answers, with no line of code between."""

from __future__ import annotations

import json
from collections.abc import Iterator
from threading import Event, Thread
from typing import Annotated, Any

import pytest
import uvicorn
from fastapi import Cookie, FastAPI, Header, HTTPException, Query
from pydantic import BaseModel

from ..conftest import ProjectFolder

CALLS: tuple[tuple[str, dict[str, object], dict[str, object]], ...] = (
    ("put_book", {"number": 7, "body": {"title": "Emma", "pages": 474}}, {"title": "Emma", "pages": 474}),
    (
        "read_book",
        {"number": 7, "x-language": "en", "visitor": "ann"},
        {"title": "Emma en ann", "pages": 474},
    ),
    ("list_books", {"tags": ["old", "new"], "limit": 1}, {"items": ["old", "new", "1"]}),
    ("list_events", {}, {"items": [{"book": 7, "on": "shelf"}, {"book": 8}]}),
)
EVENTS = {
    "type": "array",
    "items": {
        "oneOf": [
            {"type": "object", "properties": {"book": {"type": "integer"}}, "required": ["book"]},
            {"type": "object", "properties": {"visitor": {"type": "string"}}},
        ]
    },
}
"""What the application says of its events: one fits both branches, as it is of an open class."""


class Book(BaseModel):
    title: str
    pages: int | None = None


class Missing(BaseModel):
    detail: str


def application() -> FastAPI:
    app = FastAPI(title="Library", generate_unique_id_function=lambda route: route.name)
    books: dict[int, Book] = {}

    @app.put("/books/{number}")
    def put_book(number: int, book: Book) -> Book:
        """Keep a book."""
        return books.setdefault(number, book)

    @app.get("/books/{number}", responses={404: {"model": Missing}})
    def read_book(
        number: int,
        x_language: Annotated[str, Header()] = "",
        visitor: Annotated[str, Cookie()] = "",
    ) -> Book:
        """Read a book."""
        if number not in books:
            raise HTTPException(404, f"no book {number}")
        book = books[number]
        return Book(title=f"{book.title} {x_language} {visitor}", pages=book.pages)

    @app.get("/books")
    def list_books(tags: Annotated[list[str], Query()], limit: int = 10) -> list[str]:
        """List books."""
        return [*tags, str(limit)]

    @app.get("/events", responses={200: {"content": {"application/json": {"schema": EVENTS}}}})
    def list_events() -> Any:
        """List what happened."""
        return [{"book": 7, "on": "shelf"}, {"book": 8}]

    return app


class _Server(uvicorn.Server):
    """Says when it has started."""

    started_once: Event

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.started_once.set()


@pytest.fixture
def served() -> Iterator[tuple[str, FastAPI]]:
    app = application()
    server = _Server(uvicorn.Config(app, port=0, log_level="error"))
    server.started_once = Event()
    thread = Thread(target=server.run)
    thread.start()
    assert server.started_once.wait(60)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}", app
    server.should_exit = True
    thread.join()


@pytest.mark.exhaustive
def test_a_document_of_an_application_answers(project: ProjectFolder, served: tuple[str, FastAPI]) -> None:
    address, app = served
    project.write("library.json", json.dumps(app.openapi()))
    project.write("pyproject.toml", '[tool.toolgen]\ndesign = "app.library"\nout = "app/gen"\n')

    def toolgen(*args: str, code: int = 0) -> str:
        done = project.run(*args)
        assert done.code == code, done.err
        return done.out

    toolgen("import", "openapi", "library.json", "--server", address, "--out", "app/library.py")
    toolgen("gen")
    assert not (project.path / "executors").exists()
    for tool, arguments, result in CALLS:
        assert json.loads(toolgen("call", tool, json.dumps(arguments))) == result
    missing = toolgen("call", "read_book", '{"number": 8}', code=1)
    assert "no book 8" in missing
