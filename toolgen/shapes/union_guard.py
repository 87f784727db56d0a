"""Unions whose branches would be tried repeatedly, selected by the shape of the value instead.

pydantic tries each branch of a union. Where branches lead to the same union again, each level of a document
doubles the work. Here one branch is tried where the shape of a value leaves one, and accepts what it would
have accepted before. Where it leaves several, all are tried within a budget.
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
"""Values of one document that may be looked at again, because several branches may accept what holds them."""
_MOST_TIMES: Final = 10
"""Number of further visits of each value of a document, so that a long list is no reason to give up."""
_A_VISIT: Final = 25
"""Steps of the document for each of them."""
_MOST_EXPLAINED: Final = 1_000
"""The same where no branch can accept it; beyond that, only the nearest branch tells what is wrong."""
_MOST_WAYS: Final = 8
"""Branches by which one value may be looked at; a schema with more, or with no end of them, is guarded."""
_MOST_MEASURED: Final = 100_000
"""Values of a Python object that are counted; one that holds itself has no end of them."""


@dataclass(slots=True)
class _WorkBudget:
    left: int
    explained: int = _MOST_EXPLAINED

    def affords(self, value: object, times: int, *, may_fit: bool) -> bool:
        """Take so many visits of a value from the budget, and return whether they were left."""
        left = self.left if may_fit else self.explained
        spent = times * _size(value, left // times)
        if spent > left:
            return False
        if may_fit:
            self.left -= spent
        else:
            self.explained -= spent
        take_steps(_A_VISIT * spent)
        return True


_WORK: Final[ContextVar[_WorkBudget | None]] = ContextVar("work", default=None)


def discriminate_unions(schema: AnySchema) -> AnySchema | None:
    """Return the schema with unions selected by the value's shape; None where trying all is cheap."""
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
        ref = f"toolgen branch {len(branches)}"  # a name of its own means nothing outside the definitions
        branches.append({**branch, "ref": ref})
        return {"type": "definition-ref", "schema_ref": ref}

    def distinguished(node: AnySchema) -> AnySchema:
        made = mapped(node, distinguished)
        if _overlap(node, shapes) <= 1:
            return made
        return _chosen([named(branch) for branch in choices_of(made)], node, shapes)

    whole = distinguished(schema)
    return {"type": "definitions", "schema": whole, "definitions": branches}


def within_budget(call: Callable[..., T]) -> Callable[..., T]:
    """Return the function of a guarded schema with a budget for each call.

    The function raises `TooComplexError` when the budget is spent.
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
    """Return the function that gives the label of the one possible branch, or that of every branch."""

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
    """Return the number of values in a value, itself among them; a larger number than `most` for more."""
    count, waiting = 0, [value]
    while waiting and count <= most:
        held = waiting.pop()
        count += 1
        match held:
            case dict():
                waiting.extend(held.values())
            case list() | tuple() | set() | frozenset():
                waiting.extend(held)
            case None | bool() | int() | float() | str():
                pass
            case _:
                waiting.extend(getattr(held, "__dict__", {}).values())
    return count


def _overlap(node: AnySchema, shapes: CoreShapes) -> int:
    """Return how many branches of a union look into one object, or into one array; 0 of what is no union."""
    if node["type"] != "union":
        return 0
    types = [shapes.of(choice, has_members=False).types for choice in choices_of(node)]
    return max(sum(kinds is None or kind in kinds for kinds in types) for kind in ("object", "array"))


def _ways(schema: AnySchema, shapes: CoreShapes) -> Iterator[tuple[str | None, int]]:
    """Yield the definitions that are reached from a schema, and how often; None is an end."""
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
    """Return how often one value may be visited from the first part of a schema; or just too many.

    `ways` has for each part those that are reached from it. One that leads to itself by two branches doubles
    them with each level of a document.
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
    """Yield a core schema and all those in it."""
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
    """Return the schema with another in the place of each that stands inside it."""
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
