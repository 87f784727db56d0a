"""The command `toolgen import`, and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toolgen.findings import Format
from toolgen.importers.tool import Kind

OutputFormat = Annotated[Format, typer.Option(help="How problems are printed; json and github go to stdout.")]
SourceKind = Annotated[Kind, typer.Argument(help="What the source is.")]
SourceName = Annotated[
    str,
    typer.Argument(
        help="A file; for python a module or a file, with :FUNCTION for one of its functions.",
        metavar="SOURCE",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Folder of the design module and its schemas, or the module, a .py; of a live server the lock.",
        metavar="PATH",
    ),
]
Stdio = Annotated[
    str, typer.Option(help="Lock the tools of the MCP server that this starts.", metavar="COMMAND")
]
Url = Annotated[str, typer.Option(help="Lock the tools of this MCP server.", metavar="URL")]
Header = Annotated[
    list[str] | None,
    typer.Option(help="Send this header to --url; '$VAR' is a variable.", metavar="'NAME: $VAR'"),
]
AllowInsecure = Annotated[
    bool,
    typer.Option("--allow-insecure", help="Send --header to another machine over plain HTTP too."),
]
CheckLock = Annotated[
    bool, typer.Option("--check", help="Compare the lock with the server; exit 1 if it differs.")
]
Name = Annotated[str, typer.Option(help="Name of the toolset; by default the source's.", metavar="NAME")]
Service = Annotated[str, typer.Option(help="Name of the service; by default the toolset's.", metavar="NAME")]
Strict = Annotated[bool, typer.Option("--strict", help="Write nothing and exit 1 if any tool has an error.")]
AllowLosses = Annotated[
    bool, typer.Option("--allow-losses", help="Exit 0 although the design lacks something of the source.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]


def import_source(
    kind: SourceKind,
    source: SourceName = "",
    out: Out = None,
    stdio: Stdio = "",
    url: Url = "",
    header: Header = None,
    allow_insecure: AllowInsecure = False,
    check: CheckLock = False,
    name: Name = "",
    service: Service = "",
    strict: Strict = False,
    allow_losses: AllowLosses = False,
    force: Force = False,
    format: OutputFormat = "text",
) -> None:
    """Import existing tools: write a design module of them, which you then edit, or a server's lock."""
    from .importing import ImportRequest, import_tools
    from .outcome import print_error_records, print_outcome
    from .server_lock import LockRequest, lock_server

    is_live = bool(stdio or url or check or header or allow_insecure)
    _require_source(kind, source, is_live=is_live)
    with print_error_records(format):
        if is_live:
            lock = LockRequest(
                stdio=stdio,
                url=url,
                headers=tuple(header or ()),
                is_insecure=allow_insecure,
                out=out,
                is_check=check,
                is_forced=force,
            )
            raise typer.Exit(print_outcome(lock_server(lock)))
        request = ImportRequest(
            kind=kind,
            source=source,
            out=out or Path(),
            name=name,
            service=service,
            is_strict=strict,
            may_lose=allow_losses,
            is_forced=force,
            format=format,
        )
        raise typer.Exit(print_outcome(import_tools(request)))


def _require_source(kind: Kind, source: str, *, is_live: bool) -> None:
    if is_live and (kind != "mcp" or source):
        raise typer.BadParameter("only `toolgen import mcp` without a SOURCE asks a server")
    if not is_live and not source:
        live = ": write a file, or ask a server by --stdio or --url" if kind == "mcp" else ""
        raise typer.BadParameter(f"SOURCE is missing{live}")
