"""Codecs of third-party schemas, from a design or known only at run time.

`codec` contains the codecs of designed types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic_core import PydanticSerializationError, ValidationError

from toolgen.catalog.schema_file import Schemas
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import compact
from toolgen.contract.limits import DEFAULT_LIMITS, Limits
from toolgen.shapes.design.model import AnyJson, ToolModel
from toolgen.shapes.foreign.filling import filler_of
from toolgen.shapes.foreign.model import exact_adapter, has_defaults
from toolgen.shapes.guarded import guarded, nothing_surely_fits, rules_class, surely_fits
from toolgen.shapes.issues import Findings
from toolgen.shapes.steps import document_steps

from ..call import json_document
from ..codec import (
    MOST_SHOWN,
    Codec,
    check_limits,
    misfit_error,
    other_class_error,
    require_fit,
    validation_error,
)
from ..errors import MalformedResultError

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import CoreConfig, ErrorDetails, SchemaSerializer

    from toolgen.shapes.foreign.issues import ForeignReader
    from toolgen.shapes.foreign.rules import Rules

T = TypeVar("T")


class SchemaCodec(Codec[T]):
    """Codec of a third-party schema, which stays the contract.

    `type` is a class, or the alias of any type. If the types accept more than the schema, each document is
    validated with the schema too. A decoded document has the defaults of absent required properties filled in
    (`toolgen.shapes.foreign.filling`).
    """

    __slots__ = ("_fill", "_foreign", "_form", "_surely_fits", "is_exact")

    def __init__(
        self, package: str | None, module: str, name: str, schemas: Schemas, *, is_exact: bool
    ) -> None:
        super().__init__(package, module, name, schemas)
        self.is_exact = is_exact
        self._form = (None, False, True)
        self._surely_fits: Callable[[object, int], bool] = nothing_surely_fits
        self._foreign: ForeignReader | None = None
        self._check = self._first_check
        self._fill: Callable[[bytes | str], bytes | str] | None = self._first_fill

    def _first_fill(self, data: bytes | str) -> bytes | str:
        self._fill = filler_of(self.schema_json)
        return data if self._fill is None else self._fill(data)

    def _first_check(self, value: object) -> object:
        self.type  # noqa: B018  # binds it
        assert self._check is not None, "it is bound"
        return self._check(value)

    def _bind(self, model: Any) -> None:
        if isinstance(model, type) and issubclass(model, ToolModel):
            super()._bind(model)
            self._set_form(model.__pydantic_core_schema__, model.__pydantic_serializer__)
            self._check = partial(_of_class, model)
            return
        adapter = exact_adapter(model)
        self._type = cast("Any", model)
        self._validate = guarded(adapter.validator.validate_json, adapter.core_schema, self.schema_json)
        self._set_form(adapter.core_schema, adapter.serializer)
        self._check = adapter.validator.validate_python

    def _core(self) -> tuple[object, CoreConfig | None]:
        model: Any = self.type
        if isinstance(model, type) and issubclass(model, ToolModel):
            return super()._core()
        return exact_adapter(model).core_schema, None

    def _set_form(self, core: Any, serializer: SchemaSerializer) -> None:
        self._form = (None, False, has_defaults(core))
        self._set_dump(serializer)
        if not self.is_exact:
            self._surely_fits = surely_fits(self.schema, core, serializer, self._form[2])

    def decode(self, data: bytes | str | Mapping[str, object], limits: Limits = DEFAULT_LIMITS) -> T:
        if self._fill is not None:
            data = data if isinstance(data, (bytes, str)) else json_document(data)
            check_limits(data, limits)
            data = self._fill(data)
        return self.decode_as_sent(data, limits)

    decode_null_as_absent = decode  # the schema defines where null is a value

    def decode_as_sent(self, data: bytes | str | Mapping[str, object], limits: Limits = DEFAULT_LIMITS) -> T:
        data = data if isinstance(data, (bytes, str)) else json_document(data)
        if self.is_exact:
            return super().decode_null_as_absent(data, limits)
        with document_steps():  # one step budget for its types and its rules
            value = super().decode_null_as_absent(data, limits)
            is_sure = self._surely_fits(value, len(data))
            if not is_sure and (findings := self._rule_issues(data, limits.issues)).issues:
                raise validation_error(findings.shortened())
            return value

    def encode(self, value: T) -> bytes:
        """Return the JSON of the set values: without defaults, with each null of the document.

        Raises:
            MalformedResultError: the value does not fit. The constraints of its class were checked at
                construction, as in `Codec.encode`; rules that types cannot express are checked here.
        """
        written = super().encode(value)
        if not (self.is_exact or self._surely_fits(value, len(written))):
            require_fit(self.name, self._rule_issues(written, MOST_SHOWN))
        return written

    def _misfit(self, error: ValidationError | PydanticSerializationError) -> MalformedResultError:
        findings = super()._findings(error, b"", MOST_SHOWN) if isinstance(error, ValidationError) else None
        if findings and findings.issues:
            return misfit_error(self.name, findings)
        return super()._misfit(error)

    def _findings(self, error: ValidationError, data: bytes | str, most: int) -> Findings:
        """Return the findings of the schema; of the types if the schema's are empty or not counted."""
        broken = Findings(issues=()) if self.is_exact else self._rule_issues(data, most)
        if broken.issues and broken.is_counted:
            return broken
        return super()._findings(error, data, most)

    def _read(self, errors: list[ErrorDetails], most: int) -> Findings:
        if self._foreign is None:
            from toolgen.shapes.foreign.issues import ForeignReader

            self._foreign = ForeignReader(self.schema)
        return self._foreign.findings(errors, most)


def _of_class(model: type[T], value: object) -> T:
    if not isinstance(value, model):
        raise other_class_error(model, value)
    return value


class _JsonCodec(SchemaCodec[Any]):
    """Decodes into plain JSON values, and leaves all rules to the schema."""

    __slots__ = ()

    def __init__(self, name: str, schema_json: str, rules: Rules) -> None:
        super().__init__(None, "", name, {name: schema_json}, is_exact=False)
        adapter = _json_adapter()
        self._type = Any
        self._validate = adapter.validator.validate_json
        self._set_dump(adapter.serializer)
        self._check = adapter.validator.validate_python
        self._rules = rules
        self._fill = filler_of(schema_json)


def json_schema_codec(schema: Mapping[str, Any] | bool, name: str, *, bounds_patterns: bool = False) -> Codec:
    """Return the codec of plain JSON values that fit a schema: it accepts exactly what the schema accepts.

    A decoded document has the defaults of absent required properties filled in, as servers do, if the schema
    states them plainly; the completed document has to fit. `decode_as_sent` fills nothing in.

    The schema is read in the draft that its `$schema` names, by default 2020-12 (JSON Schema 2020-12 Core
    8.1.1); `format` is an annotation. `name` is used in errors.

    With `bounds_patterns`, for a schema that nobody has vetted, a pattern that may be slow is only an
    annotation too: one with look-around or back-references, one with very many states, and any pattern in a
    document with much text.

    Raises:
        ToolgenError: it is not a valid schema, or refers to another document; or the extra `jsonschema` is
            not installed.
    """
    rules_type = rules_class(
        f"the JSON Schema of {name} needs a JSON Schema validator, which is not installed"
    )
    if isinstance(schema, bool):  # boolean schemas, JSON Schema 2020-12 Core 4.3.2
        schema = {} if schema else {"not": {}}
    try:
        rules = rules_type(schema, reads_dialect=True, bounds_patterns=bounds_patterns)
        return _JsonCodec(name, compact(dict(schema)), rules)
    except (ValueError, TypeError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        raise ToolgenError(f"the JSON Schema of {name} cannot be used: {reason}") from error


@cache
def _json_adapter() -> TypeAdapter[Any]:
    return exact_adapter(AnyJson)
