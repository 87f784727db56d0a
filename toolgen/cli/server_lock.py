"""`toolgen import mcp --stdio` and `--url`: the lock of a live MCP server, written or compared."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Final

from toolgen.contract.errors import ToolgenError
from toolgen.contract.mcp_lock import Lock, LockError, lock_text, read_lock
from toolgen.contract.printable import printable, printable_lines
from toolgen.shapes.naming import snake

from .atomic_write import write_files_atomically
from .outcome import Outcome

_SUFFIX = ".mcp.json"
_MOST_SHOWN: Final = 5
"""Names of tools in a summary, and the characters of each."""
_LONGEST_SHOWN: Final = 64
_VARIABLE: Final = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockRequest:
    """What the command line asks for: one of `stdio` and `url`."""

    stdio: str
    """The command that starts a server."""
    url: str
    headers: tuple[str, ...] = ()
    """Headers of each request to the URL: `Name: value`, where `$NAME` stands for an environment variable."""
    is_insecure: bool
    """Headers may be sent to another machine over plain HTTP."""
    out: Path | None
    """The lock; by default named after the server, in the working directory."""
    is_check: bool
    """Compare, and write nothing."""
    is_forced: bool


def lock_server(request: LockRequest) -> Outcome:
    """Write the lock of a server, or compare it; the code is 1 where a compared one differs.

    Raises:
        ToolgenError: the server cannot be asked, the extra `mcp` is missing, or the file cannot be written.
    """
    lock, own_name = _asked(request)
    text = lock_text(lock)
    file = request.out or Path(f"{snake(own_name)}{_SUFFIX}")
    before = _text_of(file)
    if request.is_check:
        return _compared(file, before, lock)
    count = len(lock.tools)
    tools = f"{count} tool{'' if count == 1 else 's'}"
    if before == text:
        return Outcome(code=0, summary=f"{file} is current: {tools}", is_current=True)
    is_ours = before is not None and _is_lock(before)
    write_files_atomically(file.parent, {file.name: text}, is_forced=request.is_forced or is_ours)
    name = snake(own_name)
    note = f'next: add MCPToolset("{name}", lock="{file.name}") to a service of the design'
    return Outcome(code=0, notes=() if is_ours else (note,), summary=f"wrote {file}: {tools}")


def _asked(request: LockRequest) -> tuple[Lock, str]:
    """Return the lock of the live server, and what the server calls itself."""
    if bool(request.stdio) == bool(request.url):
        raise ToolgenError(
            "a server is asked by one of --stdio and --url",
            hint="write --stdio 'command arguments', or --url https://…",
        )
    from toolgen.adapters.mcp import HttpServer, StdioServer, lock_of

    server: HttpServer | StdioServer
    if request.url:
        headers = dict(map(_header, request.headers))
        server = HttpServer(request.url, headers=headers, allow_insecure=request.is_insecure)
    elif request.headers:
        raise ToolgenError("--header is for --url", hint="a process reads its environment variables itself")
    elif request.is_insecure:
        raise ToolgenError("--allow-insecure is for --url", hint="leave it out: a process gets no headers")
    else:
        command, *args = shlex.split(request.stdio) or [""]
        server = StdioServer(command, tuple(args))
    lock = lock_of(server.address, server)
    return lock, lock.server or server.address


def _header(text: str) -> tuple[str, str]:
    """Return the name and the value of a header, whose secrets come from the environment alone.

    A command line stands in lists of processes and in histories of shells.

    Raises:
        ToolgenError: it is no header, names no variable, or one that is not set.
    """
    name, colon, value = text.partition(":")
    if not colon or not _VARIABLE.search(value):
        raise ToolgenError(
            f"--header {name.strip()!r} has no value from an environment variable",
            hint="write it in single quotes: --header 'Authorization: Bearer $TOKEN'",
        )
    return name.strip(), _VARIABLE.sub(_variable, value).strip()


def _variable(match: re.Match[str]) -> str:
    name = match[1] or match[2]
    if not os.environ.get(name):
        raise ToolgenError(f"the environment variable {name} of --header is not set", hint=f"export {name}=…")
    return os.environ[name]


def _compared(file: Path, before: str | None, lock: Lock) -> Outcome:
    """Return how a lock differs from what its server lists now."""
    now = lock_text(lock)
    if before is None:
        raise ToolgenError(f"there is no lock {file} to compare", hint="run the command without --check")
    if before == now:
        return Outcome(code=0, summary=f"{file} is what the server lists", is_current=True)
    lines = unified_diff(
        before.splitlines(keepends=True), now.splitlines(keepends=True), str(file), "the server"
    )
    return Outcome(
        code=1,
        output=printable_lines("".join(lines)).rstrip("\n"),
        notes=(_changes(before, lock),),
        summary=f"{file} is not what the server lists; run the command without --check to update it",
    )


def _changes(before: str, lock: Lock) -> str:
    """Return in one line which tools differ."""
    try:
        old = {str(tool["name"]): tool for tool in read_lock(before).tools}
    except LockError as error:
        return f"the lock {error}"
    new = {str(tool["name"]): tool for tool in lock.tools}
    changes = {
        "added": new.keys() - old.keys(),
        "removed": old.keys() - new.keys(),
        "changed": {name for name in new.keys() & old.keys() if new[name] != old[name]},
    }
    return f"tools: {'; '.join(_counted(what, names) for what, names in changes.items())}"


def _counted(what: str, names: Collection[str]) -> str:
    """Return how many tools there are of a kind, with the first of their names."""
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
