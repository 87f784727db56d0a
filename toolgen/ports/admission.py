"""The places of a port: which connection is closed for a newer one, and which request is refused.

It knows no socket and no event loop: `connections.py` is for those, and `requests.py` for ASGI.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class PortLimits:
    """How many connections and requests a port has at once."""

    connections: int
    """Beyond them the oldest idle one is closed; idle is a connection without a request."""
    connections_per_peer: int
    """Open at once of one address, or of one identity once a request was found to be of it."""
    requests: int
    """A further one is refused with 503; fewer than the connections, so that there are places to say so."""
    requests_per_peer: int
    """A further one is refused with 429."""
    head_s: float
    """Seconds that a connection is idle before it is closed: from its beginning, or the end of its last
    request, until the head of a request has come."""

    @classmethod
    def of(cls, connections: int, connections_per_peer: int, head_s: float) -> Self:
        """Return limits that leave one in twelve connections to heads, and one at least."""
        return cls(
            connections=connections,
            connections_per_peer=connections_per_peer,
            requests=max(1, connections - max(1, connections // 12)),
            requests_per_peer=max(1, connections_per_peer - max(1, connections_per_peer // 12)),
            head_s=head_s,
        )


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a request is not admitted."""

    status: Literal[429, 503]
    text: str


class Place:
    """The place of one connection at a port."""

    __slots__ = ("admission", "close", "idle_since", "is_settled", "peer", "requests")

    def __init__(self, admission: Admission, peer: str, close: Callable[[], None]) -> None:
        self.admission = admission
        self.peer = peer
        """The address or the identity that it counts for; empty once it was left."""
        self.close = close
        self.requests = 0
        self.idle_since = 0.0
        self.is_settled = False
        """Whether what came with the connection was read; before that no newer one closes it."""


@dataclass(slots=True)
class _Peer:
    connections: int = 0
    requests: int = 0
    idle: dict[Place, None] = field(default_factory=dict)
    """The oldest first."""


class Admission:
    """The places of one port."""

    def __init__(self, limits: PortLimits, clock: Callable[[], float]) -> None:
        """Take the limits, and a clock that returns seconds and never goes back."""
        self._limits = limits
        self._clock = clock
        self._peers: dict[str, _Peer] = {}
        self._idle: dict[Place, None] = {}
        self.connections = 0
        self.requests = 0

    def enter(self, peer: str, close: Callable[[], None]) -> Place:
        """Return the place of a new connection, which `close` closes."""
        place = Place(self, peer, close)
        self._count(place, connections=1)
        self._rest(place)
        return place

    def settle(self, place: Place) -> None:
        """Close the oldest idle connections beyond the limits, now that what came with this one was read."""
        place.is_settled = True
        if (peer := self._peers.get(place.peer)) is not None:
            self._close_beyond(peer.idle, lambda: peer.connections > self._limits.connections_per_peer)
        self._close_beyond(self._idle, lambda: self.connections > self._limits.connections)

    def leave(self, place: Place) -> None:
        """Give the place of a connection back that is closed; once more does nothing."""
        if place.peer:
            self._stir(place)
            self._count(place, connections=-1, requests=-place.requests)
            place.peer = ""

    def begin(self, place: Place) -> Refused | None:
        """Begin a request, unless it is refused; `end` ends it."""
        if self.requests >= self._limits.requests:
            return Refused(503, "the server has too many requests; try again later")
        if self._has_most_requests(place.peer):
            return Refused(429, "you have too many requests; try again later")
        if place.peer:
            self._stir(place)
            self._count(place, requests=1)
        place.requests += 1
        return None

    def end(self, place: Place) -> None:
        """End a request that has begun."""
        place.requests -= 1
        if place.peer:
            self._count(place, requests=-1)
            if not place.requests:
                self._rest(place)

    def assign(self, place: Place, identity: str) -> Refused | None:
        """Count a connection and its request for an identity, unless that has too many requests."""
        if place.peer in ("", identity):
            return None
        if self._has_most_requests(identity):
            return Refused(429, "you have too many requests; try again later")
        self._count(place, connections=-1, requests=-place.requests)
        place.peer = identity
        self._count(place, connections=1, requests=place.requests)
        self.settle(place)
        return None

    def close_late(self) -> float | None:
        """Close connections whose head is late; return when the next may be, None where there are none."""
        now = self._clock()
        while self._idle:
            oldest = next(iter(self._idle))
            if now < (due := oldest.idle_since + self._limits.head_s):
                return due
            self._close(oldest)
        return now + self._limits.head_s if self.connections else None

    def close_all(self) -> None:
        """Close the idle connections."""
        for place in tuple(self._idle):
            self._close(place)

    def _has_most_requests(self, name: str) -> bool:
        peer = self._peers.get(name)
        return peer is not None and peer.requests >= self._limits.requests_per_peer

    def _close_beyond(self, idle: dict[Place, None], is_beyond: Callable[[], bool]) -> None:
        while is_beyond() and idle:
            oldest = next(iter(idle))
            if not oldest.is_settled:
                return  # it is closed when it is settled
            self._close(oldest)

    def _close(self, place: Place) -> None:
        self.leave(place)
        place.close()

    def _rest(self, place: Place) -> None:
        place.idle_since = self._clock()
        self._idle[place] = None
        self._peers[place.peer].idle[place] = None

    def _stir(self, place: Place) -> None:
        self._idle.pop(place, None)
        self._peers[place.peer].idle.pop(place, None)

    def _count(self, place: Place, *, connections: int = 0, requests: int = 0) -> None:
        peer = self._peers.setdefault(place.peer, _Peer())
        peer.connections += connections
        peer.requests += requests
        self.connections += connections
        self.requests += requests
        if not peer.connections:
            del self._peers[place.peer]


def peer_of(address: str) -> str:
    """Return the peer of an address; with IPv6 its network of 64 bits, of which one machine may have all."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address or "unknown"
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))
