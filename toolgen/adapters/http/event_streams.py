"""Server-sent events (WHATWG HTML, 9.2): resumed by id, never sent twice, ended with their run."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from typing import Final, get_args

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from toolgen.contract.logs import log_failure, logger
from toolgen.events import Event, EventsDropped
from toolgen.runtime import Runtime

from ..ports.requests import waits_for_client
from .bodies import number_of, require_known_query
from .callers import Caller
from .event_ring import EventRing, lines_of
from .options import SurfaceOptions
from .problems import FRESH, HTTPProblem
from .request_limit import RequestLimit
from .wait_views import require_own

log = logger("toolgen.http")

_TYPES: Final = frozenset(kind.__dataclass_fields__["type"].default for kind in get_args(Event))
_MOST_SESSIONS: Final = 1_000
"""Maximum number of sessions for which a reader caches whether they belong to its caller."""
_RETRY: Final = b"retry: 1000\n"
"""Milliseconds after which a disconnected client reconnects."""
_COMMENT: Final = b": waiting\n\n"


class EventStreams:
    """The event streams of one runtime."""

    def __init__(self, runtime: Runtime, options: SurfaceOptions) -> None:
        self._runtime = runtime
        self._options = options
        self._limit = RequestLimit("streams", options.max_streams, options.max_streams_per_caller)
        self._ring = (
            None
            if runtime.events is None
            else EventRing(runtime.events, options.kept_events, options.kept_bytes)
        )
        self._open: set[asyncio.Future[None]] = set()

    @property
    def count(self) -> int:
        """Number of open streams."""
        return self._limit.count

    async def close(self) -> None:
        """End all streams, for example before the process ends."""
        if self._ring is not None:
            await self._ring.close()
        for task in tuple(self._open):
            task.cancel()

    async def of_run(self, request: Request, caller: Caller) -> Response:
        """Return the event stream of one run, until the run ends.

        Raises:
            HTTPProblem: There are too many streams.
            UnknownRunError: No run has the id, or it belongs to another caller.
        """
        require_known_query(request, "after")
        run_id = request.path_params["run"]
        status = await self._runtime.runs.status(run_id)
        await require_own(caller, status)
        after = _last_seq(request)
        if after and status.is_over and not await self._runtime.runs.events(run_id, after=after):
            return Response(status_code=204)  # an EventSource does not reconnect after 204
        return self._stream(caller, self._logged(run_id, after))

    async def of_all(self, request: Request, caller: Caller) -> Response:
        """Return the event stream of all sessions of a caller, or of one of them.

        Raises:
            HTTPProblem: The runtime emits no events, a type does not exist, or there are too many streams.
        """
        if self._ring is None:
            raise HTTPProblem(
                "not-implemented",
                "this runtime emits no events",
                hint="give it a hub: Runtime(events=Events())",
            )
        require_known_query(request, "after", "session", "types")
        session, names = request.query_params.get("session", ""), request.query_params.get("types", "")
        if session:
            await caller.require(session)
        types = frozenset(name for name in names.split(",") if name)
        if unknown := types - _TYPES:
            raise HTTPProblem("invalid-request", f"unknown event types: {', '.join(sorted(unknown))}")
        self._ring.open()
        place = self._ring.place_of(
            request.headers.get("last-event-id") or request.query_params.get("after", "")
        )
        lines = self._all_sessions(self._ring, caller, place, session, types)
        # A reader stores an id without data, so it can reconnect even before its first event.
        return self._stream(caller, lines, f"id: {self._ring.start}.{place[0]}\n".encode())

    def _stream(self, caller: Caller, lines: AsyncGenerator[bytes, None], head: bytes = b"") -> Response:
        opening = _RETRY + head + b"\n"
        return _EventStream(opening, lines, self._limit, caller, self._options.comment_s, self._open)

    async def _logged(self, run_id: str, after: int) -> AsyncGenerator[bytes, None]:
        async for event in self._runtime.runs.follow(run_id, after=after):
            yield lines_of(event, str(event.seq) if event.seq else "")

    async def _all_sessions(
        self, ring: EventRing, caller: Caller, place: tuple[int, bool], session: str, types: frozenset[str]
    ) -> AsyncGenerator[bytes, None]:
        own = _OwnSessions(caller)
        seen, is_lost = place
        if is_lost:
            yield lines_of(EventsDropped(count=0, total=0), f"{ring.start}.{seen}")
        async for piece in ring.read(seen):
            lines = []
            for event in piece:
                is_asked = event.session_id == session if session else await own.has(event.session_id)
                if event.type == "events_dropped" or (is_asked and (not types or event.type in types)):
                    lines.append(event.lines)
            if lines:
                yield b"".join(lines)


class _OwnSessions:
    """Cache of whether sessions belong to a caller."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._owned: OrderedDict[str, bool] = OrderedDict()

    async def has(self, session_id: str) -> bool:
        is_own = self._owned.get(session_id)
        if is_own is None:
            is_own = self._owned[session_id] = await self._caller.owns(session_id)
            if len(self._owned) > _MOST_SESSIONS:
                self._owned.popitem(last=False)
        return is_own


class _EventStream(Response):
    """Sends lines as they arrive; the stream occupies a place in the limit until it ends."""

    media_type = "text/event-stream"

    def __init__(
        self,
        opening: bytes,
        lines: AsyncGenerator[bytes, None],
        limit: RequestLimit,
        caller: Caller,
        comment_s: float,
        open_streams: set[asyncio.Future[None]],
    ) -> None:
        super().__init__(headers={**FRESH, "X-Accel-Buffering": "no"}, media_type=self.media_type)
        del self.headers["content-length"]
        self._opening = opening
        self._lines = lines
        self._comment_s = comment_s
        self._sent_at = asyncio.get_running_loop().time()
        self._lock = asyncio.Lock()
        self._has_begun = False
        self._open = open_streams
        self._place = limit.place(caller)
        self._place.__enter__()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        stream = asyncio.ensure_future(self._send_all(send))
        disconnected = asyncio.ensure_future(_disconnected(receive))
        self._open.add(stream)
        try:
            with waits_for_client(scope):
                await self._comment_until((stream, disconnected), send)
        finally:
            self._open.discard(stream)
            is_disconnected = disconnected.done()
            for task in (stream, disconnected):
                task.cancel()
            await asyncio.wait((stream, disconnected))
            self._place.__exit__(None, None, None)
        if not stream.cancelled() and (error := stream.exception()) is not None:
            log_failure(log, error, "an event stream failed")
        if not is_disconnected and self._has_begun:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _comment_until(self, ends: Sequence[asyncio.Future[None]], send: Send) -> None:
        """Send a comment whenever nothing was sent for `comment_s`, until one of these futures is done."""
        loop = asyncio.get_running_loop()
        while True:
            remaining_s = self._sent_at + self._comment_s - loop.time()
            done, _ = await asyncio.wait(
                ends, timeout=max(remaining_s, 0), return_when=asyncio.FIRST_COMPLETED
            )
            if done:
                return
            if loop.time() >= self._sent_at + self._comment_s:
                async with self._lock:
                    self._sent_at = loop.time()
                    await send({"type": "http.response.body", "body": _COMMENT, "more_body": True})

    async def _send_all(self, send: Send) -> None:
        loop = asyncio.get_running_loop()
        async with aclosing(self._lines) as lines:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            self._has_begun = True
            await send({"type": "http.response.body", "body": self._opening, "more_body": True})
            async for piece in lines:
                async with self._lock:
                    self._sent_at = loop.time()
                    await send({"type": "http.response.body", "body": piece, "more_body": True})


def _last_seq(request: Request) -> int:
    """Return the number of the last event that a reader of a run has seen; 0 if none."""
    last = request.headers.get("last-event-id")
    if last is None:
        return number_of(request, "after", 0)
    if not (last.isascii() and last.isdecimal() and len(last) <= 15):
        raise HTTPProblem("invalid-request", "Last-Event-ID is not the number of an event of this run")
    return int(last)


async def _disconnected(receive: Receive) -> None:
    with suppress(ClientDisconnect):
        while (await receive())["type"] != "http.disconnect":
            pass
