"""Defaults that their own schema rejects."""

from __future__ import annotations

import json
from typing import Final

from toolgen.contract.json_value import identity

from .keywords import CONSTRAINTS, Schema
from .merging import types_of
from .problems import Problem
from .scalars import kind_of
from .schema_index import SchemaIndex
from .validator import rejected_values

_ARTICLES: Final = {"null": "null", "array": "an array", "object": "an object", "integer": "an integer"}


def invalid_defaults(survey: SchemaIndex) -> list[Problem]:
    """Return a warning for each default that fails the schema it stands in, in the survey's order."""
    defaults = {pointer: schema for pointer, schema in survey.places.values() if "default" in schema}
    plain = {pointer: _plainly_accepted(schema) for pointer, schema in defaults.items()}
    unknown = [(pointer, defaults[pointer]["default"]) for pointer, known in plain.items() if known is None]
    failing = {pointer for pointer, known in plain.items() if known is False}
    if unknown:
        failing.update(rejected_values(survey.root, unknown))
    return [_warning(pointer, defaults[pointer]["default"]) for pointer in defaults if pointer in failing]


def _plainly_accepted(schema: Schema) -> bool | None:
    """Return whether a schema of `type` and `enum` only accepts its default; None if there is more."""
    words = {word for word in schema if word in CONSTRAINTS}
    value = schema["default"]
    if words - {"type", "enum"}:
        return None
    kind = kind_of(value)
    kinds = types_of(schema["type"]) if "type" in schema else [kind]
    if kind not in kinds and not (kind == "integer" and "number" in kinds):
        return False
    return "enum" not in schema or identity(value) in [identity(known) for known in schema["enum"]]


def _warning(pointer: str, value: object) -> Problem:
    kind = kind_of(value)
    text = _ARTICLES.get(kind, f"a {kind}")
    if isinstance(value, (str, bool, int, float)) and len(str(value)) <= 40:
        text += f" ({json.dumps(value, ensure_ascii=False)})"
    return Problem(
        pointer=f"{pointer}/default",
        message=f"is {text}, which its own schema refuses",
        hint="correct the default or the schema; until then the default is only shown",
        is_warning=True,
    )
