"""`catalog`: the `tool_schemas.json` of another toolgen project or of Goa-AI.

Reads the name, the texts for models and people, the arguments and the result of each tool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from toolgen.catalog.reader import Catalog, CatalogError, parse_catalog
from toolgen.contract.errors import ToolgenError
from toolgen.contract.findings import Finding
from toolgen.contract.json_value import Json
from toolgen.contract.tool_facts import Deprecation

from .boundary import each
from .codes import LEFT_OUT, finding_at
from .pointers import joined
from .records import Keys, collected, read_record
from .text import SourceDocument
from .tool import ImportedTool, ReaderResult

_KEYS: Final = Keys(arguments=("arguments",), result=("returned",), may_have_none=True)
_NOT_READ: Final = (
    "artifacts bounded errors hints inject instructions long_running meta result_reminder sequential "
    "sequential_by server_data sidecar"
).split()
"""Keys of an entry for callers of the tool, which the design leaves out."""


def read_catalog(document: SourceDocument, read: Callable[[str], object]) -> ReaderResult:
    """Return the tools of a catalog; `read` returns the root document that an agent's catalog names.

    Raises:
        ToolgenError: The document is not a catalog.
    """
    try:
        catalog = parse_catalog(document.value, read)
    except CatalogError as error:
        hint = "pass a tool_schemas.json of toolgen or of Goa-AI"
        raise ToolgenError(f"the document {error}", hint=hint) from error
    name = _name(catalog) or document.name
    return collected(name, "", (*document.findings, *_tools(catalog)))


def _name(catalog: Catalog) -> str:
    """Return the name of the toolset if all tools belong to one, otherwise the name of the design."""
    toolsets = {str(tool.get("toolset", "")).rpartition(".")[2] for tool in catalog.tools}
    return toolsets.pop() if len(toolsets) == 1 else catalog.design


def _tools(catalog: Catalog) -> Iterator[ImportedTool | Finding]:
    for index, entry in enumerate(catalog.tools):
        pointer = joined("/tools", index)
        if entry.get("kind") == "native":
            message = "runs at the model provider, so it is left out"
            hint = "add a NativeTool to the design"
            yield finding_at(LEFT_OUT, pointer, message, hint=hint, tool=str(entry.get("name", "")))
        else:
            name = str(entry.get("name", ""))
            yield from each(_tool(entry, pointer, is_toolgen=catalog.has_head), pointer, name)


def _tool(entry: Mapping[str, Any], pointer: str, *, is_toolgen: bool) -> Iterator[ImportedTool | Finding]:
    payload, result = _part(entry, "payload"), _part(entry, "result")
    name = entry.get("name", str(entry.get("id", "")).rpartition(".")[2])  # Goa-AI has it in the id
    record = {**entry, "name": name, "arguments": payload.get("schema"), "returned": result.get("schema")}
    if left_out := [key for key in _NOT_READ if key in entry]:
        message = f"has {', '.join(left_out)}, which the design leaves out"
        hint = "add it to the design if you need it"
        yield finding_at(LEFT_OUT, pointer, message, hint=hint, tool=name)
    if is_confirmed := "confirmation" in entry:
        message = "requests approval; the design does so for each call, with its own question and no payload"
        hint = "add the question and the payload to Confirm, and when= if only some calls need approval"
        yield finding_at(LEFT_OUT, joined(pointer, "confirmation"), message, hint=hint, tool=name)
    deprecated = _deprecation(entry)
    for tool in read_record(record, pointer, _KEYS):
        if isinstance(tool, Finding):
            yield tool
            continue
        tags = entry.get("tags")
        yield replace(
            tool,
            description=_without_sentence(tool.description, deprecated),
            deprecated=deprecated.reason if deprecated else "",
            is_confirmed=is_confirmed,
            tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
            arguments_pointer=joined(pointer, "payload", "schema"),
            result_pointer=joined(pointer, "result", "schema"),
            formats_are_types=is_toolgen and not ("noted_formats" in payload or "noted_formats" in result),
        )


def _part(entry: Mapping[str, Json], key: str) -> Mapping[str, Json]:
    part = entry.get(key)
    return part if isinstance(part, dict) else {}


def _deprecation(entry: Mapping[str, Json]) -> Deprecation | None:
    match entry.get("deprecated"):
        case {"reason": str(reason), **rest}:
            return Deprecation(reason=reason, replacement=str(rest.get("replacement", "")))
        case _:
            return None


def _without_sentence(description: str, deprecated: Deprecation | None) -> str:
    """Return the description without the sentence about the deprecation, which the design adds again."""
    if deprecated is None:
        return description
    return description.removesuffix(deprecated.added_to("", deprecated.replacement).strip()).rstrip()
