"""Tolerant conversion of third-party JSON to generated classes; `shapes.tolerance` has the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

from pydantic_core import ErrorDetails, SchemaValidator, ValidationError

from toolgen.shapes.issues import MOST_ERRORS, TooComplexError
from toolgen.shapes.labels import LABEL
from toolgen.shapes.tolerance import (
    core_schema_of,
    forgives,
    forgiving,
    issue_of,
    known_keys,
    tolerant,
    validator_of,
)

T = TypeVar("T")

_MOST_PLACES: Final = 5
"""Maximum number of places in an error."""


class MisfitError(Exception):
    """A document does not fit; the text names the places, and quotes no values."""


class Reader(Generic[T]):
    """Reader of documents of one type."""

    def __init__(self, type_: type[T]) -> None:
        self._type: Any = type_
        self._validate: Callable[..., T] = self._first
        self._drop: Callable[..., T] | None = None
        """Fallback that accepts unfit values as sent; None if nothing would be forgiven."""
        self._keys = frozenset[str]()
        """Keys of the classes; other keys are values, and may be sensitive."""

    def read(self, document: bytes, *, by_name: bool = False) -> T:
        """Return the value of a JSON document; with `by_name`, keys can also be attribute names.

        Raises:
            MisfitError: The document does not fit.
        """
        try:
            try:
                return self._validate(document, by_alias=True, by_name=by_name)
            except ValidationError:
                if self._drop is None:
                    raise
                return self._drop(document, by_alias=True, by_name=by_name)
        except ValidationError as error:
            raise MisfitError(_places(error, self._keys)) from None
        except TooComplexError:
            raise MisfitError("a result that is too complex to check") from None

    def fitting(self, key: str, documents: Iterable[bytes]) -> bytes | None:
        """Return the first JSON document that fits the attribute of a key; None if none does."""
        validator = self._attributes.get(key)
        if validator is None:
            return None
        for document in documents:
            try:
                validator.validate_json(document, by_alias=True)
            except ValidationError:
                continue
            return document
        return None

    @cached_property
    def keys(self) -> frozenset[str]:
        """Keys of the classes of the type."""
        return frozenset(known_keys(core_schema_of(self._type)))

    @cached_property
    def _attributes(self) -> dict[str, SchemaValidator]:
        """Validators of the attributes of a class, by key."""
        core = tolerant(core_schema_of(self._type))
        definitions = core.get("definitions", [])
        return {
            field.get("validation_alias", name): SchemaValidator(
                {"type": "definitions", "schema": field["schema"], "definitions": definitions},
                _use_prebuilt=False,
            )
            for name, field in _fields_of(core, {part["ref"]: part for part in definitions}).items()
        }

    def _first(self, document: bytes, **options: Any) -> T:
        core = tolerant(core_schema_of(self._type))
        self._validate = validator_of(core)
        self._keys = frozenset(known_keys(core))
        if forgives(core):
            self._drop = self._first_drop
        return self._validate(document, **options)

    def _first_drop(self, document: bytes, **options: Any) -> T:
        self._drop = validator_of(forgiving(core_schema_of(self._type)))
        return self._drop(document, **options)


def _fields_of(core: Any, definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a class by name; none for other types."""
    while core["type"] != "model-fields":
        core = definitions[core["schema_ref"]] if core["type"] == "definition-ref" else core.get("schema")
        if not isinstance(core, dict) or "type" not in core:
            return {}
    return core["fields"]  # type: ignore[no-any-return]  # a core schema


def _places(error: ValidationError, keys: Set[str]) -> str:
    if error.error_count() > MOST_ERRORS:
        return "a result that does not fit in too many places to list"
    errors = error.errors(include_url=False)
    issues = list(dict.fromkeys(_issue(each, keys) for each in errors))
    more = len(issues) - _MOST_PLACES
    rest = f"; and {more} more" if more > 0 else ""
    return f"a result that does not fit: {'; '.join(issues[:_MOST_PLACES])}{rest}"


def _issue(error: ErrorDetails, keys: Set[str]) -> str:
    if error["type"] == "json_invalid":
        return "it is not JSON"
    steps = [step for step in error["loc"] if not (isinstance(step, str) and step.startswith(LABEL))]
    place = tuple([step if isinstance(step, int) or step in keys else "…" for step in steps])
    return str(issue_of(error, place))
