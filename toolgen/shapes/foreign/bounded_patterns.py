"""Patterns of a schema that nobody has vetted, matched within a bound of time.

A pattern with look-around or back-references backtracks, and one of many states takes long for each
character. So only those are matched that the engine without backtracking compiles into few states, and only
in documents with so much text at most. The others are annotations, as `format` is: what is checked instead
accepts all that the whole schema accepts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from jsonschema_rs import Draft202012Validator, RegexOptions

from toolgen.contract.json_value import Json

from .counted_patterns import PatternUse, own_patterns, schemas_in
from .schema import MAPS, VALUES

SMALL: Final = RegexOptions(size_limit=100_000)
"""Rust's regex, which does not backtrack; the bytes are those of one compiled pattern, some sixty a state."""
_MOST_PATTERNS: Final = 200
_A_STRING: Final = 16
"""Characters that match in the time that a string takes beside its own."""
_REFUSING: Final = frozenset(
    {
        *("not", "oneOf", "if", "then", "else", "contains", "minContains", "maxContains"),
        *("unevaluatedProperties", "unevaluatedItems"),
    }
)
"""Keywords that may refuse a document because a part of the schema accepts more."""


class BoundedPatterns:
    """The schemas that stand for one whose patterns are matched within a bound."""

    def __init__(self, schema: Any) -> None:
        patterns = set(_patterns(schema))
        are_few = len(patterns) <= _MOST_PATTERNS
        slow = {pattern for pattern in patterns if not (are_few and is_quick(pattern))}
        self.checked = _relaxed(schema, slow) if slow else schema
        """What is checked of a document where patterns are matched."""
        self.without = _relaxed(schema, patterns) if patterns else schema
        """What is checked of any other."""
        self._most_text = PatternUse(self.checked, is_linear=True).most_text if patterns else None

    def are_matched_in(self, document: Json) -> bool:
        """Return whether patterns are matched in a document."""
        return self._most_text is None or not _has_more_text(document, self._most_text)


def _patterns(schema: Any) -> Iterator[str]:
    """Yield the patterns of values and of keys."""
    if isinstance(schema, Mapping):
        yield from (pattern for pattern, _ in own_patterns(schema))
        for part in schemas_in(schema):
            yield from _patterns(part)


def is_quick(pattern: str) -> bool:
    """Return whether a pattern is compiled into few states, and matched without backtracking."""
    try:
        Draft202012Validator({"pattern": pattern}, pattern_options=SMALL)
    except ValueError:
        return False
    return True


def _relaxed(schema: Any, dropped: Collection[str], *, is_map: bool = False) -> Any:
    """Return a schema without these patterns that accepts all that the schema accepts, and more."""
    if isinstance(schema, list):
        return [_relaxed(part, dropped) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    if is_map:
        return {name: _relaxed(part, dropped) for name, part in schema.items()}
    relaxed = {}
    keys = schema.get("patternProperties")
    has_slow_keys = isinstance(keys, Mapping) and any(key in dropped for key in keys)
    for key, value in schema.items():
        if key in _REFUSING or (key == "pattern" and isinstance(value, str) and value in dropped):
            continue
        if has_slow_keys and key in ("patternProperties", "additionalProperties"):
            continue
        relaxed[key] = value if key in VALUES else _relaxed(value, dropped, is_map=key in MAPS)
    return relaxed


def _has_more_text(document: Json, most: int) -> bool:
    """Return whether the keys and strings of a document have more characters than that."""
    waiting: list[Json] = [document]
    while waiting and most >= 0:
        match waiting.pop():
            case str(text):
                most -= len(text) + _A_STRING
            case dict(members):
                waiting += members.keys()
                waiting += members.values()
            case list(items):
                waiting += items
            case _:
                pass
    return most < 0
