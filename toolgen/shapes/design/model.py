"""The base classes of typed values: frozen, strict, in the exact forms of the contract."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from functools import partial
from typing import Annotated, Any, Final, Generic, Self, TypeVar, overload

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, JsonValue
from pydantic_core import CoreSchema
from pydantic_core import core_schema as cs

from .. import lexical as forms
from ..exact import exact, json_value_schema, keeps_null, null_kept, unique

T = TypeVar("T")


class _NullKept:
    """Marks a field for which null is a value and does not mean absent."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> object:
        return null_kept(handler(source))


class _AnyJson:
    """Marks a field that accepts any JSON value."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> object:
        return json_value_schema()


class _UniqueItems:
    """Marks a list without equal items."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> object:
        return unique(handler(source))


UniqueItems = Annotated[list[T], _UniqueItems]
Nullable = Annotated[T | None, _NullKept]
AnyJson = Annotated[JsonValue, _AnyJson]
Url = Annotated[str, Field(pattern=forms.URL)]
Email = Annotated[str, Field(pattern=forms.STRING_FORMATS["email"])]
Hostname = Annotated[str, Field(pattern=forms.STRING_FORMATS["hostname"])]
IPv4 = Annotated[str, Field(pattern=forms.STRING_FORMATS["ipv4"])]
IPv6 = Annotated[str, Field(pattern=forms.STRING_FORMATS["ipv6"])]

_DONE: Final = "toolgen_exact"


class NotInjectedError(RuntimeError):
    """An injected field was read before the runtime set it."""


class Injected(Generic[T]):
    """Descriptor of an injected field, for generated code. The field is in no schema, document or `repr`.

    Reading it before it is set raises an error. In a test, call `payload.set_<name>(value)`.
    """

    # `functools.cached_property` stores its value in the same place. pydantic's private attributes do so too,
    # but cost 1 µs on every instance.

    __slots__ = ("_name",)

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: ToolModel, owner: type) -> T: ...
    def __get__(self, instance: ToolModel | None, owner: type) -> T | Self:
        """Raise: a value that was set is an attribute of the instance, and hides this descriptor.

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
        """Set the value of a payload."""
        vars(instance)[self._name] = value

    def setter(self) -> InjectedSetter[T]:
        """Return the method that sets the value, which generated payloads have as `set_<name>`."""
        return InjectedSetter(self)


class InjectedSetter(Generic[T]):
    """A method that sets an injected field."""

    __slots__ = ("_field",)

    def __init__(self, field: Injected[T]) -> None:
        self._field = field

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: ToolModel, owner: type) -> Callable[[T], None]: ...
    def __get__(self, instance: ToolModel | None, owner: type) -> Callable[[T], None] | Self:
        return self if instance is None else partial(self._field.fill, instance)


class ToolModel(BaseModel):
    """Base class of payloads, results, artifacts and the objects inside them; a strict, frozen pydantic
    model.

    Undeclared keys are rejected, and values are never coerced. Construct an object by field names; JSON has
    the JSON keys. An absent optional field is None. Null in a document means absent, so a field with a
    default gets it.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        protected_namespaces=(),
        hide_input_in_errors=True,
        defer_build=True,
        ignored_types=(Injected, InjectedSetter),
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        model: Any = handler.resolve_ref_schema(schema)
        while model["type"] != "model":  # a validator of the author wraps the model
            model = model["schema"]
        metadata = model.setdefault("metadata", {})
        if _DONE not in metadata:
            metadata[_DONE] = True
            model["schema"] = exact(model["schema"])
            if cls.model_config.get("extra") == "allow":
                _fields_of(model).setdefault("extras_schema", json_value_schema())
            serializer = _null_keeping(_fields_of(model))
            if serializer is not None:
                model["serialization"] = cs.wrap_serializer_function_ser_schema(serializer, info_arg=True)
        return schema

    # The views of an instance exclude the values that `Injected` stores in its `__dict__`.

    def __iter__(self) -> Generator[tuple[str, Any], None, None]:
        """Yield the name and the value of each field that is not absent.

        So `Other(**dict(this))` preserves absent fields and nulls if both classes have the same fields.
        """
        for name, value in _only_fields(self, vars(self)).items():
            if value is not None or name in self.model_fields_set:
                yield name, value

    def __getstate__(self) -> dict[Any, Any]:
        return {**super().__getstate__(), "__dict__": _only_fields(self, vars(self))}


class OpenModel(ToolModel):
    """An object that accepts keys beyond its fields, and stores them in `model_extra`.

    Each can have any JSON value, including null. It is written back under its key, after the fields and
    unchanged. In Python, such keys are passed as `**{"key": value}`.
    """

    model_config = ConfigDict(extra="allow")

    def __iter__(self) -> Generator[tuple[str, Any], None, None]:
        yield from super().__iter__()
        yield from (self.model_extra or {}).items()


def _only_fields(model: ToolModel, values: Mapping[str, object]) -> dict[str, object]:
    fields = type(model).__pydantic_fields__
    return {name: value for name, value in values.items() if name in fields}


def _fields_of(schema: Any) -> Any:
    """Return the core schema of a model's fields."""
    while schema["type"] != "model-fields":
        schema = schema["schema"]
    return schema


def _null_keeping(schema: Any) -> cs.WrapSerializerFunction | None:
    """Return the serializer that preserves nulls that are values, which `exclude_none` removes.

    It is derived from the core schema of the fields: the class might not know its fields yet if they refer to
    classes defined below it.
    """
    is_open = "extras_schema" in schema
    fields = [
        (name, field.get("serialization_alias", name), keeps_null(field["schema"]))
        for name, field in schema["fields"].items()
    ]
    if not is_open and not any(keeps_its_null for _, _, keeps_its_null in fields):
        return None

    def serialize(
        value: ToolModel, handler: cs.SerializerFunctionWrapHandler, info: cs.SerializationInfo
    ) -> object:
        written: dict[str, object] = handler(value)
        document: dict[str, Any] = {}
        for name, alias, keeps_its_null in fields:
            key = name if info.by_alias is False else alias
            if key in written:
                document[key] = written[key]
            elif keeps_its_null and getattr(value, name) is None and name in value.model_fields_set:
                document[key] = None
        for key, item in (value.model_extra or {}).items() if is_open else ():
            if key in written or item is None:
                document.setdefault(key, written.get(key))
        return document

    return serialize


def further_keys(value: OpenModel) -> dict[str, Any]:
    """Return the keys beyond a model's fields, as keyword arguments for another model with its fields."""
    return {
        key: item for key, item in (value.model_extra or {}).items() if key not in type(value).model_fields
    }


def present_fields(value: ToolModel, /, **fields: str) -> dict[str, Any]:
    """Return the set optional fields of a model as keyword arguments for another model.

    The keyword is the target's field, its value the field of `value`: absent stays absent, null stays null.
    """
    present = value.model_fields_set
    return {target: getattr(value, source) for target, source in fields.items() if source in present}
