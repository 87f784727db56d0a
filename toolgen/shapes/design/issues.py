"""Issues of values of designed types, from pydantic's errors and the schema of their codec."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import ErrorDetails, ValidationError

from toolgen.contract.json_pointer import referred

from ..constraints import Constraint
from ..issues import (
    BOUNDS,
    LEFT_OUT,
    LONGEST_KEY,
    TYPES,
    UNKNOWN,
    FieldIssue,
    Findings,
    Keys,
    bound_issue,
    context_of,
    json_type,
    missing,
    not_among,
    other_issue,
    type_issue,
)
from ..labels import BOUNDARY
from ..lexical import FORMAT_NAMES
from ..numbers import one_error_each

_REPEATED: Final = frozenset((*TYPES, *BOUNDS, "missing", "extra_forbidden", "literal_error"))
"""Error types whose issue depends only on the type, the location and the type of the value."""
_OF_KEYS: Final = frozenset((*BOUNDS, "string_pattern_mismatch"))
"""Error types of a map's key."""
_MOST_KNOWN: Final = 1_000
"""Maximum number of issues that one codec caches."""
_DEEPEST_KNOWN: Final = 20
"""Maximum number of keys in the location of a cached issue."""
_MOST_DOCUMENTS: Final = 100
"""Maximum number of documents whose findings one codec caches."""
_MOST_TOGETHER: Final = 20
"""Maximum number of errors in such a document."""
_LONGEST_KEPT: Final = 32_768
"""Maximum size of its issues as JSON, in bytes; each one lists the values of an enum, which can be long."""

_Mistakes = tuple[int, tuple[tuple[str, Keys, type], ...]]
"""Number of requested issues, and the pydantic errors of a document whose issues are all repeated."""


class IssueReader:
    """Converts pydantic's errors of one codec into issues; reads the schema only if necessary."""

    def __init__(self, schema: Mapping[str, object], *, most_known: int = _MOST_KNOWN) -> None:
        """Construct a reader of a codec's schema, which caches at most `most_known` issues."""
        self.schema = schema
        self._most_known = most_known
        text = json.dumps(schema)
        self._issues_by_error: dict[tuple[str, Keys, type], FieldIssue] = {}
        self._findings_by_mistakes: dict[_Mistakes, Findings] = {}
        self._direct = '"oneOf"' not in text and '"propertyNames"' not in text
        self._has_numbers = '"number"' in text

    def issues(self, errors: list[ErrorDetails]) -> tuple[FieldIssue, ...]:
        """Return one issue for each error, in the order of the document."""
        return self.findings(errors, len(errors)).issues

    def findings(self, errors: list[ErrorDetails], most: int) -> Findings:
        """Return the first issues, at most `most`, and the number of further ones."""
        each = one_error_each(errors) if self._has_numbers else errors
        size = len(self._issues_by_error)
        issues = tuple([self._issue(error) for error in each[:most]])
        findings = Findings(issues=issues, more=max(0, len(each) - most))
        has_new = size != len(self._issues_by_error)  # a new issue, or combination, might not recur
        may_recur = not has_new and len(errors) <= _MOST_TOGETHER and all(map(_is_repeated, errors))
        if may_recur and len(findings.as_bytes()) <= _LONGEST_KEPT:
            if len(self._findings_by_mistakes) >= _MOST_DOCUMENTS:
                self._findings_by_mistakes.clear()
            remembered: Any = findings
            remembered.refusal = None
            self._findings_by_mistakes[_mistakes(errors, most)] = findings
        return findings

    def repeated(self, error: ValidationError, most: int) -> Findings | None:
        """Return the cached `findings` of an earlier document with the same errors, or None."""
        if error.error_count() > _MOST_TOGETHER:
            return None
        # Reading the context takes a third of the time, and the cache key does not depend on it.
        errors = error.errors(include_url=False, include_context=False)
        return self._findings_by_mistakes.get(_mistakes(errors, most))

    def keys(self, loc: Keys) -> Keys:
        """Return the keys of the document at a location in pydantic's notation."""
        return loc if self._direct else self._walk(loc)[0]

    def _issue(self, error: ErrorDetails) -> FieldIssue:
        """Return the issue of an error, from the cache if the same error occurred before."""
        key = (error["type"], error["loc"], type(error["input"]))
        issue = self._issues_by_error.get(key)
        if issue is None:
            issue = self._new_issue(error)
            if not _is_repeated(error):
                return issue
            # The number of key names that a model can invent is unlimited.
            if len(self._issues_by_error) >= self._most_known:
                self._issues_by_error.clear()
            self._issues_by_error[key] = issue
        return issue

    def _new_issue(self, error: ErrorDetails) -> FieldIssue:
        kind, loc = error["type"], error["loc"]
        if loc[-1:] == ("[key]",) and loc[-2:-1] == (error["input"],) and kind in _OF_KEYS:
            return self._key_issue(error)  # and not an issue of the value under a key named "[key]"
        keys = self.keys(loc)
        if (expected := TYPES.get(kind)) is not None:
            return type_issue(keys, (expected,), json_type(error["input"]))
        if kind == "missing":
            return missing(keys, self.schema, self._node(loc))
        if (bound := BOUNDS.get(kind)) is not None:
            if self._has_numbers and isinstance(error["input"], int):  # pydantic's own limit is rounded
                limit = _resolve(self._node(loc), self.schema).get(bound.keyword)
                error = error if limit is None else {**error, "ctx": {bound.core: limit}}
            return _bound_issue(keys, bound, error)
        match kind:
            case "extra_forbidden":
                allowed = tuple(_resolve(self._node(loc[:-1]), self.schema).get("properties", ()))
                return FieldIssue(keys=keys, constraint="unknown_field", message=UNKNOWN, allowed=allowed)
            case "literal_error":
                return _enum_issue(keys, _resolve(self._node(loc), self.schema))
            case "union_tag_invalid" | "union_tag_not_found":
                return self._tag_issue(kind, keys, loc)
            case "string_pattern_mismatch":
                return _pattern_issue(keys, context_of(error)["pattern"], self._node(loc))
            case _:
                return other_issue(keys, error)

    def _key_issue(self, error: ErrorDetails) -> FieldIssue:
        """Return the issue of a map's key; its path is the path of the property."""
        keys, _ = self._walk(error["loc"][:-1])
        if (bound := BOUNDS.get(error["type"])) is not None:
            return _bound_issue(keys, bound, error)
        names = _resolve(self._node(error["loc"][:-2]), self.schema).get("propertyNames", {})
        return _pattern_issue(keys, context_of(error)["pattern"], names)

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

    def _walk(self, loc: Keys) -> tuple[Keys, Mapping[str, object]]:
        """Return the keys of the document and the schema node at a location in pydantic's notation.

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


def has_foreign(errors: list[ErrorDetails]) -> bool:
    """Return whether an error concerns a value of a foreign schema inside a designed type."""
    return any(BOUNDARY in error["loc"] for error in errors)


def _mistakes(errors: list[ErrorDetails], most: int) -> _Mistakes:
    return most, tuple([(error["type"], error["loc"], type(error["input"])) for error in errors])


def _is_repeated(error: ErrorDetails) -> bool:
    """Return whether an error has the same issue in every document, and takes little memory."""
    loc = error["loc"]
    if error["type"] not in _REPEATED or (loc and loc[-1] == "[key]"):
        return False
    for step in loc:
        if isinstance(step, str) and len(step) > LONGEST_KEY:
            return False
    return len(loc) <= _DEEPEST_KNOWN


def _bound_issue(keys: Keys, bound: Constraint, error: ErrorDetails) -> FieldIssue:
    return bound_issue(keys, bound, context_of(error)[bound.core], of_object=isinstance(error["input"], dict))


def _pattern_issue(keys: Keys, pattern: str, node: Mapping[str, Any]) -> FieldIssue:
    if (named := FORMAT_NAMES.get(pattern)) is not None:
        form, example = named
        message = f"must be written as {form}, such as {example}"
        return FieldIssue(keys=keys, constraint="invalid_format", message=message, expected=form)
    written = node.get("pattern", pattern)
    message = f"must match {written}"
    return FieldIssue(keys=keys, constraint="invalid_pattern", message=message, expected=written)


def _resolve(node: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the node behind `$ref` and behind the null branch of a nullable reference."""
    while True:
        if "$ref" in node:
            node = referred(root, node["$ref"])
        elif "anyOf" in node:
            node = node["anyOf"][0]
        else:
            return node


def _tag(branch: Mapping[str, Any]) -> object:
    return next(iter(branch["properties"].values()))["const"]


def _enum_issue(keys: Keys, node: Mapping[str, Any]) -> FieldIssue:
    """Return the issue of a value that is not among the values of an enum."""
    if "oneOf" in node:
        choices = node["oneOf"]
        meanings = [choice.get("title", "") for choice in choices]
        return not_among(keys, tuple([choice["const"] for choice in choices]), meanings)
    values = node["enum"] if "enum" in node else (node.get("const"),)
    return not_among(keys, tuple([value for value in values if value is not None]))
