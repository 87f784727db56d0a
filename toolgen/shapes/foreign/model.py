"""The base class for types of foreign schemas, which is open and records the values that were set.

`OpenModel` documents the behavior of both.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, Field, GetCoreSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema
from pydantic_core import core_schema as cs

from toolgen.contract.json_value import Json, objects_in

from ..design.model import AnyJson, Injected, OpenModel, ToolModel
from ..exact import keeps_null, null_kept
from ..labels import BOUNDARY
from ..naming import field_name
from .validator import foreign_exact, foreign_fields

T = TypeVar("T")

_DONE: Final = "toolgen_foreign_exact"


class SchemaModel(OpenModel):
    """An object of a foreign schema.

    Undeclared keys are stored and written again, unless the class sets `extra="forbid"`. Null is a value only
    if the type is `Nullable` or `AnyJson`. A document is written with the values that were set: it has no
    default that was absent before, and each null that was present. An optional field that Python code sets to
    None is omitted.
    """

    __pydantic_extra__: dict[str, AnyJson] = Field(init=False)  # pyright: ignore[reportIncompatibleVariableOverride]  # pydantic's way to type the further keys

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        model: Any = handler.resolve_ref_schema(schema)
        while model["type"] != "model":  # a validator of the author wraps the model
            model = model["schema"]
        metadata = model.setdefault("metadata", {})
        if _DONE not in metadata:
            metadata[_DONE] = True
            is_open = cls.model_config.get("extra") != "forbid"
            model["config"] = {**model.get("config", {}), "extra_fields_behavior": "allow"}
            model["schema"] = _exact_fields(model["schema"], _without_injected(cls), is_open=is_open)
        return schema


def _exact_fields(schema: Any, clean: Callable[[Any], Any] | None, *, is_open: bool) -> object:
    if schema["type"] != "model-fields":
        return {**schema, "schema": _exact_fields(schema["schema"], clean, is_open=is_open)}
    fields = foreign_fields(schema, is_open=is_open)
    if clean is None or not is_open:
        return fields
    return cs.no_info_after_validator_function(clean, fields)


def _without_injected(cls: type[ToolModel]) -> Callable[[Any], Any] | None:
    """Return a function that removes keys of a document that are named like injected fields, or None."""
    members = [member for class_ in cls.__mro__ for member in vars(class_).items()]
    injected = {name for name, value in members if isinstance(value, Injected)}
    if not injected:
        return None

    def clean(validated: tuple[dict[str, Json], dict[str, Json] | None, set[str]]) -> Any:
        values, extra, names = validated
        if extra:
            sent = {key for key in extra if key in injected or field_name(key) in injected}
            extra = {key: value for key, value in extra.items() if key not in sent}
            names = names - sent
        return values, extra, names

    return clean


class Exact:
    """Marks a type that is not just a class, so that all of it becomes exact."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> Any:
        return foreign_exact(handler(source))


class _Foreign:
    """Marks a value of a foreign schema inside a designed class; it has its own serializer."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> Any:
        schema = foreign_exact(handler(source))

        @cache
        def serializer() -> Any:
            if isinstance(source, type) and issubclass(source, BaseModel):
                source.model_rebuild()
                return source.__pydantic_serializer__
            return exact_adapter(source).serializer

        def serialize(value: Json, info: cs.SerializationInfo) -> Any:
            return serializer().to_python(
                value, mode=info.mode, by_alias=info.by_alias, exclude_unset=True, warnings="error"
            )

        written = cs.plain_serializer_function_ser_schema(serialize, info_arg=True)
        node = cs.union_schema([(schema, BOUNDARY)], auto_collapse=False, serialization=written)
        return null_kept(node) if _takes_null(schema) else node


def _takes_null(schema: Any) -> bool:
    """Return whether null is a value of a foreign type, so that it is written and not omitted."""
    if keeps_null(schema):
        return True
    match schema["type"]:
        case "nullable" | "none":
            return True
        case "literal":
            return None in schema["expected"]
        case "union":
            choices = (choice[0] if isinstance(choice, tuple) else choice for choice in schema["choices"])
            return any(_takes_null(choice) for choice in choices)
        case "function-after" | "function-before" | "definitions" | "default":
            return _takes_null(schema["schema"])
        case _:
            return False


Foreign = Annotated[T, _Foreign]
"""The type of a field in a designed class whose value follows a third-party schema."""


def exact_adapter(type_: Any) -> TypeAdapter[Any]:
    """Return the validator and the serializer of a type: a class, a list of classes, a union, a scalar."""
    marked: Any = Annotated[type_, Exact]
    adapter: TypeAdapter[Any] = TypeAdapter(marked)
    adapter.rebuild()  # a class defers its build to the first use
    return adapter


def has_defaults(schema: Any) -> bool:
    """Return whether serializers must omit unset fields, so that a value is written as it was set.

    They need not if absence is the only default of any field. Omitting takes a third of the time of an
    encode.
    """
    return any(part.get("type") == "model-field" and _has_value(part) for part in objects_in(schema))


def _has_value(field: Any) -> bool:
    inner = field["schema"]
    is_left_out = "serialization_exclude_if" in field and inner.get("default", ...) is None
    return inner["type"] == "default" and not is_left_out
