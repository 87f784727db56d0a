"""`specs.py`: one ToolSpec constant a tool, one ArtifactSpec constant a tool and kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from toolgen.contract.fields import Json
from toolgen.contract.naming import method_name, title
from toolgen.expr.tree import Bounded, Tool, Toolset

from .. import names
from ..catalog import compact
from ..imports import Imports
from ..layout import Scope
from ..spelling import RUNTIME
from ..text import docstring, literal, quote, strings
from .codecs import type_name


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantView:
    """A constant that is made by a call."""

    name: str
    type: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecsView:
    template: ClassVar[str] = "specs.py.jinja"
    docstring: str
    imports: str
    typing_imports: str
    ids: tuple[str, ...]
    """As literals."""
    constants: tuple[ConstantView, ...]
    specs: tuple[str, ...]


def specs_view(toolset: Toolset, scope: Scope) -> SpecsView:
    imports, typing_imports = Imports(), Imports()
    imports.name("__future__", "annotations")
    for name in ("TYPE_CHECKING", "Any", "Literal"):
        imports.name("typing", name)
    imports.name(RUNTIME, "ToolSpec")
    imports.name(".", "codecs")

    def type_of(class_: str) -> str:
        return type_name(toolset, scope.modules[class_], class_, typing_imports)

    constants: list[ConstantView] = []
    for tool in toolset.tools:
        for artifact in tool.artifacts:
            maker = imports.name(RUNTIME, "ArtifactSpec")
            constants.append(
                ConstantView(
                    name=names.artifact_spec(tool, artifact.kind),
                    type=f"{maker}[{type_of(artifact.type)}]",
                    value=f"{maker}({quote(artifact.kind)}, codecs.{names.codec(artifact.type)})",
                )
            )
        constants.append(
            ConstantView(
                name=names.spec(tool),
                type=f"ToolSpec[{type_of(tool.payload.name)}, {type_of(tool.result.name)}]",
                value=f"ToolSpec({', '.join(_facts(toolset, tool, imports))},)",
            )
        )
    return SpecsView(
        docstring=docstring(f"Specs of the tools of {toolset.service}.{toolset.name}."),
        imports=imports.text(),
        typing_imports=typing_imports.text(4),
        ids=tuple(quote(tool.id) for tool in toolset.tools),
        constants=tuple(constants),
        specs=tuple(map(names.spec, toolset.tools)),
    )


def _facts(toolset: Toolset, tool: Tool, imports: Imports) -> Iterator[str]:
    """Return the keyword arguments of the spec; what is empty is left out."""
    wire, method = names.wire(toolset, tool), method_name(tool.name)
    yield f"id={quote(tool.id)}"
    if wire != tool.name:
        yield f"name={quote(wire)}"
    if tool.title != title(tool.name):
        yield f"title={quote(tool.title)}"
    yield f"description={quote(tool.description)}"
    yield f"payload=codecs.{names.payload_codec(tool)}"
    yield f"result=codecs.{names.result_codec(tool)}"
    if method != wire:
        yield f"method={quote(method)}"
    if tool.injected:
        yield f"injected={strings(tuple(field.name for field in tool.injected))}"
    if tool.bounded is not None:
        yield f"bounded={imports.name(RUNTIME, 'BoundedSpec')}({_cursors(tool.bounded)})"
    if tool.artifacts:
        items = (f"{quote(one.kind)}: {names.artifact_spec(tool, one.kind)}" for one in tool.artifacts)
        yield f"artifacts={{{', '.join(items)}}}"
    if tool.tags:
        yield f"tags={strings(tool.tags)}"
    if tool.annotations:
        yield f"annotations={literal(dict[str, Json](tool.annotations.items()))}"
    if tool.meta:
        yield f"meta={literal(dict(tool.meta))}"
    if tool.examples:
        yield f"example={quote(compact(tool.examples[0].args))}"


def _cursors(bounded: Bounded) -> str:
    given = {"cursor": bounded.cursor, "next_cursor": bounded.next_cursor}
    return ", ".join(f"{name}={quote(key)}" for name, key in given.items() if key is not None)
