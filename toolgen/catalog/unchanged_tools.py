"""Tools of a design's catalogue that did not change since it was written: their texts are joined again.

A line of the catalogue says most of a tool. What its digest counts, and the types by which it is decided
what stands in the catalogue once, are in the memory: a line of JSON, and one for the canonical text of
each tool.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

from .reader import read_catalogue
from .shared_types import UsedType

_CATALOG: Final = '"catalog":'
_compact: Final = json.JSONEncoder(separators=(",", ":")).encode
_TOOLS: Final = '"tools":['


@frozen_record
class UnchangedTool:
    """A tool as texts."""

    id: str
    line: str
    """What stands in the catalogue of the design."""
    canonical: tuple[str, ...]
    types: tuple[UsedType, ...]
    """Types without their schemas."""


class UnchangedTools:
    """The tools of a catalogue but those of some toolsets; `memory` is that of the run that wrote it."""

    def __init__(self, catalogue: str, memory: str, without: Collection[str]) -> None:
        head, *canonical = memory.split("\n")
        self._text = catalogue
        self._lines = catalogue.split("\n")
        self._start = self._lines.index(_TOOLS) + 1 if canonical else 0
        self._end = self._start + len(canonical)
        self.before: list[UsedType] = []
        """The types of all tools of the catalogue."""
        self.tools: list[UnchangedTool] = []
        lines = self._lines[self._start : self._end]
        for (id_, types), text, line in zip(json.loads(head), canonical, lines, strict=True):
            used = tuple(map(_used, types))
            self.before += used
            if id_.rpartition(".")[0] not in without:
                tool = UnchangedTool(id=id_, line=line.removesuffix(","), canonical=(text,), types=used)
                self.tools.append(tool)

    def entries(self) -> Iterator[Mapping[str, Any]]:
        """Yield the entries of the tools, whole."""
        ids = {tool.id for tool in self.tools}
        return (tool for tool in read_catalogue(json.loads(self._text)).tools if tool["id"] in ids)

    def catalogue(self, head: str, tools: Iterable[str]) -> str:
        """Return the catalogue with another head, and with other tools of the same shared types."""
        lines = self._lines[: self._start]
        lines[2] = f"{_CATALOG}{head},"
        return "\n".join([*lines, ",\n".join(tools), *self._lines[self._end :]])


def memory_of(tools: Sequence[Any]) -> Iterator[str]:
    """Yield the parts of the memory of a catalogue with these tools, in its order."""
    before = "["
    for tool in tools:
        types = [_document(used) for used in tool.types]
        yield f"{before}{_compact([tool.id, types])}"
        before = ","
    yield "]" if tools else "[]"
    for tool in tools:
        yield "".join(["\n", *tool.canonical])


def _document(used: UsedType) -> Json:
    return [used.name, used.digest, [list(inner[:3]) for inner in used.definitions]]


def _used(document: Any) -> UsedType:
    name, digest, definitions = document
    return UsedType(name, digest, definitions=tuple(UsedType(*inner) for inner in definitions))
