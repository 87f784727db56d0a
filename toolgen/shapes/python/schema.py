"""JSON Schema of hand-written Python types, in the style of `tree/schema.py`.

Objects are closed, properties have titles, and each value is described in its lexical form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue, JsonSchemaWarningKind
from pydantic_core import core_schema as cs

from toolgen.contract.json_pointer import definition_of
from toolgen.contract.json_value import Json

from .. import exact
from ..constraints import FLAGS, sentence_of, with_sentence
from ..lexical import BYTES, DECIMAL, DURATION
from ..naming import title
from ..numbers import MADE_OF
from ..values import plain
from .annotations import readable
from .validator import is_open, is_toolgen_model

(_UNIQUE,) = FLAGS

_ANNOTATIONS: Final = ("title", "description", "default", "examples", "deprecated")
"""Annotations, which are at the end of a schema, but at the beginning of an object."""
_SENTENCE: Final = "toolgen_sentence"
"""Keyword for the sentence of a value's limits until its description is known."""
_FORMS: Final[Mapping[str, Mapping[str, str]]] = {
    "bytes": {"contentEncoding": "base64", "pattern": BYTES},
    "date": {"format": "date"},
    "datetime": {"format": "date-time"},
    "timedelta": {"pattern": DURATION},
    "decimal": {"pattern": DECIMAL},
}
"""The lexical forms by pydantic's kind."""
_MAPS: Final = ("properties", "$defs")
UNWARNED: Final[set[JsonSchemaWarningKind]] = {
    "skipped-choice",
    "skipped-discriminator",
    "non-serializable-default",
}
"""Kinds of parts that pydantic omits from a schema without a warning."""


def core_schema_of(type_: Any) -> Any:
    """Return pydantic's core schema of a type.

    Raises:
        ValueError: there is none.
    """
    if type_ is None or type_ is type(None):
        return _nothing()
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(readable(type_))
        adapter.rebuild()
        return adapter.core_schema
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise ValueError(error.message.splitlines()[0].split(". ")[0].rstrip(".")) from error
    except (TypeError, AttributeError, NameError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _nothing() -> object:
    """Return the schema of None as a result: the empty object, as for a generated tool without `Return`."""
    empty = cs.typed_dict_schema({}, extra_behavior="forbid")
    return cs.json_or_python_schema(
        cs.no_info_after_validator_function(_none, empty),
        cs.none_schema(),
        serialization=cs.plain_serializer_function_ser_schema(_empty),
    )


def _none(value: object) -> None:
    return None


def _empty(value: object) -> dict[str, Json]:
    return {}


def type_schema_of(schema: Any, mode: JsonSchemaMode, description: str = "") -> dict[str, Json]:
    """Return the JSON Schema of a core schema that pydantic built for a type.

    `description` is used if the type has no description of its own.

    Raises:
        ValueError: the type has values that no JSON Schema describes; the message names them.
    """
    try:
        json_schema = _Writer(by_alias=True).generate(schema, mode)
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise ValueError(error.message.splitlines()[0].split(". ")[0].rstrip(".")) from error
    if description:
        json_schema.setdefault("description", description)
    ordered: dict[str, Json] = _ordered(with_limit_sentences(json_schema))
    return ordered


def title_of(schema: Mapping[str, Any]) -> str:
    """Return the title of a schema, or of the definition that it only refers to; empty without one."""
    name = definition_of(schema.get("$ref"))
    return str(schema.get("title") or (schema["$defs"][name].get("title", name) if name else ""))


def with_title_first(schema: dict[str, Json]) -> dict[str, Json]:
    """Return the schema with the title after the type, like the schema of an object."""
    order = ["type", "title", "description"] if "properties" in schema else [*schema]
    return {key: schema[key] for key in (*order, *schema) if key in schema}


def with_limit_sentences(schema: Any) -> Any:
    """Return the schema; descriptions of values end with the limits that no keyword expresses."""
    match schema:
        case list():
            return [with_limit_sentences(part) for part in schema]
        case dict():
            described = {key: with_limit_sentences(part) for key, part in schema.items() if key != _SENTENCE}
            if sentence := schema.get(_SENTENCE):
                described["description"] = with_sentence(schema.get("description", ""), sentence)
            return described
        case _:
            return schema


def text_schema(schema: Any) -> JsonSchemaValue:
    """Return the schema of a text, with annotations for its limits, as for a designed type.

    `with_limit_sentences` uses their sentence.
    """
    form: JsonSchemaValue = {"type": "string", **_FORMS[schema["type"]]}
    limits = [(row, plain(limit)) for row, limit in exact.own_limits(schema)]
    if not limits:
        return form
    return {**form, **{row.keyword: limit for row, limit in limits}, _SENTENCE: sentence_of(limits)}


def limited_text(schema: object) -> JsonSchemaValue | None:
    """Return the schema of a text with limits; None if it has no limits."""
    return text_schema(schema) if exact.own_limits(schema) else None


class _Writer(GenerateJsonSchema):
    """Writes pydantic's JSON Schema in the style of `tree/schema.py`.

    Defaults that JSON cannot express are omitted.
    """

    ignored_warning_kinds = UNWARNED

    def field_title_should_be_set(self, schema: object) -> bool:
        return True

    def get_title_from_name(self, name: str) -> str:
        return title(name)

    def sort(self, value: Any, parent_key: str | None = None) -> Any:
        return value

    def bytes_schema(self, schema: object) -> JsonSchemaValue:
        return text_schema(schema)

    def date_schema(self, schema: object) -> JsonSchemaValue:
        return text_schema(schema)

    def datetime_schema(self, schema: object) -> JsonSchemaValue:
        return text_schema(schema)

    def timedelta_schema(self, schema: object) -> JsonSchemaValue:
        return text_schema(schema)

    def decimal_schema(self, schema: object) -> JsonSchemaValue:
        return text_schema(schema)

    def set_schema(self, schema: Any) -> JsonSchemaValue:
        return _without(super().set_schema(schema), _UNIQUE.keyword)

    def frozenset_schema(self, schema: Any) -> JsonSchemaValue:
        return _without(super().frozenset_schema(schema), _UNIQUE.keyword)

    def nullable_schema(self, schema: Any) -> JsonSchemaValue:
        return _nullable(self.generate_inner(schema["schema"]))

    def enum_schema(self, schema: Any) -> JsonSchemaValue:
        values = [member.value for member in schema["members"]]
        written: JsonSchemaValue = {"type": "string" if isinstance(values[0], str) else "integer"}
        written |= {"enum": values} if len(values) > 1 else {"const": values[0]}
        return {**written, "title": schema["cls"].__name__}

    def literal_schema(self, schema: Any) -> JsonSchemaValue:
        json_schema = super().literal_schema(schema)
        return (
            {"type": ["string", "null"], **json_schema}
            if None in json_schema.get("enum", ()) and "type" in json_schema
            else json_schema
        )

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        """Omit null for a field that is None when it is absent, or if null means absent."""
        inner = schema["schema"]
        if inner["type"] == "function-after" and inner["schema"]["type"] == "nullable":
            is_ours = inner["function"]["function"].__module__ == exact.__name__
            inner = inner["schema"]["schema"] if is_ours else inner
        if schema.get("default", ...) is None:
            return self.generate_inner(inner["schema"] if inner["type"] == "nullable" else inner)
        without_null: Any = {**schema, "schema": inner}
        return super().default_schema(without_null)

    def tagged_union_schema(self, schema: Any) -> JsonSchemaValue:
        return _without(super().tagged_union_schema(schema), "discriminator")  # a keyword of OpenAPI

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        return _closed(schema, super().model_schema(schema))

    def dataclass_schema(self, schema: Any) -> JsonSchemaValue:
        return _closed(schema, super().dataclass_schema(schema))

    def typed_dict_schema(self, schema: Any) -> JsonSchemaValue:
        return _closed(schema, super().typed_dict_schema(schema))

    # The following methods write the schemas that `exact` creates.

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        return super().generate_inner(schema.get("metadata", {}).get(MADE_OF, schema))

    def chain_schema(self, schema: Any) -> JsonSchemaValue:
        return self.generate_inner(schema["steps"][-1])

    def union_schema(self, schema: Any) -> JsonSchemaValue:
        if schema.get("custom_error_type") == "int_type":
            return {"type": "integer"}
        return super().union_schema(schema)


def _closed(schema: object, json_schema: JsonSchemaValue) -> JsonSchemaValue:
    if "properties" not in json_schema and json_schema.get("type") != "object":
        return json_schema
    rest = _without(json_schema, "additionalProperties")
    is_closed = not is_open(schema) and (
        not is_toolgen_model(schema) or json_schema.get("additionalProperties") is False
    )
    return {**rest, "additionalProperties": False} if is_closed else rest


def _without(schema: JsonSchemaValue, key: str) -> JsonSchemaValue:
    return {name: value for name, value in schema.items() if name != key}


def _nullable(schema: JsonSchemaValue) -> JsonSchemaValue:
    if not isinstance(schema.get("type"), str):
        return {"anyOf": [schema, {"type": "null"}]}
    values = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {**schema, "type": [schema["type"], "null"], **values}


def _ordered(schema: Any) -> Any:
    """Return the schema with its keywords in the order of `tree/schema.py`."""
    if isinstance(schema, list):
        return [_ordered(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    annotations = [key for key in _ANNOTATIONS if key in schema]
    kinds = ["type", "$ref"]
    first = [*kinds, *annotations] if "properties" in schema else kinds
    last = [] if "properties" in schema else annotations
    rest = [key for key in schema if key not in (*first, *last, "$defs")]
    keys = [key for key in (*first, *rest, *last, "$defs") if key in schema]
    return {key: _ordered_at(key, schema[key]) for key in keys}


def _ordered_at(key: str, value: Any) -> object:
    if key in _MAPS:
        return {name: _ordered(part) for name, part in value.items()}
    return value if key in ("default", "enum", "const", "examples", "required") else _ordered(value)
