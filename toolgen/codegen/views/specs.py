"""`specs.py` and `calls.py`: the specs of a toolset and of declared errors, and typed builders of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, ClassVar

from toolgen.contract.json_value import compact
from toolgen.contract.record import frozen_record
from toolgen.contract.tool_facts import Artifact, Bounded, Confirmation, Deprecation, Error, Icon, ToolFacts
from toolgen.dsl.expr.tree import Method, NativeTool, Tool, Toolset
from toolgen.shapes.naming import method_name, title

from .. import names
from ..imports import Imports
from ..layout import ModuleScope
from ..spelling import GENERATED, RUNTIME
from ..text import docstring, literal, quote, strings
from .codecs import type_name


@frozen_record
class SpecsView:
    template: ClassVar[str] = "specs.py.jinja"
    docstring: str
    imports: str
    typing_imports: str
    ids: tuple[str, ...]
    """Literals of the ids; empty if there are only native tools."""
    constants: tuple[ConstantView, ...]
    specs: tuple[str, ...]
    native: tuple[str, ...]
    """Expressions."""


def specs_view(toolset: Toolset, scope: ModuleScope) -> SpecsView:
    imports, typing_imports = Imports(), Imports()
    imports.name("__future__", "annotations")
    if toolset.tools:
        for name in ("TYPE_CHECKING", "Any", "Literal"):
            imports.name("typing", name)
        imports.name(RUNTIME, "ToolSpec")
        imports.name(".", "codecs")

    def type_of(class_: str) -> str:
        return type_name(toolset, scope.modules[class_], class_, typing_imports)

    constants = tuple(each for tool in toolset.tools for each in _constants(toolset, tool, type_of, imports))
    native = tuple(_native(tool, imports) for tool in toolset.native)
    return SpecsView(
        docstring=docstring(f"Specs of the tools of {toolset.service}.{toolset.name}."),
        imports=imports.text(),
        typing_imports=typing_imports.text(4),
        ids=tuple(quote(tool.id) for tool in toolset.tools),
        constants=constants,
        specs=tuple(map(names.spec, toolset.tools)),
        native=native,
    )


def _constants(
    toolset: Toolset, tool: Tool, type_of: Callable[[str], str], imports: Imports
) -> Iterator[ConstantView]:
    """Yield the constants of a tool's artifacts and errors, then its spec, which refers to them."""
    for artifact in tool.artifacts:
        maker = imports.name(GENERATED, "ArtifactSpec")
        yield ConstantView(
            name=names.artifact_spec(tool, artifact.kind),
            type=f"{maker}[{type_of(artifact.type)}]",
            value=f"{maker}({', '.join(_artifact(artifact))})",
        )
    for error in tool.errors:
        name, type_ = names.error_spec(tool, error), type_of(error.type) if error.type else "None"
        codec = [f"codecs.{names.codec(error.type)}"] if error.type else []
        yield error_constant(name, error, type_, imports, codec)
    yield ConstantView(
        name=names.spec(tool),
        type=f"ToolSpec[{type_of(tool.payload.name)}, {type_of(tool.result.name)}]",
        value=f"ToolSpec({', '.join(_arguments(toolset, tool, imports))},)",
    )


def _artifact(of: Artifact[str]) -> Iterator[str]:
    """Yield the arguments of the spec of an artifact."""
    yield quote(of.kind)
    yield f"codecs.{names.codec(of.type)}"
    if of.description:
        yield f"description={quote(of.description)}"
    if of.view:
        yield f"view={quote(of.view)}"
    if of.audience != "user":
        yield f"audience={quote(of.audience)}"


def _arguments(toolset: Toolset, tool: Tool, imports: Imports) -> Iterator[str]:
    """Yield the keyword arguments of the spec; empty values are left out."""
    wire, method = names.wire(toolset, tool), method_name(tool.name)
    yield f"id={quote(tool.id)}"
    if wire != tool.name:
        yield f"name={quote(wire)}"
    facts = _set_arguments(tool.facts, imports)
    shown, description = facts.pop("title"), facts.pop("description")
    if tool.facts.title != title(tool.name):
        yield shown
    yield description
    yield f"payload=codecs.{names.payload_codec(tool)}"
    yield f"result=codecs.{names.result_codec(tool)}"
    if method != wire:
        yield f"method={quote(method)}"
    if tool.injected:
        yield f"injected={strings(tuple(field.name for field in tool.injected))}"
    if tool.bounded is not None:
        keys = ", ".join(_set_arguments(tool.bounded, imports).values())
        yield f"bounded={imports.name(GENERATED, 'BoundedSpec')}({keys})"
    if tool.artifacts:
        items = (
            f"{quote(artifact.kind)}: {names.artifact_spec(tool, artifact.kind)}"
            for artifact in tool.artifacts
        )
        yield f"artifacts={{{', '.join(items)}}}"
    if tool.errors:
        items = (f"{quote(error.name)}: {names.error_spec(tool, error)}" for error in tool.errors)
        yield f"errors={{{', '.join(items)}}}"
    if tool.examples:
        yield f"example={quote(compact(tool.examples[0].args))}"
    if tool.confirmation is not None:
        yield confirmed(tool.confirmation, imports)
    if tool.long_running is not None:
        parts = {"ack": tool.long_running.ack, "progress": tool.long_running.progress}
        codecs = (f"{key}=codecs.{names.codec(name)}" for key, name in parts.items() if name is not None)
        yield f"long_running={imports.name(GENERATED, 'LongRunningSpec')}({', '.join(codecs)})"
    if tool.binding is not None:
        yield f"binding={strings((tool.binding.service, tool.binding.method))}"
    yield from facts.values()


def _set_arguments(of: ToolFacts | Bounded | Icon | Deprecation, imports: Imports) -> dict[str, str]:
    """Return the keyword arguments that create the value, by name; empty values are left out."""
    values = {field.name: getattr(of, field.name) for field in fields(of)}
    return {name: f"{name}={_expression(value, imports)}" for name, value in values.items() if value}


def _expression(value: Any, imports: Imports) -> str:
    """Return the expression of a fact."""
    match value:
        case Icon() | Deprecation():
            maker = imports.name(GENERATED, type(value).__name__)
            return f"{maker}({', '.join(_set_arguments(value, imports).values())})"
        case tuple():
            items = ", ".join(_expression(item, imports) for item in value)
            return f"({items}{',' * (len(value) == 1)})"
        case Mapping():
            return literal(dict(value))
        case _:
            return literal(value)


def confirmed(of: Confirmation[str], imports: Imports, codecs: str = "codecs") -> str:
    """Return the keyword argument of a spec for the confirmation of its calls."""
    facts = [f"hint={quote(of.hint)}"] if of.hint else []
    if of.when:
        items = (f"{quote(name)}: {_expression(values, imports)}" for name, values in of.when.items())
        facts.append(f"when={{{', '.join(items)}}}")
    if of.payload is not None:
        facts.append(f"payload={codecs}.{names.codec(of.payload)}")
    if of.grantable:
        facts.append("grantable=True")
    return f"confirm={imports.name(RUNTIME, 'ConfirmSpec')}({', '.join(facts)})"


def _native(tool: NativeTool, imports: Imports) -> str:
    config = f", config={literal(dict(tool.config))}" if tool.config else ""
    maker = imports.name(GENERATED, "NativeTool")
    return f"{maker}(id={quote(tool.id)}, provider={quote(tool.provider)}, kind={quote(tool.kind)}{config})"


@frozen_record
class CallsView:
    template: ClassVar[str] = "calls.py.jinja"
    docstring: str
    calls: tuple[tuple[str, str], ...]
    """Builder and spec."""


def calls_view(toolset: Toolset) -> CallsView:
    return CallsView(
        docstring=docstring(f"Builders of calls of the tools of {toolset.service}.{toolset.name}."),
        calls=tuple((method_name(tool.name), names.spec(tool)) for tool in toolset.tools),
    )


@frozen_record
class ConstantView:
    """A constant whose value is created by a call."""

    name: str
    type: str
    value: str


def error_constant(
    name: str, error: Error[str], type_: str, imports: Imports, codec: Iterable[str] = ()
) -> ConstantView:
    """Return the constant of a declared error; `type_` is the type of its details, "None" without details."""
    maker = imports.name(GENERATED, "ErrorSpec")
    retryable = ["is_retryable=True"] if error.is_retryable else []
    description = [f"description={quote(error.description)}"] if error.description else []
    arguments = ", ".join([quote(error.name), *codec, *description, *retryable])
    return ConstantView(name=name, type=f"{maker}[{type_}]", value=f"{maker}({arguments})")


def with_errors(text: str, owner: Tool | Method) -> str:
    """Return the docstring of a tool or a method, followed by the errors that it can raise."""
    if not owner.errors:
        return text
    lines = [f"    {names.error_spec(owner, error)}: {error.description}" for error in owner.errors]
    return "\n".join([text, "", "Raises:", *lines])
