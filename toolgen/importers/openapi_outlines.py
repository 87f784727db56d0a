"""Schemas with outlines for some of their references, without rejecting more values.

An outline accepts more than the schema that it replaces. So a `oneOf` of outlines accepts every value that
one of them accepts, and a rule that would reject such a value is left out.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from toolgen.contract.json_value import Json, objects_in
from toolgen.shapes.keywords import MAPS, VALUES

_TURNED: Final = frozenset(["not", "if", "contains", "unevaluatedItems", "unevaluatedProperties"])
"""Keywords that reject values because a subschema accepts something."""
_OF_TURNED: Final = {
    "then": "if",
    "else": "if",
    "minContains": "contains",
    "maxContains": "contains",
}


def widened(schema: object, outlines: Collection[str]) -> Any:
    """Return a schema that accepts at least what it accepts with the full `$defs` instead of `outlines`."""
    return _Widener(outlines).widened(schema)


class _Widener:
    def __init__(self, outlines: Collection[str]) -> None:
        self._references = {f"#/$defs/{name}" for name in outlines}

    def widened(self, schema: object) -> Any:
        if isinstance(schema, list):
            return [self.widened(part) for part in schema]
        if not isinstance(schema, dict):
            return schema
        result: dict[str, Any] = {}
        has_outline = self._refers(schema)
        for key, value in schema.items():
            if key in VALUES:
                result[key] = value
            elif key in MAPS and isinstance(value, dict):
                result[key] = {name: self.widened(part) for name, part in value.items()}
            elif has_outline and (key in _TURNED or _OF_TURNED.get(key) in schema):
                continue
            elif has_outline and key == "oneOf" and isinstance(value, list):
                result.setdefault("anyOf", self.widened(value))
            else:
                result[key] = self.widened(value)
        return result

    def _refers(self, schema: dict[str, Json]) -> bool:
        """Return whether a schema contains an outline at any depth."""
        own = {key: value for key, value in schema.items() if key != "$defs"}
        return any(part.get("$ref") in self._references for part in objects_in(own))
