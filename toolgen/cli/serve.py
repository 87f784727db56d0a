"""`toolgen serve`: serves the configured runtime over HTTP, for the user of this machine."""

from __future__ import annotations

import asyncio
import gc
import sys
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from toolgen.contract.errors import ToolgenError
from toolgen.contract.loopback import is_loopback
from toolgen.engines import DRAIN_S
from toolgen.runtime import CallMeta, Runtime
from toolgen.shapes.naming import title

from .config import Project
from .mcp import design_name
from .models import ready_planners
from .runtime import SERVER_THRESHOLD, project_runtime
from .terminal import user_name

if TYPE_CHECKING:
    from toolgen.adapters.http import HTTPSurface
    from toolgen.adapters.http.serving import StartToken
    from toolgen.adapters.mcp import MCPServer


async def serve_project(project: Project, host: str, port: int, *, is_worker: bool, session: str) -> int:
    """Serve until the process receives a signal to end, let calls end, and return 0.

    If `is_worker`, this process executes the runs; otherwise it is a client of another process. `session` is
    the session of calls that do not set one.

    Raises:
        ToolgenError: other machines could reach the host, the address cannot be used, or another process
            executes the runs.
    """
    from toolgen.adapters.http import Caller, HTTPSurface, SurfaceOptions
    from toolgen.adapters.http.serving import StartToken, serve_surface, served_app

    if not is_loopback(host):
        raise ToolgenError(
            f"other machines can reach {host}, but toolgen serve has one token for one person",
            hint="mount HTTPSurface in an application that authenticates callers, or forward the port",
        )
    gc.set_threshold(*SERVER_THRESHOLD)
    async with AsyncExitStack() as stack:
        runtime = await stack.enter_async_context(project_runtime(project))
        if is_worker:
            ready_planners(runtime)
        else:
            runtime.runs.run_as_client()
        await stack.enter_async_context(runtime)
        gc.freeze()  # objects from the start are not garbage
        name, version = design_name(project)
        token = StartToken(Caller(id=user_name() or "local", session_id=session, sees_all=True))
        options = SurfaceOptions()
        surface = HTTPSurface(runtime, caller=token, options=options, design=name, version=version)
        served = _mcp_server(runtime, name, version, session)
        further = [] if served is None else [_mcp_app(served, token)]
        await serve_surface(
            served_app(surface, options, further=further),
            host,
            port,
            options,
            close=lambda: _drain(surface, served),
            on_ready=lambda url: _show(url, token, has_mcp=served is not None),
        )
    return 0


def _mcp_server(runtime: Runtime, name: str, version: str, session: str) -> MCPServer | None:
    """Return the MCP server of the same runtime; None if its extra is not installed."""
    try:
        from toolgen.adapters.mcp import server
    except ToolgenError as error:
        print(f"without MCP: {error}", file=sys.stderr)
        return None
    return server(runtime, name=name, version=version, title=title(name), session_id=session)


def _mcp_app(served: MCPServer, token: StartToken) -> Any:
    """Return the ASGI application of an MCP server that requires the same token."""
    from toolgen.adapters.mcp import http_app

    caller = token.caller
    meta = CallMeta(session_id=caller.session_id, requested_by=caller.id)
    return http_app(served, verify=lambda bearer: meta if token.is_given(bearer) else None)


async def _drain(surface: HTTPSurface, served: MCPServer | None) -> None:
    """End all streams, and let calls end for some time; then they are cancelled."""
    from toolgen.adapters.http.serving import drained

    if served is None:
        await drained(surface, DRAIN_S)
        return
    served.end_streams()
    await asyncio.gather(drained(surface, DRAIN_S), _ended(served))


async def _ended(served: MCPServer) -> None:
    try:
        async with asyncio.timeout(DRAIN_S):
            await served.executing.ended()
    except TimeoutError:
        return


def _show(url: str, token: StartToken, *, has_mcp: bool) -> None:
    print(f"serving {url}/#token={token.value}", file=sys.stderr)
    if has_mcp:
        print(f"MCP: {url}/mcp, with the token as bearer token", file=sys.stderr)
    sys.stderr.flush()
