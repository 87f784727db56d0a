"""Where an API answers: the servers of a document, of a path and of an operation, as clauses."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urljoin

from toolgen.contract.record import frozen_record
from toolgen.dsl.evaluation.transports.servers import is_address

from .clauses_layout import Call, Named, call, literal
from .openapi_document import listed, mapping, text

_VARIABLE: Final = re.compile(r"\{([^{}]*)\}")


@frozen_record
class ServerOptions:
    """What whoever imports says of servers."""

    url: str = ""
    """The address that counts instead of those of the document; relative ones are below it."""
    is_accepted: bool = False
    """Whether the addresses of the document are chosen, so that they may be private ones."""


def server_clauses(servers: object, options: ServerOptions, base: str = "") -> tuple[Call, ...]:
    """Return the clauses of a list of servers; () where none has an absolute address.

    `base` is the address of the document, to which relative ones are (OAS 3.2.0, 4.5.2).
    """
    listed_servers = listed(servers) or ([{"url": "/"}] if base else [])
    written = [_server(mapping(server), options, base) for server in listed_servers]
    clauses = {clause.flat: clause for clause in written if clause is not None}
    if not clauses and options.url:
        return (call("Server", literal(options.url.rstrip("/"))),)
    return tuple(clauses.values())


def _server(server: dict[str, object], options: ServerOptions, base: str) -> Call | None:
    url = text(server.get("url"))
    is_own = not re.match(r"(https?://|\{)", url, re.IGNORECASE)
    if options.url:
        url = urljoin(f"{options.url.rstrip('/')}/", url.lstrip("/")) if is_own else options.url
        server = server if is_own else {}
    elif is_own:
        url = urljoin(base, url)
    url = url.rstrip("/")
    variables = mapping(server.get("variables"))
    written, defaults = [], {}
    for name in dict.fromkeys(_VARIABLE.findall(url)):
        variable = mapping(variables.get(name))
        values = [str(value) for value in listed(variable.get("enum"))]
        default = str(variable.get("default", values[0] if values else ""))
        values = values if not values or default in values else [default, *values]
        defaults[name] = default
        written.append(
            call("Variable", literal(name), *map(literal, values), Named("default", literal(default)))
        )
    if not is_server(_VARIABLE.sub(lambda match: defaults[match[1]], url)):
        return None
    accepted = () if options.is_accepted or options.url else (Named("accepted", literal(False)),)
    return call("Server", literal(url), *written, *accepted)


def is_server(url: str) -> bool:
    """Return whether a text is an absolute address of http or https, without user, query and fragment."""
    return is_address(url) and not set("?{}").intersection(url)
