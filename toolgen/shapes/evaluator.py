"""Decides in few steps and without a validator whether a value matches a schema, and finds its faults.

Schemas are read as JSON Schema 2020-12. Some keywords are not decided: conditions, dependencies, `contains`,
unevaluated parts, patterns of names, and the patterns of third-party schemas. `Undecided` defines how they
count. A value that is certainly a misfit is a misfit under every policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import Enum, auto
from functools import partial
from itertools import islice
from typing import Any, Final, TypeAlias

from pydantic_core import SchemaValidator, core_schema

from toolgen.contract.json_pointer import referred
from toolgen.contract.json_value import Json, identity

from .constraints import FLAGS, Holder, IssueCode, limits_of
from .issues import (
    FieldIssue,
    Keys,
    TooComplexError,
    bound_issue,
    json_type,
    mismatch,
    missing,
    unknown,
)
from .keywords import BRANCHES, CONDITIONS
from .lexical import FORMAT_NAMES
from .patterns import PatternError, to_rust
from .steps import Steps
from .union_shapes import types_of


class Undecided(Enum):
    """The result for a value if the evaluator cannot decide whether it matches."""

    LEFT_TO_TOOL = auto()
    """No issue, because the tool validates the value again.

    The schema belongs to a tool's own types: formats and patterns are checked, and null means that a member
    is absent.
    """
    AS_FIT = auto()
    """No issue: a union branch that might fit is tried."""
    AS_MISFIT = auto()
    """An issue: a default that might not fit is not filled in."""


_Fault: TypeAlias = tuple[Keys, Callable[..., FieldIssue], tuple[Any, ...]]
"""Keys below the value, and the function and arguments that create the issue on demand."""

_MOST_STEPS: Final = 100_000
"""Maximum number of steps for all values of one evaluator; a step applies a schema to a value."""
_DEEPEST: Final = 64
"""Maximum nesting depth of arrays and objects in a value."""
_LIMITS: Final = {kind: limits_of(kind) for kind in ("string", "number", "array", "map")}
_FORMATS: Final = {name: (form, example) for form, (name, example) in FORMAT_NAMES.items()}
"""Patterns and examples of formats by name; other formats are not checked."""
_UNDECIDED: Final = frozenset(
    (
        *CONDITIONS,
        *"oneOf $dynamicRef $recursiveRef dependentRequired dependentSchemas dependencies contains".split(),
        *"minContains maxContains prefixItems additionalItems unevaluatedItems patternProperties".split(),
        "unevaluatedProperties",
    )
)
"""Keywords that make a fit uncertain; some of them can still prove a misfit."""
_OBJECTS: Final = (dict, Mapping)
IDS: Final = frozenset(("$id", "id"))
"""Keywords of a schema that becomes the base of its references, instead of the root (Core 8.2.1)."""
_SAME_VALUE: Final = frozenset((*BRANCHES, "not"))
"""Keywords whose schemas apply to the same value again."""
_UNREADABLE: Final = (
    *(TooComplexError, RecursionError),
    *(AttributeError, TypeError, ValueError, ArithmeticError, LookupError),
)
"""Exceptions that mean that the steps are used up, or that a schema is not valid."""


def may_fit(root: Mapping[str, object], schema: object, value: Json, steps: Steps | None = None) -> bool:
    """Return whether a value might fit a part of a schema.

    It takes at most the remaining steps, which many choices of one document share.
    """
    return Evaluator(root, Undecided.AS_FIT, steps=steps).fits(schema, value)


class Evaluator:
    """Checks values against parts of one schema."""

    __slots__ = ("_decided", "_is_of_tool", "_most", "_root", "_steps", "_undecided")

    def __init__(
        self, root: Mapping[str, object], undecided: Undecided, *, steps: Steps | None = None, most: int = 1
    ) -> None:
        self._root = root
        self._is_of_tool = undecided is Undecided.LEFT_TO_TOOL
        self._undecided = _UNDECIDED_FAULTS if undecided is Undecided.AS_MISFIT else ()
        self._steps = steps or Steps(_MOST_STEPS)
        self._most = most
        self._decided: dict[tuple[str, int], tuple[_Fault, ...]] = {}
        """Faults by reference and value. Each place of a document has one value."""

    def fits(self, schema: object, value: Json) -> bool:
        """Return whether a value has no issue."""
        try:
            return next(self._faults(schema, value, 0), None) is None
        except _UNREADABLE:
            return not self._undecided

    def issues(self, schema: object, value: Json) -> Iterator[FieldIssue]:
        """Yield the first issues of a value, at most `most` of them."""
        try:
            for keys, issue, facts in islice(self._faults(schema, value, 0), self._most):
                yield issue(keys, *facts)
        except _UNREADABLE:
            for keys, issue, facts in self._undecided:
                yield issue(keys, *facts)

    def _faults(self, schema: Any, value: Json, depth: int) -> Iterator[_Fault]:
        """Yield the faults of a value against a part of the schema."""
        self._steps.take(1)
        if schema is True or schema is False:
            if not schema:
                yield (), _issue, ("invalid_value", "is not allowed here")
            return
        is_read = depth <= _DEEPEST and isinstance(schema, _OBJECTS)
        is_read = is_read and (IDS.isdisjoint(schema) or schema is self._root)
        if not is_read or (self._undecided and not _UNDECIDED.isdisjoint(schema)):
            yield from self._undecided
            return
        if "$ref" in schema:
            yield from self._of_reference(schema["$ref"], value, depth)
        if value is None and not self._undecided and schema.get("nullable") is True:  # OpenAPI 3.0
            return
        if (fault := self._value_fault(schema, value)) is not None:
            yield fault
        elif isinstance(value, dict):
            yield from self._of_members(schema, value, depth + 1)
        elif isinstance(value, list):
            yield from self._of_items(schema, value, depth + 1)
        if _SAME_VALUE.isdisjoint(schema):
            return
        for part in schema.get("allOf", ()):
            yield from self._faults(part, value, depth)
        if "anyOf" in schema:
            yield from self._of_branches(schema["anyOf"], value, depth)
        if "oneOf" in schema:
            yield from self._of_branches(schema["oneOf"], value, depth, is_one=True)
        if "not" in schema and self._surely_fits(schema["not"], value):
            yield (), _issue, ("invalid_value", "must not match the schema's `not`")

    def _of_reference(self, reference: object, value: Json, depth: int) -> tuple[_Fault, ...]:
        """Return the faults against the target of a reference; a circular reference is undecided."""
        key = str(reference), id(value)
        if key not in self._decided:
            self._decided[key] = self._undecided
            target = referred(self._root, reference)
            self._decided[key] = tuple(islice(self._faults(target, value, depth), self._most))
        return self._decided[key]

    def _of_branches(
        self, branches: Iterable[object], value: Json, depth: int, *, is_one: bool = False
    ) -> Iterator[_Fault]:
        """Yield the faults against the best branch, or the fault that several branches of a `oneOf` fit."""
        fitting: list[object] = []
        faults: list[list[_Fault]] = []
        for branch in branches:
            if found := list(islice(self._faults(branch, value, depth), self._most)):
                faults.append(found)
            elif not is_one:
                return
            else:
                fitting.append(branch)
        if fitting:
            if len(fitting) > 1 and sum(self._surely_fits(branch, value) for branch in fitting) > 1:
                yield (), _issue, ("invalid_value", "must match exactly one alternative, but matches several")
        elif faults and all(not keys and issue is _not_among for (keys, issue, _), *_ in faults):
            yield (), _not_among, ([choice for (_, _, (choices,)), *_ in faults for choice in choices],)
        else:  # the fault of a branch for another kind of value is at the value itself
            yield from min(faults, key=lambda found: (not found[0][0], len(found)), default=self._undecided)

    def _surely_fits(self, schema: object, value: Json) -> bool:
        sure = Evaluator(self._root, Undecided.AS_MISFIT, steps=self._steps)
        sure._is_of_tool = self._is_of_tool
        return sure.fits(schema, value)

    def _of_members(self, schema: Mapping[str, Any], value: dict[str, Json], depth: int) -> Iterator[_Fault]:
        properties, required = schema.get("properties", {}), schema.get("required", ())
        for name in required:
            if name not in value:
                yield (name,), missing, (self._root, properties.get(name, {}))
        others = True if "patternProperties" in schema else schema.get("additionalProperties", True)
        names = schema.get("propertyNames", True)
        for name, part in value.items():
            if names is not True:
                for _, issue, facts in self._faults(names, name, depth):
                    yield (name,), _of_name, (issue, facts)
            if name not in properties:
                if others is False:
                    yield (name,), unknown, (tuple(properties),)
                if others is False or others is True:
                    continue
            elif part is None and self._is_of_tool and not self._undecided and name not in required:
                continue
            for keys, issue, facts in self._faults(properties.get(name, others), part, depth):
                yield (name, *keys), issue, facts

    def _of_items(self, schema: Mapping[str, Any], value: list[Json], depth: int) -> Iterator[_Fault]:
        first, rest = schema.get("prefixItems", ()), schema.get("items", True)
        for place, item in enumerate(value):
            part = first[place] if place < len(first) else rest
            if part is not True:
                for keys, issue, facts in self._faults(part, item, depth):
                    yield (place, *keys), issue, facts

    def _value_fault(self, schema: Mapping[str, Any], value: Json) -> _Fault | None:
        """Return the fault of a value as a whole."""
        if "type" in schema:
            named, own = schema["type"], types_of(value)
            if named not in own if isinstance(named, str) else set(named).isdisjoint(own):
                return (), _wrong_type, (named, value)
        if "enum" in schema and not self._is_among(schema["enum"], value):
            return (), _not_among, (schema["enum"],)
        if "const" in schema and not self._is_among(choices := [schema["const"]], value):
            return (), _not_among, (choices,)
        match value:
            case str():
                return self._limit_fault(schema, "string", len(value)) or self._text_fault(schema, value)
            case bool() | None:
                return None
            case int() | float():
                return self._limit_fault(schema, "number", value)
            case list():
                for row in FLAGS:
                    if schema.get(row.keyword) and len(set(map(identity, value))) < len(value):
                        return (), _issue, (row.code, row.message)
                return self._limit_fault(schema, "array", len(value))
            case _:
                return self._limit_fault(schema, "map", len(value))

    def _is_among(self, choices: Sequence[Json], value: Json) -> bool:
        self._steps.take(len(choices) - 1)
        return value in choices if isinstance(value, str) else identity(value) in map(identity, choices)

    def _limit_fault(self, schema: Mapping[str, Any], holder: Holder, size: float) -> _Fault | None:
        """Return the fault of a number or of a size; some limits in draft-04 are booleans."""
        for row in _LIMITS[holder]:
            if row.keyword in schema:
                limit = schema[row.keyword]
                if isinstance(limit, bool):
                    if self._undecided:
                        return self._undecided[0]
                elif not row.passes(size, limit):
                    return (), _out_of_bounds, (row, limit)
        return None

    def _text_fault(self, schema: Mapping[str, Any], text: str) -> _Fault | None:
        """Return the fault of a text; third-party patterns are not matched, because that can take long."""
        if self._is_of_tool and schema.get("format") in _FORMATS:
            form, example = _FORMATS[schema["format"]]
            if not _matches(form, text):
                message = f"must be written as {schema['format']}, such as {example}"
                return (), _issue, ("invalid_format", message)
        if "pattern" not in schema:
            return None
        with suppress(PatternError):  # Rust does not support this pattern
            if self._is_of_tool:
                is_match = _matches(to_rust(schema["pattern"]), text)
                return None if is_match else ((), mismatch, (schema["pattern"],))
        return next(iter(self._undecided), None)


def _matches(pattern: str, text: str) -> bool:
    """Return whether a pattern in Rust's dialect matches within the text, in linear time."""
    return SchemaValidator(core_schema.str_schema(pattern=pattern)).isinstance_python(text)


def _issue(keys: Keys, constraint: IssueCode, message: str) -> FieldIssue:
    return FieldIssue(keys=keys, constraint=constraint, message=message)


def _wrong_type(keys: Keys, named: Any, value: object) -> FieldIssue:
    kinds = [named] if isinstance(named, str) else named
    words = "an object" if kinds == ["object"] else f"of type {' or '.join(kinds)}"
    return _issue(keys, "invalid_type", f"must be {words}, not {json_type(value)}")


def _not_among(keys: Keys, choices: Iterable[object]) -> FieldIssue:
    return _issue(keys, "invalid_enum_value", f"must be one of {', '.join(map(str, choices))}")


def _of_name(keys: Keys, issue: Callable[..., FieldIssue], facts: tuple[object, ...]) -> FieldIssue:
    found = issue(keys, *facts)
    return replace(found, message=f"has a name that {found.message}")


_out_of_bounds: Final = partial(bound_issue, of_object=False)
_UNDECIDED_FAULTS: Final[tuple[_Fault, ...]] = (
    ((), _issue, ("invalid_value", "might not match its schema")),
)
