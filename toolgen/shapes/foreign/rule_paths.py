"""Counts the work of a validator for one document: its visits of values, and the errors that it collects.

Nested alternatives multiply. Below a circular reference, jsonschema-rs tries each value once. For most
documents, a bound of the schema and the size of the document show that the visits are few; otherwise the
paths of this document through the schema are counted, which takes steps of its budget too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from toolgen.contract.json_value import Json, objects_in

from ..constraints import FLAGS, LIMITS, limits_of
from ..issues import TooComplexError
from ..keywords import REFERENCES
from ..steps import MOST_STEPS, Steps
from .applied import below, has_unevaluated, held_by, in_place, list_of, map_of
from .targets import Targets

_NOTHING_COUNTED: Final = MOST_STEPS // 10
"""Steps up to which nothing is counted, because the bound of the schema is enough."""
_FEW: Final = 200
"""Steps for one value that cannot make a long document too complex; its length has its own limit."""
_BOUND: Final = MOST_STEPS // 4
"""Steps up to which only the values of the document are counted, and not the paths through the schema."""
_PAIR_STEPS: Final = 250
"""Steps for counting one pair of a schema and a value in Python."""
_PATH_STEPS: Final = 50
"""Steps for following one path to such a pair."""
_HOLDERS: Final = frozenset((dict, list))
_NUMBERS: Final = frozenset((int, float))
_ERROR_STEPS: Final = 200
"""Steps for collecting one error and reading it."""
_COPIED: Final = 10
"""Bytes of a value that are copied into an error in one step."""
_SHOWN: Final = ("const", "enum", "not")
"""Keywords whose value is copied into an error."""
_RULES: Final = (
    *_SHOWN,
    *{row.keyword for row in LIMITS},
    "type",
    "oneOf",
    "pattern",
    "contains",
    "additionalProperties",
)
"""Keywords that can each cause an error for one value, with a copy of the value."""
_MANY: Final = 1_000_000_000
"""Upper bound of counts; larger numbers are not distinguished."""
_MOST_VALUES: Final = 1_000
_MOST_PAIRS: Final = 100_000
"""Maximum number of pairs of an object's members: jsonschema-rs copies the object for each key."""
_UNEVALUATED_TRIES: Final = 3
"""Number of times that the keywords beside `unevaluated…` are tried: for themselves, and for the rest."""
_SCALARS: Final = ("string", "number", "integer", "boolean", "null")
(_STEP,) = limits_of("number", "step")
(_UNIQUE,) = FLAGS
_FRACTION: Final = 800
"""Steps for dividing numbers with many digits, as fractions."""
_EXACT: Final = 1e15
"""Numbers below this are divided in a few steps."""
_DIGITS: Final = 14
"""Binary logarithm of the divisor for reading an integer: its steps are the square of its bits, divided."""


def are_too_many(count: int, places: int, most: int = 5_000) -> bool:
    """Return whether many paths lead to few places, because alternatives multiply."""
    return count > most + 4 * places


def is_large(document: Json) -> bool:
    """Return whether the errors of a document could exceed the memory."""
    values = pairs = 0
    waiting = [document]
    while waiting:
        value = waiting.pop()
        values += 1
        if isinstance(value, Mapping):
            pairs += len(value) ** 2
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        if values > _MOST_VALUES or pairs > _MOST_PAIRS:
            return True
    return False


class VisitCounter:
    """Counts how often a validator of one schema visits the values of a document."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._targets = Targets(schema)
        self._circular_schemas: set[int] = set()
        """Schemas whose reference leads back to a schema that contains them, by `id`."""
        self._circular_targets = set[int]()
        """Targets of circular references, by `id`. Each is tried once for a value."""
        self._own: dict[int, int] = {}
        """Steps for the value itself, by the `id` of a schema."""
        self._is_forked = False
        """Whether some schema continues with several schemas for one value."""
        self._divides = _divides(schema)
        counted: dict[int, int] = {}
        try:
            steps = self._most(schema, counted, set())
            target_steps = [counted.get(key, 1) for key in self._circular_targets]
            steps += sum(target_steps) if self._is_forked else max(target_steps, default=0)
        except RecursionError:
            steps = _MANY
        self.value_steps = min(_MANY, steps)
        """Maximum number of steps for one value."""
        self.quick_bytes = _NOTHING_COUNTED // (self.value_steps + 3)
        """Size in bytes of a document for which nothing is counted.

        Each byte can be a value, and takes up to three steps among the digits of an integer.
        """
        self.fault = self._targets.fault
        """A reference that can lead to several places, and is therefore not followed; "" if there is none."""

    def take(self, document: Json, size: int, steps: Steps) -> None:
        """Take the steps of a document with `size` bytes.

        Raises:
            TooComplexError: too few steps are left for the document, or for counting them.
        """
        if size <= self.quick_bytes:
            return
        try:
            values, read = _of_values(document, self._divides)
            steps.take(read)
            if self.value_steps > _FEW:
                bound = values * self.value_steps
                steps.take(bound if bound <= _BOUND else self._counted(document, steps))
        except RecursionError:
            raise TooComplexError from None

    def _counted(self, document: Json, steps: Steps) -> int:
        options: dict[int, int] = {}

        def visit_steps(schema: Mapping[str, Json], value: Json) -> int:
            if id(schema) not in options:
                options[id(schema)] = _option_steps(schema)
            return options[id(schema)] + _visit_steps(schema, value)

        paths = _Paths(self._targets, visit_steps, steps, self._circular_schemas)
        total, visited = 0, set[tuple[int, int]]()
        paths.postponed.append((self._schema, document))
        while paths.postponed:
            schema, value = paths.postponed.pop()
            pair = id(schema), id(value)
            if pair not in visited:  # below a circular reference, each value is tried once
                visited.add(pair)
                total += paths.count(schema, value)
        return total

    def _most(self, schema: Any, counted: dict[int, int], above: set[int]) -> int:
        """Return the steps for one visit of a value, itself or one below it, by all that a schema applies."""
        if not isinstance(schema, Mapping):
            return 1
        key = id(schema)
        if key in counted:
            return counted[key]
        above.add(key)

        nearest, others = below(schema)
        every = [*in_place(self._targets, schema)]
        parts = [1] * (len(every) + len(others) + len(nearest))
        for at, inner in enumerate((*every, *others, *nearest)):
            if id(inner) in above:
                self._circular_schemas.add(key)
                self._circular_targets.add(id(inner))
            else:
                parts[at] = self._most(inner, counted, above)
        if sum(map(_leads_on, (*every, *others))) + any(map(_leads_on, nearest)) > 1:
            self._is_forked = True
        same = sum(parts[: len(every)])
        start = len(every) + len(others)
        inner_steps = sum(parts[len(every) : start]) + max(parts[start:], default=0)
        above.discard(key)
        tries = _UNEVALUATED_TRIES if has_unevaluated(schema) else 1
        own = _at_most(schema) + sum([self._own.get(id(inner), 1) for inner in every])
        self._own[key] = min(own * tries, _MANY)
        counted[key] = min(max(own, same + inner_steps) * tries, _MANY)
        return counted[key]


def _leads_on(schema: Json) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") not in _SCALARS


def _divides(schema: Json) -> bool:
    """Return whether a schema contains a `multipleOf`."""
    return any(_STEP.keyword in part for part in objects_in(schema))


def _of_values(value: Json, divides: bool) -> tuple[int, int]:
    """Return the number of values in a value, and the steps for reading its numbers with many digits."""
    if not isinstance(value, dict | list):
        return 1, _number_steps(value, divides)
    values = 1
    total = 0
    for part in value.values() if isinstance(value, dict) else value:
        kind = type(part)
        if kind in _HOLDERS:
            inner, steps = _of_values(part, divides)
            values += inner
            total += steps
        else:
            values += 1
            if kind in _NUMBERS:
                total += _number_steps(part, divides)
    return values, total


def count_errors(schema: Any, document: Json, steps: Steps) -> tuple[int, bool]:
    """Return the steps for collecting the errors of a document, and whether alternatives multiply them."""
    sizes: dict[int, int] = {}

    def error_steps(schema: Mapping[str, Json], value: Json) -> int:
        size = _size(value, sizes)
        copied = size * max(0, sum(word in schema for word in _RULES) - 1)
        copied += sum([_size(schema[word], sizes) for word in _SHOWN if word in schema])
        return copied // _COPIED + _errors(schema, value) * (_ERROR_STEPS + size // _COPIED)

    paths = _Paths(Targets(schema), error_steps, steps)
    try:
        count = paths.count(schema, document)
    except (RecursionError, TooComplexError):
        return _MANY, True
    return count, are_too_many(count, paths.once, 0)


class _Paths:
    def __init__(
        self,
        targets: Targets,
        weigh: Callable[[Mapping[str, Json], Json], int],
        steps: Steps,
        circular_schemas: Collection[int] = (),
    ) -> None:
        self.postponed: list[tuple[Any, Json]] = []
        """Targets of circular references, which are not counted with the rest."""
        self._targets = targets
        self._weigh = weigh
        self._steps = steps
        self._circular_schemas = circular_schemas
        self._counted: dict[tuple[int, int], int] = {}
        self.once = 0
        """Sum of the weights, with each pair of a schema and a value counted once."""

    def count(self, schema: object, value: Json) -> int:
        """Return the sum of the weights of all paths below a schema; each pair is weighed only once.

        Raises:
            TooComplexError: no steps are left to count them.
        """
        if not isinstance(schema, Mapping):
            return 1
        pair = id(schema), id(value)
        if pair not in self._counted:
            self._steps.take(_PAIR_STEPS)
            self._counted[pair] = 1  # ends a cycle that leads back to the same value
            tries = _UNEVALUATED_TRIES if has_unevaluated(schema) else 1
            total = self._weigh(schema, value)
            self.once += total
            for inner in self._same(schema, value):
                total += tries * self.count(inner, value)
            for inner, member in held_by(schema, value):
                self._steps.take(_PATH_STEPS)
                total += self.count(inner, member)
            self._counted[pair] = min(total, _MANY)
        return self._counted[pair]

    def _same(self, schema: Mapping[str, Json], value: Json) -> Iterator[Json]:
        """Yield the schemas that apply to the same value."""
        if id(schema) in self._circular_schemas and any(word in schema for word in REFERENCES):
            self.postponed.extend((inner, value) for inner in self._targets.of(schema))
            schema = {word: schema[word] for word in schema if word not in REFERENCES}
        yield from in_place(self._targets, schema)


def _at_most(schema: object) -> int:
    """Return the maximum number of steps for one visit of any value, by a schema's own keywords."""
    return _option_steps(schema) + _visit_steps(schema, None) if isinstance(schema, Mapping) else 1


def _visit_steps(schema: Mapping[str, Any], value: Json) -> int:
    """Return the steps for one visit of a value by a schema's own keywords, without its options."""
    steps = 1
    if _STEP.keyword in schema and isinstance(value, int | float | None):
        steps += _division_steps(schema[_STEP.keyword])
    if schema.get(_UNIQUE.keyword) and (value is None or isinstance(value, list)):
        steps += 10 * len(value or "0")
    return steps


def _division_steps(divisor: float) -> int:
    if isinstance(divisor, int):
        return 0
    return _FRACTION // 20 if _EXACT > divisor > 1 / _EXACT else _FRACTION


def _option_steps(schema: Mapping[str, Json]) -> int:
    """Return the steps for comparing a value with the names and options that a schema lists."""
    steps = len(list_of(schema, "required")) // 2 + len(map_of(schema, "properties")) // 40
    options = list_of(schema, "enum")
    kinds = set(map(type, options))
    kinds.discard(type(None))  # null is not compared
    an_option = 60 if float in kinds else 10 if kinds & _HOLDERS else 5 if len(kinds) > 1 else 0
    return steps + _dependency_steps(schema) + len(options) * an_option


def _number_steps(value: Json, divides: bool) -> int:
    """Return the steps for reading an integer, by its digits squared, or for dividing a large number."""
    match value:
        case int():
            return value.bit_length() ** 2 >> _DIGITS
        case float() if divides and abs(value) > _EXACT:
            return _FRACTION
        case _:
            return 0


def _dependency_steps(schema: Mapping[str, Json]) -> int:
    """Return the steps for looking up the keys of dependencies."""
    lists = [*map_of(schema, "dependentRequired").values(), *map_of(schema, "dependencies").values()]
    return len(lists) + sum(len(names) for names in lists if isinstance(names, list)) // 2


def _errors(schema: Mapping[str, Json], value: Json) -> int:
    """Return the maximum number of errors by a schema's own keywords for a value."""
    if not isinstance(value, Mapping):
        return 1
    errors = 1 + sum(name not in value for name in list_of(schema, "required"))
    for word in ("dependentRequired", "dependencies"):
        for key, names in map_of(schema, word).items():
            if key in value and isinstance(names, list):
                errors += sum(name not in value for name in names)
    return errors + (len(value) if "propertyNames" in schema else 0)


def size_of(document: Json) -> int:
    """Return the approximate size of a document as JSON, in bytes."""
    return _size(document, {})


def _size(value: Json, sizes: dict[int, int]) -> int:
    """Return the approximate size of a value as JSON, in bytes; each part is only measured once."""
    match value:
        case str():
            return len(value) + 2
        case dict() | list():
            if id(value) not in sizes:
                inner = value.values() if isinstance(value, dict) else value
                keys = sum(map(len, value)) + 3 * len(value) if isinstance(value, dict) else 0
                sizes[id(value)] = 2 + keys + sum(_size(part, sizes) for part in inner)
            return sizes[id(value)]
        case int():
            return value.bit_length() // 3 + 2
        case _:
            return 4
