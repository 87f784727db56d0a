"""The command `toolgen import`, and its options."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from toolgen.contract.findings import Format
from toolgen.importers.tool import Kind

OutputFormat = Annotated[Format, typer.Option(help="How problems are printed; json and github go to stdout.")]
SourceKind = Annotated[
    Kind | None,
    typer.Argument(help="What the source is; without it, all imports in the folder of --out are made again."),
]
SourceName = Annotated[
    str,
    typer.Argument(
        help="A file; for openapi also an https address; for python also a module, with :FUNCTION for one.",
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
Check = Annotated[
    bool,
    typer.Option("--check", help="Write nothing; say what changed since the last import, and exit 1 then."),
]
Name = Annotated[str, typer.Option(help="Name of the toolset; by default the source's.", metavar="NAME")]
Service = Annotated[str, typer.Option(help="Name of the service; by default the toolset's.", metavar="NAME")]
Strict = Annotated[bool, typer.Option("--strict", help="Write nothing and exit 1 if any tool has an error.")]
AllowLosses = Annotated[
    bool, typer.Option("--allow-losses", help="Exit 0 although the design lacks something of the source.")
]
Tag = Annotated[
    list[str] | None, typer.Option(help="openapi: take operations with this tag.", metavar="NAME")
]
Only = Annotated[
    list[str] | None,
    typer.Option(help="openapi: take operations of these ids, such as 'repos*'.", metavar="PATTERN"),
]
Exclude = Annotated[
    list[str] | None, typer.Option(help="openapi: leave operations of these ids out.", metavar="PATTERN")
]
Rename = Annotated[
    list[str] | None, typer.Option(help="openapi: call the tool of an operation NEW.", metavar="ID=NEW")
]
ReadOnly = Annotated[
    bool, typer.Option("--read-only", help="openapi: take only operations that change nothing.")
]
ServerUrl = Annotated[str, typer.Option("--server", help="openapi: where the API answers.", metavar="URL")]
AcceptServer = Annotated[
    bool,
    typer.Option("--accept-server", help="openapi: trust the servers of the document, private ones too."),
]
Resolve = Annotated[
    list[str] | None,
    typer.Option(help="Accept the new target of an open conflict, such as tool:pay.", metavar="PLACE"),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]


def import_source(
    kind: SourceKind = None,
    source: SourceName = "",
    out: Out = None,
    stdio: Stdio = "",
    url: Url = "",
    header: Header = None,
    insecure: AllowInsecure = False,
    check: Check = False,
    resolve: Resolve = None,
    name: Name = "",
    service: Service = "",
    strict: Strict = False,
    allow_losses: AllowLosses = False,
    tag: Tag = None,
    only: Only = None,
    exclude: Exclude = None,
    rename: Rename = None,
    read_only: ReadOnly = False,
    server: ServerUrl = "",
    accept_server: AcceptServer = False,
    force: Force = False,
    format: OutputFormat = "text",
) -> None:
    """Import existing tools: write a design module of them, which you then edit, or a server's lock.

    Such as: toolgen import openapi library.json --out shop
    """
    from .import_request import Chosen, ImportRequest
    from .importing import follow_imports, import_tools
    from .outcome import print_error_records, print_outcome
    from .server_lock import LockRequest, lock_server

    tags, ids, others, names = (tuple(written or ()) for written in (tag, only, exclude, rename))
    chosen = Chosen(tags, ids, others, names, read_only, server, accept_server)
    is_live = bool(stdio or url or header or insecure) or (kind == "mcp" and check and not source)
    is_named, is_openapi = bool(name or service or force), chosen != Chosen()
    _require_source(kind, source, is_live=is_live, is_openapi=is_openapi, is_named=is_named)
    lock = LockRequest(stdio=stdio, url=url, headers=tuple(header or ()), out=out, is_check=check)
    lock = replace(lock, is_insecure=insecure, is_forced=force)
    request = ImportRequest(
        kind=kind or "openapi", source=source, out=out or Path(), name=name, service=service, openapi=chosen
    )
    request = replace(request, is_strict=strict, may_lose=allow_losses, is_forced=force, is_check=check)
    request = replace(request, resolved=_resolved(resolve, check or force or is_live), format=format)
    with print_error_records(format):
        if is_live:
            raise typer.Exit(print_outcome(lock_server(lock)))
        outcomes = [import_tools(request)] if kind else follow_imports(request)
        raise typer.Exit(max(map(print_outcome, outcomes)))


def _resolved(places: list[str] | None, is_excluded: bool) -> tuple[str, ...]:
    if places and is_excluded:
        raise typer.BadParameter("--resolve goes with neither --check nor --force, nor with a live server")
    return tuple(places or ())


def _require_source(
    kind: Kind | None, source: str, *, is_live: bool, is_openapi: bool, is_named: bool
) -> None:
    if kind is None:
        if is_live or is_openapi or is_named:
            raise typer.BadParameter("without KIND, imports are made again with the options that they had")
        return
    if kind != "openapi" and is_openapi:
        raise typer.BadParameter("only `toolgen import openapi` takes a part of a document, and servers")
    if is_live and (kind != "mcp" or source):
        raise typer.BadParameter("only `toolgen import mcp` without a SOURCE asks a server")
    if not is_live and not source:
        live = ": write a file, or ask a server by --stdio or --url" if kind == "mcp" else ""
        raise typer.BadParameter(f"SOURCE is missing{live}")
