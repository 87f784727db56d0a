"""The rules about the words of names and descriptions that a model reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .rule import LintProblem, LintRule, description_of, has, listed, types_of, words
from .tool import LintedTool

_ORDER: Final = re.compile(
    r"(exclude|fetch|filter|find|get|give|hide|include|keep|limit|list|restrict|return|show|skip)\b(?! of\b)",
    re.IGNORECASE,
)
_VAGUE: Final = frozenset("misc something somehow stuff thing various whatever".split())
_QUANTITIES: Final = frozenset(
    "age delay distance duration elevation height interval latency length lifetime mass period "
    "pressure radius size speed temperature timeout ttl volume wait weight width".split()
)
_UNITS: Final = frozenset(
    "second sec s ms millisecond microsecond minute min hour h day week month year byte kb mb gb kib mib gib "
    "pixel px point pt em character char word token line row item element level page percent degree celsiu "
    "fahrenheit kelvin meter metre m km kilometer kilometre cm mm inch inche foot feet mile gram g kg "
    "kilogram pound lb ounce oz liter litre l ml bar pascal watt volt bit knot unit number count".split()
)
"""Words of units in lower case, without plural endings."""


def _filter_as_order(tool: LintedTool, _: int) -> Iterator[LintProblem]:
    required = tool.payload.get("required")
    orders = [
        node
        for node in tool.arguments
        if node.depth == 1
        and node.name not in (required if isinstance(required, list) else ())
        and "boolean" not in types_of(node.schema)
        and _ORDER.match(description_of(node))
    ]
    if orders:
        reads = "description of {} reads" if len(orders) == 1 else "descriptions of {} read"
        yield LintProblem(
            f"the {reads.format(listed(orders))} as an order",
            "describe the result or the limit: Only devices in this state. Maximum number of devices.",
            orders[0].pointer,
        )


def _vague_words(tool: LintedTool, _: int) -> Iterator[LintProblem]:
    if vague := _VAGUE.intersection(words(tool.description)):
        yield LintProblem(
            f"the description says {', '.join(map(repr, sorted(vague)))}, which is too vague",
            "name what the tool reads, changes and returns",
        )
    unclear = [node for node in tool.arguments if _VAGUE.intersection(words(description_of(node)))]
    if unclear:
        found = _VAGUE.intersection(words(description_of(unclear[0])))
        yield LintProblem(
            f"the description of {unclear[0].name!r} says {', '.join(map(repr, sorted(found)))}, "
            "which is too vague",
            "name the value of the argument",
            unclear[0].pointer,
        )


def _missing_unit(tool: LintedTool, _: int) -> Iterator[LintProblem]:
    bare = [
        node
        for node in tool.arguments
        if {"integer", "number"}.intersection(types_of(node.schema))
        and _QUANTITIES.intersection(words(node.name))
        and not _UNITS.intersection([*words(node.name), *words(description_of(node))])
    ]
    if bare:
        yield LintProblem(
            f"{listed(bare)} {has(bare)} no unit",
            "add the unit to the description: Seconds to wait for an answer.",
            bare[0].pointer,
        )


def _repeated_toolset(tool: LintedTool, _: int) -> Iterator[LintProblem]:
    toolset, name = words(tool.toolset.rpartition(".")[2]), words(tool.name)
    if toolset and len(name) > len(toolset) and name[: len(toolset)] == toolset:
        yield LintProblem(
            f"the name {tool.name!r} repeats the name of its toolset",
            "begin with the verb: list_notes",
        )


RULES_OF_WORDING: Final = (
    LintRule(
        code="filter-as-order",
        check=_filter_as_order,
        explanation="A model reads `Keep the devices in this state.` as a task. A filter describes the "
        "result, `Only devices in this state.`, and a limit names the highest or lowest value.",
    ),
    LintRule(
        code="vague-words",
        check=_vague_words,
        explanation="`Thing`, `stuff` and `etc` do not tell a model what to look for or fill in.",
    ),
    LintRule(
        code="missing-unit",
        check=_missing_unit,
        explanation="A model that does not know the unit of a number guesses it: 30 is a timeout in seconds "
        "for one API and in milliseconds for another one.",
    ),
    LintRule(
        code="repeated-toolset",
        check=_repeated_toolset,
        explanation="A model sees the tool beside the others of its toolset. A name such as `notes_list` "
        "repeats the toolset in each request, and hides the verb by which a model chooses.",
    ),
)
