"""The text of catalogs.

The catalog of a toolset is indented by one space, for people who review it. The catalogs of the design
and of agents have one tool per line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from pydantic_core import PydanticSerializationError, to_json

from toolgen.contract.json_value import Json, compact, without_surrogates
from toolgen.contract.names import CATALOG_FORMAT
from toolgen.contract.record import frozen_record
from toolgen.shapes.lexical import ASSERTED_FORMATS

from .entry import canonical, sha256
from .reader import FORMAT_ID
from .repeated_types import RepeatedTypes

_EXPONENT: Final = re.compile(r"e-?\d+(?:[,\]}\n]|\Z)")
_SMALL: Final = "0.0000"
"""Marks of small and large floats in pydantic's JSON, which Python writes as `1e-05` and `1e+16`."""


Entry: TypeAlias = dict[str, Json]
"""A complete tool of a catalog."""


@frozen_record
class CatalogHead:
    """Facts that all catalogs of a design share."""

    design: str
    version: str = ""
    """Version of the design; "" if it has none."""


@frozen_record
class Root:
    """The catalog of the design, to which an agent's catalog refers."""

    path: str
    """Path relative to the folder of the agent's catalog."""
    entries: Mapping[str, Entry]
    """Entries by id."""


def catalog_json(
    head: CatalogHead,
    entries: Iterable[Entry],
    *,
    agent: Json = None,
    further: Mapping[str, Json] | None = None,
    root: Root | None = None,
    is_indented: bool = False,
) -> str:
    """Return the text of a catalog; tools are sorted by id.

    `agent` is the owner of the tools, `further` has the keys after them. A tool that is also in `root` is
    written with its differences only.
    """
    ordered = sorted(entries, key=lambda entry: str(entry["id"]))
    facts: dict[str, Json] = {} if agent is None else {"agent": agent}
    facts |= further or {}
    document: dict[str, Any] = {"$schema": FORMAT_ID, "catalog": _catalog(head, ordered, facts)}
    if agent is not None:
        document["agent"] = agent
    if root is None:
        shared = RepeatedTypes(ordered)
        tools = [*map(shared.with_references, ordered)]
        if types := shared.types():
            document["types"] = types
    else:
        document["catalog"]["root"] = root.path
        tools = [_difference(entry, root.entries[str(entry["id"])]) for entry in ordered]
    document |= {"tools": tools, **(further or {})}
    return _indented(document) if is_indented else _in_lines(document)


def _difference(entry: Mapping[str, Json], root: Mapping[str, Json]) -> dict[str, Json]:
    """Return the id, and each key whose value differs from the root's entry."""
    return {key: value for key, value in entry.items() if key == "id" or root.get(key) != value}


def _catalog(head: CatalogHead, tools: Sequence[Entry], facts: Mapping[str, Json]) -> dict[str, Json]:
    """Return the head of a catalog; its digest covers complete tools and all other entries."""
    described: dict[str, Any] = {"format": CATALOG_FORMAT, "design": head.design}
    if head.version:
        described["version"] = head.version
    described["asserted_formats"] = list(ASSERTED_FORMATS)
    counted: dict[str, Any] = {"tools": tools, **facts}
    return {**described, "digest": sha256(canonical(counted))}


def _indented(document: Mapping[str, Json]) -> str:
    """Return JSON on several lines, except the head on one line."""
    margin = " "
    lines: list[str] = []
    for key, value in document.items():
        is_head = key == "catalog"
        text = json.dumps(value, ensure_ascii=False) if is_head else indented(value, margin)
        text = text.replace("\n", f"\n{margin}")
        lines.append(f'{margin}"{key}": {text}')
    return without_surrogates("{\n" + ",\n".join(lines) + "\n}\n")


def indented(value: Json, step: str) -> str:
    """Return JSON on several lines without escapes, in an eighth of the time of `json.dumps`."""
    try:
        text = to_json(value, indent=len(step)).decode()
    except PydanticSerializationError:  # a lone surrogate
        return json.dumps(value, ensure_ascii=False, indent=step)
    if _SMALL in text or _EXPONENT.search(text):
        return json.dumps(value, ensure_ascii=False, indent=step)
    return text


def _in_lines(document: Mapping[str, Json]) -> str:
    """Return JSON with one line for each tool, type, agent or completion."""
    return "{\n" + ",\n".join(f'"{key}":{_lines(key, value)}' for key, value in document.items()) + "\n}\n"


def _lines(key: str, value: Any) -> str:
    """Return a value, on several lines if it contains several elements."""
    if key == "types":
        lines = [f"{compact(name)}:{compact(schema)}" for name, schema in value.items()]
    elif isinstance(value, list):
        lines = [*map(compact, value)]
    else:
        return compact(value)
    start, end = "{}" if key == "types" else "[]"
    return "\n".join((start, ",\n".join(lines), end)) if lines else start + end
