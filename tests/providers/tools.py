"""Tools for the tests of providers' schemas, and what comes of them."""

from __future__ import annotations

import json
from typing import Any

from toolgen.catalog.providers import Projection, project

Schema = dict[str, Any]


def tool(dialect: str = "openai-strict", /, required: tuple[str, ...] = (), **properties: Any) -> Projection:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return project("tool", "Does something.", schema, dialect)


def of(dialect: str, schema: Any) -> tuple[Any, Projection]:
    """Return the provider's schema of a required property, and the tool."""
    one = tool(dialect, ("a",), a=schema)
    return one.schema["properties"]["a"], one


def sent(one: Projection, document: Any) -> Any:
    """Return what the model would send, after a check that it comes back as it was."""
    text = one.encode(json.dumps(document))
    assert json.loads(one.decode(text)) == document
    return json.loads(text)


def losses(one: Projection) -> list[tuple[str, str, str]]:
    return [(loss.path, loss.keyword, loss.action) for loss in one.losses]
