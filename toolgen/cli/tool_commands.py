"""The commands below `toolgen tools`, and their options."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from .config import find_project
from .run_commands import Config

tools_app = typer.Typer(
    add_completion=False, no_args_is_help=True, rich_markup_mode=None, help="List, disable and enable tools."
)

ToolName = Annotated[str, typer.Argument(help="Id or name of the tool.", metavar="TOOL")]


@tools_app.command("list")
def list_(
    disabled: Annotated[bool, typer.Option("--disabled", help="Only tools that are disabled.")] = False,
    config: Config = None,
) -> None:
    """List the registered tools, and those that are disabled."""
    from .tools import list_tools

    raise typer.Exit(asyncio.run(list_tools(find_project(config), only_disabled=disabled)))


@tools_app.command()
def disable(
    tool: ToolName,
    reason: Annotated[
        str, typer.Option(help="Why; models and people read it.", metavar="TEXT", show_default=False)
    ],
    by: Annotated[
        str, typer.Option(help="Who disables it; by default the user of this machine.", metavar="NAME")
    ] = "",
    config: Config = None,
) -> None:
    """Disable a tool in all processes that share the store, within seconds."""
    from .terminal import user_name
    from .tools import disable_tool

    project = find_project(config)
    raise typer.Exit(asyncio.run(disable_tool(project, tool, reason, by or user_name())))


@tools_app.command()
def enable(tool: ToolName, config: Config = None) -> None:
    """Enable a tool again."""
    from .tools import enable_tool

    raise typer.Exit(asyncio.run(enable_tool(find_project(config), tool)))
