"""The command `toolgen init`, and its options."""

from typing import Annotated, get_args

import typer


def init(
    name: Annotated[str, typer.Argument(help="Name of the project and of its package.", metavar="NAME")] = "",
    agent: Annotated[bool, typer.Option("--agent", help="With an agent, its test, and make chat.")] = False,
    source: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--from",
            help="Tools of an API, a list of tools, a server or functions: openapi FILE, mcp FILE, "
            "mcp 'COMMAND' or URL, functions MODULE or FILE.",
            metavar="KIND SOURCE",
        ),
    ] = None,
    add: Annotated[
        bool,
        typer.Option(
            "--add", help="Add tools to the project here; NAME is their package in it, by default tools."
        ),
    ] = False,
) -> None:
    """Make a new project: a design of three tools, with everything around it.

    With --add in a project that has a design and no runtime: an app, and stubs of its services.

    Such as: toolgen init notes --agent

    Such as: toolgen init library --from openapi library.json

    Such as: toolgen init --add --from functions shop.orders
    """
    from .init import InitRequest, start_project
    from .init_design import From

    chosen = None
    if source is not None:
        kind = next((kind for kind in get_args(From) if kind == source[0]), None)
        if kind is None:
            kinds = ", ".join(get_args(From))
            raise typer.BadParameter(f"{source[0]!r} is none of {kinds}", param_hint="--from")
        chosen = (kind, source[1])
    if not name and not add:
        raise typer.BadParameter("it is missing; to add to a project that exists: --add", param_hint="NAME")
    raise typer.Exit(start_project(InitRequest(name=name, has_agent=agent, source=chosen, adds=add)))
