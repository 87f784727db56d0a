"""Exact validators of hand-written Python types: dataclasses, pydantic models, TypedDicts.

Like `shapes/exact.py`, for every core schema that pydantic builds for such types, at all levels. Objects are
closed unless their class opens them. Each error has all facts for a reader of issues, as in
`shapes/foreign/validator.py`. Toolgen's own classes are exact already.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from operator import attrgetter, is_
from typing import Any, Final

from pydantic_core import core_schema as cs

from ..design.model import ToolModel
from ..exact import exact, json_value_schema, keeps_null
from ..foreign.validator import foreign_exact
from ..labels import BRANCH, LABEL
from ..numbers import AnySchema, floats_first, number

KEYS: Final = LABEL + "keys "
"""Prefix of the label of an object; the keys that it accepts follow as a JSON array."""
OWN: Final = LABEL + "own "
"""Prefix of the label of a class that is exact by itself; its name follows."""

_FINITE: Final = cs.CoreConfig(strict=True, allow_inf_nan=False, ser_json_inf_nan="constants")
"""Rejects NaN and infinity; in a model, which is not validated again, they are written as constants."""
CONFIG: Final[cs.CoreConfig] = {**_FINITE, "validate_by_name": False, "validate_by_alias": True}

_EXACT_BY_ITSELF: Final = frozenset("int bytes datetime date timedelta uuid decimal".split())
_ANY: Final = cs.any_schema()
_INNER: Final = tuple("schema items_schema values_schema json_schema python_schema".split())


class InexactJsonTypeError(ValueError):
    """A type has values that JSON cannot express exactly; the message names them."""


class Exactness:
    """Rewrites the core schema of one type.

    `own` has the exact classes found in the type, by the name in their label.
    """

    def __init__(self, *, has_labels: bool) -> None:
        """Construct a rewriter; labels appear in the locations of errors, serializers have none."""
        self._has_labels = has_labels
        self.own: dict[str, type[ToolModel]] = {}

    def of(self, schema: AnySchema) -> Any:
        """Return the schema in its exact form; the original schema is unchanged.

        Raises:
            InexactJsonTypeError: no exact form can express its values.
        """
        node: AnySchema = dict(schema)
        node.pop("ref", None)  # referenced schemas are in the definitions
        kind = node["type"]
        if kind in _EXACT_BY_ITSELF:
            return exact(node)
        rewrite = _REWRITES.get(kind)
        return rewrite(self, node) if rewrite else self._rewrite_children(node)

    def _rewrite_children(self, node: AnySchema) -> AnySchema:
        """Return the node with its child schemas in their exact forms."""
        for key in _INNER:
            if isinstance(inner := node.get(key), dict):
                node[key] = self.of(inner)
        if "steps" in node:
            node["steps"] = [self.of(step) for step in node["steps"]]
        return node

    def _strict(self, node: AnySchema) -> AnySchema:
        return {**self._rewrite_children(node), "strict": True}

    def _items(self, node: AnySchema) -> AnySchema:
        """Return a list or a set; an iterable becomes a list, because pydantic validates iterables lazily."""
        kind = "list" if node["type"] == "generator" else node["type"]
        return self._strict({"items_schema": _ANY, **node, "type": kind})

    def _float(self, node: AnySchema) -> AnySchema:
        return number(node)  # in a union, its serializer must recognize values of other types

    def _definitions(self, node: AnySchema) -> AnySchema:
        definitions = [{**self.of(part), "ref": part["ref"]} for part in node["definitions"]]
        return {**node, "schema": self.of(node["schema"]), "definitions": definitions}

    def _any(self, node: AnySchema) -> AnySchema:
        return json_value_schema()

    def _default(self, node: AnySchema) -> AnySchema:
        # Null in a document means that a field with a default is absent, as in `exact`.
        return exact({**node, "schema": self.of(node["schema"])})

    def _literal(self, node: AnySchema) -> AnySchema:
        values = node["expected"]
        members = [value for value in values if isinstance(value, Enum)]
        plain = [value for value in values if value is not None and not isinstance(value, Enum)]
        if unfit := [value for value in plain if not isinstance(value, str | int)]:
            raise InexactJsonTypeError(f"the literal {unfit[0]!r} is not a string, an integer or a boolean")
        choices: list[AnySchema] = [foreign_exact({**node, "expected": plain})] if plain else []
        if members:
            choices.append(_enum(type(members[0]), members))
        inner = choices[0] if len(choices) == 1 else cs.union_schema(list(choices))
        return dict(cs.nullable_schema(inner)) if None in values else inner

    def _enum_of(self, node: AnySchema) -> AnySchema:
        return _enum(node["cls"], node["members"])

    def _dict(self, node: AnySchema) -> AnySchema:
        if node.get("keys_schema", _ANY)["type"] == "any":
            node["keys_schema"] = cs.str_schema()
        keys = node["keys_schema"]
        while keys["type"] in ("function-after", "function-before", "function-wrap", "nullable", "default"):
            keys = keys["schema"]
        values = keys.get("members", keys.get("expected", [""]))
        are_texts = all(isinstance(getattr(value, "value", value), str) for value in values)
        if keys["type"] not in ("str", "literal", "enum") or not are_texts:
            raise InexactJsonTypeError(f"a map has keys of type {keys['type']}; in JSON, keys are strings")
        node["keys_schema"] = self.of(node["keys_schema"])
        return self._strict({"values_schema": _ANY, **node})

    def _tuple(self, node: AnySchema) -> AnySchema:
        return {**node, "items_schema": [self.of(item) for item in node["items_schema"]], "strict": True}

    def _call(self, node: AnySchema) -> AnySchema:
        """Return the schema of a named tuple, as pydantic before 2.14 builds it."""
        arguments = node["arguments_schema"]
        fields = [{**part, "schema": self.of(part["schema"])} for part in arguments["arguments_schema"]]
        return {**node, "arguments_schema": {**arguments, "arguments_schema": fields}}

    def _lax_or_strict(self, node: AnySchema) -> AnySchema:
        written = {"serialization": node["serialization"]} if "serialization" in node else {}
        return {**self.of(node["strict_schema"]), **written}

    def _union(self, node: AnySchema) -> AnySchema:
        untagged = [choice[0] if isinstance(choice, tuple) else choice for choice in node["choices"]]
        choices = [self.of(choice) for choice in floats_first(untagged)]
        if self._has_labels:
            choices = [(choice, f"{BRANCH}{number}") for number, choice in enumerate(choices)]
        return {**node, "choices": choices}

    def _tagged(self, node: AnySchema) -> AnySchema:
        if callable(node["discriminator"]):
            untagged = {key: value for key, value in node.items() if key not in ("choices", "discriminator")}
            return self._union({**untagged, "type": "union", "choices": [*node["choices"].values()]})
        choices = {getattr(tag, "value", tag): branch for tag, branch in node["choices"].items()}
        exact_choices = {tag: self.of(branch) for tag, branch in choices.items()}
        if not self._has_labels:
            return {**node, "choices": exact_choices}
        placeholders = {tag: cs.any_schema() for tag in choices}
        tagged = foreign_exact({**node, "choices": placeholders})
        for tag, choice in tagged["choices"].items():
            choice["choices"] = [(exact_choices[tag], choice["choices"][0][1])]
        return tagged

    def _class(self, node: AnySchema) -> AnySchema:
        """Return the exact schema of a model or a dataclass."""
        class_ = node["cls"]
        if issubclass(class_, ToolModel) and is_toolgen_model(node):
            name = f"{class_.__module__}.{class_.__qualname__}"
            self.own[name] = class_
            return self._labelled(_nulls_left_out(node), OWN + name)
        config = {**node.get("config", {}), **_FINITE}
        config["extra_fields_behavior"] = "allow" if is_open(node) else "forbid"
        if node["type"] == "dataclass" and not hasattr(class_, "__pydantic_config__"):
            node["revalidate_instances"] = "always"  # it is not validated when it is constructed
        keys = list(_keys(node))
        return self._labelled(
            {**self._rewrite_children(node), "strict": True, "config": config}, KEYS + json.dumps(keys)
        )

    def _fields(self, node: AnySchema) -> AnySchema:
        is_open_ = node.get("extra_behavior") == "allow"
        if node["type"] == "typed-dict":
            is_open_ = is_open_ or is_open(node)
            node["config"] = {**node.get("config", {}), **_FINITE}
        if node["type"] != "model-fields" or "extra_behavior" in node:
            node["extra_behavior"] = "allow" if is_open_ else "forbid"
        fields = node["fields"]
        if isinstance(fields, dict):
            node["fields"] = {name: self._field(field) for name, field in fields.items()}
        else:
            node["fields"] = [self._field(field) for field in fields]
        if node["type"] != "typed-dict":
            return node
        return self._labelled(node, KEYS + json.dumps(list(_keys(node))))

    def _field(self, field: AnySchema) -> AnySchema:
        schema = field["schema"]
        return _null_left_out({**field, "schema": self.of(schema)}, schema)

    def _labelled(self, node: AnySchema, label: str) -> AnySchema:
        return dict(cs.union_schema([(node, label)], auto_collapse=False)) if self._has_labels else node


_REWRITES: Final[Mapping[str, Callable[[Exactness, AnySchema], AnySchema]]] = {
    "str": Exactness._strict,
    "bool": Exactness._strict,
    "float": Exactness._float,
    "any": Exactness._any,
    "literal": Exactness._literal,
    "enum": Exactness._enum_of,
    "default": Exactness._default,
    "definitions": Exactness._definitions,
    "list": Exactness._items,
    "generator": Exactness._items,
    "set": Exactness._items,
    "frozenset": Exactness._items,
    "tuple": Exactness._tuple,
    "dict": Exactness._dict,
    "union": Exactness._union,
    "tagged-union": Exactness._tagged,
    "call": Exactness._call,
    "lax-or-strict": Exactness._lax_or_strict,
    "model": Exactness._class,
    "dataclass": Exactness._class,
    "model-fields": Exactness._fields,
    "typed-dict": Exactness._fields,
    "dataclass-args": Exactness._fields,
    "named-tuple": Exactness._fields,
}


def is_open(node: AnySchema) -> bool:
    """Return whether the author declares that an object accepts any key."""
    return bool(node.get("config", {}).get("extra_fields_behavior") == "allow")


def is_toolgen_model(node: AnySchema) -> bool:
    """Return whether a class is exact by itself."""
    return any(key.startswith("toolgen_") for key in node.get("metadata", {}))


def _null_left_out(field: AnySchema, schema: AnySchema) -> AnySchema:
    """Return the field; if its default is None, None is not serialized."""
    is_optional = schema["type"] == "default" and schema.get("default", ...) is None
    if is_optional and field["type"] != "named-tuple-field" and not keeps_null(schema):
        return {"serialization_exclude_if": _is_none, **field}
    return field


def _nulls_left_out(node: AnySchema) -> AnySchema:
    """Return an exact class that omits nulls in its JSON; its own codec has an option for that."""
    if "fields" not in node:
        return {**node, "schema": _nulls_left_out(node["schema"])}
    fields = node["fields"].items()
    return {**node, "fields": {name: _null_left_out(field, field["schema"]) for name, field in fields}}


def _is_none(value: object) -> bool:
    return is_(value, None)


def _enum(class_: type[Enum], members: list[Any]) -> AnySchema:
    values = {member.value: member for member in members}
    if unfit := [value for value in values if not isinstance(value, str | int)]:
        raise InexactJsonTypeError(
            f"{class_.__name__} has the value {unfit[0]!r}, which is not a string, an integer or a boolean"
        )
    value = foreign_exact(cs.literal_schema(list(values)))
    document = cs.no_info_after_validator_function(values.__getitem__, value)
    member = cs.enum_schema(class_, members, strict=True)
    written = cs.plain_serializer_function_ser_schema(attrgetter("value"), when_used="json")
    return dict(cs.json_or_python_schema(document, member, serialization=written))


def _keys(node: AnySchema) -> Iterator[str]:
    """Yield the JSON keys of an object, in order."""
    while "fields" not in node or (isinstance(node["fields"], list) and node["type"] == "dataclass"):
        if "schema" not in node:
            return
        node = node["schema"]
    fields = node["fields"]
    named = fields.items() if isinstance(fields, dict) else ((field["name"], field) for field in fields)
    for name, field in named:
        alias = field.get("validation_alias", name)
        yield alias if isinstance(alias, str) else name
