"""Errors for every rule that a document breaks: a second pass over a document that pydantic has rejected.

pydantic stops at the first broken rule of a value, and does not enter an array or a map that is too long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Final, Literal, TypeAlias, cast

from pydantic_core import (
    CoreConfig,
    ErrorDetails,
    InitErrorDetails,
    PydanticCustomError,
    PydanticKnownError,
    SchemaValidator,
    ValidationError,
    to_json,
)
from pydantic_core import core_schema as cs

from .constraints import LIMITS, limits_of
from .exact import all_different, exact
from .issues import TooComplexError
from .literal_nulls import literal_nulls
from .numbers import MADE_OF, AnySchema
from .text_guard import count_patterns
from .union_guard import discriminate_unions, mapped, within_budget

Hidden: TypeAlias = Callable[[ValidationError, bytes | str], ValidationError]
_Validate = Callable[[Any], object]

_MOST_ITEMS: Final = 20
"""Maximum number of validated items in an array or a map that is too long."""
_ERRORS: Final = {row.core: {other.error for other in LIMITS if other.core == row.core} for row in LIMITS}
"""Error types of pydantic by keyword."""
_BOUNDS: Final = tuple(row.core for row in limits_of("number", "bound"))
(_STEP,) = (row.core for row in limits_of("number", "step"))
_LENGTHS: Final = tuple(row.core for row in limits_of("array", "length"))
_OUTER: Final = ("ref", "serialization")
_ANY: Final = cs.any_schema()


def hidden_errors(
    schema: AnySchema, config: CoreConfig | None, *, is_literal: bool
) -> Hidden | Literal[False]:
    """Return a function that adds the hidden errors to the error of a document; False if the types hide none.

    `schema` is the core schema of the documents; with `is_literal`, null in a document only means null. An
    error is returned unchanged if the steps do not suffice.
    """
    if is_literal:
        schema = literal_nulls(schema)
    rules = _Rules()
    rules.split_rules(schema)
    if not (rules.is_always or rules.hiding):
        return False
    validator: Callable[..., object] | None = None

    def found(error: ValidationError, data: bytes | str) -> ValidationError:
        nonlocal validator
        if not rules.may_hide(error):
            return error
        validator = validator or _validator_of(schema, config)
        try:
            validator(data, by_alias=True, by_name=False)
        except ValidationError as every:
            return every
        except TooComplexError:
            pass
        return error

    return found


def _validator_of(schema: AnySchema, config: CoreConfig | None) -> Callable[..., object]:
    chosen = discriminate_unions(schema)
    split_schema = _Rules().split_rules(schema if chosen is None else chosen)
    validate = SchemaValidator(split_schema, config, _use_prebuilt=False).validate_json
    return count_patterns(validate if chosen is None else within_budget(validate), split_schema)


class _Rules:
    """Splits core schemas into their single rules."""

    def __init__(self) -> None:
        self.hiding: set[str] = set()
        """Error types after which further rules of the value are not tried."""
        self.is_always = False
        """Whether any error can hide others: rules of an array or a map are tried only if its values fit."""

    def may_hide(self, error: ValidationError) -> bool:
        """Return whether a document with this error can have further errors that the error hides."""
        if self.is_always:
            return True
        errors = error.errors(include_url=False, include_context=False, include_input=False)
        return not self.hiding.isdisjoint([each["type"] for each in errors])

    def split_rules(self, schema: AnySchema) -> AnySchema:
        """Return a core schema that tries each rule of a value, even if another rule is broken."""
        if (scalar := schema.get("metadata", {}).get(MADE_OF)) is not None:
            return self._number(schema, scalar)
        node = mapped(schema, self.split_rules)
        match node["type"]:
            case "str" if "pattern" in node:
                return self._split(node, _LENGTHS, "pattern")
            case "int" if _STEP in node:
                return self._split(node, _BOUNDS, _STEP)
            case "list" if node.get("items_schema", _ANY)["type"] != "any":
                self.is_always |= _LENGTHS[0] in node
                return self._split(node, _LENGTHS, items_schema=_ANY)
            case "dict":
                self.is_always |= not node.keys().isdisjoint(_LENGTHS)
                return self._split(node, _LENGTHS, keys_schema=_ANY, values_schema=_ANY)
            case "function-after" if node["function"]["function"] is all_different:
                self.is_always = True
                return _both(_different(schema["schema"].get(_LENGTHS[1])), node["schema"], node)
            case _:
                return node

    def _split(self, node: AnySchema, names: Sequence[str], other: str = "", **inner: object) -> AnySchema:
        """Return a schema that tries the rules of these names separately from the others."""
        if node.keys().isdisjoint(names):
            return node
        for name in (*names, other):
            if name in node:
                self.hiding |= _ERRORS.get(name, set())
        alone = {key: value for key, value in {**node, **inner}.items() if key not in (other, *_OUTER)}
        rest = {key: value for key, value in node.items() if key not in names}
        return _both(_validator(alone).validate_python, rest, node)

    def _number(self, schema: AnySchema, scalar: AnySchema) -> AnySchema:
        """Return the schema of a scalar with limits of several kinds; return any other schema unchanged."""
        limits = [name for name in scalar if name in _ERRORS]
        groups = [[name for name in limits if name in _BOUNDS]]
        groups += [[name] for name in limits if name not in _BOUNDS]
        groups = [group for group in groups if group]
        if len(groups) < 2 or not set(limits).isdisjoint(_LENGTHS):
            return schema
        self.hiding = self.hiding.union(*(_ERRORS[name] for name in limits))
        first, *others = (
            exact({name: value for name, value in scalar.items() if name not in limits or name in group})
            for group in groups
        )
        for other in others:
            first = _both(_of_text(_validator(other)), first, {})
        return {**first, **{key: schema[key] for key in _OUTER if key in schema}}


def _validator(schema: AnySchema) -> SchemaValidator:
    return SchemaValidator(schema, _use_prebuilt=False)


def _of_text(validator: SchemaValidator) -> _Validate:
    """Return a function that validates a scalar as JSON, whose form differs from the Python form."""
    return lambda value: validator.validate_json(to_json(value))


def _different(longest: int | None) -> _Validate:
    """Return a function that compares an array's items; if the array is too long, only the first ones."""
    items = cs.list_schema(strict=True)
    validator = _validator(cs.no_info_after_validator_function(all_different, items))

    def validate(value: object) -> object:
        is_long = longest is not None and isinstance(value, list) and len(value) > longest
        return validator.validate_python(_beginning(value) if is_long else value)

    return validate


def _both(validate: _Validate, inner: AnySchema, outer: AnySchema) -> AnySchema:
    """Return a schema that replaces `outer`, for values that fit both, with the errors of both."""

    def check(value: Any, handler: _Validate) -> object:
        errors: list[ValidationError] = []
        try:
            validate(value)
        except ValidationError as error:
            errors.append(error)
            value = _beginning(value)
        try:
            value = handler(value)
        except ValidationError as error:
            errors.append(error)
        if errors:
            raise errors[0] if len(errors) == 1 else _joined(errors)
        return value

    inner = {key: value for key, value in inner.items() if key not in _OUTER}
    schema = cs.no_info_wrap_validator_function(check, inner)
    return {**schema, **{key: outer[key] for key in _OUTER if key in outer}}


def _beginning(value: object) -> object:
    if isinstance(value, list):
        return value[:_MOST_ITEMS]
    return dict(islice(value.items(), _MOST_ITEMS)) if isinstance(value, dict) else value


def _joined(errors: Sequence[ValidationError]) -> ValidationError:
    """Return one error with the details of several, each once."""
    lines: dict[tuple[str, tuple[int | str, ...]], InitErrorDetails] = {}
    for error in errors:
        for each in error.errors(include_url=False):
            lines.setdefault((each["type"], each["loc"]), _line(each))
    return ValidationError.from_exception_data("document", [*lines.values()], input_type="json")


def _line(error: ErrorDetails) -> InitErrorDetails:
    kind: Any = error["type"]
    context, message = error.get("ctx", {}), cast(Any, error["msg"])
    try:
        PydanticKnownError(kind, context)
    except KeyError:  # an error type of toolgen
        kind = PydanticCustomError(kind, message, context)
    return InitErrorDetails(type=kind, loc=error["loc"], input=error["input"], ctx=context)
