"""Patterns of an unvetted schema, matched within a time limit.

A pattern with look-around or back-references backtracks, and one with many states takes long for each
character. So only patterns that the engine without backtracking compiles into few states are matched, and
only in documents with a limited amount of text. The others are annotations, as `format` is: the schema that
is checked instead accepts everything that the whole schema accepts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from jsonschema_rs import Draft202012Validator, RegexOptions

from toolgen.contract.json_value import Json

from ..keywords import MAPS, VALUES
from .counted_patterns import PatternUse, own_patterns, schemas_in

SMALL: Final = RegexOptions(size_limit=100_000)
"""Rust's regex, which does not backtrack.

The size is in bytes of one compiled pattern, about sixty per state.
"""
_MOST_PATTERNS: Final = 200
_ESCAPES: Final = re.compile(r"\\[dwsDWS]")
"""Escapes that jsonschema-rs expands to classes, in time quadratic in their number."""
_MOST_ESCAPES: Final = 40
"""Maximum number of such escapes in a compiled pattern; they take up to 10 ms."""
_FOLDS: Final = re.compile(r"\(\?[a-zA-Z]*i")
_WIDE: Final = re.compile(r"\\[pPxuU]|[^\x00-\x7f]")
"""Parts of a pattern that can be a large class. If case is ignored, each takes about 5 ms."""
_MOST_FOLDED: Final = 4
_COUNTED: Final = re.compile(r"(\)?)\{([0-9]{1,9})(?:,([0-9]{0,9}))?\}")
_NOT_ASCII: Final = re.compile(r"\\[DWS]|\[\^|\.")
_MOST_WORK_OF_STATES: Final = 60
"""Maximum work for the states of one pattern: the engine stops at the size limit of `SMALL`."""
_WORK_OF_FOLDED: Final = 100
_A_STRING: Final = 16
"""Fixed cost of a string, as the number of characters that match in the same time."""
_REFUSING: Final = frozenset(
    {
        *("not", "oneOf", "if", "then", "else", "contains", "minContains", "maxContains"),
        *("unevaluatedProperties", "unevaluatedItems"),
    }
)
"""Keywords that can reject a document because a part of the schema accepts more."""


class BoundedPatterns:
    """The schemas that replace one whose patterns are matched within a time limit."""

    def __init__(self, schema: Any) -> None:
        patterns = set(_patterns(schema))
        are_few = len(patterns) <= _MOST_PATTERNS
        slow = {pattern for pattern in patterns if not (are_few and is_quick(pattern))}
        self.checked = _relaxed(schema, slow) if slow else schema
        """Schema for documents whose patterns are matched."""
        self.without = _relaxed(schema, patterns) if patterns else schema
        """Schema for all other documents."""
        self._use = PatternUse(self.checked, is_linear=True) if patterns else None

    def are_matched_in(self, document: Json) -> bool:
        """Return whether patterns are matched in a document."""
        return self._use is None or not _has_more_text(document, self._use.most_text)


def _patterns(schema: Json) -> Iterator[str]:
    """Yield the patterns of values and of keys."""
    if isinstance(schema, Mapping):
        yield from (pattern for pattern, _ in own_patterns(schema))
        for part in schemas_in(schema):
            yield from _patterns(part)


def is_quick(pattern: str) -> bool:
    """Return whether a pattern is compiled into few states, and matched without backtracking."""
    if _is_refused(pattern):
        return False
    try:
        Draft202012Validator({"pattern": pattern}, pattern_options=SMALL)
    except ValueError:
        return False
    return True


def _is_refused(pattern: str) -> bool:
    """Return whether a pattern would take long to compile, so that it is not compiled."""
    if len(_ESCAPES.findall(pattern)) > _MOST_ESCAPES:
        return True
    return _FOLDS.search(pattern) is not None and len(_WIDE.findall(pattern)) > _MOST_FOLDED


def work_to_compile(pattern: str) -> int:
    """Return the work to find out if a pattern is quick and then to compile it, in units of 50 µs.

    It is estimated from the text: its length, the maximum number of repetitions of its atoms, and its
    classes.
    """
    size = len(pattern.encode(errors="replace"))
    if _is_refused(pattern):
        return 4 + size // 10
    states, times = len(pattern), 1
    for repeated in _COUNTED.finditer(pattern):
        most = max(int(repeated[2]), int(repeated[3] or 0), 1)
        if repeated[1]:
            times *= most
        else:
            states += most
    wide = len(_WIDE.findall(pattern))
    a_unit = 1 if wide else 6 if _NOT_ASCII.search(pattern) else 60
    of_states = min(states * times // a_unit, _MOST_WORK_OF_STATES)
    of_classes = wide * _WORK_OF_FOLDED if _FOLDS.search(pattern) else 8 * min(wide, 8)
    return 4 + size // 10 + of_states + of_classes + len(_ESCAPES.findall(pattern)) ** 2 // 8


def _relaxed(schema: Json, dropped: Collection[str], *, is_map: bool = False) -> Any:
    """Return a schema without these patterns that accepts everything that the schema accepts, and more."""
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
    """Return whether the keys and strings of a document have more than `most` characters."""
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
