"""`export.py`: the registration of a toolset that an agent implements by its runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from toolgen.expr.tree import Export

from .. import names
from ..text import docstring, quote
from .executor import text_arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportView:
    template: ClassVar[str] = "export.py.jinja"
    docstring: str
    registration_docstring: str
    toolset: str
    """Literal of the toolset's name."""
    route: str
    """Arguments of the `AgentRoute`."""
    more: str
    """The last keyword arguments of the registration, after a comma; "" without."""


def export_view(of: Export) -> ExportView:
    toolset = of.toolset
    full_name = names.qualified(toolset)
    return ExportView(
        docstring=docstring(f"How {toolset.exporter} serves the tools of {full_name}."),
        registration_docstring=docstring(
            f"Return the toolset as a runtime registers it: a call becomes a run of {toolset.exporter}.", 4
        ),
        toolset=quote(full_name),
        route=", ".join(_route(of)),
        more=text_arguments(toolset),
    )


def _route(of: Export) -> Iterator[str]:
    yield f"agent={quote(of.toolset.exporter)}"
    prompts = [
        f"{quote(tool.id)}: {quote(of.prompts[tool.name])}"
        for tool in of.toolset.tools
        if tool.name in of.prompts
    ]
    if prompts:
        yield f"prompts={{{', '.join(prompts)}}}"
