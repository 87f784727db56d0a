"""Operations of large documents, called by their examples: Prism says that the requests fit the documents."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from openapi_schema_validator import OAS30Validator, OAS31Validator

from tests.selection import first, volume
from toolgen.clients import HTTP, Body, Operation

from .documents import DOCUMENTS, cut, document, operations, without_queries
from .examples import MISSING, Examples, NoExampleError, Sample
from .imported import Imported, generate, loaded
from .prism import Judged, free_port, mocked

STRIDE = {"github": volume(24, lab=1), "openai": volume(12, lab=1), "anthropic": volume(6, lab=1)}
FEWEST = {"github": volume(45, lab=1_190), "openai": volume(17, lab=235), "anthropic": volume(12, lab=75)}
"""The fewest requests that fit; the rest has no example, or one that its own document refuses. A run takes
one document, another one each day."""


@pytest.mark.volume
@pytest.mark.parametrize("name", first(DOCUMENTS, 0))
async def test_requests_fit_the_document(name: str, tmp_path: Path) -> None:
    whole = cut(document(name), STRIDE[name])
    port, package = free_port(), f"imported_{name}"
    source, mock = tmp_path / "document.json", tmp_path / "mock.json"
    source.write_text(json.dumps(whole), "utf-8")
    mock.write_text(json.dumps(without_queries(whole)), "utf-8")
    options = ("--server", f"http://127.0.0.1:{port}", "--allow-losses")
    judged = Judged()
    with ExitStack() as exits, ThreadPoolExecutor() as threads:
        generating = threads.submit(generate, tmp_path, source, package, *options)
        exits.enter_context(mocked(mock, port))
        generating.result()
        hooks: Any = {"response": [judged.read]}
        async with httpx.AsyncClient(event_hooks=hooks, timeout=60) as http:
            imported = exits.enter_context(loaded(tmp_path, package, http))
            counted = await Calls(whole, imported, judged).made()
    known = {"valid", "no example", "its example does not fit", "another operation has its path"}
    assert counted.keys() <= known, counted
    print(name, counted)
    assert counted["valid"] >= FEWEST[name], counted


class Calls:
    """Calls of each operation of a document."""

    def __init__(self, whole: dict[str, Any], imported: Imported, judged: Judged) -> None:
        self._whole = whole
        self._imported = imported
        self._judged = judged
        self._examples = Examples(whole)
        self._validator = OAS31Validator if whole["openapi"].startswith("3.1") else OAS30Validator

    async def made(self) -> Counter[str]:
        """Call them all, and return how many went how; what is wrong is in the text."""
        counted: Counter[str] = Counter()
        mocked_paths = without_queries(self._whole)["paths"]
        for verb, path, described, of_path in operations(self._whole):
            operation = self._imported.operation(verb, path)
            if mocked_paths[path.partition("?")[0]] is not self._whole["paths"][path]:
                counted["another operation has its path"] += 1
            elif operation is None:
                counted[f"no operation: {verb} {path}"] += 1
            else:
                counted[await self._call(operation, described, of_path)] += 1
        return counted

    async def _call(self, operation: Operation[Any, Any], described: dict[str, Any], of_path: Any) -> str:
        http = operation.transport
        assert isinstance(http, HTTP)
        media = "" if http.body is None else self._media(http.body, described)
        try:
            sample = self._examples.sample(described, of_path, media)
        except NoExampleError:
            return "no example"
        own = Sample(dict(sample.parameters), sample.body)
        if http.body is not None:
            sample.body = as_arguments(http.body, sample.body)
        self._judged.clear()
        result = await self._imported.call(operation, sample)
        if self._judged.is_valid:
            return "valid"
        if not self._fits(own, described, of_path, media):
            return "its example does not fit"
        said = self._judged.said or result.json.decode()
        return f"{http.verb} {http.path}: {said[:600]}"

    def _media(self, body: Body, described: dict[str, Any]) -> str:
        """Return the media type of a document that the design sends."""
        content = self._examples.followed(described["requestBody"])["content"]
        plain = {media.partition(";")[0].lower(): media for media in content}
        own = {
            "json": "application/json",
            "form": "application/x-www-form-urlencoded",
            "multipart": "multipart/form-data",
            "text": "text/plain",
            "bytes": "application/octet-stream",
        }[body.media]
        return str(plain.get(body.content_type or own) or next(iter(content)))

    def _fits(self, own: Sample, described: dict[str, Any], of_path: Any, media: str) -> bool:
        """Return whether the examples fit the document by openapi-schema-validator."""
        for parameter in map(self._examples.followed, [*of_path, *described.get("parameters", [])]):
            value = own.parameters.get((parameter["in"], parameter["name"]), MISSING)
            if value is not MISSING and not self._is_fit(value, parameter.get("schema", {})):
                return False
        if not media or own.body is MISSING:
            return True
        content = self._examples.followed(described["requestBody"])["content"]
        return self._is_fit(own.body, content[media].get("schema", {}))

    def _is_fit(self, value: object, schema: Mapping[str, Any]) -> bool:
        whole = {**schema, "components": self._whole["components"]}
        return bool(self._validator(whole).is_valid(value))


def as_arguments(body: Body, value: Any) -> Any:
    """Return the value of a body as arguments have it: bytes are base64."""
    if body.media == "bytes":
        return base64.b64encode(str(value).encode()).decode()
    if body.media != "multipart" or not isinstance(value, dict):
        return value
    made = dict(value)
    for name in body.files:
        if name in made:
            files = made[name] if isinstance(made[name], list) else [made[name]]
            encoded = [base64.b64encode(str(each).encode()).decode() for each in files]
            made[name] = encoded if isinstance(made[name], list) else encoded[0]
    return made
