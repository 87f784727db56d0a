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
    """Return an MCP server for the tools of a runtime, which the host opens and closes.

    Args:
        runtime: Executes the calls.
        name: Name of the server, for clients.
        version: Version of the server; for "" clients get "0", because MCP requires a version.
        title: Title of the server, for people.
        toolset: Name of a toolset, to serve only its tools.
        agent: Id of an agent, to serve its tools under the agent's names.
        session_id: Session of requests for which neither `meta` nor a verified token names one.
        meta: Returns the facts about the caller of a request; never from claims of the client.
        approvals: Whether an elicitation that the client answers counts as an approval.
        pending_s: Seconds that a call waits for the result of work without an acknowledgement, or for a
            question of its agent's run; then its client is informed that it continues.
        watch_s: Seconds between two checks for dynamic tools that changed without a call.
        secret: Seals the state that a client returns after a question (2026-07-28): at least 32 random bytes,
            the same in all processes that serve it; by default a secret of this process.

    Raises:
        ToolgenError: The toolset does not exist, or `approvals` is not a value of `Approvals`.
        RegistrationError: The agent does not exist.
    """
    selection = ToolSelection(runtime, toolset, agent)
    for spec in runtime.tools.list():
        _ = spec.payload.schema_json, spec.result.schema_json  # built now, not when a client lists them
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
    """Return the middleware that seals the state a client returns after a question (2026-07-28)."""
    keys = [secret or secrets.token_bytes(32)]
    states = RequestStateSecurity(keys=keys, ttl=WEEK_S, bind_principal=verified_owner)
    return RequestStateBoundary(states, default_audience=audience)


class MCPServer:
    """A runtime as an MCP server. Created by `server`."""

    def __init__(
        self, sdk: Server[Any], changes: ListChanges, executing: ExecutingCalls, limits: Limits
    ) -> None:
        self.sdk = sdk
        """Server of the SDK, for `mcp.Client` and for every transport of the SDK."""
        self.executing = executing
        """Calls that are executed now."""
        self.limits = limits
        """Limits of the runtime for received documents."""
        self._changes = changes

    async def announce_tools_changed(self) -> None:
        """Notify clients immediately that the tools might have changed, without waiting for a check."""
        await self._changes.announce()

    def end_streams(self) -> None:
        """End the streams of listening clients (2026-07-28), for example before the process ends."""
        self._changes.listeners.close()


async def _errors_by_reference(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Return the result of a request; the SDK would send any exception's text to a client of 2025-11-25.

    Raises:
        MCPError: The request raised it, or it replaces an unexpected exception with a reference to the log.
    """
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise
    except Exception as error:  # noqa: BLE001 - the outermost handler; logged, and raised as a protocol error
        reference = log_failure(log, error, "%s failed", ctx.method)
        message = f"{ctx.method} failed with an internal error (reference {reference})"
        raise MCPError(INTERNAL_ERROR, message) from None


class _Description:
    """Adds instructions for this client and `listChanged` to the description of the server."""

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
        except MCPError:  # logged; `tools/list` reports it to the client
            return described
        text = offered.instructions_by(_LONG_RUNNING)
        return {**described, "instructions": text} if text else described


def _schema_of(runtime: Runtime, name: str) -> dict[str, object] | None:
    """Return the schema that tells which arguments are repeated in headers (MCP 2026-07-28, `x-mcp-header`).

    Only schemas of third parties do so, so dynamic tools and tools of agents are not searched.
    """
    try:
        return runtime.tools.spec(name).payload.schema
    except UnknownToolError:
        return None


class ArtifactResources:
    """Handler of `resources/list` and `resources/read` for one server."""

    def __init__(self, runtime: Runtime, identities: Identities) -> None:
        self._runtime = runtime
        self._identities = identities

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Return no resource: clients get links in results (MCP, Tools, Resource Links)."""
        return types.ListResourcesResult(resources=[])

    async def read(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Return the data of an artifact, as text if it is text.

        Raises:
            MCPError: The artifact does not exist or belongs to another session (-32602), or the store failed.
        """
        meta = await self._identities.meta(ctx)
        try:
            stored = await self._runtime.artifacts.load(params.uri, session_id=meta.session_id)
        except UnknownArtifactError as error:
            raise MCPError(INVALID_PARAMS, f"{error.message}: {error.hint}", {"uri": params.uri}) from None
        except Exception as error:  # noqa: BLE001 - author code; logged, and raised as a protocol error
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
