"""Documents of an API whose components refer to each other, for tests of imports that follow them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

Components: TypeAlias = Mapping[str, Iterable[str]]
"""Names of components, each with the components that it refers to."""


def growing_api(components: Components, *used: str) -> dict[str, Any]:
    """Return a document with an operation for each component in `used`, in their order."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Library", "version": "1"},
        "servers": [{"url": "https://books.example"}],
        "paths": {f"/{name.lower()}": {"post": _operation(name)} for name in used},
        "components": {"schemas": {name: _schema(others) for name, others in components.items()}},
    }


def random_growth(chance: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a document, and a later version with new components and references, and others removed."""
    old = [f"Old{number}" for number in range(chance.randint(2, 7))]
    kept = chance.sample(old, len(old) - chance.choice([0, 0, 1]))
    names = [*kept, *(f"New{number}" for number in range(chance.randint(0, 4)))]
    before, now = _references(old, chance), _references(chance.sample(names, len(names)), chance)
    for name in kept:
        left = (other for other in before[name] if other in now and chance.random() < 0.8)
        now[name] = [*dict.fromkeys([*left, *now[name]])]
    used = chance.sample(names, len(names)) if chance.random() < 0.5 else kept
    return growing_api(before, *old), growing_api(now, *used)


def _references(names: list[str], chance: random.Random) -> dict[str, list[str]]:
    share = chance.choice([0.1, 0.3])
    return {name: [other for other in names if chance.random() < share] for name in names}


def _schema(others: Iterable[str]) -> dict[str, Any]:
    references = {other.lower(): _reference(other) for other in others}
    return {"type": "object", "properties": {"id": {"type": "string"}, **references}}


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _operation(name: str) -> dict[str, Any]:
    content = {"application/json": {"schema": _reference(name)}}
    return {
        "operationId": f"put_{name.lower()}",
        "description": "Store it.",
        "requestBody": {"required": True, "content": content},
        "responses": {"200": {"description": "The stored one.", "content": content}},
    }
