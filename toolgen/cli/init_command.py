"""The command `toolgen init`, and its options."""

from typing import Annotated, get_args

import typer


def init(
    name: Annotated[str, typer.Argument(help="Name of the project and of its package.", metavar="NAME")] = "",
    agent: Annotated[bool, typer.Option("--agent", help="Add an agent, its test, and make chat.")] = False,
    source: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--from",
            help="Create the tools from an API, an MCP server or functions: openapi FILE, mcp FILE, "
            "mcp 'COMMAND' or URL, functions MODULE or FILE.",
            metavar="KIND SOURCE",
        ),
    ] = None,
    add: Annotated[
        bool,
        typer.Option(
            "--add", help="Add tools to the project in this folder; NAME is their package, by default tools."
        ),
    ] = False,
) -> None:
    """Create a project that runs: a design with three tools, their code, a runtime and a test.

    In a project that has a design but no runtime, --add creates an app and stubs of its services.

    Example: toolgen init notes --agent

    Example: toolgen init library --from openapi library.json

    Example: toolgen init --add --from functions shop.orders
    """
    from .init import InitRequest, start_project
    from .init_design import From

    chosen = None
    if source is not None:
        kind = next((kind for kind in get_args(From) if kind == source[0]), None)
        if kind is None:
            kinds = ", ".join(get_args(From))
            raise typer.BadParameter(f"{source[0]!r} is not one of {kinds}", param_hint="--from")
        chosen = (kind, source[1])
    if not name and not add:
        raise typer.BadParameter(
            "required; to add tools to an existing project, use --add", param_hint="NAME"
        )
    raise typer.Exit(start_project(InitRequest(name=name, has_agent=agent, source=chosen, adds=add)))
