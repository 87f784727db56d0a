"""Servers, their connections and credentials.

Credentials can be a function of the call's `CallMeta`. Calls with equal credentials share a connection, and
no other call uses it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TextIO, TypeAlias

import httpx2
from mcp.client.streamable_http import streamable_http_client

from toolgen.contract.json_value import Json, compact
from toolgen.contract.loopback import is_loopback
from toolgen.contract.record import frozen_record
from toolgen.contract.response_limits import limit_client_heads
from toolgen.contract.tasks import awaited
from toolgen.runtime import CallMeta, RegistrationError

from .errors import InsecureServerError, MCPServerError, shortened
from .http import check_response, keep_logs_clean, plain_url
from .intake import Intake
from .measured_http import measured_by
from .messages import LONGEST_MESSAGE
from .stdio import stdio_streams

Credentials: TypeAlias = Mapping[str, str]
"""HTTP headers, or environment variables of a process."""

CredentialsOf: TypeAlias = Callable[[CallMeta], Credentials | Awaitable[Credentials]]

Streams: TypeAlias = tuple[Any, Any]
"""Streams from which the SDK reads messages and to which it writes them."""

_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")
_CONNECT_S: Final = 30.0
_READ_S: Final = 300.0
"""Read timeout, which equals the SDK's own limit: a server can hold a response open while it works."""
_certificates: Final = cache(httpx2.create_ssl_context)
"""Returns the certificates that TLS trusts; reading them takes longer than a request."""


@frozen_record(kw_only=False)
class StdioServer:
    """A server that is started as a process and communicates over its standard input and output.

    It gets `env` and the few environment variables that the SDK considers harmless, for example `PATH` and
    `HOME`.

    Raises:
        RegistrationError: The arguments are a single string, or the command is missing.
    """

    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Credentials | CredentialsOf = field(default_factory=dict, repr=False)
    """Further variables. A function of the call returns secrets of its user, who gets a process."""
    cwd: str | Path | None = None
    errlog: TextIO | None = field(default=None, repr=False)
    """Receives the standard error of the process; None means the standard error of this process."""

    def __post_init__(self) -> None:
        options: tuple[object, object] = self.command, self.args
        if not isinstance(options[0], str) or not options[0] or isinstance(options[1], str):
            raise RegistrationError(
                "a StdioServer takes the program and a tuple of its arguments",
                hint="write StdioServer('python', ('-m', 'mcp_server_git'))",
            )

    @property
    def address(self) -> str:
        """Server name in messages to people."""
        return self.command

    async def credentials(self, meta: CallMeta) -> Credentials:
        return await _credentials(self.env, meta)

    @asynccontextmanager
    async def connected(self, credentials: Credentials, intake: Intake) -> AsyncIterator[Streams]:
        """Start the process; at the end close its input, then kill its process group."""
        errlog = self.errlog or _standard_error()
        async with stdio_streams(self.command, self.args, credentials, self.cwd, errlog, intake) as streams:
            yield streams


@frozen_record(kw_only=False)
class HttpServer:
    """A server that is reached over streamable HTTP.

    Raises:
        RegistrationError: The URL is not the address of a server.
        InsecureServerError: Credentials would be sent over plain HTTP to another machine.
    """

    url: str = field(repr=False)
    headers: Credentials | CredentialsOf = field(default_factory=dict, repr=False)
    """Headers of each request. A function of the call returns those of its user, who gets a session."""
    bearer: Callable[[CallMeta], str | Awaitable[str]] | None = field(default=None, repr=False)
    """Returns the token for the header `Authorization: Bearer`."""
    allow_insecure: bool = field(default=False, repr=False, kw_only=True)
    """Whether credentials may be sent over plain HTTP to another machine, where others can read them."""

    def __post_init__(self) -> None:
        url = _web_address(self.url)
        has_credentials = bool(callable(self.headers) or self.headers or self.bearer or url.userinfo)
        if has_credentials and url.scheme != "https" and not (self.allow_insecure or is_loopback(url.host)):
            raise InsecureServerError(
                f"credentials would be sent to {shortened(self.address)} without encryption",
                hint="write https://, or permit it with allow_insecure=True (--allow-insecure)",
            )

    @property
    def address(self) -> str:
        """Server URL in messages to people: without user, password, query and fragment."""
        return plain_url(self.url)

    async def credentials(self, meta: CallMeta) -> Credentials:
        """Return the headers of each request.

        Raises:
            MCPServerError: A header cannot be sent; its value is not shown.
        """
        headers = dict(await _credentials(self.headers, meta))
        if self.bearer is not None:
            headers["Authorization"] = f"Bearer {await awaited(self.bearer(meta))}"
        for name, value in headers.items():
            if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
                # The HTTP client would show the value in its error.
                raise MCPServerError(
                    f"the header {shortened(name)!r} is not allowed in HTTP (RFC 9110, Fields)",
                    hint="look for a line break at the end of its value, and for characters beyond ASCII",
                )
        return headers

    @asynccontextmanager
    async def connected(self, credentials: Credentials, intake: Intake) -> AsyncIterator[Streams]:
        """Open the request streams; the SDK follows redirects only within the origin of the URL."""
        keep_logs_clean()
        client = httpx2.AsyncClient(
            verify=_certificates(),
            headers={**credentials, "Accept-Encoding": "identity"},
            timeout=httpx2.Timeout(_CONNECT_S, read=_READ_S),
            event_hooks={"response": [measured_by(intake), check_response]},
        )
        limit_client_heads(client, lambda what: httpx2.RemoteProtocolError(f"it sent {what}"))
        async with (
            client,
            streamable_http_client(
                self.url, http_client=client, max_sse_event_size=LONGEST_MESSAGE
            ) as streams,
        ):
            yield streams


Server: TypeAlias = StdioServer | HttpServer


def _web_address(text: object) -> httpx2.URL:
    """Return the URL of a server.

    Raises:
        RegistrationError: The text is not a URL; the error omits its user, password and query.
    """
    try:
        url = httpx2.URL(text) if isinstance(text, str) else None
    except httpx2.InvalidURL:
        url = None
    if url is None or url.scheme not in ("http", "https") or not url.host:
        shown = text.partition("?")[0].rpartition("@")[2] if isinstance(text, str) else type(text).__name__
        raise RegistrationError(
            f"{shortened(shown)!r} is not the URL of an MCP server",
            hint="write the full URL: HttpServer('https://host.example/mcp')",
        )
    return url


def pool_key(identity: str, credentials: Credentials) -> str:
    """Return the key of calls that can share a connection; it reveals no credential."""
    facts: Json = [identity, *(list[Json](item) for item in sorted(credentials.items()))]
    return sha256(compact(facts).encode()).hexdigest()


def _standard_error() -> TextIO:
    """Return a standard error with a file descriptor: the current one, or the original one."""
    try:
        sys.stderr.fileno()
    except (OSError, ValueError, AttributeError):
        assert sys.__stderr__ is not None, "give the server an errlog"
        return sys.__stderr__
    return sys.stderr


async def _credentials(credentials: Credentials | CredentialsOf, meta: CallMeta) -> Credentials:
    return await awaited(credentials(meta)) if callable(credentials) else credentials
