"""Patterns of a schema whose matches take steps of the budget of the document.

What a match may take is known before where the engine does not backtrack, by `pattern_steps`. Where it may,
the engine is started with few steps, and again with four times as many while it says that they were too few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from jsonschema_rs import Draft202012Validator, FancyRegexOptions
from jsonschema_rs import ValidationErrorKind as Kind

from toolgen.contract.json_value import Json

from ..issues import TooComplexError
from ..pattern_steps import A_MATCH, A_STEP, may_backtrack, parts_a_character
from ..steps import MOST_STEPS, Steps, take_steps
from .schema import MAPS, VALUES
from .targets import Targets

_LEAST: Final = 100
"""Steps back of the first attempt at a match."""
OF_KEYS: Final = FancyRegexOptions(backtrack_limit=6_400)
"""Steps back of one match of a key: with more of them, its document is too complex."""
_A_STEP_BACK: Final = 25
"""Characters that the engine may read in one step, for each step back."""
_PARTS: Final = MOST_STEPS * A_STEP // 4
"""Parts of steps up to which matches are not counted one by one."""
_MANY: Final = 10**9


class Match:
    """Matches strings with one pattern, in counted steps."""

    def __init__(self, pattern: str, most: int = MOST_STEPS) -> None:
        self._pattern = pattern
        self._most = most
        """Steps back of one match at most."""
        self._parts = parts_a_character(pattern)
        self._backtracks = may_backtrack(pattern)
        self._engines: dict[int, Any] = {}

    def fits(self, text: str) -> bool:
        """Return whether a string matches.

        Raises:
            TooComplexError: the steps of the document do not suffice to find out.
        """
        take_steps(A_MATCH)
        if not self._backtracks:
            take_steps(len(text) * self._parts // A_STEP)
            return bool(self._engine(MOST_STEPS).is_valid(text))
        limit = _LEAST
        while limit <= self._most:
            take_steps(limit * (1 + len(text) // _A_STEP_BACK))
            error = next(iter(self._engine(limit).iter_errors(text)), None)
            if error is None or not isinstance(error.kind, Kind.BacktrackLimitExceeded):
                return error is None
            limit *= 4
        raise TooComplexError

    def _engine(self, limit: int) -> Any:
        if limit not in self._engines:
            options = FancyRegexOptions(backtrack_limit=limit)
            self._engines[limit] = Draft202012Validator({"pattern": self._pattern}, pattern_options=options)
        return self._engines[limit]


class PatternUse:
    """Which patterns a schema has, and what they take for a document."""

    def __init__(self, schema: Any) -> None:
        self._targets = Targets(schema)
        patterns = list(_patterns(schema))
        self._keys = [Match(text, 6_400) for text, of_key in patterns if of_key and may_backtrack(text)]
        """The patterns of keys that may backtrack; jsonschema-rs matches keys itself."""
        self._backtracks = any(may_backtrack(text) for text, of_key in patterns if not of_key)
        self.parts = self._weight(schema, {}) if patterns else 0
        """Parts of steps for one character of a document at most, or `A_MATCH` steps for a string."""

    @property
    def keywords(self) -> dict[str, Any]:
        """The keyword `pattern` that counts, for a validator of this schema."""
        match_of = cache(Match)

        class Counted:
            def __init__(self, schema: Any, pattern: str, path: Any) -> None:
                self._match = match_of(pattern)

            def validate(self, instance: Json) -> None:
                if isinstance(instance, str) and not self._match.fits(instance):
                    raise ValueError("does not match")

        return {"pattern": Counted}

    def are_counted(self, document: Json, size: int, steps: Steps) -> bool:
        """Take the steps of a document for all its patterns, or return that each match has to take its own.

        Raises:
            TooComplexError: the keys of the document take more than are left.
        """
        if not self.parts:
            return False
        for match in self._keys:
            left = steps.left
            for key in _keys(document):
                match.fits(key)
            steps.take((left - steps.left) * min(self.parts, _MANY))
        if not self._backtracks and size * self.parts <= _PARTS:
            steps.take(size * self.parts // A_STEP)
            return False
        return True

    def _weight(self, schema: Any, counted: dict[int, int]) -> int:
        """Return the parts of steps for one character of a string, each reference back followed once."""
        if not isinstance(schema, Mapping):
            return 0
        if id(schema) in counted:
            return counted[id(schema)]
        counted[id(schema)] = 0
        weight = sum(parts_a_character(text) for text, _ in own_patterns(schema))
        parts = (*self._targets.of(schema), *schemas_in(schema))
        weight += sum(self._weight(part, counted) for part in parts)
        counted[id(schema)] = min(weight, _MANY)
        return counted[id(schema)]


def own_patterns(schema: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield the patterns of a schema itself, and whether each is one of keys."""
    if isinstance(pattern := schema.get("pattern"), str):
        yield pattern, False
    if isinstance(keys := schema.get("patternProperties"), Mapping):
        yield from ((key, True) for key in keys)


def schemas_in(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the schemas in a schema, also where no keyword says that they are any."""
    for key, value in schema.items():
        if key in MAPS and isinstance(value, Mapping):
            yield from value.values()
        elif key not in VALUES:
            yield from value if isinstance(value, list) else (value,)


def _patterns(schema: Any) -> Iterator[tuple[str, bool]]:
    if isinstance(schema, Mapping):
        yield from own_patterns(schema)
        for part in schemas_in(schema):
            yield from _patterns(part)


def _keys(document: Json) -> Iterable[str]:
    """Yield the keys of all objects of a document."""
    waiting = [document]
    while waiting:
        match waiting.pop():
            case dict(members):
                yield from members
                waiting += members.values()
            case list(items):
                waiting += items
            case _:
                pass
