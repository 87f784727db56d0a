"""Validators derived from the field tree, for values in a design or a function.

`exact` narrows both the generated classes and these validators.
"""

from __future__ import annotations

import json
from typing import Any, assert_never, cast

from pydantic_core import CoreSchema, PydanticCustomError, SchemaValidator, ValidationError
from pydantic_core import core_schema as cs

from toolgen.contract.json_value import Json

from .. import lexical as forms
from ..constraints import core_keywords
from ..design.issues import IssueReader
from ..every_rule import hidden_errors
from ..exact import exact, json_value_schema, unique
from ..fields import (
    ArrayType,
    DataType,
    EnumType,
    Foreign,
    MapType,
    NullableType,
    NumberType,
    Objects,
    RefType,
    ScalarKind,
    ScalarType,
    StringType,
    UnionType,
    null_is_a_value,
)
from ..issues import FieldIssue
from ..patterns import to_rust
from .schema import type_schema

_SCALARS: dict[ScalarKind, CoreSchema] = {
    "boolean": cs.bool_schema(),
    "bytes": cs.bytes_schema(),
    "date": cs.date_schema(),
    "datetime": cs.datetime_schema(),
    "duration": cs.timedelta_schema(),
    "uuid": cs.uuid_schema(),
    "url": cs.str_schema(pattern=forms.URL),
    "decimal": cs.decimal_schema(),
    "any": json_value_schema(),
}

_CONFIG = cs.CoreConfig(strict=True, allow_inf_nan=False)


class Validator:
    """Checks JSON values against one type of the field tree."""

    def __init__(self, type_: DataType, objects: Objects) -> None:
        builder = _Builder(objects)
        schema: Any = exact(builder.build(type_))
        if builder.definitions:
            schema = cs.definitions_schema(schema, list(builder.definitions.values()))
        self._schema = schema
        self._validator = SchemaValidator(schema, _CONFIG)
        self._type, self._objects = type_, objects

    def parse(self, value: Json) -> Any:
        """Return the Python value; an object is a dict by JSON key.

        Raises:
            pydantic_core.ValidationError: the value does not fit.
        """
        return self._validator.validate_json(json.dumps(value))

    def issues(self, value: Json) -> tuple[FieldIssue, ...]:
        """Return all issues of the value."""
        try:
            self.parse(value)
        except ValidationError as error:
            hidden = hidden_errors(self._schema, _CONFIG, is_literal=False)
            # In a variable, the error would be a cycle by its traceback, with the variables of all callers.
            every = (hidden(error, json.dumps(value)) if hidden else error).errors(include_url=False)
            return IssueReader(type_schema(self._type, self._objects)).issues(every)
        return ()


class _Builder:
    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self.definitions: dict[str, CoreSchema] = {}

    def build(self, type_: DataType) -> CoreSchema:
        match type_:
            case StringType():
                return _string(type_)
            case NumberType():
                return (cs.int_schema if type_.integer else cs.float_schema)(**core_keywords(type_))
            case EnumType():
                return cs.literal_schema(list(type_.values))
            case ScalarType():
                bounded: Any = {**_SCALARS[type_.kind], **core_keywords(type_)}
                return cast(CoreSchema, bounded)
            case ArrayType():
                items = self.build(type_.items)
                array = cs.list_schema(items, **core_keywords(type_))
                return unique(array) if type_.unique_items else array
            case MapType():
                keys, values = _string(type_.keys), self.build(type_.values)
                return cs.dict_schema(keys, values, **core_keywords(type_))
            case NullableType():
                return cs.nullable_schema(self.build(type_.inner))
            case UnionType(branches=((_, only),)):
                return self._ref(only.name)
            case UnionType():
                choices = {tag: self._ref(branch.name) for tag, branch in type_.branches}
                return cs.tagged_union_schema(choices, type_.tag)
            case RefType():
                return self._ref(type_.name)
            case _:
                assert_never(type_)

    def _ref(self, name: str) -> CoreSchema:
        if name not in self.definitions:
            self.definitions[name] = cs.any_schema()  # a placeholder that ends a recursion
            fields = {}
            object_ = self._objects[name]
            if object_.foreign is not None:
                self.definitions[name] = _foreign(object_.foreign, name)
                return cs.definition_reference_schema(name)
            for field in object_.fields:
                schema = self.build(field.type)
                if not field.required and not null_is_a_value(field.type):
                    schema = cs.nullable_schema(schema)
                fields[field.name] = cs.typed_dict_field(schema, required=field.required)
            object_schema = cs.typed_dict_schema(
                fields,
                extra_behavior="allow" if object_.open else "forbid",
                extras_schema=json_value_schema() if object_.open else None,
                ref=name,
                config=_CONFIG,
            )
            self.definitions[name] = exact(object_schema)
        return cs.definition_reference_schema(name)


def _foreign(foreign: Foreign, name: str) -> CoreSchema:
    """Return the validator of a foreign schema; its issues are joined into one message."""
    from ..foreign.rules import Rules  # jsonschema-rs is a dependency of the generator, not of the runtime

    rules = Rules(foreign.schema)

    def check(value: Json) -> Json:
        if issues := rules.issues(value):
            raise PydanticCustomError("foreign", "{issues}", {"issues": "; ".join(map(str, issues))})
        return value

    return cs.no_info_after_validator_function(check, json_value_schema(), ref=name)


def _string(type_: StringType) -> CoreSchema:
    pattern = forms.STRING_FORMATS[type_.format] if type_.format else type_.pattern and to_rust(type_.pattern)
    return cs.str_schema(pattern=pattern, **core_keywords(type_))
