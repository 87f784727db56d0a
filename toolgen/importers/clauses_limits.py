"""What the words of a design cannot say, although Python types can: their rules, asked of a normal form.

A design is written only when `toolgen gen` accepts it; what breaks a rule here stays a `JSONSchema`.
The rules themselves are checked in the evaluation of a design, with its codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from toolgen.shapes import naming
from toolgen.shapes.constraints import lengths_of, limits_of

Node: TypeAlias = dict[str, Any]
"""A node of the normal form; see `toolgen.schema_reader`."""
Classes: TypeAlias = Mapping[str, Node]

_DEEPEST: Final = 40
"""Levels of types in each other; a design has at most 50, and its words at most 100."""
_LENGTHS: Final = (lengths_of("string"), lengths_of("array"), lengths_of("map"))
_BOUNDS: Final = limits_of("number", "bound")
(_STEP,) = limits_of("integer", "step")


class NotExpressibleError(ValueError):
    """The words cannot say what the schema says; the text says why."""


def check_classes(root: str, classes: Classes) -> None:
    """Check what only all classes together show.

    Raises:
        NotInWordsError: a class has no finite value, or the classes lead too deep into each other.
    """
    if len(_finite(classes)) < len(classes):
        raise NotExpressibleError("a type has no finite value")
    heights = {name: _height(class_) for name, class_ in classes.items()}
    if sum(heights.values()) <= _DEEPEST:
        return
    if any(level > _DEEPEST for name in (root, *classes) for level in _levels(name, classes)):
        raise NotExpressibleError("types are nested too deep")


def check_keys(class_: Node) -> None:
    """Check the keys of one class.

    Raises:
        NotInWordsError: a key cannot be an attribute, or two keys are one name in Python.
    """
    taken: set[str] = set()
    for key in class_["properties"]:
        check_key(key)
        name = naming.field_name(key)
        if name in taken:
            raise NotExpressibleError("two keys become one attribute in Python")
        taken.add(name)


def check_key(key: str) -> None:
    """Check a key, a tag or the value of a tag.

    Raises:
        NotInWordsError: it is empty, holds a space, or cannot be printed.
    """
    if not key or re.search(r"\s", key) or not key.isprintable():
        raise NotExpressibleError("a key cannot be the name of an attribute")


def check_range(node: Node) -> None:
    """Check that lengths and bounds leave a value.

    Raises:
        NotInWordsError: they do not.
    """
    for low, high in _LENGTHS:
        if low in node and high in node and node[low] > node[high]:
            raise NotExpressibleError("constraints leave no value")
    lows, highs = (
        [(node[row.keyword], row.is_exclusive) for row in _BOUNDS if row.side == side and row.keyword in node]
        for side in ("low", "high")
    )
    for least, is_above in lows:
        for most, is_below in highs:
            if least > most or (least == most and (is_above or is_below)):
                raise NotExpressibleError("constraints leave no value")
    if node.get("type") == "integer" and lows and highs:
        least, most = max(low + above for low, above in lows), min(high - below for high, below in highs)
        step = node.get(_STEP.keyword, 1)
        if -(-least // step) * step > most:
            raise NotExpressibleError("constraints leave no value")


def inner(node: Node) -> tuple[Node, ...]:
    """Return the nodes that stand in a node, without those behind a reference."""
    found = [node[key] for key in ("items", "additionalProperties") if isinstance(node.get(key), dict)]
    return (*found, *node.get("anyOf", ()))


def target(node: Node) -> str | None:
    """Return the class that a node refers to."""
    ref = node.get("$ref")
    return ref.removeprefix("#/$defs/") if isinstance(ref, str) else None


def targets(node: Node) -> Iterator[tuple[str, str | None]]:
    """Yield the classes that a node refers to, each with the tag of the union it stands in."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        name = target(node)
        if name is not None:
            yield name, None
        elif "discriminator" in node:
            yield from ((name, node["discriminator"]) for name in map(target, node["anyOf"]) if name)
        else:
            waiting += reversed(inner(node))


def _finite(classes: Classes) -> set[str]:
    """Return the classes that have a finite value: the least fixed point over what they require."""
    finite: set[str] = set()
    waiting = list(classes)
    while waiting:
        left = [name for name in waiting if not _has_value(classes[name], finite)]
        if len(left) == len(waiting):
            break
        finite.update(set(waiting) - set(left))
        waiting = left
    return finite


def _has_value(class_: Node, finite: set[str]) -> bool:
    return all(_is_finite(class_["properties"][key], finite) for key in class_.get("required", ()))


def _is_finite(node: Node, finite: set[str]) -> bool:
    name = target(node)
    if name is not None:
        return name in finite
    if "anyOf" in node:
        return any(_is_finite(branch, finite) for branch in node["anyOf"])
    is_filled = any(node.get(lengths_of(holder)[0]) for holder in ("array", "map"))
    return not is_filled or all(_is_finite(held, finite) for held in inner(node))


def _height(class_: Node) -> int:
    """Return how many levels a class adds, at most."""
    highest = 0
    waiting = [(node, 1) for node in class_["properties"].values()]
    while waiting:
        node, level = waiting.pop()
        highest = max(highest, level)
        waiting += [(held, level + 1) for held in inner(node)]
    return highest + 1


def _levels(root: str, classes: Classes) -> Iterator[int]:
    """Yield the level of every node below a class, as a walk that enters each class once."""
    entered = {root}
    waiting = [(node, 1) for node in reversed(classes[root]["properties"].values())]
    while waiting:
        node, level = waiting.pop()
        yield level
        name = target(node)
        if name is None:
            waiting += [(held, level + 1) for held in reversed(inner(node))]
        elif name not in entered:
            entered.add(name)
            waiting += [(held, level + 1) for held in reversed(classes[name]["properties"].values())]
