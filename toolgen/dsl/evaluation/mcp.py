"""The tools of a toolset, read from the lock of an MCP server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from stat import S_ISREG
from typing import Any, Final

from toolgen.contract.mcp_lock import (
    ListedFacts,
    LockError,
    MCPLock,
    contract_digest,
    listed_digest,
    make_lock,
    read_lock,
)
from toolgen.contract.names import MCP_HINTS
from toolgen.contract.printable import hides, printable, visible, visible_lines
from toolgen.shapes.foreign.bounded_patterns import BoundedPatterns
from toolgen.shapes.foreign.normal_form import UnsafeError, normal_form, safe_text
from toolgen.shapes.naming import LONGEST_NAME, TOOL_NAME, snake

from ..clause import Clause
from ..composites import JSONSchema
from ..expr import codes
from ..expr.source import Source
from ..structure import Args, MCPToolset, Return, Tool, ToolClause, Toolset
from ..tool_clauses import Annotations, Meta
from .report import Report

_LONGEST_TITLE: Final = 200
_LARGEST: Final = 20_000_000
"""Maximum size of a lock, in bytes."""
_UNKNOWN: Final = make_lock("", "", "", [{"name": "unknown", "inputSchema": {}}])
"""Replaces a lock that was reported, so that one cause gives one diagnostic."""
_HINT: Final = "run `toolgen import mcp --stdio 'command …' --out {}`, or with --url"


class LockedToolset(Toolset):
    """The toolset that replaces an `MCPToolset`."""

    lock: str
    """Path of the lock, relative to the folder of the design's file."""


def locked_toolset(word: MCPToolset, report: Report) -> LockedToolset:
    """Return the toolset for the tools of a lock; with a placeholder tool if the lock was reported."""
    lock = _lock(word, report) or _UNKNOWN
    names = _names(lock)
    tools = tuple(tool for facts in lock.tools for tool in _tools(facts, names, word, report))
    if lock.tools and not tools:  # each of them was reported
        tools = (_tool(_UNKNOWN.tools[0], "unknown", word.source),)
    about = f"Tools of the MCP server {visible_lines(lock.server or word.name)}."
    toolset = object.__new__(LockedToolset)
    toolset.__dict__.update(vars(word), children=tools, description=about)
    return toolset


def _lock(word: MCPToolset, report: Report) -> MCPLock | None:
    file = Path(word.source.file).parent / word.lock
    report.files.add(file)
    try:
        facts = file.stat()
        if not S_ISREG(facts.st_mode):  # reading a FIFO or a device would never end
            raise LockError("is not a regular file")
        if facts.st_size > _LARGEST:
            raise LockError(f"has more than {_LARGEST // 1_000_000} MB")
        return read_lock(file.read_bytes())
    except OSError as error:
        fault = f"cannot be read: {error.strerror or error}"
    except LockError as error:
        fault = str(error)
    hint = _HINT.format(word.lock)
    report.add(codes.BAD_LOCK, word.source, name=word.name, file=word.lock, fault=fault, hint=hint)
    return None


def _names(lock: MCPLock) -> dict[str, str]:
    """Return the name of each tool in the design, by its name on the server: `getSum` gives `get_sum`.

    A tool whose name is valid in a design keeps it, at any position in the server's list.
    """
    all_names = [str(tool["name"]) for tool in lock.tools]
    taken = {own for own in all_names if TOOL_NAME.fullmatch(own) and len(own) <= LONGEST_NAME}
    names = {own: own for own in taken}
    for own in (own for own in all_names if own not in names):
        plain = snake(own)[:LONGEST_NAME]
        plain = plain if TOOL_NAME.fullmatch(plain) else f"tool_{plain}".rstrip("_")[:LONGEST_NAME]
        name, number = plain, 2
        while name in taken:
            end = f"_{number}"
            name, number = plain[: LONGEST_NAME - len(end)] + end, number + 1
        names[own] = name
        taken.add(name)
    return names


def _tools(facts: ListedFacts, names: dict[str, str], word: MCPToolset, report: Report) -> Iterator[Tool]:
    """Yield the tool of these facts; nothing if it was reported, as for invisible characters."""
    name = str(facts["name"])
    try:
        if hides(name):
            raise UnsafeError("/name", "has invisible characters")
        yield _tool(facts, names[name], word.source)
    except UnsafeError as error:
        fault = f"has the tool {printable(name[:_LONGEST_TITLE])!r}, in which {error}"
        hint = _HINT.format(word.lock)
        report.add(codes.BAD_LOCK, word.source, name=word.name, file=word.lock, fault=fault, hint=hint)


def _tool(tool: ListedFacts, name: str, source: Source) -> Tool:
    facts: Any = tool
    children = [*_children(facts)]
    shown = safe_text(str(facts.get("description") or facts.get("title") or facts["name"]))
    hints: Any = facts.get("annotations") or {}
    titles = (facts.get("title"), hints.get("title"))
    title = next((title for title in titles if title and isinstance(title, str)), "")
    title = visible(" ".join(title.split())[:_LONGEST_TITLE])
    clause = Tool(name, shown, *children, title=title or None)
    _place(clause, source)
    return clause


def _children(facts: Any) -> Iterator[ToolClause]:
    yield Args(JSONSchema(_bounded(facts["inputSchema"])))
    yield Return(JSONSchema(_bounded(facts.get("outputSchema", {}))))
    annotations = facts.get("annotations") or {}
    values: Any = {hint: annotations.get(key) for hint, (key, _) in MCP_HINTS.items()}
    if hints := {hint: value for hint, value in values.items() if isinstance(value, bool)}:
        yield Annotations(**hints)
    yield Meta(
        mcp={
            "tool": facts["name"],
            "digest": contract_digest(facts),
            "pin": listed_digest(facts),
            "structured": "outputSchema" in facts,
            "untrusted": True,
        }
    )


def _bounded(schema: dict[str, Any]) -> Any:
    """Return a schema in normal form, without slow patterns, which only the server checks.

    Raises:
        UnsafeError: as for `normal_form`.
    """
    schema = normal_form(schema)
    try:
        return BoundedPatterns(schema).checked
    except RecursionError:  # it is reported as nested too deeply
        return schema


def _place(word: Clause, source: Source) -> None:
    """Set the source of a clause and its nested clauses to the toolset's, which findings then show."""
    vars(word)["source"] = source
    for inner in vars(word).get("children", ()):
        if isinstance(inner, Clause):
            _place(inner, source)
