"""The rules in the order of the output, each with its check and its explanation.

A rule that reports more than a third of the public tools is off by default;
tests/conformance/test_lint_corpora.py measures it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from toolgen.catalog.providers import project
from toolgen.contract.printable import printable
from toolgen.shapes.constraints import LIMITS

from .rule import LintProblem, LintRule, description_of, has, listed, types_of, words
from .tool import LintedTool
from .wording import RULES_OF_WORDING

_LIMITS_OF_ARRAYS: Final = {row.keyword for row in LIMITS if "array" in row.holders and row.side == "high"}
_FILLERS: Final = frozenset("a an and by for in is it its of on or that the this to value with".split())
_GENERIC_TOOLS: Final = frozenset(
    "action call command do execute function get handle invoke main operation perform process query request "
    "run task test tool update util utility".split()
)
_GENERIC_ARGUMENTS: Final = frozenset(
    "arg args argument arguments data foo info input kwargs misc obj object options param params payload "
    "stuff thing things value values var".split()
)
_OPAQUE: Final = re.compile(r"(?![a-z]{2}$)([0-9A-Fa-f-]{8,}|[A-Za-z]?\d+|[A-Za-z]{1,2}\d*)")
"""A value without a meaning for a model: a digest, a number, one or two letters.

Two lowercase letters are excluded, because they are usually a language, for example `en`, or a word.
"""


def _no_description(tool: LintedTool, _: int) -> Iterator[LintProblem]:
    if not tool.description.strip():
        yield LintProblem(
            "the tool has no description", "say in one sentence what it does and when to use it"
        )
    bare = [node for node in tool.arguments if node.depth == 1 and not description_of(node)]
    if bare:
        names = listed(bare)
        yield LintProblem(
            f"{names} {has(bare)} no description",
            "say what it is, its unit, and where the model finds the value",
            bare[0].pointer,
        )


def _unhelpful_description(tool: LintedTool, _: int) -> Iterator[LintProblem]:
    if tool.description.strip() and not _new_words(tool.description, tool.name):
        yield LintProblem(
            f"the description {_short(tool.description)} only repeats the name",
            "say what it does and when to use it",
        )
    idle = [
        node
        for node in tool.arguments
        if (text := description_of(node)) and not _new_words(text, f"{node.name} {_kinds(node.schema)}")
    ]
    if idle:
        yield LintProblem(
            f"the description of {listed(idle)} only repeats the name",
            "say what it is, its unit, and where the model finds the value",
            idle[0].pointer,
        )


def _generic_name(tool: LintedTool, _: int) -> Iterator[LintProblem]:
    if tool.name.lower() in _GENERIC_TOOLS:
        yield LintProblem(
            f"the name {tool.name!r} would fit any tool", "name the action and its object: list_devices"
        )
    vague = [node for node in tool.arguments if node.depth == 1 and node.name.lower() in _GENERIC_ARGUMENTS]
    if vague and len([node for node in tool.arguments if node.depth == 1]) > 1:
        yield LintProblem(
            f"{listed(vague)} {'is a name' if len(vague) == 1 else 'are names'} that would fit any argument",
            "name the value: device_id, reading",
            vague[0].pointer,
        )


def _many_arguments(tool: LintedTool, limit: int) -> Iterator[LintProblem]:
    count = sum(node.depth == 1 for node in tool.arguments)
    if count > limit:
        yield LintProblem(
            f"it has {count} arguments; models fill more than {limit} badly",
            "split the tool, or remove arguments that models do not need (Inject values that the server "
            "knows)",
        )


def _deep_arguments(tool: LintedTool, limit: int) -> Iterator[LintProblem]:
    deepest = max(tool.arguments, key=lambda node: node.depth, default=None)
    if deepest and deepest.depth > limit:
        yield LintProblem(
            f"its arguments are {deepest.depth} objects deep; models fill more than {limit} badly",
            "move the fields of the inner object to the tool, or to a tool of its own",
            deepest.pointer,
        )


def _unbounded_list(tool: LintedTool, _: int) -> Iterator[LintProblem]:
    if tool.is_bounded:
        return
    for node in tool.result_nodes:
        if (
            node.depth <= 1
            and "array" in types_of(node.schema)
            and not node.schema.keys() & _LIMITS_OF_ARRAYS
        ):
            name = f"the list {node.name!r} of its result" if node.name else "the list that it returns"
            yield LintProblem(
                f"{name} has no limit on its length",
                "add d.BoundedResult(…) with a cursor, or max_length=… to the list",
                node.pointer,
            )
            return


def _missing_annotations(tool: LintedTool, _: int) -> Iterator[LintProblem]:
    if tool.has_annotations is False:
        yield LintProblem(
            "it has no annotations, so clients have to assume that it is destructive",
            "add d.Annotations(read_only=True), or the annotations that apply",
        )


def _opaque_enum(tool: LintedTool, _: int) -> Iterator[LintProblem]:
    for node in tool.nodes:
        values = node.schema.get("enum")
        if not isinstance(values, list) or len(values) < 2:
            continue
        opaque = [value for value in values if value is not None and _OPAQUE.fullmatch(str(value))]
        text = description_of(node)
        unsaid = [value for value in opaque if not isinstance(value, bool) and not _says(text, str(value))]
        if len(unsaid) * 2 > len(values):
            of = f" of {node.key!r}" if node.key else ""
            yield LintProblem(
                f"values{of} such as {unsaid[0]!r} have no meaning for a model",
                'give them meanings: Enum(…, Value("b1", "Basement")), or explain them in the description',
                f"{node.pointer}/enum",
            )


def _missing_example(tool: LintedTool, limit: int) -> Iterator[LintProblem]:
    inner = sum(node.depth > 1 for node in tool.arguments)
    if inner > limit and not tool.has_examples and not any("examples" in node.schema for node in tool.nodes):
        yield LintProblem(
            f"its arguments have {inner} nested fields, but no example",
            "add d.Example(args={…}, result={…}) to the tool",
        )


def _costly_tool(tool: LintedTool, limit: int) -> Iterator[LintProblem]:
    if tool.tokens > limit:
        yield LintProblem(
            f"it costs about {tool.tokens} tokens in each request, more than {limit}",
            "shorten its descriptions, or remove what models do not need; toolgen schema --tokens counts",
        )


def _not_strict(tool: LintedTool, _: int) -> Iterator[LintProblem]:
    projection = project(tool.name, tool.description, dict(tool.payload), "openai-strict")
    free = [loss for loss in projection.losses if loss.action in ("as JSON text", "dropped", "not strict")]
    if free:
        more = f", and at {len(free) - 1} more places" if len(free) > 1 else ""
        where, what = printable(free[0].path or "/"), printable(f"{free[0].keyword}: {free[0].action}")
        yield LintProblem(
            f"the strict mode of OpenAI does not support {where} ({what}){more}",
            "name the keys and their types; toolgen schema --for openai-strict --losses lists all places",
            free[0].path,
        )


_RULES: Final = (
    LintRule(
        code="no-description",
        check=_no_description,
        explanation="A model chooses a tool and fills its arguments by their descriptions. Without one, it "
        "guesses from the name.",
    ),
    LintRule(
        code="unhelpful-description",
        check=_unhelpful_description,
        explanation="A description that repeats the name costs tokens without helping the model, for example "
        "`The device id.` for `device_id`. Say what it is, its unit, and where the model finds the value.",
    ),
    LintRule(
        code="generic-name",
        check=_generic_name,
        explanation="Names such as `run` and `data` would fit anything, so a model with several tools "
        "chooses the wrong one.",
    ),
    LintRule(
        code="many-arguments",
        check=_many_arguments,
        limit=15,
        explanation="Models make more mistakes in tools with many arguments, which also cost tokens in each "
        "request.",
    ),
    LintRule(
        code="deep-arguments",
        check=_deep_arguments,
        limit=4,
        explanation="In deeply nested objects, models forget brackets and required fields. A property of the "
        "arguments has depth 1, a property inside it depth 2.",
    ),
    LintRule(
        code="unbounded-list",
        check=_unbounded_list,
        explanation="With real data, an unbounded list can fill the context of a model. `BoundedResult` "
        "returns a part and says that there is more.",
    ),
    LintRule(
        code="missing-annotations",
        check=_missing_annotations,
        is_on=False,
        explanation="Without annotations, a client has to assume that a tool is destructive (MCP 2025-11-25, "
        "`ToolAnnotations`), so it asks a person for each call. The rule cannot check a catalog, "
        "which always contains the cautious defaults.",
    ),
    LintRule(
        code="opaque-enum",
        check=_opaque_enum,
        explanation="Values that are numbers, digests or one or two letters have no meaning for a model, "
        "unless `Value(…)` of an enum or the description explains them.",
    ),
    LintRule(
        code="missing-example",
        check=_missing_example,
        limit=6,
        explanation="Models fill nested arguments better with one example than with long descriptions.",
    ),
    LintRule(
        code="costly-tool",
        check=_costly_tool,
        limit=1_000,
        explanation="Each request contains each tool. `toolgen schema --tokens` counts the tokens per tool, "
        "toolset and agent.",
    ),
    LintRule(
        code="not-strict",
        check=_not_strict,
        explanation="With OpenAI's strict mode, the provider guarantees that arguments match the schema. A "
        "schema that the mode does not support is sent without it, and toolgen reports the model's mistakes "
        "as issues.",
    ),
    *RULES_OF_WORDING,
)

RULES: Final[Mapping[str, LintRule]] = MappingProxyType({rule.code: rule for rule in _RULES})
"""Rules for one tool by code; `similar-tools`, which compares tools, is in `linter`."""


def _says(text: str, value: str) -> bool:
    """Return whether a text contains a value as a separate word."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def _kinds(schema: Mapping[str, Any]) -> str:
    """Return the types of a schema as words."""
    types = [str(type_) for type_ in types_of(schema)]
    return " ".join([*types, *(["list"] if "array" in types else [])])


def _new_words(text: str, name: str) -> bool:
    """Return whether a text has a word that is neither a filler nor part of the name."""
    return not set(words(text)) <= {"", *words(name), *(word.removesuffix("s") for word in _FILLERS)}


def _short(text: str, most: int = 60) -> str:
    return repr(text if len(text) <= most else f"{text[:most]}…")
