"""`toolgen import mcp --stdio` and `--url`: the lock of a live MCP server, written or compared."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Final

from toolgen.checks.compatibility import compare, contract_of_server, ranked
from toolgen.codegen.write.staging import formatted
from toolgen.contract.errors import ToolgenError
from toolgen.contract.mcp_lock import LockError, MCPLock, lock_text, read_lock
from toolgen.contract.printable import printable, visible, visible_lines
from toolgen.contract.record import frozen_record
from toolgen.shapes.naming import snake

from .import_request import name_of, variable_of
from .mcp_settings import ServerSettings, header_of, recorded
from .new_files import write_new_files
from .outcome import Outcome
from .project_place import settings_of
from .terminal import counted

_SUFFIX = ".mcp.json"
_MOST_SENTENCES = 20
_MOST_SHOWN: Final = 5
"""Maximum number of tool names in a summary; the next constant limits the characters of each."""
_LONGEST_SHOWN: Final = 64
_TITLE: Final = "The tools of the MCP server {!r}, from its lock."


@frozen_record
class LockRequest:
    """The options of the command, with either `stdio` or `url`."""

    stdio: str
    """The command that starts a server."""
    url: str
    headers: tuple[str, ...] = ()
    """Headers of each request to the URL: `Name: value`; `$NAME` refers to an environment variable."""
    is_insecure: bool = False
    """Whether headers can be sent to another machine over plain HTTP."""
    out: Path | None = None
    """The lock; by default named after the server, in the working directory."""
    is_check: bool = False
    """Compare, and write nothing."""
    is_forced: bool = False


def lock_server(request: LockRequest) -> Outcome:
    """Write the lock of a server, or compare it; the exit code is 1 if a compared lock differs.

    If pyproject.toml has settings, the server is added to them, and a project without a design gets one.

    Raises:
        ToolgenError: the server cannot be queried, the extra `mcp` is missing, or the file cannot be written.
    """
    settings = _settings(request)
    server = settings.server()
    from toolgen.adapters.mcp import lock_of

    lock = lock_of(server.address, server)
    own_name = lock.server or server.address
    text = lock_text(lock)
    file = request.out or Path(f"{snake(own_name)}{_SUFFIX}")
    before = _text_of(file)
    if request.is_check:
        return _compared(file, before, lock)
    tools = counted(len(lock.tools), "tool")
    if before == text:
        return Outcome(code=0, summary=f"{file} is up to date: {tools}", is_current=True)
    is_ours = before is not None and _is_lock(before)
    texts = {file.name: text}
    name = name_of(own_name)
    design = file.with_name(f"{name}_design.py")
    project = settings_of(Path())
    if project is not None and not ("design" in project or is_ours or design.exists()):
        texts[design.name] = _design(name, own_name, file.name)
    write_new_files(file.parent, texts, is_forced=request.is_forced or is_ours)
    if before is not None and is_ours:
        notes = _changes(before, lock)
    else:
        notes = tuple(_next_steps(name, file, design if design.name in texts else None, settings))
    return Outcome(code=0, notes=notes, summary=f"wrote {file}: {tools}")


def _settings(request: LockRequest) -> ServerSettings:
    """Return the connection to the server in the form of settings."""
    if bool(request.stdio) == bool(request.url):
        raise ToolgenError(
            "pass either --stdio or --url",
            hint="write --stdio 'command arguments', or --url https://…",
        )
    if request.url:
        headers = dict(map(header_of, request.headers))
        return ServerSettings(url=request.url, headers=headers, allow_insecure=request.is_insecure)
    if request.headers:
        raise ToolgenError(
            "--header needs --url", hint="a server started by --stdio reads its environment variables itself"
        )
    if request.is_insecure:
        raise ToolgenError(
            "--allow-insecure needs --url", hint="leave it out: a server started by --stdio gets no headers"
        )
    return ServerSettings(command=tuple(shlex.split(request.stdio)) or ("",))


def _design(name: str, title: str, lock: str) -> str:
    """Return a design module that has the tools of the lock."""
    about = json.dumps(f"The tools of {visible(title)}.", ensure_ascii=False)
    variable = variable_of(name)
    service = f'd.Service("{name}", {about}, {variable})'
    lines = [
        f'"""{_TITLE.format(name)}"""',
        "from toolgen import dsl as d",
        f'{variable} = d.MCPToolset("{name}", lock={json.dumps(lock, ensure_ascii=False)})',
        f'design = d.Design("{name}", {about}, {service})',
    ]
    return formatted(["\n".join(lines)])[0]


def _next_steps(name: str, lock: Path, design: Path | None, settings: ServerSettings) -> Iterator[str]:
    """Add the server to the settings, and yield lines about further files and next steps."""
    if design is None:
        yield f'next: add d.MCPToolset("{name}", lock="{lock.name}") to a service of the design'
    else:
        yield f"{design}: the design module; edit it freely, it is not generated again"
    if settings.may_have_secrets():
        yield f"its command or URL may contain a secret, so write [tool.toolgen.mcp.{name}] yourself"
    elif "runtime" in (project := settings_of(Path()) or {}):
        yield "next: open an MCPToolset for it in your runtime"
    elif project and recorded(Path("pyproject.toml"), name, settings):
        yield f"pyproject.toml: [tool.toolgen.mcp.{name}] has the command or URL of the server"
    if design is not None:
        yield (
            f'next: set design = "{design.stem}" in [tool.toolgen] of pyproject.toml, then run: toolgen gen'
        )


def _compared(file: Path, before: str | None, lock: MCPLock) -> Outcome:
    """Return the differences between a lock and the current tools of its server."""
    now = lock_text(lock)
    if before is None:
        raise ToolgenError(
            f"the lock {file} does not exist, so there is nothing to compare",
            hint="run the command without --check",
        )
    if before == now:
        return Outcome(code=0, summary=f"{file} is up to date with the server", is_current=True)
    lines = unified_diff(
        before.splitlines(keepends=True), now.splitlines(keepends=True), str(file), "the server"
    )
    return Outcome(
        code=1,
        output=visible_lines("".join(lines)).rstrip("\n"),
        notes=_changes(before, lock),
        summary=f"{file} is not up to date with the server; run the command without --check to update it",
    )


def _changes(before: str, lock: MCPLock) -> tuple[str, ...]:
    """Return a line with the changed tools, and a line for each change with the parties that it breaks."""
    try:
        listed = read_lock(before)
    except LockError as error:
        return (f"the lock {error}",)
    old = {str(tool["name"]): tool for tool in listed.tools}
    new = {str(tool["name"]): tool for tool in lock.tools}
    changes = {
        "added": new.keys() - old.keys(),
        "removed": old.keys() - new.keys(),
        "changed": {name for name in new.keys() & old.keys() if new[name] != old[name]},
    }
    differences = ranked(compare(contract_of_server(listed.tools), contract_of_server(lock.tools)))
    sentences = [f"  {line}" for each in differences[:_MOST_SENTENCES] for line in each.lines()]
    more = (
        [f"  … and {len(differences) - _MOST_SENTENCES} more"] if len(differences) > _MOST_SENTENCES else []
    )
    tools = "; ".join(_counted(what, names) for what, names in changes.items())
    return (f"tools: {tools}", *sentences, *more)


def _counted(what: str, names: Collection[str]) -> str:
    """Return the number of tools of a kind, with the first of their names."""
    shown = [printable(name[:_LONGEST_SHOWN]) for name in sorted(names)[:_MOST_SHOWN]]
    more = ", …" if len(names) > _MOST_SHOWN else ""
    return f"{len(names)} {what} ({', '.join(shown)}{more})" if names else f"0 {what}"


def _text_of(file: Path) -> str | None:
    try:
        return file.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ToolgenError(f"{file} cannot be read: {error}", hint="choose another --out") from error


def _is_lock(text: str) -> bool:
    try:
        read_lock(text)
    except LockError as error:
        return "was edited" in str(error)
    return True
