"""Tolerant reading of third-party responses: core schemas that drop data unknown to the design.

A document is first read as sent, because unknown keys can identify the branch of a union. If it does not
match, closed classes of foreign schemas drop keys too, and the other keys select the branch of a union
without tag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import CoreConfig, ErrorDetails, SchemaValidator

from .core_shapes import CoreShapes
from .issues import (
    BOUNDS,
    TYPES,
    FieldIssue,
    Keys,
    bound_issue,
    context_of,
    json_type,
    mismatch,
    other_issue,
    short,
    type_issue,
)
from .labels import UNKNOWN_KEY
from .lexical import FORMAT_NAMES
from .text_guard import count_patterns
from .union_guard import discriminate_unions, mapped, nodes_of, within_budget
from .union_shapes import Shape


def validator_of(core: Any, config: CoreConfig | None = None) -> Callable[..., Any]:
    """Return the function that validates documents by a core schema, with bounded work."""
    validate: Callable[..., Any] = SchemaValidator(core, config, _use_prebuilt=False).validate_json
    if (guarded := discriminate_unions(core)) is not None:
        validate = within_budget(SchemaValidator(guarded, config, _use_prebuilt=False).validate_json)
    return count_patterns(validate, core)


def _refuses_keys(node: Any) -> bool:
    """Return whether a core schema has the fields of a closed class of a foreign schema."""
    return bool(node.get("extras_keys_schema", {}).get("custom_error_type") == UNKNOWN_KEY)


def _tag_of(node: Any) -> str:
    """Return the key that distinguishes the branches of a designed union; "" for any other core schema."""
    tag = node.get("discriminator") if node["type"] == "tagged-union" else None
    return tag if isinstance(tag, str) else ""


def forgives(core: object) -> bool:
    """Return whether `forgiving` creates another core schema than `tolerant`."""
    return any(_refuses_keys(node) or _tag_of(node) for node in nodes_of(core))


def forgiving(core: Any) -> Any:
    """Return a tolerant core schema that drops keys that foreign classes reject, and finds missing tags."""
    definitions = {node["ref"]: node for node in nodes_of(core) if "ref" in node}
    return tolerant(_forgiving(core, CoreShapes(definitions)))


def _forgiving(schema: object, shapes: CoreShapes) -> object:
    def forgiven(node: Any) -> object:
        converted = mapped(node, forgiven)
        if _refuses_keys(converted):
            del converted["extras_keys_schema"]
            converted["extra_behavior"] = "ignore"
        elif tag := _tag_of(node):
            by_tag = {value: shapes.of(branch) for value, branch in node["choices"].items()}
            converted["discriminator"] = _tag_finder(tag, by_tag)
        return converted

    return forgiven(schema)


def _tag_finder(tag: str, shapes: Mapping[object, Shape]) -> Callable[[object], object]:
    """Return a function for the tag of a value: its own, or the tag of the branch with the nearest keys."""

    def tag_of(value: object) -> object:
        if not isinstance(value, dict):
            return None
        return value[tag] if tag in value else min(shapes, key=lambda each: shapes[each].misfits(value))

    return tag_of


def tolerant(schema: object) -> Any:
    """Return a core schema whose designed classes drop unknown properties.

    Classes of foreign schemas, and open ones, have their own rules for these.
    """
    converted = mapped(schema, tolerant)
    config = converted.get("config", {})
    if converted["type"] == "model" and config.get("extra_fields_behavior") == "forbid":
        converted["config"] = {**config, "extra_fields_behavior": "ignore"}
    return converted


def core_schema_of(type_: Any) -> Any:
    """Return the core schema of a class, or of an alias of a foreign type."""
    if isinstance(type_, type) and issubclass(type_, BaseModel):
        type_.model_rebuild()
        return type_.__pydantic_core_schema__
    from .foreign.model import exact_adapter  # few results need it

    return exact_adapter(type_).core_schema


def known_keys(core: object) -> Iterator[str]:
    """Yield the keys of the classes in a core schema."""
    for node in nodes_of(core):
        if node["type"] == "model-fields":
            yield from (field.get("validation_alias", name) for name, field in node["fields"].items())


NO_BRANCH: Final = "matches none of the documented alternatives"
_LONGEST_LIST: Final = 200
"""Maximum length of the values of an enum in an issue, in characters."""


def issue_of(error: ErrorDetails, keys: Keys) -> FieldIssue:
    """Return the issue of a value at these keys of a response, from the first error of its validator."""
    kind, context = error["type"], context_of(error)
    if (expected := TYPES.get(kind)) is not None:
        return type_issue(keys, (expected,), json_type(error["input"]))
    if kind == "missing":
        return FieldIssue(keys=keys, constraint="missing_field", message="is missing")
    if kind == "literal_error":
        message = f"must be {short(context['expected'], _LONGEST_LIST)}"
        return FieldIssue(keys=keys, constraint="invalid_enum_value", message=message)
    if kind == "string_pattern_mismatch":
        form, example = FORMAT_NAMES.get(context["pattern"], ("", ""))
        if not form:
            return mismatch(keys, context["pattern"])
        message = f"must be written as {form}, such as {example}"
        return FieldIssue(keys=keys, constraint="invalid_format", message=message)
    if kind.startswith("union_tag_"):  # its message quotes the tag
        return FieldIssue(keys=keys, constraint="invalid_value", message=NO_BRANCH)
    if (bound := BOUNDS.get(kind)) is not None:
        return bound_issue(keys, bound, context[bound.core], of_object=isinstance(error["input"], dict))
    return other_issue(keys, error)
