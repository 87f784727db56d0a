"""Proofs for each keyword of the larger schema, from the keywords of the smaller one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from toolgen.shapes.constraints import Constraint, exact_number, limits_of
from toolgen.shapes.lexical import STRING_FORMATS

from . import keywords_arrays, keywords_objects
from .conjunctions import BOUNDS, NUMBERS, SIZES, STEP, kinds_of
from .documents import SchemaNode
from .keywords_objects import count_fits
from .limits import ROWS, implies, is_multiple, kind_of, value_of
from .proof import Case, Gap, Rule, kind_groups

ANNOTATIONS: Final = frozenset(
    "$comment $defs $schema $id default definitions deprecated description example examples readOnly title "
    "writeOnly contentEncoding contentMediaType contentSchema minContains maxContains then else".split()
)
"""Keywords that refuse nothing by themselves."""
_PARTS: Final = {"if": ("then", "else"), "contains": ("minContains", "maxContains")}
"""Keywords that change the meaning of another one."""
_LONGEST_SHOWN: Final = 80
"""Maximum number of characters of a value in a reason."""


def prove(case: Case) -> list[Gap]:
    """Return the gaps of a pair, keyword by keyword."""
    gaps: list[Gap] = []
    for keyword in case.large.schema:
        if keyword in RULES:
            gaps += RULES[keyword](case)
        elif keyword in ROWS:
            gaps += _text_limit(case, keyword)
        elif (
            keyword not in ANNOTATIONS
            and not keyword.startswith("x-")
            and not _has_same_keyword(case, keyword)
        ):
            gaps.append(case.gap(keyword, f"has the unsupported keyword {keyword!r}", by_schema=True))
    return gaps


def _has_same_keyword(case: Case, keyword: str) -> bool:
    """Return whether the smaller side has the same unsupported keyword with the same value."""
    depends = keyword.startswith("unevaluated")  # on all adjacent keywords
    return not depends and case.has_same_keywords(keyword, *_PARTS.get(keyword, ()))


def _type(case: Case) -> list[Gap]:
    allowed_kinds = kinds_of(case.large.schema["type"])
    missing = case.flat.kinds - allowed_kinds
    if not missing:
        return []
    return [case.gap("type", f"accepts {_names(allowed_kinds)}, but not {_names(missing)}")]


def _names(kinds: frozenset[str]) -> str:
    """Return the JSON Schema types of some kinds, joined by "or"."""
    names = kinds - NUMBERS | {"number"} if "fraction" in kinds else kinds
    return " or ".join(sorted(names)) or "nothing"


def _listed(case: Case) -> list[Gap]:
    keyword = "enum" if "enum" in case.large.schema else "const"
    if case.has_same_keywords(keyword):
        return []
    return [case.gap(keyword, f"accepts only {shown(case.large.schema[keyword])}")]


def _number_limit(case: Case, row: Constraint) -> list[Gap]:
    limit = case.large.schema[row.keyword]
    small_limit = case.flat.range(row.side or "")
    if not case.flat.kinds & NUMBERS or (small_limit and implies(small_limit, (row, exact_number(limit)))):
        return []
    return [case.gap(row.keyword, f"has {row.keyword} {shown(limit)}")]


def _size_limit(case: Case, row: Constraint, kind: str) -> list[Gap]:
    limit = case.large.schema[row.keyword]
    large_limit = exact_number(limit)
    small_limit = case.flat.bound(row.keyword)
    if kind not in case.flat.kinds or (small_limit and implies(small_limit, (row, large_limit))):
        return []
    if (row.side == "low" and large_limit <= 0) or (kind == "object" and count_fits(case, row, large_limit)):
        return []
    return [case.gap(row.keyword, f"has {row.keyword} {shown(limit)}")]


def _step(case: Case) -> list[Gap]:
    numbers = case.flat.kinds & NUMBERS
    step = exact_number(case.large.schema[STEP])
    steps = [exact_number(each) for each in case.flat.of(STEP)]
    steps += [] if "fraction" in numbers else [exact_number(1)]
    if not numbers or any((each / step).denominator == 1 for each in steps):
        return []
    return [case.gap(STEP, f"accepts only multiples of {shown(case.large.schema[STEP])}")]


def _pattern(case: Case) -> list[Gap]:
    pattern = case.large.schema["pattern"]
    if "string" not in case.flat.kinds or pattern in case.flat.of("pattern"):
        return []
    if any(STRING_FORMATS.get(name) == pattern for name in case.flat.of("format")):
        return []
    return [case.gap("pattern", f"accepts only strings that match {shown(pattern)}")]


def _format(case: Case) -> list[Gap]:
    name = case.large.schema["format"]
    if "string" not in case.flat.kinds or name in case.flat.of("format"):
        return []
    if name in STRING_FORMATS and STRING_FORMATS[name] in case.flat.of("pattern"):
        return []
    return [case.gap("format", f"accepts only strings of the format {name!r}")]


def _text_limit(case: Case, keyword: str) -> list[Gap]:
    schema, kind = case.large.schema, kind_of(case.large.schema)
    large_limit = value_of(kind, schema[keyword])
    if not kind or large_limit is None or "string" not in case.flat.kinds:
        return []
    for node in case.flat.nodes:
        for other in ROWS.keys() & node.schema.keys() if kind_of(node.schema) == kind else ():
            small_limit = value_of(kind, node.schema[other])
            if (
                keyword == other
                and ROWS[keyword].takes == "step"
                and small_limit is not None
                and is_multiple(small_limit, large_limit)
            ):
                return []
            if small_limit is not None and implies((ROWS[other], small_limit), (ROWS[keyword], large_limit)):
                return []
    if ROWS[keyword].takes == "length" and ROWS[keyword].side == "low" and large_limit <= 0:
        return []
    typed = {key: schema[key] for key in ("format", "pattern", "contentEncoding") if key in schema}
    only = {**typed, keyword: schema[keyword]}
    return [case.gap(keyword, f"has {keyword} {shown(schema[keyword])}", only=only)]


def _reference(case: Case) -> list[Gap]:
    return case.within(case.large.target())


def _all_of(case: Case) -> list[Gap]:
    return [gap for _, part in case.large.children("allOf") for gap in case.within(part)]


def _union(case: Case) -> list[Gap]:
    keyword = "anyOf"
    return _branches(case, keyword, [branch for _, branch in case.large.children(keyword)])


def _one_of(case: Case) -> list[Gap]:
    branches = [branch for _, branch in case.large.children("oneOf")]
    for node in case.flat.nodes:
        others = [branch for _, branch in node.children("oneOf")]
        if len(others) == len(branches) and all(map(case.is_same, others, branches)):
            return []
    return _branches(case, "oneOf", branches)


def _branches(case: Case, keyword: str, branches: list[SchemaNode]) -> list[Gap]:
    if case.has_same_keywords(keyword):
        return []
    near = [branch for branch in branches if not case.is_apart(branch)]
    if len(near) == 1:
        return case.within(near[0])
    if keyword == "anyOf" and any(not case.within(branch) for branch in near):
        return []
    groups = kind_groups(case.flat)
    if len(groups) > 1 and near:
        parts = [case.within(case.large, more=(group,)) for group in groups]
        return [gap for part in parts for gap in part]
    reason = (
        "has no branch that accepts it"
        if keyword == "anyOf" or not near
        else "might accept it with two branches"
    )
    return [case.gap(keyword, reason, by_schema=True)]


def _not(case: Case) -> list[Gap]:
    if case.has_same_keywords("not") or case.is_apart(case.large.child("not")):
        return []
    return [case.gap("not", "does not accept some of it", by_schema=True)]


def shown(value: Any) -> str:
    """Return a value as shortened JSON."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "type": _type,
        "enum": _listed,
        "const": _listed,
        **{row.keyword: partial(_number_limit, row=row) for row in limits_of("number", "bound")},
        **{
            keyword: partial(_size_limit, row=BOUNDS[keyword], kind=kind)
            for kind, keywords in SIZES.items()
            for keyword in keywords
        },
        STEP: _step,
        "pattern": _pattern,
        "format": _format,
        "$ref": _reference,
        "allOf": _all_of,
        "anyOf": _union,
        "oneOf": _one_of,
        "not": _not,
        **keywords_arrays.RULES,
        **keywords_objects.RULES,
    }
)
