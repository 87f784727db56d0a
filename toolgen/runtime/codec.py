"""Codecs: between JSON and one generated class, built at first use."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar

from pydantic_core import PydanticSerializationError, ValidationError

from toolgen.contract.issues import FieldIssue, Reader
from toolgen.contract.values import plain

from .errors import MalformedResultError, ToolValidationError

T = TypeVar("T")


class Codec(Generic[T]):
    """Decodes JSON into `type` and encodes it again; accepts exactly what the schema accepts.

    The schema's title is the name of the class in its module.
    """

    __slots__ = ("_dump", "_module", "_package", "_reader", "_validate", "schema_json", "type")

    def __init__(self, package: str | None, module: str, schema_json: str) -> None:
        self._package = package
        self._module = module
        self.schema_json = schema_json
        """JSON Schema 2020-12, as text."""

    type: type[T]
    """The generated class; imported when it is first asked for."""
    _validate: Callable[..., T]
    _dump: Callable[..., bytes]
    _reader: Reader

    def __getattr__(self, name: str) -> Any:
        # Reached only while a slot is empty: importing a toolset builds no validator.
        if name == "_reader":
            self._reader = Reader(self.schema)
        elif name in ("type", "_validate", "_dump"):
            model: Any = getattr(import_module(self._module, self._package), self.name)
            model.model_rebuild()
            self.type = model
            self._validate = model.__pydantic_validator__.validate_json
            self._dump = model.__pydantic_serializer__.to_json
        else:
            raise AttributeError(f"a codec has no attribute {name!r}")
        return getattr(self, name)

    def __repr__(self) -> str:
        return f"Codec({self.name})"

    @property
    def name(self) -> str:
        """Name of the class."""
        return str(self.schema["title"])

    @property
    def schema(self) -> dict[str, Any]:
        """A fresh copy of the JSON Schema."""
        return json.loads(self.schema_json)  # type: ignore[no-any-return]  # text that we wrote

    def decode(self, data: bytes | str | Mapping[str, object]) -> T:
        """Return the typed value of one JSON document, or of a mapping of JSON values.

        Raises:
            ToolValidationError: with every issue of the document, at most one per value and one
                per key of a map.
        """
        if not isinstance(data, (bytes, str)):
            data = document(data)
        try:
            return self._validate(data, by_alias=True, by_name=False)
        except ValidationError as error:
            issues = self._reader.issues(error.errors(include_url=False))
        raise ToolValidationError(issues)

    def encode(self, value: T) -> bytes:
        """Return canonical JSON: declaration order, no spaces, absent fields left out.

        Raises:
            MalformedResultError: the value is not of the class, or holds a value of another type. The
                other constraints hold since it was constructed; a list in it that somebody changed
                afterwards is not measured again.
        """
        if type(value) is not self.type and not isinstance(value, self.type):  # the first is the fast one
            raise MalformedResultError(f"expected {self.name}, got {type(value).__name__}")
        try:
            return self._dump(value, exclude_none=True, warnings="error")
        except PydanticSerializationError as error:
            raise MalformedResultError(f"{self.name} does not encode: {error}") from error


class CodecModule:
    """Makes the codecs of the classes of one module, which it does not import."""

    def __init__(self, package: str | None, module: str) -> None:
        self._package = package
        self._module = module

    def __call__(self, schema_json: str) -> Codec[Any]:
        return Codec(self._package, self._module, schema_json)


def document(data: Mapping[str, object]) -> bytes:
    """Return Python values as the document that a model would have sent.

    Raises:
        ToolValidationError: a value has no JSON form.
    """
    try:
        return json.dumps(plain(data)).encode()
    except (TypeError, ValueError, RecursionError) as error:
        issue = FieldIssue(keys=(), constraint="invalid_json", message=f"is not JSON: {error}")
        raise ToolValidationError((issue,)) from None
