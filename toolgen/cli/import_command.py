"""The command `toolgen import`, and its options."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from toolgen.contract.findings import Format
from toolgen.importers.tool import Kind

OutputFormat = Annotated[
    Format, typer.Option(help="Output format of problems; json and github are printed to stdout.")
]
SourceKind = Annotated[
    Kind | None,
    typer.Argument(help="Kind of the source; without it, all imports in the folder of --out are repeated."),
]
SourceName = Annotated[
    str,
    typer.Argument(
        help="A file; for openapi also an https URL; for python also MODULE or MODULE:FUNCTION.",
        metavar="SOURCE",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Folder of the design module and its schemas, or a .py file; for a live server, the lock file.",
        metavar="PATH",
    ),
]
Stdio = Annotated[
    str, typer.Option(help="Lock the tools of the MCP server that this command starts.", metavar="COMMAND")
]
Url = Annotated[str, typer.Option(help="Lock the tools of the MCP server at this URL.", metavar="URL")]
Header = Annotated[
    list[str] | None,
    typer.Option(
        help="Send this header to --url; '$VAR' is an environment variable.", metavar="'NAME: $VAR'"
    ),
]
AllowInsecure = Annotated[
    bool,
    typer.Option("--allow-insecure", help="Allow sending --header to another machine over plain HTTP."),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check", help="Write nothing; list changes since the last import, and exit 1 if there are any."
    ),
]
Name = Annotated[
    str, typer.Option(help="Name of the toolset; by default derived from the source.", metavar="NAME")
]
Service = Annotated[
    str, typer.Option(help="Name of the service; by default the name of the toolset.", metavar="NAME")
]
Strict = Annotated[bool, typer.Option("--strict", help="Write nothing and exit 1 if any tool has an error.")]
AllowLosses = Annotated[
    bool, typer.Option("--allow-losses", help="Exit 0 even if parts of the source could not be imported.")
]
Tag = Annotated[
    list[str] | None, typer.Option(help="openapi: import only operations with this tag.", metavar="NAME")
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        help="openapi: import only operations whose id matches, such as 'repos*'.", metavar="PATTERN"
    ),
]
Exclude = Annotated[
    list[str] | None, typer.Option(help="openapi: skip operations whose id matches.", metavar="PATTERN")
]
Rename = Annotated[
    list[str] | None,
    typer.Option(help="openapi: rename the tool of the operation ID to NEW.", metavar="ID=NEW"),
]
ReadOnly = Annotated[
    bool, typer.Option("--read-only", help="openapi: import only operations that change nothing.")
]
ServerUrl = Annotated[str, typer.Option("--server", help="openapi: base URL of the API.", metavar="URL")]
AcceptServer = Annotated[
    bool,
    typer.Option(
        "--accept-server", help="openapi: trust the servers in the document, including private ones."
    ),
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
    """Import existing tools as a design module that you can edit, or lock the tools of an MCP server.

    Example: toolgen import openapi library.json --out shop
    """
    from .import_request import ImportRequest, OpenAPIChoices
    from .importing import follow_imports, import_tools
    from .outcome import print_error_records, print_outcome
    from .server_lock import LockRequest, lock_server

    tags, ids, others, names = (tuple(written or ()) for written in (tag, only, exclude, rename))
    choices = OpenAPIChoices(tags, ids, others, names, read_only, server, accept_server)
    is_live = bool(stdio or url or header or insecure) or (kind == "mcp" and check and not source)
    is_named, is_openapi = bool(name or service or force), choices != OpenAPIChoices()
    _require_source(kind, source, is_live=is_live, is_openapi=is_openapi, is_named=is_named)
    lock = LockRequest(stdio=stdio, url=url, headers=tuple(header or ()), out=out, is_check=check)
    lock = replace(lock, is_insecure=insecure, is_forced=force)
    request = ImportRequest(
        kind=kind or "openapi", source=source, out=out or Path(), name=name, service=service, openapi=choices
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
        raise typer.BadParameter("--resolve cannot be combined with --check, --force or a live server")
    return tuple(places or ())


def _require_source(
    kind: Kind | None, source: str, *, is_live: bool, is_openapi: bool, is_named: bool
) -> None:
    if kind is None:
        if is_live or is_openapi or is_named:
            raise typer.BadParameter("without KIND, imports are repeated with the options that they had")
        return
    if kind != "openapi" and is_openapi:
        raise typer.BadParameter(
            "--tag, --only, --exclude, --rename, --read-only, --server and --accept-server need "
            "`toolgen import openapi`"
        )
    if is_live and (kind != "mcp" or source):
        raise typer.BadParameter(
            "--stdio, --url, --header and --allow-insecure need `toolgen import mcp` without a SOURCE"
        )
    if not is_live and not source:
        live = ": pass a file, or a live server with --stdio or --url" if kind == "mcp" else ""
        raise typer.BadParameter(f"SOURCE is missing{live}")
