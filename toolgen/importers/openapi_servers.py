"""The servers of a document, a path or an operation, as clauses."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urljoin

from toolgen.contract.record import frozen_record
from toolgen.dsl.evaluation.transports.servers import is_address

from .clauses_layout import ClauseCall, Named, call, literal
from .openapi_document import listed, mapping, text

_VARIABLE: Final = re.compile(r"\{([^{}]*)\}")


@frozen_record
class ServerOptions:
    """Import options for servers."""

    url: str = ""
    """URL that replaces those of the document; relative ones are appended to it."""
    is_accepted: bool = False
    """Whether the URLs of the document are trusted, so that they can be private."""


def server_clauses(servers: object, options: ServerOptions, base: str = "") -> tuple[ClauseCall, ...]:
    """Return the clauses of a list of servers: the absolute ones, otherwise the first without its host.

    `base` is the URL of the document, to which relative ones are resolved (OAS 3.2.0, 4.5.2).
    """
    server_objects = [mapping(server) for server in listed(servers)] or [{"url": "/"}]
    clauses = {clause.flat: clause for server in server_objects if (clause := _server(server, options, base))}
    if not clauses and options.url:
        return (call("Server", literal(options.url.rstrip("/"))),)
    return tuple(clauses.values()) or (_relative(server_objects[0]),)


def base_address(servers: object, options: ServerOptions, base: str = "") -> str:
    """Return the base of other relative URLs; "" if the first server has no absolute URL.

    For example, the URLs of security schemes are resolved to it (OAS 3.1.1, 4.6).
    """
    url = getattr(server_clauses(servers, options, base)[0].parts[0], "value", "")
    return str(url) if is_server(str(url)) else ""


def is_relative(server: ClauseCall) -> bool:
    """Return whether a server has no host, so that the user must provide it."""
    return server.flat.startswith('http.Server("/')


def _server(server: dict[str, object], options: ServerOptions, base: str) -> ClauseCall | None:
    url = text(server.get("url"))
    is_own = not re.match(r"(https?://|\{)", url, re.IGNORECASE)
    if options.url:
        url = urljoin(f"{options.url.rstrip('/')}/", url.lstrip("/")) if is_own else options.url
        server = server if is_own else {}
    elif is_own:
        url = urljoin(base, url)
    url = url.rstrip("/")
    written, defaults = _variables(url, server)
    if not is_server(_VARIABLE.sub(lambda match: defaults[match[1]], url)):
        return None
    accepted = () if options.is_accepted or options.url else (Named("accepted", literal(False)),)
    return call("Server", literal(url), *written, *accepted)


def _relative(server: dict[str, object]) -> ClauseCall:
    """Return the path of a server with an unknown host."""
    url = text(server.get("url"))
    path = "/" if re.match(r"[^/]*:|//", url) else f"/{url.lstrip('./')}".rstrip("/") or "/"
    written, defaults = _variables(path, server)
    is_path = is_server(f"https://x.example{_VARIABLE.sub(lambda match: defaults[match[1]], path)}")
    return call("Server", literal(path), *written) if is_path else call("Server", literal("/"))


def _variables(url: str, server: dict[str, object]) -> tuple[list[ClauseCall], dict[str, str]]:
    """Return the clauses of the variables in a URL, and their defaults."""
    written: list[ClauseCall] = []
    unfit = unfit_values(url, server)
    defaults = _defaults(url, server)
    for name, default in defaults.items():
        values = [text for value in _values(server, name) if (text := str(value)) not in unfit.get(name, ())]
        values = values if not values or default in values else [default, *values]
        written.append(
            call("Variable", literal(name), *map(literal, values), Named("default", literal(default)))
        )
    return written, defaults


def unfit_values(url: str, server: dict[str, object]) -> dict[str, list[str]]:
    """Return the values of variables that make a URL invalid, by variable."""
    defaults = _defaults(url, server)
    base = "" if re.match(r"[^/]*:|//|\{", url) else "https://x.example/"

    def fits(name: str, value: object) -> bool:
        values = {**defaults, name: value}
        is_value = isinstance(value, str | int | float) and not isinstance(value, bool)
        return is_value and is_server(base + _VARIABLE.sub(lambda match: str(values[match[1]]), url))

    unfit = {name: [str(each) for each in _values(server, name) if not fits(name, each)] for name in defaults}
    return {name: values for name, values in unfit.items() if values}


def _defaults(url: str, server: dict[str, object]) -> dict[str, str]:
    """Return the defaults of the variables in a URL."""
    variables = mapping(server.get("variables"))
    return {
        name: str(mapping(variables.get(name)).get("default", next(iter(_values(server, name)), "")))
        for name in _VARIABLE.findall(url)
    }


def _values(server: dict[str, object], name: str) -> list[object]:
    """Return the allowed values of a variable; empty if any value is allowed."""
    return listed(mapping(mapping(server.get("variables")).get(name)).get("enum"))


def is_server(url: str) -> bool:
    """Return whether a text is an absolute http or https URL without user, query and fragment."""
    return is_address(url) and not set("?{}").intersection(url)
