"""Issues of a document: pydantic's errors in a form that a model can repair."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import field, replace
from typing import Any, Final

from pydantic_core import ErrorDetails, to_json

from toolgen.contract.json_pointer import pointer_of, referred
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record, record
from toolgen.contract.secrets import HIDDEN

from .constraints import FLAGS, LIMITS, OF_BYTES, Constraint, IssueCode
from .numbers import EXACT_FLOATS

Keys = tuple[int | str, ...]


class TooComplexError(Exception):
    """The steps of a document are used up; whether it fits is unknown."""


class _WithJson:
    """A base class with a slot for the JSON of one or several issues, which is not a dataclass field."""

    __slots__ = ("_json",)

    _json: bytes


@frozen_record
class FieldIssue(_WithJson):
    """A rule that a value of a document breaks. A value that breaks several rules has several issues."""

    keys: Keys
    """Keys and array indexes that lead to the value."""
    constraint: IssueCode
    """Code of the rule."""
    message: str
    """Text for the model, such as "must be at most 500". It never contains the value."""
    expected: str | None = None
    """Expected JSON type, format or pattern."""
    actual: str | None = None
    """Actual JSON type."""
    allowed: tuple[Json, ...] | None = None
    """Allowed values, tags or keys; at most 20 values for a missing one."""
    limit: int | float | str | None = None
    """Limit that was exceeded: a value, a length or a step."""

    @property
    def path(self) -> str:
        """JSONPath of the value, such as `$.devices[0].id` (RFC 9535)."""
        return "$" + "".join([_step(key) for key in self.keys])

    @property
    def pointer(self) -> str:
        """JSON Pointer of the value, such as `/devices/0/id` (RFC 6901)."""
        return pointer_of(self.keys)

    def __str__(self) -> str:
        return f"{self.path} {self.message}"

    def as_json(self) -> dict[str, Json]:
        """Return the issue as the model sees it, without the fields that do not apply."""
        facts: dict[str, Json] = {"path": self.path, "constraint": self.constraint, "message": self.message}
        if self.expected is not None:
            facts["expected"] = self.expected
        if self.actual is not None:
            facts["actual"] = self.actual
        if self.allowed is not None:
            facts["allowed"] = list(self.allowed)
        if self.limit is not None:
            facts["limit"] = self.limit
        return facts

    def shortened(self) -> FieldIssue:
        """Internal: return the issue with long keys and messages shortened."""
        keys = tuple([short(key, LONGEST_KEY) if isinstance(key, str) else key for key in self.keys])
        message = short(self.message, _LONGEST_MESSAGE)
        if keys == self.keys and message == self.message:
            return self
        return replace(self, keys=keys, message=message)

    def without_other_keys(self, allowed: Set[str]) -> FieldIssue:
        """Internal: return the issue with all other keys redacted."""
        keys = tuple([key if isinstance(key, int) or key in allowed else HIDDEN for key in self.keys])
        return self if keys == self.keys else replace(self, keys=keys)

    def as_bytes(self) -> bytes:
        """Internal: return `as_json` as JSON text, which is created once because models repeat their
        mistakes."""
        try:
            return self._json
        except AttributeError:
            object.__setattr__(self, "_json", to_json(self.as_json()))
            return self._json


@record
class Findings(_WithJson):
    """The issues of a document, as far as it was read."""

    issues: tuple[FieldIssue, ...]
    """The issues, in the order of the document."""
    more: int = 0
    """Number of issues that were not read."""
    is_counted: bool = True
    """Whether `more` is the exact number; otherwise it is a lower bound."""
    refusal: Any = field(default=False, init=False, repr=False, compare=False)
    """Failure of a call that is rejected for these issues (`calls.steps.failures`), if a codec caches them.

    None before the first call, False if no codec caches them.
    """

    def shortened(self) -> Findings:
        """Return the findings with each issue shortened; the same object if all are short."""
        issues = tuple([issue.shortened() for issue in self.issues])
        return self if issues == self.issues else replace(self, issues=issues)

    def as_bytes(self) -> bytes:
        """Return the issues, and the number of further ones, as members of a JSON object, created once."""
        try:
            return self._json
        except AttributeError:
            self._json = self.first_as_bytes([issue.as_bytes() for issue in self.issues])
            return self._json

    def first_as_bytes(self, issues: Sequence[bytes]) -> bytes:
        """Return the same members with the JSON of only the first issues."""
        left = len(self.issues) - len(issues) + self.more
        name = b"more_issues" if self.is_counted else b"more_issues_at_least"
        more = b',"%b":%d' % (name, left) if left else b""
        return b'"issues":[%b]%b' % (b",".join(issues), more)


TOO_COMPLEX: Final = FieldIssue(
    keys=(),
    constraint="invalid_value",
    message="is too complex to check: its patterns and alternatives take too many steps; send less of it in "
    "one call, or shorter texts",
)
"""Issue of a document that could not be validated within the step budget."""


def short(text: str, longest: int) -> str:
    """Return the text with at most `longest` characters; a shortened text ends with an ellipsis."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


MOST_WARNINGS: Final = 20
"""Maximum number of listed issues for a response that does not match its type."""
LONGEST_KEY: Final = 200
"""Maximum length of a key in an issue, in characters."""
_LONGEST_MESSAGE: Final = 1_000
_STEPS: Final = re.compile(r'\.([^.\[]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]', re.DOTALL)
"""The steps of a path: an identifier, an index, or another key as a JSON string."""
MOST_ERRORS: Final = 20_000
"""Maximum number of pydantic errors that are read; pydantic returns all or none, and 20,000 take 13 MB."""
COUNTLESS: Final = Findings(
    issues=(
        FieldIssue(
            keys=(),
            constraint="invalid_value",
            message="does not match its schema in too many places to list",
        ),
    )
)
"""Findings of a document that has more errors."""

_JSON_TYPES: Final[dict[type, str]] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
}
TYPES: Final = {
    "string_type": "string",
    "int_type": "integer",
    "int_from_float": "integer",
    "float_type": "number",
    "bool_type": "boolean",
    "list_type": "array",
    "dict_type": "object",
    "model_type": "object",
    "model_attributes_type": "object",
    "none_required": "null",
    "json_type": "JSON value",
}
BOUNDS: Final = {row.error: row for row in reversed((*LIMITS, *OF_BYTES)) if row.error}
"""The limits by pydantic's error types; the error shared by arrays and maps has the row of the array."""
_DATE: Final = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
"""Beginning of a date limit, which no other limit has."""
_FLAGS: Final = {row.error: row for row in FLAGS}
_OF_DATES: Final = {row.error: row for row in LIMITS if "date" in row.holders}
_OF_MAPS: Final = {row.error: row for row in LIMITS if "map" in row.holders}
_TIMES: Final = {
    "date_parsing": "date",
    "date_from_datetime_parsing": "date",
    "datetime_parsing": "date-time",
    "datetime_from_date_parsing": "date-time",
    "time_delta_parsing": "duration",
}
"""pydantic's errors for a text in the right form that is not a value, with the expected format."""
_WITH_ARTICLE: Final = {
    "null": "null",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "array": "an array",
    "object": "an object",
    "JSON value": "a JSON value",
}
_MOST_SHOWN: Final = 20
"""Maximum number of allowed values in the issue of an absent value; the schema has all of them."""
LEFT_OUT: Final = "is required and was left out"
UNKNOWN: Final = "is not a field here"


def type_issue(keys: Keys, expected: tuple[str, ...], actual: str) -> FieldIssue:
    """Return the issue of a value that has none of the expected JSON types."""
    message = (
        f"must be {' or '.join([_WITH_ARTICLE[name] for name in expected])}, not {_WITH_ARTICLE[actual]}"
    )
    wanted = " or ".join(expected)
    return FieldIssue(keys=keys, constraint="invalid_type", message=message, expected=wanted, actual=actual)


def bound_issue(keys: Keys, bound: Constraint, limit: int | float | str, *, of_object: bool) -> FieldIssue:
    """Return the issue of a value, or of a size, that is outside a bound of `BOUNDS`."""
    if of_object:
        bound = _OF_MAPS.get(bound.error, bound)
    elif isinstance(limit, str) and _DATE.match(limit):
        bound = _OF_DATES.get(bound.error, bound)
    limit = _plain_number(limit)
    return FieldIssue(keys=keys, constraint=bound.code, message=bound.message_of(limit), limit=limit)


def _plain_number(value: int | float | str) -> int | float | str:
    """Return a bound in its usual notation: 5, not 5.0."""
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT_FLOATS:
        return int(value)
    return value


def not_among(keys: Keys, allowed: tuple[Json, ...], meanings: Sequence[str] = ()) -> FieldIssue:
    """Return the issue of a value that is not among the allowed values, which can have meanings."""
    message = f"must be one of {_listed(allowed, meanings)}"
    return FieldIssue(keys=keys, constraint="invalid_enum_value", message=message, allowed=allowed)


def invalid_value_issue(keys: Keys, message: str) -> FieldIssue:
    """Return the issue of a value that breaks a rule without a code of its own."""
    return FieldIssue(keys=keys, constraint="invalid_value", message=message)


def missing(keys: Keys, root: Any, node: Mapping[str, Any] | None = None) -> FieldIssue:
    """Return the issue of an absent value: with its JSON type, and its allowed values if they are few.

    `node` is its schema inside `root`; without it, the schema is looked up by properties and items.
    """
    node = _referred(_node_at(root, keys) if node is None else node, root)
    branches = [branch for branch in node.get("anyOf", ()) if branch != {"type": "null"}]
    node = _referred(branches[0], root) if len(branches) == 1 else node
    choices = [choice["const"] for choice in node.get("oneOf", ()) if "const" in _referred(choice, {})]
    choices = choices if len(choices) == len(node.get("oneOf", ())) else []
    values = choices or node.get("enum") or ([node["const"]] if "const" in node else [])
    kinds = node.get("type", ())
    expected = [kind for kind in ([kinds] if isinstance(kinds, str) else kinds) if kind != "null"]
    return FieldIssue(
        keys=keys,
        constraint="missing_field",
        message=LEFT_OUT,
        expected=" or ".join(expected) or None,
        allowed=tuple(values) if 0 < len(values) <= _MOST_SHOWN else None,
    )


def _node_at(root: Any, keys: Keys) -> Mapping[str, Any]:
    """Return the schema at a location; an empty one if it is in a union or below another keyword."""
    node = root
    for key in keys:
        schema = _referred(node, root)
        node = schema.get("items", {}) if isinstance(key, int) else schema.get("properties", {}).get(key, {})
    return node if isinstance(node, Mapping) else {}


def _referred(node: Any, root: Any) -> Mapping[str, Any]:
    """Return the target of a schema's reference, or the schema itself; an empty one for a boolean."""
    if not isinstance(node, Mapping):
        return {}
    target = referred(root, node.get("$ref"))
    return target if isinstance(target, Mapping) else node


def unknown(keys: Keys, allowed: tuple[Json, ...] | None) -> FieldIssue:
    return FieldIssue(keys=keys, constraint="unknown_field", message=UNKNOWN, allowed=allowed)


def mismatch(keys: Keys, pattern: str) -> FieldIssue:
    message = f"must match {pattern}"
    return FieldIssue(keys=keys, constraint="invalid_pattern", message=message, expected=pattern)


def other_issue(keys: Keys, error: ErrorDetails) -> FieldIssue:
    """Return the issue of an error that is not in the tables."""
    match error["type"]:
        case "json_invalid":
            fault = context_of(error)["error"].replace("expected ident", "expected true, false or null")
            message = f"is not JSON: {fault}"
            return FieldIssue(keys=keys, constraint="invalid_json", message=message)
        case "string_unicode":
            return FieldIssue(keys=keys, constraint="invalid_json", message="is not JSON: not Unicode text")
        case str(kind) if (flag := _FLAGS.get(kind)) is not None:
            return FieldIssue(keys=keys, constraint=flag.code, message=flag.message)
        case "finite_number" | "int_parsing_size":
            return FieldIssue(keys=keys, constraint="invalid_range", message="must be a finite number")
        case str(kind) if (form := _TIMES.get(kind)) and (fault := context_of(error).get("error")):
            message = f"must be a valid {form}: {fault}"
            return FieldIssue(keys=keys, constraint="invalid_format", message=message)
        case _:
            message = error["msg"][:1].lower() + error["msg"][1:]
            return FieldIssue(keys=keys, constraint="invalid_format", message=message)


def context_of(error: ErrorDetails) -> Mapping[str, Any]:
    return error.get("ctx", {})


def json_type(value: object) -> str:
    """Return the JSON type of a decoded value (JSON Schema 2020-12 Core 4.2.1)."""
    return _JSON_TYPES.get(type(value), "object")


def _step(key: int | str) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if key.isidentifier() else f"[{json.dumps(key, ensure_ascii=False)}]"


def keys_of_path(path: str) -> Keys:
    """Return the keys and array indexes of `FieldIssue.path`."""
    steps = _STEPS.finditer(path, 1)
    return tuple([step[1] or (int(step[2]) if step[2] else json.loads(step[3])) for step in steps])


def _listed(values: tuple[Json, ...], meanings: Sequence[str]) -> str:
    texts = [f'"{value}"' if isinstance(value, str) else json.dumps(value) for value in values]
    if not any(meanings):
        return ", ".join(texts)
    pairs = zip(texts, meanings, strict=True)
    return ", ".join([f"{text} ({meaning})" if meaning else text for text, meaning in pairs])
