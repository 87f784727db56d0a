"""Unions whose branches would be tried repeatedly, selected by the shape of the value instead.

pydantic tries each branch of a union. If branches lead to the same union again, each level of a document
doubles the work. Here only one branch is tried if the shape of a value leaves one, and it accepts the same
values as before. If several branches are left, all are tried within a budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from toolgen.contract.limits import count_keys

from .core_shapes import CoreShapes, choices_of
from .issues import TooComplexError
from .labels import BRANCH, PASSED
from .numbers import AnySchema
from .steps import document_steps, take_steps
from .union_shapes import Shape

T = TypeVar("T")

_MOST_WORK: Final = 25_000
"""Maximum number of values in one document that are visited again, because several branches might fit."""
_MOST_TIMES: Final = 10
"""Maximum number of additional visits of each value in a document, so that long lists are allowed."""
_A_VISIT: Final = 25
"""Steps of the document for each additional visit."""
_MOST_EXPLAINED: Final = 1_000
"""Maximum number of values that are visited again although no branch can accept them.

Beyond that, only the nearest branch explains the error.
"""
_MOST_WAYS: Final = 8
"""Maximum number of branch paths to one value; a schema with more, or with unlimited paths, is guarded."""
_MOST_MEASURED: Final = 100_000
"""Maximum number of counted values in a Python object; a recursive object has unlimited ones."""


@dataclass(slots=True)
class _WorkBudget:
    left: int
    left_to_explain: int = _MOST_EXPLAINED

    def affords(self, value: object, times: int, *, may_fit: bool) -> bool:
        """Take the visits of a value from the budget; return whether enough were left."""
        left = self.left if may_fit else self.left_to_explain
        spent = times * _size(value, left // times)
        if spent > left:
            return False
        if may_fit:
            self.left -= spent
        else:
            self.left_to_explain -= spent
        take_steps(_A_VISIT * spent)
        return True


_WORK: Final[ContextVar[_WorkBudget | None]] = ContextVar("work", default=None)


def discriminate_unions(schema: AnySchema) -> AnySchema | None:
    """Return the schema with unions selected by the value's shape; None if trying all is cheap."""
    nodes = list(nodes_of(schema))
    definitions = {node["ref"]: node for node in nodes if "ref" in node}
    shapes = CoreShapes(definitions)
    if all(_overlap(node, shapes) <= 1 for node in nodes):
        return None
    parts = {"": schema, **definitions}
    if _most_ways({name: list(_ways(part, shapes)) for name, part in parts.items()}) <= _MOST_WAYS:
        return None
    branches: list[AnySchema] = []

    def named(branch: AnySchema) -> AnySchema:
        """Return a reference to the branch, which is used twice and built once."""
        if branch["type"] == "definition-ref":
            return branch
        ref = f"toolgen branch {len(branches)}"  # its own name has no meaning outside the definitions
        branches.append({**branch, "ref": ref})
        return {"type": "definition-ref", "schema_ref": ref}

    def distinguished(node: AnySchema) -> AnySchema:
        converted = mapped(node, distinguished)
        if _overlap(node, shapes) <= 1:
            return converted
        return _chosen([named(branch) for branch in choices_of(converted)], node, shapes)

    guarded_schema = distinguished(schema)
    return {"type": "definitions", "schema": guarded_schema, "definitions": branches}


def within_budget(call: Callable[..., T]) -> Callable[..., T]:
    """Return the function of a guarded schema with a budget for each call.

    The function raises `TooComplexError` if the budget is used up.
    """

    def bounded(document: Any, **options: object) -> T:
        is_document = isinstance(document, bytes | str)
        values = count_keys(document, _MOST_WORK) if is_document else _size(document, _MOST_MEASURED)
        token = _WORK.set(_WorkBudget(left=_MOST_WORK + _MOST_TIMES * values))
        try:
            with document_steps() if is_document else nullcontext():
                return call(document, **options)
        finally:
            _WORK.reset(token)

    return bounded


def _discriminator(shapes: Mapping[str, Shape], every: str) -> Callable[[object], str]:
    """Return the function that selects the label of the one possible branch, or `every`."""

    def choose(value: object) -> str:
        fitting = [label for label, shape in shapes.items() if shape.fits(value)]
        if len(fitting) == 1:
            return fitting[0]
        work = _WORK.get()
        if work is None or work.affords(value, len(shapes) - 1, may_fit=bool(fitting)):
            return every
        if fitting:
            raise TooComplexError
        return min(shapes, key=lambda label: shapes[label].misfits(value))

    return choose


def _chosen(branches: list[AnySchema], node: AnySchema, shapes: CoreShapes) -> AnySchema:
    """Return a union of these branches that is selected by the shape of the value."""
    labels = _labels(node)
    by_label = dict(zip(labels, map(shapes.of, choices_of(node)), strict=True))
    labelled = list(zip(branches, labels, strict=True))
    all_of_them = {**{key: value for key, value in node.items() if key != "ref"}, "choices": labelled}
    outer = {key: node[key] for key in ("ref", "serialization", "metadata") if key in node}
    every = PASSED if labels[0].startswith(BRANCH) else "any branch"
    choices = {**dict(zip(labels, branches, strict=True)), every: all_of_them}
    return {
        "type": "tagged-union",
        "choices": choices,
        "discriminator": _discriminator(by_label, every),
        **outer,
    }


def _labels(node: AnySchema) -> list[str]:
    """Return the labels of the branches of a union, as they appear in errors."""
    return [
        choice[1] if isinstance(choice, tuple) else f"branch {number}"
        for number, choice in enumerate(node["choices"])
    ]


def _size(value: object, most: int) -> int:
    """Return the number of values in a value, including itself; if it exceeds `most`, any larger number."""
    count, waiting = 0, [value]
    while waiting and count <= most:
        part = waiting.pop()
        count += 1
        match part:
            case dict():
                waiting.extend(part.values())
            case list() | tuple() | set() | frozenset():
                waiting.extend(part)
            case None | bool() | int() | float() | str():
                pass
            case _:
                waiting.extend(getattr(part, "__dict__", {}).values())
    return count


def _overlap(node: AnySchema, shapes: CoreShapes) -> int:
    """Return how many branches of a union enter the same object or array; 0 if it is not a union."""
    if node["type"] != "union":
        return 0
    types = [shapes.of(choice, has_members=False).types for choice in choices_of(node)]
    return max(sum(kinds is None or kind in kinds for kinds in types) for kind in ("object", "array"))


def _ways(schema: AnySchema, shapes: CoreShapes) -> Iterator[tuple[str | None, int]]:
    """Yield the definitions that are reached from a schema, with the number of paths; None is a leaf."""
    waiting = [(schema, 1)]
    while waiting:
        node, ways = waiting.pop()
        ways *= max(1, _overlap(node, shapes))
        inner = _children(node)
        yield (node["schema_ref"] if node["type"] == "definition-ref" else None), ways
        for child in inner:
            if "ref" in child:
                yield child["ref"], ways
            else:
                waiting.append((child, ways))


def _most_ways(ways: Mapping[str, Sequence[tuple[str | None, int]]]) -> int:
    """Return how often one value can be visited from the first part of a schema, up to the limit plus one.

    `ways` has the parts reached from each part. A part that leads to itself by two branches doubles the
    visits with each level of a document.
    """
    most = dict.fromkeys(ways, 1)
    has_changed = True
    while has_changed:
        has_changed = False
        for name, reached in ways.items():
            product = max((count * most.get(to, 1) if to else count for to, count in reached), default=1)
            product = min(product, _MOST_WAYS + 1)
            if product > most[name]:
                most[name], has_changed = product, True
    return most[next(iter(ways))]


_INNER: Final = frozenset(
    "schema items_schema keys_schema values_schema extras_schema extras_keys_schema json_schema "
    "python_schema lax_schema strict_schema arguments_schema steps choices fields".split()
)
"""Keys that contain core schemas in a core schema."""


def nodes_of(schema: AnySchema) -> Iterator[AnySchema]:
    """Yield a core schema and all nested ones."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.get("definitions", [])
        waiting += _children(node)


def _children(schema: AnySchema) -> list[AnySchema]:
    nodes: list[AnySchema] = []

    def collect(node: AnySchema) -> AnySchema:
        nodes.append(node)
        return node

    for key in _INNER.intersection(schema):
        _inside(schema[key], collect)
    return nodes


def mapped(schema: AnySchema, change: Callable[[AnySchema], AnySchema]) -> AnySchema:
    """Return the schema with each nested schema replaced."""
    places = _INNER.union(["definitions"]).intersection(schema)
    return {**schema, **{key: _inside(schema[key], change) for key in places}}


def _inside(value: object, change: Callable[[AnySchema], AnySchema]) -> object:
    match value:
        case {"type": str()}:
            return change(value)
        case dict():
            return {key: _inside(part, change) for key, part in value.items()}
        case list():
            return [_inside(part, change) for part in value]
        case (inner, label):
            return _inside(inner, change), label
        case _:
            return value
