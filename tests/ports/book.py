"""The admission of a port without sockets, by the names of its clients."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from toolgen.adapters.ports.admission import ConnectionPlace, PortAdmission, PortLimits, Refused


def limits(**given: int) -> PortLimits:
    """Return limits of 100 connections, or others."""
    of_100 = {"connections": 100, "per_address": 100, "per_identity": 100, "unsent_bytes": 1_000}
    return PortLimits(**{**of_100, **given}, head_s=60, write_s=60)


@dataclass
class Client:
    """A connection without a socket."""

    place: ConnectionPlace
    buffer: int = 0
    is_closed: bool = False


class Book:
    """The admission of a port, and its clients by name."""

    def __init__(self, **given: int) -> None:
        self.admission = PortAdmission(limits(**given), lambda: 0.0)
        self.clients: dict[str, Client] = {}
        self._stack = ExitStack()

    def connect(self, name: str, identity: str) -> Refused | None:
        """Open a connection with a request of an identity; return why that is refused."""

        def close() -> None:
            self.clients[name].is_closed = True

        place = self.admission.enter(identity, close, lambda: self.clients[name].buffer)
        self.clients[name] = Client(place)
        return self.admission.begin(place) or self.admission.assign(place, identity)

    def wait(self, name: str) -> None:
        """Let the request of a client wait for it."""
        self._stack.enter_context(self.admission.waiting(self.clients[name].place))

    def write(self, name: str, size: int) -> None:
        self.clients[name].buffer = size
        self.admission.write(self.clients[name].place)

    @property
    def closed(self) -> list[str]:
        return [name for name, client in self.clients.items() if client.is_closed]
