"""Issues of values of foreign schemas.

Errors come from pydantic or from the schema's own validator (`rules`); for both, `union_issues` selects the
issues of a union. Each error contains its facts, because such a schema can have them anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Final, NamedTuple, TypeAlias

from pydantic_core import ErrorDetails

from toolgen.contract.json_value import Json, objects_in

from ..design.issues import IssueReader
from ..issues import (
    BOUNDS,
    LEFT_OUT,
    TYPES,
    FieldIssue,
    Findings,
    Keys,
    bound_issue,
    invalid_value_issue,
    json_type,
    mismatch,
    missing,
    not_among,
    other_issue,
    type_issue,
    unknown,
)
from ..labels import BOUNDARY, BRANCH, NO_BRANCH, NOT_AMONG, PASSED, TAGGED, UNKNOWN_KEY
from ..numbers import one_error_each
from ..patterns import PatternError, to_rust
from .rule_paths import are_too_many

_MOST_READ: Final = 20
"""Maximum number of errors that are read for each requested issue; a union branch can have many."""
Located = tuple[Keys, ErrorDetails]
ENDLESS: Final = FieldIssue(
    keys=(),
    constraint="invalid_value",
    message="does not match its schema, which has too many alternatives to locate the error",
)
"""Issue of a document whose errors are too many to read, because alternatives multiply."""


class LocatedIssue(NamedTuple):
    """An issue, and the JSON type of its value."""

    issue: FieldIssue
    actual: str
    is_key: bool = False
    """Whether it is an issue of a map's key, and not of the value there."""
    expand: Callable[[], Sequence[LocatedIssue]] | None = None
    """Returns more issues: for a nested union, only those of the selected branch."""


class _Union(NamedTuple):
    """The errors of a union."""

    branches: dict[str, list[Located]]
    """Errors below the location of the union, by the label of the branch."""


class ForeignReader:
    """Converts pydantic's errors of foreign types into issues."""

    def __init__(self, schema: object) -> None:
        self._schema = schema

    def issues(self, errors: Sequence[ErrorDetails]) -> tuple[FieldIssue, ...]:
        """Return at most one issue for each value and for each key of a map, in document order."""
        return self.findings(errors, len(errors)).issues

    def findings(self, errors: Sequence[ErrorDetails], most: int) -> Findings:
        """Return the first issues, at most `most`, and a lower bound for the number of further ones."""
        errors = one_error_each(errors)
        is_whole = len(errors) <= _MOST_READ * most
        located = self._located(errors if is_whole else errors[: _MOST_READ * most])
        if are_too_many(len(located), 0) and are_too_many(len(located), len(_places(located))):
            return Findings(issues=(ENDLESS,))
        parts = _parts(located)
        if not is_whole and len(parts) > 1:
            parts.pop()  # the errors of a union are adjacent, and some of them might be missing
        issues: list[FieldIssue] = []
        number = 0
        while number < len(parts) and len(issues) < most:
            issues += [issue.issue for issue in expand_postponed(self._issues_at(*parts[number], ()))]
            number += 1
        left = parts[number:]
        return Findings(
            issues=tuple(issues[:most]),
            more=max(0, len(issues) - most) + len(left) + (not is_whole),
            is_counted=is_whole and not any(isinstance(part, _Union) for _, part in left),
        )

    def _located(self, errors: Sequence[ErrorDetails]) -> list[Located]:
        return [(_without_labels(error["loc"]), error) for error in errors]

    def _read(self, errors: Sequence[Located], keys: Keys) -> list[LocatedIssue]:
        """Return the issues below `keys`."""
        return [located for place, part in _parts(errors) for located in self._issues_at(place, part, keys)]

    def _issues_at(self, place: Keys, part: ErrorDetails | _Union, keys: Keys) -> Sequence[LocatedIssue]:
        """Return the issues at a place below `keys`."""
        location = (*keys, *place)
        if not isinstance(part, _Union):
            return (self._issue_of(location, part),)
        read = partial(self._union, [*part.branches.values()], location)
        return (postponed_issue(location, read),) if place else read()

    def _union(self, branches: Sequence[Sequence[Located]], keys: Keys) -> Sequence[LocatedIssue]:
        return union_issues([self._read(branch, keys) for branch in branches], keys)

    def _issue_of(self, keys: Keys, error: ErrorDetails) -> LocatedIssue:
        kind, value, facts = error["type"], error["input"], error.get("ctx", {})
        actual = json_type(value)
        if len(keys) > 1 and keys[-1] == "[key]" and value == keys[-2]:
            keys = keys[:-1]
        if (expected := TYPES.get(kind)) is not None:
            return LocatedIssue(type_issue(keys, (expected,), actual), actual)
        if (bound := BOUNDS.get(kind)) is not None:
            issue = bound_issue(keys, bound, facts[bound.core], of_object=actual == "object")
            return LocatedIssue(issue, actual)
        match kind:
            case "missing":
                return LocatedIssue(missing(keys, self._schema), actual)
            case _ if kind == NOT_AMONG:
                return LocatedIssue(not_among(keys, _allowed(facts)), actual)
            case _ if kind == UNKNOWN_KEY:
                return LocatedIssue(unknown(keys, _allowed(facts)), actual)
            case _ if kind == NO_BRANCH:
                return _tag_found(keys, facts, value)
            case "string_pattern_mismatch":
                pattern = str(facts["pattern"])
                return LocatedIssue(mismatch(keys, self._written.get(pattern, pattern)), actual)
            case _:
                return LocatedIssue(other_issue(keys, error), actual)

    @cached_property
    def _written(self) -> dict[str, str]:
        """The patterns as the schema writes them, by the pattern that pydantic runs."""
        return dict(_patterns_in(self._schema))


def _patterns_in(schema: Any) -> Iterator[tuple[str, str]]:
    """Yield each pattern of a schema that types can hold, as a Rust regex and as it was written."""
    for node in objects_in(schema):
        if isinstance(pattern := node.get("pattern"), str):
            with suppress(PatternError):
                yield to_rust(pattern), pattern


def read(reader: IssueReader, errors: list[ErrorDetails], most: int) -> Findings:
    """Return the first issues of a designed class that contains foreign values."""
    foreign = ForeignReader(reader.schema)
    parts: list[Findings] = []
    for before, inside in _by_value(errors).items():
        left = max(0, most - sum(len(part.issues) for part in parts))
        if before is None:
            parts.append(reader.findings(inside, left))
        elif left:
            prefix = reader.keys(before)
            findings = foreign.findings(inside, left)
            issues = [replace(issue, keys=(*prefix, *issue.keys)) for issue in findings.issues]
            parts.append(replace(findings, issues=tuple(issues)))
        else:
            parts.append(Findings(issues=(), more=1, is_counted=False))
    return Findings(
        issues=tuple([issue for part in parts for issue in part.issues]),
        more=sum(part.more for part in parts),
        is_counted=all(part.is_counted for part in parts),
    )


def _by_value(errors: list[ErrorDetails]) -> dict[Keys | None, list[ErrorDetails]]:
    """Return the errors by the location of the foreign value that has them; None for designed values."""
    by_value: dict[Keys | None, list[ErrorDetails]] = {}
    for error in errors:
        loc = error["loc"]
        if BOUNDARY in loc:
            at = loc.index(BOUNDARY)
            by_value.setdefault(loc[:at], []).append({**error, "loc": loc[at + 1 :]})
        else:
            by_value.setdefault(None, []).append(error)
    return by_value


_Branch: TypeAlias = Sequence[LocatedIssue]


def union_issues(branches: Sequence[Sequence[LocatedIssue]], keys: Keys) -> Sequence[LocatedIssue]:
    """Return the issues of the union branch that fits a value best.

    Branches for the JSON type of the value win; among them, the branch with matching tags, then with the
    fewest objects and arrays of a wrong type, then with the fewest issues, then with the deepest issue. If
    all branches have the same requirement, or no branch has the value's type, there is one issue. Its allowed
    values are those of all these branches.
    """
    failed = [branch for branch in branches if branch]
    tried = [branch for branch in failed if not _wants_null(branch, keys)] or failed
    if not tried:
        return ()
    best = _with_others(_of_best(tried, keys), tried, keys)
    return best if len(tried) == len(failed) else [_or_null(located, keys) for located in best]


def _of_best(tried: Sequence[Sequence[LocatedIssue]], keys: Keys) -> Sequence[LocatedIssue]:
    if len(tried) == 1:
        return expand_postponed(tried[0])
    if (shared := _shared(tried, keys)) is not None:
        return (shared,)
    misfits = [_misfit(branch, keys) for branch in tried]
    matching = [branch for branch, misfit in zip(tried, misfits, strict=True) if misfit is None]
    if not matching:
        return (_no_type_fits([misfit for misfit in misfits if misfit is not None], keys),)
    if len(matching) > 1 and (shared := _shared(matching, keys)) is not None:
        return (shared,)
    best = min(matching, key=lambda branch: _distance(branch, keys))
    rivals = [branch for branch in matching if _distance(branch, keys)[0] == _distance(best, keys)[0]]
    return [_with_keys(located, rivals) for located in expand_postponed(best)]


def _with_keys(located: LocatedIssue, branches: Sequence[_Branch]) -> LocatedIssue:
    """Return the issue of an unknown key with the allowed keys of all branches that reject it."""
    if located.issue.constraint != "unknown_field" or located.issue.allowed is None:
        return located
    same = [each for branch in branches for each in branch if each.issue.keys == located.issue.keys]
    return located._replace(issue=replace(located.issue, allowed=_all_allowed([located, *same])))


def _with_others(best: _Branch, branches: Sequence[_Branch], keys: Keys) -> _Branch:
    """Return the issue of a choice among values with the requirements of the branches without a choice."""
    located = best[0]
    if located.issue.keys != keys or located.issue.constraint != "invalid_enum_value":
        return best
    others = [each[0].issue.message for each in branches if each[0].issue.constraint != "invalid_enum_value"]
    if not others:
        return best
    rules = [text.partition(", not ")[0].removeprefix("must ") for text in others if text.startswith("must ")]
    message = ", or ".join(dict.fromkeys((located.issue.message, *rules)))
    return [located._replace(issue=replace(located.issue, message=message, allowed=None))]


def _or_null(located: LocatedIssue, keys: Keys) -> LocatedIssue:
    """Return the issue of a choice among values, with null added to the allowed values."""
    issue = located.issue
    if issue.keys != keys or issue.allowed is None or None in issue.allowed:
        return located
    return located._replace(issue=not_among(keys, (*issue.allowed, None)))


def expand_postponed(postponed: Sequence[LocatedIssue]) -> list[LocatedIssue]:
    """Return the issues, with the postponed ones expanded."""
    return [inner for located in postponed for inner in (located.expand() if located.expand else (located,))]


def postponed_issue(keys: Keys, expand: Callable[[], Sequence[LocatedIssue]]) -> LocatedIssue:
    """Return the placeholder for the issues of a union, which are computed only if needed."""
    return LocatedIssue(invalid_value_issue(keys, "matches none of the alternatives"), "", expand=expand)


def _without_labels(loc: Keys) -> Keys:
    """Return the location without labels, so that it has only keys and branches."""
    steps: list[int | str] = []
    for step in loc:
        if step == TAGGED:
            del steps[-1:]
        elif step != PASSED:
            steps.append(step)
    return tuple(steps)


def _parts(errors: Sequence[Located]) -> list[tuple[Keys, ErrorDetails | _Union]]:
    """Return the errors by location, in order; all errors of a union together, at the union's location."""
    unions: dict[Keys, _Union] = {}
    parts: list[tuple[Keys, ErrorDetails | _Union]] = []
    for rest, error in errors:
        at = next((at for at, step in enumerate(rest) if _is_branch(step)), None)
        if at is None:
            parts.append((rest, error))
            continue
        place = rest[:at]
        if place not in unions:
            unions[place] = _Union({})
            parts.append((place, unions[place]))
        unions[place].branches.setdefault(str(rest[at]), []).append((rest[at + 1 :], error))
    return parts


def _places(located: Sequence[Located]) -> set[Keys]:
    """Return the locations of errors in the document, independent of the branch."""
    return {tuple([step for step in loc if not _is_branch(step)]) for loc, _ in located}


def _is_branch(step: int | str) -> bool:
    return isinstance(step, str) and step.startswith(BRANCH)


def _allowed(facts: Mapping[str, Any]) -> tuple[Json, ...]:
    return tuple(json.loads(facts["allowed"]))


def _tag_found(keys: Keys, facts: Mapping[str, Any], value: Any) -> LocatedIssue:
    tag, actual = facts["tag"], json_type(value)
    if actual != "object":
        return LocatedIssue(type_issue(keys, ("object",), actual), actual)
    place, allowed = (*keys, tag), _allowed(facts)
    if isinstance(value, Mapping) and tag in value:
        return LocatedIssue(not_among(place, allowed), json_type(value[tag]))
    issue = FieldIssue(keys=place, constraint="missing_field", message=LEFT_OUT, allowed=allowed)
    return LocatedIssue(issue, actual)


def _wants_null(branch: Sequence[LocatedIssue], keys: Keys) -> bool:
    return any(located.issue.keys == keys and located.issue.expected == "null" for located in branch)


def _misfit(branch: Sequence[LocatedIssue], keys: Keys) -> LocatedIssue | None:
    """Return the issue of a value whose JSON type is not the type of the branch."""
    for located in branch:
        issue = located.issue
        if issue.keys != keys:
            continue
        if issue.constraint == "invalid_type":
            return located
        if issue.constraint == "invalid_enum_value" and located.actual not in _types(issue.allowed or ()):
            return located
    return None


_ALSO: Final = {"number": ("number", "integer"), "integer": ("integer", "number")}


def _types(values: Sequence[Json]) -> list[str]:
    """Return the JSON types of these expected values; integer and number include each other."""
    return [name for value in values for name in _ALSO.get(json_type(value), (json_type(value),))]


def _no_type_fits(misfits: Sequence[LocatedIssue], keys: Keys) -> LocatedIssue:
    actual = misfits[0].actual
    names: list[str] = []
    for misfit in misfits:
        if misfit.issue.constraint == "invalid_type":
            names += (misfit.issue.expected or "").split(" or ")
        else:
            names += [json_type(value) for value in misfit.issue.allowed or ()]
    wanted = tuple(dict.fromkeys(names))
    return LocatedIssue(type_issue(keys, without_null(wanted), actual), actual)


def without_null(types: tuple[str, ...]) -> tuple[str, ...]:
    """Return the JSON types to show to a model: null only if there is no other type."""
    return tuple([name for name in types if name != "null"]) or types


def _shared(branches: Sequence[Sequence[LocatedIssue]], keys: Keys) -> LocatedIssue | None:
    """Return the issue of a tag, or of a choice among values, that all branches have at one place."""
    by_place = [{located.issue.keys: located for located in reversed(branch)} for branch in branches]
    for first in branches[0]:
        place = first.issue.keys
        if len(place) > len(keys) + 1 or not all(place in places for places in by_place):
            continue
        located = [places[place] for places in by_place]
        constraints = {each.issue.constraint for each in located}
        if constraints == {"invalid_enum_value"}:
            return LocatedIssue(not_among(place, _all_allowed(located)), first.actual)
        if constraints == {"missing_field"}:
            return first
    return None


def _all_allowed(founds: Sequence[LocatedIssue]) -> tuple[Json, ...]:
    values = [value for located in founds for value in located.issue.allowed or ()]
    values.sort(key=lambda value: value is None)
    return tuple(json.loads(text) for text in dict.fromkeys(map(json.dumps, values)))


def _distance(branch: Sequence[LocatedIssue], keys: Keys) -> tuple[int, int, int, int]:
    tags = sum(
        located.issue.constraint == "invalid_enum_value" and len(located.issue.keys) == len(keys) + 1
        for located in branch
    )
    wrong = [located.actual for located in branch if located.issue.constraint == "invalid_type"]
    return (
        tags,
        wrong.count("object") + wrong.count("array"),
        len(branch),
        -max(len(located.issue.keys) for located in branch),
    )
