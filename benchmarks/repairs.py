"""How many mistakes in the arguments of real tools can be repaired from the issues alone.

Run: `python -m benchmarks.repairs [STEP]`, of each STEP-th tool of the corpora beside the repository.

Examples of its arguments are broken in one place, in each of seven ways, and decoded by the codec of its
imported design. A repairer that reads nothing but the issues changes what they name; what decodes after at
most two such rounds counts as repaired.
"""

from __future__ import annotations

import copy
import json
import random
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

from hypothesis import strategies as st
from hypothesis.errors import NonInteractiveExampleWarning

from tests.conformance import corpora
from tests.conformance.samples import sample
from tests.conformance.test_corpora_in_clauses import generated_tools
from toolgen.runtime import ToolValidationError
from toolgen.runtime.functions import Codec

ROUNDS: Final = 2
PLACES: Final = 3
"""Places of one example that are broken in each way."""
DEFAULTS: Final[dict[str, Any]] = {
    "string": "x",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
    "null": None,
    "JSON value": "x",
}

Issue = dict[str, Any]
Keys = tuple[str | int, ...]


class Place(NamedTuple):
    """A value of an example, and the schema that it has there."""

    keys: Keys
    schema: Any
    value: Any
    is_in_union: bool = False


def places(schema: Any, value: Any, root: Any, keys: Keys = (), depth: int = 12) -> Iterator[Place]:
    """Yield the values of an example with their schemas; a union is read by its first branch of the type."""
    schema, is_in_union = _branch(schema, value, root), _is_union(schema, root)
    if depth == 0 or not isinstance(schema, dict):
        return
    yield Place(keys, schema, value, is_in_union)
    if isinstance(value, dict):
        for key, inner in value.items():
            known = schema.get("properties", {}).get(key)
            yield from places(known, inner, root, (*keys, key), depth - 1)
    elif isinstance(value, list):
        for index, inner in enumerate(value[:2]):
            yield from places(schema.get("items"), inner, root, (*keys, index), depth - 1)


def _resolved(schema: Any, root: Any) -> Any:
    while isinstance(schema, dict) and str(schema.get("$ref", "")).startswith("#/"):
        target = root
        for token in schema["$ref"][2:].split("/"):
            target = target.get(token.replace("~1", "/").replace("~0", "~"), {})
        schema = target
    return schema


def _branches(schema: Any, root: Any) -> list[Any]:
    schema = _resolved(schema, root)
    if not isinstance(schema, dict) or "properties" in schema:
        return []
    found = [branch for keyword in ("anyOf", "oneOf") for branch in schema.get(keyword, ())]
    return [branch for branch in (_resolved(each, root) for each in found) if isinstance(branch, dict)]


def _is_union(schema: Any, root: Any) -> bool:
    branches = [branch for branch in _branches(schema, root) if branch.get("type") != "null"]
    return len(branches) > 1 and not all("const" in branch for branch in branches)


def _branch(schema: Any, value: Any, root: Any) -> Any:
    schema = _resolved(schema, root)
    for branch in _branches(schema, root):
        kinds = branch.get("type", ())
        if _type(value) in ([kinds] if isinstance(kinds, str) else kinds):
            return branch
    return schema


def _type(value: object) -> str:
    kinds: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return "null" if value is None else kinds.get(type(value), "object")


# Each way to break a place yields the values that may stand there instead.


def wrong_type(place: Place) -> Iterator[Any]:
    yield {"unexpected": 1} if not isinstance(place.value, dict) else "text"
    yield 7 if isinstance(place.value, str) else "text"


def missing_required(place: Place) -> Iterator[Any]:
    for key in place.schema.get("required", ()):
        if isinstance(place.value, dict) and key in place.value:
            yield {name: inner for name, inner in place.value.items() if name != key}


def enum_value(place: Place) -> Iterator[Any]:
    choices = [*place.schema.get("enum", ()), *([place.schema["const"]] if "const" in place.schema else ())]
    if choices or place.schema.get("oneOf"):
        yield "no such value" if isinstance(place.value, str) else -987_654


def out_of_range(place: Place) -> Iterator[Any]:
    schema, value = place.schema, place.value
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from (schema[key] - 1_000 for key in ("minimum", "exclusiveMinimum") if key in schema)
        yield from (schema[key] + 1_000 for key in ("maximum", "exclusiveMaximum") if key in schema)
        yield from (value + schema[key] / 2 for key in ("multipleOf",) if key in schema)
    elif isinstance(value, str | list):
        filler: Any = "x" if isinstance(value, str) else [copy.deepcopy(item) for item in value[:1]]
        most, least = (
            schema.get("maxLength", schema.get("maxItems")),
            schema.get("minLength", schema.get("minItems")),
        )
        if most is not None and most < 10_000 and filler:
            yield filler * (most + 1)
        if least:
            yield value[: least - 1]


def pattern(place: Place) -> Iterator[Any]:
    if isinstance(place.value, str) and ("pattern" in place.schema or "format" in place.schema):
        yield "§ no match §"


def extra_property(place: Place) -> Iterator[Any]:
    if isinstance(place.value, dict):
        yield {**place.value, "unexpected": 1}


def union_branch(place: Place) -> Iterator[Any]:
    if not place.is_in_union:
        return
    if isinstance(place.value, dict):
        yield {
            key: DEFAULTS[_type(inner)] if isinstance(inner, str) else "text"
            for key, inner in place.value.items()
        }
        yield dict(list(place.value.items())[1:])
    else:
        yield {"unexpected": 1}


MISTAKES: Final[tuple[Callable[[Place], Iterator[Any]], ...]] = (
    wrong_type,
    missing_required,
    enum_value,
    out_of_range,
    pattern,
    extra_property,
    union_branch,
)


def broken(mistake: Callable[[Place], Iterator[Any]], schema: Any, example: Any, seed: str) -> Iterator[Any]:
    """Yield the example with one place broken, for some of the places where that is possible."""
    found = [
        (place.keys, other)
        for place in places(schema, example, schema)
        if place.keys or mistake not in (wrong_type, union_branch)
        for other in mistake(place)
    ]
    for keys, other in random.Random(seed).sample(found, min(PLACES, len(found))):
        yield changed(copy.deepcopy(example), keys, partial(lambda value, _: copy.deepcopy(value), other))


def changed(document: Any, keys: Keys, change: Callable[[Any], Any]) -> Any:
    """Return the document with the value at a place changed; containers on the way are made."""
    if not keys:
        return change(document)
    key, *rest = keys
    if isinstance(key, int):
        document = document if isinstance(document, list) else []
        while len(document) <= key:
            document.append(None)
        document[key] = changed(document[key], tuple(rest), change)
        return document
    document = document if isinstance(document, dict) else {}
    return {**document, key: changed(document.get(key), tuple(rest), change)}


# The repairer: it knows a document and its issues, and no schema.


def repaired(document: Any, issues: list[tuple[Keys, Issue]]) -> Any:
    """Return the document with each value changed as its issue asks for."""
    for keys, issue in issues:
        if issue["constraint"] == "unknown_field":
            document = _without(document, keys)
        else:
            document = changed(document, keys, partial(_mended, issue=issue))
    return document


def _without(document: Any, keys: Keys) -> Any:
    parent = document
    for key in keys[:-1]:
        parent = parent[key]
    del parent[keys[-1]]
    return document


def _mended(value: Any, issue: Issue) -> Any:
    if issue.get("allowed"):
        return issue["allowed"][0]
    message, limit, expected = issue["message"], issue.get("limit"), issue.get("expected", "")
    match issue["constraint"]:
        case "invalid_type" | "missing_field":
            return copy.deepcopy(DEFAULTS.get(expected.split(" or ")[0], "x"))
        case "invalid_pattern":
            return _matching(expected)
        case "invalid_format" if " such as " in message:
            return message.rpartition(" such as ")[2]
        case "invalid_range" if limit is not None:
            return _within(value, limit, message)
        case "invalid_length" if isinstance(value, str | list) and isinstance(limit, int):
            filler: Any = "x" if isinstance(value, str) else (value[:1] or ["x"])
            return value[:limit] if "at most" in message else value + filler * (limit - len(value))
        case "invalid_value" if "same item twice" in message:
            return [item for index, item in enumerate(value) if item not in value[:index]]
        case _:
            return value


def _within(value: Any, limit: Any, message: str) -> Any:
    if "multiple" in message or isinstance(limit, str):
        return limit
    return limit + (1 if "above" in message else -1 if "below" in message else 0)


def _matching(pattern: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonInteractiveExampleWarning)
        try:
            return st.from_regex(pattern).example().strip("\n")
        except Exception:  # a pattern that Python does not know
            return "x"


def found(codec: Codec[Any], document: Any) -> list[tuple[Keys, Issue]]:
    """Return the issues of a document, as a model sees them, each with its place; none of one that fits."""
    try:
        codec.decode(json.dumps(document))
    except ToolValidationError as error:
        return [(issue.keys, issue.as_json()) for issue in error.issues]
    return []


def rounds(codec: Codec[Any], document: Any) -> tuple[int, list[tuple[Keys, Issue]]]:
    """Return after how many repairs a document fits, and what is wrong with it at last.

    0 is a document that fits as it is, `ROUNDS + 1` one that does not fit after the last.
    """
    issues = found(codec, document)
    for number in range(ROUNDS):
        if not issues:
            return number, []
        document = repaired(document, issues)
        issues = found(codec, document)
    return ROUNDS + bool(issues), issues


def main(step: int = 1) -> None:
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    left: dict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as name:
        sys.path.insert(0, name)
        for file in corpora.files():
            for record, spec in generated_tools(Path(name), file.stem, corpora.records(file)[::step]):
                schema = spec.payload.schema
                examples = [
                    each for each in (*record.valid[:1], sample(schema)) if not found(spec.payload, each)
                ]
                for example, mistake in product(examples, MISTAKES):
                    for document in broken(mistake, schema, example, record.id):
                        number, issues = rounds(spec.payload, document)
                        counts[mistake.__name__][number] += number > 0
                        for _, issue in issues[:1]:
                            left[mistake.__name__][f"{issue['constraint']}: {issue['message'][:90]}"] += 1
    print(f"{'mistake':18}{'broken':>8}{'one round':>11}{'two':>8}{'rate':>9}")
    for kind, by_round in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        tried = sum(by_round.values())
        good = by_round[1] + by_round[2]
        print(f"{kind:18}{tried:8,}{by_round[1]:11,}{by_round[2]:8,}{good / max(tried, 1):9.1%}")
    for kind, messages in left.items():
        print(f"\n{kind}, not repaired:")
        for message, number in messages.most_common(12):
            print(f"  {number:5}  {message}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
