"""The commands for grants: approvals that cover later calls."""

from typing import Annotated

import typer

from .command_groups import AsJson, Config, ListingFormat, exit_after
from .config import find_project

grants_app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List and revoke grants: approvals that cover later calls.",
)


@grants_app.command("list")
def list_all(
    session: Annotated[str, typer.Option(help="Only grants of this session.", metavar="ID")] = "",
    format: ListingFormat = "text",
    json: AsJson = False,
    config: Config = None,
) -> None:
    """List the active grants, newest first.

    Example: toolgen grants list --session s-mira
    """
    from .approve import list_grants
    from .outcome import print_error_records

    format = "json" if json else format
    with print_error_records(format):
        exit_after(list_grants(find_project(config), session or None, format))


@grants_app.command()
def revoke(
    grant: Annotated[str, typer.Argument(help="Id of the grant.", metavar="GRANT")],
    by: Annotated[
        str,
        typer.Option(help="Person who revokes it; by default the user of this machine.", metavar="NAME"),
    ] = "",
    config: Config = None,
) -> None:
    """Revoke a grant, so that each of its calls needs approval again.

    Example: toolgen grants revoke grant_4a9f3a799d4121a2
    """
    from .approve import revoke_grant
    from .terminal import user_name

    exit_after(revoke_grant(find_project(config), grant, by or user_name()))
