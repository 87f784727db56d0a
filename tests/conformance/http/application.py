"""The library as a FastAPI application, with its own OpenAPI document; it knows nothing of toolgen."""

import datetime as dt
from enum import Enum
from typing import Annotated, Any

from fastapi import (
    Body,
    Cookie,
    Depends,
    FastAPI,
    File,
    Form,
    Header,
    HTTPException,
    Query,
    Request,
    Response,
    UploadFile,
)
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.security import (
    APIKeyCookie,
    APIKeyHeader,
    APIKeyQuery,
    HTTPBasic,
    HTTPBasicCredentials,
    HTTPBearer,
)
from fastapi.security.http import HTTPAuthorizationCredentials
from pydantic import BaseModel

BOOKS = {number: f"Book {number}" for number in range(1, 8)}
SECRET = "s3cret/key+with=signs"


class Book(BaseModel):
    id: int
    title: str
    price: float | None = None
    published: dt.date | None = None


class Change(BaseModel):
    title: str | None = None
    price: float | None = None


class Echo(BaseModel):
    echo: dict[str, str]


class Kind(Enum):
    novel = "novel"
    atlas = "atlas"


app = FastAPI(title="Library")


@app.get("/shelves/{shelf}/books")
def find(
    shelf: str,
    q: str,
    tags: Annotated[list[str], Query(default_factory=list)],
    most: Annotated[int | None, Query(ge=1)] = None,
    cheap: bool | None = None,
    since: dt.datetime | None = None,
    kind: Kind | None = None,
    x_trace: Annotated[str | None, Header()] = None,
    visitor: Annotated[str | None, Cookie(alias="VISITOR")] = None,
) -> Echo:
    got = {
        "shelf": shelf,
        "q": q,
        "tags": tags or None,
        "most": most,
        "cheap": cheap,
        "since": since and since.isoformat(),
        "kind": kind and kind.value,
        "trace": x_trace,
        "visitor": visitor,
    }
    return Echo(echo={key: repr(value) for key, value in got.items() if value is not None})


class Missing(BaseModel):
    id: int
    message: str


def book(id: int) -> Book:
    if id not in BOOKS:
        raise KeyError(id)
    return Book(id=id, title=BOOKS[id], published=dt.date(2026, 1, id))


@app.exception_handler(KeyError)
async def missing(request: Request, error: KeyError) -> JSONResponse:
    return JSONResponse({"id": error.args[0], "message": f"There is no book {error.args[0]}."}, 404)


@app.get("/books/{id}", responses={404: {"model": Missing}})
def get_book(id: int) -> dict[str, Any]:
    """Return more than the design knows, and null for what is absent."""
    return {**book(id).model_dump(mode="json"), "price": None, "isbn": "1234", "loans": [{"until": None}]}


@app.head("/books/{id}")
def head_book(id: int, response: Response) -> None:
    response.headers.update({"ETag": f'"{id}"', "X-Pages": "120"})


@app.post("/books", status_code=201)
def add_book(book: Book, response: Response) -> Book:
    response.headers["Location"] = f"/books/{book.id}"
    return book


@app.patch("/books/{id}", responses={404: {"model": Missing}})
def change_book(id: int, change: Change) -> Book:
    return book(id).model_copy(update=change.model_dump(exclude_none=True))


@app.delete("/books/{id}", status_code=204)
def drop_book(id: int) -> None:
    pass


@app.post("/books/{id}/rating")
def rate_book(
    id: int, stars: Annotated[int, Form()], words: Annotated[list[str], Form(default_factory=list)]
) -> Echo:
    return Echo(echo={"stars": repr(stars), "words": repr(words)})


@app.put("/books/{id}/cover")
async def put_cover(
    id: int, cover: Annotated[UploadFile, File()], caption: Annotated[str, Form()] = ""
) -> Echo:
    return Echo(echo={"cover": repr(await cover.read()), "caption": repr(caption)})


@app.put("/books/{id}/text", response_class=PlainTextResponse)
def put_text(id: int, text: Annotated[str, Body(media_type="text/plain")]) -> str:
    return text.upper()


@app.put("/books/{id}/data", response_class=Response)
def put_data(id: int, data: Annotated[bytes, Body(media_type="application/octet-stream")]) -> Response:
    return Response(data[::-1], media_type="application/octet-stream")


def page(first: int, limit: int) -> list[Book]:
    return [book(number) for number in range(first, min(first + limit, len(BOOKS) + 1))]


@app.get("/pages/cursor")
def by_cursor(limit: int, after: str | None = None) -> dict[str, Any]:
    first = int(after or 1)
    following = first + limit
    meta = {"next": following} if following <= len(BOOKS) else {"next": None}
    return {"books": page(first, limit), "meta": meta}


@app.get("/pages/offset")
def by_offset(limit: int, offset: int) -> dict[str, Any]:
    return {"books": page(offset + 1, limit), "total": len(BOOKS)}


@app.get("/pages/page")
def by_page(limit: int, p: int) -> dict[str, Any]:
    return {"books": page((p - 1) * limit + 1, limit)}


@app.get("/pages/link")
def by_link(request: Request, response: Response, limit: int, after: int = 0) -> dict[str, Any]:
    if after + limit < len(BOOKS):
        target = request.url.include_query_params(after=after + limit)
        response.headers["Link"] = f'<{target}>; rel="next", </pages/link>; rel="first"'
    return {"books": page(after + 1, limit)}


in_header = APIKeyHeader(name="X-Api-Key", auto_error=False)
in_query = APIKeyQuery(name="api key", auto_error=False)
in_cookie = APIKeyCookie(name="KEY", auto_error=False)
basic = HTTPBasic(auto_error=False)
bearer = HTTPBearer(auto_error=False)


def who(secret: str | None, name: str) -> dict[str, str]:
    if secret != SECRET:
        raise HTTPException(401, f"{secret} opens nothing")
    return {"who": name}


@app.get("/secured/by_header")
def by_header(key: Annotated[str | None, Depends(in_header)]) -> dict[str, str]:
    return who(key, "header")


@app.get("/secured/by_query")
def by_query(key: Annotated[str | None, Depends(in_query)]) -> dict[str, str]:
    return who(key, "query")


@app.get("/secured/by_cookie")
def by_cookie(key: Annotated[str | None, Depends(in_cookie)]) -> dict[str, str]:
    from urllib.parse import unquote  # FastAPI leaves values of cookies as they are

    return who(key and unquote(key), "cookie")


@app.get("/secured/by_login")
def by_login(user: Annotated[HTTPBasicCredentials | None, Depends(basic)]) -> dict[str, str]:
    return who(user.password if user else None, user.username if user else "")


@app.get("/secured/by_token")
def by_token(token: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]) -> dict[str, str]:
    return who(token.credentials if token else None, "token")


@app.get("/secured/by_two")
def by_two(
    key: Annotated[str | None, Depends(in_header)],
    token: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
) -> dict[str, str]:
    who(key, "")
    return who(token.credentials if token else None, "both")


@app.get("/secured/by_nobody")
def by_nobody() -> dict[str, str]:
    return {"who": "nobody"}


@app.get("/styles/{style:path}", status_code=204, include_in_schema=False)
def styles(style: str) -> None:
    """What arrives here is read by the document alone: FastAPI knows one style."""


def parameter(name: str, place: str, type_: str, **facts: Any) -> dict[str, Any]:
    schemas: dict[str, Any] = {
        "string": {"type": "string"},
        "array": {"type": "array", "items": {"type": "string"}},
        "object": {
            "type": "object",
            "properties": {"R": {"type": "integer"}, "G": {"type": "integer"}},
            "required": ["R"],
            "additionalProperties": False,
        },
    }
    return {"name": name, "in": place, "required": True, "schema": schemas[type_], **facts}


STYLES: dict[str, list[dict[str, Any]]] = {
    "/styles/simple/{text}/{list}": [parameter("text", "path", "string"), parameter("list", "path", "array")],
    "/styles/form": [
        parameter("text", "query", "string"),
        parameter("list", "query", "array", explode=False),
        parameter("color", "query", "object", explode=False),
    ],
    "/styles/space": [
        parameter("text", "query", "string"),
        parameter("spaced", "query", "array", style="spaceDelimited", explode=False),
        parameter("color", "query", "object", style="deepObject", explode=True),
    ],
    "/styles/pipe": [
        parameter("text", "query", "string"),
        parameter("list", "query", "array", style="pipeDelimited", explode=False),
        parameter("color", "query", "object", style="deepObject", explode=True),
    ],
}


def document() -> dict[str, Any]:
    """Return the OpenAPI document of the application, with the styles that FastAPI cannot say."""
    made = app.openapi()
    for path, parameters in STYLES.items():
        made["paths"][path] = {
            "get": {"parameters": parameters, "responses": {"204": {"description": "Nothing."}}}
        }
    return made
