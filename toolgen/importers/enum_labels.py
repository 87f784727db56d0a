"""Values of an `enum` with separate names or descriptions, as constants with titles.

Generators of OpenAPI documents write them under their own keywords, as a list in the order of the values or
as an object by value. In JSON Schema they are a `oneOf` of constants, which accepts the same values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolgen.contract.json_value import Json, identity
from toolgen.shapes.foreign.reader.keywords import children

LABELS: Final = ("x-enum-descriptions", "x-enumDescriptions", "x-enumNames", "x-enum-varnames", "enumNames")
"""Keywords with labels of enum values; the first one that fits is used."""


_DEEPEST: Final = 128
"""Maximum depth that is searched; the reader rejects deeper schemas."""


def with_labelled_values(schema: Any, depth: int = 0) -> Any:
    """Return the schema with value labels in JSON Schema form; the schema itself if it has none.

    Labels are unchanged if their number differs from the number of values.
    """
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return schema
    changed: dict[str, Any] = {}
    for (key, *rest), inner in children(schema):
        labelled_part = with_labelled_values(inner, depth + 1)
        if labelled_part is not inner:
            container = changed.setdefault(key, _copied(schema[key]))
            if rest:
                container[int(rest[0]) if isinstance(container, list) else rest[0]] = labelled_part
            else:
                changed[key] = labelled_part
    result = {**schema, **changed} if changed else schema
    return result if set(LABELS).isdisjoint(result) else labelled(result)


def _copied(value: Json) -> object:
    return value.copy() if isinstance(value, list | dict) else value


def labelled(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with the labels of its own values in JSON Schema form."""
    values = schema.get("enum")
    is_plain = isinstance(values, list) and not {"oneOf", "const"} & schema.keys()
    if not isinstance(values, list) or not is_plain or len(set(map(identity, values))) < len(values):
        return schema
    labels = next((texts for key in LABELS if (texts := _texts(schema.get(key), values))), None)
    if labels is None:
        return schema
    choices: list[Any] = [
        {"const": value, **({"title": text} if text else {})}
        for value, text in zip(values, labels, strict=True)
    ]
    rest = {key: value for key, value in schema.items() if key != "enum" and key not in LABELS}
    return {**rest, "oneOf": choices}


def _texts(labels: object, values: list[Json]) -> list[str] | None:
    """Return the label of each value; None if there are no labels, or their number differs."""
    if isinstance(labels, Mapping):
        by_value = labels
        if not labels.keys() <= set(map(str, values)):
            return None
        labels = [by_value.get(str(value), "") for value in values]
    if not isinstance(labels, list) or len(labels) != len(values):
        return None
    texts = [label.strip() if isinstance(label, str) else "" for label in labels]
    return texts if any(texts) else None
