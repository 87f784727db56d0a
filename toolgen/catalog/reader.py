"""The reader of catalogs, for codecs, provider projections and importers; and the format's JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NamedTuple

from toolgen.contract.json_value import Json
from toolgen.contract.names import CATALOG, CATALOG_FORMAT
from toolgen.contract.record import frozen_record

from .repeated_types import class_of, typed_parts, with_types

FORMAT_ID: Final = f"urn:toolgen:catalog:{CATALOG_FORMAT}"
"""The `$id` of the format's schema, which is the `$schema` of catalogs."""
MOST_BYTES: Final = 100_000_000
"""Maximum size of a catalog file, in bytes."""
_ROOT: Final = re.compile(rf"(\.\./)+{re.escape(CATALOG)}")


def format_schema() -> dict[str, Any]:
    """Return the JSON Schema 2020-12 of `tool_schemas.json`."""
    text = files("toolgen.catalog").joinpath(f"format-{CATALOG_FORMAT}.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


class CatalogError(ValueError):
    """A document is not a catalog, or has another format. The text begins with the verb."""


class CatalogType(NamedTuple):
    """A type that crosses the JSON boundary."""

    name: str
    """Name of its class."""
    schema: dict[str, Any]
    noted_formats: tuple[str, ...]
    """JSON Pointers of each `format` in the schema that no codec checks."""


@frozen_record
class Catalog:
    """The contents of a catalog."""

    has_head: bool
    """Whether toolgen wrote it; Goa-AI writes tools without a head."""
    design: str
    """Name of the design; "" without a head."""
    tools: tuple[Mapping[str, Any], ...]
    """Complete entries."""
    completions: tuple[Mapping[str, Any], ...] = ()
    agents: tuple[Mapping[str, Any], ...] = ()
    """Facts of each agent in the root: `id`, its `tools` by `id`, `name` and its own `confirmation`."""
    version: str = ""
    """Version of the design; "" if it has none."""

    def types(self) -> Iterator[CatalogType]:
        """Yield every type of the tools and of the completions.

        Raises:
            CatalogError: an entry lacks keys of its format.
        """
        try:
            parts = [part for tool in self.tools for part in typed_parts(tool)]
            parts += [completion["result"] for completion in self.completions]
            for part in parts:
                yield CatalogType(class_of(part), part["schema"], tuple(part.get("noted_formats", ())))
        except (LookupError, TypeError, AttributeError) as error:
            raise CatalogError("is not a tool catalog") from error


def parse_catalog(document: Any, read: Callable[[str], Any] | None = None) -> Catalog:
    """Return the contents of a document. An entry without types is only checked to be an object.

    The catalog of an agent has only the differences of its tools from the root catalog. `read` returns the
    document at a path relative to the folder of the agent's catalog.

    Raises:
        CatalogError: it has no list of tools, has an unsupported format, or is an agent's and its tools are
            not in the root.
    """
    if not isinstance(document, dict):
        raise CatalogError("is not a tool catalog")
    _require_format(document)
    try:
        tools = _objects(document.get("tools"))
        if types := document.get("types", {}):
            tools = tuple(with_types(tool, types) for tool in tools)
        if path := document.get("catalog", {}).get("root"):
            tools = _of_agent(tools, _root(path, read))
        completions = _objects(document.get("completions", []))
        agents = _objects(document.get("agents", []))
        head = document.get("catalog", {})
        design, version = str(head.get("design", "")), str(head.get("version", ""))
    except (LookupError, TypeError, AttributeError) as error:
        raise CatalogError("is not a tool catalog") from error
    return Catalog(
        has_head=bool(head),
        design=design,
        version=version,
        tools=tools,
        completions=completions,
        agents=agents,
    )


def load_catalog(file: Path) -> Catalog:
    """Return the contents of a catalog file, together with the root that it refers to.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is not JSON; a `CatalogError` if it is not a catalog.
    """
    return parse_catalog(_json(file), lambda path: _json(file.parent / path))


def _json(file: Path) -> Any:
    from toolgen.contract.regular_file import read_regular  # not needed for calls

    return json.loads(read_regular(file, MOST_BYTES).decode())


def _root(path: str, read: Callable[[str], Any] | None) -> Catalog:
    if not _ROOT.fullmatch(path) or read is None:
        raise CatalogError("is the catalog of an agent, but the root catalog that it names cannot be read")
    return parse_catalog(read(path))


def _of_agent(tools: tuple[Mapping[str, Json], ...], root: Catalog) -> tuple[Mapping[str, Json], ...]:
    """Return the complete tools of an agent."""
    entries = {tool["id"]: tool for tool in root.tools}
    if missing := next((tool["id"] for tool in tools if tool["id"] not in entries), None):
        raise CatalogError(
            f"has the tool {missing!r}, which its root lacks; generate both with one run of toolgen gen"
        )
    return tuple({**entries[tool["id"]], **tool} for tool in tools)


def _require_format(document: Mapping[str, Json]) -> None:
    """Check the format in the head, if there is a head.

    Raises:
        CatalogError: the head has no format, or another one than this toolgen reads.
    """
    if "catalog" not in document:
        return
    match document["catalog"]:
        case {"format": format}:
            if type(format) is not int or format != CATALOG_FORMAT:
                raise CatalogError(
                    f"is a catalog of format {format!r}, and this toolgen reads format {CATALOG_FORMAT}: "
                    "generate it again with this version (toolgen gen)"
                )
        case _:
            raise CatalogError("is not a tool catalog")


def _objects(value: Any) -> tuple[Mapping[str, Json], ...]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise CatalogError("is not a tool catalog")
    return tuple(value)
