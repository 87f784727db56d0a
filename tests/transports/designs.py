"""Small designs of services with a transport, and what `build` makes of them."""

from __future__ import annotations

from typing import Any as Anything

from tests.checked import built, only
from toolgen.contract import transport
from toolgen.dsl import ArrayOf, Attribute, Int, Method, Object, Payload, Service, String, Type
from toolgen.dsl.http import APIKeySecurity, Server
from toolgen.dsl.services import ServiceChild
from toolgen.dsl.structure import MethodChild

SERVER = Server("https://books.example/v1")

BOOK = Type("Book", "A book.", Attribute("title", String, "Title.", required=True))

ID = Attribute("id", Int, "Number.", required=True)

LINE = Object(Attribute("line", ArrayOf(Int), "Numbers."))

FLAT = Object(Attribute("low", Int, "From."), Attribute("high", Int, "To."))

KEY = APIKeySecurity("library_key", "Key of the library.", header="X-Api-Key")

KEY_SCHEME = transport.SecurityScheme(
    name="library_key", kind="api_key", description="Key of the library.", place="header", key="X-Api-Key"
)


def serving(*children: MethodChild, service: tuple[ServiceChild, ...] = ()) -> Service:
    return Service("Books", "Books.", SERVER, *service, Method("find", "Find.", *children))


def sent(*children: MethodChild, service: tuple[ServiceChild, ...] = ()) -> transport.HTTP:
    """Return the transport of the one method of a service."""
    found = built(serving(*children, service=service)).services[0].methods[0].transport
    assert isinstance(found, transport.HTTP)
    return found


def wrong(*children: MethodChild, service: tuple[ServiceChild, ...] = ()) -> tuple[str, str, str]:
    """Return code, message and hint of the one thing that is wrong with the method `find`."""
    found = only(serving(*children, service=service))
    return found.code, found.message, found.hint


def attributes(*names: str) -> Payload:
    return Payload(*(Attribute(name, String, "One.", required=True) for name in names))


def one(type_: Anything, name: str = "a", **facts: Anything) -> Payload:
    return Payload(Attribute(name, type_, "One.", **facts))
