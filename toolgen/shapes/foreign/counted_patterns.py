"""Patterns of a schema whose matches take steps from the budget of the document.

The engine without backtracking matches all patterns that it can compile, and `pattern_steps` knows the cost
in advance. For the other patterns, the backtracking engine starts with few steps, and retries with four times
as many as long as they do not suffice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property, lru_cache
from typing import Any, Final

from jsonschema_rs import Draft202012Validator, FancyRegexOptions, RegexOptions
from jsonschema_rs import ValidationErrorKind as Kind

from toolgen.contract.json_value import Json, objects_in

from ..issues import TooComplexError
from ..keywords import MAPS, VALUES
from ..pattern_steps import A_MATCH, A_STEP, may_backtrack, parts_a_character, take_match
from ..steps import MOST_STEPS, Steps, take_steps
from .targets import Targets

_LEAST: Final = 16
"""Backtracking steps for the first attempt at a match."""
LINEAR: Final = RegexOptions()
"""Rust's regex, which does not backtrack."""
OF_KEYS: Final = FancyRegexOptions(backtrack_limit=6_400)
"""Backtracking steps for one match of a key; if it needs more, the document is too complex."""
_A_STEP_BACK: Final = 25
"""Characters that the engine can read in one step, for each backtracking step."""
_PARTS: Final = MOST_STEPS * A_STEP // 4
"""Parts of steps up to which matches are not counted individually."""
_MANY: Final = 10**9


@lru_cache(1_024)
def linear_engine(pattern: str) -> Any:
    """Return a matcher for a pattern without backtracking; None if that is impossible."""
    try:
        return Draft202012Validator({"pattern": pattern}, pattern_options=LINEAR)
    except ValueError:
        return None


class Match:
    """Matches strings with one pattern, in counted steps."""

    def __init__(self, pattern: str, most: int = MOST_STEPS, *, backtracks: bool = False) -> None:
        """Use the backtracking engine if the linear one cannot compile the pattern, or if `backtracks`."""
        self._pattern = pattern
        self._most = most
        """Maximum number of backtracking steps for one match."""
        self._parts = parts_a_character(pattern)
        self._linear = None if backtracks else linear_engine(pattern)
        self._engines: dict[int, object] = {}

    def fits(self, text: str) -> bool:
        """Return whether a string matches.

        Raises:
            TooComplexError: the steps of the document do not suffice to find out.
        """
        if self._linear is not None:
            take_match(self._pattern, text, self._parts)
            return bool(self._linear.is_valid(text))
        take_steps(A_MATCH)
        limit = _LEAST
        while limit <= self._most:
            take_steps(limit * (1 + len(text) // _A_STEP_BACK))
            error = next(iter(self._engine(limit).iter_errors(text)), None)
            if error is None or not isinstance(error.kind, Kind.BacktrackLimitExceeded):
                return error is None
            limit *= 4
        take_steps(MOST_STEPS + 1)  # leave no steps, so that no validator treats it as a mismatch
        raise TooComplexError

    def _engine(self, limit: int) -> Any:
        if limit not in self._engines:
            options = FancyRegexOptions(backtrack_limit=limit)
            self._engines[limit] = Draft202012Validator({"pattern": self._pattern}, pattern_options=options)
        return self._engines[limit]


class PatternUse:
    """The patterns of a schema, and their cost for a document."""

    def __init__(self, schema: Any, *, is_linear: bool) -> None:
        """Read the patterns of a schema; with `is_linear`, all are matched without backtracking."""
        self._schema = schema
        self._targets = Targets(schema)
        patterns = list(_patterns(schema))
        slow = [] if is_linear else [(text, of_key) for text, of_key in patterns if may_backtrack(text)]
        self._keys = [Match(text, 6_400, backtracks=True) for text, of_key in slow if of_key]
        """The patterns of keys that can backtrack; jsonschema-rs matches keys itself."""
        self._backtracks = any(not of_key for _, of_key in slow)
        self.parts = self._weight(schema, {}, _parts) if patterns else 0
        """Maximum parts of steps for one character of a document, or `A_MATCH` steps for a string."""

    @cached_property
    def _of_keys(self) -> int:
        """Maximum parts of steps for one character in the keys of a document."""
        return self._weight(self._schema, {}, lambda text, of_key: parts_a_character(text) if of_key else 0)

    @property
    def most_text(self) -> int:
        """Maximum number of characters for which all patterns can be matched in the steps of one document."""
        return MOST_STEPS * A_STEP // max(1, self.parts)

    @property
    def keywords(self) -> dict[str, Any]:
        """The implementation of `pattern` that counts steps, for a validator of this schema."""
        match_of = cache(Match)

        class Counted:
            def __init__(self, schema: Json, pattern: str, path: object) -> None:
                self._match = match_of(pattern)

            def validate(self, instance: Json) -> None:
                if isinstance(instance, str) and not self._match.fits(instance):
                    raise ValueError("does not match")

        return {"pattern": Counted}

    def are_counted(self, document: Json, size: int, steps: Steps) -> bool:
        """Take the steps of a document for all its patterns; return whether each match must take its own.

        Raises:
            TooComplexError: the keys of the document take more steps than are left.
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
        if self._of_keys:
            read = sum(len(key.encode(errors="surrogatepass")) for key in _keys(document))
            steps.take(read * self._of_keys // A_STEP)
        return True

    def _weight(self, schema: object, counted: dict[int, int], parts_of: Callable[[str, bool], int]) -> int:
        """Return the parts of steps for one character; each circular reference is followed once."""
        if not isinstance(schema, Mapping):
            return 0
        if id(schema) in counted:
            return counted[id(schema)]
        counted[id(schema)] = 0
        weight = sum(parts_of(text, of_key) for text, of_key in own_patterns(schema))
        parts = (*self._targets.of(schema), *schemas_in(schema))
        weight += sum(self._weight(part, counted, parts_of) for part in parts)
        counted[id(schema)] = min(weight, _MANY)
        return counted[id(schema)]


def _parts(text: str, _: bool) -> int:
    return parts_a_character(text)


def own_patterns(schema: Mapping[str, Json]) -> Iterator[tuple[str, bool]]:
    """Yield the patterns of a schema itself, each with whether it applies to keys."""
    if isinstance(pattern := schema.get("pattern"), str):
        yield pattern, False
    if isinstance(keys := schema.get("patternProperties"), Mapping):
        yield from ((key, True) for key in keys)


def schemas_in(schema: Mapping[str, Json]) -> Iterator[Json]:
    """Yield the schemas in a schema, including objects under unknown keywords."""
    for key, value in schema.items():
        if key in MAPS and isinstance(value, Mapping):
            yield from value.values()
        elif key not in VALUES:
            yield from value if isinstance(value, list) else (value,)


def _patterns(schema: Json) -> Iterator[tuple[str, bool]]:
    if isinstance(schema, Mapping):
        yield from own_patterns(schema)
        for part in schemas_in(schema):
            yield from _patterns(part)


def _keys(document: Json) -> Iterable[str]:
    """Yield the keys of all objects of a document."""
    return (key for part in objects_in(document) for key in part)
