"""jsonschema-rs against fastjsonschema, on the rules of a schema that types cannot hold.

Run: `python -m benchmarks.rules`; `fastjsonschema` must be installed. Each row is a median over
interleaved rounds, so that a busy machine slows both sides alike. fastjsonschema knows no dialect after
draft-07: it compiles the 2020-12 schema of the second table and does not check the keywords listed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import fastjsonschema
import jsonschema_rs

from toolgen.shapes.foreign.rules import Rules

ROUNDS, CALLS, BUILDS = 31, 200, 3

ITEM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[a-z][0-9]+$"},
        "kind": {"enum": ["lamp", "lock", "sensor"]},
        "level": {"type": "integer", "minimum": 0, "maximum": 100},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    },
    "required": ["id", "kind"],
    "if": {"properties": {"kind": {"const": "lamp"}}},
    "then": {"required": ["level"]},
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": ITEM, "minItems": 1},
        "limit": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
        "note": {"not": {"type": "null"}},
    },
    "required": ["items"],
    "patternProperties": {"^x-": {"type": "string"}},
}
DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#", **SCHEMA}

GOOD = {
    "items": [
        {"id": f"d{number}", "kind": "lamp", "level": number, "tags": ["a", "b"]} for number in range(20)
    ],
    "limit": 5,
    "x-trace": "on",
}
BAD: dict[str, Any] = {
    "items": [{"id": "7", "kind": "boat", "level": 900, "tags": [1, 1]}, {"kind": "lamp", "size": 1}],
    "limit": 0,
    "note": None,
    "x-trace": 1,
}

NEWER: list[tuple[str, dict[str, Any], Any]] = [
    ("prefixItems", {"prefixItems": [{"type": "string"}]}, [1]),
    ("dependentRequired", {"dependentRequired": {"a": ["b"]}}, {"a": 1}),
    ("dependentSchemas", {"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}),
    ("unevaluatedProperties", {"properties": {"a": {}}, "unevaluatedProperties": False}, {"b": 1}),
    ("unevaluatedItems", {"prefixItems": [{}], "unevaluatedItems": False}, [1, 2]),
    ("minContains", {"contains": {"type": "string"}, "minContains": 2}, ["a"]),
    ("$ref with keywords beside it", {"$ref": "#/$defs/T", "minLength": 2, "$defs": {"T": {}}}, "a"),
    ("$anchor", {"$ref": "#t", "$defs": {"T": {"$anchor": "t", "type": "string"}}}, 1),
]


def refuses(validate: Callable[[Any], object], document: Any) -> bool:
    """Return whether a validator refuses a document; one that cannot be asked does not."""
    try:
        validate(document)
    except (fastjsonschema.JsonSchemaValueException, jsonschema_rs.ValidationError):
        return True
    return False


def duration_us(once: Callable[[], object], times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        once()
    return (time.perf_counter() - start) / times * 1e6


def row(name: str, ours: Callable[[], object], other: Callable[[], object], times: int) -> None:
    """Print how long each side takes, in microseconds, and how the other compares with ours."""
    pairs = [(duration_us(ours, times), duration_us(other, times)) for _ in range(ROUNDS)]
    rust, python = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(theirs / mine for mine, theirs in pairs)
    print(f"  {name:34} {rust:9.1f} µs {python:9.1f} µs   ratio {ratio:.1f}")


def main() -> None:
    build = jsonschema_rs.Draft7Validator
    compiled = build(DRAFT_7, validate_formats=False)
    fast = fastjsonschema.compile(DRAFT_7)
    rules = Rules(SCHEMA)
    assert compiled.is_valid(GOOD)
    assert not refuses(fast, GOOD)

    print(f"{'':36} {'jsonschema-rs':>12} {'fastjsonschema':>12}")
    row(
        "build",
        lambda: build(DRAFT_7, validate_formats=False),
        lambda: fastjsonschema.compile(DRAFT_7),
        BUILDS,
    )
    row("a valid document", lambda: compiled.is_valid(GOOD), lambda: fast(GOOD), CALLS)
    row(
        "an invalid one, its first error",
        lambda: refuses(compiled.validate, BAD),
        lambda: refuses(fast, BAD),
        CALLS,
    )
    row(
        "all its errors, against the first",
        lambda: [*compiled.iter_errors(BAD)],
        lambda: refuses(fast, BAD),
        CALLS,
    )
    row("as our issues, against the first", lambda: rules.issues(BAD), lambda: refuses(fast, BAD), CALLS)
    print(f"  errors found in the invalid one: {len(rules.issues(BAD))}, and 1 of fastjsonschema")

    print("what fastjsonschema does not refuse of 2020-12:")
    for name, schema, document in NEWER:
        assert Rules(schema).issues(document)
        try:
            checked = refuses(fastjsonschema.compile(schema), document)
        except fastjsonschema.JsonSchemaDefinitionException as error:
            print(f"  {name}: does not compile, {error}")
            continue
        if not checked:
            print(f"  {name}")


if __name__ == "__main__":
    main()
