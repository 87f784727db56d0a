"""The commands below `toolgen mcp`, and their options."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

import typer

from .config import find_project
from .run_commands import Config

mcp_app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Serve the tools of the project by the Model Context Protocol (MCP).",
)


@mcp_app.callback()
def mcp() -> None:
    """Serve the tools of the project by the Model Context Protocol (MCP)."""


@mcp_app.command()
def serve(
    toolset: Annotated[str, typer.Option(help="Serve the tools of this toolset only.", metavar="NAME")] = "",
    agent: Annotated[str, typer.Option(help="Serve the tools of this agent.", metavar="ID")] = "",
    session: Annotated[str, typer.Option(help="session_id of all calls.", metavar="ID")] = "",
    requested_by: Annotated[
        str, typer.Option(help="For whom all calls are; --verify says it by token.", metavar="PERSON")
    ] = "",
    http: Annotated[
        str,
        typer.Option(
            help="Listen here, at /mcp; by default one client is served by stdio.", metavar="HOST:PORT"
        ),
    ] = "",
    verify: Annotated[
        str,
        typer.Option(
            help="With --http: a function that returns for whom a bearer token is.", metavar="MODULE:FUNCTION"
        ),
    ] = "",
    host: Annotated[
        list[str] | None,
        typer.Option(help="With --http: a name in the URL of the clients; may be repeated.", metavar="NAME"),
    ] = None,
    approvals: Annotated[
        Literal["out_of_band", "elicitation"],
        typer.Option(help="Who approves calls: people elsewhere, or whoever answers for the client."),
    ] = "out_of_band",
    config: Config = None,
) -> None:
    """Serve the tools of the configured runtime to MCP clients, by stdio or HTTP."""
    from .mcp import ServeOptions, serve_runtime

    if not http and (verify or host):
        raise typer.BadParameter("--verify and --host need --http")
    if verify and requested_by:
        raise typer.BadParameter("--verify says for whom a request is, so that --requested-by cannot")
    options = ServeOptions(
        toolset=toolset,
        agent=agent,
        session=session,
        requested_by=requested_by,
        http=http,
        verify=verify,
        hosts=tuple(host or ()),
        approvals=approvals,
    )
    raise typer.Exit(asyncio.run(serve_runtime(find_project(config), options)))
