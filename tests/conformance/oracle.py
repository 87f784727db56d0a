"""An independent opinion on JSON documents: python-jsonschema, formats asserted.

Two of its keywords are replaced by what the standard says: `pattern` is ECMA-262 (Python's `$` also
matches before a final newline, its `\\d` knows all of Unicode), `multipleOf` is exact on decimals. Those of
toolgen's own are checked as the language says: bounds of dates, durations and decimals.
"""

from __future__ import annotations

import copy
import datetime as dt
import functools
import json
import operator
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import jsonschema
from jsonschema.validators import extend

from toolgen.shapes.foreign.filling import filler_of
from toolgen.shapes.naming import field_name

Schema = dict[str, Any]
Keys = tuple[str | int, ...]


def validator(schema: Schema) -> Any:
    """Return the oracle of a schema; raises SchemaError when the schema is none."""
    _Validator.check_schema(schema)
    return _Validator(schema, format_checker=_Validator.FORMAT_CHECKER)


def filled(document: Any, schema: Any) -> Any:
    """Return the document with the defaults that codecs of foreign schemas fill in.

    `tests/shapes/test_filling.py` holds them to a validator.
    """
    fill = filler_of(json.dumps(schema))
    return document if fill is None else json.loads(fill(json.dumps(document)))


def without_optional_nulls(instance: Any, schema: Schema, root: Schema | None = None) -> Any:
    """Return the instance less the nulls that the codec reads as absent.

    A null of a property that is not required, and whose schema does not take null, is dropped.
    """
    root = root or schema
    schema = _resolved(schema, instance, root)
    if isinstance(instance, list):
        return [without_optional_nulls(item, schema.get("items", {}), root) for item in instance]
    if not isinstance(instance, dict):
        return instance
    properties = schema.get("properties", {})
    required = schema.get("required", ())
    rest = schema.get("additionalProperties")
    kept = {}
    for key, value in instance.items():
        part = properties.get(key, rest if isinstance(rest, dict) else {})
        absent = value is None and key in properties and key not in required and not _takes_null(part)
        if not absent:
            kept[key] = without_optional_nulls(value, part, root)
    return kept


def _takes_null(schema: Schema) -> bool:
    if any(type_ in schema for type_ in ("$ref", "oneOf")):
        return False
    if "anyOf" in schema:
        return {"type": "null"} in schema["anyOf"]
    return "null" in schema["type"] if isinstance(schema.get("type"), list) else "type" not in schema


def _resolved(schema: Schema, instance: Any, root: Schema) -> Schema:
    while True:
        if "$ref" in schema:
            schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        elif "anyOf" in schema:
            schema = schema["anyOf"][0]
        elif "oneOf" in schema and "const" not in schema["oneOf"][0]:
            branches = [_resolved(branch, instance, root) for branch in schema["oneOf"]]
            tag = next(iter(branches[0]["properties"]))
            value = instance.get(tag) if isinstance(instance, dict) else None
            schema = next((b for b in branches if b["properties"][tag]["const"] == value), {})
        else:
            return schema


def _pattern(
    validator: Any, pattern: str, instance: object, schema: Schema
) -> Iterator[jsonschema.ValidationError]:
    if isinstance(instance, str) and not re.search(_python_pattern(pattern), instance, re.ASCII):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _python_pattern(pattern: str) -> str:
    """Return an ECMA-262 pattern in the dialect of `re`."""
    out, in_class, at = [], False, 0
    while at < len(pattern):
        char = pattern[at]
        part = pattern[at : at + 2] if char == "\\" else char
        in_class = part == "[" or (in_class and part != "]")
        out.append(part if in_class else _ECMA.get(part, part))
        at += len(part)
    return "".join(out)


_ECMA = {
    "$": r"\Z",
    ".": r"[^\n\r\u2028\u2029]",
    r"\s": r"[\s\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]",
}


def _multiple_of(
    validator: Any, step: float, instance: object, schema: Schema
) -> Iterator[jsonschema.ValidationError]:
    number = isinstance(instance, int | float) and not isinstance(instance, bool)
    if number and Fraction(repr(instance)) % Fraction(repr(step)):
        yield jsonschema.ValidationError(f"{instance!r} is not a multiple of {step!r}")


_DURATION = re.compile(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?")


def _ordered(text: str, schema: Schema) -> Any:
    """Return what a date, an instant, a duration or a decimal is, as something that has an order."""
    if text[:1] == "P" or text[:2] == "-P":
        sign, *parts = _DURATION.fullmatch(text).groups()  # type: ignore[union-attr]  # its pattern holds
        days, hours, minutes, seconds = (Fraction(part or 0) for part in parts)
        size = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
        return Fraction(round((-size if sign else size) * 10**6), 10**6)
    match schema.get("format"):
        case "date":
            return dt.date.fromisoformat(text)
        case "date-time":
            return dt.datetime.fromisoformat(text.upper())
        case _:
            return Fraction(text)


def _bound(compare: Any) -> Any:
    def check(
        validator: Any, bound: str, instance: object, schema: Schema
    ) -> Iterator[jsonschema.ValidationError]:
        if not isinstance(instance, str):
            return
        others = {key: value for key, value in schema.items() if key not in _BOUNDS}
        is_formed = validator.evolve(schema=others).is_valid(instance)
        if is_formed and not compare(_ordered(instance, schema), _ordered(bound, schema)):
            yield jsonschema.ValidationError(f"{instance!r} crosses the bound {bound!r}")

    return check


_BOUNDS = {
    "x-minimum": _bound(operator.ge),
    "x-maximum": _bound(operator.le),
    "x-exclusiveMinimum": _bound(operator.gt),
    "x-exclusiveMaximum": _bound(operator.lt),
    "x-multipleOf": _bound(lambda value, step: value % step == 0),
}


def unrolled(schema: Any, root: Schema, depth: int = 3) -> Any:
    """Return the schema with its references written out; below the depth nothing fits.

    hypothesis-jsonschema cannot draw from a recursive schema.
    """
    if isinstance(schema, list):
        return [unrolled(item, root, depth) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        target: Any = root
        for token in schema["$ref"].removeprefix("#/").split("/"):
            target = target[token.replace("~1", "/").replace("~0", "~")]
        return unrolled(target, root, depth - 1) if depth else False
    return {
        key: {name: unrolled(part, root, depth) for name, part in value.items()}
        if key == "properties"
        else value
        if key in ("default", "examples", "enum", "const")
        else unrolled(value, root, depth)
        for key, value in schema.items()
        if key != "$defs"
    }


def mutations(instance: Any, pick: Any) -> Any:
    """Return the instance with one random change: a key, an item or a value less, more or other.

    `pick(sequence)` draws one element.
    """
    places = list(_paths(instance))
    if not places:
        return pick(STRANGE)
    *way, key = pick(places)
    changed = copy.deepcopy(instance)
    parent = functools.reduce(operator.getitem, way, changed)
    match pick(("replace", "replace", "replace", "delete", "add")):
        case "delete":
            del parent[key]
        case "add" if isinstance(parent, dict):
            parent[pick(("extra", "", "model_config", "__class__", field_name(key)))] = pick(STRANGE)
        case "add":
            parent.append(copy.deepcopy(pick(STRANGE)))
        case _:
            parent[key] = copy.deepcopy(pick(STRANGE))
    return changed


def _paths(value: Any, keys: Keys = ()) -> Iterator[Keys]:
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, child in children:
        yield (*keys, key)
        yield from _paths(child, (*keys, key))


def places(
    schema: Schema, instance: Any, root: Schema | None = None, keys: Keys = ()
) -> Iterator[tuple[Keys, Schema]]:
    """Return each place inside a valid document, those left empty too, with the schema of its value."""
    root = root or schema
    schema = _resolved(schema, instance, root)
    properties, rest = schema.get("properties", {}), schema.get("additionalProperties", {})
    parts: dict[Any, Schema] = {}
    if isinstance(instance, list):
        parts = {index: schema.get("items", {}) for index in range(len(instance))}
    elif isinstance(instance, dict):
        parts = {key: properties.get(key, rest) for key in (*properties, *instance)}
    for key, part in parts.items():
        yield (*keys, key), part
        if isinstance(instance, list) or key in instance:
            yield from places(part, instance[key], root, (*keys, key))


STRANGE: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    5.0,
    0.1,
    0.3,
    1.5,
    1e20,
    -(10**30),
    2**53 + 1,
    501,
    "",
    " ",
    "x",
    "5",
    "true",
    "online",
    "stop",
    "a\n",
    "٣",
    "AB٣",
    "😀" * 3,
    "x" * 300,
    "2026-01-31",
    "2026-02-30",
    "2026-1-3",
    "20260131",
    "2026-01-31T10:00:00Z",
    "2026-01-31t10:00:00.123456789+05:30",
    "2026-01-31T10:00:00",
    "2026-01-31 10:00:00Z",
    "2026-01-31T00:00:00Z",
    "1769853600",
    "P1D",
    "-PT0S",
    "PT24H0M1S",
    "PT0.5S",
    "P1Y",
    "P1W",
    "1:00:00",
    "aGk=",
    "aGk",
    "a-_=",
    "1.50",
    "1e5",
    "1_0",
    "NaN",
    "12345678-1234-5678-1234-567812345678",
    "12345678123456781234567812345678",
    "{12345678-1234-5678-1234-567812345678}",
    "urn:uuid:12345678-1234-5678-1234-567812345678",
    "https://example.org/a?b#c",
    "example.org",
    "urn:isbn:0451450523",
    "x:",
    "http://a:99999/",
    "10.0.0.1",
    "10.0.0.01",
    "fe80::1%eth0",
    "::ffff:10.0.0.1",
    "http://[::1]:80/",
    "http://a b/",
    "ann@example.org",
    "ann",
    [],
    [None],
    ["x"],
    ["x", "x"],
    [1, True, 1.5],
    [1, 1.0],
    [{"a": [1], "b": 2}, {"b": 2, "a": [1.0]}],
    [1, "2"],
    {},
    {"x": 1},
    {"kind": "stop"},
    {"kind": None},
)

_extend: Any = extend
_Validator: Any = _extend(
    jsonschema.Draft202012Validator, {"pattern": _pattern, "multipleOf": _multiple_of, **_BOUNDS}
)
