"""The base class of generated clients for services over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, ClassVar, Final, Self, TypeVar

from pydantic import BaseModel

from toolgen.calls.errors import ToolError
from toolgen.contract.credentials import Credentials
from toolgen.contract.extras import extra
from toolgen.contract.secrets import Secrets, hiding, noting
from toolgen.contract.transport import Server

from .call import served_call
from .operation import Operation
from .servers import base_of

with extra("http"):
    import httpx

    from .connections import Connections
    from .sending import MethodSender

P = TypeVar("P", bound=BaseModel)
R = TypeVar("R")

MOST_BYTES: Final = 4 * 2**20
"""Default limit of an answer's decompressed bytes; the runtime limits its documents with `Limits.bytes`."""


class HTTPClient:
    """A service whose methods are requests: its generated client is a subclass with one method for each.

    It works in any event loop, and keeps the connections of each loop open until `aclose`, or the end of
    `async with`. Proxies, certificates and `.netrc` of the environment are not used. To use them, pass an
    httpx client as `http`, which stays open and applies its own limits. Cookies of answers are not stored.
    """

    servers: ClassVar[tuple[Server, ...]] = ()
    """Servers of the service, in order of preference."""

    def __init__(
        self,
        *,
        server: str = "",
        variables: Mapping[str, str] | None = None,
        credentials: Credentials | None = None,
        http: httpx.AsyncClient | None = None,
        timeout_s: float | None = None,
        max_response_bytes: int = MOST_BYTES,
    ) -> None:
        """Create a client; it connects at its first request.

        Args:
            server: URL of one of `servers`, exactly as listed, or any other address of the service; "" for
                the first of them.
            variables: Values of the server's variables by name; the others have their defaults.
            credentials: Credentials of the service; by default those of the call, `ctx.credentials`, and
                outside a call, or if its runtime has none, those of the environment.
            http: Client that sends the requests; by default the connections of this client.
            timeout_s: Seconds for a request. Never more than the remaining time of the call; by default
                exactly that, or 60 if nothing limits the call.
            max_response_bytes: Maximum number of decompressed bytes of an answer.

        Raises:
            RegistrationError: There is no server, or a variable does not fit.
        """
        is_named = server or not self.servers or not self.servers[0].url.startswith("/")
        self._base = base_of(self.servers, server, variables or {}) if is_named else None
        self._credentials = credentials
        self._timeout_s = timeout_s
        self._connections = Connections(
            http,
            has_tls=self._base is not None and self._base.origin.scheme == "https",
            most_bytes=max_response_bytes,
        )
        self._methods: dict[Operation, MethodSender[Any]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections of the running loop; a later request opens new ones."""
        await self._connections.aclose()

    def _without_server(self, operation: Operation) -> str:
        path = self.servers[0].url
        return (
            f"{operation.service}.{operation.name} was not sent: the server of {operation.service} has no "
            f'address. Write it into Server("{path}") in the design, import the API again with --server, or '
            f"make the client with {type(self).__name__}(server=…)"
        )

    async def send(self, operation: Operation[P, R], payload: P) -> R:
        """Return the result of a method; if a credential is refused, repeat the request once.

        Raises:
            DeclaredError: The service answered with an error of the design.
            CredentialNeededError: A credential is missing, or was refused.
            OutcomeUnknownError: The answer was lost, and the request must not be repeated.
            ToolError: The request failed otherwise, or no server is known.
        """
        method = self._methods.get(operation)
        if method is None:
            if self._base is None:
                raise ToolError(self._without_server(operation))
            method = MethodSender(operation, self._base, self._connections, self._timeout_s)
            self._methods[operation] = method
        call = served_call()
        if call is not None:
            call.connect()
        if not method.http.security or noting() is not None:
            return await method.perform(payload, call, self._credentials)  # type: ignore[no-any-return]  # of the operation's class
        with hiding(Secrets()):  # no other scope redacts the secrets of the request
            return await method.perform(payload, call, self._credentials)  # type: ignore[no-any-return]  # of the operation's class
