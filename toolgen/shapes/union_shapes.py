"""The values that a branch of a union certainly rejects, judged only by type, keys and tags.

A shape never rejects a value that its branch accepts. It is read from a core schema (`core_shapes`), and
compared with a value without looking deeper than its members.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Final

from toolgen.contract.record import frozen_record

Scalar = tuple[bool, object]
"""A text, a number, a boolean or null; the flag for booleans distinguishes true from 1."""


@frozen_record
class Shape:
    """The values that a branch can accept, judged only by type, keys and tags."""

    types: frozenset[str] | None = None
    """JSON types; None for any."""
    values: frozenset[Scalar] | None = None
    """The only texts, numbers and booleans; None for any."""
    required: frozenset[str] = frozenset()
    """Keys that an object must have."""
    declared: frozenset[str] | None = None
    """Keys that an object can have; None for any."""
    members: Mapping[str, Shape] = field(default_factory=dict)
    """Shapes of the values of an object by key, as far as type and value determine them."""
    classes: tuple[type, ...] = ()
    """Python classes that accept a value which is not JSON."""

    def misfits(self, value: object) -> int:
        """Return the number of reasons why the branch rejects a value; 0 if it might accept it."""
        match value:
            case dict():
                if not self._takes("object"):
                    return _WRONG_TYPE
                return self._misfits_of_keys(value)
            case list() | tuple() | set() | frozenset():
                return 0 if self._takes("array") else _WRONG_TYPE
            case None | bool() | int() | float() | str():
                return self._misfits_of_scalar(value)
            case _:
                return 0 if not self.classes or isinstance(value, self.classes) else _WRONG_TYPE

    def fits(self, value: object) -> bool:
        """Return whether the branch might accept a value: whether `misfits` is 0, with less work."""
        if not isinstance(value, dict):
            return not self.misfits(value)
        return (
            self._takes("object")
            and value.keys() >= self.required
            and (self.declared is None or self.declared.issuperset(value))
            and not any(
                self.members[key]._misfits_of_member(value[key]) for key in self.members.keys() & value
            )
        )

    def _takes(self, type_: str) -> bool:
        return self.types is None or type_ in self.types

    def _misfits_of_keys(self, value: dict[object, object]) -> int:
        count = len(self.required.difference(value))
        if self.declared is not None:
            count += sum(key not in self.declared for key in value)
        for key, shape in self.members.items():
            if key in value and (shape.types is not None or shape.values is not None):
                count += shape._misfits_of_member(value[key])
        return count

    def _misfits_of_member(self, value: object) -> int:
        match value:
            case dict():
                return not self._takes("object")
            case list():
                return not self._takes("array")
            case None | bool() | int() | float() | str():
                return min(1, self._misfits_of_scalar(value))
            case _:
                return 0

    def _misfits_of_scalar(self, value: bool | float | str | None) -> int:
        if not any(map(self._takes, types_of(value))):
            return _WRONG_TYPE
        return int(self.values is not None and (isinstance(value, bool), value) not in self.values)


ANY: Final = Shape()
_WRONG_TYPE: Final = 1_000
"""Larger than the number of keys in any readable object."""


def types_of(value: object) -> tuple[str, ...]:
    """Return the JSON types of a value, the narrowest first: an integer is a number too, and so is 5.0."""
    match value:
        case None:
            return ("null",)
        case bool():
            return ("boolean",)
        case str():
            return ("string",)
        case float() if not value.is_integer():
            return ("number",)
        case int() | float():
            return ("integer", "number")
        case list():
            return ("array",)
        case _:
            return ("object",)


def union_shape(shapes: Iterable[Shape]) -> Shape:
    """Return the shape of a union, only by type and value."""
    types: frozenset[str] = frozenset()
    values: frozenset[Scalar] = frozenset()
    classes: tuple[type, ...] = ()
    has_values = has_classes = True
    for shape in shapes:
        if shape.types is None:
            return ANY
        types |= shape.types
        has_values = has_values and shape.values is not None
        values |= shape.values or frozenset()
        has_classes = has_classes and bool(shape.classes)
        classes += shape.classes
    return Shape(types=types, values=values if has_values else None, classes=classes if has_classes else ())


def scalars(values: Sequence[object]) -> Shape:
    """Return the shape of a choice among values."""
    types: set[str] = set()
    pairs: set[Scalar] = set()
    for value in values:
        if not isinstance(value, bool | int | float | str | None):
            return ANY
        types.update(types_of(value))
        pairs.add((isinstance(value, bool), value))
    return Shape(types=frozenset(types), values=frozenset(pairs))
