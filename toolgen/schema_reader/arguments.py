"""The root of a tool's arguments, which are always an object."""

from __future__ import annotations

from typing import Final

from .keywords import Schema
from .merging import NEVER, Merger, UnsupportedKeywords, types_of
from .problems import Problem
from .schema_index import SchemaIndex

_HELD: Final = ("$defs", "definitions")


def require_object(survey: SchemaIndex) -> tuple[SchemaIndex, list[Problem]]:
    """Add `type: object` to the root of a tool's arguments; return the schemas, and why it cannot be one."""
    root = survey.root
    merged = Merger(survey, UnsupportedKeywords()).flat(root)
    if merged is NEVER or "object" not in types_of(merged.get("type", "object")):
        said = f"is of type {root['type']!r:.80}" if "type" in root else "accepts no object"
        message = f"{said}, but a tool's arguments are an object"
        pointer = "/type" if "type" in root else ""
        return survey, [Problem(pointer=pointer, message=message, hint="make it an object with properties")]
    if root.get("type") == "object":
        return survey, []
    if any(target is root for target in survey.targets.values()):
        _keep_for_references(survey)
    root["type"] = "object"
    return SchemaIndex(root), []


def _keep_for_references(survey: SchemaIndex) -> None:
    """Give what refers to the root a copy that still accepts values of other types."""
    root = survey.root
    held: Schema = root.setdefault("$defs", {})
    name = "Root"
    while name in held:
        name += "_"
    held[name] = {word: value for word, value in root.items() if word not in _HELD}
    for place, target in survey.targets.items():
        if target is root:
            survey.places[place][1]["$ref"] = f"#/$defs/{name}"
    if held[name].get("$ref"):
        held[name]["$ref"] = root["$ref"]
