"""`codecs.py`: one Codec constant for each type that crosses the JSON boundary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from toolgen.contract.record import frozen_record
from toolgen.dsl.expr.tree import Tool, Toolset
from toolgen.shapes.fields import ObjectType

from .. import names
from ..imports import Imports
from ..layout import SHARED, Module, ModuleScope, foreign_parts, relative, toolset_package
from ..spelling import GENERATED
from ..text import docstring, quote, strings


@frozen_record
class ModuleView:
    """The factory for the codecs of one types module."""

    name: str
    module: str


@frozen_record
class CodecView:
    name: str
    type: str
    module: str
    """Expression of the function that creates the codec from the arguments."""
    arguments: str


@frozen_record
class CodecsView:
    template: ClassVar[str] = "codecs.py.jinja"
    docstring: str
    imports: str
    typing_imports: str
    modules: tuple[ModuleView, ...]
    codecs: tuple[CodecView, ...]


def codecs_view(toolset: Toolset, scope: ModuleScope) -> CodecsView:
    imports, typing_imports = Imports(), Imports()
    imports.name("__future__", "annotations")
    imports.name("typing", "TYPE_CHECKING")
    imports.name(GENERATED, "Codec")
    imports.name(GENERATED, "CodecModule")
    modules: dict[Module, ModuleView] = {}
    codecs: dict[str, CodecView] = {}
    for tool in toolset.tools:
        for name, class_ in _types(tool):
            module = scope.modules[class_]
            maker = modules.setdefault(_home(toolset, module), _maker(toolset, module))
            codecs[name] = CodecView(
                name=name,
                type=type_name(toolset, module, class_, typing_imports),
                module=f"{maker.name}.foreign" if scope.objects[class_].foreign else maker.name,
                arguments=", ".join(arguments(scope.objects[class_], scope)),
            )
    return CodecsView(
        docstring=docstring(f"Codecs of {toolset.service}.{toolset.name}."),
        imports=imports.text(),
        typing_imports=typing_imports.text(4),
        modules=tuple(modules.values()),
        codecs=tuple(codecs.values()),
    )


def arguments(of: ObjectType, scope: ModuleScope) -> Iterator[str]:
    """Yield the arguments that create the codec of an object."""
    yield quote(of.name)
    if places := scope.sensitive_places(of):
        yield f"sensitive={strings(places)}"
    if not all(foreign.is_exact for foreign in foreign_parts(of, scope)):
        yield "is_exact=False"


def type_name(toolset: Toolset, module: Module, class_: str, imports: Imports) -> str:
    """Return the expression for a class in the codecs and specs of a toolset: `types.ListDevicesPayload`."""
    if module == SHARED:
        return f"{imports.name(relative(toolset_package(toolset), ()), 'types', 'shared_types')}.{class_}"
    return f"{imports.name('.', 'types')}.{class_}"


def _types(tool: Tool) -> Iterator[tuple[str, str]]:
    """Yield constant and class of each type of the tool."""
    yield names.payload_codec(tool), tool.payload.name
    yield names.result_codec(tool), tool.result.name
    for class_ in tool.classes:
        yield names.codec(class_), class_


def _home(toolset: Toolset, module: Module) -> Module:
    """Return the module that a codec imports; a package of types resolves the tool's module itself."""
    return module if module == SHARED else (*toolset_package(toolset), "types")


def _maker(toolset: Toolset, module: Module) -> ModuleView:
    path = quote(relative(toolset_package(toolset), _home(toolset, module)))
    return ModuleView(name="shared_codec" if module == SHARED else "codec", module=path)
