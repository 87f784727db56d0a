"""Connections of a port, which sit between a socket and the protocol that serves it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from .admission import ConnectionPlace, PortAdmission, PortLimits

Serve: TypeAlias = Callable[[ConnectionPlace], asyncio.Protocol]
"""Returns the protocol that serves the connection of a place."""


class Port:
    """Admission of one port of an event loop; `connection` is its protocol factory."""

    def __init__(self, limits: PortLimits, loop: asyncio.AbstractEventLoop) -> None:
        self.admission = PortAdmission(limits, loop.time)
        self.loop = loop
        self._has_timer = False

    def connection(self, serve: Serve) -> asyncio.Protocol:
        """Return the protocol for a future connection, which `serve` serves."""
        return _Connection(self, serve)

    def check_timeouts(self) -> None:
        """Close late connections now, and repeat the check while there are connections."""
        if not self._has_timer:
            self._check_timeouts()

    def _check_timeouts(self) -> None:
        due = self.admission.close_timed_out()
        self._has_timer = due is not None
        if due is not None:
            self.loop.call_at(due, self._check_timeouts)


class _Connection(asyncio.Protocol):
    """Forwards all events to the serving protocol."""

    def __init__(self, port: Port, serve: Serve) -> None:
        self._port = port
        self._serve = serve
        self._place: ConnectionPlace
        self._inner: asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        address = transport.get_extra_info("peername")
        host = str(address[0]) if isinstance(address, tuple) else ""
        self._place = self._port.admission.enter(host, transport.abort, transport.get_write_buffer_size)
        transport.set_write_buffer_limits(high=0)  # reports every unsent byte, and when there is none
        self._inner = self._serve(self._place)
        self._inner.connection_made(transport)
        self._port.check_timeouts()
        # Its first data is read in the next turn of the loop; the turn after that evicts idle connections.
        self._port.loop.call_soon(self._port.loop.call_soon, self._port.admission.evict_idle, self._place)

    def data_received(self, data: bytes) -> None:
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        self._port.admission.write(self._place)
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._port.admission.written(self._place)
        self._inner.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._port.admission.leave(self._place)
        self._inner.connection_lost(exc)


def at_most_half_of_files(connections: int) -> int:
    """Return `connections`, or half of the process's limit of open files if that is fewer.

    Without a free descriptor a process can neither accept connections nor open files.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return connections
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return connections if soft == resource.RLIM_INFINITY else min(connections, max(2, soft // 2))
