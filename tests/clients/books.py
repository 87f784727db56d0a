"""A service of tests as generated code has it: books, over HTTP."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from pydantic import Field

from toolgen.calls.specs import ErrorSpec
from toolgen.clients import HTTP, HTTPClient, Operation, Parameter, Response, Server, Variable
from toolgen.runtime import CallMeta, ToolContext, ToolModel
from toolgen.shapes.design.model import OpenModel


class GetBook(ToolModel):
    id: str
    tags: list[str] | None = None


class Author(ToolModel):
    name: str
    born: dt.date | None = None


class Facts(OpenModel):
    pages: int


class Book(ToolModel):
    id: str
    title: str
    author: Author | None = None
    facts: Facts | None = None
    language: str = "en"
    next_: Annotated[str | None, Field(alias="next")] = None


class NotFound(ToolModel):
    id: str


class Nothing(ToolModel):
    pass


NOT_FOUND: ErrorSpec[NotFound] = ErrorSpec("not_found", description="No such book.")
BUSY: ErrorSpec[None] = ErrorSpec("busy", is_retryable=True)


def operation(
    http: HTTP | None = None, *, payload: Any = GetBook, result: Any = Book, errors: Any = None
) -> Operation[Any, Any]:
    """Return an operation, by default one that gets a book."""
    http = http or HTTP(
        verb="GET",
        path="/books/{id}",
        parameters=(Parameter("id", "path"), Parameter("tags", "query")),
        responses=(Response(200), Response(404, "not_found"), Response(423, "busy")),
    )
    errors = {NOT_FOUND: NotFound, BUSY: None} if errors is None else errors
    return Operation("Books", "get_book", http, payload=payload, result=result, errors=errors)


GET_BOOK: Operation[GetBook, Book] = operation()


class Books(HTTPClient):
    servers = (
        Server("https://{region}.books.example/v1", (Variable(name="region", default="eu"),)),
        Server("http://books.test"),
    )


def context(**facts: Any) -> ToolContext:
    """Return the context of a call, without a runtime."""
    return ToolContext(CallMeta(session_id="s-1"), "library.books.get", **facts)
