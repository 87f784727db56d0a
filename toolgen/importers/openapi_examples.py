"""What an OpenAPI document says beside a schema: descriptions, examples and deprecations."""

from __future__ import annotations

from collections.abc import Mapping

from .openapi_document import mapping, text


def with_facts(schema: object, facts: Mapping[str, object]) -> object:
    """Return the schema of a parameter or a body with what is said beside it."""
    if schema is True:
        schema = {}
    if not isinstance(schema, dict):
        return schema
    more: dict[str, object] = {}
    if described := text(facts.get("description")):
        more["description"] = described
    examples = [facts["example"]] if "example" in facts else []
    examples += [
        mapping(each)["value"] for each in mapping(facts.get("examples")).values() if "value" in mapping(each)
    ]
    if examples and "examples" not in schema:
        more["examples"] = examples
    if facts.get("deprecated") is True:
        more["deprecated"] = True
    if not more:
        return schema
    return {"allOf": [schema], **more} if "$ref" in schema else {**schema, **more}
