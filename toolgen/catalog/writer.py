"""The text of catalogues.

The catalogue of a toolset is indented by one space, for people who review it. The catalogues of the design
and of agents have one tool per line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic_core import PydanticSerializationError, to_json

from toolgen.contract.json_value import Json, compact, without_surrogates
from toolgen.contract.names import CATALOG_FORMAT
from toolgen.contract.record import frozen_record
from toolgen.shapes.design.schema import ASSERTED_FORMATS

from .entry import canonical, sha256
from .reader import FORMAT_ID
from .shared_types import SharedTypes

_EXPONENT: Final = re.compile(r"e-?\d+(?:[,\]}\n]|\Z)")
_SMALL: Final = "0.0000"
"""What small and large floats have in the JSON of pydantic, where Python writes `1e-05` and `1e+16`."""


@frozen_record
class CatalogEntry:
    """One entry of the catalogue, whole."""

    value: dict[str, Json]
    canonical: str
    """What the digest counts."""


def catalog_entry(value: dict[str, Json]) -> CatalogEntry:
    """Return an entry of the catalogue."""
    return CatalogEntry(value=value, canonical=canonical(value))


@frozen_record
class Head:
    """What all catalogues of a design have in common."""

    design: str
    version: str = ""
    """Version of the design; "" for none."""


@frozen_record
class Root:
    """The catalogue of the design, as that of an agent names it."""

    path: str
    """Path relative to the folder of the agent's."""
    entries: Mapping[str, CatalogEntry]
    """Entries by id."""


def catalogue(
    head: Head,
    entries: Iterable[CatalogEntry],
    *,
    agent: Json = None,
    further: Mapping[str, Json] | None = None,
    root: Root | None = None,
    is_reviewed: bool = False,
) -> str:
    """Return the text of a catalogue; tools are sorted by id.

    `agent` is whose tools they are, `further` what stands after them. Of a tool that is in `root` too stands
    what differs. What is reviewed is indented.
    """
    ordered = sorted(entries, key=lambda entry: str(entry.value["id"]))
    facts: dict[str, Json] = {} if agent is None else {"agent": agent}
    facts |= further or {}
    document: dict[str, Any] = {"$schema": FORMAT_ID, "catalog": _catalog(head, ordered, facts)}
    if agent is not None:
        document["agent"] = agent
    if root is None:
        shared = SharedTypes(entry.value for entry in ordered)
        tools = [shared.short(entry.value) for entry in ordered]
        if types := shared.types():
            document["types"] = types
    else:
        document["catalog"]["root"] = root.path
        tools = [_difference(entry.value, root.entries[str(entry.value["id"])].value) for entry in ordered]
    document |= {"tools": tools, **(further or {})}
    return _indented(document) if is_reviewed else "".join(_in_lines(document))


def _difference(entry: Mapping[str, Json], root: Mapping[str, Json]) -> dict[str, Json]:
    """Return the id, and each key whose value is another one in the root's entry."""
    return {key: value for key, value in entry.items() if key == "id" or root.get(key) != value}


def _catalog(head: Head, tools: Sequence[CatalogEntry], facts: Mapping[str, Json]) -> dict[str, Json]:
    """Return the head of a catalogue; its digest covers whole tools and all other entries."""
    described: dict[str, Json] = {"format": CATALOG_FORMAT, "design": head.design}
    if head.version:
        described["version"] = head.version
    described["asserted_formats"] = list(ASSERTED_FORMATS)
    return {**described, "digest": sha256(_canonical(tools, facts))}


def _canonical(tools: Sequence[CatalogEntry], facts: Mapping[str, Json]) -> Iterator[str]:
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


def _canonical_tools(tools: Sequence[CatalogEntry]) -> Iterator[str]:
    before = "["
    for entry in tools:
        yield before
        yield entry.canonical
        before = ","
    yield "]" if before == "," else "[]"


def _indented(document: Mapping[str, Any]) -> str:
    """Return JSON on several lines, but the head on one."""
    margin = " "
    lines: list[str] = []
    for key, value in document.items():
        match key, value:
            case "catalog", _:
                text = json.dumps(value, ensure_ascii=False)
            case _:
                text = indented(value, margin).replace("\n", f"\n{margin}")
        lines.append(f'{margin}"{key}": {text}')
    return without_surrogates("{\n" + ",\n".join(lines) + "\n}\n")


def indented(value: Json, step: str) -> str:
    """Return JSON on several lines, characters as they are, in an eighth of the time of `json.dumps`."""
    try:
        text = to_json(value, indent=len(step)).decode()
    except PydanticSerializationError:  # lone surrogates
        return json.dumps(value, ensure_ascii=False, indent=step)
    if _SMALL in text or _EXPONENT.search(text):
        return json.dumps(value, ensure_ascii=False, indent=step)
    return text


def _in_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the parts of JSON with a tool, a type, an agent or a completion a line."""
    before = "{\n"
    for key, value in document.items():
        yield f'{before}"{key}":'
        yield from _lines(key, value)
        before = ",\n"
    yield "\n}\n"


def _lines(key: str, value: Any) -> Iterator[str]:
    """Yield the parts of a value, which stands on several lines where it holds several things."""
    lines: Iterable[str]
    match key, value:
        case "types", _:
            lines = (f"{compact(name)}:{compact(schema)}" for name, schema in value.items())
        case _, list():
            lines = map(compact, value)
        case _:
            yield compact(value)
            return
    brackets = "{}" if key == "types" else "[]"
    before = f"{brackets[0]}\n"
    for text in lines:
        yield before
        yield text
        before = ",\n"
    yield f"\n{brackets[1]}" if before == ",\n" else brackets
