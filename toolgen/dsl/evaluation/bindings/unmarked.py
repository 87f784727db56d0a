"""Sensitive fields of a method whose counterparts in its tool are not marked as sensitive."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import TypeAlias

from toolgen.contract.record import frozen_record
from toolgen.shapes.fields import (
    ArrayType,
    DataType,
    Field,
    MapType,
    Objects,
    RefType,
    UnionType,
    without_null,
)

_Pairs: TypeAlias = set[tuple[str, str]]
"""Pairs of objects, of the method and the tool, that were compared."""


@frozen_record
class Sides:
    """The objects of a method and of its tool, by class name."""

    method: Objects
    tool: Objects
    shared: Container[str]
    """Classes shared by both, whose fields are sensitive on both sides or on neither."""

    def unmarked(self, method: Field, tool: Field) -> Iterator[str]:
        """Yield the paths of sensitive values that the tool's field does not mark, "" for the whole value."""
        yield from self._fields(method, tool, "", set())

    def _fields(self, method: Field, tool: Field, path: str, seen: _Pairs) -> Iterator[str]:
        if tool.sensitive:
            return
        if not method.sensitive:
            yield from self._types(method.type, tool.type, path, seen)
        elif not self._is_covered(tool.type, frozenset()):
            yield path

    def _types(self, method: DataType, tool: DataType, path: str, seen: _Pairs) -> Iterator[str]:
        match without_null(method), without_null(tool):
            case (ArrayType(items=supplied), ArrayType(items=taken)) | (
                MapType(values=supplied),
                MapType(values=taken),
            ):
                yield from self._types(supplied, taken, f"{path}[]", seen)
            case RefType() as supplied, RefType() as taken:
                yield from self._objects(supplied, taken, path, seen)
            case UnionType() as supplied, UnionType() as taken:
                branches = dict(taken.branches)
                for value, branch in supplied.branches:
                    if value in branches:
                        yield from self._objects(branch, branches[value], path, seen)
            case _:
                return

    def _objects(self, method: RefType, tool: RefType, path: str, seen: _Pairs) -> Iterator[str]:
        pair = method.name, tool.name
        if pair in seen or (method == tool and tool.name in self.shared):
            return
        seen.add(pair)
        supplied, taken = self.method.get(method.name), self.tool.get(tool.name)
        if supplied is None or taken is None:  # the type was reported
            return
        for field in taken.fields:
            if source := supplied.field(field.name):
                yield from self._fields(source, field, f"{path}.{field.name}", seen)

    def _is_covered(self, type_: DataType, outer: frozenset[str]) -> bool:
        """Return whether the attributes of a tool's type mark each of its values as sensitive."""
        match without_null(type_):
            case ArrayType(items=inner) | MapType(values=inner):
                return self._is_covered(inner, outer)
            case RefType(name=name) if name in self.tool and name not in outer:
                fields = self.tool[name].fields
                return bool(fields) and all(
                    field.sensitive or self._is_covered(field.type, outer | {name}) for field in fields
                )
            case _:
                return False
