"""Converts a foreign schema to its contract and its normal form.

Patterns that are not regular expressions, or take long to compile, are problems. A default that does not
match its own schema is a warning (`invalid_defaults`).
"""

from __future__ import annotations

import json
from copy import deepcopy
from functools import lru_cache
from typing import Any, Final

from toolgen.contract.json_pointer import escaped

from ...evaluator import Evaluator, Undecided
from ...fields import Foreign
from ...patterns import PatternError, to_rust, translated
from ...union_shapes import types_of
from ..pattern_compiling import MOST_PARTS, parts_of
from ..repairs import repair
from . import validator
from .dialect import UNDECLARED, dialect_of, unreadable, upgrade
from .document import copied
from .keywords import Schema, children
from .merging import NEVER, Merger, named_types
from .normalizer import SchemaNormalizer
from .problems import Reading, SchemaProblem
from .schema_index import SchemaIndex
from .validator import rejected_values

_TOO_MANY_PARTS: Final = (
    f"brings all patterns together to more than {MOST_PARTS} parts, counting each repetition"
)
_FEWER_PARTS: Final = (
    "repeat less, for example with `+` and `maxLength`, or remove patterns; a class beyond ASCII counts as "
    "several parts, and a Unicode property as hundreds"
)
_DEFINITIONS: Final = ("$defs", "definitions")
_NAMING: Final = frozenset("$anchor $dynamicAnchor $recursiveAnchor $dynamicRef $recursiveRef".split())
"""Keywords that allow references to a schema without a JSON Pointer."""


def read(schema: object, *, name: str, arguments: bool = False) -> Reading:
    """Return the schema as a contract and as types, or its problems.

    `name` is the class name of the root. With `arguments`, the value is the arguments of a tool, which are
    always an object.
    """
    document, problems = copied(schema)
    if problems:
        return _failed(problems)
    if isinstance(document, bool):
        document = {} if document else {"not": {}}
    if not isinstance(document, dict):
        message = "is not a JSON Schema: it is neither an object nor true or false"
        return _failed([SchemaProblem(pointer="", message=message, hint="write an object")])
    repairs = tuple(
        SchemaProblem(
            pointer=each.pointer, message=each.message, hint=each.hint, is_warning=True, is_repair=True
        )
        for each in repair(document)
    )
    meant = deepcopy(document) if repairs else schema
    survey, problems = _upgraded(document)
    problems = problems or survey.cycles() + _bad_patterns(survey) or survey.multiplied()
    if arguments and not problems:
        survey, problems = _require_object(survey)
    if not problems:
        unbuildable = validator.contract_problem(
            survey.root, (schema for _, schema in survey.places.values())
        )
        problems = [unbuildable] if unbuildable else []
    if problems:
        return _failed(problems)
    return _normal(survey, name, arguments=arguments, repairs=repairs, schema=meant)


def read_text(text: str, *, name: str) -> Reading:
    """Return the reading of a schema in JSON text, cached for each name.

    A schema without classes has no names, so one reading serves all names: a large design can contain the
    same schema hundreds of times, for example the schema of an address.
    """
    readings = _readings_of(text)
    first = next(iter(readings.values()), None)
    if first is not None and first.foreign is not None and not first.foreign.classes:
        return first
    if name not in readings:
        readings[name] = read(json.loads(text), name=name)
    return readings[name]


@lru_cache(512)
def _readings_of(text: str) -> dict[str, Reading]:
    """Return the cached readings of a schema by the name of its root; the caller adds new ones."""
    return {}


def upgraded(schema: object) -> Schema | SchemaProblem:
    """Return a copy of the schema in 2020-12, or the reason why it cannot be read.

    All its references are JSON Pointers into it, and none leads back to itself for the same value.
    """
    document, problems = copied(schema)
    if problems:
        return problems[0]
    if isinstance(document, bool):
        return {} if document else {"not": {}}
    if not isinstance(document, dict):
        return SchemaProblem(pointer="", message="is not a JSON Schema", hint="write an object")
    survey, problems = _upgraded(document)
    problems = problems or survey.cycles() or survey.multiplied()
    if problems:
        return problems[0]
    for pointer, part in survey.places.values():
        if survey.has_resources or not _NAMING.isdisjoint(part):
            message = "has nested identifiers, which change the meaning of its references"
            return SchemaProblem(
                pointer=pointer, message=message, hint="use only JSON Pointers in references"
            )
    survey.root.pop("$schema", None)
    survey.root.pop("$id", None)
    return survey.root


def _failed(problems: list[SchemaProblem]) -> Reading:
    return Reading(foreign=None, problems=tuple(sorted(problems, key=lambda problem: problem.pointer)))


def _upgraded(document: Schema) -> tuple[SchemaIndex, list[SchemaProblem]]:
    """Upgrade the document to 2020-12, in place; return its schemas and problems."""
    identifier = document.get("$id")
    base = identifier.partition("#")[0] if isinstance(identifier, str) else ""
    survey = SchemaIndex(document, base=base)
    dialect = dialect_of(document)
    if isinstance(dialect, SchemaProblem):
        return survey, [dialect]
    is_changed = dialect is UNDECLARED and upgrade(survey, dialect, base=base)
    problems = validator.metaschema_problems(document, dialect.metaschema)
    unnamed = set(survey.unnamed)
    for pointer, schema in survey.places.values():
        if pointer in unnamed:
            problems += validator.metaschema_problems(schema, dialect.metaschema, within=pointer)
    reported = {problem.pointer for problem in problems}
    problems += [problem for problem in survey.problems if problem.pointer not in reported]
    problems += unreadable(survey, dialect)
    if problems:
        return survey, problems
    if dialect is not UNDECLARED:
        is_changed = upgrade(survey, dialect, base=base)
    if not (is_changed or base):
        return survey, []
    again = SchemaIndex(document)
    return again, again.problems


def _bad_patterns(survey: SchemaIndex) -> list[SchemaProblem]:
    problems: list[SchemaProblem] = []
    parts = 0
    compiles: dict[str, bool] = {}
    for pointer, schema in survey.places.values():
        if "pattern" not in schema and "patternProperties" not in schema:
            continue
        patterns: list[tuple[str, Any]] = [("pattern", schema["pattern"])] if "pattern" in schema else []
        named = {tokens[1] for tokens, _ in children(schema) if tokens[0] == "patternProperties"}
        patterns += [
            (f"patternProperties/{escaped(pattern)}", pattern)
            for pattern in schema.get("patternProperties", ())
            if pattern in named
        ]
        for at, pattern in patterns:
            if pattern not in compiles or _is_compiled_again(pattern):
                parts += parts_of(pattern)
            if parts > MOST_PARTS:
                return [SchemaProblem(pointer=f"{pointer}/{at}", message=_TOO_MANY_PARTS, hint=_FEWER_PARTS)]
            if pattern not in compiles:
                compiles[pattern] = _compiles(pattern)
            if not compiles[pattern]:
                message = f"has {pattern!r:.120}, which is not a regular expression"
                hint = "correct it in the syntax of ECMA-262"
                problems.append(SchemaProblem(pointer=f"{pointer}/{at}", message=message, hint=hint))
    return problems


def _is_compiled_again(pattern: str) -> bool:
    """Return whether a pattern is compiled at each occurrence, as patterns in types are."""
    try:
        translated(pattern)
    except PatternError:
        return False
    return True


def _compiles(pattern: str) -> bool:
    try:
        to_rust(pattern)
    except PatternError:
        return validator.compiles(pattern)
    return True


def _require_object(survey: SchemaIndex) -> tuple[SchemaIndex, list[SchemaProblem]]:
    """Add `type: object` to the root of a tool's arguments; return the schemas, and any problem."""
    root = survey.root
    merged = Merger(survey, set()).flat(root)
    if merged is NEVER or "object" not in named_types(merged.get("type", "object")):
        fault = f"is of type {root['type']!r:.80}" if "type" in root else "does not accept an object"
        message = f"{fault}, but the arguments of a tool are an object"
        pointer = "/type" if "type" in root else ""
        return survey, [
            SchemaProblem(pointer=pointer, message=message, hint="make it an object with properties")
        ]
    if root.get("type") == "object":
        return survey, []
    is_referred_to = any(target is root for target in survey.targets.values())
    if is_referred_to:
        _keep_for_references(survey)
    root["type"] = "object"
    return SchemaIndex(root) if is_referred_to else survey, []


def _keep_for_references(survey: SchemaIndex) -> None:
    """Give references to the root a copy that still accepts values of other types."""
    root = survey.root
    definitions: Schema = root.setdefault("$defs", {})
    name = "Root"
    while name in definitions:
        name += "_"
    definitions[name] = {word: value for word, value in root.items() if word not in _DEFINITIONS}
    for place, target in survey.targets.items():
        if target is root:
            survey.places[place][1]["$ref"] = f"#/$defs/{name}"
    if definitions[name].get("$ref"):
        definitions[name]["$ref"] = root["$ref"]


def _normal(
    survey: SchemaIndex, name: str, *, arguments: bool, repairs: tuple[SchemaProblem, ...], schema: object
) -> Reading:
    warnings = invalid_defaults(survey)
    normal = SchemaNormalizer(survey, name, refused_defaults={warning.pointer for warning in warnings})
    normal.run(survey.root, arguments=arguments)
    is_exact = not normal.unsupported
    foreign = Foreign(schema=survey.root, root=normal.root, classes=normal.classes, is_exact=is_exact)
    return Reading(
        foreign=foreign,
        problems=(*repairs, *warnings),
        schema=schema,
        unsupported=frozenset(normal.unsupported),
    )


_ARTICLES: Final = {"null": "null", "array": "an array", "object": "an object", "integer": "an integer"}


def invalid_defaults(survey: SchemaIndex) -> list[SchemaProblem]:
    """Return a warning for each default that does not match its own schema, in the index's order."""
    evaluator = Evaluator(survey.root, Undecided.AS_MISFIT)
    suspects = [
        (pointer, schema["default"])
        for pointer, schema in survey.places.values()
        if "default" in schema and not evaluator.fits(schema, schema["default"])
    ]
    refused = rejected_values(survey.root, suspects) if suspects else set[str]()
    return [_warning(pointer, value) for pointer, value in suspects if pointer in refused]


def _warning(pointer: str, value: object) -> SchemaProblem:
    kind, *_ = types_of(value)
    text = _ARTICLES.get(kind, f"a {kind}")
    if isinstance(value, (str, bool, int, float)) and len(str(value)) <= 40:
        text += f" ({json.dumps(value, ensure_ascii=False)})"
    return SchemaProblem(
        pointer=f"{pointer}/default",
        message=f"is {text}, which does not match its own schema",
        hint="correct the default or the schema; until then, the default is displayed but not used",
        is_warning=True,
    )
