"""Documents for the decode target: near a schema, changed in their structure, their text and their bytes."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any, Final

from tests.conformance.oracle import STRANGE
from toolgen.shapes.naming import field_name

_TEXTS: Final = tuple(one for one in STRANGE if isinstance(one, str))
_FORMATS: Final = {
    "date": ("2026-01-31", "2024-02-29"),
    "date-time": ("2026-01-31T10:00:00Z", "2026-01-31T10:00:00.5+05:30"),
    "time": ("10:00:00Z",),
    "duration": ("P1D", "PT0.5S"),
    "uuid": ("12345678-1234-5678-1234-567812345678",),
    "uri": ("https://example.org/a?b#c",),
    "email": ("ann@example.org",),
    "hostname": ("example.org",),
    "ipv4": ("10.0.0.1",),
    "ipv6": ("::1",),
}
_NUMBERS: Final = (0, -0.0, 2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**30, 10**400, 1e308, 5e-324, 1e16)
_KEYS: Final = ("", "x", "extra", "__class__", "model_config", "a b", "ключ", "$ref", "kind", "k" * 300)
_RAW: Final = (
    "NaN", "-NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "1E+2", "1.0", "-0", "01", "+1",
    ".5", "5.", "1" * 5_000, "0." + "1" * 500, "1e99999999999999999999", '"\\ud800"', '"\\udc00\\ud800"',
    '"\\ud83d\\ude00"', '"\\u0000"', '"\\/"', '"\t"', '"\\x"', "'x'", "tru", "[1,]", "{,}", '{"a":1,"a":2}',
    '{"a":1,"\\u0061":null}', "[" * 70 + "]" * 70, "[" * 5_000, '{"a":' * 70 + "0" + "}" * 70, "/**/0",
    "\ufeff0",
)  # fmt: skip
"""What stands in the place of a value and is not JSON, or JSON that no writer of Python's makes."""
_MARK: Final = "@raw@"


def document(schema: Any, chance: Random) -> Any:
    """Return a document that mostly fits the schema."""
    return _Made(schema, chance).of(schema, 0)


class _Made:
    def __init__(self, root: Any, chance: Random) -> None:
        self._root, self._chance = root, chance

    def of(self, schema: Any, depth: int) -> Any:
        chance = self._chance
        if not isinstance(schema, dict) or depth > 12 or chance.random() < 0.01:
            return copy.deepcopy(chance.choice(STRANGE))
        if "const" in schema:
            return copy.deepcopy(schema["const"])
        if schema.get("enum"):
            return copy.deepcopy(chance.choice(schema["enum"]))
        if "$ref" in schema:
            return self.of(self._target(schema["$ref"]), depth + 1)
        for word in ("oneOf", "anyOf"):
            if schema.get(word) and not (schema.get("properties") and chance.random() < 0.5):
                return self.of(chance.choice(schema[word]), depth + 1)
        if schema.get("allOf"):
            parts = [self.of({**schema, "allOf": []}, depth)] if "type" in schema else []
            parts += [self.of(part, depth + 1) for part in schema["allOf"]]
            objects = [part for part in parts if isinstance(part, dict)]
            return {key: one[key] for one in objects for key in one} if objects else parts[0]
        kind = schema.get("type", "object" if "properties" in schema else "")
        return self._value(chance.choice(kind) if isinstance(kind, list) else kind, schema, depth)

    def _value(self, kind: str, schema: dict[str, Any], depth: int) -> Any:
        chance = self._chance
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                least, first = int(schema.get("minItems", 0)), schema.get("prefixItems", [])
                many = least + chance.choice((0, 0, 1, 2, 3) if depth < 6 else (0,))
                made = [self.of(part, depth + 1) for part in first]
                rest = schema.get("items", {})
                return made + [self.of(rest, depth + 1) for _ in range(max(0, many - len(first)))]
            case "string":
                return self._text(schema)
            case "integer" | "number":
                return self._number(kind, schema)
            case "boolean":
                return chance.random() < 0.5
            case "null":
                return None
            case _:
                return copy.deepcopy(chance.choice(STRANGE))

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        chance, made = self._chance, {}
        required = schema.get("required", ())
        for key, part in schema.get("properties", {}).items():
            if key in required or chance.random() < (0.6 if depth < 4 else 0.1):
                made[key] = self.of(part, depth + 1)
        for key in required:
            if key not in made:
                made[key] = self.of({}, depth + 1)
        rest = schema.get("additionalProperties")
        if isinstance(rest, dict) and depth < 5:
            names = schema.get("propertyNames", {})
            for _ in range(chance.randrange(3)):
                key = self.of({"type": "string", **names} if isinstance(names, dict) else {}, depth + 1)
                made[key if isinstance(key, str) else "x"] = self.of(rest, depth + 1)
        return made

    def _text(self, schema: dict[str, Any]) -> str:
        chance, pattern = self._chance, schema.get("pattern")
        fitting: tuple[str, ...] = _FORMATS.get(schema.get("format", ""), ())
        if pattern and not fitting:
            with suppress(re.error):
                fitting = tuple(one for one in _TEXTS if re.search(pattern, one))
        if fitting:
            return chance.choice(fitting)
        least = int(schema.get("minLength", 0))
        text = chance.choice(_TEXTS) if chance.random() < 0.3 else chance.choice(("a", "bc", "é😀", ""))
        return (text + "a" * max(0, least - len(text)))[: int(schema.get("maxLength", 10_000))]

    def _number(self, kind: str, schema: dict[str, Any]) -> Any:
        chance = self._chance
        low = schema.get("minimum", schema.get("exclusiveMinimum", -1))
        high = schema.get("maximum", schema.get("exclusiveMaximum", low + 3))
        bounds = [schema[word] for word in ("minimum", "maximum", "multipleOf", "default") if word in schema]
        if bounds and chance.random() < 0.3:
            return chance.choice(bounds)
        if chance.random() < 0.1:
            return chance.choice(_NUMBERS)
        step = schema.get("multipleOf", 1)
        middle = (low + high) / 2 if kind == "number" else int((low + high) // 2)
        return middle // step * step if "multipleOf" in schema else middle

    def _target(self, ref: str) -> Any:
        node = self._root
        for step in ref.removeprefix("#").split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            node = node[int(key)] if isinstance(node, list) else node.get(key, {})
        return node


def changed(value: Any, chance: Random) -> Any:
    """Return the document with one change in its structure."""
    whole = {"": copy.deepcopy(value)}
    places = list(_places(whole))
    parent, key = chance.choice(places[1:] if len(places) > 1 and chance.random() < 0.9 else places)
    found = parent[key]
    match chance.randrange(9):
        case 0 if parent is not whole:
            del parent[key]
        case 1:
            _add(found if isinstance(found, dict | list) else parent, chance, parent is whole)
        case 2:
            other, place = chance.choice(places)
            parent[key], other[place] = copy.deepcopy(other[place]), copy.deepcopy(found)
        case 3:
            parent[key] = chance.choice(_retyped(found))
        case 4:
            parent[key] = _nested(found, chance)
        case 5 if isinstance(parent, dict) and parent is not whole:
            parent[_renamed(key, chance)] = parent.pop(key)
        case 6:
            parent[key] = chance.choice(_NUMBERS)
        case 7:
            parent[key] = f"{_MARK}{chance.randrange(len(_RAW))}"
        case _:
            parent[key] = copy.deepcopy(chance.choice((*STRANGE, "\ud800", "a\udc00b", "\x00\x1b[2J\u202e")))
    return whole[""]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        for key in keys:
            yield one, key
            waiting.append(one[key])


def _add(parent: Any, chance: Random, is_whole: bool) -> None:
    """Add one member or item, or a great many."""
    many = 1 if is_whole or chance.random() < 0.95 else chance.choice((30, 300, 11_000))
    for number in range(many):
        value = copy.deepcopy(chance.choice(STRANGE)) if many < 300 else number
        if isinstance(parent, list):
            parent.append(value)
        elif not is_whole:
            parent[chance.choice(_KEYS) if many == 1 else f"k{number}"] = value


def _retyped(value: Any) -> list[Any]:
    """Return a value in the types that somebody may take for its own."""
    forms = [json.dumps(value), [value], {"value": value}, not value, None]
    if isinstance(value, int | float):
        forms += [str(value), value + 0.5 if abs(value) < 1e300 else 0, -value, bool(value)]
        if abs(value) < 1e300:
            forms += [float(value), int(value)]
    if isinstance(value, str):
        forms += [value.upper(), f" {value}", f"{value}\n", value[:-1], value.encode(errors="replace").hex()]
    if isinstance(value, list):
        forms += [{str(number): item for number, item in enumerate(value)}, value * 2, value[::-1]]
    if isinstance(value, dict):
        forms += [[list(pair) for pair in value.items()], list(value.values())]
    return forms


def _nested(value: Any, chance: Random) -> Any:
    key = chance.choice(("value", "a", "inner"))
    for _ in range(chance.choice((1, 1, 2, 3, 62, 70))):
        value = [value] if chance.random() < 0.5 else {key: value}
    return value


def _renamed(key: str, chance: Random) -> str:
    words = re.split(r"[_\s-]+", key)
    camel = words[0] + "".join(map(str.title, words[1:]))
    long = key * (200_000 // (len(key) or 1)) if chance.random() < 0.05 else key * 100
    return chance.choice((field_name(key), camel, key.upper(), f"{key} ", f"_{key}", long, *_KEYS))


def text_of(value: Any, chance: Random) -> str:
    """Return the document as text, in any of the ways that JSON allows, and with what it does not."""
    indent, separators = chance.choice(((None, (",", ":")), (None, None), (1, None)))
    is_ascii = chance.random() < 0.5
    text = json.dumps(value, ensure_ascii=is_ascii, indent=indent, separators=separators)
    for number, raw in enumerate(_RAW):
        text = text.replace(f'"{_MARK}{number}"', raw)
    if chance.random() < 0.05 and (keys := re.findall(r'"[a-z_]{1,20}" ?:', text)):
        key = chance.choice(keys)
        text = text.replace(key, f"{key}{chance.choice(('null', '1', '{}'))},{key}", 1)
    return text


def mangled(data: bytes, chance: Random) -> bytes:
    """Return the text with some of its bytes cut, flipped, inserted or repeated."""
    found = bytearray(data)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(found) + 1)
        end = min(len(found), at + chance.choice((1, 2, 8, 40)))
        match chance.randrange(5):
            case 0:
                del found[at:]
            case 1 if at < len(found):
                found[at] ^= 1 << chance.randrange(8)
            case 2:
                found[at:at] = chance.choice(
                    (b'"', b"{", b"]", b",", b"\\", b"\xff", b"\xed\xa0\x80", b"0", b"\0")
                )
            case 3:
                found[at:at] = found[at:end] * chance.choice((1, 2, 50))
            case _:
                del found[at:end]
    return bytes(found)
