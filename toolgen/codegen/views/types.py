"""`types.py`: the types of a toolset or of the whole design, as classes and aliases.

The modules of services and completions get their types from here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar, Final

from toolgen.contract.names import BOUNDS_FIELDS
from toolgen.contract.record import frozen_record
from toolgen.contract.tool_facts import Bounded
from toolgen.dsl.expr.tree import Design, Tool, Toolset
from toolgen.shapes.fields import DataType, EnumType, Field, ObjectType, UnionType, parts
from toolgen.shapes.naming import field_name, setter_name, title, words

from ..foreign import ForeignSpeller
from ..imports import Imports
from ..layout import SHARED, Module, ModuleScope, is_large, relative, types_modules
from ..spelling import GENERATED, RUNTIME, Speller
from ..text import docstring, literal

_BASE: Final = (RUNTIME, "ToolModel")
_OPEN_BASE: Final = (GENERATED, "OpenModel")


@frozen_record
class InjectedView:
    """An attribute that the server fills, with its setter."""

    name: str
    maker: str
    setter: str
    docstring: str


@frozen_record
class ClassView:
    name: str
    base: str
    docstring: str
    fields: tuple[str, ...]
    injected: tuple[InjectedView, ...] = ()
    bounds: str = ""
    """Class that `result_bounds` returns; "" without the method."""
    bounds_fields: tuple[str, ...] = ()
    """Its keyword arguments."""


@frozen_record
class EnumView:
    name: str
    type: str
    docstring: str


@frozen_record
class AliasView:
    """A name for a type that is not a class."""

    name: str
    annotation: str
    type: str
    docstring: str


@frozen_record
class Role:
    """The use of a class by its tool or method."""

    description: str
    """Description that is used if the design has none."""
    injected: tuple[Field, ...] = ()
    bounded: Bounded | None = None


class ClassPrinter:
    """Prints the classes of one module."""

    def __init__(self, module: Module, scope: ModuleScope, imports: Imports) -> None:
        self._imports = imports
        self.reference = partial(_reference, module, scope.modules, imports)  # a method would be a cycle
        """Function that returns the expression for a class, a named enum or a named union in the module."""
        self._speller = Speller(imports, self.reference, scope.objects)
        imports.name("__future__", "annotations")

    def classes(
        self,
        objects: Iterable[ObjectType],
        roles: Mapping[str, Role] | None = None,
        unions: Iterable[UnionType] = (),
    ) -> tuple[ClassView, ...]:
        """Return the classes of the objects; `unions` are the named unions of this module."""
        objects = tuple(objects)
        inside = [part for object_ in objects for field in object_.fields for part in parts(field.type)]
        return tuple(self._classes(objects, roles or {}, _tags((*unions, *inside))))

    def aliases(
        self, objects: Iterable[ObjectType], roles: Mapping[str, Role] | None = None
    ) -> tuple[AliasView, ...]:
        """Return aliases for third-party schemas that are not classes."""
        views = []
        for object_ in objects:
            if object_.foreign is not None and object_.name not in object_.foreign.classes:
                text = object_.description or _role(object_.name, roles or {}).description
                type_ = ForeignSpeller(object_.foreign, self._imports).alias()
                annotation = self._imports.name("typing", "TypeAlias")
                views.append(
                    AliasView(name=object_.name, annotation=annotation, type=type_, docstring=docstring(text))
                )
        return tuple(views)

    def union(self, union: UnionType) -> AliasView:
        """Return the alias of a named union."""
        return AliasView(
            name=union.name or "",
            annotation=self._imports.name("typing", "TypeAlias"),
            type=self._speller.nested(replace(union, name=None)),
            docstring=docstring(f"One of several objects, distinguished by their {union.tag}."),
        )

    def _classes(
        self, objects: tuple[ObjectType, ...], roles: Mapping[str, Role], tags: Mapping[str, str]
    ) -> Iterator[ClassView]:
        for object_ in objects:
            if object_.foreign is None:
                yield self._class(object_, tags.get(object_.name), _role(object_.name, roles))
                continue
            speller = ForeignSpeller(object_.foreign, self._imports)
            for name, class_ in object_.foreign.classes.items():
                text = object_.description if name == object_.name else ""
                text = (text or class_.get("description", "")).strip() or _role(name, roles).description
                yield ClassView(
                    name=name,
                    base=self._imports.name(GENERATED, "SchemaModel"),
                    docstring=docstring(text, 4),
                    fields=tuple(speller.body(name)),
                )

    def enum(self, enum: EnumType) -> EnumView:
        choice = self._speller.choice(enum.values)
        lines = (f"- `{literal(value)}`: {meaning}" for value, meaning in enum.explained)
        text = "\n".join((enum.description, "", *lines)) if enum.explained else enum.description
        return EnumView(name=enum.name or "", type=choice, docstring=docstring(text))

    def _class(self, object_: ObjectType, tag: str | None, role: Role) -> ClassView:
        return ClassView(
            name=object_.name,
            base=self._imports.name(*(_OPEN_BASE if object_.open else _BASE)),
            docstring=docstring(object_.description or role.description, 4),
            fields=tuple(self._speller.declaration(field, tag=field.name == tag) for field in object_.fields),
            injected=tuple(self._injected(field) for field in role.injected),
            bounds=self._imports.name(RUNTIME, "Bounds") if role.bounded else "",
            bounds_fields=tuple(_bounds(object_, role.bounded)) if role.bounded else (),
        )

    def _injected(self, field: Field) -> InjectedView:
        return InjectedView(
            name=field_name(field.name),
            maker=self._speller.injected(field),
            setter=setter_name(field.name),
            docstring=docstring(field.description or title(field.name), 4),
        )


def _reference(own: Module, modules: Mapping[str, Module], imports: Imports, name: str) -> str:
    module = modules[name]
    return name if module == own else imports.name(relative(own[:-1], module), name, name)


def _role(name: str, roles: Mapping[str, Role]) -> Role:
    return roles.get(name) or Role(description=f"{title('_'.join(words(name)))}.")


def _bounds(object_: ObjectType, bounded: Bounded) -> Iterable[str]:
    """Yield the keyword arguments of `Bounds`, in the order of its fields."""
    for name in BOUNDS_FIELDS:
        if object_.field(name):
            yield f"{name}=self.{name}"
    if bounded.next_cursor is not None:
        yield f"next_cursor=self.{field_name(bounded.next_cursor)}"


def _tags(types: Iterable[DataType]) -> dict[str, str]:
    """Return the tag of each branch of the unions among the types.

    The class of an only branch has no default for its tag: pydantic does not treat a single branch as a
    union, so it would accept a document without the tag.
    """
    return {
        branch.name: part.tag
        for part in types
        if isinstance(part, UnionType) and len(part.branches) > 1
        for _, branch in part.branches
    }


@frozen_record
class TypesView:
    template: ClassVar[str] = "types.py.jinja"
    docstring: str
    imports: str
    enums: tuple[EnumView, ...] = ()
    classes: tuple[ClassView, ...] = ()
    aliases: tuple[AliasView, ...] = ()


def shared_types_view(design: Design, scope: ModuleScope) -> TypesView:
    imports = Imports(scope.modules)
    printer = ClassPrinter(SHARED, scope, imports)
    enums = tuple(map(printer.enum, design.enums))
    classes = printer.classes(design.types, unions=design.unions)
    aliases = (*printer.aliases(design.types), *map(printer.union, design.unions))
    text = docstring(f"Types of the design {design.name}.")
    return TypesView(docstring=text, imports=imports.text(), enums=enums, classes=classes, aliases=aliases)


def types_views(toolset: Toolset, scope: ModuleScope) -> Iterable[tuple[Module, TypesView]]:
    """Yield the modules of the toolset's types: one, or one for each tool of a large toolset."""
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
    text: str, module: Module, objects: tuple[ObjectType, ...], scope: ModuleScope, tools: tuple[Tool, ...]
) -> TypesView:
    imports = Imports(scope.modules)
    printer, of = ClassPrinter(module, scope, imports), roles(tools)
    classes, aliases = printer.classes(objects, of), printer.aliases(objects, of)
    return TypesView(docstring=docstring(text), imports=imports.text(), classes=classes, aliases=aliases)
