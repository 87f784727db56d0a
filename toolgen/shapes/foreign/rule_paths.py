"""Counts what a validator does for one document: how often it looks at a value, and what errors it collects.

Alternatives inside alternatives multiply. Below a reference that leads back, jsonschema-rs tries each value
once. A bound of the schema and the size of the document says for most that they are few; else the ways of
this document through the schema are counted, which takes steps of its budget too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from toolgen.contract.json_value import Json

from ..constraints import FLAGS, limits_of
from ..issues import TooComplexError
from ..steps import MOST_STEPS, Steps
from .schema import BRANCHES, CONDITIONS, REFERENCES
from .targets import Targets

_NOTHING_COUNTED: Final = MOST_STEPS // 10
"""Steps up to which nothing is counted: the bound of the schema is enough."""
_FEW: Final = 100
"""Steps for one value that are no reason to refuse a long document, whose length has its own limit."""
_BOUND: Final = MOST_STEPS // 4
"""Steps up to which the values of the document are counted, and not the ways through the schema."""
_A_PAIR: Final = 100
"""Steps of counting one schema and one value, which Python does."""
_A_WAY: Final = 20
"""Steps of following one way to them."""
_HOLDERS: Final = frozenset((dict, list))
_NUMBERS: Final = frozenset((int, float))
_AN_ERROR: Final = 200
"""Steps of collecting one error and reading it."""
_COPIED: Final = 10
"""Bytes of a value that are copied into an error in one step."""
_MANY: Final = 1_000_000_000
"""More are not told apart."""
_MOST_VALUES: Final = 1_000
_MOST_PAIRS: Final = 100_000
"""Pairs of members of an object: jsonschema-rs copies the object into an error of each of its keys."""
_OF_MEMBERS: Final = ("additionalProperties", "unevaluatedProperties")
_OF_ITEMS: Final = ("items", "unevaluatedItems")
_UNEVALUATED: Final = ("unevaluatedProperties", "unevaluatedItems")
_AGAIN: Final = 3
"""How often what is beside `unevaluated…` is tried: for itself, and for what it leaves unevaluated."""
_NAMED: Final = ("properties", "patternProperties", "dependentSchemas")
_SCALARS: Final = ("string", "number", "integer", "boolean", "null")
(_STEP,) = limits_of("number", "step")
(_UNIQUE,) = FLAGS
_FRACTION: Final = 800
"""Steps of dividing numbers of many digits, as fractions."""
_EXACT: Final = 1e15
"""Numbers below it divide in a few steps."""
_DIGITS: Final = 14
"""Steps of reading an integer: the square of its bits, by 2 to the power of this."""


def are_too_many(count: int, places: int, most: int = 5_000) -> bool:
    """Return whether many paths lead to few places, because alternatives multiply."""
    return count > most + 4 * places


def is_large(document: Json) -> bool:
    """Return whether the errors of a document may be more than memory holds."""
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


class Looks:
    """Counts how often a validator of one schema looks at the values of a document."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._targets = Targets(schema)
        self._back: set[int] = set()
        """Schemas whose reference leads back to what holds them, by `id`."""
        self._a_look = 1
        """Steps of one look at most."""
        try:
            ways = self._most(schema, {}, set())
        except RecursionError:
            ways = _MANY
        self.a_value = min(_MANY, ways * self._a_look)
        """Steps for one value at most."""

    def take(self, document: Json, size: int, steps: Steps) -> None:
        """Take the steps of a document with so many bytes.

        Raises:
            TooComplexError: so many are not left, or not enough to count them.
        """
        if (self.a_value + 3) * size <= _NOTHING_COUNTED:  # a value has a byte, an integer's digits three
            return
        try:
            values, read = _of_values(document)
            steps.take(read)
            if self.a_value > _FEW:
                bound = values * self.a_value
                steps.take(bound if bound <= _BOUND else self._counted(document, steps))
        except RecursionError:
            raise TooComplexError from None

    def _counted(self, document: Json, steps: Steps) -> int:
        options: dict[int, int] = {}

        def a_look(schema: Mapping[str, Any], value: Json) -> int:
            if id(schema) not in options:
                options[id(schema)] = _of_options(schema)
            return options[id(schema)] + _a_look(schema, value)

        paths = _Paths(self._targets, a_look, steps, self._back)
        total, seen = 0, set[tuple[int, int]]()
        paths.later.append((self._schema, document))
        while paths.later:
            schema, value = paths.later.pop()
            pair = id(schema), id(value)
            if pair not in seen:  # below a reference that leads back each value is tried once
                seen.add(pair)
                total += paths.count(schema, value)
        return total

    def _most(self, schema: Any, counted: dict[int, int], above: set[int]) -> int:
        """Return how often a schema looks at one value, its own or one below it."""
        if not isinstance(schema, Mapping):
            return 1
        key = id(schema)
        if key in counted:
            return counted[key]
        above.add(key)
        every = [*_in_place(self._targets, schema)]
        in_place = [inner for inner in every if not _is_scalar(inner)]
        self._a_look = max(self._a_look, _at_most(schema) + sum(map(_at_most, every)))
        most = 1
        for inner in (*in_place, *_below(schema)):
            if id(inner) in above:
                self._back.add(key)
            else:
                most = max(most, self._most(inner, counted, above))
        above.discard(key)
        again = _AGAIN if _has_unevaluated(schema) else 1
        counted[key] = min(most * max(1, len(in_place)) * again * _parallel(schema), _MANY)
        return counted[key]


def _of_values(value: Json) -> tuple[int, int]:
    """Return the number of values in a value, and the steps of reading its numbers of many digits."""
    if not isinstance(value, dict | list):
        return 1, _of_number(value)
    values = 1
    total = 0
    for part in value.values() if isinstance(value, dict) else value:
        kind = type(part)
        if kind in _HOLDERS:
            inner, steps = _of_values(part)
            values += inner
            total += steps
        else:
            values += 1
            if kind in _NUMBERS:
                total += _of_number(part)
    return values, total


def count_errors(schema: Any, document: Json, steps: Steps) -> tuple[int, bool]:
    """Return the steps of collecting the errors of a document, and whether alternatives multiply them."""
    sizes: dict[int, int] = {}

    def an_error(schema: Mapping[str, Any], value: Json) -> int:
        return _errors(schema, value) * (_AN_ERROR + _size(value, sizes) // _COPIED)

    paths = _Paths(Targets(schema), an_error, steps)
    try:
        count = paths.count(schema, document)
    except (RecursionError, TooComplexError):
        return _MANY, True
    return count, are_too_many(count // _AN_ERROR, paths.pairs, 0)


class _Paths:
    def __init__(
        self,
        targets: Targets,
        weigh: Callable[[Mapping[str, Any], Json], int],
        steps: Steps,
        back: Collection[int] = (),
    ) -> None:
        self.later: list[tuple[Any, Json]] = []
        """What references that lead back lead to; it is not counted with the rest."""
        self._targets = targets
        self._weigh = weigh
        self._steps = steps
        self._back = back
        self._counted: dict[tuple[int, int], int] = {}

    @property
    def pairs(self) -> int:
        """The schemas and values that were counted."""
        return len(self._counted)

    def count(self, schema: Any, value: Json) -> int:
        """Return the sum of the weights of all ways below a schema, each pair counted once only.

        Raises:
            TooComplexError: no steps are left to count them.
        """
        if not isinstance(schema, Mapping):
            return 1
        pair = id(schema), id(value)
        if pair not in self._counted:
            self._steps.take(_A_PAIR)
            self._counted[pair] = 1  # what leads back to itself on the same value ends here
            again = _AGAIN if _has_unevaluated(schema) else 1
            total = self._weigh(schema, value)
            for inner in self._same(schema, value):
                total += again * self.count(inner, value)
            for inner, held in _held(schema, value):
                self._steps.take(_A_WAY)
                total += self.count(inner, held)
            self._counted[pair] = min(total, _MANY)
        return self._counted[pair]

    def _same(self, schema: Mapping[str, Any], value: Json) -> Iterator[Any]:
        """Yield the schemas that apply to the same value."""
        if id(schema) in self._back and any(word in schema for word in REFERENCES):
            self.later.extend((inner, value) for inner in self._targets.of(schema))
            schema = {word: schema[word] for word in schema if word not in REFERENCES}
        yield from _in_place(self._targets, schema)
        if isinstance(value, Mapping):
            yield from _map(schema, "dependentSchemas").values()


def _in_place(targets: Targets, schema: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the schemas that apply to the same value, the targets of references first."""
    yield from targets.of(schema)
    for word in BRANCHES:
        yield from _list(schema, word)
    yield from (schema[word] for word in CONDITIONS if word in schema)


def _held(schema: Mapping[str, Any], value: Json) -> Iterator[tuple[Any, Json]]:
    if isinstance(value, Mapping):
        yield from _of_keys(schema, value)
    elif isinstance(value, list):
        first = _list(schema, "prefixItems")
        yield from zip(first, value, strict=False)
        yield from (
            (schema[word], held) for word in _OF_ITEMS if word in schema for held in value[len(first) :]
        )
        yield from ((schema["contains"], item) for item in value if "contains" in schema)


def _of_keys(schema: Mapping[str, Any], value: Mapping[str, Json]) -> Iterator[tuple[Any, Json]]:
    properties = _map(schema, "properties")
    patterns = _map(schema, "patternProperties")
    rest = [schema[word] for word in _OF_MEMBERS if word in schema]
    if not (patterns or rest or "propertyNames" in schema):
        yield from ((properties[key], value[key]) for key in properties.keys() & value)
        return
    for key, held in value.items():
        if key in properties:
            yield properties[key], held
        yield from ((inner, held) for inner in patterns.values())
        if key not in properties:
            yield from ((inner, held) for inner in rest)
        if "propertyNames" in schema:
            yield schema["propertyNames"], key


def _below(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the schemas that apply to keys, members and items."""
    for word in _NAMED:
        yield from _map(schema, word).values()
    words = (*_OF_MEMBERS, *_OF_ITEMS, "contains", "propertyNames")
    yield from (schema[word] for word in words if word in schema)
    yield from _list(schema, "prefixItems")


def _parallel(schema: Mapping[str, Any]) -> int:
    """Return how many schemas below a schema may look at the same member, key or item."""
    more = len(_map(schema, "patternProperties")) + len(_map(schema, "dependentSchemas"))
    return 1 + more + sum(word in schema for word in (*_UNEVALUATED, "contains", "propertyNames"))


def _has_unevaluated(schema: Mapping[str, Any]) -> bool:
    return any(word in schema for word in _UNEVALUATED)


def _is_scalar(schema: Any) -> bool:
    return not isinstance(schema, Mapping) or schema.get("type") in _SCALARS


def _at_most(schema: Any) -> int:
    """Return the steps of one look at any value by the keywords of a schema alone."""
    return _of_options(schema) + _a_look(schema, None) if isinstance(schema, Mapping) else 1


def _a_look(schema: Mapping[str, Any], value: Json) -> int:
    """Return the steps of one look at a value by the keywords of a schema alone, but for its options."""
    steps = 1
    if _STEP.keyword in schema and isinstance(value, int | float | None):
        steps += _of_division(schema[_STEP.keyword])
    if schema.get(_UNIQUE.keyword) and (value is None or isinstance(value, list)):
        steps += 10 * len(value or "0")
    return steps


def _of_division(divisor: float) -> int:
    if isinstance(divisor, int):
        return 0
    return _FRACTION // 20 if _EXACT > divisor > 1 / _EXACT else _FRACTION


def _of_options(schema: Mapping[str, Any]) -> int:
    """Return the steps of comparing a value with the names and options that a schema lists."""
    steps = len(_list(schema, "required")) // 2 + len(_map(schema, "properties")) // 40
    options = _list(schema, "enum")
    kinds = set(map(type, options))
    an_option = 60 if float in kinds else 10 if kinds & _HOLDERS else 5 if len(kinds) > 1 else 0
    return steps + len(_map(schema, "dependentRequired")) + len(options) * an_option


def _of_number(value: Json) -> int:
    """Return the steps of reading an integer, which grow with the square of its digits, or a large number."""
    match value:
        case int():
            return value.bit_length() ** 2 >> _DIGITS
        case float() if abs(value) > _EXACT:
            return _FRACTION
        case _:
            return 0


def _errors(schema: Mapping[str, Any], value: Json) -> int:
    """Return how many errors the keywords of a schema alone may have for a value."""
    if not isinstance(value, Mapping):
        return 1
    absent = sum(name not in value for name in _list(schema, "required"))
    return 1 + absent + (len(value) if "propertyNames" in schema else 0)


def size_of(document: Json) -> int:
    """Return about how many bytes of JSON a document has."""
    return _size(document, {})


def _size(value: Json, sizes: dict[int, int]) -> int:
    """Return about how many bytes of JSON a value has, those of each part counted once only."""
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


def _map(schema: Mapping[str, Any], word: str) -> Mapping[str, Any]:
    """Return the value of a keyword that holds a map; an empty one where it means nothing in its draft."""
    value = schema.get(word)
    return value if isinstance(value, Mapping) else {}


def _list(schema: Mapping[str, Any], word: str) -> list[Any]:
    value = schema.get(word)
    return value if isinstance(value, list) else []
