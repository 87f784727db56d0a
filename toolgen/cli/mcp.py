"""`toolgen mcp serve`: the runtime that the project configures, as an MCP server."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

from toolgen.catalog.reader import load_catalog
from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import printable_lines
from toolgen.contract.record import frozen_record
from toolgen.runtime import CallMeta, Runtime
from toolgen.shapes.naming import title

from .config import Project, host_and_port
from .load import load_module
from .runtime import project_runtime

if TYPE_CHECKING:
    from toolgen.adapters.mcp import MCPServer, Verify


@frozen_record
class ServeOptions:
    """The options of the command."""

    toolset: str = ""
    agent: str = ""
    session: str = ""
    requested_by: str = ""
    http: str = ""
    """`HOST:PORT`; "" for stdio."""
    verify: str = ""
    """`module:function`; "" for none."""
    hosts: tuple[str, ...] = ()
    approvals: Literal["out_of_band", "elicitation"] = "out_of_band"


async def serve_runtime(project: Project, options: ServeOptions) -> int:
    """Serve until the stdio client disconnects or the process receives a signal to end; return 0.

    If another process executes the runs of the engine's file, this process is its client, so MCP clients can
    start several servers.

    Raises:
        ToolgenError: an option does not fit the project, or the address cannot be used.
    """
    import toolgen.adapters.mcp  # noqa: F401, reports a missing package before anything is opened

    async with AsyncExitStack() as stack:
        with _stdout_as_stderr():
            runtime = await stack.enter_async_context(project_runtime(project))
            runtime.runs.run_as_client()
            await stack.enter_async_context(runtime)
            served = _served(project, runtime, options)
            verify = _verifier(project, options.verify) if options.verify else None
        if options.http:
            await _serve_http(served, options, verify)
        else:
            from toolgen.adapters.mcp import serve_stdio

            await serve_stdio(served)
        with _stdout_as_stderr():
            await stack.aclose()
    return 0


def print_client_config(project: Project, options: ServeOptions) -> int:
    """Print the settings of a desktop client, as JSON with `mcpServers`, which starts this server by stdio.

    All paths are absolute: a client has its own working directory and PATH.

    Raises:
        ToolgenError: the options include --http, or the extra of MCP is not installed.
    """
    import toolgen.adapters.mcp  # noqa: F401, reports a missing package

    if options.http:
        raise ToolgenError(
            "--print-config cannot be combined with --http: it prints settings for stdio",
            hint="leave one out",
        )
    options_given = {
        "--toolset": options.toolset,
        "--agent": options.agent,
        "--session": options.session,
        "--requested-by": options.requested_by,
        "--approvals": options.approvals if options.approvals != "out_of_band" else "",
    }
    chosen = [part for option, value in options_given.items() if value for part in (option, value)]
    arguments = ["-m", "toolgen", "mcp", "serve", "--config", str(project.file), *chosen]
    name, _ = design_name(project)
    settings = {"mcpServers": {name: {"command": sys.executable, "args": arguments}}}
    print(printable_lines(json.dumps(settings, indent=2, ensure_ascii=False)))
    return 0


def _served(project: Project, runtime: Runtime, options: ServeOptions) -> MCPServer:
    from toolgen.adapters.mcp import server

    needing = [spec.name for spec in runtime.tools.list() if "session_id" in spec.injected]
    if needing and not options.session and not options.verify:
        raise ToolgenError(f"{needing[0]} needs 'session_id', which no option sets", hint="add --session ID")
    person = CallMeta(session_id=options.session, requested_by=options.requested_by)
    name, of_design = design_name(project)
    return server(
        runtime,
        name=name,
        version=of_design,
        title=title(name),
        toolset=options.toolset,
        agent=options.agent,
        session_id=options.session,
        meta=(lambda ctx: person) if options.requested_by else None,
        approvals=options.approvals,
    )


def design_name(project: Project) -> tuple[str, str]:
    """Return the name and the version of the design, or of toolgen if there is no catalog."""
    try:
        catalog = load_catalog(project.catalog)
    except (OSError, ValueError):
        return "toolgen", version("toolgen")
    return catalog.design or "toolgen", catalog.version


async def _serve_http(served: MCPServer, options: ServeOptions, verify: Verify | None) -> None:
    from toolgen.adapters.mcp import HttpOptions, serve_http

    host, port = host_and_port("--http", options.http)
    await serve_http(
        served,
        host,
        port,
        verify=verify,
        options=HttpOptions(hosts=options.hosts),
        on_ready=lambda url: print(f"serving {url}", file=sys.stderr, flush=True),
    )


def _verifier(project: Project, reference: str) -> Any:
    """Return the function that `--verify` names.

    Raises:
        ToolgenError: there is no such function.
    """
    module, _, name = reference.partition(":")
    verifier = getattr(load_module(project, module, "--verify"), name, None)
    if not callable(verifier):
        raise ToolgenError(f"--verify {reference!r} is not a function", hint="write --verify module:function")
    return verifier


@contextmanager
def _stdout_as_stderr() -> Iterator[None]:
    """Redirect stdout to stderr, also for child processes, because stdout belongs to the protocol."""
    sys.stdout.flush()
    duplicate = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(duplicate, 1)
        os.close(duplicate)
