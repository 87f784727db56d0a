"""Codecs: between JSON and one generated class, built at first use."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, cast

from pydantic_core import PydanticSerializationError, ValidationError
from typing_extensions import TypeVar

from toolgen.catalog.schema_file import SchemaFile, Schemas
from toolgen.contract.limits import DEFAULT_LIMITS, Limits, exceeded_limit
from toolgen.contract.secrets import HIDDEN
from toolgen.shapes.guarded import guarded, literal, rules_class
from toolgen.shapes.issues import (
    COUNTLESS,
    LONGEST_KEY,
    MOST_ERRORS,
    TOO_COMPLEX,
    FieldIssue,
    Findings,
    TooComplexError,
)
from toolgen.shapes.sensitive import keys_of, redacted

from .call import json_document
from .errors import MalformedResultError, ToolValidationError

if TYPE_CHECKING:
    from pydantic_core import CoreConfig, ErrorDetails, SchemaSerializer

    from toolgen.shapes.design.issues import IssueReader
    from toolgen.shapes.every_rule import Hidden
    from toolgen.shapes.foreign.rules import Rules

T = TypeVar("T", default=Any)

MOST_SHOWN: Final = 20
"""Maximum number of issues in the message of a result that does not fit."""


class Codec(Generic[T]):
    """Converts JSON to objects of a type and back, and accepts exactly what the JSON Schema accepts."""

    __slots__ = tuple(
        "_check _dump _hidden _keys _literal _module _package _reader _rules _schemas _type _validate "
        "name sensitive".split()
    )
    _form: tuple[bool | None, bool, bool] = (None, True, False)
    """Whether JSON uses aliases (None: as each class defines), omits None, and omits unset attributes."""
    is_exact: bool = True
    """Whether the type accepts exactly what the schema accepts; otherwise the schema is validated too."""

    def __init__(
        self,
        package: str | None,
        module: str,
        name: str,
        schemas: Schemas,
        *,
        sensitive: tuple[str, ...] = (),
    ) -> None:
        self._package = package
        self._module = module
        self._schemas = schemas
        self.name = name
        """Name of the class or alias, and of its schema."""
        self.sensitive = sensitive
        """Places of sensitive values in the documents."""
        self._type: type[T] | None = None
        # Each of these binds the codec and is then replaced: importing a toolset builds no validator.
        self._validate: Callable[..., T] = self._first_validate
        self._dump: Callable[[Any], bytes] = self._first_dump
        self._check: Callable[[object], Any] | None = None
        """Validates a value; None if an instance check is sufficient."""
        self._hidden: Hidden | Literal[False] | None = None
        """Adds the errors that others hide; None before the first invalid document."""
        self._reader: IssueReader | None = None
        self._rules: Rules | None = None
        self._keys: frozenset[str] | None = None
        self._literal: Codec[T] | None = None
        """Codec that treats only a top-level null as a value, or the codec itself.

        It is created for the first document with a null.
        """

    @property
    def keys(self) -> frozenset[str]:
        """Keys of all objects in the schema, which are not sensitive."""
        if self._keys is None:
            self._keys = frozenset(keys_of(self.schema))
        return self._keys

    @property
    def type(self) -> type[T]:
        """Class or type of the objects; imported at its first use."""
        if self._type is None:
            self._bind(getattr(import_module(self._module, self._package), self.name))
        return cast("type[T]", self._type)

    def _first_validate(self, *args: Any, **options: Any) -> T:
        self.type  # noqa: B018  # binds it
        return self._validate(*args, **options)

    def _first_dump(self, value: Any) -> bytes:
        self.type  # noqa: B018  # binds it
        return self._dump(value)

    def _bind(self, model: Any) -> None:
        model.model_rebuild()
        self._type = model
        self._validate = guarded(
            model.__pydantic_validator__.validate_json, model.__pydantic_core_schema__, self.schema_json
        )
        self._set_dump(model.__pydantic_serializer__)
        if self.sensitive:
            from .watching import watched  # only codecs with sensitive values need it

            to_python = model.__pydantic_serializer__.to_python
            own = watched(self.sensitive, lambda: self.keys, self._validate, self._dump, to_python)
            self._validate, self._dump = own

    def _set_dump(self, serializer: SchemaSerializer, *, always_fits: bool = False) -> None:
        """Encode values with a serializer that raises for a value of another type instead of only warning.

        With `always_fits` it does not check: checking takes longer than writing a text.
        """
        alias, no_none, no_unset = self._form
        self._dump = partial(
            serializer.to_json,
            warnings=False if always_fits else "error",
            by_alias=alias,
            exclude_none=no_none,
            exclude_unset=no_unset,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"

    @property
    def schema_json(self) -> str:
        """JSON Schema (2020-12) as text."""
        return self._schemas[self.name]

    @property
    def schema(self) -> dict[str, Any]:
        """Copy of the JSON Schema."""
        return json.loads(self.schema_json)  # type: ignore[no-any-return]  # generated JSON text

    @property
    def noted_formats(self) -> tuple[str, ...]:
        """JSON Pointers of the `format`s in the schema that are not validated."""
        return self._schemas.noted_formats(self.name) if isinstance(self._schemas, SchemaFile) else ()

    def decode(self, data: bytes | str | Mapping[str, object], limits: Limits = DEFAULT_LIMITS) -> T:
        """Validate a JSON document or a mapping of JSON values, and return the object.

        Null is invalid for an optional attribute unless its type includes null.

        Raises:
            ToolValidationError: The document exceeds a limit or is invalid. If a list is too long, only its
                first 20 items are validated.
        """
        if not isinstance(data, (bytes, str)):
            data = json_document(data)
        text = data if isinstance(data, bytes) else data.encode(errors="replace")
        if b"n" not in text or b"null" not in text:  # searching one byte first is 30 times as fast
            return self.decode_null_as_absent(data, limits)
        if self.sensitive:
            with suppress(ToolValidationError):
                self.decode_null_as_absent(data, limits)  # records the sensitive values
        if self._literal is None:
            self.type  # noqa: B018  # binds it
            literal_codec = copy(self)
            core, config = self._core()
            literal_codec._validate = literal(core, self.schema_json, config)
            literal_codec._hidden, literal_codec._literal, self._literal = None, literal_codec, literal_codec
        return self._literal.decode_null_as_absent(data, limits)

    def _core(self) -> tuple[object, CoreConfig | None]:
        """Return the core schema of documents, and its configuration."""
        return cast("Any", self.type).__pydantic_core_schema__, None

    def decode_null_as_absent(
        self, data: bytes | str | Mapping[str, object], limits: Limits = DEFAULT_LIMITS
    ) -> T:
        """Validate as `decode`, except that null means absent for an optional attribute.

        Raises:
            ToolValidationError: As in `decode`.
        """
        if not isinstance(data, bytes) and not isinstance(data, str):  # a tuple of both takes twice as long
            data = json_document(data)
        if len(data) > limits.small_bytes:
            check_limits(data, limits)
        try:
            return self._validate(data, by_alias=True, by_name=False)
        except ValidationError as error:
            findings = self._findings(error, data, limits.issues)
        except TooComplexError:
            findings = Findings(issues=(TOO_COMPLEX,))
        raise validation_error(findings if len(data) <= LONGEST_KEY else findings.shortened())

    def decode_as_sent(self, data: bytes | str | Mapping[str, object], limits: Limits = DEFAULT_LIMITS) -> T:
        """Validate as `decode`, without filling in the default of a property that a foreign schema requires.

        Raises:
            ToolValidationError: as `decode`.
        """
        return self.decode_null_as_absent(data, limits)

    def _findings(self, error: ValidationError, data: bytes | str, most: int) -> Findings:
        """Return the findings in a document, with at most `most` issues."""
        hidden = self._first_hidden() if self._hidden is None else self._hidden
        if hidden and data and error.error_count() <= most:
            error = hidden(error, data)
        if error.error_count() > MOST_ERRORS:
            return COUNTLESS
        if self._reader is not None and (again := self._reader.repeated(error, most)) is not None:
            return again
        return self._read(error.errors(include_url=False), most)

    def _first_hidden(self) -> Hidden | Literal[False]:
        from toolgen.shapes.every_rule import hidden_errors  # only invalid documents need it

        self._hidden = hidden_errors(*self._core(), is_literal=self._literal is self)
        return self._hidden

    def _read(self, errors: list[ErrorDetails], most: int) -> Findings:
        from toolgen.shapes.design.issues import IssueReader, has_foreign  # only invalid documents need them

        self._reader = self._reader or IssueReader(self.schema)
        if not has_foreign(errors):
            return self._reader.findings(errors, most)
        from toolgen.shapes.foreign.issues import read

        return read(self._reader, errors, most)

    def _rule_issues(self, data: bytes | str, most: int) -> Findings:
        """Return the issues of a document, validated with its schema; empty if it is not JSON."""
        if self._rules is None:
            needs = (
                f"the schema of {self.name} has rules that types cannot express, and the package that "
                "validates them is not installed"
            )
            self._rules = rules_class(needs)(self.schema)
        return self._rules.findings_in(data, most)

    def encode(self, value: T) -> bytes:
        """Return canonical JSON, in the order of declaration, without spaces and absent fields.

        Raises:
            MalformedResultError: the value does not fit. A value for a designed class does not fit if it is
                no instance of the class or contains a value of another type. An exception is an object with
                the same attributes in place of a model, which pydantic serializes by its attributes. The
                other constraints were checked at construction; a list that was changed afterwards is not
                measured again.
        """
        try:
            if (check := self._check) is not None:
                value = check(value)
            elif type(value) is not self._type and not isinstance(value, self.type):  # the first is fast
                raise other_class_error(self.type, value)
            return self._dump(value)
        except (ValidationError, PydanticSerializationError) as error:
            if self.sensitive:  # the error quotes values
                raise MalformedResultError(f"{self.name} cannot be encoded") from None
            raise self._misfit(error) from error
        except TooComplexError as error:
            raise MalformedResultError(f"{self.name} cannot be encoded: it {TOO_COMPLEX.message}") from error

    def public(self, document: Any) -> Any:
        """Return a JSON document with `{"sensitive": true}` for each sensitive value."""
        return redacted(document, self.sensitive) if self.sensitive else document

    def for_people(self, document: Any) -> Any:
        """Return a JSON document with `•••• (sensitive)` for each sensitive value, for texts for people."""
        return redacted(document, self.sensitive, HIDDEN) if self.sensitive else document

    def _misfit(self, error: ValidationError | PydanticSerializationError) -> MalformedResultError:
        """Return the error for a value that cannot be encoded."""
        return MalformedResultError(f"{self.name} cannot be encoded: {error}")


class CheckedCodec(Codec[T]):
    """Codec of a designed class with types that accept more than their schema.

    A value that fits the class is also validated with the schema, in its encoded form: a null that means
    absent is then gone.
    """

    __slots__ = ()
    is_exact = False

    def decode_null_as_absent(
        self, data: bytes | str | Mapping[str, object], limits: Limits = DEFAULT_LIMITS
    ) -> T:
        from toolgen.shapes.steps import document_steps  # only such values need it

        with document_steps():  # one step budget for its types and its rules
            value = super().decode_null_as_absent(data, limits)
            written = super().encode(value)
            findings = self._rule_issues(written, limits.issues)
        if findings.issues:
            raise validation_error(findings.shortened())
        return value

    def encode(self, value: T) -> bytes:
        written = super().encode(value)
        require_fit(self.name, self._rule_issues(written, MOST_SHOWN))
        return written


def lacks_validator(codec: Codec) -> bool:
    """Return whether a codec needs jsonschema-rs and it is not installed."""
    return not codec.is_exact and find_spec("jsonschema_rs") is None


def missing_file(codec: Codec) -> str | None:
    """Return the file of the codec's schema if it was not shipped with the generated code; otherwise None."""
    schemas = codec._schemas if codec._module else None  # without a module there is no file
    return repr(schemas) if isinstance(schemas, SchemaFile) and schemas.is_missing() else None


def other_class_error(model: type, value: object) -> MalformedResultError:
    """Return the error for a value of another class, with a fix."""
    from toolgen.shapes.design.other_class import other_class_text  # rarely needed

    return MalformedResultError(other_class_text(model, value))


def require_fit(name: str, findings: Findings) -> None:
    """Raise if there are findings for a value.

    Raises:
        MalformedResultError: the value does not fit its schema.
    """
    if findings.issues:
        raise misfit_error(name, findings)


def misfit_error(name: str, findings: Findings) -> MalformedResultError:
    """Return the error for a value that does not fit its schema."""
    return MalformedResultError(f"{name} does not fit its schema: {validation_error(findings.shortened())}")


def validation_error(findings: Findings) -> ToolValidationError:
    """Return the error for an invalid document."""
    error: Any = ToolValidationError.__new__(ToolValidationError, findings.issues)  # in half of the time
    error.issues, error.more, error.is_counted = findings.issues, findings.more, findings.is_counted
    error._findings = findings
    return error  # type: ignore[no-any-return]  # created as one


def check_limits(data: bytes | str, limits: Limits) -> None:
    """Check a document against the limits.

    Raises:
        ToolValidationError: the document exceeds a limit; it was not decoded.
    """
    if (over := exceeded_limit(data, limits)) is not None:
        issue = FieldIssue(keys=(), constraint="invalid_length", message=over.message, limit=over.limit)
        raise ToolValidationError((issue,))
