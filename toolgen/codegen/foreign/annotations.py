"""Annotations of datamodel-code-generator, in the terms of `SchemaModel`.

There an optional field holds None when it is absent, `Nullable` says that null is a value, and what takes
any JSON is `AnyJson`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from typing import Final, cast

_MOST_OPERATORS: Final = 50


class Annotations(ast.NodeTransformer):
    """Rewrites the type expressions of one schema; aliases are written out where they are used."""

    def __init__(
        self,
        names: Mapping[str, str],
        aliases: Mapping[str, ast.expr],
        tags: Mapping[frozenset[str], str],
    ) -> None:
        self._names = names
        self._aliases = aliases
        self._tags = tags

    def inner(self, node: ast.expr) -> ast.expr:
        """Return a type expression; null in it is a value like any other."""
        return cast(ast.expr, self.visit(copy.deepcopy(node)))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._aliases:
            return self.inner(self._aliases[node.id])
        return ast.Name(id="AnyJson" if node.id == "Any" else self._names.get(node.id, node.id))

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Return a type that is named in quotes without the quotes; other texts never come here."""
        if not isinstance(node.value, str):
            return node
        return cast(ast.expr, self.visit(ast.parse(node.value, mode="eval").body))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        match node:
            case ast.Subscript(value=ast.Name(id="Literal")):
                return node
            case ast.Subscript(value=ast.Name(id="Union"), slice=ast.Tuple(elts=members)):
                return self._union(members)
            case ast.Subscript(value=ast.Name(id="Optional"), slice=member):
                return self._union([member, ast.Constant(value=None)])
            case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[type_, *notes])):
                return annotated(self.inner(type_), _constraints(notes))
            case _:
                return cast(ast.expr, self.generic_visit(node))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        return self._union(_members(node))

    def _union(self, members: list[ast.expr]) -> ast.expr:
        """Return the union; one of classes with a tag says so."""
        types: list[ast.expr] = []
        for member in members:
            types += _members(self.inner(member))
        present = [type_ for type_ in types if not is_none(type_) and not _is_missing(type_)]
        names = frozenset(type_.id for type_ in present if isinstance(type_, ast.Name))
        tag = self._tags.get(names) if len(names) == len(present) else None
        if tag is None:
            return joined(types)
        union = annotated(
            joined(present), [ast.Call(func=ast.Name(id="Field"), args=[], keywords=[_tag(tag)])]
        )
        return joined([union, *(type_ for type_ in types if type_ not in present)])


def read_field(node: ast.AnnAssign, key: str, annotations: Annotations) -> tuple[ast.expr, ast.expr | None]:
    """Return the annotation and the default of the attribute of a JSON key."""
    type_, notes = node.annotation, list[ast.expr]()
    match node.annotation:
        case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[inner, *rest])):
            type_, notes = inner, rest
    types = [member for member in _members(annotations.inner(type_)) if not _is_missing(member)]
    present = [type_ for type_ in types if not is_none(type_)]
    type_ = joined(types)
    if len(present) < len(types):
        type_ = _subscript("Nullable", joined(present or types))
    default = node.value
    if default is not None and _is_missing(default):
        default = ast.Constant(value=None)
        if len(present) == len(types) and not _is_any(type_):
            type_ = joined([type_, ast.Constant(value=None)])
    return annotated(type_, _notes(notes, key, cast(ast.Name, node.target).id)), default


def annotated(type_: ast.expr, notes: list[ast.expr]) -> ast.expr:
    """Return the type with its notes; notes inside it stay inside."""
    if not notes:
        return type_
    return ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[type_, *notes]))


def joined(types: list[ast.expr]) -> ast.expr:
    """Return the union of the types: with `|`, and a wide one without nesting.

    Each `|` is a level to whoever reads the text, and compares its type with all before it.
    """
    if len(types) > _MOST_OPERATORS:
        return _subscript("Union", ast.Tuple(elts=types))
    union = types[0]
    for type_ in types[1:]:
        union = ast.BinOp(left=union, op=ast.BitOr(), right=type_)
    return union


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _members(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return [*_members(left), *_members(right)]
        case ast.Subscript(value=ast.Name(id="Union"), slice=ast.Tuple(elts=members)):
            return members
        case _:
            return [node]


def _notes(notes: list[ast.expr], key: str, attribute: str) -> list[ast.expr]:
    """Return the `Field(…)` with the key for both directions, where the attribute has another name."""
    keywords = _keywords(notes, without="alias")
    if key != attribute:
        names = ("validation_alias", "serialization_alias")
        keywords[:0] = [ast.keyword(arg=name, value=ast.Constant(value=key)) for name in names]
    return _field(keywords)


def _constraints(notes: list[ast.expr]) -> list[ast.expr]:
    """Return the notes of a type inside another one; only the outermost is described."""
    return _field(_keywords(notes, without="description"))


def _keywords(notes: list[ast.expr], *, without: str) -> list[ast.keyword]:
    """Return the keywords of all calls among the notes but one."""
    calls = (note for note in notes if isinstance(note, ast.Call))
    return [keyword for call in calls for keyword in call.keywords if keyword.arg != without]


def _field(keywords: list[ast.keyword]) -> list[ast.expr]:
    """Return the `Field(…)` with the keywords; none without any."""
    return [ast.Call(func=ast.Name(id="Field"), args=[], keywords=keywords)] if keywords else []


def _is_missing(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "MISSING"


def _is_any(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "AnyJson"


def _subscript(name: str, inner: ast.expr) -> ast.expr:
    return ast.Subscript(value=ast.Name(id=name), slice=inner)


def _tag(attribute: str) -> ast.keyword:
    return ast.keyword(arg="discriminator", value=ast.Constant(value=attribute))
