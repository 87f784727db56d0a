"""Streamable HTTP: an ASGI application with limits, and a process that serves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Final

from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp

from toolgen.contract.errors import ToolgenError
from toolgen.contract.loopback import LOOPBACK_NAMES, is_loopback
from toolgen.contract.record import frozen_record

from ...ports.admission import PortLimits
from ...ports.connections import at_most_half_of_files
from ...ports.http_requests import BodyDeadline, OwnNames
from ...ports.http_server import serve_app
from ...ports.requests import AdmittedRequests
from ..scanning import message_limits
from .admission import BearerAuth, Verify
from .admitted_calls import AdmittedCalls
from .mcp_server import MCPServer
from .sessions import OwnedSessions, StartedSessions

_PERIODS: Final = ("head_s", "body_s", "write_s", "session_idle_s")
"""Options of `HttpOptions` in seconds that must be positive."""


@frozen_record
class HttpOptions:
    """Limits of a server over HTTP."""

    path: str = "/mcp"
    hosts: tuple[str, ...] = ()
    """Host names that `Host` and `Origin` headers must contain; by default loopback."""
    max_body_bytes: int = 4 * 2**20
    """Maximum size of a request body in bytes; a larger one is refused with 413."""
    head_s: float = 10.0
    """Seconds within which the head of a request must arrive (`serve_http`).

    Otherwise the connection is closed.
    """
    body_s: float = 30.0
    """Seconds within which the body of a request must arrive; otherwise the request is refused with 408."""
    write_s: float = 60.0
    """Seconds without progress after which a connection is closed while its client does not read a pending
    response (`serve_http`). A client that keeps reading has no limit for a response."""
    max_unsent_bytes: int = 64 * 2**20
    """Maximum number of unsent response bytes in total (`serve_http`). Beyond it, the peer with the most
    unsent bytes loses the connection that has made no progress for longest; the last response stays."""
    max_sessions: int = 1_000
    """Maximum number of open sessions of MCP through 2025-11-25. A further one closes an idle one, first the
    oldest that was never used, and is refused with 503 if none is idle. A stream by which a client listens
    does not count as use, and neither does a question to the client."""
    max_sessions_per_owner: int = 100
    """Maximum number of sessions per verified identity.

    A further one closes an idle one of the same identity.
    """
    session_idle_s: float = 1_800.0
    """Seconds after which a session without requests is closed."""
    max_calls: int = 100
    """Maximum number of concurrently executed calls; a further one is refused with 429."""
    max_calls_per_owner: int | None = None
    """Maximum number of calls per verified identity.

    By default a quarter of `max_calls`, and at least one.
    """
    max_connections: int | None = None
    """Maximum number of open connections. A further one closes the oldest connection without a request
    (`serve_http`), which ends when its response has been read. The default is the number of sessions and
    calls plus 100, but at most half of the files that the process can open. One in twelve is reserved for
    heads: a request beyond the others is refused with 503."""
    max_connections_per_peer: int | None = None
    """Maximum number of connections with a request per identity, and without a request per address, except
    for loopback addresses. A further request is refused with 429. By default a quarter of the connections."""
    drain_s: float = 30.0
    """Seconds for running calls to end when the process is asked to stop; then they are cancelled."""

    def __post_init__(self) -> None:
        """Refuse limits that admit nothing, and negative ones.

        Raises:
            ValueError: A limit is out of its range.
        """
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name.startswith("max_") and value is not None and not value >= 1:
                raise ValueError(f"HttpOptions({option.name}={value}); it must be at least 1")
        for name in _PERIODS:
            if not (seconds := getattr(self, name)) > 0:
                raise ValueError(f"HttpOptions({name}={seconds}); it must be more than 0")
        if not self.drain_s >= 0:
            raise ValueError(f"HttpOptions(drain_s={self.drain_s}); it must be at least 0")


def http_app(
    served: MCPServer, *, verify: Verify | None = None, options: HttpOptions | None = None
) -> Starlette:
    """Return an ASGI application that serves at `options.path`.

    It starts with its lifespan, or, mounted in another application, with the first request.

    Args:
        served: Server to serve.
        verify: Returns the call facts of a bearer token; without it every request is admitted.
        options: Limits and host names.
    """
    return _limited_app(served, verify, options or HttpOptions())[0]


async def serve_http(
    served: MCPServer,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    verify: Verify | None = None,
    options: HttpOptions | None = None,
    on_ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until the process gets SIGINT or SIGTERM; then finish running calls, and accept no new ones.

    Args:
        served: Server to serve.
        host: Address to listen on.
        port: Port to listen on; 0 for any free port.
        verify: See `http_app`.
        options: See `http_app`.
        on_ready: Called with the URL when the server accepts requests.

    Raises:
        ToolgenError: The server is reachable from other machines without a token verifier or host names, or
            the address cannot be used.
    """
    options = _reachable(host, verify, options or HttpOptions())
    app, calls = _limited_app(served, verify, options)

    async def close() -> None:
        served.end_streams()
        await calls.drain(options.drain_s)

    await serve_app(
        app,
        host,
        port,
        _limits(host, options),
        close=close,
        on_ready=lambda url: on_ready(f"{url}{options.path}"),
    )


def _limits(host: str, options: HttpOptions) -> PortLimits:
    """Return the limits of a port; on loopback all clients share one address, also behind a proxy."""
    wanted = options.max_connections
    if wanted is None:
        wanted = options.max_sessions + options.max_calls + 100
    connections = at_most_half_of_files(wanted)
    share = options.max_connections_per_peer
    if share is None:
        share = max(1, connections // 4)
    return PortLimits(
        connections=connections,
        per_address=connections if is_loopback(host) else share,
        per_identity=share,
        head_s=options.head_s,
        write_s=options.write_s,
        unsent_bytes=options.max_unsent_bytes,
    )


def _limited_app(
    served: MCPServer, verify: Verify | None, options: HttpOptions
) -> tuple[Starlette, AdmittedCalls]:
    make = partial(
        OwnedSessions,
        served.sdk,
        options.max_sessions_per_owner,
        session_idle_timeout=options.session_idle_s,
        max_request_body_size=options.max_body_bytes,
        max_sessions=options.max_sessions,
    )
    sessions = StartedSessions(make)
    share = max(1, options.max_calls // 4)
    if options.max_calls_per_owner is not None:
        share = options.max_calls_per_owner
    limits = message_limits(served.limits, options.max_body_bytes)
    calls = AdmittedCalls(sessions, served.executing, limits, options.max_calls, share)
    endpoint: ASGIApp = RequestBodyLimitMiddleware(calls, options.max_body_bytes)
    endpoint = BodyDeadline(endpoint, options.body_s)
    if verify is not None:
        endpoint = BearerAuth(endpoint, verify)
    endpoint = AdmittedRequests(OwnNames(endpoint, options.hosts or LOOPBACK_NAMES))
    paths = dict.fromkeys((options.path, f"{options.path.rstrip('/')}/"))
    routes = [Route(path, endpoint=endpoint) for path in paths]
    app = Starlette(routes=routes, lifespan=sessions.lifespan)
    app.router.redirect_slashes = False  # redirects would skip the Host check
    return app, calls


def _reachable(host: str, verify: Verify | None, options: HttpOptions) -> HttpOptions:
    """Return the options with the host names under which clients reach an address.

    Raises:
        ToolgenError: See `serve_http`.
    """
    if is_loopback(host):
        return options
    if verify is None:
        raise ToolgenError(
            f"{host} is reachable from other machines, but no verifier authenticates callers",
            hint="pass a verifier of bearer tokens (--verify MODULE:FUNCTION), or listen on 127.0.0.1",
        )
    if not options.hosts:
        raise ToolgenError(
            f"no host name is set under which clients reach {host}",
            hint="pass the host name of the URL that clients use: --host tools.example.com",
        )
    return options
