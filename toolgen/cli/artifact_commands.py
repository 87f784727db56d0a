"""The commands below `toolgen artifacts`, and their options."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from .command_groups import Config, exit_after
from .config import find_project

artifacts_app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Show and save the artifacts of tool calls.",
)
_Uri = Annotated[
    str, typer.Argument(help="URI of the artifact, as printed with the result of its call.", metavar="URI")
]
_Session = Annotated[
    str, typer.Option(help="Fail unless the artifact belongs to this session.", metavar="ID")
]


@artifacts_app.command()
def show(
    uri: _Uri,
    view: Annotated[
        Literal["table", "chart.line", "chart.bar", "markdown"] | None,
        typer.Option(help="View of JSON data; without it, the JSON is printed, indented at a terminal."),
    ] = None,
    session: _Session = "",
    config: Config = None,
) -> None:
    """Print the data of an artifact.

    Example: toolgen artifacts show 'artifact:session/s-1/report?version=1' --view table
    """
    from .artifacts import show_artifact

    work = show_artifact(find_project(config), uri, session=session or None, view=view or "")
    exit_after(work)


@artifacts_app.command()
def save(
    uri: _Uri,
    file: Annotated[Path, typer.Argument(help="File to write.", metavar="FILE")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    session: _Session = "",
    config: Config = None,
) -> None:
    """Write the data of an artifact to a file.

    Example: toolgen artifacts save 'artifact:session/s-1/report?version=1' report.json
    """
    from .artifacts import save_artifact

    work = save_artifact(find_project(config), uri, file, session=session or None, force=force)
    exit_after(work)
