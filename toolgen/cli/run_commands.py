"""The commands below `toolgen runs`, and their options."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from toolgen.runtime.engine import RunState

from .config import find_project

runs_app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List, show, resume, resolve and cancel runs.",
)

Config = Annotated[
    Path | None,
    typer.Option(help="The pyproject.toml to use; by default the nearest one.", metavar="FILE"),
]
RunId = Annotated[str, typer.Argument(help="Id of the run.", metavar="RUN")]


@runs_app.command("list")
def list_(
    state: Annotated[RunState | None, typer.Option(help="Only runs in this state.")] = None,
    session: Annotated[str, typer.Option(help="Only runs of this session.", metavar="ID")] = "",
    limit: Annotated[int, typer.Option(help="At most so many.", min=1, metavar="N")] = 100,
    config: Config = None,
) -> None:
    """List runs, the newest first."""
    from .runs import list_runs

    project = find_project(config)
    raise typer.Exit(asyncio.run(list_runs(project, state=state, session=session or None, limit=limit)))


@runs_app.command()
def show(run: RunId, config: Config = None) -> None:
    """Print where a run stands, with its events, as JSON."""
    from .runs import show_run

    raise typer.Exit(asyncio.run(show_run(find_project(config), run)))


@runs_app.command()
def resume(run: RunId, config: Config = None) -> None:
    """Execute one run here until it is over or waits."""
    from .runs import resume_run

    raise typer.Exit(asyncio.run(resume_run(find_project(config), run)))


@runs_app.command()
def cancel(
    run: RunId,
    reason: Annotated[str, typer.Option(help="Why, for its log.", metavar="TEXT")] = "",
    config: Config = None,
) -> None:
    """Cancel a run with all that it has started and waits for."""
    from .runs import cancel_run

    raise typer.Exit(asyncio.run(cancel_run(find_project(config), run, reason)))
