"""Types of the field tree and of third-party schemas as TypeScript, with comments.

Each type is represented as the members of a union; most types have one member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias, assert_never

from toolgen.shapes.constraints import FLAGS, LIMITS, constraints_in, joined
from toolgen.shapes.fields import (
    ArrayType,
    DataType,
    EnumType,
    MapType,
    NullableType,
    NumberType,
    RefType,
    ScalarKind,
    ScalarType,
    StringType,
    UnionType,
    null_is_a_value,
    without_null,
)
from toolgen.shapes.foreign.nodes import MEANINGS, Node, meanings_of, target
from toolgen.shapes.values import plain

from .text import is_exact, literal, literal_type

Members: TypeAlias = tuple[str, ...]
"""The types of a union, each once."""

JSON: Final = "Json"
"""The type of any JSON value."""
HIDDEN: Final = "Hidden"
"""The type of the placeholder of a sensitive value; `records.ts` declares both types."""
_ROUNDED: Final = "JavaScript rounds integers beyond 2^53."
_SCALARS: Final[dict[ScalarKind, str]] = {
    "boolean": "boolean",
    "bytes": "string",
    "date": "string",
    "datetime": "string",
    "duration": "string",
    "uuid": "string",
    "url": "string",
    "decimal": "string",
    "any": JSON,
}
_FORMATS: Final[dict[ScalarKind, str]] = {
    "bytes": "base64",
    "date": "date",
    "datetime": "date-time",
    "duration": "duration (ISO 8601)",
    "uuid": "uuid",
    "url": "uri",
    "decimal": "decimal number",
}
_PRIMITIVES: Final = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}


class TypeScriptSpeller:
    """Writes the types of one file.

    `reference` returns the name of an object, an enum or a union in the file; `used` is called with each
    name that the file needs from the client runtime, and returns it.
    """

    def __init__(self, reference: Callable[[str], str], used: Callable[[str], str]) -> None:
        self._reference = reference
        self._used = used

    def members(self, type_: DataType) -> Members:
        match type_:
            case StringType():
                return ("string",)
            case NumberType():
                return ("number",)
            case EnumType(name=str(name)) | UnionType(name=str(name)) | RefType(name=name):
                return (self._reference(name),)
            case EnumType():
                return choice(type_.values)
            case ScalarType(kind="any"):
                return (self._used(JSON),)
            case ScalarType():
                return (_SCALARS[type_.kind],)
            case ArrayType():
                return (_array(self.members(type_.items)),)
            case MapType():
                return (_map(self.members(type_.values)),)
            case NullableType():
                inner = self.members(type_.inner)
                return inner if null_is_a_value(type_.inner) else (*inner, "null")
            case UnionType():
                return self.branches(type_)
            case _:
                assert_never(type_)

    def branches(self, type_: UnionType) -> Members:
        return tuple(self._reference(branch.name) for _, branch in type_.branches)

    def foreign(self, node: Node) -> Members:
        """Return the type of a node of a third-party schema."""
        return self._united(self._foreign(node))

    def _foreign(self, node: Node) -> Iterator[str]:
        if (name := target(node)) is not None:
            yield self._reference(name)
        elif "anyOf" in node:
            for branch in node["anyOf"]:
                yield from self.foreign(branch)
        elif "enum" in node or "const" in node:
            values = node.get("enum", [node.get("const")])
            yield from ("null" if value is None else literal_type(value) for value in values)
        elif node.get("type") == "array":
            yield _array(self.foreign(node.get("items", {})))
        elif node.get("type") == "object":
            yield _map(self.foreign(node.get("additionalProperties", {})))
        elif node.get("type") == "null":
            yield "null"
        else:
            yield _PRIMITIVES.get(node.get("type", ""), JSON)

    def _united(self, members: Iterable[str]) -> Members:
        """Return the distinct members, without members that another member includes."""
        types = dict.fromkeys(members)
        if JSON in types:
            return (self._used(JSON),)
        if "string" in types:
            types = {member: None for member in types if not member.startswith('"')}
        if "number" in types:
            types = {member: None for member in types if not _is_number(member)}
        if types.keys() >= {"true", "false"} or "boolean" in types:
            types = {member: None for member in types if member not in ("true", "false")} | {"boolean": None}
        nullable = types.pop("null", ...) is None
        return (*types, "null") if nullable else tuple(types)


def choice(values: Iterable[str | int]) -> Members:
    """Return the values of an enumeration as types."""
    return tuple(dict.fromkeys(map(literal_type, values)))


def _array(items: Members) -> str:
    joined_items = " | ".join(items)
    return f"({joined_items})[]" if len(items) > 1 else f"{joined_items}[]"


def _map(values: Members) -> str:
    return f"Record<string, {' | '.join(values)}>"


def _is_number(member: str) -> bool:
    return member.removeprefix("-")[:1].isdigit()


def notes(type_: DataType) -> Iterator[str]:
    """Yield sentences about the values of a type: its format, its limits, and the same for its items."""
    match type_:
        case NullableType():
            yield from notes(type_.inner)
            return
        case ScalarType(kind=kind) if kind in _FORMATS:
            yield f"Format: {_FORMATS[kind]}."
        case StringType(format=str(name)):
            yield f"Format: {name}."
        case StringType(pattern=str(pattern)):
            yield f"Must match `{pattern}`."
        case _:
            pass
    yield from _limits([(row.message_of(plain(value)), value) for row, value in _rows(type_)])
    match type_:
        case ArrayType(items=inner) | MapType(values=inner):
            for note in notes(inner):
                yield f"Each: {note[0].lower()}{note[1:]}"
        case _:
            pass


def _rows(type_: DataType) -> Iterator[tuple[Any, Any]]:
    return constraints_in(type_, (*LIMITS, *FLAGS))


def foreign_notes(node: Node) -> Iterator[str]:
    """Yield sentences about the values of a third-party schema, like `notes`."""
    branches = [branch for branch in node.get("anyOf", ()) if branch.get("type") != "null"]
    if len(branches) == 1:
        yield from foreign_notes(branches[0])
        return
    if "format" in node:
        yield f"Format: {node['format']}."
    if "pattern" in node:
        yield f"Must match `{node['pattern']}`."
    kind = str(node.get("type", ""))
    holder = "map" if kind == "object" else kind
    rows = [row for row in (*LIMITS, *FLAGS) if holder in row.holders and row.keyword in node]
    limits = [(row.message_of(node[row.keyword]), node[row.keyword]) for row in rows]
    yield from _limits(limits)
    inner = node.get("items") or node.get("additionalProperties")
    if isinstance(inner, dict):
        for note in foreign_notes(inner):
            yield f"Each: {note[0].lower()}{note[1:]}"


def _limits(limits: list[tuple[str, Any]]) -> Iterator[str]:
    if limits:
        yield joined([message for message, _ in limits])
    if any(isinstance(value, int) and not is_exact(value) for _, value in limits):
        yield _ROUNDED


def meanings(type_: DataType) -> str:
    """Return a list of the meanings of an unnamed enum's values; "" if they have none."""
    inner = without_null(type_)
    return _meanings(inner.explained) if isinstance(inner, EnumType) and not inner.name else ""


def foreign_meanings(node: Node) -> str:
    """Return a list of the meanings of the enum values of a third-party schema; "" if they have none."""
    if MEANINGS not in node:
        return ""
    return _meanings(
        (value, text) for value, text in zip(node["enum"], meanings_of(node), strict=True) if text
    )


def _meanings(explained: Iterable[tuple[Any, str]]) -> str:
    return "\n".join(f"- `{literal(value)}`: {text}" for value, text in explained)
