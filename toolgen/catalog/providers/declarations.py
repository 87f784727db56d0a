"""The declarations of the tools of a request, with names that the provider accepts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, Protocol, TypeAlias

from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.printable import printable
from toolgen.contract.record import frozen_record

from ..entry import ToolRecord, tool_entry
from .budgets import RequestBudget
from .dialects import Dialect, dialect_named
from .projection import Projection, project, without_strict


class Recorded(Protocol):
    """A tool that knows its catalog entry, for example a `ToolSpec`."""

    def record(self) -> ToolRecord:
        """Return the entry of the tool."""
        ...


class Specs(Protocol):
    """The tools of a request, for example a `Snapshot`."""

    @property
    def specs(self) -> Iterable[Recorded]: ...


_LONGEST_SHOWN: Final = 100
"""Maximum length of a name in an error, in characters."""
Tools: TypeAlias = "Specs | Iterable[Recorded | Mapping[str, Json]]"


class EntryError(ToolgenError):
    """A value passed as a tool is not an entry of a catalog."""


@frozen_record
class Declarations:
    """Tools in one dialect, in the order in which they were passed."""

    dialect: Dialect
    projections: tuple[Projection, ...]

    @property
    def fragment(self) -> list[dict[str, Any]]:
        """The value of `tools` in a request."""
        declared = [projection.declaration for projection in self.projections]
        is_gemini = self.dialect.envelope in ("parameters", "parametersJsonSchema")
        return [{"functionDeclarations": declared}] if is_gemini and declared else declared

    def tool_named(self, name: str) -> Projection | None:
        """Return the tool that was declared to the provider under this name; None if there is none."""
        return next((projection for projection in self.projections if projection.name == name), None)


def declarations(tools: Tools, dialect: str) -> Declarations:
    """Return the declarations of tools for a provider: of catalog entries, specs, or a snapshot.

    Tools that the provider runs itself (`"kind": "native"`) are omitted. If strict tools share a budget, they
    are strict in their order as long as the budget suffices.

    Raises:
        ToolgenError: there is no such dialect.
        EntryError: an entry has no name or no payload schema, or two entries have the same name.
    """
    target = dialect_named(dialect)
    all_entries = [_entry(tool, number) for number, tool in enumerate(_iterated(tools), 1)]
    entries = [entry for entry in all_entries if entry.get("kind") != "native"]
    _refuse_clashes(entries)
    names = provider_names([str(entry["name"]) for entry in entries], target)
    room = RequestBudget(target.budget)
    projections = []
    for entry, name in zip(entries, names, strict=True):
        payload: Any = entry["payload"]
        own = str(entry["name"]), str(entry.get("description", "")), payload["schema"]
        examples = tuple(payload.get("examples") or ())
        projection = project(*own, dialect, examples=examples)
        if projection.is_strict and (why := room.take(dict(projection.schema))):
            projection = without_strict(projection, project(*own, target.plain, examples=examples), why)
        projections.append(replace(projection, id=str(entry.get("id", "")), name=name))
    return Declarations(dialect=target, projections=tuple(projections))


def _refuse_clashes(entries: Iterable[Mapping[str, Json]]) -> None:
    """Raise if two tools have the same name, because calls could never reach the second one."""
    ids: dict[str, str] = {}
    for entry in entries:
        name, id_ = str(entry["name"]), str(entry.get("id", ""))
        if name in ids:
            which = "".join(f" {own!r}" for own in (ids[name], id_) if own)
            raise EntryError(
                f"two tools have the name {printable(name[:_LONGEST_SHOWN])!r}{printable(which)}",
                hint="remove or rename one of them",
            )
        ids[name] = id_


def _iterated(tools: Tools) -> Iterable[Recorded | Mapping[str, Json]]:
    return tools if isinstance(tools, Iterable) else tools.specs


def _entry(tool: Recorded | Mapping[str, Json], number: int) -> Mapping[str, Json]:
    """Return the entry of a tool.

    Raises:
        EntryError: it has no name, or it has no payload schema although the provider does not run it.
    """
    entry = tool if isinstance(tool, Mapping) else tool_entry(tool.record())
    match entry:
        case {"kind": "native", "name": str()} | {"name": str(), "payload": {"schema": Mapping()}}:
            return entry
        case _:
            shown = printable(str(entry.get("name", ""))[:_LONGEST_SHOWN])
            raise EntryError(
                f"entry {number} of the tools ({shown!r}) has no name or no payload schema",
                hint='pass entries of a tool_schemas.json; a tool of the provider has "kind": "native"',
            )


_MOST_CHARACTERS = 64


def provider_names(names: Iterable[str], dialect: Dialect) -> list[str]:
    """Return a name for each tool, in order: its own name if the provider accepts it.

    A dot becomes two underscores, any other character one. A name that is too long, or is taken by another
    tool, ends in seven hexadecimal digits of the SHA-256 of the tool's own name.
    """
    own = list(names)
    taken = {name for name in own if re.fullmatch(dialect.tool_name, name)}
    sent = []
    for name in own:
        if name not in taken:
            name = _safe(name, dialect, taken)
            taken.add(name)
        sent.append(name)
    return sent


def _safe(name: str, dialect: Dialect, taken: set[str]) -> str:
    safe = re.sub(r"[^a-zA-Z0-9_-]", "_", name.replace(".", "__")) or "_"
    if not re.fullmatch(dialect.tool_name, safe[:_MOST_CHARACTERS]):
        safe = f"_{safe}"
    start, digest = safe[: _MOST_CHARACTERS - 8], name
    while len(safe) > _MOST_CHARACTERS or safe in taken:  # the name with the hash can be taken too
        digest = hashlib.sha256(digest.encode("utf-8", "surrogatepass")).hexdigest()
        safe = f"{start}_{digest[:7]}"
    return safe
