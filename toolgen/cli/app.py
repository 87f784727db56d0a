"""The commands and their options; each command is in its own module.

The modules with commands do not use postponed annotations, because typer would evaluate each four times.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer.main import get_command

from .agent_commands import chat, run_turn
from .artifact_commands import artifacts_app
from .breaking_command import breaking, diff
from .catalog_commands import lint, schema
from .command_groups import AsJson, Config, ListingFormat, exit_after, mcp_app, runs_app, tools_app
from .command_list import Commands, narrowed
from .config import find_project, with_typescript
from .grant_commands import grants_app
from .import_command import OutputFormat, import_source
from .init_command import init

app = typer.Typer(cls=Commands, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)
app.add_typer(runs_app, name="runs")
app.add_typer(mcp_app, name="mcp")
app.add_typer(tools_app, name="tools")
app.add_typer(grants_app, name="grants")
app.add_typer(artifacts_app, name="artifacts")

Session = Annotated[str, typer.Option(help="session_id of the call.", metavar="ID")]
CredentialOwner = Annotated[
    Literal["session", "user", "service"] | None,
    typer.Option("--scope", help="Owner of a credential; by default the user of the call, else its session."),
]
Reason = Annotated[str, typer.Option(help="Reason for the denial or the cancellation, shown to the model.")]
GrantTerms = Annotated[
    str,
    typer.Option(
        help="Also approve later calls of the session: uses, expires_s (seconds) and a pattern, as JSON.",
        metavar="JSON",
    ),
]
Run = Annotated[str, typer.Option(help="run_id of the call.", metavar="ID")]
Turn = Annotated[str, typer.Option(help="turn_id of the call.", metavar="ID")]
ToolCall = Annotated[str, typer.Option(help="tool_call_id of the call.", metavar="ID")]
ParentToolCall = Annotated[str, typer.Option(help="parent_tool_call_id of the call.", metavar="ID")]


def run(args: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    try:
        get_command(narrowed(app, args))(list(args), prog_name="toolgen")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


@app.callback(invoke_without_command=True)
def toolgen(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Generate typed tools for agents from one design in Python."""
    if show_version:
        from importlib.metadata import version

        print(f"toolgen {version('toolgen')}")
        raise typer.Exit


@app.command()
def gen(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 if the generated code is out of date.")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Write nothing; print a diff, and exit 1 if there is one.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Generate again whenever the design changes, until Ctrl-C.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Generate even if nothing changed since the last run.")
    ] = False,
    typescript: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also write TypeScript types and a client into this folder."),
    ] = None,
    format: OutputFormat = "text",
    config: Config = None,
) -> None:
    """Generate the code of the project's design.

    Example: toolgen gen --check
    """
    from .gen import check_output, diff_output, generate_output
    from .outcome import print_error_records, print_outcome

    if watch and (check or diff):
        raise typer.BadParameter("--watch cannot be combined with --check or --diff, which write nothing")
    with print_error_records(format):
        project = find_project(config)
        if typescript:
            project = with_typescript(project, typescript)
        if watch:
            from .watch import watch_project

            raise typer.Exit(watch_project(project.file, format, typescript, is_forced=force))
        if diff or check:
            outcome = diff_output(project, format) if diff else check_output(project, format)
        else:
            outcome = generate_output(project, format, is_forced=force)
        raise typer.Exit(print_outcome(outcome))


@app.command()
def stubs(
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Print only missing and unimplemented methods; exit 1 if there are any."
        ),
    ] = False,
    format: OutputFormat = "text",
    json: AsJson = False,
    config: Config = None,
) -> None:
    """Show which methods of your executors are implemented, unimplemented, missing, changed or orphaned.

    Example: toolgen stubs --check
    """
    from .outcome import print_error_records, print_outcome
    from .stubs import show_stubs

    format = "json" if json else format
    with print_error_records(format):
        raise typer.Exit(print_outcome(show_stubs(find_project(config), check=check, format=format)))


@app.command()
def call(
    tool: Annotated[str, typer.Argument(help="Id or name of the tool.", metavar="TOOL")],
    json: Annotated[
        str,
        typer.Argument(help="Arguments as the model sends them; '-' reads them from stdin.", metavar="JSON"),
    ] = "{}",
    trace: Annotated[
        bool, typer.Option("--trace", help="Print the steps of the call with their times.")
    ] = False,
    session: Session = "",
    run: Run = "",
    turn: Turn = "",
    tool_call: ToolCall = "",
    parent_tool_call: ParentToolCall = "",
    requested_by: Annotated[
        str, typer.Option(help="Person on whose behalf the call is made.", metavar="NAME")
    ] = "",
    label: Annotated[
        list[str] | None, typer.Option(help="Label of the call; can be repeated.", metavar="NAME=VALUE")
    ] = None,
    show_sensitive: Annotated[
        bool, typer.Option("--show-sensitive", help="Do not redact sensitive values of the result.")
    ] = False,
    config: Config = None,
) -> None:
    """Run one tool through the project's runtime and print what the model would see.

    Example: toolgen call read_note '{"id": 1}' --trace
    """
    from toolgen.runtime import CallMeta

    from .call import call_tool

    meta = CallMeta(
        session_id=session,
        run_id=run,
        turn_id=turn,
        tool_call_id=tool_call,
        parent_tool_call_id=parent_tool_call,
        requested_by=requested_by,
        labels=_labels(label or ()),
    )
    data = sys.stdin.buffer.read() if json == "-" else json.encode("utf-8", "surrogateescape")
    call = call_tool(find_project(config), tool, data, meta, trace=trace, show_sensitive=show_sensitive)
    exit_after(call)


def _labels(texts: Sequence[str]) -> dict[str, str]:
    """Return the labels in texts of the form `NAME=VALUE`.

    Raises:
        BadParameter: a text is not `NAME=VALUE`.
    """
    labels = {}
    for text in texts:
        name, equals, labels[name] = text.partition("=")
        if not (name and equals):
            raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--label")
    return labels


app.command("run")(run_turn)
app.command()(chat)
app.command()(schema)
app.command()(lint)


@app.command()
def approve(
    token: Annotated[
        str | None,
        typer.Argument(
            help="Token, id or start of the id; without it, suspended calls are listed.", metavar="CALL"
        ),
    ] = None,
    deny: Annotated[bool, typer.Option("--deny", help="Deny the call; it is not executed.")] = False,
    message: Reason = "",
    payload: Annotated[
        str, typer.Option(help="Values that the design lets an approval add, as JSON.", metavar="JSON")
    ] = "",
    answer: Annotated[
        str, typer.Option(help="Answer to a question, or result of pending work, as JSON.", metavar="JSON")
    ] = "",
    grant: GrantTerms = "",
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Cancel the call; the model sees --message as the reason.")
    ] = False,
    by: Annotated[
        str, typer.Option(help="Name of the person who answers; by default your user name.", metavar="NAME")
    ] = "",
    yes: Annotated[
        bool, typer.Option("--yes", help="Approve without the confirmation prompt; required in scripts.")
    ] = False,
    scope: CredentialOwner = None,
    session: Session = "",
    format: ListingFormat = "text",
    json: AsJson = False,
    config: Config = None,
) -> None:
    """Show a suspended call with all its arguments, approve or answer it, and run it.

    Example: toolgen approve 4a9f3a799d4121a2 --by jo
    """
    from .approve import answer_call, answer_of, show_waiting, with_grant
    from .outcome import print_error_records

    format = "json" if json else format
    with print_error_records(format):
        project = find_project(config)
        if not token:
            if token is not None or deny or message or payload or answer or grant or cancel or by or yes:
                raise typer.BadParameter("an answer needs the token or the id of a call", param_hint="CALL")
            exit_after(show_waiting(project, session or None, format))
        options = answer_of(
            deny=deny, message=message, payload=payload, answer=answer, cancel=cancel, is_sure=yes, by=by
        )
        options = replace(with_grant(options, grant) if grant else options, scope=scope)
        exit_after(answer_call(project, token, options, session or None))


@app.command()
def worker(
    queue: Annotated[
        list[str] | None,
        typer.Option(help="Task queue to serve, repeatable; by default all of the engine.", metavar="NAME"),
    ] = None,
    role: Annotated[
        Literal["all", "runs", "activities"],
        typer.Option(help="Execute agent loops (runs), calls and planning (activities), or all."),
    ] = "all",
    health: Annotated[
        str,
        typer.Option(help="Serve /live and /ready here; the default host is 127.0.0.1.", metavar="HOST:PORT"),
    ] = "",
    drain: Annotated[
        float, typer.Option(help="Seconds for running calls to end after SIGTERM.", min=0, metavar="SECONDS")
    ] = 30.0,
    strict: Annotated[
        bool, typer.Option("--strict", help="Do not start if the generated code is older than the design.")
    ] = False,
    config: Config = None,
) -> None:
    """Execute the runs of the project's runtime until SIGTERM, then wait for running calls.

    Example: toolgen worker --health 8080 --drain 60
    """
    from .worker import run_worker

    if not isfinite(drain):
        raise typer.BadParameter(f"{drain} is not a finite number of seconds", param_hint="--drain")
    project, queues = find_project(config), tuple(queue or ())
    exit_after(run_worker(project, queues, role, health=health, drain_s=drain, is_strict=strict))


@app.command()
def serve(
    host: Annotated[
        str, typer.Option(help="Address of this machine to listen on.", metavar="HOST")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port to listen on; 0 chooses a free one.", min=0, max=0xFFFF, metavar="PORT")
    ] = 8765,
    worker: Annotated[
        bool, typer.Option(help="Execute the runs in this process, or leave them to another one.")
    ] = True,
    session: Annotated[
        str, typer.Option(help="session_id of calls that do not set one.", metavar="ID")
    ] = "local",
    config: Config = None,
) -> None:
    """Serve the project's runtime over HTTP to this machine, with MCP at /mcp.

    Example: toolgen serve --port 0 --session s-mira
    """
    from .serve import serve_project

    exit_after(serve_project(find_project(config), host, port, is_worker=worker, session=session))


@app.command("test")
def examples(
    tool: Annotated[
        str, typer.Option(help="Run only the examples of this tool, by id or name.", metavar="TOOL")
    ] = "",
    session: Session = "",
    run: Run = "",
    turn: Turn = "",
    tool_call: ToolCall = "",
    parent_tool_call: ParentToolCall = "",
    format: OutputFormat = "text",
    config: Config = None,
) -> None:
    """Run the examples of the design on a test runtime and compare the results.

    Without test_runtime in [tool.toolgen], only read-only tools are run.

    Example: toolgen test --tool read_note
    """
    from toolgen.runtime import CallMeta

    from .examples import run_examples
    from .outcome import print_error_records

    meta = CallMeta(
        session_id=session,
        run_id=run,
        turn_id=turn,
        tool_call_id=tool_call,
        parent_tool_call_id=parent_tool_call,
    )
    with print_error_records(format):
        exit_after(run_examples(find_project(config), meta, tool, format))


@app.command()
def explain(
    code: Annotated[
        str | None,
        typer.Argument(help="Code, such as bad-name; without it, all codes are listed.", metavar="CODE"),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print code and explanation, one JSON object per line.")
    ] = False,
) -> None:
    """Explain a code; for a diagnostic, also show a design that causes it and the fix.

    Example: toolgen explain bad-name
    """
    from .explain import explain as explained
    from .explain import explanation_records

    print(explanation_records(code) if json else explained(code))


app.command()(init)
app.command("import")(import_source)
app.command()(breaking)
app.command()(diff)
