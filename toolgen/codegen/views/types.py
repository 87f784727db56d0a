"""`types.py`: the typed values of a toolset, and those that the whole design shares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from toolgen.expr.tree import Design, Tool, Toolset
from toolgen.shapes.fields import ObjectType

from ..imports import Imports
from ..layout import SHARED, Module, Scope, is_large, types_modules
from ..text import docstring
from .classes import AliasView, ClassPrinter, ClassView, EnumView, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class TypesView:
    template: ClassVar[str] = "types.py.jinja"
    docstring: str
    imports: str
    enums: tuple[EnumView, ...] = ()
    classes: tuple[ClassView, ...] = ()
    aliases: tuple[AliasView, ...] = ()


def shared_types_view(design: Design, scope: Scope) -> TypesView:
    imports = Imports(scope.modules)
    printer = ClassPrinter(SHARED, scope, imports)
    enums = tuple(map(printer.enum, design.enums))
    classes = printer.classes(design.types, unions=design.unions)
    aliases = (*printer.aliases(design.types), *map(printer.union, design.unions))
    text = docstring(f"Types of the design {design.name}.")
    return TypesView(docstring=text, imports=imports.text(), enums=enums, classes=classes, aliases=aliases)


def types_views(toolset: Toolset, scope: Scope) -> Iterable[tuple[Module, TypesView]]:
    """Return the modules of the toolset's types: one, or one a tool."""
    for module, tools, objects in types_modules(toolset):
        of = tools[0].id if is_large(toolset) else f"{toolset.service}.{toolset.name}"
        yield module, _view(f"Types of {of}.", module, objects, scope, tools)


def roles(tools: Iterable[Tool]) -> dict[str, Role]:
    roles = {}
    for tool in tools:
        roles[tool.payload.name] = Role(description=f"Arguments of {tool.name}.", injected=tool.injected)
        roles[tool.result.name] = Role(description=f"Result of {tool.name}.", bounded=tool.bounded)
    return roles


def _view(
    text: str, module: Module, objects: tuple[ObjectType, ...], scope: Scope, tools: tuple[Tool, ...]
) -> TypesView:
    imports = Imports(scope.modules)
    printer, of = ClassPrinter(module, scope, imports), roles(tools)
    classes, aliases = printer.classes(objects, of), printer.aliases(objects, of)
    return TypesView(docstring=docstring(text), imports=imports.text(), classes=classes, aliases=aliases)
