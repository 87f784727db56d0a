"""The executor stub that an author starts from, and the methods that are inserted into it later."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final

from toolgen.contract.record import frozen_record
from toolgen.dsl.expr.tree import Design, Tool, Toolset
from toolgen.shapes.naming import class_name, method_name

from .. import names
from ..imports import Imports
from ..layout import toolset_package, toolset_path
from ..spelling import RUNTIME
from ..stubs.scopes import Spelling
from ..text import docstring, quote

_WIDTH: Final = 100
"""Maximum columns of generated code; the formatting of inserted methods matches it."""
_RUNTIME_NAMES: Final = ("LongRunningReturn", "ToolContext", "ToolReturn")
"""Names that a stub imports from the runtime."""


@frozen_record
class StubMethodView:
    name: str
    parameters: tuple[str, ...]
    returns: tuple[str, ...]
    """A class, or a generic and its arguments, which can be on separate lines."""
    docstring: str
    """Text without indent."""
    error: str

    @property
    def signature(self) -> str:
        return f"async def {self.name}({', '.join(self.parameters)}) -> {_generic(self.returns)}"


@frozen_record
class StubView:
    template: ClassVar[str] = "stub.py.jinja"
    docstring: str
    imports: str
    own_import: str
    """Import of the toolset, separate from the others because imports of the project come last."""
    name: str
    base: str
    class_docstring: str
    methods: tuple[str, ...]


def stub_view(design: Design, toolset: Toolset, package: str) -> StubView:
    """Return the stub; `package` is the import path of the generated tree.

    Bound tools need no method: the generated executor calls the service.
    """
    *parents, last = toolset_package(toolset)
    open_tools = [tool for tool in toolset.tools if not tool.binding]
    is_bound = len(open_tools) < len(toolset.tools)
    imports, own_import = Imports(), Imports({class_name(toolset.name), *_RUNTIME_NAMES})
    imports.name("__future__", "annotations")
    alias = own_import.name(".".join([package, *parents]), last, names.stub_module(toolset))
    module = toolset_path(toolset, package)

    def spell(path: str) -> Spelling:
        origin, _, name = path.rpartition(".")
        if origin == module:
            return Spelling(text=f"{alias}.{name}", is_sure=True)
        return Spelling(text=(imports if origin == RUNTIME else own_import).name(origin, name), is_sure=True)

    methods = [stub_method(tool, toolset, package, spell) for tool in open_tools]
    return StubView(
        docstring=docstring(f"Executes the tools of {toolset.service}.{toolset.name} in {design.name}."),
        imports=imports.text(),
        own_import=own_import.text(),
        name=class_name(toolset.name),
        base=f"{alias}.{names.bound_executor(toolset) if is_bound else names.executor(toolset)}",
        class_docstring=docstring(toolset.description or f"Executes {toolset.name}.", 4),
        methods=tuple("\n".join(method_lines(method, "    ", "    ")) for method in methods),
    )


def stub_method(
    tool: Tool, toolset: Toolset, package: str, spell: Callable[[str], Spelling]
) -> StubMethodView:
    """Return the method of a tool; `package` is the path of the tree, `spell` writes a path as code."""
    module, late = toolset_path(toolset, package), tool.long_running
    result = [spell(f"{module}.{tool.result.name}")]
    if late is not None:
        result = [spell(f"{RUNTIME}.LongRunningReturn"), *result, Spelling(text="None", is_sure=True)]
        if late.ack is not None:
            own = {object_.name for object_ in toolset.objects}
            result[-1] = spell(f"{module if late.ack in own else f'{package}.types'}.{late.ack}")
    elif tool.artifacts:
        result.insert(0, spell(f"{RUNTIME}.ToolReturn"))
    return StubMethodView(
        name=method_name(tool.name),
        parameters=(
            "self",
            f"payload: {_generic(_annotation(spell(f'{module}.{tool.payload.name}')))}",
            f"ctx: {_generic(_annotation(spell(f'{RUNTIME}.ToolContext')))}",
        ),
        returns=_annotation(*result),
        docstring=docstring(tool.facts.description),
        error=quote(_sentence(tool)),
    )


def method_lines(method: StubMethodView, indent: str, step: str) -> list[str]:
    """Return the lines of the method as ruff formats them, with the indentation of its class."""
    inner = indent + step
    head = f"{indent}{method.signature}:"
    body = f"{inner}raise NotImplementedError({method.error})"
    parameters = f"{inner}{', '.join(method.parameters)}"
    if _fits(head):
        lines = [head]
    elif _fits(parameters):
        lines = [f"{indent}async def {method.name}(", parameters, *_end(method, indent, inner)]
    else:
        rows = [f"{inner}{parameter}," for parameter in method.parameters]
        lines = [f"{indent}async def {method.name}(", *rows, *_end(method, indent, inner)]
    lines += [f"{inner}{line}" if line else "" for line in method.docstring.split("\n")]
    if _fits(body):
        return [*lines, body]
    return [*lines, f"{inner}raise NotImplementedError(", f"{inner}{step}{method.error}", f"{inner})"]


def _end(method: StubMethodView, indent: str, inner: str) -> list[str]:
    """Return the last lines of a signature whose parameters are on separate lines."""
    first, *arguments = method.returns
    end, row = f"{indent}) -> {_generic(method.returns)}:", f"{inner}{', '.join(arguments)}"
    if _fits(end) or not arguments:
        return [end]
    rows = [row] if _fits(row) or len(arguments) == 1 else [f"{inner}{argument}," for argument in arguments]
    return [f"{indent}) -> {first}[", *rows, f"{indent}]:"]


def _annotation(*parts: Spelling) -> tuple[str, ...]:
    """Return a class, or a generic and its arguments; quoted if its evaluation could fail."""
    texts = tuple(part.text for part in parts)
    return texts if all(part.is_sure for part in parts) else (quote(_generic(texts)),)


def _generic(parts: tuple[str, ...]) -> str:
    first, *arguments = parts
    return f"{first}[{', '.join(arguments)}]" if arguments else first


def _fits(line: str) -> bool:
    return len(line.expandtabs(4)) <= _WIDTH


def _sentence(tool: Tool) -> str:
    fields = [field.name for field in tool.result.fields]
    what = f"{tool.name} returns {tool.result.name}"
    if fields:
        what += f" with {_listed(fields)}"
    if tool.artifacts:
        what += f", and {_listed([artifact.kind for artifact in tool.artifacts])} as artifact"
    if tool.long_running:
        what += ", or ToolOutcome.pending(…)"
    return what


def _listed(words: list[str]) -> str:
    return " and ".join([*([", ".join(words[:-1])] if words[1:] else []), words[-1]])
