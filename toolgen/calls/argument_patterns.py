"""Argument patterns: which calls of a tool a rule or a grant covers.

A call that is not clearly covered does not match. No pattern is a regular expression, and none reads the file
system: a symbolic link below a path prefix is not resolved.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_pointer import ABSENT, resolved, tokens_of
from toolgen.contract.json_value import Json, compact, identity, is_json
from toolgen.contract.printable import hides, visible
from toolgen.contract.record import frozen_record

_Kind: TypeAlias = Literal["equal", "one_of", "path_prefix"]
_KINDS: Final = ", ".join(map(json.dumps, get_args(_Kind)))
_POINTER: Final = re.compile(r"(?:/(?:[^~/]|~[01])*)*")
_WORD: Final = r"[\w\-+@=,()]+"
_PATH: Final = re.compile(rf"/?(?:\.?{_WORD}(?:[. ]{_WORD})*/)*\.?{_WORD}(?:[. ]{_WORD})*")
"""A path in its normal form.

No segment is empty, contains two dots in a row or ends with a dot or a space, and no character is decoded,
expanded or treated as a separator by any reader.
"""
_NO_PATTERN: Final = (
    'write an object with a condition for at least one place, such as {"/path": {"path_prefix": "/srv/data"}}'
)
_NO_PREFIX: Final = (
    '"path_prefix" takes a normalized path such as "/srv/data": no empty segment, no trailing slash, '
    'no "..", and only letters, digits, spaces and "_-+@=,()."'
)


class PatternError(ToolgenError):
    """An argument pattern or a rule is malformed."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = tuple(problems)
        """Problems, each with its JSON Pointer and a fix."""


@frozen_record
class _Condition:
    place: str
    kind: _Kind
    texts: tuple[str, ...]
    """Values as JSON text, so that they are immutable."""

    def holds(self, arguments: Mapping[str, Json], in_doubt: bool) -> bool:
        actual = resolved(arguments, self.place)
        values = [json.loads(text) for text in self.texts]
        if self.kind == "path_prefix":
            return _is_below(actual, values[0], in_doubt)
        return identity(actual) in map(identity, values)

    def describe(self) -> str:
        values = [visible(text) for text in self.texts]
        match tokens_of(self.place):
            case []:
                place = "the entire arguments object"
            case [token] if token.isascii() and token.isidentifier():
                place = token
            case _:
                place = visible(compact(self.place))
        match self.kind:
            case "equal":
                return f"{place} is {values[0]}"
            case "one_of":
                return f"{place} is one of {', '.join(values)}"
            case "path_prefix":
                return f"{place} is {values[0]} or a path below it"

    def to_json(self) -> dict[str, Json]:
        values: list[Json] = [json.loads(text) for text in self.texts]
        return {self.kind: values if self.kind == "one_of" else values[0]}


@frozen_record
class ArgumentPattern:
    """Conditions on the arguments of a call. All must hold; other arguments can have any value.

    `from_json` makes it. Each place is a JSON Pointer (RFC 6901) into the decoded canonical arguments, and
    each condition is `{"equal": value}`, `{"one_of": [value, …]}` or `{"path_prefix": "/srv/data"}`. A place
    that a call does not have fulfills no condition.
    """

    _conditions: tuple[_Condition, ...]
    """The conditions, at least one, sorted by place."""

    @classmethod
    def from_json(cls, document: object, at: str = "") -> ArgumentPattern:
        """Return the pattern that a JSON object describes; `at` is its location for messages.

        Raises:
            PatternError: it is not a pattern.
        """
        where = f"{at}: " if at else ""
        if not isinstance(document, Mapping) or not document:
            raise PatternError([f"{where}{_NO_PATTERN}"])
        problems: list[str] = []
        conditions: list[_Condition] = []
        for place, condition in document.items():
            condition_problems = list(_problems(place, condition))
            problems += [
                f"{where}{visible(compact(str(place)))}: {problem}" for problem in condition_problems
            ]
            if not condition_problems:
                [(kind, value)] = condition.items()
                values = value if kind == "one_of" else [value]
                conditions.append(_Condition(place=place, kind=kind, texts=tuple(map(compact, values))))
        if problems:
            raise PatternError(problems)
        return cls(_conditions=tuple(sorted(conditions, key=lambda condition: condition.place)))

    def to_json(self) -> dict[str, Json]:
        """Return the JSON object from which `from_json` creates the same pattern."""
        return {condition.place: condition.to_json() for condition in self._conditions}

    @property
    def places(self) -> tuple[str, ...]:
        """The JSON Pointers of the compared arguments."""
        return tuple(condition.place for condition in self._conditions)

    def matches(self, arguments: Mapping[str, Json], *, in_doubt: bool = False) -> bool:
        """Return whether a call with these decoded canonical arguments is covered.

        Values are equal as in JSON Schema: 1 and 1.0 are equal, 1 and true are not. A path prefix covers a
        normalized path that begins with the same segments, character by character. If the path leads below
        the prefix only on some systems, the result is `in_doubt`: pass true for a pattern that restricts.
        """
        try:
            return all(condition.holds(arguments, in_doubt) for condition in self._conditions)
        except RecursionError:  # the arguments are nested deeper than any pattern
            return in_doubt

    def describe(self) -> str:
        """Return a sentence for people, without its full stop; it is unique to the pattern."""
        return ", and ".join(condition.describe() for condition in self._conditions)


def unknown_argument(pattern: ArgumentPattern, schema: Mapping[str, Any], tool: str) -> str:
    """Return a sentence about a place of the pattern that the tool's arguments cannot have; "" if none.

    `schema` is the JSON Schema of the arguments, and `tool` the ID of the tool.
    """
    if schema.get("additionalProperties") is not False:
        return ""
    names = schema.get("properties", {})
    for place in pattern.places:
        if place and tokens_of(place)[0] not in names:
            known = ", ".join(map(repr, names)) or "none"
            return (
                f"the pattern compares {place!r}, which is not an argument of {tool}; its arguments: {known}"
            )
    return ""


def _is_below(value: object, prefix: str, in_doubt: bool) -> bool:
    if value is None or value is ABSENT:
        return False
    if not isinstance(value, str) or not _is_normal(value.removesuffix("/")):
        return in_doubt
    if in_doubt:
        if value.startswith("/") != prefix.startswith("/"):
            return True
        value, prefix = value.casefold(), prefix.casefold()
    return f"{value}/".startswith(f"{prefix}/")


def _is_normal(path: str) -> bool:
    """Return whether a path is unambiguous: every file system and every decoder sees these segments."""
    return _PATH.fullmatch(path) is not None and unicodedata.is_normalized("NFKC", path) and not hides(path)


def _problems(place: object, condition: object) -> Iterator[str]:
    if not isinstance(place, str) or not _POINTER.fullmatch(place):
        yield 'write the place as a JSON Pointer, such as "/path" or "/filter/owner"'
    if not isinstance(condition, Mapping) or len(condition) != 1:
        yield f"write an object with one condition: {_KINDS}"
        return
    [(kind, value)] = condition.items()
    match kind:
        case "equal":
            if not _is_value(value):
                yield '"equal" takes a JSON value'
        case "one_of":
            if not isinstance(value, list) or not value or not all(map(_is_value, value)):
                yield '"one_of" takes an array of at least one JSON value'
        case "path_prefix":
            if not isinstance(value, str) or not _is_normal(value):
                yield _NO_PREFIX
        case _:
            yield f"{visible(compact(str(kind)))} is not a condition; write one of {_KINDS}"


def _is_value(value: object) -> bool:
    """Return whether an object is a JSON value: of a JSON type, finite, and not too deep."""
    try:
        return is_json(value) and json.loads(compact(value)) == value  # type: ignore[arg-type]  # it is JSON
    except (TypeError, RecursionError):
        return False
