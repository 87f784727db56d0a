"""The transport of a service's methods, the same in a design, in its generated client and at run time.

Words and defaults of parameters are from OpenAPI 3.1 (Parameter Object), verbs from RFC 9110.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal, TypeAlias

from .record import frozen_record

Verb: TypeAlias = Literal["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "POST", "PATCH"]
Place: TypeAlias = Literal["path", "query", "header", "cookie"]
Style: TypeAlias = Literal[
    "form", "simple", "label", "matrix", "spaceDelimited", "pipeDelimited", "deepObject", "json"
]
"""OpenAPI's styles, and `json` for JSON text, which OpenAPI writes as `content`."""
Media: TypeAlias = Literal["json", "form", "multipart", "text", "bytes"]
Status: TypeAlias = int | Literal["1XX", "2XX", "3XX", "4XX", "5XX", "default"]

SAFE_VERBS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Verbs of requests that change nothing (RFC 9110, section 9.2.1)."""
IDEMPOTENT_VERBS: Final = SAFE_VERBS | {"PUT", "DELETE"}
"""Verbs whose repetition has no further effect (RFC 9110, section 9.2.2)."""
VARIABLE: Final = re.compile(r"\{([^{}]*)\}")
"""A name in braces: a variable in the address of a server, or a parameter in a path."""
TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
"""Name of a header or a cookie (RFC 9110, section 5.6.2)."""
_PART: Final = r"[\w!#$&^.+-]+"
MEDIA_TYPE: Final = re.compile(rf'{_PART}/{_PART}(?:; *{_PART}=(?:{_PART}|"[ !#-\[\]-~]*"))*', re.ASCII)
"""A media type with its parameters (RFC 9110, section 8.3.1), without wildcards."""
CONNECTION_HEADERS: Final = frozenset(
    "accept-encoding connection content-encoding content-length expect host keep-alive "
    "proxy-connection te trailer transfer-encoding upgrade".split()
)
"""Headers in which the client describes the connection, the message and accepted encodings; never payload."""


@frozen_record
class Variable:
    """A part of a server's address that can be set when a client is created."""

    name: str
    default: str
    values: tuple[str, ...] = ()
    """All allowed values; () for any value."""


@frozen_record(kw_only=False)
class Server:
    """An address of a service."""

    url: str
    """Absolute http or https URL; `{name}` is replaced with a variable."""
    variables: tuple[Variable, ...] = ()
    is_accepted: bool = True
    """Whether the design's author chose the address; otherwise, a private address is refused."""


@frozen_record(kw_only=False)
class Parameter:
    """One attribute of a payload outside the body."""

    attribute: str
    """JSON key of the attribute."""
    place: Place
    name: str = ""
    """Name in the request; "" for the attribute's name."""
    style: Style | None = None
    """Style of the parameter; None for `form` in queries and cookies, `simple` in paths and headers."""
    explode: bool | None = None
    """Whether items and properties are separate; None for the style's default: only `form` separates."""


@frozen_record
class Body:
    """The body of a request."""

    media: Media = "json"
    attribute: str = ""
    """Attribute that is the whole body; "" if `attributes` form an object."""
    attributes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Attributes in `attributes` that are files of a multipart body: bytes, or the URI of an artifact."""
    content_type: str = ""
    """Media type of the body; "" for the default of `media`."""
    style: Literal["deepObject"] | None = None
    """Style of objects and lists in a form: brackets, or None for objects as JSON and repeated lists."""


@frozen_record(kw_only=False)
class Response:
    """The meaning of a response with a status. If several match, the most specific one applies."""

    status: Status
    error: str = ""
    """Name of the declared error; "" for the result."""
    body: str = ""
    """The attribute of the result that is the whole body; "" if the body is the result."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Header names by the attribute of the result that has the header's value."""
    media: Media = "json"


@frozen_record
class Paging:
    """The way to request the next page. The cursors of a result and of a payload are strings."""

    style: Literal["cursor", "offset", "page", "link"] = "cursor"
    cursor: str
    """Attribute of the payload."""
    next: str
    """Attribute of the result; absent on the last page."""
    name: str = ""
    """Query parameter of an offset or a page; "" for the style's default name.

    For the style `link`, a query parameter that a link may set although the payload has it too.
    """
    size: str = ""
    """Attribute of the payload with the maximum number of items per page; "" if there is none."""
    items: str = ""
    """Attribute of the result with the items; for `offset` and `page`."""
    total: str = ""
    """Attribute of the result with the number of items in all pages; "" if there is none."""
    first: int = 0
    """Number of the first page, or of the first item."""
    at: str = ""
    """JSON Pointer (RFC 6901) to the next cursor in the body; "" if `next` is an attribute of the body."""


@frozen_record
class OAuthFlow:
    """An OAuth 2 flow (RFC 6749), whose addresses can come from its metadata (RFC 8414)."""

    kind: Literal["client_credentials", "authorization_code"]
    token: str = ""
    authorize: str = ""
    refresh: str = ""
    """Address to refresh a token; "" for `token`."""
    discovery: str = ""
    """Address of the metadata; "" if the others are known."""
    is_accepted: bool = True
    """Whether the design's author chose the addresses; otherwise, private addresses are refused."""


@frozen_record
class SecurityScheme:
    """A credential that a service requires."""

    name: str
    kind: Literal["api_key", "basic", "bearer", "oauth2"]
    description: str = ""
    place: Literal["header", "query", "cookie"] = "header"
    key: str = ""
    """Name of the header, query parameter or cookie of an `api_key`."""
    flow: OAuthFlow | None = None
    scopes: Mapping[str, str] = field(default_factory=dict)
    """Descriptions by scope."""


@frozen_record(kw_only=False)
class Requirement:
    """A scheme with the required scopes, and further places in the request for its secret."""

    scheme: SecurityScheme
    scopes: tuple[str, ...] = ()
    header: str = ""
    query: str = ""
    body: str = ""
    """Field of a form, or key of a JSON object; "" for none, as for `header` and `query`."""


Security: TypeAlias = tuple[tuple[Requirement, ...], ...]
"""Alternatives, preferred first; a request needs all requirements of one alternative. () for none."""


@frozen_record
class HTTP:
    """A method as a request."""

    verb: Verb
    path: str
    """Path below the server's address; `{name}` is replaced with a path parameter."""
    parameters: tuple[Parameter, ...] = ()
    body: Body | None = None
    accept: tuple[str, ...] = ()
    """Accepted media types, preferred first; () for the media types of the responses."""
    responses: tuple[Response, ...] = (Response(200),)
    paging: Paging | None = None
    security: Security = ()


@frozen_record(kw_only=False)
class Function:
    """A method as a Python function, which takes the attributes of the payload by keyword."""

    target: str
    """`package.module:function`, or `package.module:object.method`."""
