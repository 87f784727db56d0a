"""How the methods of a service are reached: as requests over HTTP, or as functions in Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Final, Literal, TypeAlias

from toolgen.contract.transport import Media, Status, Style

from .clause import Clause


@dataclass(frozen=True, eq=False, repr=False)
class Functions(Clause):
    """The methods of the service are the functions of a module, by their names.

    Example: `Service("Rooms", "Rooms of the office.", Functions("rooms"), Method("book", "Book a room."))`
    """

    module: str


@dataclass(frozen=True, eq=False, repr=False)
class Function(Clause):
    """The method is this function, which takes the attributes of the payload by keyword.

    Example: `Method("book", "Book a room.", Function("rooms:reserve"))`
    """

    target: str
    """`package.module:function`, or `package.module:object.method`."""


class Variable(Clause):
    """A part of a server's address; with values, it is one of them.

    Example: `Variable("region", "eu", "us", default="eu")`
    """

    name: Final[str]
    values: Final[Sequence[str]]
    default: Final[str]

    def __init__(self, name: str, *values: str, default: str) -> None:
        super().__init__()
        self.name = name
        self.values = values
        self.default = default


class Server(Clause):
    """Where the service answers, of http or https; names in braces are variables.

    Example: `Server("https://{region}.books.example/v1", Variable("region", "eu", "us", default="eu"))`
    """

    url: Final[str]
    children: Final[tuple[Variable, ...]]
    accepted: Final[bool]
    """Whether somebody has chosen it; a private address of another one is refused."""

    def __init__(self, url: str, *children: Variable, accepted: bool = True) -> None:
        super().__init__()
        self.url = url
        self.children = children
        self.accepted = accepted


@dataclass(frozen=True, eq=False, repr=False)
class Request(Clause):
    """A verb with the path from the server's address; names in braces are attributes of the payload."""

    path: str


class GET(Request):
    """A request that reads, and has no body.

    Example: `HTTP(GET("/books/{id}"))`
    """


class HEAD(Request):
    """A request for the headers that GET would give.

    Example: `HTTP(HEAD("/books/{id}"), Response(200, Header("etag", "ETag")))`
    """


class OPTIONS(Request):
    """A request for what the server can do there.

    Example: `HTTP(OPTIONS("/books"), Response(204, Header("allowed", "Allow")))`
    """


class PUT(Request):
    """A request that sets what stands there; twice has the effect of once.

    Example: `HTTP(PUT("/books/{id}"), Response(204))`
    """


class DELETE(Request):
    """A request that removes what stands there; twice has the effect of once.

    Example: `HTTP(DELETE("/books/{id}"), Response(204))`
    """


class POST(Request):
    """A request that adds, or does.

    Example: `HTTP(POST("/books"), Response(201))`
    """


class PATCH(Request):
    """A request that changes parts of what stands there.

    Example: `HTTP(PATCH("/books/{id}"), Body("changes", content_type="application/merge-patch+json"))`
    """


@dataclass(frozen=True, eq=False, repr=False)
class Param(Clause):
    """An attribute in the query, or in the path where the path names it.

    Example: `Param("tags", "tag", style="form", explode=False)`
    """

    attribute: str
    name: str | None = None
    """Its name in the request; None for that of the attribute."""
    _: KW_ONLY
    style: Style | None = None
    """A style of OpenAPI, or `json` for JSON text; None is `form` in the query, `simple` in the path."""
    explode: bool | None = None
    """Whether items and properties stand alone; None for what the style does: only `form` does."""


@dataclass(frozen=True, eq=False, repr=False)
class Header(Clause):
    """An attribute of the payload, or in a Response of the result, in a header.

    Example: `Header("etag", "If-None-Match")`
    """

    attribute: str
    name: str | None = None
    """None for the name of the attribute."""
    _: KW_ONLY
    style: Literal["json"] | None = None
    """`json` for JSON text, in a request."""
    explode: bool | None = None
    """Whether the keys of an object stand before `=`, in a request; None for no."""


@dataclass(frozen=True, eq=False, repr=False)
class Cookie(Clause):
    """An attribute of the payload in a cookie.

    Example: `Cookie("visitor", "VISITOR")`
    """

    attribute: str
    name: str | None = None
    """None for the name of the attribute."""
    _: KW_ONLY
    style: Literal["json"] | None = None
    """`json` for JSON text."""
    explode: bool | None = None
    """Whether each item is a cookie; None for yes."""


@dataclass(frozen=True, eq=False, repr=False)
class File(Clause):
    """An attribute that is a file of a multipart body: bytes, or the URI of an artifact.

    Example: `Body(File("cover"), File("text"))`
    """

    attribute: str


class Body(Clause):
    """What a request or an answer carries: one attribute, or all that stand nowhere else.

    Example: `Body("book")`
    """

    attribute: Final[str]
    """The whole body; "" where it is an object of attributes."""
    children: Final[tuple[File, ...]]
    media: Final[Media | None]
    """None for `json`, with files for `multipart`."""
    content_type: Final[str]
    """"" for that of the media."""

    def __init__(
        self,
        attribute: str | File = "",
        *children: File,
        media: Media | None = None,
        content_type: str = "",
    ) -> None:
        super().__init__()
        self.attribute = "" if isinstance(attribute, Clause) else attribute
        self.children = (attribute, *children) if isinstance(attribute, Clause) else children
        self.media = media
        self.content_type = content_type


class Accept(Clause):
    """Media types that the request asks for, the preferred one first.

    Example: `Accept("application/vnd.books.v2+json", "application/json")`
    """

    types: Final[tuple[str, ...]]

    def __init__(self, *types: str) -> None:
        super().__init__()
        self.types = types


class Response(Clause):
    """What a status means: the result of the method, or a declared error.

    Example: `HTTP(GET("/books"), Response(200, Body("books")), Response(404, "not_found"))`
    """

    status: Final[Status]
    error: Final[str]
    """"" for the result."""
    children: Final[tuple[Body | Header, ...]]

    def __init__(self, status: Status, error: str | Body | Header = "", /, *children: Body | Header) -> None:
        super().__init__()
        self.status = status
        self.error = "" if isinstance(error, Clause) else error
        self.children = (error, *children) if isinstance(error, Clause) else children


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Paging(Clause):
    """How the next page is asked for; cursors are optional strings of Payload and Result.

    Example: `Paging(style="offset", cursor="cursor", next="next", size="limit", items="books")`
    """

    style: Literal["cursor", "offset", "page", "link"] = "cursor"
    cursor: str
    """Attribute of the payload."""
    next: str
    """Attribute of the result; absent on the last page."""
    name: str = ""
    """Query parameter of an offset or a page, "" for the style's own name; one that a link may set though
    the payload has it too."""
    size: str = ""
    """Attribute of the payload with the most items of a page."""
    items: str = ""
    """Attribute of the result with the items; "" for its only list."""
    total: str = ""
    """Attribute of the result with the number of all items."""
    first: int | None = None
    """Number of the first page or item; None for page 1 and item 0."""
    at: str = ""
    """JSON Pointer to the next cursor in the body; "" where `next` is an attribute of it."""


HTTPChild: TypeAlias = Param | Header | Cookie | Body | Accept | Response | Paging


class HTTP(Clause):
    """The method is a request. What is not named goes into the query, with PUT, POST and PATCH into the body.

    Example: `HTTP(GET("/books/{id}"), Param("include"), Response(200), Response(404, "not_found"))`
    """

    request: Final[GET | HEAD | OPTIONS | PUT | DELETE | POST | PATCH]
    children: Final[tuple[HTTPChild, ...]]

    def __init__(
        self, request: GET | HEAD | OPTIONS | PUT | DELETE | POST | PATCH, *children: HTTPChild
    ) -> None:
        super().__init__()
        self.request = request
        self.children = children
