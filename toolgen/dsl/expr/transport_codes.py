"""The diagnostics of transports of services; rows of the table in `codes`."""

from __future__ import annotations

from typing import Final

from .rule import Rule

BAD_SERVER: Final = Rule(
    "bad-server",
    "Server {url!r} of service {service!r} {fault}",
    "{hint}",
    "A server is an absolute address of http or https, without a query, a fragment or a password. Names in "
    "braces are its variables, each with a default that is one of its values.",
)
NO_SERVER: Final = Rule(
    "no-server",
    "method {method!r} has HTTP, and service {service!r} has no Server",
    'add Server("https://…") to the service',
    "Requests go to the servers that the design names, the first one where nobody chooses another.",
)
TWO_TRANSPORTS: Final = Rule(
    "two-transports",
    "method {method!r} has HTTP and Function",
    "remove one of them",
    "A method is reached in one way. `Function` is for the methods that `Functions` of the service does not "
    "fit, and `HTTP` for those that are requests.",
)
BAD_PATH: Final = Rule(
    "bad-path",
    "path {path!r} of method {method!r} {fault}",
    "{hint}",
    "The path begins with a slash, and goes on from the address of the server. A name in braces is an "
    "attribute of the payload; what stands in the query is written as `Param`.",
)
UNFILLED_VARIABLE: Final = Rule(
    "unfilled-variable",
    "{fault} the path variable {name!r} of method {method!r}",
    "{hint}",
    "A variable of a path is filled by the attribute of its name, or by the one that a `Param` of its name "
    "names. It is always there: required, or with a default.",
)
UNKNOWN_ATTRIBUTE: Final = Rule(
    "unknown-attribute",
    "{clause} of method {method!r} names {name!r}, which is no attribute of its {where}",
    "{hint}",
    "`Param`, `Header`, `Cookie`, `Body` and `File` name attributes of the payload, and those in a "
    "`Response` attributes of the result.",
)
SENT_TWICE: Final = Rule(
    "sent-twice",
    "method {method!r} sends {what} twice",
    "keep one of them, or add a second attribute",
    "Each attribute of a payload stands in one place of the request, and no two stand under one name.",
)
UNSENDABLE_TYPE: Final = Rule(
    "unsendable-type",
    "attribute {name!r} of method {method!r} is {type}, which cannot {place}",
    "{hint}",
    "Paths, headers and cookies hold single values and lists of them, a query and a form also objects of "
    "them; a text is one value, and a file is bytes or the URI of an artifact. JSON holds everything.",
)
UNKNOWN_KEYS: Final = Rule(
    "unknown-keys",
    "the payload of method {method!r} is {kind}, and HTTP sends only attributes",
    "{hint}",
    "Where a key stands in a request follows from the attribute that it is. Keys that no attribute names "
    "have no place, and would be lost.",
)
BAD_PARAMETER: Final = Rule(
    "bad-parameter",
    "{clause} of method {method!r} has the name {name!r}, which {fault}",
    "{hint}",
    "Names of headers and cookies are tokens (RFC 9110, 5.6.2). Headers that belong to the protocol, such as "
    "Content-Length, are sent by the client itself, and credentials by `Security`.",
)
BAD_STYLE: Final = Rule(
    "bad-style",
    "style {style!r} of {clause} {attribute!r} of method {method!r} {fault}",
    "{hint}",
    "Styles are those of OpenAPI: in the path `simple`, `label` and `matrix`, in the query `form`, "
    "`spaceDelimited` and `pipeDelimited` of lists, and `deepObject` of objects. `json` writes any value "
    "of a request as JSON text.",
)
BAD_BODY: Final = Rule(
    "bad-body",
    "Body of method {method!r} {fault}",
    "{hint}",
    "A body is JSON, a form, multipart with files, or one attribute as text or bytes. GET and HEAD have "
    "none.",
)
BAD_RESPONSE: Final = Rule(
    "bad-response",
    "Response {status} of method {method!r} {fault}",
    "{hint}",
    "Each status means one thing: the result, whose required attributes all come in the body or in headers, "
    "or an error that the method or its service declares.",
)
UNANSWERED_ERROR: Final = Rule(
    "unanswered-error",
    "no Response of method {method!r} means its error {name!r}",
    "{hint}",
    "The client raises a declared error for the statuses that mean it; one without a status is never raised. "
    "Errors of a service are for those of its methods that name them.",
)
BAD_PAGING: Final = Rule(
    "bad-paging",
    "Paging of method {method!r} {fault}",
    "{hint}",
    "Cursors are optional strings: the first page has none, and the last page no next one. With an offset or "
    "a page the client makes them of the number of items, with a link of the header Link.",
)
BAD_SECURITY: Final = Rule(
    "bad-security",
    "security scheme {name!r} {fault}",
    "{hint}",
    "A key has one place: a header, a query parameter or a cookie. A flow of OAuth 2 has the addresses that "
    "it needs, or that of metadata which has them. `header`, `query` and `body` of `Security` name places "
    "that have a key or a token.",
)
UNKNOWN_SCOPE: Final = Rule(
    "unknown-scope",
    "Security names the scope {scope!r}, which is no scope of {schemes}",
    "{hint}",
    "`scopes` are among those that an `OAuth2Security` beside them declares.",
)
UNUSED_SECURITY: Final = Rule(
    "unused-security",
    "{clause} of method {method!r} has no effect",
    "remove it, or add HTTP",
    "Credentials are for requests; a method that is a function, or that somebody implements, sends none.",
)
UNUSED_ANSWERS: Final = Rule(
    "unused-answers",
    "answers of service {service!r} has no effect: none of its methods has a transport",
    "remove it, or add HTTP or Functions",
    '`answers="lenient"` passes on what an API or a function answers. What somebody implements by hand is '
    "of the types of its method.",
)
BAD_FUNCTION: Final = Rule(
    "bad-function",
    "{clause} names {target!r}, which is not written {form}",
    "{hint}",
    "`Functions` names a module, `Function` a function of one after a colon: `rooms:reserve`, or a method of "
    "an object there, `rooms:desk.reserve`. The module is imported where the client is first used.",
)

TRANSPORT_CODES: Final = frozenset(rule.code for rule in list(globals().values()) if isinstance(rule, Rule))
"""The codes of this file."""
