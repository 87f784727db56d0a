"""A rule of the linter, and the parts that rules share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

from .tool import LintedSchema, LintedTool

_WORDS: Final = re.compile(r"[^\W\d_]+|\d+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class LintProblem(NamedTuple):
    """A finding of a rule about a tool."""

    message: str
    hint: str
    pointer: str = ""
    """Place in the schema of the arguments, or of the result."""


Check: TypeAlias = Callable[[LintedTool, int], Iterator[LintProblem]]
"""Yields the problems of a tool; the number is the limit of the rule."""


@frozen_record
class LintRule:
    """One rule."""

    code: str
    """Stable, kebab-case."""
    explanation: str
    check: Check
    is_on: bool = True
    """Whether the rule is on by default."""
    limit: int = 0
    """Maximum that the rule accepts; 0 if the rule counts nothing."""


def description_of(node: LintedSchema) -> str:
    text = node.schema.get("description")
    return text.strip() if isinstance(text, str) else ""


def types_of(schema: Mapping[str, Json]) -> list[Any]:
    type_ = schema.get("type")
    return type_ if isinstance(type_, list) else [type_]


def words(text: str) -> list[str]:
    """Return the words of a text or a name, in lower case and without plural endings."""
    return [word.lower().removesuffix("s") for word in _WORDS.findall(_CAMEL.sub(" ", text))]


def listed(nodes: list[LintedSchema], most: int = 3) -> str:
    names = ", ".join(repr(node.name) for node in nodes[:most])
    return names if len(nodes) <= most else f"{names} and {len(nodes) - most} more"


def has(nodes: list[LintedSchema]) -> str:
    return "has" if len(nodes) == 1 else "have"
