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
    import asyncio  # a quarter of the time of `--help`, which has no command to run

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
    typer.Option(help="How the list is printed; json has an object a line, and errors go to stdout too."),
]
AsJson = Annotated[bool, typer.Option("--json", help="The same as --format json.")]
PrintConfig = Annotated[
    bool, typer.Option("--print-config", help="Print settings of a desktop client that start it.")
]
ApprovedBy = Annotated[
    Literal["out_of_band", "elicitation"],
    typer.Option(help="Who approves calls: people elsewhere, or whoever answers for the client."),
]
RunId = Annotated[str, typer.Argument(help="Id of the run.", metavar="RUN")]
mcp_app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Serve the tools of the project by the Model Context Protocol (MCP).",
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
            "--status", help="Only runs with this status; `unknown` if the outcome of a call is unknown."
        ),
    ] = None,
    session: Annotated[str, typer.Option(help="Only runs of this session.", metavar="ID")] = "",
    limit: Annotated[int, typer.Option(help="At most so many.", min=1, metavar="N")] = 100,
    format: ListingFormat = "text",
    json: AsJson = False,
    config: Config = None,
) -> None:
    """List runs, the newest first.

    Such as: toolgen runs list --status waiting
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
            "--json/--timeline", help="All of it, as JSON, or as lines for people; at a terminal lines."
        ),
    ] = None,
    config: Config = None,
) -> None:
    """Print a run with its plans, calls, waits, children and tokens, or as JSON with all its events.

    Such as: toolgen runs show run_1
    """
    from .runs import show_run

    as_json = not sys.stdout.isatty() if json is None else json
    exit_after(show_run(find_project(config), run, as_json=as_json))


@runs_app.command()
def resume(run: RunId, config: Config = None) -> None:
    """Execute one run here until it is over or waits.

    Such as: toolgen runs resume run_1
    """
    from .runs import resume_run

    exit_after(resume_run(find_project(config), run))


@runs_app.command()
def resolve(
    run: RunId,
    call: Annotated[
        str, typer.Argument(help="Id of the call in the run; none for a run call_….", metavar="[CALL]")
    ] = "",
    result: Annotated[str, typer.Option(help="What the tool has returned, as JSON.", metavar="JSON")] = "",
    failed: Annotated[
        str, typer.Option(help="The call failed; the error that the model sees.", metavar="TEXT")
    ] = "",
    not_run: Annotated[bool, typer.Option("--not-run", help="It was not run at all.")] = False,
    by: Annotated[
        str, typer.Option(help="Who has found out; by default the user of this machine.", metavar="NAME")
    ] = "",
    config: Config = None,
) -> None:
    """Record the outcome of a call whose outcome is unknown; nothing is executed.

    Such as: toolgen runs resolve run_1 call_1_0 --result '{"id": 7}'
    """
    from .runs import resolution_of, resolve_call
    from .terminal import user_name

    resolution = resolution_of(result=result, failed=failed, not_run=not_run)
    project = find_project(config)
    exit_after(resolve_call(project, run, call, resolution, by or user_name()))


@runs_app.command()
def check(
    runs: Annotated[
        list[str] | None, typer.Argument(help="Ids of runs; all runs without any.", metavar="[RUN]...")
    ] = None,
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Seal what is unsealed, as it stands; it can be answered then.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Adopt without a prompt.")] = False,
    by: Annotated[
        str, typer.Option(help="Who adopts; by default the user of this machine.", metavar="NAME")
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="An object on a line for each.")] = False,
    config: Config = None,
) -> None:
    """Show the calls that wait and that no secret of this host has sealed, or that were changed since.

    Such as: toolgen runs check run_1
    """
    from .operations import check_runs
    from .terminal import user_name

    who = by or user_name()
    work = check_runs(find_project(config), runs or (), adopt=adopt, is_sure=yes, by=who, as_json=json)
    exit_after(work)


@runs_app.command()
def cancel(
    run: RunId,
    reason: Annotated[str, typer.Option(help="Why, for its log.", metavar="TEXT")] = "",
    config: Config = None,
) -> None:
    """Cancel a run with all that it has started and waits for.

    Such as: toolgen runs cancel run_1 --reason 'no longer needed'
    """
    from .runs import cancel_run

    exit_after(cancel_run(find_project(config), run, reason))


@runs_app.command("release-clock")
def release_clock_(config: Config = None) -> None:
    """Trust the wall clock, after a worker has logged that it is far ahead of its runs.

    Such as: toolgen runs release-clock
    """
    from .runs import release_clock

    exit_after(release_clock(find_project(config)))


@runs_app.command()
def release(
    session: Annotated[
        str, typer.Option(help="This session, also where its run is that of another engine.", metavar="ID")
    ] = "",
    engine: Annotated[
        str, typer.Option(help="All sessions of an engine that is lost with its runs.", metavar="ENGINE")
    ] = "",
    config: Config = None,
) -> None:
    """Release the sessions whose run is gone, such as with a lost journal.

    Such as: toolgen runs release --session s-mira
    """
    from .operations import release_sessions

    exit_after(release_sessions(find_project(config), session=session, engine=engine))


@runs_app.command()
def restore(config: Config = None) -> None:
    """Accept the file of the runs in the place of one that was lost; workers refuse it before.

    Such as: toolgen runs restore
    """
    from .operations import restore_runs

    exit_after(restore_runs(find_project(config)))


@runs_app.command()
def erase(
    session: Annotated[str, typer.Option(help="The session.", metavar="ID")] = "",
    label: Annotated[
        str, typer.Option(help="All sessions that were created with this label.", metavar="NAME=VALUE")
    ] = "",
    cancel_: Annotated[
        bool, typer.Option("--cancel", help="Cancel runs that are not over; otherwise nothing is erased.")
    ] = False,
    config: Config = None,
) -> None:
    """Delete a session with its messages, runs, state, artifacts and events.

    Such as: toolgen runs erase --session s-mira --cancel
    """
    from .operations import erase_sessions

    project = find_project(config)
    exit_after(erase_sessions(project, session=session, label=label, cancel=cancel_))


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
    approvals: ApprovedBy = "out_of_band",
    print_config: PrintConfig = False,
    config: Config = None,
) -> None:
    """Serve the tools of the configured runtime to MCP clients, by stdio or HTTP.

    Such as: toolgen mcp serve --session s-mira --print-config
    """
    from .mcp import ServeOptions, print_client_config, serve_runtime

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
    if print_config:
        raise typer.Exit(print_client_config(find_project(config), options))
    exit_after(serve_runtime(find_project(config), options))


@tools_app.command("list")
def list_all(
    disabled: Annotated[bool, typer.Option("--disabled", help="Only tools that are disabled.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    config: Config = None,
) -> None:
    """List the registered tools, and those that are disabled.

    Such as: toolgen tools list --json
    """
    from .tools import list_tools

    work = list_tools(find_project(config), only_disabled=disabled, as_json=json)
    exit_after(work)


@tools_app.command()
def disable(
    tool: _ToolName,
    reason: Annotated[
        str, typer.Option(help="Why; models and people read it.", metavar="TEXT", show_default=False)
    ],
    by: Annotated[
        str, typer.Option(help="Who disables it; by default the user of this machine.", metavar="NAME")
    ] = "",
    config: Config = None,
) -> None:
    """Disable a tool in all processes that share the store, within seconds.

    Such as: toolgen tools disable reset_device --reason 'under repair'
    """
    from .terminal import user_name
    from .tools import disable_tool

    project = find_project(config)
    exit_after(disable_tool(project, tool, reason, by or user_name()))


@tools_app.command()
def enable(tool: _ToolName, config: Config = None) -> None:
    """Enable a tool again.

    Such as: toolgen tools enable reset_device
    """
    from .tools import enable_tool

    exit_after(enable_tool(find_project(config), tool))
