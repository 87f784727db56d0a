"""Servers of services: their addresses, and the variables in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from toolgen.contract.transport import VARIABLE
from toolgen.contract.transport import Server as CheckedServer
from toolgen.contract.transport import Variable as CheckedVariable

from ...expr import codes
from ...http import Server, Variable
from ...services import Service
from ..checks.names import Unique
from ..clause_lookup import clauses_of_kind
from ..report import Report, listed, suggestion

_EXAMPLE: Final = 'write a URL such as "https://api.example.org/v1"'


def servers_of(service: Service, report: Report) -> tuple[CheckedServer, ...]:
    """Return the servers of a service in their order; report mistakes."""
    servers = []
    for clause in clauses_of_kind(service.children, Server):
        for fault, hint in dict.fromkeys(_faults(clause)):
            report.add(
                codes.BAD_SERVER,
                clause.source,
                url=clause.url,
                service=service.name,
                fault=fault,
                hint=hint,
            )
        unique = Unique(report, f"Server {clause.url!r}")
        variables = [
            each
            for each in clauses_of_kind(clause.children, Variable)
            if unique.add("variable", each.name, each.source)
        ]
        servers.append(
            CheckedServer(
                clause.url,
                tuple(
                    CheckedVariable(name=each.name, default=each.default, values=tuple(each.values))
                    for each in variables
                ),
                clause.accepted,
            )
        )
    return tuple(servers)


def _faults(server: Server) -> Iterator[tuple[str, str]]:
    """Yield the faults of an address and its variables, each with its hint."""
    variables = {each.name: each for each in clauses_of_kind(server.children, Variable)}
    named = VARIABLE.findall(server.url)
    for name in named:
        if name not in variables:
            yield (
                f"names {name!r}, but has no such Variable",
                suggestion(name, variables, f'add Variable("{name}", default="…")'),
            )
    is_known = all(name in variables for name in named)
    for name, variable in variables.items():
        if is_known and name not in named:
            yield f"does not use its Variable {name!r}", f"write {{{name}}} in the URL, or remove it"
        if variable.values and variable.default not in variable.values:
            fault = f"has the default {variable.default!r} for {name!r}, which is not one of its values"
            yield fault, f"write one of {listed(variable.values)}"
    if is_known:
        for url in _addresses(server.url, variables):
            yield from _address_faults(url)


def _addresses(url: str, variables: dict[str, Variable]) -> Iterator[str]:
    """Yield the address with the defaults, and with each other value of each variable."""
    defaults = {name: variable.default for name, variable in variables.items()}
    yield _filled(url, defaults)
    for name, variable in variables.items():
        for value in variable.values:
            yield _filled(url, {**defaults, name: value})


def _filled(url: str, values: dict[str, str]) -> str:
    return VARIABLE.sub(lambda match: values[match[1]], url)


def _address_faults(url: str) -> Iterator[tuple[str, str]]:
    if "{" in url or "}" in url:
        yield "has an unpaired brace", "write {name} for a variable"
        return
    if url.startswith("/") and not url.startswith("//"):
        url = f"https://host.example{url}"  # a path on a server that the host sets
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or not is_plain(url):
        yield "is not an absolute http or https URL", _EXAMPLE
        return
    if parts.query or parts.fragment or url.endswith(("?", "#")):
        yield "has a query or a fragment", "send query parameters as attributes, with Param"
    if "@" in parts.netloc:
        yield (
            "has a user or a password",
            "write Security(BasicSecurity(…)); a design must not contain credentials",
        )


def is_plain(text: str) -> bool:
    """Return whether an address can contain a text: it has no spaces, controls or other scripts."""
    return text.isascii() and text.isprintable() and " " not in text and "\\" not in text


def is_address(url: str) -> bool:
    """Return whether a text is an absolute http or https address without a user and a fragment."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    is_http = parts.scheme in ("http", "https") and bool(host)
    return is_http and is_plain(url) and "@" not in parts.netloc and "#" not in url
