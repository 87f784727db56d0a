"""The rules of a schema that types cannot express, checked by jsonschema-rs.

It is imported only here, and only for codecs whose types accept more than their schema.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Final, TypeAlias

from jsonschema_rs import Draft202012Validator, ValidationError, validator_cls_for
from jsonschema_rs import ValidationErrorKind as Kind
from pydantic_core import from_json

from toolgen.contract.json_value import Json

from ..constraints import FLAGS, LIMITS, IssueCode, limits_of
from ..issues import (
    TOO_COMPLEX,
    FieldIssue,
    Findings,
    Keys,
    TooComplexError,
    bound_issue,
    invalid_value_issue,
    json_type,
    mismatch,
    missing,
    not_among,
    type_issue,
    unknown,
)
from ..steps import Steps, document_steps
from .bounded_patterns import SMALL, BoundedPatterns
from .counted_patterns import LINEAR, OF_KEYS, PatternUse
from .issues import (
    ENDLESS,
    LocatedIssue,
    expand_postponed,
    postponed_issue,
    union_issues,
    without_null,
)
from .rule_paths import VisitCounter, count_errors, is_large, size_of

_LIMITS: Final = {
    getattr(Kind, row.keyword[0].upper() + row.keyword[1:]): row
    for row in LIMITS
    if row.side and not row.is_annotation
}
"""The rows by the error kind, which is named after the keyword."""
(_STEP,) = limits_of("number", "step")
_FIRST: Final[tuple[IssueCode, ...]] = (
    "invalid_enum_value",
    "invalid_type",
    "invalid_length",
    "invalid_pattern",
    "invalid_range",
)
"""Order of the issues of a value that breaks several rules; others follow in the order of the schema."""
_ALONE: Final = 2
"""Number of the first codes that make all other issues meaningless, because the value has another type."""


_ALL: Final = sys.maxsize
UNEXPLAINED: Final = FieldIssue(
    keys=(),
    constraint="invalid_value",
    message="does not match its schema, and is too large to locate the error",
)
"""Issue of a large document, whose errors take memory quadratic in its size."""


class Rules:
    """The rules of one schema, by default in JSON Schema 2020-12; `format` is not checked."""

    def __init__(
        self,
        schema: Mapping[str, Any] | bool,
        *,
        reads_dialect: bool = False,
        bounds_patterns: bool = False,
    ) -> None:
        """Compile the schema; with `reads_dialect`, in the draft of its `$schema`.

        With `bounds_patterns`, patterns that can take long are not matched (`BoundedPatterns`).

        Raises:
            ValueError: it is not a valid schema, or refers to another document; with `bounds_patterns`, also
            if
                a reference can point to more than one place.
        """
        self._schema = schema
        plain = schema if isinstance(schema, bool) else dict(schema)
        validator = validator_cls_for(plain) if reads_dialect else Draft202012Validator
        self._make = partial(validator, validate_formats=False, offline=True)
        self._bounded = BoundedPatterns(plain) if bounds_patterns else None
        self._options: Any = LINEAR
        if self._bounded is None:
            try:
                self._validator = self._make(plain, pattern_options=LINEAR)
            except ValueError:  # a pattern with look-around or back-references, if the schema is valid
                self._options = OF_KEYS
                self._validator = self._make(plain, pattern_options=OF_KEYS)
        else:
            self._validator = self._make(self._bounded.checked, pattern_options=SMALL)
            if fault := self._visits.fault:
                raise ValueError(f"{fault!r} can point to more than one place, or outside the schema")

    @cached_property
    def _without_patterns(self) -> Any:
        """The validator for documents in which no pattern is matched."""
        assert self._bounded is not None, "its patterns are bounded"
        return self._make(self._bounded.without, pattern_options=SMALL)

    @cached_property
    def _visits(self) -> VisitCounter:
        return VisitCounter(self._schema)

    @cached_property
    def _patterns(self) -> PatternUse:
        return PatternUse(self._schema, is_linear=self._options is LINEAR)

    @cached_property
    def _counting(self) -> Any:
        """The validator that counts the steps of each match."""
        plain = self._schema if isinstance(self._schema, bool) else dict(self._schema)
        return self._make(plain, pattern_options=self._options, keywords=self._patterns.keywords)

    def issues(self, document: Json) -> tuple[FieldIssue, ...]:
        """Return the issues of a document, one for each rule that a value breaks; never raises."""
        return self.findings(document, _ALL).issues

    @property
    def quick_bytes(self) -> int:
        """Size of a document in bytes up to which no steps are counted; 0 if patterns are matched."""
        return 0 if self._patterns.parts else self._visits.quick_bytes

    def accept(self, document: Json) -> bool:
        """Return whether a document with at most `quick_bytes` fits."""
        try:
            return bool(self._validator.is_valid(document))
        except ValueError:  # not Unicode text
            return False

    def findings(self, document: Json, most: int, size: int = 0) -> Findings:
        """Return the first issues, at most `most`, and a lower bound for the number of further ones.

        The whole document has a single issue if it is too large to read all errors, if nested alternatives
        multiply, or if its steps do not suffice. `size` is the size of the document in bytes, 0 if it is
        unknown.
        """
        try:
            with document_steps() as steps:
                return self._judged(document, most, size or size_of(document), steps)
        except TooComplexError:
            return Findings(issues=(TOO_COMPLEX,))
        except UnicodeEncodeError:
            message = "is not JSON: not Unicode text"
        except (ValueError, RecursionError):
            message = "is JSON that cannot be validated"
        except BaseException as error:
            if not _is_panic(error):
                raise
            return Findings(issues=(TOO_COMPLEX,))
        return Findings(issues=(FieldIssue(keys=(), constraint="invalid_json", message=message),))

    def findings_in(self, data: bytes | str, most: int) -> Findings:
        """Return the `findings` for a JSON text; no issues if it is not JSON."""
        try:
            document = from_json(data, allow_inf_nan=False)
        except (ValueError, TypeError):  # a TypeError if a text has lone surrogates
            return Findings(issues=())
        return self.findings(document, most, len(data))

    def _judged(self, document: Json, most: int, size: int, steps: Steps) -> Findings:
        self._visits.take(document, size, steps)
        validator = self._validator_for(document, size, steps)
        is_valid = validator.is_valid(document)
        steps.take(0)  # a match without steps left counted as a mismatch
        if is_valid:
            return Findings(issues=())
        if is_large(document):  # the validator collects all errors, each with a copy of its value
            return Findings(issues=(UNEXPLAINED,), is_counted=False)
        count, multiply = count_errors(self._schema, document, steps)
        if count > steps.left:
            return Findings(issues=(ENDLESS if multiply else UNEXPLAINED,), is_counted=False)
        errors = [*validator.iter_errors(document)]
        if steps.left < 0:
            return Findings(issues=(UNEXPLAINED,), is_counted=False)
        return self._first(errors, most)

    def _validator_for(self, document: Json, size: int, steps: Steps) -> Any:
        """Return the validator for a document, and take the steps of patterns that it does not count."""
        if self._bounded is not None:
            return self._validator if self._bounded.are_matched_in(document) else self._without_patterns
        return self._counting if self._patterns.are_counted(document, size, steps) else self._validator

    def _first(self, errors: Sequence[ValidationError], most: int) -> Findings:
        located_issues = self._read(errors, (), most)
        issues = [located.issue for located in _unique(expand_postponed(located_issues))]
        if len(issues) <= most:
            return Findings(issues=tuple(issues))
        issue_places = {issue.keys for issue in issues}
        places = issue_places.union(tuple(error.instance_path) for error in errors)
        total = max(len(issues), len(places))  # a key and the value there are two issues at one location
        return Findings(issues=tuple(issues[:most]), more=total - most, is_counted=False)

    def _read(self, errors: Iterable[ValidationError], base: Keys, most: int = _ALL) -> list[LocatedIssue]:
        """Return the issues at `base` and below it, for slightly more than `most` locations."""
        by_place: _ByPlace = {}
        for error in errors:
            if len(by_place) > most:
                break
            _add(by_place, self._issues_at(error, base))
        return _issues_of(by_place)

    def _issues_at(self, error: ValidationError, base: Keys) -> Sequence[LocatedIssue]:
        keys: Keys = tuple(error.instance_path)
        actual = json_type(error.instance)
        match error.kind:
            case Kind.AnyOf(context=context) | Kind.OneOfNotValid(context=context):
                read = partial(self._union, context, keys, actual)
                return read() if keys == base else (postponed_issue(keys, read),)
            case Kind.PropertyNames(error=inner):
                place = (*keys, str(inner.instance))
                return [
                    LocatedIssue(replace(located.issue, keys=place), "string", is_key=True)
                    for located in self._issues_at(inner, tuple(inner.instance_path))[:1]
                ]
            case Kind.Required(property=name):
                return (LocatedIssue(missing((*keys, name), self._schema), actual),)
            case Kind.AdditionalProperties(unexpected=names) | Kind.UnevaluatedProperties(unexpected=names):
                allowed = self._properties(error.schema_path)
                return [LocatedIssue(unknown((*keys, name), allowed), actual) for name in names]
            case _:
                return (LocatedIssue(self._issue(error, keys, actual), actual),)

    def _union(
        self, branches: Sequence[Iterable[ValidationError]], keys: Keys, actual: str
    ) -> Sequence[LocatedIssue]:
        issues = union_issues([self._read(branch, keys) for branch in branches], keys)
        return issues or (
            LocatedIssue(invalid_value_issue(keys, "matches none of the alternatives"), actual),
        )

    def _issue(self, error: ValidationError, keys: Keys, actual: str) -> FieldIssue:
        kind: Any = error.kind
        if (bound := _LIMITS.get(type(kind))) is not None:
            return bound_issue(keys, bound, kind.limit, of_object=actual == "object")
        match kind:
            case Kind.Type(types=types):
                # If both a type and an enum fail, the validator can report only the type.
                node = self._around(error.schema_path)
                if isinstance(options := node.get("enum"), list):
                    return _choice(keys, options, node, actual)
                return type_issue(keys, without_null(tuple(types)), actual)
            case Kind.Enum(options=options):
                return _choice(keys, options, self._around(error.schema_path), actual)
            case Kind.Constant(expected_value=value):
                return _choice(keys, [value], self._around(error.schema_path), actual)
            case Kind.MultipleOf(multiple_of=step):
                limit = step if isinstance(step, int) else float(step)
                return bound_issue(keys, _STEP, limit, of_object=False)
            case Kind.Pattern(pattern=pattern):
                return mismatch(keys, pattern)
            case Kind.FalseSchema() if keys and error.schema_path[-1:] != ["not"]:
                return _refused(keys)
            case Kind.Not(schema=schema):
                return invalid_value_issue(keys, _excluded(schema))
            case Kind.Custom(keyword="pattern"):
                return mismatch(keys, self._around(error.schema_path)["pattern"])
            case _:
                return invalid_value_issue(keys, _MESSAGES.get(type(kind), "does not match the schema"))

    def _properties(self, path: Sequence[str | int]) -> tuple[Json, ...] | None:
        """Return the keys that the schema declares beside the keyword at the path; None if there are none."""
        properties = self._around(path).get("properties")
        return tuple(properties) if isinstance(properties, Mapping) else None

    def _around(self, path: Sequence[str | int]) -> Mapping[str, Any]:
        """Return the schema with the keyword at the path; an empty one if the path does not exist."""
        node: Any = self._schema
        for step in path[:-1]:
            try:
                node = node[step]
            except (KeyError, IndexError, TypeError):
                return {}
        return node if isinstance(node, Mapping) else {}


_MESSAGES: Final[dict[type, str]] = {
    Kind.Contains: "must contain as many items that match the schema's `contains` as it requires",
    Kind.OneOfMultipleValid: "must match exactly one alternative, but matches several",
    **{getattr(Kind, row.keyword[0].upper() + row.keyword[1:]): row.message for row in FLAGS},
    Kind.UnevaluatedItems: "has more items than the schema allows",
    Kind.AdditionalItems: "has more items than the schema allows",
    Kind.FalseSchema: "cannot be valid: the schema allows no value here",
}


def _is_panic(error: BaseException) -> bool:
    """Return whether the validator panicked, for example because its errors exceeded the memory."""
    return type(error) is RuntimeError or type(error).__name__ == "PanicException"


_ByPlace: TypeAlias = dict[tuple[Keys, bool], list[LocatedIssue]]
"""Issues by the keys of their value, and by whether they concern a map's key."""


def _unique(founds: Iterable[LocatedIssue]) -> list[LocatedIssue]:
    """Return one issue for each broken rule of a value or a key; only one if the value has another type."""
    by_place: _ByPlace = {}
    _add(by_place, founds)
    return _issues_of(by_place)


def _issues_of(by_place: _ByPlace) -> list[LocatedIssue]:
    return [located for group in by_place.values() for located in sorted(group, key=_rank)]


def _add(by_place: _ByPlace, founds: Iterable[LocatedIssue]) -> None:
    for located in founds:
        group = by_place.setdefault((located.issue.keys, located.is_key), [])
        if not group or _rank(located) < min(_ALONE, _rank(group[0])):
            group[:] = [located]
        elif _rank(group[0]) >= _ALONE and not any(_is_same(located, other) for other in group):
            group.append(located)


def _is_same(located: LocatedIssue, other: LocatedIssue) -> bool:
    """Return whether two issues are equivalent; of several unions for one value, only the first is read."""
    if located.expand or other.expand:
        return bool(located.expand and other.expand)
    return located.issue == other.issue


def _rank(located: LocatedIssue) -> int:
    constraint = located.issue.constraint
    return _FIRST.index(constraint) if constraint in _FIRST else len(_FIRST)


def _refused(keys: Keys) -> FieldIssue:
    """Return the issue of a value whose schema is `false`: an additional key or item."""
    if isinstance(keys[-1], int):
        return FieldIssue(keys=keys, constraint="invalid_length", message="is beyond the last allowed item")
    return unknown(keys, None)


def _choice(keys: Keys, values: Sequence[Any], node: Mapping[str, Any], actual: str) -> FieldIssue:
    """Return the issue of a value outside of a choice; values that the type beside it rejects are omitted."""
    if "type" in node:
        kinds = [node["type"]] if isinstance(node["type"], str) else node["type"]
        kinds = [*kinds, "integer"] if "number" in kinds else kinds
        values = [value for value in values if _type_of(value) in kinds]
        if not values:
            return invalid_value_issue(
                keys, "cannot be valid: the schema's type and values contradict each other"
            )
    allowed = tuple(values)
    return type_issue(keys, ("null",), actual) if allowed == (None,) else not_among(keys, allowed)


def _type_of(value: Json) -> str:
    """Return the JSON type of a value; a number without a fraction is an integer."""
    return "integer" if isinstance(value, float) and value.is_integer() else json_type(value)


def _excluded(schema: Any) -> str:
    """Return what a `not` excludes, as text if it is short."""
    match schema:
        case {"required": [*names], **rest} if not rest and names:
            listed = ", ".join([f'"{name}"' for name in names])
            return f"must not contain {listed}" + (" together" if len(names) > 1 else "")
        case {"type": str(name), **rest} if not rest:
            return f"must not be of type {name}"
        case _:
            return "must not match the schema's `not`"
