"""`toolgen schema`: the tools of a catalogue as a model's provider takes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from toolgen.catalog.providers import Declarations, EntryError, Projection, declarations
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import compact
from toolgen.contract.printable import printable

from .outcome import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaRequest:
    """What is to be printed of which catalogue."""

    file: Path
    dialect: str
    tool: str
    """Id or name; empty for all tools."""
    is_losses: bool
    format: Literal["text", "json"]


def show_schemas(request: SchemaRequest) -> Outcome:
    """Return what stands under `tools` in a request, or the losses.

    Budgets that the tools of a request share are shared by all of the catalogue, whichever are printed.

    Raises:
        ToolgenError: there is no such file, catalogue, dialect or tool.
    """
    try:
        found = declarations(_tools(request.file), request.dialect)
    except EntryError as error:
        message = f"{request.file} is no catalogue of tools: {error.message}"
        raise ToolgenError(message, hint="pass a tool_schemas.json") from error
    kept = [one for one in found.projections if request.tool in ("", one.id, one.tool)]
    if request.tool and not kept:
        raise ToolgenError(
            f"{request.file} has no tool {request.tool!r}", hint="pass the id or the name of one"
        )
    found = replace(found, projections=tuple(kept))
    lines = list(_losses(found, request.format)) if request.is_losses else [_fragment(found, request.format)]
    return Outcome(code=0, output="\n".join(lines), summary=_summary(found))


def _tools(file: Path) -> list[Any]:
    try:
        document = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise ToolgenError(
            f"cannot read {file}: {error.strerror}", hint="correct the path, or run toolgen gen"
        ) from error
    except ValueError as error:
        raise ToolgenError(f"{file} is not JSON: {error}", hint="pass a tool_schemas.json") from error
    tools = document.get("tools") if isinstance(document, dict) else None
    if not isinstance(tools, list) or not all(isinstance(entry, dict) for entry in tools):
        raise ToolgenError(f"{file} is no catalogue of tools", hint="pass a tool_schemas.json")
    return tools


def _fragment(found: Declarations, format: str) -> str:
    if format == "json":
        return json.dumps(found.fragment, separators=(",", ":"))
    text = json.dumps(found.fragment, indent=2, ensure_ascii=False)
    return "\n".join(map(printable, text.split("\n")))


def _losses(found: Declarations, format: str) -> Iterator[str]:
    """Yield a line for each loss."""
    for one in found.projections:
        for loss in one.losses:
            if format == "text":
                yield printable(f"{_name(one)}: {loss}").replace("\n", " ")
            else:
                facts = {"path": loss.path, "keyword": loss.keyword, "action": loss.action}
                yield compact({"tool": _name(one), **facts, "detail": loss.detail})


def _name(one: Projection) -> str:
    return one.id or one.tool


def _summary(found: Declarations) -> str:
    strict = sum(one.is_strict for one in found.projections)
    losses = sum(len(one.losses) for one in found.projections)
    return f"{found.dialect.name}: tools {len(found.projections)}, strict {strict}, losses {losses}"
