"""An API of FastAPI in six versions, for tests of imports that follow a document."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic import create_model

VERSIONS: Final = 6


def document(version: int) -> dict[str, Any]:
    """Return the OpenAPI document of a version, from 1 to 6.

    2 adds an optional attribute and a description, 3 an operation with a type of its own and a value of an
    enumeration, 4 changes descriptions and a limit, 5 takes an operation and its type away, 6 renames one and
    has another tag.
    """
    enumeration: Any = StrEnum
    app = FastAPI(title="Library", version=str(version), generate_unique_id_function=_own_name)
    genres = ["novel", "poem", *(["play"] if version >= 3 else [])]
    genre: Any = enumeration("Genre", {each: each for each in genres})
    isbn: Any = {"isbn": (str | None, None)} if version >= 2 else {}
    book = create_model("Book", title=(str, ...), genre=(genre, ...), **isbn)
    loan = create_model("Loan", reader=(str, ...), days=(int, 28 if version >= 4 else 14))

    def put_book(number: int, book: Any) -> Any: ...

    def find_books(word: str, limit: int = 20 if version >= 4 else 10) -> Any: ...

    def lend_book(number: int, loan: Any) -> Any: ...

    def list_authors() -> Any: ...

    def count_books() -> Any: ...

    put_book.__annotations__ |= {"book": book, "return": book}
    find_books.__annotations__ |= {"return": list[book]}  # type: ignore[valid-type]
    lend_book.__annotations__ |= {"loan": loan, "return": loan}
    put_book.__doc__ = "Keep a book." if version < 4 else "Keep a book under its number."
    find_books.__doc__ = "Find books." if version < 2 else "Find books by a word of their title."
    lend_book.__doc__ = "Lend a book to a reader."
    list_authors.__doc__ = "List all authors."
    count_books.__doc__ = "Count the books."
    app.put("/books/{number}", tags=["books"])(put_book)
    app.get("/books", tags=["books"])(find_books)
    if version < 5:
        app.post("/books/{number}/loans", tags=["books"])(lend_book)
    if version >= 3:
        author = create_model("Author", name=(str, ...), born=(int | None, None))
        list_authors.__annotations__ |= {"return": list[author]}  # type: ignore[valid-type]
        app.get("/authors", tags=["people"])(list_authors)
    count_books.__annotations__ |= {"return": int}
    if version >= 6:
        count_books.__name__ = "number_of_books"
    app.get("/books/count", tags=["books" if version < 6 else "numbers"])(count_books)
    return app.openapi()


def _own_name(route: APIRoute) -> str:
    return route.name
