"""The commands and their options; what they do stands in `gen` and `call`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from toolgen.cli.config import find_project

app = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None
)

Config = Annotated[
    Path | None,
    typer.Option(help="The pyproject.toml to use; by default the nearest one.", metavar="FILE"),
]


def run(args: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    try:
        app(list(args), prog_name="toolgen")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


@app.callback(invoke_without_command=True)
def toolgen(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """One design in Python; typed tools for agents from it."""
    if show_version:
        print(f"toolgen {version('toolgen')}")
        raise typer.Exit


@app.command()
def gen(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 if the output is stale.")
    ] = False,
    config: Config = None,
) -> None:
    """Generate the code of the project's design."""
    from toolgen.cli.gen import check_output, generate_output

    project = find_project(config)
    raise typer.Exit(check_output(project) if check else generate_output(project))


@app.command()
def call(
    tool: Annotated[str, typer.Argument(help="Id or name of the tool.", metavar="TOOL")],
    json: Annotated[
        str, typer.Argument(help="What the model sends; '-' reads it from stdin.", metavar="JSON")
    ],
    session: Annotated[str, typer.Option(help="session_id of the call.", metavar="ID")] = "",
    run: Annotated[str, typer.Option(help="run_id of the call.", metavar="ID")] = "",
    turn: Annotated[str, typer.Option(help="turn_id of the call.", metavar="ID")] = "",
    tool_call: Annotated[str, typer.Option(help="tool_call_id of the call.", metavar="ID")] = "",
    parent_tool_call: Annotated[
        str, typer.Option(help="parent_tool_call_id of the call.", metavar="ID")
    ] = "",
    config: Config = None,
) -> None:
    """Run one tool through the project's runtime and print what the model would see."""
    from toolgen.cli.call import call_tool
    from toolgen.runtime import CallMeta

    meta = CallMeta(
        session_id=session,
        run_id=run,
        turn_id=turn,
        tool_call_id=tool_call,
        parent_tool_call_id=parent_tool_call,
    )
    data = sys.stdin.buffer.read() if json == "-" else json.encode("utf-8", "surrogateescape")
    raise typer.Exit(asyncio.run(call_tool(find_project(config), tool, data, meta)))
