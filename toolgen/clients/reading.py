"""JSON of others as values of generated classes, read tolerantly: what a design does not know is dropped.

A document is read as sent first, for unknown keys tell the branches of a union apart. Where it does not fit,
closed classes of foreign schemas drop keys too, and a union whose tag is missing is told by its other keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel
from pydantic_core import ErrorDetails, SchemaValidator, ValidationError

from toolgen.shapes.core_shapes import CoreShapes
from toolgen.shapes.foreign.validator import LABEL, UNKNOWN_KEY
from toolgen.shapes.issues import (
    MOST_ERRORS,
    TYPES,
    FieldIssue,
    TooComplexError,
    json_type,
)
from toolgen.shapes.text_guard import count_patterns
from toolgen.shapes.union_guard import discriminate_unions, mapped, nodes_of, within_budget
from toolgen.shapes.union_shapes import Shape

T = TypeVar("T")

_MOST_PLACES: Final = 5
"""Places that an error names."""


class MisfitError(Exception):
    """A document does not fit; the text names the places, and quotes no value."""


class Reader(Generic[T]):
    """Reads documents of one type."""

    def __init__(self, type_: type[T]) -> None:
        self._type: Any = type_
        self._validate: Callable[..., T] = self._first
        self._drop: Callable[..., T] | None = None
        """Reads what does not fit as sent; None where nothing would be forgiven."""
        self._keys = frozenset[str]()
        """Keys that the classes have; others are values, and may be sensitive."""

    def read(self, document: bytes, *, by_name: bool = False) -> T:
        """Return the value of a JSON document; with `by_name`, keys may be the names of attributes too.

        Raises:
            MisfitError: it does not fit.
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
            raise MisfitError("what is too complex to check") from None

    def fitting(self, key: str, documents: Iterable[bytes]) -> bytes | None:
        """Return the first of some JSON documents that the attribute of a key may be; None for none."""
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
        """The keys that the classes of the type have."""
        return frozenset(_known_keys(_core_schema(self._type)))

    @cached_property
    def _attributes(self) -> dict[str, SchemaValidator]:
        """Validators of the attributes of a class, by key."""
        core = tolerant(_core_schema(self._type))
        definitions = core.get("definitions", [])
        return {
            field.get("validation_alias", name): SchemaValidator(
                {"type": "definitions", "schema": field["schema"], "definitions": definitions},
                _use_prebuilt=False,
            )
            for name, field in _fields_of(core, {part["ref"]: part for part in definitions}).items()
        }

    def _first(self, document: bytes, **options: Any) -> T:
        core = tolerant(_core_schema(self._type))
        self._validate = _validator(core)
        self._keys = frozenset(_known_keys(core))
        if any(_refuses_keys(node) or _tag_of(node) for node in nodes_of(core)):
            self._drop = self._first_drop
        return self._validate(document, **options)

    def _first_drop(self, document: bytes, **options: Any) -> T:
        core = _core_schema(self._type)
        definitions = {node["ref"]: node for node in nodes_of(core) if "ref" in node}
        self._drop = _validator(tolerant(_forgiving(core, CoreShapes(definitions))))
        return self._drop(document, **options)


def _validator(core: Any) -> Callable[..., Any]:
    validate: Callable[..., Any] = SchemaValidator(core, _use_prebuilt=False).validate_json
    if (guarded := discriminate_unions(core)) is not None:
        validate = within_budget(SchemaValidator(guarded, _use_prebuilt=False).validate_json)
    return count_patterns(validate, core)


def _refuses_keys(node: Any) -> bool:
    """Return whether a core schema is of the fields of a closed class of a foreign schema."""
    return bool(node.get("extras_keys_schema", {}).get("custom_error_type") == UNKNOWN_KEY)


def _tag_of(node: Any) -> str:
    """Return the key that tells the branches of a designed union apart; "" for any other core schema."""
    tag = node.get("discriminator") if node["type"] == "tagged-union" else None
    return tag if isinstance(tag, str) else ""


def _forgiving(schema: Any, shapes: CoreShapes) -> Any:
    """Return a core schema that drops keys which foreign classes refuse, and finds missing tags."""

    def forgiven(node: Any) -> Any:
        made = mapped(node, forgiven)
        if _refuses_keys(made):
            del made["extras_keys_schema"]
            made["extra_behavior"] = "ignore"
        elif tag := _tag_of(node):
            by_tag = {value: shapes.of(branch) for value, branch in node["choices"].items()}
            made["discriminator"] = _tag_finder(tag, by_tag)
        return made

    return forgiven(schema)


def _tag_finder(tag: str, shapes: Mapping[Any, Shape]) -> Callable[[object], object]:
    """Return what says the tag of a value: its own, else that of the branch which is nearest to its keys."""

    def tag_of(value: object) -> object:
        if not isinstance(value, dict):
            return None
        return value[tag] if tag in value else min(shapes, key=lambda each: shapes[each].misfits(value))

    return tag_of


def tolerant(schema: Any) -> Any:
    """Return a core schema whose designed classes drop the properties that they do not know.

    Classes of foreign schemas, and open ones, have rules of their own for these.
    """
    made = mapped(schema, tolerant)
    config = made.get("config", {})
    if made["type"] == "model" and config.get("extra_fields_behavior") == "forbid":
        made["config"] = {**config, "extra_fields_behavior": "ignore"}
    return made


def _core_schema(type_: Any) -> Any:
    """Return the core schema of a class, or of an alias of a foreign type."""
    if isinstance(type_, type) and issubclass(type_, BaseModel):
        type_.model_rebuild()
        return type_.__pydantic_core_schema__
    from toolgen.shapes.foreign.model import exact_adapter  # few results are of one

    return exact_adapter(type_).core_schema


def _fields_of(core: Any, definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a class by their names; none for what is no class."""
    while core["type"] != "model-fields":
        core = definitions[core["schema_ref"]] if core["type"] == "definition-ref" else core.get("schema")
        if not isinstance(core, dict) or "type" not in core:
            return {}
    return core["fields"]  # type: ignore[no-any-return]  # a core schema


def _known_keys(core: Any) -> Iterator[str]:
    for node in nodes_of(core):
        if node["type"] == "model-fields":
            yield from (field.get("validation_alias", name) for name, field in node["fields"].items())


def _places(error: ValidationError, keys: Set[str]) -> str:
    if error.error_count() > MOST_ERRORS:
        return "what does not fit in too many places to name"
    errors = error.errors(include_url=False, include_context=False)
    issues = list(dict.fromkeys(_issue(each, keys) for each in errors))
    more = len(issues) - _MOST_PLACES
    rest = f"; and {more} more" if more > 0 else ""
    return f"what does not fit: {'; '.join(issues[:_MOST_PLACES])}{rest}"


def _issue(error: ErrorDetails, keys: Set[str]) -> str:
    kind = error["type"]
    if kind == "json_invalid":
        return "it is no JSON"
    expected = TYPES.get(kind)
    if kind == "missing":
        message = "is missing"
    elif expected is not None:
        message = f"must be {expected}, not {json_type(error['input'])}"
    else:
        message = f"does not fit ({kind})"
    steps = [step for step in error["loc"] if not (isinstance(step, str) and step.startswith(LABEL))]
    place = tuple([step if isinstance(step, int) or step in keys else "…" for step in steps])
    return str(FieldIssue(keys=place, constraint="invalid_value", message=message))
