"""Types whose patterns pydantic matches. The steps of a long document are counted in advance."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, Final, TypeVar

from pydantic_core import SchemaValidator, ValidationError
from pydantic_core import core_schema as cs

from .numbers import AnySchema
from .pattern_steps import A_STEP, parts_a_character, take_match
from .steps import MOST_STEPS, document_steps
from .union_guard import mapped, nodes_of

T = TypeVar("T")

_PARTS: Final = MOST_STEPS * A_STEP // 4
"""Parts of steps up to which matches are not counted individually."""


def count_patterns(validate: Callable[..., T], schema: AnySchema) -> Callable[..., T]:
    """Return the function that decodes documents by a core schema, or one that counts its steps before.

    The counting function raises `TooComplexError` if the steps do not suffice.
    """
    patterns = [pattern for node in nodes_of(schema) if (pattern := _pattern(node)) is not None]
    parts = [parts_a_character(pattern) for pattern in patterns]
    if max(parts, default=0) <= 1:  # a string is matched with few of them
        return validate
    most = _PARTS // sum(parts)

    @cache
    def counting() -> SchemaValidator:
        return SchemaValidator(_counted(schema), _use_prebuilt=False)

    def counted(document: bytes | str, **options: Any) -> T:
        if len(document) <= most:
            return validate(document, **options)
        with document_steps():
            with suppress(ValidationError):
                counting().validate_json(document, **options)
            return validate(document, **options)

    return counted


def _pattern(node: AnySchema) -> str | None:
    """Return the pattern of a core schema; None if it has none."""
    pattern = node.get("pattern") if node["type"] == "str" else None
    return pattern if isinstance(pattern, str) else None


def _counted(schema: AnySchema) -> AnySchema:
    """Return a core schema whose patterns take steps before they are matched."""
    counted_schema = mapped(schema, _counted)
    if (pattern := _pattern(schema)) is None:
        return counted_schema
    parts = parts_a_character(pattern)

    def take(text: object) -> object:
        if isinstance(text, str):
            take_match(pattern, text, parts)
        return text

    outer = {"ref": counted_schema.pop("ref")} if "ref" in counted_schema else {}
    return {**cs.no_info_before_validator_function(take, counted_schema), **outer}
