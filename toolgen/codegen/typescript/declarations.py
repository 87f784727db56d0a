"""Declarations of the types of one file: interfaces, and aliases of unions and of other types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from toolgen.contract.record import frozen_record
from toolgen.shapes.fields import MISSING, EnumType, Field, Missing, ObjectType, UnionType, null_is_a_value
from toolgen.shapes.foreign.nodes import Node

from ..views.types import Role
from .imports import TypeImports
from .layout import FileScope
from .sides import Named, Side
from .spelling import (
    HIDDEN,
    Members,
    TypeScriptSpeller,
    choice,
    foreign_meanings,
    foreign_notes,
    meanings,
    notes,
)
from .text import comment, literal, property_name, union


@frozen_record
class MemberView:
    """A property, or a method, of an interface."""

    comment: str
    text: str


@frozen_record
class TypeView:
    """An interface, or an alias if `alias` is not empty."""

    comment: str
    name: str
    members: tuple[MemberView, ...] = ()
    alias: str = ""


class TypePrinter:
    """Prints the types of one file."""

    def __init__(self, scope: FileScope, imports: TypeImports, *, types: str, surface: str) -> None:
        """Create the printer; `types` and `surface` are the specifiers of the files to import from."""
        self._scope = scope
        self._imports = imports
        self._types = types
        self._surface = surface

    def reference(self, side: Side, name: str) -> str:
        """Return the name of a type in the file; import it if it is declared in another file."""
        own = self._scope.names[side][name]
        return self._imports.name(self._types, own) if self._types and own in self._scope.shared else own

    def may_be_empty(self, name: str) -> bool:
        """Return whether a received object can have no properties."""
        return may_be_empty(self._scope.objects[name], "received")

    def used(self, name: str) -> str:
        """Import a name of the client runtime and return it."""
        return self._imports.name(self._surface, name)

    def types(self, names: Iterable[str], roles: Mapping[str, Role] | None = None) -> Iterator[TypeView]:
        """Yield declarations of the types that cross the surface."""
        crossing = self._scope.crossing.all
        for name in names:
            if named := crossing.get(name):
                for side in self._scope.sides(name):
                    yield from self._named(name, named, side, (roles or {}).get(name))

    def _named(self, name: str, named: Named, side: Side, role: Role | None) -> Iterator[TypeView]:
        own = self._scope.names[side][name]
        match named:
            case EnumType():
                text = "\n\n".join(filter(None, (named.description, meanings(replace(named, name=None)))))
                yield self._alias(own, text, choice(named.values))
            case UnionType():
                text = f"One of several objects, distinguished by their {named.tag}."
                yield self._alias(own, text, self._speller(side).branches(named))
            case ObjectType(foreign=None):
                text = named.description or (role.description if role else "")
                yield self._object(named, own, side, text)
            case ObjectType():
                yield from self._foreign(named, role)

    def _alias(self, name: str, text: str, members: Members) -> TypeView:
        alias = union(members, indent=0, taken=len(f"export type {name} =;"))
        return TypeView(comment=comment(text), name=name, alias=alias)

    def _object(self, object_: ObjectType, name: str, side: Side, text: str) -> TypeView:
        members = tuple(self._property(field, side) for field in object_.fields)
        return _interface(name, text, members, is_open=object_.open)

    def _property(self, field: Field, side: Side) -> MemberView:
        is_sent = not field.sensitive or side == "sent"
        described = " ".join(filter(None, (field.description, *(notes(field.type) if is_sent else ()))))
        texts = [described, meanings(field.type)]
        if field.sensitive:
            texts.append(f"Sensitive: {'keep it out of logs' if is_sent else 'the surface hides its value'}.")
        tags: list[tuple[str, str]] = []
        if side == "sent" and not isinstance(field.default, Missing):
            tags.append(("defaultValue", literal(field.default)))
        return _member(
            field.name,
            self._members(field, side),
            "\n\n".join(filter(None, texts)),
            tags,
            is_optional=_is_optional(field, side),
            is_deprecated=field.deprecated,
        )

    def _members(self, field: Field, side: Side) -> Members:
        """Return the type of a property; received sensitive values are hidden, except null."""
        if not field.sensitive or side == "sent":
            return self._speller(side).members(field.type)
        return (self.used(HIDDEN), "null") if null_is_a_value(field.type) else (self.used(HIDDEN),)

    def _foreign(self, object_: ObjectType, role: Role | None) -> Iterator[TypeView]:
        """Yield the classes of a third-party schema, and its root if that is not a class."""
        foreign, names = object_.foreign, self._scope.names["received"]
        assert foreign is not None, "only such an object comes here"
        own = object_.description or (role.description if role else "")
        if object_.name not in foreign.classes:
            yield self._alias(names[object_.name], own, self._speller("received").foreign(foreign.root))
        for name, node in foreign.classes.items():
            text = own if name == object_.name else ""
            yield self._class(names[name], node, text or node.get("description", ""))

    def _class(self, name: str, node: Node, text: str) -> TypeView:
        required, spell = set(node["required"]), self._speller("received").foreign
        members = []
        for key, of in node["properties"].items():
            described = " ".join(filter(None, (of.get("description", "").strip(), *foreign_notes(of))))
            explained = foreign_meanings(of)
            tags = [("defaultValue", literal(of["default"]))] if "default" in of else []
            members.append(
                _member(
                    key,
                    spell(of),
                    "\n\n".join(filter(None, (described, explained))),
                    tags,
                    is_optional=key not in required,
                    is_deprecated=of.get("deprecated") is True,
                )
            )
        return _interface(name, text, tuple(members), is_open=node["additionalProperties"] is True)

    def _speller(self, side: Side) -> TypeScriptSpeller:
        return TypeScriptSpeller(partial(self.reference, side), self.used)


def may_be_empty(object_: ObjectType, side: Side) -> bool:
    """Return whether the object can have no properties."""
    if object_.foreign is not None:
        return not object_.foreign.classes.get(object_.name, {"required": True})["required"]
    return all(_is_optional(field, side) for field in object_.fields)


def _is_optional(field: Field, side: Side) -> bool:
    return not field.required and (side == "sent" or field.default is MISSING)


def _interface(name: str, text: str, members: tuple[MemberView, ...], *, is_open: bool) -> TypeView:
    if not members:
        return TypeView(
            comment=comment(text), name=name, alias=f" Record<string, {'unknown' if is_open else 'never'}>"
        )
    rest = (MemberView(comment="", text="[key: string]: unknown;"),) if is_open else ()
    return TypeView(comment=comment(text), name=name, members=(*members, *rest))


def _member(
    key: str,
    members: Members,
    text: str,
    tags: list[tuple[str, str]],
    *,
    is_optional: bool,
    is_deprecated: bool,
) -> MemberView:
    tags = [*tags, ("deprecated", "")] if is_deprecated else tags
    head = f"{property_name(key)}{'?' * is_optional}:"
    line = union(members, indent=2, taken=len(head) + 1)
    return MemberView(comment=comment(text, tags, indent=2), text=f"{head}{line};")
