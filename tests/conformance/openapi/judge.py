"""Whether values fit the schemas of a document, by openapi-schema-validator."""

from __future__ import annotations

from typing import Any

from openapi_schema_validator import OAS30Validator, OAS31Validator

_PARTS = ("components", "definitions")


class Judge:
    """Decides for one document."""

    def __init__(self, whole: dict[str, Any]) -> None:
        self._parts = {key: whole[key] for key in _PARTS if key in whole}
        is_old = whole["openapi"].startswith("3.0") and "swagger" not in whole  # which has lists of types
        self._validator = OAS30Validator if is_old else OAS31Validator

    def fits(self, value: object, schema: dict[str, Any]) -> bool:
        return bool(self._validator(schema | self._parts).is_valid(value))
