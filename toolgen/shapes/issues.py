"""What is wrong with a document: pydantic's errors as issues that a model can repair."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from pydantic_core import ErrorDetails, to_json

from toolgen.contract.json_value import Json
from toolgen.contract.record import record

from .lexical import FORM_NAMES
from .numbers import one_error_each

Constraint = Literal[
    "missing_field",
    "unknown_field",
    "invalid_type",
    "invalid_enum_value",
    "invalid_format",
    "invalid_pattern",
    "invalid_range",
    "invalid_length",
    "invalid_value",
    "invalid_json",
]


Keys = tuple[int | str, ...]


class _Told:
    """Room for what an issue is in JSON; no field, so that it is no part of the issue."""

    __slots__ = ("_told",)

    _told: bytes


@record
class FieldIssue(_Told):
    """One thing wrong with one value of a document."""

    keys: Keys
    """Keys and array indexes that lead to the value."""
    constraint: Constraint
    message: str
    """What is wrong, for the model: "must be at most 500". Never holds the value itself."""
    expected: str | None = None
    """JSON type, form or pattern that was wanted."""
    actual: str | None = None
    """JSON type that was found."""
    allowed: tuple[Json, ...] | None = None
    """The values, tags or keys that would do."""
    limit: int | float | None = None
    """The bound that was crossed: a value, a length, or a step."""

    @property
    def path(self) -> str:
        """JSONPath of the value: `$.devices[0].id` (RFC 9535; brackets where a key is no identifier)."""
        return "$" + "".join([_step(key) for key in self.keys])

    @property
    def pointer(self) -> str:
        """JSON Pointer of the value: `/devices/0/id` (RFC 6901)."""
        return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in self.keys)

    def __str__(self) -> str:
        return f"{self.path} {self.message}"

    def as_json(self) -> dict[str, Json]:
        """Return the issue as the model sees it; facts that do not apply are left out."""
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
        """Return the issue with its longest keys and its message cut; itself where all is short."""
        keys = tuple([short(key, LONGEST_KEY) if isinstance(key, str) else key for key in self.keys])
        message = short(self.message, _LONGEST_MESSAGE)
        if keys == self.keys and message == self.message:
            return self
        return replace(self, keys=keys, message=message)

    def as_bytes(self) -> bytes:
        """Return `as_json` as JSON text; made once, for a model repeats its mistakes."""
        try:
            return self._told
        except AttributeError:
            self._told = to_json(self.as_json())
            return self._told


@record
class Findings:
    """What is wrong with a document, as far as it was read."""

    issues: tuple[FieldIssue, ...]
    """In the order of the document."""
    more: int = 0
    """Issues that were not read."""
    is_counted: bool = True
    """Whether there are just so many more; else there are at least so many."""

    def shortened(self) -> Findings:
        """Return the same with each issue short."""
        return replace(self, issues=tuple([issue.shortened() for issue in self.issues]))


def short(text: str, longest: int) -> str:
    """Return a text of at most so many characters; one that was cut ends with an ellipsis."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


LONGEST_KEY: Final = 200
"""Characters of one key, as an issue names it."""
_LONGEST_MESSAGE: Final = 1_000
MOST_ERRORS: Final = 20_000
"""Errors of pydantic's that are read; it gives all of them or none, and 20,000 take 13 MB."""
COUNTLESS: Final = Findings(
    issues=(
        FieldIssue(
            keys=(), constraint="invalid_value", message="does not fit its schema, in too many places to name"
        ),
    )
)
"""What is found in a document that has more of them."""

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
Bound = tuple[str, Constraint, str]
BOUNDS: Final[dict[str, Bound]] = {
    "greater_than_equal": ("ge", "invalid_range", "must be at least {}"),
    "greater_than": ("gt", "invalid_range", "must be above {}"),
    "less_than_equal": ("le", "invalid_range", "must be at most {}"),
    "less_than": ("lt", "invalid_range", "must be below {}"),
    "multiple_of": ("multiple_of", "invalid_range", "must be a multiple of {}"),
    "string_too_short": ("min_length", "invalid_length", "must have at least {} characters"),
    "string_too_long": ("max_length", "invalid_length", "must have at most {} characters"),
    "too_short": ("min_length", "invalid_length", "must have at least {} items"),
    "too_long": ("max_length", "invalid_length", "must have at most {} items"),
}
_REPEATED: Final = frozenset((*TYPES, *BOUNDS, "missing", "extra_forbidden", "literal_error"))
"""Errors whose issue follows from their type, their place and the type of the value."""
_EXACT_FLOATS: Final = 2**53
_MOST_KNOWN: Final = 1_000
"""Issues that one codec remembers."""
_DEEPEST_KNOWN: Final = 20
"""Keys of the place of such an issue."""
_ONE: Final = {
    "null": "null",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "array": "an array",
    "object": "an object",
    "JSON value": "a JSON value",
}
LEFT_OUT: Final = "is required and was left out"
UNKNOWN: Final = "is not a field here"


class Reader:
    """Turns pydantic's errors of one codec into issues; reads the schema only where it must."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema
        text = json.dumps(schema)
        self._known: dict[tuple[str, Keys, type], FieldIssue] = {}
        self._direct = '"oneOf"' not in text and '"propertyNames"' not in text
        self._has_numbers = '"number"' in text

    def issues(self, errors: list[ErrorDetails]) -> tuple[FieldIssue, ...]:
        """Return one issue an error, in the order of the document."""
        return self.findings(errors, len(errors)).issues

    def findings(self, errors: list[ErrorDetails], most: int) -> Findings:
        """Return the first issues, at most so many of them, and how many more there are."""
        if self._has_numbers:
            errors = one_error_each(errors)
        issues = tuple([self._issue(error) for error in errors[:most]])
        return Findings(issues=issues, more=max(0, len(errors) - most))

    def keys(self, loc: Keys) -> Keys:
        """Return the keys of the document at a location of pydantic's."""
        return loc if self._direct else self._walk(loc)[0]

    def _issue(self, error: ErrorDetails) -> FieldIssue:
        """Return the issue of an error; of one that was there before, the same."""
        kind, loc = error["type"], error["loc"]
        if kind not in _REPEATED or (loc and loc[-1] == "[key]"):
            return self._new_issue(error)
        key = (kind, loc, type(error["input"]))
        found = self._known.get(key)
        if found is None:
            found = self._new_issue(error)
            if not _is_memorable(loc):
                return found
            if len(self._known) >= _MOST_KNOWN:  # names that a model has made up come without end
                self._known.clear()
            self._known[key] = found
        return found

    def _new_issue(self, error: ErrorDetails) -> FieldIssue:
        kind, loc = error["type"], error["loc"]
        if loc and loc[-1] == "[key]" and error["input"] == loc[-2]:
            return self._key_issue(error)
        keys = self.keys(loc)
        if (expected := TYPES.get(kind)) is not None:
            return type_issue(keys, (expected,), json_type(error["input"]))
        if kind == "missing":
            return FieldIssue(keys=keys, constraint="missing_field", message=LEFT_OUT)
        if (bound := BOUNDS.get(kind)) is not None:
            return _bound_issue(keys, bound, error)
        match kind:
            case "extra_forbidden":
                allowed = tuple(_resolve(self._node(loc[:-1]), self.schema).get("properties", ()))
                return FieldIssue(keys=keys, constraint="unknown_field", message=UNKNOWN, allowed=allowed)
            case "literal_error":
                allowed = tuple([value for value in _values(self._node(loc)) if value is not None])
                return not_among(keys, allowed)
            case "union_tag_invalid" | "union_tag_not_found":
                return self._tag_issue(kind, keys, loc)
            case "string_pattern_mismatch":
                return _pattern_issue(keys, _context(error)["pattern"], self._node(loc))
            case _:
                return other_issue(keys, error)

    def _key_issue(self, error: ErrorDetails) -> FieldIssue:
        """Return the issue of a map's key; it stands at the path of the property."""
        keys, _ = self._walk(error["loc"][:-1])
        if (bound := BOUNDS.get(error["type"])) is not None:
            return _bound_issue(keys, bound, error)
        names = _resolve(self._node(error["loc"][:-2]), self.schema).get("propertyNames", {})
        return _pattern_issue(keys, _context(error)["pattern"], names)

    def _tag_issue(self, kind: str, keys: Keys, loc: Keys) -> FieldIssue:
        branches = [
            _resolve(branch, self.schema) for branch in _resolve(self._node(loc), self.schema)["oneOf"]
        ]
        tag = next(iter(branches[0]["properties"]))
        allowed = tuple([branch["properties"][tag]["const"] for branch in branches])
        if kind == "union_tag_not_found":
            return FieldIssue(
                keys=(*keys, tag), constraint="missing_field", message=LEFT_OUT, allowed=allowed
            )
        return not_among((*keys, tag), allowed)

    def _walk(self, loc: Keys) -> tuple[Keys, Mapping[str, Any]]:
        """Return the keys of the document and the schema node at a location of pydantic's.

        pydantic puts the tag of a union among the keys.
        """
        node: Mapping[str, Any] = self.schema
        keys: list[int | str] = []
        for step in loc:
            node = _resolve(node, self.schema)
            if "oneOf" in node:
                branches = (_resolve(branch, self.schema) for branch in node["oneOf"])
                node = next((branch for branch in branches if _tag(branch) == step), {})
                continue
            keys.append(step)
            if isinstance(step, int):
                node = node.get("items", {})
            elif step in (properties := node.get("properties", {})):
                node = properties[step]
            else:
                rest = node.get("additionalProperties")
                node = rest if isinstance(rest, Mapping) else {}
        return tuple(keys), node

    def _node(self, loc: Keys) -> Mapping[str, Any]:
        return self._walk(loc)[1]


def _is_memorable(loc: Keys) -> bool:
    """Return whether a place takes little memory, and may come again."""
    for step in loc:
        if isinstance(step, str) and len(step) > LONGEST_KEY:
            return False
    return len(loc) <= _DEEPEST_KNOWN


def type_issue(keys: Keys, expected: tuple[str, ...], actual: str) -> FieldIssue:
    """Return the issue of a value that is of none of the JSON types."""
    message = f"must be {' or '.join([_ONE[name] for name in expected])}, not {_ONE[actual]}"
    wanted = " or ".join(expected)
    return FieldIssue(keys=keys, constraint="invalid_type", message=message, expected=wanted, actual=actual)


def bound_issue(keys: Keys, bound: Bound, limit: int | float, *, of_object: bool) -> FieldIssue:
    """Return the issue of a value, or of a size, that crosses a bound of `BOUNDS`."""
    _, constraint, template = bound
    limit = _plain_number(limit)
    message = template.format(limit)
    if of_object:
        message = message.replace("items", "properties")
    if limit == 1:
        message = message.removesuffix("s") if not message.endswith("properties") else f"{message[:-3]}y"
    return FieldIssue(keys=keys, constraint=constraint, message=message, limit=limit)


def _plain_number(value: int | float) -> int | float:
    """Return a bound as one would write it: 5, not 5.0."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_FLOATS:
        return int(value)
    return value


def _bound_issue(keys: Keys, bound: Bound, error: ErrorDetails) -> FieldIssue:
    return bound_issue(keys, bound, _context(error)[bound[0]], of_object=isinstance(error["input"], dict))


def not_among(keys: Keys, allowed: tuple[Json, ...]) -> FieldIssue:
    """Return the issue of a value that is none of those allowed."""
    message = f"must be one of {_listed(allowed)}"
    return FieldIssue(keys=keys, constraint="invalid_enum_value", message=message, allowed=allowed)


def _pattern_issue(keys: Keys, pattern: str, node: Mapping[str, Any]) -> FieldIssue:
    if (found := FORM_NAMES.get(pattern)) is not None:
        form, example = found
        message = f"must be written as {form}, such as {example}"
        return FieldIssue(keys=keys, constraint="invalid_format", message=message, expected=form)
    written = node.get("pattern", pattern)
    message = f"must match {written}"
    return FieldIssue(keys=keys, constraint="invalid_pattern", message=message, expected=written)


def other_issue(keys: Keys, error: ErrorDetails) -> FieldIssue:
    """Return the issue of an error that the tables do not name."""
    match error["type"]:
        case "json_invalid":
            message = f"is not JSON: {_context(error)['error']}"
            return FieldIssue(keys=keys, constraint="invalid_json", message=message)
        case "string_unicode":
            return FieldIssue(keys=keys, constraint="invalid_json", message="is not JSON: not Unicode text")
        case "finite_number" | "int_parsing_size":
            return FieldIssue(keys=keys, constraint="invalid_range", message="must be a finite number")
        case _:
            message = error["msg"][:1].lower() + error["msg"][1:]
            return FieldIssue(keys=keys, constraint="invalid_format", message=message)


def _context(error: ErrorDetails) -> Mapping[str, Any]:
    return error.get("ctx", {})


def json_type(value: object) -> str:
    """Return the JSON type of a decoded value (JSON Schema 2020-12 Core 4.2.1)."""
    return _JSON_TYPES.get(type(value), "object")


def _resolve(node: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the node behind `$ref` and behind the null branch of a nullable reference."""
    while True:
        if "$ref" in node:
            node = root["$defs"][node["$ref"].removeprefix("#/$defs/")]
        elif "anyOf" in node:
            node = node["anyOf"][0]
        else:
            return node


def _tag(branch: Mapping[str, Any]) -> object:
    return next(iter(branch["properties"].values()))["const"]


def _values(node: Mapping[str, Any]) -> tuple[Json, ...]:
    return tuple(node["enum"]) if "enum" in node else (node.get("const"),)


def _step(key: int | str) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if key.isidentifier() else f"[{json.dumps(key, ensure_ascii=False)}]"


def _listed(values: tuple[Json, ...]) -> str:
    return ", ".join([f'"{value}"' if isinstance(value, str) else json.dumps(value) for value in values])
