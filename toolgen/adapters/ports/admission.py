"""Admission at a port: which connection is closed for a newer one, and which request is refused.

This module uses no socket and no event loop: `connections.py` handles those, and `requests.py` handles ASGI.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal

from toolgen.contract.record import frozen_record


@frozen_record
class PortLimits:
    """Limits of a port. One place in twelve, and at least one, is reserved for connections without a request.

    Beyond the limits the oldest idle connection, which has no request, is closed. For a further request, the
    connection is closed that has waited for its client for longest: for a body, for an answer to a question,
    for reading of a response, or for the end of listening. If no connection waits, the request is refused. A
    request ends when its response has been read completely.
    """

    connections: int
    per_address: int
    """Maximum number of connections per address, except those with a request of an identity."""
    per_identity: int
    """Maximum number of connections with a request per identity, regardless of their addresses."""
    head_s: float
    """Seconds after which an idle connection is closed: from its start, or from the end of its last request,
    until the head of a request has arrived."""
    write_s: float
    """Seconds without progress after which a connection is closed while its peer does not read."""
    unsent_bytes: int
    """Maximum number of unsent bytes in total. Beyond it, the peer with the most unsent bytes loses the
    connection that has made no progress for longest; the newest bytes stay."""


@frozen_record(kw_only=False)
class Refused:
    """Refused request: 503 if the port has too many requests, 429 if its peer has too many."""

    status: Literal[429, 503]
    text: str


_TOO_MANY: Final = Refused(429, "you have too many open requests; try again later")


class ConnectionPlace:
    """Place of one connection at a port."""

    __slots__ = (
        "address",
        "admission",
        "answered",
        "close",
        "held_bytes",
        "idle_since",
        "is_evictable",
        "peer",
        "progress_at",
        "requests",
        "unsent",
        "unsent_bytes",
        "waits",
    )

    def __init__(
        self,
        admission: PortAdmission,
        address: str,
        close: Callable[[], None],
        unsent_bytes: Callable[[], int],
    ) -> None:
        self.admission = admission
        self.address = address
        self.peer: _Peer | None = None
        """Peer that the connection counts for: the address, or the identity of its request.

        None after it left.
        """
        self.close = close
        self.unsent_bytes = unsent_bytes
        """Returns the number of written bytes that the peer has not read."""
        self.held_bytes = 0
        """Bytes of messages that will be written after all earlier bytes were read."""
        self.requests = 0
        self.waits = 0
        """Number of open requests that wait for their client."""
        self.answered = 0
        """Number of requests whose response is written, but not read yet."""
        self.unsent = 0
        """Unsent bytes at `progress_at`, including held ones."""
        self.progress_at = 0.0
        self.idle_since = 0.0
        self.is_evictable = False
        """Whether the data that arrived with the connection was read.

        Before that, no newer connection closes it.
        """

    @property
    def unsent_now(self) -> int:
        """Number of bytes that the peer has not read."""
        return self.unsent_bytes() + self.held_bytes


@dataclass(slots=True, eq=False)
class _Peer:
    key: tuple[str, str]
    most: int
    """Maximum number of connections."""
    connections: int = 0
    requests: int = 0
    idle: dict[ConnectionPlace, None] = field(default_factory=dict)
    """Idle connections, oldest first."""


class PortAdmission:
    """Places of one port."""

    def __init__(self, limits: PortLimits, clock: Callable[[], float]) -> None:
        """Store the limits, and a monotonic clock in seconds."""
        self._limits = limits
        self._clock = clock
        self._peers: dict[tuple[str, str], _Peer] = {}
        self._idle: dict[ConnectionPlace, None] = {}
        self._waiting: dict[ConnectionPlace, None] = {}
        """Connections with a request that waits for its client, longest wait first."""
        self._writing: dict[ConnectionPlace, None] = {}
        """Connections with unsent bytes, oldest progress first."""
        self.connections = 0
        self.requests = 0
        self.unsent = 0
        """Unsent bytes when each connection was last checked."""

    def enter(
        self, address: str, close: Callable[[], None], unsent_bytes: Callable[[], int]
    ) -> ConnectionPlace:
        """Return the place of a new connection from an address, which `close` closes."""
        place = ConnectionPlace(self, peer_of(address), close, unsent_bytes)
        self._mark_idle(place)
        return place

    def evict_idle(self, place: ConnectionPlace) -> None:
        """Close the oldest idle connections beyond the limits, after the first data of this one was read."""
        place.is_evictable = True
        if (peer := place.peer) is not None:
            self._evict(peer.idle, lambda: peer.connections > peer.most)
        self._evict(self._idle, lambda: self.connections > self._limits.connections)

    def leave(self, place: ConnectionPlace) -> None:
        """Release the place of a closed connection; repeated calls have no effect."""
        if (peer := place.peer) is not None:
            self._mark_busy(place, peer)
            self._move(place, None)
            self._forget_unsent(place)

    def begin(self, place: ConnectionPlace) -> Refused | None:
        """Begin a request, unless it is refused; `end` ends it."""
        if (peer := place.peer) is not None:
            most = _without_heads(self._limits.connections)
            if self.requests >= most and not self._evict_waiting(place):
                return Refused(503, "the server has too many open requests; try again later")
            if peer.requests >= _without_heads(peer.most) and not self._evict_waiting(place, peer):
                return _TOO_MANY
            self._mark_busy(place, peer)
            self.requests += 1
            peer.requests += 1
        place.requests += 1
        return None

    def end(self, place: ConnectionPlace) -> None:
        """End a request as soon as its response has been read."""
        if place in self._writing:
            place.answered += 1
        else:
            self._end(place, 1)

    @contextmanager
    def waiting(self, place: ConnectionPlace) -> Iterator[None]:
        """Mark a request of a connection as waiting for its client for the duration of the context."""
        place.waits += 1
        self._mark_waiting(place)
        try:
            yield
        finally:
            place.waits -= 1
            self._mark_waiting(place)

    def write(self, place: ConnectionPlace) -> None:
        """Record that a connection has unsent bytes, until `written`."""
        if place.peer is not None:
            self._note_progress(place)
            self._mark_waiting(place)
            self._evict_unsent(place)

    def hold(self, place: ConnectionPlace, size: int) -> None:
        """Record that a message of `size` bytes waits until all earlier bytes have been read."""
        if place in self._writing:
            place.held_bytes += size
            place.unsent += size
            self.unsent += size
            self._evict_unsent(place)

    def written(self, place: ConnectionPlace) -> None:
        """End the requests whose responses were read, because the connection has no unsent bytes."""
        if place in self._writing:
            self._forget_unsent(place)
            answered, place.answered = place.answered, 0
            self._end(place, answered)

    def _end(self, place: ConnectionPlace, requests: int) -> None:
        place.requests -= requests
        if requests and (peer := place.peer) is not None:
            self.requests -= requests
            peer.requests -= requests
            if not place.requests:
                self._mark_idle(place)
                self.evict_idle(place)

    def assign(self, place: ConnectionPlace, identity: str) -> Refused | None:
        """Count a connection and its request for an identity, unless the identity has too many requests."""
        peer = self._peer(("identity", identity), self._limits.per_identity)
        if place.peer in (None, peer):
            return None
        if peer.requests >= peer.most and not self._evict_waiting(place, peer):
            return _TOO_MANY
        self._move(place, peer)
        return None

    def close_timed_out(self) -> float | None:
        """Close connections whose head is late, or whose peer does not read.

        Returns the time of the next check; None if there are no connections.
        """
        now = self._clock()
        due = now + min(self._limits.head_s, self._limits.write_s)
        while self._idle:
            oldest = next(iter(self._idle))
            if now < (late := oldest.idle_since + self._limits.head_s):
                due = min(due, late)
                break
            self._close(oldest)
        while self._writing:
            oldest = next(iter(self._writing))
            if now < (late := oldest.progress_at + self._limits.write_s):
                due = min(due, late)
                break
            if oldest.unsent_now >= oldest.unsent:
                self._close(oldest)
            else:
                self._note_progress(oldest)
        return due if self.connections else None

    def close_all(self) -> None:
        """Close the idle connections."""
        for place in tuple(self._idle):
            self._close(place)

    def _evict(self, idle: dict[ConnectionPlace, None], is_beyond: Callable[[], bool]) -> None:
        while is_beyond() and idle:
            oldest = next(iter(idle))
            if not oldest.is_evictable:
                return  # it can be closed after its first data was read
            self._close(oldest)

    def _evict_waiting(self, newer: ConnectionPlace, peer: _Peer | None = None) -> bool:
        """Close a waiting connection, if given of `peer`, for a newer one; return whether there was one."""
        for place in self._waiting:
            if place is not newer and peer in (None, place.peer):
                self._close(place)
                return True
        return False

    def _mark_waiting(self, place: ConnectionPlace) -> None:
        if place.peer is not None and (place.waits or place in self._writing):
            self._waiting.setdefault(place)
        else:
            self._waiting.pop(place, None)

    def _close(self, place: ConnectionPlace) -> None:
        self.leave(place)
        place.close()

    def _note_progress(self, place: ConnectionPlace) -> None:
        self._writing.pop(place, None)
        self._writing[place] = None
        self.unsent -= place.unsent
        place.unsent, place.progress_at = place.unsent_now, self._clock()
        self.unsent += place.unsent

    def _forget_unsent(self, place: ConnectionPlace) -> None:
        self._writing.pop(place, None)
        self.unsent -= place.unsent
        place.unsent = place.held_bytes = 0
        self._mark_waiting(place)

    def _evict_unsent(self, newest: ConnectionPlace) -> None:
        """Close connections until the unsent bytes are within the limit, or all belong to the newest one."""
        if self.unsent <= self._limits.unsent_bytes:
            return
        for place in tuple(self._writing):
            if place.unsent_now < place.unsent:
                self._note_progress(place)
        while self.unsent > self._limits.unsent_bytes and len(self._writing) > 1:
            others = [place for place in self._writing if place is not newest]
            unsent = Counter[_Peer | None]()
            for place in others:
                unsent[place.peer] += place.unsent
            [(most, _)] = unsent.most_common(1)
            self._close(next(place for place in others if place.peer is most))

    def _mark_idle(self, place: ConnectionPlace) -> None:
        """Count a connection without a request for its address."""
        peer = self._peer(("address", place.address), self._limits.per_address)
        self._move(place, peer)
        place.idle_since = self._clock()
        self._idle[place] = peer.idle[place] = None

    def _mark_busy(self, place: ConnectionPlace, peer: _Peer) -> None:
        self._idle.pop(place, None)
        peer.idle.pop(place, None)

    def _peer(self, key: tuple[str, str], most: int) -> _Peer:
        return self._peers.get(key) or _Peer(key, most)

    def _move(self, place: ConnectionPlace, peer: _Peer | None) -> None:
        """Count a connection and its requests for another peer, or for none."""
        before, place.peer = place.peer, peer
        for counted, sign in ((before, -1), (peer, 1)):
            if counted is not None:
                counted.connections += sign
                counted.requests += sign * place.requests
                self.connections += sign
                self.requests += sign * place.requests
                self._peers[counted.key] = counted
        if before is not None and not before.connections:
            del self._peers[before.key]


def _without_heads(connections: int) -> int:
    return max(1, connections - max(1, connections // 12))


def most_of_one(most: int, share: int, others: int) -> int:
    """Return how many of `most` places one peer can have while others hold some.

    A peer gets its share of what the others leave, and at least one place. Peers that take their maximum
    therefore leave places for the next one: with a share of a quarter, four of them leave a third.
    """
    return max(1, share * (most - others) // most)


def peer_of(address: str) -> str:
    """Return the peer of an address; for IPv6 its 64-bit network, all of which one machine can use."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address or "unknown"
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))
