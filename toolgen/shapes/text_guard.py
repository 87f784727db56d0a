"""Types with patterns, which pydantic matches: the steps of a long document are counted before."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, Final, TypeVar

from pydantic_core import SchemaValidator, ValidationError
from pydantic_core import core_schema as cs

from .pattern_steps import A_MATCH, A_STEP, parts_a_character
from .steps import MOST_STEPS, document_steps, take_steps
from .union_guard import mapped, nodes_of

T = TypeVar("T")
AnySchema = Any
"""A core schema under rewriting, a dict; pydantic's own type is a union of some fifty TypedDicts."""

_PARTS: Final = MOST_STEPS * A_STEP // 4
"""Parts of steps up to which matches are not counted one by one."""


def count_patterns(validate: Callable[..., T], schema: AnySchema) -> Callable[..., T]:
    """Return the function that decodes documents by a core schema, or one that counts its steps before.

    That raises `TooComplexError` where they do not suffice.
    """
    parts = [_parts(node) for node in nodes_of(schema)]
    if max(parts) <= 1:  # a string is matched with one of them, or with few
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


def _parts(node: AnySchema) -> int:
    """Return the parts of steps that the pattern of a core schema takes for each character; 0 without one."""
    pattern = node.get("pattern") if node["type"] == "str" else None
    return parts_a_character(pattern) if isinstance(pattern, str) else 0


def _counted(schema: AnySchema) -> AnySchema:
    """Return a core schema whose patterns take steps before they are matched."""
    made = mapped(schema, _counted)
    if not (parts := _parts(schema)):
        return made

    def take(text: object) -> object:
        take_steps(A_MATCH + (len(text) * parts // A_STEP if isinstance(text, str) else 0))
        return text

    outer = {"ref": made.pop("ref")} if "ref" in made else {}
    return {**cs.no_info_before_validator_function(take, made), **outer}
