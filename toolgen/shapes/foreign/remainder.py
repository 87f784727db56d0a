"""The remainder of a foreign schema: the rules that no type expresses, at their locations.

A value that a type accepts matches its schema if it matches the remainder, which often needs only a few keys.
Rules that are not understood here stay in the remainder, so it accepts no more than the schema. It explains
nothing: the issues of a value that does not match come from the complete schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, TypeAlias

from pydantic_core import SchemaSerializer

from toolgen.contract.json_pointer import referred
from toolgen.contract.json_value import Json, identity, objects_in

from ..constraints import Holder, limits_of
from ..exact import WIDE_INT
from ..keywords import BRANCHES, CONDITIONS
from ..labels import NOT_AMONG, UNKNOWN_KEY
from ..numbers import MADE_OF, AnySchema
from .rule_paths import size_of
from .rules import Rules

RemainingSchema: TypeAlias = tuple[Any, Any]
"""The remaining schema, or True for none, and the parts of a value that it applies to.

The parts are in the format of pydantic's `include`, or True for all.
"""

_ANY: Final[AnySchema] = {"type": "any"}
_NOTHING: Final[RemainingSchema] = (True, {})
_NOTES: Final = frozenset(
    "$comment $defs default definitions deprecated description examples format readOnly title".split()
)
"""Keywords that reject nothing; `format` is an annotation (JSON Schema 2020-12 Validation 7.2.1)."""
_OF_ROOT: Final = frozenset(("$schema", "$defs", "definitions"))
"""Keywords of the root that the remainder can need."""
_NAMES: Final = frozenset("$id $anchor $dynamicAnchor $dynamicRef $recursiveAnchor $recursiveRef".split())
_SEEING: Final = frozenset(("additionalProperties", "patternProperties", "unevaluatedProperties"))
"""Keywords that depend on the properties beside them."""
_MOST_PAIRS: Final = 5_000
"""Maximum number of compared pairs of a schema and a type; after that, the whole schema remains."""


class Remainder:
    """Decides if values that a type accepts match their schema, provided that few keys suffice."""

    def __init__(
        self,
        schema: Mapping[str, object],
        core: AnySchema,
        serializer: SchemaSerializer,
        omits_unset: bool,
    ) -> None:
        """Compare a schema with its type; with `omits_unset`, a document has no unset values."""
        remainder, included = remainder_of(schema, core)
        self._includes_all = included is True
        self._rules = None if remainder is True or included is True else Rules(remainder)
        self._quick_bytes = self._rules.quick_bytes if self._rules else 0
        form: Any = {"include": included, "exclude_unset": omits_unset, "warnings": False}
        self._write: Any = partial(serializer.to_python, mode="json", **form)

    def accepts(self, value: Any, size: int) -> bool:
        """Return whether a value certainly fits; `size` is the size of its document in bytes."""
        if self._rules is None:
            return not self._includes_all
        document = self._write(value)
        is_quick = size <= self._quick_bytes or size_of(document) <= self._quick_bytes
        return is_quick and self._rules.accept(document)


def remainder_of(schema: Mapping[str, Any], core: AnySchema) -> RemainingSchema:
    """Return the remainder of a schema for a type, with the definitions that it can refer to."""
    if not all(map(_is_plain, objects_in(schema))):
        return schema, True
    remainder, included = _Reader(schema, core).read()
    definitions = {word: schema[word] for word in _OF_ROOT & schema.keys()}
    return remainder if remainder is True else {**remainder, **definitions}, included


class _Reader:
    """Compares a schema with the type of its values."""

    def __init__(self, schema: Mapping[str, Json], core: AnySchema) -> None:
        self._root = schema
        self._core = core
        self._types = {each["ref"]: each for each in core.get("definitions", ())}
        self._open: set[tuple[int, str]] = set()
        """Pairs of a schema and a type being compared, by `id` and name; they can contain themselves."""
        self._pairs = _MOST_PAIRS

    def read(self) -> RemainingSchema:
        return self._remainder({word: self._root[word] for word in self._root.keys() - _OF_ROOT}, self._core)

    def _remainder(self, schema: Any, core: AnySchema) -> RemainingSchema:
        if not isinstance(schema, Mapping):
            return _NOTHING if schema is True else ({"not": {}}, True)
        words = schema.keys() - _NOTES
        if not words:
            return _NOTHING
        self._pairs -= 1
        if self._pairs < 0:
            return schema, True
        if words == {"$ref"}:
            return self._remainder(referred(self._root, schema["$ref"]), core)
        match core["type"]:
            case "definitions" | "default":
                return self._remainder(schema, core["schema"])
            case "definition-ref":
                return self._of_reference(schema, core["schema_ref"])
            case "json-or-python":
                return self._remainder(schema, core["json_schema"])
            case "nullable":
                return self._of_nullable(schema, core)
            case "list":
                return self._of_array(schema, words, core)
            case "model" if core["schema"]["type"] == "model-fields" and "serialization" not in core:
                return self._of_object(schema, words, core["schema"])
            case _:
                return _NOTHING if _holds(schema, words, core) else (schema, True)

    def _of_reference(self, schema: Mapping[str, Any], name: str) -> RemainingSchema:
        pair = id(schema), name
        if pair in self._open or name not in self._types:
            return schema, True
        self._open.add(pair)
        remainder = self._remainder(schema, self._types[name])
        self._open.remove(pair)
        return remainder

    def _of_nullable(self, schema: Mapping[str, Json], core: AnySchema) -> RemainingSchema:
        match schema.get("type"):
            case [str(kind), "null"] | ["null", str(kind)]:
                remainder, _ = self._remainder({**schema, "type": kind}, core["schema"])
                return _NOTHING if remainder is True else (schema, True)
            case _:
                return schema, True

    def _of_array(self, schema: Mapping[str, Any], words: Any, core: AnySchema) -> RemainingSchema:
        if schema.get("type") != "array" or not _are_within(schema, words - {"items"}, "array", core):
            return schema, True
        remainder, included = self._remainder(schema.get("items", True), core.get("items_schema", _ANY))
        return _NOTHING if remainder is True else ({"items": remainder}, {"__all__": included})

    def _of_object(self, schema: Mapping[str, Any], words: Any, core: AnySchema) -> RemainingSchema:
        fields = {
            field.get("validation_alias", name): (name, field["schema"])
            for name, field in core["fields"].items()
        }
        is_closed = core.get("extras_keys_schema", {}).get("custom_error_type") == UNKNOWN_KEY
        properties = schema.get("properties", {})
        rest = {word: schema[word] for word in words - {"type", "properties"}}
        needed = {key for key, (_, type_) in fields.items() if type_["type"] != "default"}
        if needed.issuperset(rest.get("required", ())):
            rest.pop("required", None)
        if rest.get("additionalProperties") is True or (is_closed and fields.keys() <= properties.keys()):
            rest.pop("additionalProperties", None)
        knows_all = is_closed or properties.keys() <= fields.keys()
        if schema.get("type") != "object" or not knows_all or not _SEEING.isdisjoint(rest):
            return schema, True

        read_keys = _read_keys(rest)
        names_all = read_keys is not None and (is_closed or read_keys.keys() <= fields.keys())
        included = {fields[key][0]: part for key, part in (read_keys or {}).items() if key in fields}
        remaining_properties = {}
        for key in properties.keys() & fields.keys():
            name, type_ = fields[key]
            remainder, part = self._remainder(properties[key], type_)
            if remainder is not True:
                remaining_properties[key] = remainder
                included[name] = part if included.get(name) is not True else True
        if remaining_properties:
            rest["properties"] = remaining_properties
        return (rest, included if names_all else True) if rest else _NOTHING


def _is_plain(part: Mapping[str, object]) -> bool:
    """Return whether all references from a part and to it lead into the definitions of the root."""
    reference = part.get("$ref", "#/$defs/")
    return _NAMES.isdisjoint(part) and str(reference).startswith(("#/$defs/", "#/definitions/"))


def _read_keys(schema: Any) -> dict[str, object] | None:
    """Return the keys of an object that a schema reads, with the parts of their values; None for all keys."""
    keys: dict[str, Any] = {}
    for word, value in schema.items() if isinstance(schema, Mapping) else ():
        inner: list[Any] = []
        if word == "required":
            keys = {**{key: {} for key in value}, **keys}
        elif word == "dependentRequired":
            inner = [{"required": [key, *others]} for key, others in value.items()]
        elif word == "properties":
            keys |= dict.fromkeys(value, True)
        elif word in BRANCHES or word in CONDITIONS:
            inner = value if isinstance(value, list) else [value]
        elif word != "type" and word not in _NOTES:
            return None
        for part in map(_read_keys, inner):
            if part is None:
                return None
            keys = {
                **part,
                **{key: included for key, included in keys.items() if included or key not in part},
            }
    return keys


def _holds(schema: Mapping[str, Any], words: Any, core: AnySchema) -> bool:
    """Return whether the type of a scalar accepts no more than a schema."""
    kind = schema.get("type")
    match core:
        case {"custom_error_type": str(error)} if error == NOT_AMONG:
            allowed = json.loads(core["custom_error_context"]["allowed"])
            choices = [identity(value) for value in schema.get("enum", ())]
            is_typed = kind is None or (kind == "string" and all(isinstance(value, str) for value in allowed))
            return (
                words <= {"type", "enum"} and is_typed and all(identity(each) in choices for each in allowed)
            )
        case {"type": "str"}:
            return kind == "string" and _are_within(schema, words, "string", core)
        case {"type": "bool"}:
            return kind == "boolean" and words == {"type"}
        case {"type": "union"} if core == WIDE_INT:
            return kind in ("integer", "number") and words == {"type"}
        case {"type": "chain", "steps": [first, {"type": "int"} as limited]} if first == WIDE_INT:
            return kind in ("integer", "number") and _are_within(schema, words, "integer", limited)
        case {"metadata": dict(facts)} if (made_of := facts.get(MADE_OF)) and made_of["type"] == "float":
            return kind == "number" and _are_within(schema, words, "number", made_of)
        case _:
            return False


def _are_within(schema: Mapping[str, Any], words: Any, holder: Holder, core: AnySchema) -> bool:
    """Return whether all keywords except `type` are limits that the type has, too."""
    limits = {row.keyword: row.core for row in limits_of(holder) if row.core}
    others = words - {"type"}
    return others <= limits.keys() and all(core.get(limits[word]) == schema[word] for word in others)
