"""Overlap of `oneOf` branches, by the types, values and keys of the branches.

Servers rarely validate their responses against their document, so `oneOf` in it often means `anyOf`. If the
branches certainly exclude each other, both have the same meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import combinations
from typing import Final, TypeAlias, TypeVar

from toolgen.shapes.union_shapes import ANY, Shape, scalars

from .openapi_document import API, UnreadableError, listed, mapping
from .openapi_tags import TagValue
from .pointers import joined

T = TypeVar("T")
Tags: TypeAlias = Callable[[dict[str, object], list[object], str], tuple[str, list[tuple[TagValue, ...]]]]
"""Returns the tag of a union, and its values in each branch."""
_DEEPEST: Final = 3
"""Maximum depth of nested objects that are compared."""
_MOST_STEPS: Final = 40
"""Maximum depth of nested references and parts."""
_MOST_BRANCHES: Final = 400
"""Maximum number of branches that are compared pairwise."""
_OBJECT: Final = frozenset(["object"])
_NULL: Final = scalars([None])


class Alternatives:
    """Results of the overlap checks for a document's unions."""

    def __init__(self, api: API) -> None:
        self._api = api
        self._decided: dict[int, bool] = {}
        self._shapes: dict[tuple[str, int], Shape] = {}
        self.loosened: dict[str, None] = {}
        """Places of unions that are read as `anyOf`."""

    def overlap(self, schema: dict[str, object], place: str, tags: Tags) -> bool:
        """Return whether a value can match two branches of a schema's `oneOf`; False if it has none."""
        branches = schema.get("oneOf")
        if not isinstance(branches, list) or len(branches) < 2 or "anyOf" in schema:
            return False
        if id(schema) not in self._decided:
            try:
                self._decided[id(schema)] = self._overlap(schema, branches, joined(place, "oneOf"), tags)
            except UnreadableError:
                self._decided[id(schema)] = False
        return self._decided[id(schema)]

    def _overlap(self, schema: dict[str, object], branches: list[object], place: str, tags: Tags) -> bool:
        if len(branches) > _MOST_BRANCHES:
            return True
        tag, values = tags(schema, branches, place)
        shapes = [
            _both(
                _NULL if is_null(branch) else self._shape(branch, joined(place, n), _DEEPEST, _MOST_STEPS),
                Shape(types=_OBJECT, required=frozenset([tag]), members={tag: scalars(pinned)})
                if pinned
                else ANY,
            )
            for n, (branch, pinned) in enumerate(zip(branches, values, strict=True))
        ]
        return not all(_exclude(left, right) for left, right in combinations(shapes, 2))

    def _shape(self, schema: object, place: str, depth: int, steps: int) -> Shape:
        if not isinstance(schema, dict) or steps == 0:
            return ANY
        shape = ANY
        if isinstance(reference := schema.get("$ref"), str):
            address = self._api.target(reference, joined(place, "$ref"))
            if address is not None:
                shape = self._shape_at(address, depth, steps - 1)
            if self._api.is_3_0:
                return _either(shape, _NULL) if schema.get("nullable") is True else shape
        parts = [self._own(schema, place, depth, steps - 1)]
        parts += [
            self._shape(part, joined(place, "allOf", n), depth, steps - 1)
            for n, part in enumerate(listed(schema.get("allOf")))
        ]
        for word in ("oneOf", "anyOf"):
            if branches := listed(schema.get(word)):
                places = (joined(place, word, n) for n in range(len(branches)))
                shapes = [self._shape(*each, depth, steps - 1) for each in zip(branches, places, strict=True)]
                parts.append(reduce(_either, shapes))
        combined = reduce(_both, parts, shape)
        return _either(combined, _NULL) if schema.get("nullable") is True else combined

    def _shape_at(self, address: str, depth: int, steps: int) -> Shape:
        """Return the shape of a referenced schema; cached if few steps have been taken."""
        if steps < _MOST_STEPS // 2:
            return self._shape(self._api.find(address), address, depth, steps)
        if (address, depth) not in self._shapes:
            self._shapes[address, depth] = self._shape(self._api.find(address), address, depth, steps)
        return self._shapes[address, depth]

    def _own(self, schema: dict[str, object], place: str, depth: int, steps: int) -> Shape:
        """Return the shape from a schema's own keywords; properties imply the type object."""
        properties = mapping(schema.get("properties"))
        kind = schema.get("type", "object" if properties else None)
        types = {str(each) for each in (kind if isinstance(kind, list) else [kind]) if each is not None}
        if "number" in types:
            types.add("integer")
        shape = Shape(types=frozenset(types)) if types else ANY
        if "const" in schema or isinstance(schema.get("enum"), list):
            values = [schema["const"]] if "const" in schema else listed(schema["enum"])
            shape = _both(shape, scalars(values))
        members = {
            key: self._shape(part, joined(place, "properties", key), depth - 1, steps)
            for key, part in properties.items()
            if depth
        }
        keys = Shape(
            required=frozenset(key for key in listed(schema.get("required")) if isinstance(key, str)),
            declared=frozenset(properties) if schema.get("additionalProperties") is False else None,
            members=members,
        )
        return _both(shape, keys)


def is_null(branch: object) -> bool:
    """Return whether a branch of a union is null; some 3.0 generators write only `nullable`."""
    if not isinstance(branch, dict):
        return False
    is_noted = branch.get("nullable") is True and branch.keys() <= {"nullable", "title", "description"}
    return is_noted or branch.get("type") == "null" or branch.get("enum") == [None] or _is_none(branch)


def _is_none(branch: dict[str, object]) -> bool:
    return "const" in branch and branch["const"] is None


def _both(left: Shape, right: Shape) -> Shape:
    """Return the shape of values that fit both."""
    if left is ANY or right is ANY:
        return right if left is ANY else left
    members = {
        key: _both(left.members.get(key, ANY), right.members.get(key, ANY))
        for key in left.members.keys() | right.members.keys()
    }
    return Shape(
        types=_common(left.types, right.types),
        values=_common(left.values, right.values),
        required=left.required | right.required,
        declared=_common(left.declared, right.declared),
        members=members,
    )


def _either(left: Shape, right: Shape) -> Shape:
    """Return the shape of values that fit either; keys are only taken from shapes of objects."""
    types = None if left.types is None or right.types is None else left.types | right.types
    values = None if left.values is None or right.values is None else left.values | right.values
    for plain, other in ((left, right), (right, left)):
        if plain.types is not None and "object" not in plain.types:
            return Shape(
                types=types,
                values=values,
                required=other.required,
                declared=other.declared,
                members=other.members,
            )
    shared = left.members.keys() & right.members.keys()
    is_open = left.declared is None or right.declared is None
    return Shape(
        types=types,
        values=values,
        required=left.required & right.required,
        declared=None if is_open else (left.declared or frozenset()) | (right.declared or frozenset()),
        members={key: _either(left.members[key], right.members[key]) for key in shared},
    )


def _exclude(left: Shape, right: Shape) -> bool:
    """Return whether no value fits both."""
    types = _common(left.types, right.types)
    if types is not None and not types:
        return True
    if left.values is not None and right.values is not None:
        return not left.values & right.values
    return types == _OBJECT and (_lacks_key(left, right) or _lacks_key(right, left))


def _lacks_key(needing: Shape, holding: Shape) -> bool:
    """Return whether a key that one shape requires is not allowed in the other, or not with such a value."""
    if holding.declared is not None and not needing.required <= holding.declared:
        return True
    shared = needing.required & needing.members.keys() & holding.members.keys()
    return any(_exclude(needing.members[key], holding.members[key]) for key in shared)


def _common(left: frozenset[T] | None, right: frozenset[T] | None) -> frozenset[T] | None:
    if left is None or right is None:
        return right if left is None else left
    return left & right
