"""Exact validators: pydantic's validators, adapted to accept exactly the values of the JSON Schema.

pydantic's strict JSON mode takes epoch numbers for dates, unpadded base64 and `true` for `Literal[1]`, and
refuses `5.0` for an integer. `exact` rewrites a core schema so that each value has one lexical form, chained
before the type in pydantic-core: no Python runs for the arguments from a model. Values that Python code
constructs are checked by pydantic's own strict rules.
"""

from __future__ import annotations

import base64
import datetime as dt
import math
import operator
from collections.abc import Callable, Mapping, Set
from decimal import Decimal
from typing import Any, Final

from pydantic_core import PydanticCustomError, PydanticKnownError, PydanticUseDefault, to_jsonable_python
from pydantic_core import core_schema as cs

from toolgen.contract.json_value import Json, identity

from . import lexical as forms
from .constraints import FLAGS, LIMITS, OF_BYTES, Constraint, limits_of
from .numbers import MADE_OF, AnySchema, limited, number
from .values import bytes_text, decimal_text, duration_text, plain

_OWN: Final[Mapping[str, tuple[Constraint, ...]]] = {
    "date": limits_of("date"),
    "datetime": limits_of("datetime"),
    "timedelta": limits_of("duration"),
    "decimal": limits_of("decimal"),
    "bytes": OF_BYTES,
}
"""The limits of values that are strings in JSON, by kind; no keyword of JSON Schema expresses them."""
_UNIQUE: Final = "toolgen_unique"
_NULL_KEPT: Final = "toolgen_null_kept"
_INNER: Final = {
    "default": ("schema",),
    "nullable": ("schema",),
    "list": ("items_schema",),
    "dict": ("keys_schema", "values_schema"),
    "model-field": ("schema",),
    "typed-dict-field": ("schema",),
    "function-after": ("schema",),
    "function-before": ("schema",),
    "function-wrap": ("schema",),
}


_OF_ANYTHING: Final = ("items_schema", "values_schema")
"""Keys of core schemas that accept any JSON value if they are missing."""
_LIMITS: Final = {row.core for row in LIMITS}
_ENFORCED: Final = {
    "int": cs.IntSchema,
    "float": cs.FloatSchema,
    "str": cs.StringSchema,
    "bytes": cs.BytesSchema,
    "date": cs.DateSchema,
    "datetime": cs.DatetimeSchema,
    "timedelta": cs.TimedeltaSchema,
    "decimal": cs.DecimalSchema,
    "list": cs.ListSchema,
    "dict": cs.DictSchema,
}
"""The keywords that pydantic-core enforces, by kind; it silently ignores all others."""


def exact(schema: AnySchema) -> Any:
    """Return a core schema that accepts exactly the lexical forms of the contract.

    Raises:
        TypeError: the schema has a limit that no validator of its kind enforces.
    """
    node: AnySchema = dict(schema)
    kind = node["type"]
    if unknown := (_LIMITS & node.keys()) - _enforced(kind):
        raise TypeError(f"no validator of {kind!r} enforces the limit {min(unknown)!r}")
    if kind in _SCALARS:
        return _SCALARS[kind](node)
    if kind == "function-after" and node["function"].get("function") is json_value:
        return node
    if kind in ("model-fields", "typed-dict"):
        node["fields"] = {name: exact(field) for name, field in node["fields"].items()}
    elif kind == "tagged-union":
        node["choices"] = {tag: exact(choice) for tag, choice in node["choices"].items()}
        return by_key(node)
    for key in _INNER.get(kind, ()):
        if key in node or key in _OF_ANYTHING:
            node[key] = exact(node.get(key, cs.any_schema()))
    if kind == "list" and _UNIQUE in node.get("metadata", {}):
        return dict(cs.no_info_after_validator_function(all_different, node))
    return _null_gives_default(node) if kind == "default" else node


def _enforced(kind: str) -> Set[str]:
    keywords = _ENFORCED[kind].__annotations__.keys() if kind in _ENFORCED else frozenset[str]()
    return keywords | {row.core for row in _OWN.get(kind, ())}


def own_limits(node: AnySchema) -> list[tuple[Constraint, object]]:
    """Return the limits of a value that is a string in JSON, each with the value for the comparison."""
    rows = [row for row in _OWN.get(node["type"], ()) if row.core in node]
    return [(row, _limit(node["type"], node[row.core])) for row in rows]


def _limit(kind: str, limit: object) -> object:
    """Return a limit; for decimals, a number becomes the decimal of its digits."""
    return Decimal(str(limit)) if kind == "decimal" else limit


def json_value(value: object) -> object:
    """Return the value if it is JSON: no NaN, no infinity, only JSON's types, string keys."""
    match value:
        case None | bool() | str() | int():
            return value
        case float():
            if not math.isfinite(value):
                raise PydanticKnownError("finite_number")
            return value
        case list():
            for item in value:
                json_value(item)
            return value
        case dict():
            for key, item in value.items():
                if not isinstance(key, str):
                    break
                json_value(item)
            else:
                return value
        case _:
            pass
    raise PydanticCustomError("json_type", "Input should be a JSON value")


def json_value_schema() -> Any:
    return null_kept(cs.no_info_after_validator_function(json_value, cs.any_schema()))


def null_kept(schema: AnySchema) -> object:
    """Return the schema with a mark: its null is a value and does not mean absent."""
    return {**schema, "metadata": {**schema.get("metadata", {}), _NULL_KEPT: True}}


def unique(schema: AnySchema) -> Any:
    """Return the schema of a list with a mark: it has no equal items."""
    return {**schema, "metadata": {**schema.get("metadata", {}), _UNIQUE: True}}


def keeps_null(schema: AnySchema) -> bool:
    """Return whether null is a value for a field's schema."""
    inner = schema["schema"] if schema["type"] == "default" else schema
    return _NULL_KEPT in inner.get("metadata", {})


def _whole(value: float) -> int:
    if not value.is_integer():
        raise PydanticKnownError("int_type")
    return int(Decimal(repr(value)))  # its digits: 1e23 is 10 to the 23rd, which its float is not


WIDE_INT: Final = cs.union_schema(
    [
        cs.int_schema(strict=True),
        cs.no_info_after_validator_function(_whole, cs.float_schema(strict=True, allow_inf_nan=False)),
    ],
    mode="left_to_right",
    custom_error_type="int_type",
    serialization=cs.simple_ser_schema("int"),
)


_JSON_KEEPS: Final = cs.plain_serializer_function_ser_schema(operator.pos, when_used="json")
"""Serializer of a number, in C.

Without it, a union around the number, which has two schemas, would sometimes write an integer as a float.
"""


def _int(node: AnySchema) -> AnySchema:
    constraints = {row.core: node[row.core] for row in limits_of("integer") if row.core in node}
    if not constraints:
        return dict(WIDE_INT)
    return dict(cs.chain_schema([WIDE_INT, cs.int_schema(**constraints)]))


def _float(node: AnySchema) -> AnySchema:
    return {"serialization": _JSON_KEEPS, **number(node)}


def _literal(node: AnySchema) -> AnySchema:
    if isinstance(node["expected"][0], str):
        return node
    return dict(cs.chain_schema([WIDE_INT, node]))


def _lexical_schema(pattern: str, python: AnySchema, text: Callable[[Any], str] | None = None) -> AnySchema:
    """Return the schema that accepts the lexical form in JSON and the type itself in Python.

    Limits are compared in Python: pydantic-core sorts `-PT0S` below zero, and shows a duration in words.
    """
    node, limits = python, {row: limit for row, limit in own_limits(python) if not _is_naive(limit)}
    checks = [limited(row, limit) for row, limit in limits.items()]
    python = {key: value for key, value in python.items() if key not in {row.core for row in limits}}
    form = cs.str_schema(pattern=pattern, strict=True)
    parsed: Any = {**python, "strict": False}
    strict: Any = {**python, "strict": True}
    ser = cs.plain_serializer_function_ser_schema(text, when_used="json") if text else None
    if python["type"] == "timedelta":
        parsed = cs.no_info_wrap_validator_function(_within_days, parsed)
    for check in checks:
        parsed, strict = (cs.no_info_after_validator_function(check, schema) for schema in (parsed, strict))
    document = cs.chain_schema([form, parsed])
    return dict(cs.json_or_python_schema(document, strict, serialization=ser, metadata={MADE_OF: node}))


def _within_days(text: object, parse: Callable[[object], object]) -> object:
    """Return the duration of a text; pydantic-core parses some durations below the smallest `timedelta`."""
    try:
        return parse(text)
    except OverflowError:
        most = "durations may not exceed 999,999,999 days"
        raise PydanticKnownError("time_delta_parsing", {"error": most}) from None


def _is_naive(bound: object) -> bool:
    """Return whether a bound is a datetime without a time zone; only an author's own type can have one."""
    return isinstance(bound, dt.datetime) and bound.utcoffset() is None


def _datetime(node: AnySchema) -> AnySchema:
    return _lexical_schema(forms.DATETIME, {**node, "tz_constraint": "aware"})


def _bytes(node: AnySchema) -> AnySchema:
    form = cs.str_schema(pattern=forms.BYTES, strict=True)
    decoded = cs.no_info_after_validator_function(base64.b64decode, form)
    strict: Any = {**node, "strict": True}
    text = cs.plain_serializer_function_ser_schema(bytes_text, when_used="json")
    document = cs.chain_schema([decoded, strict])
    return dict(cs.json_or_python_schema(document, strict, serialization=text, metadata={MADE_OF: node}))


_LEXICAL: Final[dict[str, Callable[[AnySchema], AnySchema]]] = {
    "datetime": _datetime,
    "date": lambda node: _lexical_schema(forms.DATE, node),
    "timedelta": lambda node: _lexical_schema(forms.DURATION, node, duration_text),
    "uuid": lambda node: _lexical_schema(forms.UUID, node),
    "decimal": lambda node: _lexical_schema(forms.DECIMAL, node, decimal_text),
}
"""The kinds whose own limits are compared in Python."""
_SCALARS: Final[dict[str, Callable[[AnySchema], AnySchema]]] = {
    "int": _int,
    "float": _float,
    "any": lambda node: dict(cs.no_info_after_validator_function(json_value, node)),
    "literal": _literal,
    "bytes": _bytes,
    **_LEXICAL,
}


def by_key(node: AnySchema) -> AnySchema:
    """Return a union that selects its branch in documents by the JSON key of the tag.

    pydantic looks for the tag's Python name first, which can be another key of an open branch. Validation and
    serialization of instances do so, because instances can have any attribute with the name of the key.
    """
    match node["discriminator"]:
        case [[str()], [str()] as key]:
            by_key: AnySchema = {**node, "discriminator": [key]}
            # Validation uses the lax schema, because strict is False here; serialization uses the strict one.
            document = cs.lax_or_strict_schema(by_key, node, strict=False)
            return dict(cs.json_or_python_schema(document, node))
        case _:
            return node


def _null_gives_default(node: AnySchema) -> AnySchema:
    """Return the schema of a defaulted field for which null in a document means absent."""
    inner = node["schema"]
    # A literal is the tag of a union, and pydantic requires it. Any other default of one value has a factory.
    is_tag = inner["type"] == "literal" and len(inner["expected"]) == 1 and "default" in node
    if not is_tag and not keeps_null(node) and inner["type"] != "nullable":
        node["schema"] = dict(cs.no_info_after_validator_function(_absent_if_null, cs.nullable_schema(inner)))
    return node


def means_absent(schema: AnySchema) -> bool:
    """Return whether a schema treats null as absent."""
    return schema["type"] == "function-after" and schema["function"].get("function") is _absent_if_null


def _absent_if_null(value: object) -> object:
    if value is None:
        raise PydanticUseDefault
    return value


(_UNIQUE_ROW,) = FLAGS
_UNIQUE_ERROR: Final[Any] = _UNIQUE_ROW.error
_UNIQUE_MESSAGE: Final[Any] = _UNIQUE_ROW.message
"""The error for equal items; `Any`, because type checkers expect one of pydantic's literals."""
_PLAIN: Final = frozenset((str, int, float))
"""Classes whose values are equal in Python if and only if they are the same in JSON; bool is excluded."""


def all_different(items: list[Any]) -> list[Any]:
    """Return the items, or raise if two are equal (JSON Schema Validation 6.4.3).

    They are compared as the codec writes them: 1 equals 1.0 but not true, the order of keys does not matter,
    two texts of one UUID are equal, and an absent field equals its default.

    Raises:
        PydanticCustomError: two items are equal.
    """
    are_plain = _PLAIN.issuperset(map(type, items))
    if len(set(items) if are_plain else {identity(_written(item)) for item in items}) < len(items):
        raise PydanticCustomError(_UNIQUE_ERROR, _UNIQUE_MESSAGE)
    return items


def _written(value: object) -> Json:
    from pydantic import BaseModel  # `toolgen gen` needs it for nothing else

    match value:
        case BaseModel():
            written: Json = to_jsonable_python(value, by_alias=True, exclude_none=True)
            return written
        case list():
            return [_written(item) for item in value]
        case dict():
            return {key: _written(item) for key, item in value.items()}
        case _:
            return plain(value)
