"""The commands below `toolgen runs`, `toolgen mcp` and `toolgen tools`, and their options."""

import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer

from .config import find_project
from .terminal import Listing


def exit_after(work: Coroutine[Any, Any, int]) -> NoReturn:
    """Run an asynchronous command, and end with its exit code."""
    import asyncio  # imported late, because it takes a quarter of the time of `--help`

    raise typer.Exit(asyncio.run(work))


runs_app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List, show, resume, check, resolve, cancel, restore and erase runs.",
)

Config = Annotated[
    Path | None,
    typer.Option(help="The pyproject.toml to use; by default the nearest one.", metavar="FILE"),
]
Listed = Literal["running", "waiting", "completed", "failed", "canceled", "unknown"]
ListingFormat = Annotated[
    Listing,
    typer.Option(help="Output format; json prints one object per line, and errors to stdout too."),
]
AsJson = Annotated[bool, typer.Option("--json", help="The same as --format json.")]
PrintConfig = Annotated[
    bool,
    typer.Option("--print-config", help="Print the settings with which a desktop client starts this server."),
]
ApprovedBy = Annotated[
    Literal["out_of_band", "elicitation"],
    typer.Option(help="Who approves calls: people outside of MCP, or the user of the client."),
]
RunId = Annotated[str, typer.Argument(help="Id of the run.", metavar="RUN")]
mcp_app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Serve the tools of the project over the Model Context Protocol (MCP).",
)
tools_app = typer.Typer(
    add_completion=False, no_args_is_help=True, rich_markup_mode=None, help="List, disable and enable tools."
)

_ToolName = Annotated[str, typer.Argument(help="Id or name of the tool.", metavar="TOOL")]


@runs_app.command("list")
def list_(
    state: Annotated[
        Listed | None,
        typer.Option(
            "--status",
            help="Only runs with this status; `unknown` selects runs with a call of unknown outcome.",
        ),
    ] = None,
    session: Annotated[str, typer.Option(help="Only runs of this session.", metavar="ID")] = "",
    limit: Annotated[int, typer.Option(help="Maximum number of runs.", min=1, metavar="N")] = 100,
    format: ListingFormat = "text",
    json: AsJson = False,
    config: Config = None,
) -> None:
    """List runs, newest first.

    Example: toolgen runs list --status waiting
    """
    from .outcome import print_error_records
    from .runs import list_runs

    format = "json" if json else format
    with print_error_records(format):
        work = list_runs(
            find_project(config), state=state, session=session or None, limit=limit, format=format
        )
        exit_after(work)


@runs_app.command()
def show(
    run: RunId,
    json: Annotated[
        bool | None,
        typer.Option(
            "--json/--timeline",
            help="Print all of it as JSON, or a timeline; by default a timeline at a terminal, else JSON.",
        ),
    ] = None,
    config: Config = None,
) -> None:
    """Print a timeline of a run with its plans, calls, waits, child runs and tokens, or all events as JSON.

    Example: toolgen runs show run_1
    """
    from .runs import show_run

    as_json = not sys.stdout.isatty() if json is None else json
    exit_after(show_run(find_project(config), run, as_json=as_json))


@runs_app.command()
def resume(run: RunId, config: Config = None) -> None:
    """Execute one run in this process until it ends or waits.

    Example: toolgen runs resume run_1
    """
    from .runs import resume_run

    exit_after(resume_run(find_project(config), run))


@runs_app.command()
def resolve(
    run: RunId,
    call: Annotated[
        str,
        typer.Argument(help="Id of the call in the run; leave it out for a run call_….", metavar="[CALL]"),
    ] = "",
    result: Annotated[str, typer.Option(help="Result of the tool, as JSON.", metavar="JSON")] = "",
    failed: Annotated[
        str, typer.Option(help="The call failed with this error, which the model sees.", metavar="TEXT")
    ] = "",
    not_run: Annotated[bool, typer.Option("--not-run", help="The call was not executed.")] = False,
    by: Annotated[
        str, typer.Option(help="Person who found out; by default the user of this machine.", metavar="NAME")
    ] = "",
    config: Config = None,
) -> None:
    """Record the outcome of a call whose outcome is unknown; nothing is executed.

    Example: toolgen runs resolve run_1 call_1_0 --result '{"id": 7}'
    """
    from .runs import resolution_of, resolve_call
    from .terminal import user_name

    resolution = resolution_of(result=result, failed=failed, not_run=not_run)
    project = find_project(config)
    exit_after(resolve_call(project, run, call, resolution, by or user_name()))


@runs_app.command()
def check(
    runs: Annotated[
        list[str] | None, typer.Argument(help="Ids of the runs to check; by default all.", metavar="[RUN]...")
    ] = None,
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Seal unsealed calls as they are, so that they can be answered.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Adopt without the confirmation prompt.")] = False,
    by: Annotated[
        str, typer.Option(help="Person who adopts; by default the user of this machine.", metavar="NAME")
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
    config: Config = None,
) -> None:
    """Show damaged runs, and suspended calls that are unsealed or were changed after they were sealed.

    Example: toolgen runs check run_1
    """
    from .operations import check_runs
    from .terminal import user_name

    who = by or user_name()
    work = check_runs(find_project(config), runs or (), adopt=adopt, is_sure=yes, by=who, as_json=json)
    exit_after(work)


@runs_app.command()
def cancel(
    run: RunId,
    reason: Annotated[str, typer.Option(help="Reason, recorded in the log of the run.", metavar="TEXT")] = "",
    config: Config = None,
) -> None:
    """Cancel a run with its child runs and suspended calls.

    Example: toolgen runs cancel run_1 --reason 'no longer needed'
    """
    from .runs import cancel_run

    exit_after(cancel_run(find_project(config), run, reason))


@runs_app.command("release-clock")
def release_clock_(config: Config = None) -> None:
    """Trust the wall clock, after a worker has logged that it is far ahead of its runs.

    Example: toolgen runs release-clock
    """
    from .runs import release_clock

    exit_after(release_clock(find_project(config)))


@runs_app.command()
def release(
    session: Annotated[
        str,
        typer.Option(help="Release this session, even if its run belongs to another engine.", metavar="ID"),
    ] = "",
    engine: Annotated[
        str, typer.Option(help="Release all sessions of this engine, whose runs are lost.", metavar="ENGINE")
    ] = "",
    config: Config = None,
) -> None:
    """Release sessions whose run no longer exists, for example because a journal was lost.

    Example: toolgen runs release --session s-mira
    """
    from .operations import release_sessions

    exit_after(release_sessions(find_project(config), session=session, engine=engine))


@runs_app.command()
def restore(config: Config = None) -> None:
    """Accept a restored file of runs in place of a lost one; until then, workers refuse it.

    Example: toolgen runs restore
    """
    from .operations import restore_runs

    exit_after(restore_runs(find_project(config)))


@runs_app.command()
def erase(
    session: Annotated[str, typer.Option(help="Session to erase.", metavar="ID")] = "",
    label: Annotated[
        str, typer.Option(help="Erase all sessions that were created with this label.", metavar="NAME=VALUE")
    ] = "",
    cancel_: Annotated[
        bool,
        typer.Option(
            "--cancel", help="Cancel runs that have not ended; without it, such runs prevent erasing."
        ),
    ] = False,
    config: Config = None,
) -> None:
    """Delete a session with its messages, runs, state, artifacts and events.

    Example: toolgen runs erase --session s-mira --cancel
    """
    from .operations import erase_sessions

    project = find_project(config)
    exit_after(erase_sessions(project, session=session, label=label, cancel=cancel_))


@mcp_app.callback()
def mcp() -> None:
    """Serve the tools of the project over the Model Context Protocol (MCP)."""


@mcp_app.command()
def serve(
    toolset: Annotated[str, typer.Option(help="Serve the tools of this toolset only.", metavar="NAME")] = "",
    agent: Annotated[str, typer.Option(help="Serve the tools of this agent.", metavar="ID")] = "",
    session: Annotated[str, typer.Option(help="session_id of all calls.", metavar="ID")] = "",
    requested_by: Annotated[
        str, typer.Option(help="Person on whose behalf calls are made; not with --verify.", metavar="PERSON")
    ] = "",
    http: Annotated[
        str, typer.Option(help="Serve HTTP here, under /mcp; the default is stdio.", metavar="HOST:PORT")
    ] = "",
    verify: Annotated[
        str, typer.Option(help="With --http: returns the caller of a token.", metavar="MODULE:FUNCTION")
    ] = "",
    host: Annotated[
        list[str] | None,
        typer.Option(
            help="With --http: a host name in the URL of the clients; can be repeated.", metavar="NAME"
        ),
    ] = None,
    approvals: ApprovedBy = "out_of_band",
    print_config: PrintConfig = False,
    config: Config = None,
) -> None:
    """Serve the tools of the configured runtime to MCP clients, over stdio or HTTP.

    Example: toolgen mcp serve --session s-mira --print-config
    """
    from .mcp import ServeOptions, print_client_config, serve_runtime

    if not http and (verify or host):
        raise typer.BadParameter("--verify and --host need --http")
    if verify and requested_by:
        raise typer.BadParameter("--requested-by and --verify cannot be combined: both set the caller")
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
    if print_config:
        raise typer.Exit(print_client_config(find_project(config), options))
    exit_after(serve_runtime(find_project(config), options))


@tools_app.command("list")
def list_all(
    disabled: Annotated[bool, typer.Option("--disabled", help="Only tools that are disabled.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
    config: Config = None,
) -> None:
    """List the registered tools, and those that are disabled.

    Example: toolgen tools list --json
    """
    from .tools import list_tools

    work = list_tools(find_project(config), only_disabled=disabled, as_json=json)
    exit_after(work)


@tools_app.command()
def disable(
    tool: _ToolName,
    reason: Annotated[
        str, typer.Option(help="Reason, shown to models and people.", metavar="TEXT", show_default=False)
    ],
    by: Annotated[
        str, typer.Option(help="Person who disables it; by default the user of this machine.", metavar="NAME")
    ] = "",
    config: Config = None,
) -> None:
    """Disable a tool in all processes that share the store, within seconds.

    Example: toolgen tools disable reset_device --reason 'under repair'
    """
    from .terminal import user_name
    from .tools import disable_tool

    project = find_project(config)
    exit_after(disable_tool(project, tool, reason, by or user_name()))


@tools_app.command()
def enable(tool: _ToolName, config: Config = None) -> None:
    """Enable a tool again.

    Example: toolgen tools enable reset_device
    """
    from .tools import enable_tool

    exit_after(enable_tool(find_project(config), tool))
