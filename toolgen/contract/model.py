"""The base of every typed value: closed, frozen, strict, in the exact forms of the contract."""

from __future__ import annotations

from typing import Annotated, Any, Final, Generic, Self, TypeVar, overload

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, JsonValue
from pydantic_core import CoreSchema
from pydantic_core import core_schema as cs

from . import forms
from .exact import exact, json_value_schema

T = TypeVar("T")


class NullKept:
    """Marks a field for which null is a value and not another way to leave it out."""


class _AnyJson(NullKept):
    """Marks a field that takes any JSON value."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return json_value_schema()


Nullable = Annotated[T | None, NullKept]
AnyJson = Annotated[JsonValue, _AnyJson]
Url = Annotated[str, Field(pattern=forms.URL)]
Email = Annotated[str, Field(pattern=forms.STRING_FORMATS["email"])]
Hostname = Annotated[str, Field(pattern=forms.STRING_FORMATS["hostname"])]
IPv4 = Annotated[str, Field(pattern=forms.STRING_FORMATS["ipv4"])]
IPv6 = Annotated[str, Field(pattern=forms.STRING_FORMATS["ipv6"])]

_DONE: Final = "toolgen_exact"


class NotInjectedError(RuntimeError):
    """An injected field was read before the server set it."""


class Injected(Generic[T]):
    """An attribute that the server fills: in no schema, no document, no repr and no comparison.

    Kept where `functools.cached_property` keeps its value. pydantic's private attributes do the same
    and cost 1 µs on every instance.
    """

    __slots__ = ("_name",)

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: ToolModel, owner: type) -> T: ...
    def __get__(self, instance: ToolModel | None, owner: type) -> T | Self:
        """Raise, for a value that is set stands in the instance and hides this descriptor.

        Raises:
            NotInjectedError: the value was not set.
        """
        if instance is None:
            return self
        raise NotInjectedError(
            f"{owner.__name__}.{self._name} was read before it was set; the runtime sets it before it "
            f"calls an executor, a test calls `set_{self._name.rstrip('_')}(…)`"
        )

    def fill(self, instance: ToolModel, value: T) -> None:
        """Set the value; generated payloads offer it as `set_<name>`."""
        vars(instance)[self._name] = value


class ToolModel(BaseModel):
    """A payload, a result, an artifact, or an object inside one.

    Keys nobody declared are refused, values are never coerced, and instances do not change. Built by
    field name, written and read by JSON key. An optional field is None when it is absent; null in a
    document means absent, and gives a defaulted field its default.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        validate_by_name=True,
        validate_by_alias=True,
        protected_namespaces=(),
        hide_input_in_errors=True,
        defer_build=True,
        ignored_types=(Injected,),
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        model: Any = handler.resolve_ref_schema(schema)
        while model["type"] != "model":  # a validator of the author's stands around the model
            model = model["schema"]
        metadata = model.setdefault("metadata", {})
        if _DONE not in metadata:
            metadata[_DONE] = True
            model["schema"] = exact(model["schema"])
            kept = {name for name, field in cls.__pydantic_fields__.items() if _keeps_null(field.metadata)}
            if kept:
                model["serialization"] = cs.wrap_serializer_function_ser_schema(_with_nulls, info_arg=True)
        return schema


def _keeps_null(metadata: list[Any]) -> bool:
    return any(isinstance(item, type) and issubclass(item, NullKept) for item in metadata)


def _with_nulls(
    value: ToolModel, handler: cs.SerializerFunctionWrapHandler, info: cs.SerializationInfo
) -> Any:
    """Return the document with the nulls that `exclude_none` takes out although they are values."""
    written: dict[str, Any] = handler(value)
    document: dict[str, Any] = {}
    for name, field in type(value).__pydantic_fields__.items():
        key = (field.serialization_alias or name) if info.by_alias else name
        if key in written:
            document[key] = written[key]
        elif getattr(value, name) is None and name in value.model_fields_set and _keeps_null(field.metadata):
            document[key] = None
    return document
