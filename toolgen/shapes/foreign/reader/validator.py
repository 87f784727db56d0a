"""The uses of jsonschema-rs in reading a schema: metaschemas, patterns, defaults, the whole contract.

No other file of this package imports the library.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Any, Final
from urllib.parse import quote

import jsonschema_rs as rs

from toolgen.contract.json_pointer import pointer_of
from toolgen.contract.json_value import Json

from ...constraints import FLAGS, LIMITS
from .keywords import NUMBER_KEYWORDS, STRING_KEYWORDS, Schema
from .problems import SchemaProblem

_VALIDATORS: Final = {
    "https://json-schema.org/draft/2020-12/schema": rs.Draft202012Validator,
    "https://json-schema.org/draft/2019-09/schema": rs.Draft201909Validator,
    "http://json-schema.org/draft-07/schema#": rs.Draft7Validator,
    "http://json-schema.org/draft-06/schema#": rs.Draft6Validator,
}
_DECIDED: Final = frozenset(
    (
        *"type properties required additionalProperties items enum const allOf anyOf oneOf $defs".split(),
        *"title description default examples deprecated readOnly writeOnly format".split(),
        *(row.keyword for row in FLAGS),
    )
)
"""Keywords for which a validator rejects nothing that the metaschema accepts."""
_LIMITS: Final = frozenset(row.keyword for row in LIMITS if row.takes in ("length", "bound"))
_LEAST: Final = 2**-31
_MOST: Final = 2**31
_PLAIN_POINTER: Final = re.compile(r"#(/[A-Za-z0-9_$.-]+)+")
_CONTRACT: Final = "https://toolgen.invalid/contract"
_TYPES: Final = "'array', 'boolean', 'integer', 'null', 'number', 'object' and 'string'"


def metaschema_problems(schema: Schema, metaschema: str, *, within: str = "") -> list[SchemaProblem]:
    """Return one problem for each location in the schema that its metaschema rejects."""
    by_pointer: dict[str, SchemaProblem] = {}
    for error in _metaschema(metaschema).iter_errors(schema):
        problem = _fault(error, within)
        by_pointer.setdefault(problem.pointer, problem)
    return list(by_pointer.values())


def contract_problem(contract: Schema, schemas: Iterable[Schema]) -> SchemaProblem | None:
    """Return the problem if no validator can be built from the contract; otherwise None.

    `schemas` are all its schemas; the metaschema accepts them, and the targets of their references exist. A
    validator is only built if they contain anything that the metaschema does not decide.
    """
    if all(map(_is_decided, schemas)):
        return None
    keywords: Any = {"pattern": _Pattern}
    try:
        rs.Draft202012Validator(contract, offline=True, validate_formats=False, keywords=keywords)
    except rs.ValidationError as error:
        return _fault(error, "")
    except Exception as error:  # noqa: BLE001 - the library raises several kinds, and a schema must not end the run
        return SchemaProblem(pointer="", message=f"cannot be validated: {error!s:.200}", hint="simplify it")
    return None


def _is_decided(schema: Schema) -> bool:
    """Return whether the metaschema and the reference targets decide everything a validator could reject."""
    for word in schema.keys() - _DECIDED:
        if word[:2] == "x-":
            continue
        value = schema[word]
        is_place = word == "$ref" and _PLAIN_POINTER.fullmatch(value) is not None
        is_size = word in _LIMITS and isinstance(value, int | float) and _is_common(abs(value))
        if not (is_place or is_size or (word == "pattern" and compiles(value))):
            return False
    return True


def _is_common(size: float) -> bool:
    return not size or _LEAST < size < _MOST


class _Pattern:
    """Replaces the keyword, so that patterns that compile are not compiled again."""

    def __init__(self, schema: Json, pattern: str, path: object) -> None:
        if not compiles(pattern):
            raise ValueError(f"{pattern!r:.120} is not a regular expression")

    def validate(self, instance: object) -> None:
        """Accept any value: no value is checked."""


@lru_cache(16_384)
def compiles(pattern: str) -> bool:
    """Return whether the text is a regular expression."""
    try:
        rs.Draft202012Validator({"pattern": pattern}, validate_formats=False)
    except ValueError:
        return False
    return True


def scalar_check(schema: Schema) -> Callable[[object], bool]:
    """Return a function that checks a value against the schema's keywords for strings and numbers."""
    words: Schema = {word: schema[word] for word in (*STRING_KEYWORDS, *NUMBER_KEYWORDS) if word in schema}
    if not words:
        return lambda _: True
    is_valid: Callable[[object], bool] = rs.Draft202012Validator(words, validate_formats=False).is_valid
    return is_valid


def rejected_values(contract: Schema, values: list[tuple[str, object]]) -> set[str]:
    """Return the pointers whose values are rejected by the schema at that location.

    If an `$id` prevents references to the locations, return all pointers: unchecked values are not shown.
    """
    uri = contract.get("$id", _CONTRACT)
    places = [{"$ref": f"{uri}#{quote(pointer, safe='/~')}"} for pointer, _ in values]
    try:
        registry = rs.Registry([(uri, contract)])
        validator = rs.Draft202012Validator(
            {"prefixItems": places}, registry=registry, offline=True, validate_formats=False
        )
    except (rs.ValidationError, rs.ReferencingError):
        return {pointer for pointer, _ in values}
    failing = {error.instance_path[0] for error in validator.iter_errors([value for _, value in values])}
    return {pointer for at, (pointer, _) in enumerate(values) if at in failing}


@cache
def _metaschema(uri: str) -> Any:
    return _VALIDATORS[uri]({"$ref": uri}, validate_formats=False)


def _fault(error: rs.ValidationError, within: str) -> SchemaProblem:
    pointer = within + pointer_of(error.instance_path)
    word = str(error.instance_path[-1]) if error.instance_path else ""
    value = error.instance
    if word == "type" and error.kind.name == "anyOf":
        message = f"has the type {value!r:.80}, which JSON Schema does not define"
        return SchemaProblem(pointer=pointer, message=message, hint=f"the types are {_TYPES}")
    if error.kind.name == "format" and isinstance(value, str):
        message = f"has {value!r:.120}, which is not a regular expression"
        return SchemaProblem(pointer=pointer, message=message, hint="correct it in the syntax of ECMA-262")
    if error.kind.name == "$ref":
        message = f"has a reference that cannot be followed: {error.message:.200}"
        return SchemaProblem(pointer=pointer, message=message, hint="copy its target into $defs")
    text = error.message if len(error.message) <= 200 else f"{error.message[:200]}…"
    return SchemaProblem(
        pointer=pointer, message=f"is not valid JSON Schema: {text}", hint="correct the schema"
    )
