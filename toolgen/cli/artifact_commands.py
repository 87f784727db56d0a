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
    help="Show and save artifacts, which stand beside results.",
)
_Uri = Annotated[str, typer.Argument(help="What names it, such as the result of a call says.", metavar="URI")]
_Session = Annotated[str, typer.Option(help="Only where it is of this session.", metavar="ID")]


@artifacts_app.command()
def show(
    uri: _Uri,
    view: Annotated[
        Literal["table", "chart.line", "chart.bar", "markdown"] | None,
        typer.Option(help="How to show JSON; without it, as it is, indented at a terminal."),
    ] = None,
    session: _Session = "",
    config: Config = None,
) -> None:
    """Print the data of an artifact.

    Such as: toolgen artifacts show 'artifact:session/s-1/report?version=1' --view table
    """
    from .artifacts import show_artifact

    work = show_artifact(find_project(config), uri, session=session or None, view=view or "")
    exit_after(work)


@artifacts_app.command()
def save(
    uri: _Uri,
    file: Annotated[Path, typer.Argument(help="Where its data go.", metavar="FILE")],
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    session: _Session = "",
    config: Config = None,
) -> None:
    """Write the data of an artifact to a file.

    Such as: toolgen artifacts save 'artifact:session/s-1/report?version=1' report.json
    """
    from .artifacts import save_artifact

    work = save_artifact(find_project(config), uri, file, session=session or None, force=force)
    exit_after(work)
