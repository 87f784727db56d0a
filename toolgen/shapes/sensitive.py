"""The places of sensitive values in a document, and the redaction of documents.

A place is a JSON Pointer (RFC 6901), with three additional steps:

- `*` leads to every item of an array and every key of a map; an index leads to one item.
- `~!kind~!card~!cash` leads into a branch of a union: it stays at the object, and applies unless `kind` is
  `card` or `cash`, which are the other branches. So all branches apply to an unknown tag.
- `~^2` ends a place: the value there has the same places as the value two steps above.

No key is written like the last two, because `~` is escaped in keys.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from toolgen.contract.json_pointer import escaped, pointer_of, tokens_of
from toolgen.contract.json_value import Json, objects_in

from .fields import ArrayType, DataType, MapType, NullableType, Objects, ObjectType, RefType, UnionType, parts

MARKER: Final[Mapping[str, Json]] = {"sensitive": True}
"""JSON that replaces a sensitive value."""
EVERY: Final = "*"
"""The step of a place to every item or key."""
_UNLESS: Final = "~!"
_AGAIN: Final = "~^"
_OUTER: Final = (ArrayType, MapType, NullableType, UnionType, RefType)
"""Types that contain other types."""
_Steps: TypeAlias = tuple[str, ...]
"""The steps of a place, with keys escaped."""


def unless(tag: str, others: Iterable[str]) -> str:
    """Return the step into a branch of a union, which applies unless the tag has one of the other values."""
    return "".join(f"{_UNLESS}{escaped(part)}" for part in (tag, *others))


def recursion_step(above: int) -> str:
    """Return the last step of a place, for a value with the same places as the value `above` steps above."""
    return f"{_AGAIN}{above}"


def place_of(steps: Iterable[str]) -> str:
    """Return the place of these steps."""
    return "".join(f"/{step}" for step in steps)


def pointers_of(places: Iterable[str]) -> tuple[str, ...]:
    """Return JSON Pointers, with `*` for any item or key, that cover at least all values at the places.

    A place in one branch of a union covers all branches, and if a type is nested in itself, the whole inner
    value is covered.
    """
    return tuple(dict.fromkeys(map(_pointer, places)))


def _pointer(place: str) -> str:
    steps = place.partition(f"/{_AGAIN}")[0].split("/")[1:]
    return place_of(step for step in steps if not step.startswith(_UNLESS))


def sensitive_places(root: ObjectType, objects: Objects) -> tuple[str, ...]:
    """Return the places of an object's sensitive values, in the order of its fields, each place once."""
    return tuple(dict.fromkeys(map(place_of, _of_object(root, objects, {}, 0))))


def _of_object(
    object_: ObjectType, objects: Objects, outer: Mapping[str, int], depth: int
) -> Iterator[_Steps]:
    """Yield the steps from an object at a depth; `outer` has the depths of the objects around it."""
    depths = {**outer, object_.name: depth}
    for field in object_.fields:
        if field.sensitive:
            yield (escaped(field.name),)
            continue
        if isinstance(field.type, _OUTER):
            for steps in _of_type(field.type, objects, depths, depth + 1):
                yield (escaped(field.name), *steps)


def _of_type(type_: DataType, objects: Objects, outer: Mapping[str, int], depth: int) -> Iterator[_Steps]:
    match type_:
        case ArrayType(items=inner) | MapType(values=inner):
            for steps in _of_type(inner, objects, outer, depth + 1):
                yield (EVERY, *steps)
        case NullableType():
            yield from _of_type(type_.inner, objects, outer, depth)
        case UnionType():
            for value, branch in type_.branches:
                step = unless(type_.tag, (other for other, _ in type_.branches if other != value))
                for steps in _of_type(branch, objects, outer, depth + 1):
                    yield (step, *steps)
        case RefType(name=name) if name in outer:
            if _has_sensitive(objects[name], objects, set()):
                yield (recursion_step(depth - outer[name]),)
        case RefType():
            yield from _of_object(objects[type_.name], objects, outer, depth)
        case _:
            return


def _has_sensitive(object_: ObjectType, objects: Objects, seen: set[str]) -> bool:
    if object_.name in seen:
        return False
    seen.add(object_.name)
    return any(
        field.sensitive
        or any(
            isinstance(part, RefType) and _has_sensitive(objects[part.name], objects, seen)
            for part in parts(field.type)
        )
        for field in object_.fields
    )


class _Node:
    """The places that apply to one value, and by step those of the values in it."""

    __slots__ = ("branches", "is_sensitive", "recursive_nodes", "steps")

    def __init__(self) -> None:
        self.is_sensitive = False
        self.steps: dict[str, _Node] = {}
        self.branches: dict[str, _Node] = {}
        """The branches of a union, by their steps."""
        self.recursive_nodes: list[_Node] = []
        """Nodes above whose places also apply to this value."""

    def step(self, step: str) -> _Node:
        """Return the node after a step."""
        if step.startswith(_UNLESS):
            return self.branches.setdefault(step, _Node())
        (key,) = tokens_of(f"/{step}")
        return self.steps.setdefault(key, _Node())


def _root(places: Iterable[str]) -> _Node:
    """Return the node of a document with these places."""
    root = _Node()
    for place in places:
        path = [root]
        for step in place.split("/")[1:]:
            if step.startswith(_AGAIN):
                path[-1].recursive_nodes.append(path[-1 - int(step.removeprefix(_AGAIN))])
                break
            path.append(path[-1].step(step))
        else:
            path[-1].is_sensitive = True
    return root


def _all_of(nodes: Sequence[_Node], value: object) -> list[_Node]:
    """Return all nodes of a value: these, the nodes above that apply to it, and the nodes of its branch."""
    nodes_of_all: list[_Node] = []
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node not in nodes_of_all:
            nodes_of_all.append(node)
            waiting += node.recursive_nodes
            waiting += [branch for step, branch in node.branches.items() if _may_be(step, value)]
    return nodes_of_all


def _may_be(step: str, value: object) -> bool:
    """Return whether a value can belong to the branch of a union: no other branch has its tag."""
    tag, *others = (tokens_of(f"/{part}")[0] for part in step.split(_UNLESS)[1:])
    written = value.get(tag) if isinstance(value, dict) else None
    return not isinstance(written, str) or written not in others


def _below(nodes: Sequence[_Node], key: str) -> list[_Node]:
    return [node.steps[step] for node in nodes for step in (key, EVERY) if step in node.steps]


_Tokens: TypeAlias = tuple[str | int, ...]


def redacted(value: Any, places: Iterable[str], instead: Json = None) -> Any:
    """Return a copy of a JSON value with `instead`, by default `MARKER`, for the values at the places.

    Null and absent values are unchanged.
    """
    return _with_each(value, places, lambda _, __: dict(MARKER) if instead is None else instead)


def values_at(value: object, places: Iterable[str]) -> list[object]:
    """Return the values at the places, of JSON or of a model as Python objects."""
    values: list[Any] = []
    _with_each(value, places, lambda _, inner: values.append(inner))
    return values


def pointers_at(value: object, places: Iterable[str]) -> tuple[str, ...]:
    """Return the JSON Pointers to the values of a document at the places."""
    pointers: list[str] = []
    _with_each(value, places, lambda tokens, _: pointers.append(pointer_of(tokens)))
    return tuple(pointers)


def _with_each(value: object, places: Iterable[str], instead: Callable[[_Tokens, object], object]) -> object:
    """Return a copy of a value, with each value at the places replaced by the result of `instead`."""
    root = _root(places)
    is_plain = not (root.steps or root.branches or root.is_sensitive)
    return value if is_plain else _replaced(value, [root], (), instead)


def _replaced(
    value: object, nodes: Sequence[_Node], tokens: _Tokens, instead: Callable[[_Tokens, object], object]
) -> object:
    if value is None or not nodes:
        return value
    nodes = _all_of(nodes, value)
    if any(node.is_sensitive for node in nodes):
        return instead(tokens, value)
    match value:
        case dict():
            return {
                key: _replaced(inner, _below(nodes, str(key)), (*tokens, str(key)), instead)
                for key, inner in value.items()
            }
        case list() | tuple() | set() | frozenset() | deque():  # types of Python values
            return [
                _replaced(inner, _below(nodes, str(at)), (*tokens, at), instead)
                for at, inner in enumerate(value)
            ]
        case _:
            return value


def keys_of(schema: object) -> Iterator[str]:
    """Yield the keys of all objects of a JSON Schema, which are not sensitive."""
    for part in objects_in(schema):
        properties = part.get("properties")
        yield from properties if isinstance(properties, dict) else ()
