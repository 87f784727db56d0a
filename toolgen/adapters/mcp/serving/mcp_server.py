"""A runtime behind the low-level server of the official SDK."""

from __future__ import annotations

import base64
import secrets
from functools import partial
from typing import Any, Final

from mcp import MCPError, types
from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import ValidationError

from toolgen.calls.errors import UnknownArtifactError
from toolgen.capabilities import StoredArtifact
from toolgen.contract.limits import Limits
from toolgen.contract.logs import log_failure, logger
from toolgen.runtime import Runtime, UnknownToolError
from toolgen.waiting.options import WEEK_S

from ...ports.requests import waits_for_client
from .calls import Approvals, ToolCalls
from .changes import ListChanges
from .executing import ExecutingCalls
from .identity import Context, Identities, MetaHook, scope_of, verified_owner
from .tools import ToolSelection
from .waits import known_approvals

log = logger("toolgen.mcp")

_LONG_RUNNING: Final = (
    "{} can return before its work is done; do not call it again for the same work. The result is not sent "
    "automatically: if one of these tools reads it, call that tool."
)
_DESCRIBED: Final = ("initialize", "server/discover")


def server(
    runtime: Runtime,
    *,
    name: str = "toolgen",
    version: str = "",
    title: str | None = None,
    toolset: str = "",
    agent: str = "",
    session_id: str = "",
    meta: MetaHook | None = None,
    approvals: Approvals = "out_of_band",
    pending_s: float = 300.0,
    watch_s: float = 30.0,
    secret: bytes | None = None,
) -> MCPServer:
    """Return what serves the tools of a runtime, which the host opens and closes.

    Args:
        runtime: Executes the calls.
        name: Of the server, for clients.
        version: Of the server; for "" clients get "0", since MCP requires one.
        title: Of the server, for people.
        toolset: Serve the tools of this toolset only, by its name.
        agent: Serve the tools of this agent, by its id, under the agent's names.
        session_id: The session of requests for which neither `meta` nor a verified token says one.
        meta: Returns for whom a request is; never what the client says of itself.
        approvals: Whether an elicitation that the client answers is an approval.
        pending_s: Seconds that a call waits for the result of work without an acknowledgement, or for what
            is asked in the run of its agent; then its client is told that it goes on.
        watch_s: Seconds between two looks at dynamic tools that may have changed without a call.
        secret: Seals what a client returns with after a question (2026-07-28): at least 32 random bytes, the
            same in all processes that serve it; by default of this process alone.

    Raises:
        ToolgenError: there is no such toolset, or `approvals` is no `Approvals`.
        RegistrationError: there is no such agent.
    """
    selection = ToolSelection(runtime, toolset, agent)
    for spec in runtime.tools.list():
        _ = spec.payload.schema_json, spec.result.schema_json  # made now, and not when a client lists them
    identities = Identities(session_id, meta)
    changes = ListChanges()
    calls = ToolCalls(runtime, selection, identities, changes, known_approvals(approvals), pending_s)
    artifacts = ArtifactResources(runtime, identities)

    async def listen(
        ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        if params.notifications.tools_list_changed:
            await calls.remember_tools(ctx)
        with waits_for_client(scope_of(ctx)):
            return await changes.listeners(ctx, params)

    sdk: Server[Any] = Server(
        name,
        version=version or "0",
        title=title,
        on_list_tools=calls.list_tools,
        on_call_tool=calls.call,
        on_list_resources=artifacts.list_resources,
        on_read_resource=artifacts.read,
        on_subscriptions_listen=listen,
        get_tool_input_schema=partial(_schema_of, runtime),
        lifespan=lambda _: changes.watched(runtime, calls.listed, watch_s),
    )
    sdk.middleware += [
        _errors_by_reference,
        _Description(selection, identities),
        _state_boundary(name, secret),
    ]
    return MCPServer(sdk, changes, calls.executing, runtime.assembly.services.limits)


def _state_boundary(audience: str, secret: bytes | None) -> RequestStateBoundary:
    """Return what seals the state with which a client comes again after a question (2026-07-28)."""
    keys = [secret or secrets.token_bytes(32)]
    states = RequestStateSecurity(keys=keys, ttl=WEEK_S, bind_principal=verified_owner)
    return RequestStateBoundary(states, default_audience=audience)


class MCPServer:
    """A runtime as an MCP server. Made by `server`."""

    def __init__(
        self, sdk: Server[Any], changes: ListChanges, executing: ExecutingCalls, limits: Limits
    ) -> None:
        self.sdk = sdk
        """The server of the SDK: what `mcp.Client` takes, and every transport of the SDK."""
        self.executing = executing
        """The calls that are executed now."""
        self.limits = limits
        """Those of the runtime, of documents that come in."""
        self._changes = changes

    async def announce_tools_changed(self) -> None:
        """Tell clients now that the tools may have changed, sooner than a look at them would."""
        await self._changes.announce()

    def end_streams(self) -> None:
        """End the streams of clients that listen (2026-07-28), such as before the process ends."""
        self._changes.listeners.close()


async def _errors_by_reference(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Return the result of a request; the SDK would tell a client of 2025-11-25 the text of any exception.

    Raises:
        MCPError: what the request raised, or in the place of an unexpected exception a reference to the log.
    """
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise
    except Exception as error:  # noqa: BLE001 - the outermost handler; logged, and raised as an error of the protocol
        reference = log_failure(log, error, "%s failed", ctx.method)
        message = f"{ctx.method} failed with an internal error (reference {reference})"
        raise MCPError(INTERNAL_ERROR, message) from None


class _Description:
    """Adds to the description of the server what holds for this client: instructions, and `listChanged`."""

    def __init__(self, selection: ToolSelection, identities: Identities) -> None:
        self._selection = selection
        self._identities = identities

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method not in _DESCRIBED or not isinstance(result, dict):
            return result
        tools = {**result["capabilities"].get("tools", {}), "listChanged": True}
        described = {**result, "capabilities": {**result["capabilities"], "tools": tools}}
        try:
            offered = await self._selection.offered(await self._identities.meta(ctx))
        except MCPError:  # it is in the log; `tools/list` says it to the client
            return described
        text = offered.instructions_by(_LONG_RUNNING)
        return {**described, "instructions": text} if text else described


def _schema_of(runtime: Runtime, name: str) -> dict[str, object] | None:
    """Return the schema that says which arguments are repeated in headers (MCP 2026-07-28, `x-mcp-header`).

    Only one that somebody else wrote does, so dynamic tools and those of agents are not looked for.
    """
    try:
        return runtime.tools.spec(name).payload.schema
    except UnknownToolError:
        return None


class ArtifactResources:
    """Serves `resources/list` and `resources/read` of one server."""

    def __init__(self, runtime: Runtime, identities: Identities) -> None:
        self._runtime = runtime
        self._identities = identities

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Return no resource: clients learn of them by the links in results (MCP, Tools, Resource Links)."""
        return types.ListResourcesResult(resources=[])

    async def read(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Return the data of an artifact, as text where it is text.

        Raises:
            MCPError: there is none, or it belongs to another session (-32602); or the store failed.
        """
        meta = await self._identities.meta(ctx)
        try:
            stored = await self._runtime.artifacts.load(params.uri, session_id=meta.session_id)
        except UnknownArtifactError as error:
            raise MCPError(INVALID_PARAMS, f"{error.message}: {error.hint}", {"uri": params.uri}) from None
        except Exception as error:  # noqa: BLE001 - a store of the author's; logged, and raised as an error of the protocol
            reference = log_failure(log, error, "artifact %s could not be read", params.uri)
            raise MCPError(INTERNAL_ERROR, f"it cannot be read now (reference {reference})") from None
        return types.ReadResourceResult(contents=[_contents(params.uri, stored)])


def _contents(uri: str, stored: StoredArtifact) -> types.TextResourceContents | types.BlobResourceContents:
    media_type = stored.info.media_type
    if media_type == "application/json" or media_type.startswith("text/"):
        try:
            return types.TextResourceContents(uri=uri, mime_type=media_type, text=stored.data.decode())
        except UnicodeDecodeError:
            pass
    blob = base64.b64encode(stored.data).decode()
    return types.BlobResourceContents(uri=uri, mime_type=media_type or None, blob=blob)
