"""Codecs of Python types, constructed at run time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import (
    ErrorDetails,
    PydanticSerializationError,
    SchemaSerializer,
    SchemaValidator,
    from_json,
)
from typing_extensions import TypeVar

from toolgen.shapes.naming import type_title
from toolgen.shapes.python.issues import TypeReader
from toolgen.shapes.python.schema import core_schema_of, title_of, type_schema_of, with_title_first
from toolgen.shapes.python.sensitive import sensitive_places_of, without_marks
from toolgen.shapes.python.validator import CONFIG, Exactness
from toolgen.shapes.text_guard import count_patterns
from toolgen.shapes.union_guard import discriminate_unions, nodes_of, within_budget

from ..codec import Codec
from ..watching import watched

if TYPE_CHECKING:
    from pydantic_core import CoreConfig

    from toolgen.contract.json_value import Json
    from toolgen.shapes.issues import Findings

T = TypeVar("T", default=Any)

_SCALARS: Final = frozenset("bool float int none nullable str".split())
"""Core schemas whose validators return only values without objects, which need no further validation."""
_CLASSES: Final = frozenset(("model", "dataclass"))


class TypeCodec(Codec[T]):
    """Codec of a Python type that has a JSON Schema: a class, a list, a union or a scalar.

    Args:
        type_: The type.
        name: Name of the schema, if the type has no title of its own.
        is_result: Whether it is the type of a result; by default it is one of arguments.
        title: Title of the schema.
        description: Description in the schema.
    """

    __slots__ = ("_make", "_own", "_types")
    _form = (True, False, False)
    _make: Callable[[], TypeCodec[T]]
    """Builds the codec at its first use; only deferred ones have it."""

    def __init__(
        self, type_: Any, name: str, *, is_result: bool = False, title: str = "", description: str = ""
    ) -> None:
        """Construct the codec of a type. The class documents the arguments.

        Raises:
            ValueError: The type has no JSON Schema, or its values have no JSON form. The message has the
                reason.
        """
        core = core_schema_of(type_)
        schema = type_schema_of(core, "serialization" if is_result else "validation", description)
        own_title = title_of(schema)
        # pydantic uses the class name as the title of a class without a title.
        is_name = own_title in ("", getattr(type_, "__name__", ""))
        name = own_title or name
        schema["title"] = title or (type_title(name) if is_name else own_title)
        if description:
            schema["description"] = schema.pop("description")  # moves it after the title
        places, schema = sensitive_places_of(schema), without_marks(schema)
        text = json.dumps(with_title_first(schema), ensure_ascii=False, separators=(",", ":"))
        super().__init__(None, "", name, {name: text}, sensitive=places)
        exactness = Exactness(has_labels=True)
        labelled = exactness.of(core)
        discriminated = discriminate_unions(labelled)
        self._validate = _validator(labelled).validate_json
        self._own = exactness.own
        plain: Any = Exactness(has_labels=False).of(core)
        plain = discriminate_unions(plain) or plain
        self._check = _validator(plain).validate_python
        serializer = SchemaSerializer(plain, CONFIG, _use_prebuilt=False)
        always_fits = all(node["type"] in _SCALARS and "serialization" not in node for node in nodes_of(core))
        self._set_dump(serializer, always_fits=always_fits)  # it is validated before
        if any(node["type"] in _CLASSES for node in nodes_of(core)):
            self._dump = partial(_json_of, self._dump)
        if discriminated is not None:
            self._validate = within_budget(_validator(discriminated).validate_json)
            self._check, self._dump = within_budget(self._check), within_budget(self._dump)
        self._type = type_
        self._types = TypeReader(schema, self._schema_of)
        self._validate = count_patterns(self._validate, labelled)
        if places:
            as_python = serializer.to_python if discriminated is None else within_budget(serializer.to_python)
            self._validate, self._dump = watched(
                places, lambda: self.keys, self._validate, self._dump, as_python
            )

    if not TYPE_CHECKING:

        def __getattr__(self, attribute: str) -> Any:
            """Return an attribute that a deferred codec builds at its first use; a built codec has all
            attributes."""
            if attribute not in _BUILT:
                raise AttributeError(f"{type(self).__name__} has no attribute {attribute!r}")
            built = self._make()
            for name in _BUILT:
                setattr(self, name, getattr(built, name))
            return getattr(built, attribute)

    def _core(self) -> tuple[object, CoreConfig | None]:
        return Exactness(has_labels=True).of(core_schema_of(self._type)), CONFIG

    def _read(self, errors: list[ErrorDetails], most: int) -> Findings:
        return self._types.findings(errors, most)

    def _schema_of(self, name: str) -> Mapping[str, Json]:
        return type_schema_of(core_schema_of(self._own[name]), "validation")


_BUILT: Final = (*Codec.__slots__, "_own", "_types")
"""Attributes of a built codec; a deferred codec has only those that cost nothing."""


def deferred(make: Callable[[], TypeCodec[T]]) -> TypeCodec[T]:
    """Return a codec that `make` builds at its first use.

    The codec has no sensitive values. `make` raises nothing, and may be called again by another thread or for
    a copy; if it creates a class, it returns the same codec each time.
    """
    codec: TypeCodec[T] = TypeCodec.__new__(TypeCodec)
    codec._make, codec._module, codec.sensitive = make, "", ()
    return codec


def _json_of(dump: Callable[[object], bytes], value: object) -> bytes:
    """Return the JSON of an object.

    Raises:
        PydanticSerializationError: a number in it is infinite or NaN.
    """
    written = dump(value)
    if b"NaN" in written or b"Infinity" in written:
        try:
            from_json(written, allow_inf_nan=False)
        except ValueError:
            raise PydanticSerializationError("it contains a number that is infinite or NaN") from None
    return written


def _validator(schema: Any) -> SchemaValidator:
    # Ignore the prebuilt validators of the authors' classes, because they are lax.
    return SchemaValidator(schema, CONFIG, _use_prebuilt=False)
