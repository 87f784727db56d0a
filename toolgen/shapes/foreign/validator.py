"""Exact validators for foreign schemas.

Like `exact`, with two additions: null is a value only if the type allows it, and each error has all facts for
a reader of issues, because the schema can define them anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from operator import is_
from typing import Any, Final

from pydantic_core import core_schema as cs

from toolgen.contract.json_value import Json

from ..exact import by_key, exact, json_value_schema, keeps_null
from ..labels import BRANCH, LABEL, NO_BRANCH, NOT_AMONG, TAGGED, UNKNOWN_KEY
from ..numbers import AnySchema, floats_first

HIDDEN: Final = LABEL
"""Prefix of an additional key of an object while pydantic would otherwise take it for an attribute."""

_INNER: Final = {
    "definitions": ("schema",),
    "default": ("schema",),
    "list": ("items_schema",),
    "dict": ("keys_schema", "values_schema"),
    "function-after": ("schema",),
    "function-before": ("schema",),
    "function-wrap": ("schema",),
}
_NOTHING: Final = cs.str_schema(min_length=1, max_length=0)
_is_none: Final = partial(is_, None)


def foreign_exact(schema: AnySchema) -> Any:
    """Return the schema with every value in its exact form; nested models are unchanged."""
    node: AnySchema = dict(schema)
    match node["type"]:
        case "str" | "bool":
            return {**node, "strict": True}
        case "int" | "float":
            return exact(node)
        case "literal":
            return _literal(node)
        case "any":
            return json_value_schema()
        case "union":
            return _union(node)
        case "tagged-union":
            return _tagged(node)
        case "function-after" if keeps_null(node):
            return node
        case "nullable":
            return {**node, "schema": foreign_exact(_or_null(node["schema"]))}
        case kind:
            for key in _INNER.get(kind, ()):
                if key in node:
                    node[key] = foreign_exact(node[key])
            if kind in ("list", "dict"):
                node["strict"] = True
            return node


def foreign_fields(schema: AnySchema, *, is_open: bool) -> Any:
    """Return the exact form of a class's fields; an open class accepts additional keys."""
    fields = {name: _field(field) for name, field in schema["fields"].items()}
    keys = [field.get("validation_alias", name) for name, field in fields.items()]
    node = {**schema, "fields": fields, "extra_behavior": "allow"}
    if is_open:
        return _with_any_key({**node, "extras_schema": json_value_schema()}, fields)
    refusal = cs.custom_error_schema(
        _NOTHING,
        UNKNOWN_KEY,
        custom_error_message="is not a field here",
        custom_error_context={"allowed": json.dumps(keys)},
    )
    return {**node, "extras_keys_schema": refusal}


def _with_any_key(node: AnySchema, fields: AnySchema) -> object:
    """Return the fields of an open class, whose additional keys can have the name of an attribute.

    pydantic would set the field from such a key, so the key is renamed until the fields are read.
    """
    names = {name for name, field in fields.items() if field.get("validation_alias", name) != name}
    if not names:
        return node

    def hide(key: str) -> str:
        return HIDDEN + key if key in names or key.startswith(HIDDEN) else key

    def restore(validated: tuple[dict[str, Json], dict[str, Json] | None, set[str]]) -> Any:
        values, extra, names = validated
        if extra and any(key.startswith(HIDDEN) for key in extra):
            names = {key for key in names if not key.startswith(HIDDEN)}
            extra = {key.removeprefix(HIDDEN): value for key, value in extra.items()}
        return values, extra, names

    keys = cs.no_info_after_validator_function(hide, cs.str_schema(strict=True))
    closed_schema: AnySchema = {**node, "extras_keys_schema": keys}
    return cs.no_info_after_validator_function(restore, closed_schema)


def _field(field: AnySchema) -> AnySchema:
    """Return the exact form of a field; an optional one accepts None from Python code, but never null."""
    schema: AnySchema = dict(field["schema"])
    if schema["type"] != "default":
        return {**field, "schema": foreign_exact(schema)}
    inner = schema["schema"]
    if inner["type"] != "nullable" or keeps_null(inner):
        return {**field, "schema": foreign_exact(schema)}
    value = foreign_exact(inner["schema"])
    schema["schema"] = cs.json_or_python_schema(value, cs.nullable_schema(value))
    return {**field, "schema": schema, "serialization_exclude_if": _is_none}


def _literal(node: AnySchema) -> AnySchema:
    # A union even for one type: pydantic looks into it for the tags of a union of classes.
    return dict(
        cs.union_schema(
            list(_by_type(node["expected"])),
            auto_collapse=False,
            mode="left_to_right",
            custom_error_type=NOT_AMONG,
            custom_error_message="must be one of the allowed values",
            custom_error_context={"allowed": json.dumps(node["expected"])},
        )
    )


def _or_null(schema: AnySchema) -> AnySchema:
    """Return the schema inside a nullable one; choices among values then mention null."""
    match schema["type"]:
        case "literal":
            return {**schema, "expected": [*schema["expected"], None]}
        case "union":
            choices = [choice[0] if isinstance(choice, tuple) else choice for choice in schema["choices"]]
            return {**schema, "choices": [_or_null(choice) for choice in choices]}
        case _:
            return schema


def _by_type(values: list[object]) -> Iterator[Any]:
    for kind in (str, int, bool):
        if alike := [value for value in values if type(value) is kind]:
            literal = cs.literal_schema(alike)
            if kind is bool:
                yield cs.chain_schema([cs.bool_schema(strict=True), literal])
            else:
                yield exact(literal)


def _union(node: AnySchema) -> AnySchema:
    choices = [choice[0] if isinstance(choice, tuple) else choice for choice in node["choices"]]
    labelled = [
        (foreign_exact(choice), f"{BRANCH}{number}") for number, choice in enumerate(floats_first(choices))
    ]
    # "any": another union would serialize true as 1 by `int`, and no map of open classes.
    return {**node, "choices": labelled, "serialization": cs.simple_ser_schema("any")}


def _tagged(node: AnySchema) -> AnySchema:
    match node["discriminator"]:
        case [_, [str(key)]]:  # by name and by JSON key
            tag = key
        case key:
            tag = key
    choices = {
        value: cs.union_schema([(foreign_exact(choice), TAGGED)], auto_collapse=False)
        for value, choice in node["choices"].items()
    }
    facts = {"tag": tag, "allowed": json.dumps(list(choices))}
    error = {
        "custom_error_type": NO_BRANCH,
        "custom_error_message": "matches none of the allowed kinds",
        "custom_error_context": facts,
    }
    return by_key({**node, "choices": choices, **error})
