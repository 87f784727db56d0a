"""The lock file of an MCP server: the tools that it listed, so that generation needs no server.

Tools are sorted by name, so that a diff shows the changes, and each has a digest, which reveals edits.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

from .json_value import Json
from .lock_file import LockError as LockError
from .lock_file import lock_file_text, read_lock_file
from .printable import printable
from .record import frozen_record

_KIND: Final = "mcp-server"
_COMMAND: Final = "toolgen import mcp (--stdio COMMAND | --url URL) --force"
_CONTRACT: Final = ("name", "inputSchema", "outputSchema", "annotations")
"""Keys of the facts that callers of a tool rely on."""
_FACTS: Final = ("name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons")
"""Keys of the facts of a tool in a lock file, in file order."""

_TYPES: Final[Mapping[str, type]] = {
    "title": str,
    "description": str,
    "outputSchema": dict,
    "annotations": dict,
    "icons": list,
}
_LONGEST_SHOWN: Final = 100
"""Maximum number of characters of a name in an error."""

ListedFacts = Mapping[str, Json]
"""A tool with the keys of the protocol (MCP 2026-07-28, `Tool`)."""


@frozen_record
class MCPLock:
    """The tools that a server listed."""

    protocol: str
    """Version of the protocol in use when the tools were listed."""
    server: str
    """Name that the server reports; "" if it reports none."""
    version: str
    tools: tuple[ListedFacts, ...]
    """Facts of the tools, sorted by name."""


NEEDS_TASK: Final = "it can only be called as a task, which toolgen does not support (execution.taskSupport)"


def needs_task(tool: object) -> bool:
    """Return whether a tool can only be called as a task (MCP 2025-11-25, Tasks)."""
    match tool:
        case {"execution": {"taskSupport": "required"}}:
            return True
        case _:
            return False


def contract_digest(tool: ListedFacts) -> str:
    """Return the SHA-256, in hex, of the facts that callers rely on: name, schemas and annotations."""
    return _digest({key: tool[key] for key in _CONTRACT if tool.get(key) is not None})


def listed_digest(tool: ListedFacts) -> str:
    """Return the SHA-256, in hex, of all facts of a tool in a lock, including its texts and icons."""
    return _digest(_locked_facts(tool))


def _locked_facts(tool: ListedFacts) -> ListedFacts:
    return {key: tool[key] for key in _FACTS if tool.get(key) is not None}


def make_lock(protocol: str, server: str, version: str, tools: Iterable[ListedFacts]) -> MCPLock:
    """Return the lock of these tools, with the facts that it stores for each."""
    ordered = sorted(map(_locked_facts, tools), key=lambda tool: str(tool["name"]))
    return MCPLock(protocol=protocol, server=server, version=version, tools=tuple(ordered))


def lock_text(lock: MCPLock) -> str:
    """Return the text of the file, deterministic for a lock; schemas keep the order of their keys."""
    facts: dict[str, Json] = {
        "protocol": lock.protocol,
        "server": {"name": lock.server, "version": lock.version},
        "tools": [{**tool, "digest": _digest(tool)} for tool in lock.tools],
    }
    return lock_file_text(_KIND, facts)


def read_lock(text: str | bytes) -> MCPLock:
    """Return the lock of a file.

    Raises:
        LockError: it is not a lock, or a tool in it was edited.
    """
    match read_lock_file(text, _COMMAND):
        case {
            "kind": kind,
            "protocol": str(protocol),
            "server": {"name": str(server), "version": str(version)},
            "tools": [*tools],
        } if kind == _KIND:
            read = tuple(_tool(tool, number) for number, tool in enumerate(tools))
            counts = Counter(str(tool["name"]) for tool in read)
            if twice := [name for name, count in counts.items() if count > 1]:
                raise LockError(f"has the tool {printable(twice[0][:_LONGEST_SHOWN])!r} twice")
            return MCPLock(protocol=protocol, server=server, version=version, tools=read)
        case _:
            raise LockError("is not a lock file of an MCP server")


def _tool(tool: Any, number: int) -> ListedFacts:
    match tool:
        case {"name": str(name), "inputSchema": dict(), "digest": str(digest)} if name:
            facts = {key: value for key, value in tool.items() if key != "digest"}
            shown = printable(name[:_LONGEST_SHOWN])
            if _digest(facts) != digest:
                raise LockError(f"was edited: the tool {shown!r} differs from the one that its server listed")
            for key, value in facts.items():
                if not isinstance(value, _TYPES.get(key, object)):
                    raise LockError(
                        f"is not a lock file of an MCP server: {key} of the tool {shown!r} has the wrong type"
                    )
            return facts
        case _:
            fault = f"tool number {number + 1} has no name, no schema or no digest"
            raise LockError(f"is not a lock file of an MCP server: {fault}")


def _digest(facts: ListedFacts) -> str:
    return sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
