"""Requests on the wire: a connection pool per event loop, limits of answers, checked addresses."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

from toolgen.contract.extras import extra
from toolgen.contract.logs import logger, redact_http_logs
from toolgen.contract.record import frozen_record
from toolgen.contract.response_limits import (
    MOST_CHUNKS,
    SMALL_CHUNK,
    TOO_MANY_CHUNKS,
    end_head,
    limit_heads,
)

from .failures import AnswerLostError, NotConnectedError, RefusedAddressError
from .servers import Origin, PrivateAddressError, public_addresses

with extra("http"):
    import httpx

ENCODINGS: Final = "gzip, deflate"
"""Content codings that are decompressed here within the limit of an answer (RFC 9110, section 8.4.1)."""
_WINDOWS: Final = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
_MEMBER: Final = b"\x1f"
"""First bytes of each gzip member (RFC 1952, section 2.3.1); other data after a member is ignored, as other
clients do.
"""
_MOST_CODINGS: Final = 2
_LIMITS: Final = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=4.0)
"""A connection is reused within 4 seconds: many servers close it after 5, which would lose a request."""
_UNSENT: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
)
"""Failures before a request is sent."""

OnSend: TypeAlias = Callable[[], Awaitable[None]]
"""Awaited immediately before a request is sent."""

log = logger("toolgen.clients")


@frozen_record
class ServerAnswer:
    """Answer of a server."""

    status: int
    headers: httpx.Headers
    body: bytes
    is_cut: bool = False
    """Whether the body is too long or was cut off; for a failure its beginning is sufficient."""


class TooLongError(AnswerLostError):
    """An answer exceeds a limit, which a repeated request would exceed as well."""

    may_pass = False

    def __init__(self, what: str) -> None:
        super().__init__(f"the answer has {what}")


class _Pool:
    """Connections of one event loop, which are closed when it ends or the pool is no longer referenced."""

    def __init__(self, *, has_tls: bool) -> None:
        """Create an empty pool; certificates are only read if TLS is used."""
        self.connections = httpx.AsyncHTTPTransport(trust_env=False, verify=has_tls, limits=_LIMITS)
        limit_heads(self.connections, TooLongError)
        self._end = _closed_at_end(self.connections)

    async def end_with_loop(self) -> None:
        """Let `asyncio.run` close the connections, as it does with each started generator (PEP 525)."""
        await anext(self._end)

    async def aclose(self) -> None:
        await self._end.aclose()


async def _closed_at_end(connections: httpx.AsyncHTTPTransport) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        await connections.aclose()


class Connections:
    """Sends requests, and reads their answers within limits."""

    def __init__(self, http: httpx.AsyncClient | None, *, has_tls: bool, most_bytes: int) -> None:
        self._http = http
        self._has_tls = has_tls
        self._most_bytes = most_bytes
        self._pools: WeakKeyDictionary[asyncio.AbstractEventLoop, _Pool] = WeakKeyDictionary()
        redact_http_logs()

    @property
    def headers(self) -> dict[str, str]:
        """Headers that each request of the passed client has, by lower-case name."""
        return {} if self._http is None else dict(self._http.headers)

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool.aclose()

    def budget(self) -> AnswerBudget:
        """Return the limits that all answers of one call share."""
        return AnswerBudget(self._most_bytes)

    async def exchange(
        self, request: httpx.Request, guarded: Origin | None, on_send: OnSend | None, budget: AnswerBudget
    ) -> ServerAnswer:
        """Return the answer to a request.

        Args:
            request: Request to an address of the origin.
            guarded: Origin whose addresses must be public; None if they are not checked.
            on_send: Awaited before the request is sent; None for nothing.
            budget: Remaining limits of the call's answers.

        Raises:
            NotConnectedError: Nothing was sent.
            AnswerLostError: No complete answer arrived, or it exceeds a limit.
        """
        if guarded is None:
            return await self._exchanged(request, on_send, budget)
        try:
            addresses = await public_addresses(guarded.host, guarded.port)
        except OSError as error:
            raise NotConnectedError(_reason(error)) from None
        except PrivateAddressError as error:
            log.warning(
                "a request was not sent: %s; if that address is intended, write accepted=True at its Server "
                "in the design, or pass the full address to the client: server=…",
                error,
            )
            raise RefusedAddressError("it is at an address that is not public") from None
        request.headers["Host"] = request.url.netloc.decode("ascii")
        request.extensions["sni_hostname"] = request.url.raw_host.decode("ascii")
        return await self._at_one_of(addresses, request, on_send, budget)

    async def _at_one_of(
        self, addresses: Sequence[str], request: httpx.Request, on_send: OnSend | None, budget: AnswerBudget
    ) -> ServerAnswer:
        failure = NotConnectedError("it has no address")
        for address in addresses:
            request.url = request.url.copy_with(host=address)
            try:
                return await self._exchanged(request, on_send, budget)
            except NotConnectedError as error:
                failure = error
        raise failure

    async def _exchanged(
        self, request: httpx.Request, on_send: OnSend | None, budget: AnswerBudget
    ) -> ServerAnswer:
        sending = _Sending(on_send)
        if on_send is not None:
            if self._http is None:
                request.extensions["trace"] = sending.trace
            else:  # the passed client does not report when it sends
                await sending.begin()
        try:
            response = await self._responded(request)
            try:
                return await _read(response, request.method, budget)
            finally:
                if self._http is None and (_has_surplus(response) or _has_two_lengths(response)):
                    await response.extensions["network_stream"].aclose()
                await response.aclose()
        except _UNSENT as error:
            raise NotConnectedError(_reason(error)) from None
        except httpx.HTTPError as error:
            raise AnswerLostError(f"the answer was cut off: {_reason(error)}") from None

    async def _responded(self, request: httpx.Request) -> httpx.Response:
        if self._http is not None:
            return await self._http.send(request, stream=True, auth=None, follow_redirects=False)
        loop = asyncio.get_running_loop()
        pool = self._pools.get(loop)
        if pool is None:
            pool = self._pools[loop] = _Pool(has_tls=self._has_tls)
            await pool.end_with_loop()
        response = await pool.connections.handle_async_request(request)
        end_head(response)
        return response


async def _read(response: httpx.Response, verb: str, budget: AnswerBudget) -> ServerAnswer:
    """Return the answer with its decompressed body.

    Raises:
        AnswerLostError: The answer exceeds a limit, or has a content coding that was not accepted.
    """
    is_failure = response.status_code >= 300
    chunks, is_cut = list[bytes](), False
    try:
        async with aclosing(_unpacked(response, verb, budget)) as parts:
            async for part in parts:
                chunks.append(part)
    except (httpx.HTTPError, AnswerLostError):
        if not is_failure:  # the status of a failure is sufficient
            raise
        is_cut = True
    return ServerAnswer(
        status=response.status_code, headers=response.headers, body=b"".join(chunks), is_cut=is_cut
    )


class _Sending:
    """Awaits a callback once before a request is sent."""

    __slots__ = ("_has_begun", "_on_send")

    def __init__(self, on_send: OnSend | None) -> None:
        self._on_send = on_send
        self._has_begun = False

    async def begin(self) -> None:
        if not self._has_begun and self._on_send is not None:
            self._has_begun = True
            await self._on_send()

    async def trace(self, event: str, info: object) -> None:
        """Process an event of httpcore; the headers are the first part of a request to be sent."""
        if event.endswith("send_request_headers.started"):
            await self.begin()


class _Counter:
    """Counter of the bytes and small chunks of bodies, before or after decompression."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = self._small = 0

    def add(self, chunk: bytes) -> bytes:
        """Return the chunk after counting it.

        Raises:
            TooLongError: A limit is exceeded.
        """
        self._bytes += len(chunk)
        self._small += len(chunk) < SMALL_CHUNK
        if self._bytes > self._most_bytes:
            raise TooLongError(f"more than {self._most_bytes} bytes")
        if self._small > MOST_CHUNKS:
            raise TooLongError(TOO_MANY_CHUNKS)
        return chunk


class AnswerBudget:
    """Limits that the answers of one call share, including the answers of redirects."""

    __slots__ = ("received", "unpacked")

    def __init__(self, most_bytes: int) -> None:
        self.received = _Counter(most_bytes)
        self.unpacked = _Counter(most_bytes)


async def _unpacked(response: httpx.Response, verb: str, budget: AnswerBudget) -> AsyncGenerator[bytes]:
    """Yield the body in pieces of limited size, regardless of its content coding.

    Raises:
        AnswerLostError: The body is not encoded as declared, or has a content coding that was not accepted.
        TooLongError: The body has too many bytes or chunks, before or after decompression.
    """
    counter = budget.received
    if response.is_stream_consumed:  # by a hook of the passed client
        try:
            yield counter.add(response.content)
        except httpx.ResponseNotRead:
            raise AnswerLostError("a hook of its client consumed the answer") from None
        return
    codings = [
        coding
        for text in response.headers.get_list("content-encoding", split_commas=True)
        if (coding := text.strip().lower()) not in ("", "identity")
    ]
    if not codings or verb == "HEAD":  # HEAD has the headers of GET, but no body
        async for chunk in response.stream:  # type: ignore[union-attr]  # of an asynchronous client
            yield counter.add(chunk)
        return
    if len(codings) > _MOST_CODINGS or any(coding not in _WINDOWS for coding in codings):
        raise AnswerLostError(
            f"the answer is compressed as {', '.join(codings)!r}, but the request did not accept that"
        )
    unpackers = [_Unpacker(coding, budget.unpacked) for coding in reversed(codings)]
    async for chunk in response.stream:  # type: ignore[union-attr]  # of an asynchronous client
        for piece in _through(unpackers, counter.add(chunk)):
            yield piece
    if not all(unpacker.is_whole for unpacker in unpackers):
        raise AnswerLostError("the compressed answer was cut off")


def _through(unpackers: Sequence[_Unpacker], chunk: bytes) -> Iterator[bytes]:
    if not unpackers:
        yield chunk
        return
    for piece in unpackers[0].pieces(chunk):
        yield from _through(unpackers[1:], piece)


class _Unpacker:
    """Decompressor of a stream in pieces of at most 64 KiB."""

    _PIECE = 64 * 1024

    def __init__(self, coding: str, counter: _Counter) -> None:
        self._counter = counter
        self._window = _WINDOWS[coding]
        self._inflater = zlib.decompressobj(self._window)
        self._may_be_raw = coding == "deflate"
        self._is_over = False
        self._is_new = True

    @property
    def is_whole(self) -> bool:
        return self._inflater.eof or self._is_new

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Yield the decompressed data.

        Raises:
            AnswerLostError: The data is not compressed as declared.
            TooLongError: It decompresses to too many bytes, or has too many small or empty members.
        """
        piece = b""
        # The decompressor may still hold output.
        while not self._is_over and (data or len(piece) == self._PIECE):
            try:
                piece = self._inflater.decompress(data, self._PIECE)
            except zlib.error as error:
                if self._may_be_raw and self._is_new:  # without a zlib header, as some servers send it
                    self._inflater, self._may_be_raw = zlib.decompressobj(-zlib.MAX_WBITS), False
                    continue
                raise AnswerLostError(
                    f"the answer is not compressed as its Content-Encoding says: {error}"
                ) from None
            self._is_new = False
            data = self._inflater.unconsumed_tail
            if piece:
                yield self._counter.add(piece)
            if self._inflater.eof:
                data = self._inflater.unused_data
                if self._window > zlib.MAX_WBITS and data.startswith(_MEMBER):
                    self._counter.add(b"")
                    self._inflater = zlib.decompressobj(self._window)
                else:
                    self._is_over, data = bool(data), b""


def _has_surplus(response: httpx.Response) -> bool:
    """Return whether more data than the answer arrived, which would be read as the next answer.

    Only h11 knows the data that was read for a connection. If its state is not accessible, assume a surplus.
    """
    stream: object = response.stream
    for name in ("_httpcore_stream", "_stream", "_connection", "_h11_state"):
        stream = getattr(stream, name, None)
    return bool(getattr(stream, "trailing_data", (b"unknown",))[0])


def _has_two_lengths(response: httpx.Response) -> bool:
    """Return whether other readers may find another end of the answer (RFC 9112, section 6.3)."""
    return {"content-length", "transfer-encoding"} <= response.headers.keys()


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
