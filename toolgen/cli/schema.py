"""`toolgen schema`: the tools of a catalog in the format of a model provider."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from toolgen.catalog.providers import Declarations, EntryError, Projection, declarations
from toolgen.catalog.reader import Catalog, CatalogError, load_catalog
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json, compact
from toolgen.contract.printable import printable, visible_lines
from toolgen.contract.record import frozen_record

from .config import Project
from .outcome import Outcome

if TYPE_CHECKING:
    from toolgen.runtime import ToolSpec


@frozen_record
class ToolSource:
    """A catalog file, or a project if the file is None."""

    file: Path | None
    project: Project | None

    @property
    def catalog(self) -> Path | None:
        """The catalog to read; None for a project with only functions."""
        if self.file or not self.project:
            return self.file
        return self.project.catalog if self.project.design else None


def show_schemas(
    source: ToolSource, dialect: str, tool: str, *, is_losses: bool, format: Literal["text", "json"]
) -> Outcome:
    """Return the value of `tools` in a request, or the losses.

    The tool is an id or a name, "" for all tools. Budgets that the tools of a request share are computed for
    all tools of the catalog, even if only some are printed.

    Raises:
        ToolgenError: there is no such file, catalog, dialect or tool.
    """
    try:
        declared = declarations(list(tools_of(source)), dialect)
    except EntryError as error:
        raise no_catalog(source, error) from error
    projections = [each for each in declared.projections if tool in ("", each.id, each.tool)]
    if tool and not projections:
        place = source.catalog or "the project"
        raise ToolgenError(f"{place} has no tool {tool!r}", hint="pass the id or the name of a tool")
    declared = replace(declared, projections=tuple(projections))
    lines = _losses(declared, format) if is_losses else [_fragment(declared, format)]
    return Outcome(code=0, output="\n".join(lines), summary=_summary(declared))


def no_catalog(source: ToolSource, error: EntryError) -> ToolgenError:
    """Return the error for a catalog with a wrong entry."""
    message = f"{source.catalog} is not a tool catalog: {error.message}"
    return ToolgenError(message, hint="pass a tool_schemas.json")


def tools_of(source: ToolSource) -> Iterator[Mapping[str, Json] | ToolSpec]:
    """Yield the tools of the catalog, and the tools of the project's functions."""
    if source.catalog:
        yield from _loaded(source.catalog).tools
    if source.project and source.project.functions:
        from .function_toolsets import function_toolsets  # imports the author's code

        for toolset in function_toolsets(source.project):
            yield from (tool.spec for tool in toolset.bound)


def agents_of(source: ToolSource) -> tuple[Mapping[str, Any], ...]:
    """Return the agents in the catalog: `id`, and `tools` with `id` and `name`."""
    return _loaded(source.catalog).agents if source.catalog else ()


def _loaded(file: Path) -> Catalog:
    try:
        return load_catalog(file)
    except CatalogError as error:
        raise ToolgenError(f"{file} {error}", hint="pass a tool_schemas.json") from error
    except OSError as error:
        raise ToolgenError(
            f"cannot read {file}: {error.strerror}", hint="correct the path, or run toolgen gen"
        ) from error
    except ValueError as error:
        raise ToolgenError(f"{file} is not JSON: {error}", hint="pass a tool_schemas.json") from error


def _fragment(declared: Declarations, format: str) -> str:
    if format == "json":
        return json.dumps(declared.fragment, separators=(",", ":"))
    text = json.dumps(declared.fragment, indent=2, ensure_ascii=False)
    return visible_lines(text)


def _losses(declared: Declarations, format: str) -> Iterator[str]:
    """Yield a line for each loss."""
    for projection in declared.projections:
        for loss in projection.losses:
            if format == "text":
                yield printable(f"{_name(projection)}: {loss}").replace("\n", " ")
            else:
                facts = {"path": loss.path, "keyword": loss.keyword, "action": loss.action}
                yield compact({"tool": _name(projection), **facts, "detail": loss.detail})


def _name(projection: Projection) -> str:
    return projection.id or projection.tool


def _summary(declared: Declarations) -> str:
    strict = sum(projection.is_strict for projection in declared.projections)
    losses = sum(len(projection.losses) for projection in declared.projections)
    return f"{declared.dialect.name}: tools {len(declared.projections)}, strict {strict}, losses {losses}"
