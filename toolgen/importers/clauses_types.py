"""Selection of the classes that become named types, and their order before the tools."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from itertools import chain
from typing import TypeVar

from toolgen.contract.record import frozen_record
from toolgen.shapes import naming
from toolgen.shapes.foreign.nodes import Classes, Node, target, targets

from .clauses_built import NotExpressibleError

T = TypeVar("T")


@frozen_record
class TypePlan:
    """The named types of one root."""

    order: tuple[str, ...]
    """Classes, each after the classes that it refers to by value."""
    tags: dict[str, str]
    """Tags of classes that are always branches of unions."""

    def is_below(self, name: str, other: str | None) -> bool:
        """Return whether the type is defined after another, or is the same, so that its name needs quotes."""
        return other is not None and self.order.index(name) >= self.order.index(other)


def type_plan(
    root: Node, classes: Classes, shared: Container[str] = (), *, all_named: bool = False
) -> TypePlan:
    """Return the classes that get a name: those that are used twice or are recursive, or all of them.

    A class that is a branch in one place and not in another is written inline where it is a branch.

    Raises:
        NotExpressibleError: A recursive class is a branch in one place and not in another.
    """
    uses: dict[str, list[str | None]] = {name: [] for name in classes}
    inside = {name: [*_uses(class_)] for name, class_ in classes.items()}
    for name, tag in chain(targets(root), *inside.values()):
        uses[name].append(tag)
    follows = {name: [other for other, _ in uses_of_class] for name, uses_of_class in inside.items()}
    recursive = _recursive(follows)
    named = set()
    tags: dict[str, str] = {}
    for name, tags_of_uses in uses.items():
        if name in shared:
            continue
        kinds = set(tags_of_uses)
        is_mixed = len(kinds) > 1
        tag = None if is_mixed else next(iter(kinds), None)
        if name in recursive and is_mixed:
            raise NotExpressibleError("a recursive type is used both as a branch of a union and elsewhere")
        is_all = all_named and name != target(root) and None in kinds
        if (
            is_all
            or name in recursive
            or tags_of_uses.count(None) > 1
            or (tag is not None and len(tags_of_uses) > 1)
        ):
            named.add(name)
            if tag is not None:
                tags[name] = tag
    order = ordered([name for name, _ in targets(root)], follows.__getitem__)
    return TypePlan(order=tuple(name for name in order if name in named), tags=tags)


def _uses(class_: Node) -> Iterator[tuple[str, str | None]]:
    """Yield the classes that a class refers to, each with the tag of its union."""
    for node in class_["properties"].values():
        yield from targets(node)


def reached(classes: Classes, name: str | None) -> Iterator[Node]:
    """Yield a class and all classes that it refers to, directly or indirectly."""
    names = ordered([name] if name else [], lambda each: [other for other, _ in _uses(classes[each])])
    yield from (classes[each] for each in names)


def named_apart(root: Node, classes: Classes) -> str | None:
    """Return the class of a schema whose properties have distinct names in Python.

    Raises:
        NotExpressibleError: Two properties have the same name, in this class or one that it refers to.
    """
    own = target(root)
    for class_ in reached(classes, own):
        if len({naming.field_name(key) for key in class_["properties"]}) < len(class_["properties"]):
            raise NotExpressibleError("two properties have the same name in Python")
    return own


def _recursive(follows: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the classes that refer to themselves, directly or indirectly."""
    recursive = set()
    for name, others in follows.items():
        seen: set[str] = set()
        waiting = [*others]
        while waiting and name not in seen:
            other = waiting.pop()
            if other not in seen:
                seen.add(other)
                waiting += follows[other]
        if name in seen:
            recursive.add(name)
    return recursive


def ordered(roots: Iterable[T], inside: Callable[[T], Iterable[T]]) -> Iterator[T]:
    """Yield roots and all that they refer to, each after its dependencies, except in cycles."""
    entered: set[T] = set()
    waiting = [(each, False) for each in reversed([*roots])]
    while waiting:
        each, is_left = waiting.pop()
        if is_left:
            yield each
        elif each not in entered:
            entered.add(each)
            waiting.append((each, True))
            waiting += [(other, False) for other in reversed([*inside(each)])]
