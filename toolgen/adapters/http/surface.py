"""The surface of a runtime: an ASGI application that a host mounts or serves on its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from toolgen.contract.loopback import LOOPBACK_NAMES
from toolgen.runtime import Runtime

from ..ports.http_requests import BodyDeadline, OwnNames
from ..ports.requests import AdmittedRequests, assign
from .artifacts import read_artifact
from .bodies import read_body
from .callers import Caller, CallerOf, caller_of
from .calls import ServedCalls
from .catalog import RuntimeCatalog
from .conversations import ServedConversations
from .event_streams import EventStreams
from .options import SurfaceOptions
from .problems import FRESH, HTTPProblem, problem_of
from .request_limit import RequestLimit
from .runs import ServedRuns
from .waits import ServedWaits

Reading: TypeAlias = Callable[[Request, Caller], Awaitable[Any]]
Writing: TypeAlias = Callable[[Request, Caller, dict[str, Any]], Awaitable[Any]]

_EXPOSED: Final = ("ETag", "Location", "Retry-After", "Content-Range", "Accept-Ranges")
"""Response headers that pages of other origins can read."""
_ACCEPTED: Final = ("Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "Range", "If-Range")
"""Request headers that they can send in addition to the CORS-safelisted ones."""


class HTTPSurface:
    """The tools, suspensions, runs, sessions, artifacts and events of a runtime over HTTP.

    It is an ASGI application: `app.mount("/agent-tools", HTTPSurface(runtime, caller=caller))`. The host
    opens and closes the runtime.
    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        caller: CallerOf,
        options: SurfaceOptions | None = None,
        design: str = "",
        version: str = "",
    ) -> None:
        """Create the surface of a runtime.

        Args:
            runtime: Executes the calls.
            caller: Function that returns the caller of a request; None if the host does not know the caller.
            options: Hosts, origins and limits; by default only loopback names are accepted.
            design: Name of the design, for the catalog.
            version: Version of the design, for the catalog.
        """
        self._options = options = options or SurfaceOptions()
        self.runtime = runtime
        """Runtime that the surface serves."""
        self._ask = caller
        self._limit = RequestLimit("calls", options.max_calls, options.max_calls_per_caller)
        self.streams = EventStreams(runtime, options)
        """Open event streams."""
        calls = ServedCalls(runtime)
        router = Router(
            self._routes(calls, RuntimeCatalog(runtime, design, version)), lifespan=self._lifespan
        )
        router.redirect_slashes = False
        endpoint: ASGIApp = BodyDeadline(_Refusals(router), options.body_s)
        if options.origins:
            endpoint = CORSMiddleware(
                endpoint,
                allow_origins=options.origins,
                allow_methods=("GET", "POST"),
                allow_headers=_ACCEPTED,
                expose_headers=_EXPOSED,
                allow_credentials=True,
            )
        hosts = options.hosts or LOOPBACK_NAMES
        names = OwnNames(endpoint, hosts, options.origins, _refused, is_same_origin=True)
        self._served: ASGIApp = AdmittedRequests(names)
        self._router = router
        self.routes = tuple(router.routes)
        """Routes that the surface serves."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] == "http":
            await self._served(scope, receive, send)
        else:
            await self._router(scope, receive, send)

    async def calls_ended(self) -> None:
        """Wait until no call, answer or start of a run is in progress."""
        await self._limit.emptied()

    async def aclose(self) -> None:
        """End the event streams, for example before the process ends."""
        await self.streams.close()

    @asynccontextmanager
    async def _lifespan(self, _: object) -> AsyncIterator[None]:
        yield
        await self.aclose()

    def _routes(self, calls: ServedCalls, catalog: RuntimeCatalog) -> list[Route]:
        runs, waits = ServedRuns(self.runtime, calls), ServedWaits(self.runtime, calls, self._options)
        conversations, streams = ServedConversations(self.runtime, runs), self.streams

        async def described(_: Request, __: Caller) -> Response:
            return Response(_openapi_json(), headers=FRESH, media_type="application/json")

        async def agents(_: Request, __: Caller) -> Any:
            return runs.list_agents()

        async def artifact(request: Request, caller: Caller) -> Response:
            return await read_artifact(self.runtime, request, caller)

        async def speak(request: Request, caller: Caller, body: dict[str, Any]) -> Response:
            return _created(await conversations.speak(request, caller, body), "../../runs/")

        async def start(request: Request, caller: Caller, body: dict[str, object]) -> Response:
            return _created(await runs.start(request, caller, body), "runs/")

        def of(name: str, read: Callable[[Caller, str], Awaitable[Any]]) -> Reading:
            return lambda request, caller: read(caller, request.path_params[name])

        def at(name: str, write: Callable[[Caller, str, dict[str, Any]], Awaitable[Any]]) -> Writing:
            return lambda request, caller, body: write(caller, request.path_params[name], body)

        return [
            self._reading("/catalog", catalog.read),
            self._reading("/openapi.json", described),
            self._reading("/agents", agents),
            self._writing("/tools/{tool}/calls", calls.make),
            self._reading("/calls/{call}", of("call", calls.read)),
            self._reading("/suspensions", waits.list),
            self._writing("/suspensions/{suspension:path}/answer", waits.answer),
            self._writing("/suspensions/{suspension:path}/cancel", waits.cancel),
            self._writing("/suspensions/{suspension:path}/intermediate", waits.intermediate),
            self._reading("/suspensions/{suspension:path}", waits.show),
            self._reading("/runs", runs.list),
            self._writing("/runs", start),
            self._reading("/runs/{run:path}/events", streams.of_run),
            self._writing("/runs/{run:path}/cancel", at("run", runs.cancel)),
            self._writing("/runs/{run:path}/resolve", at("run", runs.resolve)),
            self._reading("/runs/{run:path}", of("run", runs.show)),
            self._reading("/events", streams.of_all),
            self._reading("/sessions", conversations.list),
            self._reading("/sessions/{session:path}/messages", of("session", conversations.messages)),
            self._writing("/sessions/{session:path}/messages", speak),
            self._reading("/sessions/{session:path}/grants", of("session", waits.grants)),
            self._writing("/sessions/{session:path}/grants/{grant}/revoke", waits.revoke),
            self._reading("/artifacts", artifact, has_head=True),
        ]

    def _reading(self, path: str, read: Reading, *, has_head: bool = False) -> Route:
        async def endpoint(request: Request) -> Response:
            return _response(await read(request, await self._caller(request)))

        route = Route(path, _answered(endpoint), methods=["GET"])
        if not has_head:
            assert route.methods is not None
            route.methods.discard("HEAD")
        return route

    def _writing(self, path: str, write: Writing) -> Route:
        async def endpoint(request: Request) -> Response:
            caller = await self._caller(request)
            limits = self.runtime.assembly.services.limits
            body = await read_body(request, limits, self._options.max_body_bytes)
            with self._limit.place(caller):
                return _response(await write(request, caller, body))

        return Route(path, _answered(endpoint), methods=["POST"])

    async def _caller(self, request: Request) -> Caller:
        caller = await caller_of(request, self._ask)
        if (refused := assign(request.scope, caller.key)) is not None:
            raise HTTPProblem("too-many-requests" if refused.status == 429 else "unavailable", refused.text)
        return caller


class _Refusals:
    """Answers requests without a matching route with a problem too, in any surrounding application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app({**scope, "app": scope.get("app", self)}, receive, send)
        except HTTPException as error:
            name = "method-not-allowed" if error.status_code == 405 else "not-found"
            refused = HTTPProblem(name, f"{scope['method']} {scope['path']}", headers=error.headers)
            await refused.response()(scope, receive, send)


def _refused(status: int, text: str) -> ASGIApp:
    return HTTPProblem("misdirected-request" if status == 421 else "forbidden", text).response()


def _created(record: Any, folder: str) -> Response:
    return Response(
        to_json(record),
        201,
        {**FRESH, "Location": f"{folder}{quote(record['id'], safe='')}"},
        "application/json",
    )


def _response(record: object) -> Response:
    if isinstance(record, Response):
        return record
    return Response(to_json(record), headers=FRESH, media_type="application/json")


def _answered(endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that responds to its errors with problems."""

    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except ClientDisconnect:  # no client to respond to
            raise
        except Exception as error:  # noqa: BLE001 - the outermost handler; `problem_of` logs what is a bug
            return problem_of(error, f"{request.method} {request.url.path}").response()

    return answered


@cache
def _openapi_json() -> bytes:
    """Return the OpenAPI 3.1 document of the paths and records; it does not change within a version."""
    return files("toolgen.adapters.http").joinpath("openapi-1.json").read_bytes()
