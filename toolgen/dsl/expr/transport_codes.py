"""The diagnostics of transports of services; rows of the table in `codes`."""

from __future__ import annotations

from typing import Final

from .rule import Rule

BAD_SERVER: Final = Rule(
    "bad-server",
    "Server {url!r} of service {service!r} {fault}",
    "{hint}",
    "A server is an absolute http or https URL without a query, a fragment or a password. Names in "
    "braces are its variables, each with a default that is one of its values.",
)
NO_SERVER: Final = Rule(
    "no-server",
    "method {method!r} has HTTP, but service {service!r} has no Server",
    'add Server("https://…") to the service',
    "Requests go to a server that the design names: the first one, unless the host chooses another.",
)
TWO_TRANSPORTS: Final = Rule(
    "two-transports",
    "method {method!r} has both HTTP and Function",
    "remove one of them",
    "A method is called in one way: with `HTTP`, or with `Function` if the `Functions` of the service "
    "does not fit.",
)
BAD_PATH: Final = Rule(
    "bad-path",
    "path {path!r} of method {method!r} {fault}",
    "{hint}",
    "The path begins with a slash and follows the address of the server. A name in braces is an "
    "attribute of the payload; parameters of the query are written as `Param`.",
)
UNFILLED_VARIABLE: Final = Rule(
    "unfilled-variable",
    "{fault} the path variable {name!r} of method {method!r}",
    "{hint}",
    "The attribute with the name of a path variable fills it, or the one that a `Param` with that name "
    "refers to. It must be required or have a default.",
)
UNKNOWN_ATTRIBUTE: Final = Rule(
    "unknown-attribute",
    "{clause} of method {method!r} names {name!r}, which is not an attribute of its {where}",
    "{hint}",
    "`Param`, `Header`, `Cookie`, `Body` and `File` name attributes of the payload, and in a `Response` "
    "attributes of the result.",
)
SENT_TWICE: Final = Rule(
    "sent-twice",
    "method {method!r} sends {what} twice",
    "keep one of them, or add a second attribute",
    "Each attribute of a payload is sent in one place of the request, and no two have the same name there.",
)
UNSENDABLE_TYPE: Final = Rule(
    "unsendable-type",
    "attribute {name!r} of method {method!r} is {type}, which cannot {place}",
    "{hint}",
    "Paths, headers and cookies can contain single values and lists of them, a query and a form also "
    "objects of them. A text is one value, and a file is bytes or the URI of an artifact. JSON can "
    "contain everything.",
)
UNKNOWN_KEYS: Final = Rule(
    "unknown-keys",
    "the payload of method {method!r} is {kind}, but HTTP sends only attributes",
    "{hint}",
    "The attribute determines where a value is sent in the request. Keys that no attribute names have "
    "no place there and would be lost.",
)
BAD_PARAMETER: Final = Rule(
    "bad-parameter",
    "{clause} of method {method!r} has the name {name!r}, which {fault}",
    "{hint}",
    "Names of headers and cookies are tokens (RFC 9110, 5.6.2). The client sends headers of the "
    "protocol, such as Content-Length, itself, and credentials come from `Security`.",
)
BAD_STYLE: Final = Rule(
    "bad-style",
    "style {style!r} of {clause} {attribute!r} of method {method!r} {fault}",
    "{hint}",
    "Styles follow OpenAPI: `simple`, `label` and `matrix` in the path; `form`, `spaceDelimited` and "
    "`pipeDelimited` for lists and `deepObject` for objects in the query. `json` sends any value of a "
    "request as JSON text.",
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
    "Each status means one thing: the result, whose required attributes all come from the body or from "
    "headers, or an error that the method or its service declares.",
)
UNANSWERED_ERROR: Final = Rule(
    "unanswered-error",
    "no Response of method {method!r} is mapped to its error {name!r}",
    "{hint}",
    "The client raises a declared error for the status codes that are mapped to it, and never raises "
    "one without a status. An error of a service applies to those of its methods that map it.",
)
BAD_PAGING: Final = Rule(
    "bad-paging",
    "Paging of method {method!r} {fault}",
    "{hint}",
    "Cursors are optional strings: the first request has none, and the last page has no next one. For "
    "an offset or a page, the client counts items; for a link, it reads the header Link.",
)
BAD_SECURITY: Final = Rule(
    "bad-security",
    "security scheme {name!r} {fault}",
    "{hint}",
    "A key has one place: a header, a query parameter or a cookie. An OAuth 2 flow has the URLs that it "
    "needs, or the URL of metadata that contains them. `header`, `query` and `body` of `Security` name "
    "further places for a key or a token.",
)
UNKNOWN_SCOPE: Final = Rule(
    "unknown-scope",
    "Security names the scope {scope!r}, which is not a scope of {schemes}",
    "{hint}",
    "`scopes` must be scopes that an `OAuth2Security` in the same clause declares.",
)
UNUSED_SECURITY: Final = Rule(
    "unused-security",
    "{clause} of method {method!r} has no effect",
    "remove it, or add HTTP",
    "Only requests send credentials. A method that is a function, or that you implement, sends none.",
)
UNUSED_ANSWERS: Final = Rule(
    "unused-answers",
    "answers of service {service!r} has no effect: none of its methods has a transport",
    "remove it, or add HTTP or Functions",
    '`answers="lenient"` passes on responses of an API or a function. A method that you implement '
    "returns values of its own types.",
)
BAD_FUNCTION: Final = Rule(
    "bad-function",
    "{clause} names {target!r}, which does not have the form {form}",
    "{hint}",
    "`Functions` names a module, and `Function` a function in a module after a colon: `rooms:reserve`, "
    "or a method of an object there, `rooms:desk.reserve`. The module is imported when the client is "
    "first used.",
)

TRANSPORT_CODES: Final = frozenset(rule.code for rule in list(globals().values()) if isinstance(rule, Rule))
"""The codes of this file."""
