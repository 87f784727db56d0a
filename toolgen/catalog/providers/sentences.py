"""Keywords of JSON Schema in words, for the descriptions that a model reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from toolgen.contract.json_value import Json
from toolgen.shapes.constraints import FLAGS, LIMITS, Constraint

_LONGEST_PATTERN: Final = 160
"""Maximum length of a shown pattern, in characters; models ignore longer ones, and each costs tokens."""
_UNSAID: Final = frozenset(
    "$schema $id $anchor $comment $defs definitions $dynamicAnchor title description type properties "
    "discriminator readOnly writeOnly nullable contentMediaType".split()
)
"""Keywords that do not constrain arguments, or whose rule is expressed elsewhere."""


def joined(*texts: str) -> str:
    """Return the texts as one text, each as a separate sentence."""
    sentences = [text.strip() for text in texts if text and text.strip()]
    return " ".join(text if text[-1] in ".!?:" else f"{text}." for text in sentences[:-1]) + (
        (" " if len(sentences) > 1 else "") + sentences[-1] if sentences else ""
    )


def shown(value: Json) -> str:
    """Return a value in words: a clear text unchanged, any other value as JSON."""
    if (
        isinstance(value, str)
        and value
        and value.isprintable()
        and value == value.strip()
        and '"' not in value
    ):
        return value
    return json.dumps(value, ensure_ascii=False)


def listed(values: Iterable[Json]) -> str:
    """Return values with commas."""
    return ", ".join(map(shown, values))


def sentence(keyword: str, value: Json, schema: Mapping[str, Json]) -> str | None:
    """Return the rule of a keyword in words; "" if there is none, None if only code can check it."""
    if keyword in _UNSAID or keyword.startswith("x-"):
        return ""
    make = _SENTENCES.get(keyword)
    try:
        return None if make is None else make(value, schema)
    except (AttributeError, IndexError, TypeError, ValueError):
        return None


def _limit(row: Constraint, value: Json, schema: Mapping[str, Json]) -> str | None:
    """Return a limit in words; "" for a size of 0, None for the booleans of draft-04."""
    if isinstance(value, bool):
        return None
    if row.takes == "length" and row.side == "low" and not value:
        return ""
    text = row.message_of(value).removeprefix("must be ").removeprefix("must have ")
    return f"{text[0].upper()}{text[1:]}."


def _flag(row: Constraint, value: Json, schema: Mapping[str, Json]) -> str:
    return f"{row.message[0].upper()}{row.message[1:]}." if value else ""


def _pattern(value: Json, schema: Mapping[str, Json]) -> str | None:
    if len(str(value)) <= _LONGEST_PATTERN:
        return f"Matches the regular expression {value}"
    return "" if "format" in schema else None


def _format(value: Json, schema: Mapping[str, Json]) -> str:
    return f"Format: {value}."


def _default(value: Json, schema: Mapping[str, Json]) -> str:
    is_known = value is None or "const" in schema
    return "" if is_known else f"Default: {shown(value)}."


def _examples(value: Json, schema: Mapping[str, Json]) -> str:
    values = value if isinstance(value, list) else [value]
    return f"For example {listed(values[:3])}." if values else ""


def _names(value: Any, schema: Mapping[str, Json]) -> str | None:
    parts = [text for key, rule in value.items() if (text := sentence(key, rule, value))]
    return f"Each key: {joined(*parts)}" if parts else "" if set(value) <= {"type"} else None


def _dependent(value: Any, schema: Mapping[str, Json]) -> str | None:
    rules = [f"{key} requires {' and '.join(names)}." for key, names in value.items() if names]
    return " ".join(rules)


_SENTENCES: Final[Mapping[str, Callable[[Any, Mapping[str, Json]], str | None]]] = {
    **{row.keyword: partial(_limit, row) for row in LIMITS if not row.is_annotation},
    **{row.keyword: partial(_flag, row) for row in FLAGS},
    "pattern": _pattern,
    "format": _format,
    "default": _default,
    "examples": _examples,
    "example": _examples,
    "enum": lambda value, _: f"One of: {listed(value)}.",
    "const": lambda value, _: f"Always {shown(value)}.",
    "contentEncoding": lambda value, _: f"Encoded in {value}.",
    "propertyNames": _names,
    "required": lambda value, _: f"Required keys: {listed(value)}." if value else "",
    "dependentRequired": _dependent,
    "deprecated": lambda value, _: "Deprecated." if value else "",
    "additionalProperties": lambda value, _: "" if value is True or value == {} else None,
    "unevaluatedProperties": lambda value, _: "",
}


def alternatives(branches: Iterable[Any]) -> str | None:
    """Return the required keys in words if the branches define nothing else; otherwise None."""
    groups: list[str] = []
    for branch in branches:
        if not isinstance(branch, Mapping) or not set(branch) <= {"required", "description", "title"}:
            return None
        names = branch.get("required", [])
        if names:
            groups.append(" and ".join(map(str, names)))
    return f"Give {' or '.join(groups)}." if groups else ""


def other_rules() -> str:
    """Return the text that replaces rules that only code can check."""
    return "Further rules are checked when the tool is called."


def keyword_sentences(schema: Mapping[str, Json], without: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the keywords of a schema that are not in `without` and have a rule, with their words.

    A pattern that is too long has no words. A limit in toolgen's own keywords is omitted, because the design
    wrote it into the description.
    """
    for keyword, value in schema.items():
        if keyword not in without:
            text = sentence(keyword, value, schema)
            if text != "" or keyword == "pattern":
                yield keyword, other_rules() if text is None else text
