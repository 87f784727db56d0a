"""The part of the design language about HTTP: servers, requests, answers and credentials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Final, Literal, TypeAlias

from toolgen.contract.transport import Media, Status, Style

from .clause import Clause
from .security import (
    APIKeySecurity,
    AuthorizationCodeFlow,
    BasicSecurity,
    BearerSecurity,
    ClientCredentialsFlow,
    NoSecurity,
    OAuth2Security,
    Scope,
    Security,
)

__all__ = [
    "DELETE",
    "GET",
    "HEAD",
    "HTTP",
    "OPTIONS",
    "PATCH",
    "POST",
    "PUT",
    "APIKeySecurity",
    "Accept",
    "AuthorizationCodeFlow",
    "BasicSecurity",
    "BearerSecurity",
    "Body",
    "ClientCredentialsFlow",
    "Cookie",
    "File",
    "Header",
    "NoSecurity",
    "OAuth2Security",
    "Paging",
    "Param",
    "Response",
    "Scope",
    "Security",
    "Server",
    "Variable",
]


class Variable(Clause):
    """A part of a server's address; with values, it is one of them.

    Example: `http.Variable("region", "eu", "us", default="eu")`
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

    Example: `http.Server("https://{zone}.books.example/v1", http.Variable("zone", "eu", "us", default="eu"))`
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

    Example: `http.HTTP(http.GET("/books/{id}"))`
    """


class HEAD(Request):
    """A request for the headers that GET would give.

    Example: `http.HTTP(http.HEAD("/books/{id}"), http.Response(200, http.Header("etag", "ETag")))`
    """


class OPTIONS(Request):
    """A request for what the server can do there.

    Example: `http.HTTP(http.OPTIONS("/books"), http.Response(204, http.Header("allowed", "Allow")))`
    """


class PUT(Request):
    """A request that sets what stands there; twice has the effect of once.

    Example: `http.HTTP(http.PUT("/books/{id}"), http.Response(204))`
    """


class DELETE(Request):
    """A request that removes what stands there; twice has the effect of once.

    Example: `http.HTTP(http.DELETE("/books/{id}"), http.Response(204))`
    """


class POST(Request):
    """A request that adds, or does.

    Example: `http.HTTP(http.POST("/books"), http.Response(201))`
    """


class PATCH(Request):
    """A request that changes parts of what stands there.

    Example: `http.HTTP(http.PATCH("/books/{id}"), http.Body(content_type="application/merge-patch+json"))`
    """


@dataclass(frozen=True, eq=False, repr=False)
class Param(Clause):
    """An attribute in the query, or in the path where the path names it.

    Example: `http.Param("tags", "tag", style="form", explode=False)`
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

    Example: `http.Header("etag", "If-None-Match")`
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

    Example: `http.Cookie("visitor", "VISITOR")`
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

    Example: `http.Body(http.File("cover"), http.File("text"))`
    """

    attribute: str


class Body(Clause):
    """What a request or an answer carries: one attribute, or all that stand nowhere else.

    Example: `http.Body("book")`
    """

    attribute: Final[str]
    """The whole body; "" where it is an object of attributes."""
    children: Final[tuple[File, ...]]
    media: Final[Media | None]
    """None for `json`, with files for `multipart`."""
    content_type: Final[str]
    """"" for that of the media."""
    style: Final[Literal["deepObject"] | None]
    """`deepObject` for a form with objects and lists in brackets: `dob[day]=1`."""

    def __init__(
        self,
        attribute: str | File = "",
        *children: File,
        media: Media | None = None,
        content_type: str = "",
        style: Literal["deepObject"] | None = None,
    ) -> None:
        super().__init__()
        self.attribute = "" if isinstance(attribute, Clause) else attribute
        self.children = (attribute, *children) if isinstance(attribute, Clause) else children
        self.media = media
        self.content_type = content_type
        self.style = style


class Accept(Clause):
    """Media types that the request asks for, the preferred one first.

    Example: `http.Accept("application/vnd.books.v2+json", "application/json")`
    """

    types: Final[tuple[str, ...]]

    def __init__(self, *types: str) -> None:
        super().__init__()
        self.types = types


class Response(Clause):
    """What a status means: the result of the method, or a declared error.

    Example: `http.Response(200, http.Body("books"), http.Header("etag", "ETag"))`
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

    Example: `http.Paging(style="offset", cursor="cursor", next="next", size="limit", items="books")`
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

    Example: `http.HTTP(http.GET("/books/{id}"), http.Param("include"), http.Response(404, "not_found"))`
    """

    request: Final[GET | HEAD | OPTIONS | PUT | DELETE | POST | PATCH]
    children: Final[tuple[HTTPChild, ...]]

    def __init__(
        self, request: GET | HEAD | OPTIONS | PUT | DELETE | POST | PATCH, *children: HTTPChild
    ) -> None:
        super().__init__()
        self.request = request
        self.children = children
