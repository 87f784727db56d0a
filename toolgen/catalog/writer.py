"""The text of catalogues in every format.

In format 3 the catalogue of a toolset is indented by one space, for people who review it; that of the
design and those of agents have a tool a line. Formats 1 and 2 are indented by two spaces.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

from toolgen.contract.json_value import Json, without_surrogates
from toolgen.contract.names import CATALOG_FORMAT, CatalogFormat
from toolgen.contract.record import frozen_record
from toolgen.shapes.design.schema import ASSERTED_FORMATS

from .entry import canonical, sha256
from .reader import format_id
from .shared_types import SharedTypes, UsedType, used_types
from .texts import SchemaTexts, compact, indented
from .unchanged_tools import UnchangedTool, UnchangedTools, memory_of


@frozen_record
class Head:
    """What all catalogues of a design have in common."""

    design: str
    version: str = ""
    """Version of the design; "" for none."""
    format: CatalogFormat = CATALOG_FORMAT


@frozen_record
class CatalogEntry:
    """One entry of the catalogue, whole."""

    id: str
    value: dict[str, Json]
    canonical: tuple[str, ...]
    """What the digest counts, in parts."""
    types: tuple[UsedType, ...]


_Tools: TypeAlias = Sequence[CatalogEntry | UnchangedTool]


@frozen_record
class Root:
    """The catalogue of the design, as that of an agent names it."""

    path: str
    """Path relative to the folder of the agent's."""
    entries: Mapping[str, CatalogEntry]
    """Entries by id."""


def catalog_entry(value: dict[str, Json], texts: SchemaTexts | None = None) -> CatalogEntry:
    """Return an entry of the catalogue; `texts` are those of other entries with the same schemas."""
    texts = texts or SchemaTexts()
    canonical, types = tuple(texts.canonical_parts(value)), used_types(value, texts)
    return CatalogEntry(id=str(value["id"]), value=value, canonical=canonical, types=types)


def catalogue(
    head: Head,
    entries: Iterable[CatalogEntry],
    *,
    agent: Json = None,
    further: Mapping[str, Json] | None = None,
    root: Root | None = None,
    is_reviewed: bool = False,
    texts: SchemaTexts | None = None,
) -> str:
    """Return the text of a catalogue; tools are sorted by id.

    `agent` is whose tools they are, `further` what stands after them. Of a tool that is in `root` too stands
    what differs. What is reviewed is indented. `texts` are those of other catalogues with the same schemas.
    """
    ordered = sorted(entries, key=lambda entry: entry.id)
    texts = texts or SchemaTexts()
    facts: dict[str, Json] = {} if agent is None else {"agent": agent}
    facts |= further or {}
    is_first = head.format == 1
    document: dict[str, Any] = {} if is_first else {"$schema": format_id(head.format)}
    document["catalog"] = _catalog(head, ordered, facts)
    if agent is not None:
        document["agent"] = agent
    if head.format < 3:
        document["tools"] = [entry.value for entry in ordered]
    elif root is None:
        shared = SharedTypes((type_ for entry in ordered for type_ in entry.types), texts)
        if types := shared.types():
            document["types"] = types
        document["tools"] = [shared.without_types(entry.value) for entry in ordered]
    else:
        document["catalog"]["root"] = root.path
        document["tools"] = [_difference(entry.value, root.entries[entry.id].value) for entry in ordered]
    document |= further or {}
    if head.format < 3:
        return _indented(document, "  ", texts)
    return _indented(document, " ", texts) if is_reviewed else "".join(_in_lines(document, texts))


@frozen_record
class RootCatalogue:
    """The catalogue of a design, and what the next run needs of it."""

    parts: Iterable[str]
    """Those of its text, which is large; they are made when they are asked for."""
    memory: Iterable[str]
    """Texts of its tools, in parts, see `unchanged_tools`."""


def root_catalogue(
    head: Head,
    entries: Iterable[CatalogEntry],
    *,
    further: Mapping[str, Json],
    texts: SchemaTexts,
    unchanged: UnchangedTools | None = None,
) -> RootCatalogue:
    """Return the catalogue of a design, with the tools that did not change since another one."""
    own = list(entries)
    if unchanged is not None and unchanged.tools:
        tools: _Tools = sorted([*own, *unchanged.tools], key=attrgetter("id"))
        shared = SharedTypes((type_ for tool in tools for type_ in tool.types), texts)
        if shared.has_types_of(SharedTypes(unchanged.before, texts)):
            lines = [
                tool.line if isinstance(tool, UnchangedTool) else compact(shared.without_types(tool.value))
                for tool in tools
            ]
            text = unchanged.catalogue(compact(_catalog(head, tools, further)), lines)
            return RootCatalogue(parts=(text,), memory=memory_of(tools))
        own += (catalog_entry(dict(value), texts) for value in unchanged.entries())
    own.sort(key=attrgetter("id"))
    if head.format < 3:
        return RootCatalogue(parts=(catalogue(head, own, further=further, texts=texts),), memory=())
    shared = SharedTypes((type_ for entry in own for type_ in entry.types), texts)
    document: dict[str, Any] = {"$schema": format_id(head.format), "catalog": _catalog(head, own, further)}
    if types := shared.types():
        document["types"] = types
    document |= {"tools": own, **further}
    parts = _in_lines(document, texts, lambda entry: compact(shared.without_types(entry.value)))
    return RootCatalogue(parts=parts, memory=memory_of(own))


def _difference(entry: dict[str, Json], root: dict[str, Json]) -> dict[str, Json]:
    """Return the id, and each key whose value is another one in the root's entry."""
    return {key: value for key, value in entry.items() if key == "id" or root.get(key) != value}


def _catalog(head: Head, tools: _Tools, facts: Mapping[str, Json]) -> dict[str, Json]:
    """Return the head of a catalogue; its digest covers whole tools, since format 2 all entries."""
    described: dict[str, Json] = {"format": head.format, "design": head.design}
    if head.format == 1:
        return {**described, "digest": sha256(_canonical_tools(tools))}
    if head.version:
        described["version"] = head.version
    described["asserted_formats"] = list(ASSERTED_FORMATS)
    return {**described, "digest": sha256(_canonical(tools, facts))}


def _canonical(tools: _Tools, facts: Mapping[str, Json]) -> Iterator[str]:
    """Yield the text that the digest counts, in parts, for as a whole it is as large as the catalogue."""
    before = "{"
    for key in sorted(["tools", *facts]):
        yield f"{before}{canonical(key)}:"
        before = ","
        if key == "tools":
            yield from _canonical_tools(tools)
        else:
            yield canonical(facts[key])
    yield "}"


def _canonical_tools(tools: _Tools) -> Iterator[str]:
    before = "["
    for entry in tools:
        yield before
        yield from entry.canonical
        before = ","
    yield "]" if before == "," else "[]"


def _indented(document: Mapping[str, Json], margin: str, texts: SchemaTexts) -> str:
    """Return JSON on several lines, but the head on one."""
    lines: list[str] = []
    for key, value in document.items():
        match key, value:
            case "catalog", _:
                text = json.dumps(value, ensure_ascii=False)
            case "types", dict():
                inner = 2 * margin
                types = (
                    f"{inner}{compact(name)}: {texts.indented(each, margin, inner)}"
                    for name, each in value.items()
                )
                text = "{\n" + ",\n".join(types) + f"\n{margin}}}"
            case _:
                text = indented(value, margin, margin)
        lines.append(f'{margin}"{key}": {text}')
    return without_surrogates("{\n" + ",\n".join(lines) + "\n}\n")


def _in_lines(
    document: Mapping[str, Any], texts: SchemaTexts, line: Callable[[Any], str] = compact
) -> Iterator[str]:
    """Yield the parts of JSON with a tool, a type, an agent or a completion a line.

    `line` makes that of a tool.
    """
    before = "{\n"
    for key, value in document.items():
        yield f'{before}"{key}":'
        yield from _lines(key, value, texts, line)
        before = ",\n"
    yield "\n}\n"


def _lines(key: str, value: Any, texts: SchemaTexts, line: Callable[[Any], str]) -> Iterator[str]:
    """Yield the parts of a value, which stands on several lines where it holds several things."""
    lines: Iterable[str]
    match value:
        case list() if value:
            lines = map(line if key == "tools" else compact, value)
        case dict() if key == "types":
            lines = (f"{compact(name)}:{texts.compact(schema)}" for name, schema in value.items())
        case _:
            yield compact(value)
            return
    before, after = "[]" if isinstance(value, list) else "{}"
    for text in lines:
        yield f"{before}\n"
        yield text
        before = ","
    yield f"\n{after}"
