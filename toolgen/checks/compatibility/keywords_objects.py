"""Proofs for the keywords of objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final

from toolgen.contract.json_value import Json
from toolgen.shapes.constraints import Constraint

from .conjunctions import Conjunction, property_of, required_of, unnamed_keys
from .documents import accepts, lone, matches
from .proof import Case, Gap, Rule
from .strings import texts_of


def _properties(case: Case) -> list[Gap]:
    gaps: list[Gap] = []
    if "object" in case.flat.kinds:
        for name, large in case.large.children("properties"):
            gaps += case.below(property_of(case.flat.nodes, name), large, name, _holding(case, name))
    return gaps


def _pattern_properties(case: Case) -> list[Gap]:
    gaps: list[Gap] = []
    for pattern, large in case.large.children("patternProperties") if "object" in case.flat.kinds else ():
        for name in _names(case):
            if matches(pattern, name):
                gaps += case.below(property_of(case.flat.nodes, name), large, name, _holding(case, name))
        same = [
            node.child("patternProperties", pattern)
            for node in case.flat.nodes
            if pattern in node.schema.get("patternProperties", ())
        ]
        if same:
            gaps += case.below(tuple(same), large, "*", _holding_one_of(case, texts_of(pattern)))
            continue
        for _, small in unnamed_keys(case.flat, frozenset()):
            gaps += case.below(small, large, "*", _holding_one_of(case, texts_of(pattern)))
    return gaps


def _other_properties(case: Case) -> list[Gap]:
    large = case.large.child("additionalProperties")
    if "object" not in case.flat.kinds or large.schema is True:
        return []
    named = case.large.schema.get("properties", {})
    patterns = frozenset(case.large.schema.get("patternProperties", ()))
    gaps: list[Gap] = []
    for name in _names(case):
        if name not in named and not any(matches(pattern, name) for pattern in patterns):
            small = property_of(case.flat.nodes, name)
            if large.schema is False:
                gaps += _unknown_key(case, name, small)
            else:
                gaps += case.below(small, large, name, _holding(case, name))
    for pattern, small in unnamed_keys(case.flat, patterns):
        names = texts_of(pattern) if pattern else ("x", "X-1", "other key", "")
        gaps += case.below(small, large, "*", _holding_one_of(case, names))
    return gaps


def _unknown_key(case: Case, name: str, small: Conjunction) -> list[Gap]:
    """Return the gap of a key that the larger side does not accept."""
    if case.proof.emptiness.of(small):
        return []
    gap = case.gap(
        "additionalProperties", f"does not accept {name!r}", name=name, only={"properties": {name: False}}
    )
    return [gap]


def _names(case: Case) -> dict[str, None]:
    """Return the keys in `properties` and `required` of the smaller side."""
    names = {name: None for properties in case.flat.of("properties") for name in properties}
    return {**names, **required_of(case.flat)}


def _holding(case: Case, name: str) -> Callable[[Any], Iterator[Any]]:
    """Return a function that yields objects of the smaller side with a document under a key."""
    return _holding_one_of(case, (name,))


def _holding_one_of(case: Case, names: tuple[str, ...]) -> Callable[[Json], Iterator[Json]]:
    def objects(document: object) -> Iterator[Any]:
        for name in names:
            made = case.proof.samples.object(case.flat, {name: document})
            if made is not None:
                yield made

    return objects


def _required(case: Case) -> list[Gap]:
    if "object" not in case.flat.kinds:
        return []
    had = required_of(case.flat)
    return [
        case.gap("required", f"requires {name!r}", name=name, only={"required": [name]})
        for name in case.large.schema["required"]
        if name not in had
    ]


def _is_absent(case: Case, name: str) -> bool:
    """Return whether the smaller side never has a key."""
    return case.proof.emptiness.of(property_of(case.flat.nodes, name))


def _dependent_required(case: Case) -> list[Gap]:
    if "object" not in case.flat.kinds or case.has_same_keywords("dependentRequired"):
        return []
    had = required_of(case.flat)
    gaps = []
    for name, needed in case.large.schema["dependentRequired"].items():
        if not set(needed) <= {*had, name} and not _is_absent(case, name):
            only = {"dependentRequired": {name: needed}}
            gaps.append(
                case.gap("dependentRequired", f"requires other fields together with {name!r}", only=only)
            )
    return gaps


def _property_names(case: Case) -> list[Gap]:
    if "object" not in case.flat.kinds or case.has_same_keywords("propertyNames"):
        return []
    large = case.large.child("propertyNames")
    named = tuple(node.child("propertyNames") for node in case.flat.nodes if "propertyNames" in node.schema)
    if _is_closed(case) and all(accepts((large,), name) or _is_absent(case, name) for name in _names(case)):
        return []
    gaps = case.below((lone({"type": "string"}), *named), large, "*", _nothing)
    return [case.gap("propertyNames", "accepts only some keys", by_schema=True)] if gaps else []


def _nothing(document: Json) -> Iterator[Json]:
    yield from ()


def _is_closed(case: Case) -> bool:
    """Return whether an object allows only the named keys."""
    return all(case.proof.emptiness.of(small) for _, small in unnamed_keys(case.flat, frozenset()))


def count_fits(case: Case, row: Constraint, wanted: Fraction) -> bool:
    """Return whether the number of required keys, or of possible keys, is within a limit."""
    if row.side == "low":
        return len(required_of(case.flat)) >= wanted
    possible = [name for name in _names(case) if not _is_absent(case, name)]
    return _is_closed(case) and len(possible) <= wanted


RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "properties": _properties,
        "patternProperties": _pattern_properties,
        "additionalProperties": _other_properties,
        "required": _required,
        "dependentRequired": _dependent_required,
        "propertyNames": _property_names,
    }
)
