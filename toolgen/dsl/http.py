"""The part of the design language about HTTP: servers, requests, responses and credentials."""

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
    """Variable in the address of a server.

    The host can set it: `BooksClient(variables={"region": "us"})`.

    Args:
        name: Name in braces in the address.
        *values: Allowed values. Without them, any text that can be part of an address is allowed.
        default: Value if the host sets none.

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
    """Address of the service.

    If a service has several, requests go to the first one, unless the host chooses another. If only the path
    is known, write `http.Server("/v1")`: calls fail until the host sets the address.

    Args:
        url: `https://` or `http://` URL without a query; `{name}` stands for a variable.
        *children: The variables.
        accepted: Whether you trust the address. If `False`, as in imported documents, private addresses are
            refused.

    Example: `http.Server("https://{zone}.books.example/v1", http.Variable("zone", "eu", "us", default="eu"))`
    """

    url: Final[str]
    children: Final[tuple[Variable, ...]]
    accepted: Final[bool]

    def __init__(self, url: str, *children: Variable, accepted: bool = True) -> None:
        super().__init__()
        self.url = url
        self.children = children
        self.accepted = accepted


@dataclass(frozen=True, eq=False, repr=False)
class Request(Clause):
    """HTTP method and path of a request.

    Args:
        path: Path after the server's address, beginning with `/`; `{name}` stands for an attribute of the
            payload.


    """

    path: str


class GET(Request):
    """Send a GET request. It has no body. A bound tool is `read_only`.

    Example: `http.HTTP(http.GET("/books/{id}"))`
    """


class HEAD(Request):
    """Send a HEAD request.

    Neither the request nor the response has a body, so the result comes from headers. A bound tool is
    `read_only`.

    Example: `http.HTTP(http.HEAD("/books/{id}"), http.Response(200, http.Header("etag", "ETag")))`
    """


class OPTIONS(Request):
    """Send an OPTIONS request. Attributes go into the query. A bound tool is `read_only`.

    Example: `http.HTTP(http.OPTIONS("/books"), http.Response(204, http.Header("allowed", "Allow")))`
    """


class PUT(Request):
    """Send a PUT request. Attributes go into the JSON body. A bound tool is `idempotent`.

    Example: `http.HTTP(http.PUT("/books/{id}"), http.Response(204))`
    """


class DELETE(Request):
    """Send a DELETE request. Attributes go into the query. A bound tool is `idempotent`.

    Example: `http.HTTP(http.DELETE("/books/{id}"), http.Response(204))`
    """


class POST(Request):
    """Send a POST request.

    Attributes go into the JSON body. If the response is lost, the outcome of the call is unknown.

    Example: `http.HTTP(http.POST("/books"), http.Response(201))`
    """


class PATCH(Request):
    """Send a PATCH request. Attributes go into the JSON body.

    Example: `http.HTTP(http.PATCH("/books/{id}"), http.Body(content_type="application/merge-patch+json"))`
    """


@dataclass(frozen=True, eq=False, repr=False)
class Param(Clause):
    """Send an attribute in the query, or in the path if the path contains its name.

    Args:
        attribute: Attribute of the payload.
        name: Name in the request. By default, the name of the attribute.
        style: OpenAPI style: `form` (default), `spaceDelimited`, `pipeDelimited` or `deepObject` in the
            query, `simple` (default), `label` or `matrix` in the path. `json` sends any value as JSON text.
        explode: Whether each item or property is sent separately. By default, only in the style `form`.

    Example: `http.Param("tags", "tag", style="form", explode=False)`
    """

    attribute: str
    name: str | None = None
    _: KW_ONLY
    style: Style | None = None
    explode: bool | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Header(Clause):
    """Send an attribute in a header, or read one from a header of a `Response`.

    Lists are separated by commas. The client sets Authorization and the headers of the protocol itself.

    Args:
        attribute: Attribute of the payload; in a `Response`, of the result.
        name: Name of the header. By default, the name of the attribute.
        style: `json` sends any value as JSON text. Only in requests.
        explode: Whether an object is sent as `a=1,b=2` instead of `a,1,b,2`. By default not; only in
            requests.

    Example: `http.Header("etag", "If-None-Match")`
    """

    attribute: str
    name: str | None = None
    _: KW_ONLY
    style: Literal["json"] | None = None
    explode: bool | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Cookie(Clause):
    """Send an attribute in a cookie.

    Args:
        attribute: Attribute of the payload.
        name: Name of the cookie. By default, the name of the attribute.
        style: `json` sends any value as JSON text.
        explode: Whether each item is a cookie of its own. By default, it is.

    Example: `http.Cookie("visitor", "VISITOR")`
    """

    attribute: str
    name: str | None = None
    _: KW_ONLY
    style: Literal["json"] | None = None
    explode: bool | None = None


@dataclass(frozen=True, eq=False, repr=False)
class File(Clause):
    """Send an attribute as a file in a multipart body.

    Args:
        attribute: Attribute with `Bytes`, or with a `String` that is the URI of an artifact.

    Example: `http.Body(http.File("cover"), http.File("text"))`
    """

    attribute: str


class Body(Clause):
    """Body of a request, or of a response in a `Response`.

    By default, it is an object with all attributes that are not sent elsewhere.

    Args:
        attribute: Attribute that is the whole body, or the first file. Bytes can also be a `String` with the
            URI of an artifact.
        *children: Files of a multipart body; the other attributes are its other parts.
        media: Kind of body. By default `json`, or `multipart` if there are files.
        content_type: Exact Content-Type. By default, the usual one of the kind.
        style: `deepObject` writes objects and lists of a form in brackets, such as `dob[day]=1&tags[0]=new`.
            By default, objects are JSON, and each item of a list is a field.

    Example: `http.Body("book")`
    """

    attribute: Final[str]
    children: Final[tuple[File, ...]]
    media: Final[Media | None]
    content_type: Final[str]
    style: Final[Literal["deepObject"] | None]

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
    """Request certain media types.

    By default, the client accepts JSON; anything if a response is text or bytes; and anything, preferably
    JSON, if the method has no result. If the service responds with another media type, `media` in its
    `Response` determines how the client reads the body.

    Args:
        *types: Exact media types, the preferred one first.

    Example: `http.Accept("application/vnd.books.v2+json", "application/json")`
    """

    types: Final[tuple[str, ...]]

    def __init__(self, *types: str) -> None:
        super().__init__()
        self.types = types


class Response(Clause):
    """Map a status code to the result or to an error.

    The most specific status applies. Without a `Response` for the result, all statuses from 200 to 299 are
    the result. Any other status raises a `ToolError` that the design does not declare.

    Args:
        status: A number, a class such as `"4XX"`, or `"default"`.
        error: Name of an error of the method or service, whose details are the body. Omit it for the result.
        *children: The attribute in the body, if it is not the whole result, and attributes in headers.

    Example: `http.Response(200, http.Body("books"), http.Header("etag", "ETag"))`
    """

    status: Final[Status]
    error: Final[str]
    children: Final[tuple[Body | Header, ...]]

    def __init__(self, status: Status, error: str | Body | Header = "", /, *children: Body | Header) -> None:
        super().__init__()
        self.status = status
        self.error = "" if isinstance(error, Clause) else error
        self.children = (error, *children) if isinstance(error, Clause) else children


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Paging(Clause):
    """Request further pages.

    The client fills `next`. A tool passes it on with `d.BoundedResult(cursor="cursor", next_cursor="next")`.
    Both are optional strings.

    Args:
        style: Source of the next cursor: `cursor` reads it from the response, `offset` and `page` count items
            or pages, `link` reads the header Link (RFC 8288).
        cursor: Attribute of the payload that requests a page.
        next: Attribute of the result with the next cursor; absent on the last page.
        name: Query parameter of the offset or page. By default, the name of the style. With `link`, the only
            parameter that a link can set although the payload has it.
        size: Attribute of the payload with the maximum number of items on a page.
        items: Attribute of the result with the items. By default, its only list.
        total: Attribute of the result with the number of all items.
        first: Number of the first page or item. By default 1 for a page, 0 for an item.
        at: JSON Pointer to the cursor in the body, if `next` is not an attribute of it.

    Example: `http.Paging(style="offset", cursor="cursor", next="next", size="limit", items="books")`
    """

    style: Literal["cursor", "offset", "page", "link"] = "cursor"
    cursor: str
    next: str
    name: str = ""
    size: str = ""
    items: str = ""
    total: str = ""
    first: int | None = None
    at: str = ""


HTTPChild: TypeAlias = Param | Header | Cookie | Body | Accept | Response | Paging


class HTTP(Clause):
    """Call a method with an HTTP request.

    Attributes that no clause mentions go into the query, or into the JSON body of PUT, POST and PATCH. The
    service needs a `Server`.

    Args:
        request: HTTP method and path.
        *children: Where the other attributes go, what responses mean, and paging.

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
