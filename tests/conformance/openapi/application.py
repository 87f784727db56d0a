"""A FastAPI application that keeps the values that arrive; it knows nothing of toolgen."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Literal

from fastapi import Body, FastAPI, Form, Header, Query
from fastapi.encoders import jsonable_encoder
from pydantic import BaseModel, ConfigDict, Field


class Kind(Enum):
    novel = "novel"
    atlas = "the atlas"


class Author(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, Field(min_length=1)]
    born: int | None = None


class Book(BaseModel):
    title: str
    pages: Annotated[int, Field(ge=1)]
    price: float | None = None
    authors: list[Author] = []
    tags: dict[str, str] = {}
    kind: Kind = Kind.novel


class Order(BaseModel):
    model_config = ConfigDict(strict=True)
    count: int
    note: str | None = None
    is_gift: bool = False
    either: Literal["a", "b"] | int = 1


def application(arrived: list[dict[str, Any]]) -> FastAPI:
    """Return an application that adds to a list what each request brings, by the names of its parameters."""
    app = FastAPI(title="Shop", generate_unique_id_function=lambda route: route.name)

    def keep(**values: Any) -> dict[str, str]:
        arrived.append(jsonable_encoder(values, by_alias=True, exclude_unset=True))
        return {"status": "kept"}

    @app.get("/books/{number}/{word}")
    def find(
        number: int,
        word: str,
        kind: Kind | None = None,
        limit: Annotated[int, Query(ge=1, le=100)] = 10,
        price: float | None = None,
        is_new: bool | None = None,
        text: Annotated[str | None, Query(max_length=20)] = None,
    ) -> dict[str, str]:
        return keep(number=number, word=word, kind=kind, limit=limit, price=price, is_new=is_new, text=text)

    @app.get("/books")
    def listed(
        tags: Annotated[list[str], Query(default_factory=list)],
        pages: Annotated[list[int], Query(default_factory=list)],
        x_level: Annotated[int, Header()],
    ) -> dict[str, str]:
        return keep(tags=tags, pages=pages, **{"x-level": x_level})

    @app.post("/books")
    def add(book: Book) -> dict[str, str]:
        return keep(body=book)

    @app.put("/orders/{number}")
    def order(number: int, order: Order) -> dict[str, str]:
        return keep(number=number, body=order)

    @app.post("/numbers")
    def numbers(values: Annotated[list[int | None], Body(max_length=4)]) -> dict[str, str]:
        return keep(body=values)

    @app.post("/ratings")
    def rate(
        stars: Annotated[int, Form(ge=1, le=5)],
        words: Annotated[list[str], Form(default_factory=list)],
        text: Annotated[str, Form()] = "",
    ) -> dict[str, str]:
        return keep(body={"stars": stars, "words": words, "text": text})

    return app
