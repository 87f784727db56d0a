"""A document that `toolgen` imports and generates, and calls of its tools through a runtime."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any
from urllib.parse import parse_qsl

import httpx
from hypothesis import given
from hypothesis.errors import Unsatisfiable

from tests.conformance.agreement import documents as drawn_documents
from tests.conformance.agreement import drawing
from tests.conftest import in_a_process
from toolgen.clients import HTTP, HTTPClient, Operation, Requirement
from toolgen.contract.credentials import Credential
from toolgen.runtime import Runtime, ToolResult

from .examples import MISSING, Examples, Sample


class Keys:
    """One secret for each scheme."""

    async def get(self, service: str, requirement: Requirement) -> Credential | None:
        return Credential(secret="key", username="frank")

    async def replace(self, service: str, requirement: Requirement, refused: Credential) -> Credential | None:
        return None

    async def address(self, service: str, requirement: Requirement) -> str:
        return ""


def generate(folder: Path, document: Path, package: str, *options: str) -> list[dict[str, Any]]:
    """Import a document into a folder and generate its package; return what the import finds."""
    command = ("import", "openapi", str(document), "--name", package, "--allow-losses", "--format", "json")
    done = in_a_process(folder, "-m", "toolgen", *command, *options)
    assert done.returncode == 0, done.stderr[-3_000:]
    configuration = f'[tool.toolgen]\ndesign = "{package}_design"\nout = "{package}"\n'
    (folder / "pyproject.toml").write_text(configuration, "utf-8")
    made = in_a_process(folder, "-m", "toolgen", "gen")
    assert made.returncode == 0, made.stderr[-3_000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@dataclass(slots=True)
class Imported:
    """The runtime of a generated package, with what its clients send."""

    runtime: Runtime
    operations: list[Operation[Any, Any]] = field(default_factory=list)

    def operation(self, verb: str, path: str) -> Operation[Any, Any] | None:
        """Return the operation of a verb and a path of the document; a query in it is a parameter."""
        plain, _, query = path.partition("?")
        names = {name for name, _ in parse_qsl(query)}
        fits = [each for each in self.operations if _names(each, verb, plain) >= {"", *names}]
        return min(fits, key=lambda each: len(_names(each, verb, plain)), default=None)

    def drawn(self, operation: Operation[Any, Any], count: int) -> list[dict[str, Any]]:
        """Return arguments that fit the schema which a model reads; none if nothing fits at this depth.

        Nothing is drawn that Prism reads as absent, an empty text in a query or a header and a body of
        null, or that has an empty part or dots in a path, from which a client may not let it lead away;
        and no empty list or object for a form with brackets, which has no words for it.
        """
        found: list[dict[str, Any]] = []
        schema = self.runtime.tools.spec(operation.name).payload.schema

        @drawing(count)
        @given(drawn_documents(schema).filter(partial(_is_sendable, operation)))
        def keep(values: dict[str, Any]) -> None:
            found.append(values)

        with suppress(Unsatisfiable):
            keep()
        return found

    async def call(self, operation: Operation[Any, Any], values: Mapping[str, Any]) -> ToolResult:
        return await self.runtime.call(operation.name, dict(values))


def _is_sendable(operation: Operation[Any, Any], values: Mapping[str, Any]) -> bool:
    sample = sample_of(operation, values)
    for (place, _), value in sample.parameters.items():
        texts = value if isinstance(value, list) else [value]
        if place == "path" and value and any({".", "..", ""} & {*str(text).split("/")} for text in texts):
            return False
        if place in ("query", "header", "cookie") and "" in texts:
            return False
    http = operation.transport
    assert isinstance(http, HTTP)
    if http.body is not None and http.body.style == "deepObject" and _has_empty(sample.body):
        return False
    return sample.body is not None


def _has_empty(value: Any) -> bool:
    """Return whether there is an empty list or object in a value."""
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return not value or any(map(_has_empty, parts))
    return False


def _names(operation: Operation[Any, Any], verb: str, path: str) -> frozenset[str]:
    """Return "" and the names in the query of an operation; nothing for one of another verb or path."""
    http = operation.transport
    if not isinstance(http, HTTP) or (http.verb, http.path) != (verb, path):
        return frozenset()
    queries = [each for each in http.parameters if each.place == "query"]
    return frozenset(["", *(each.name or each.attribute for each in queries)])


def arguments(operation: Operation[Any, Any], sample: Sample) -> dict[str, Any]:
    """Return the arguments of a tool for the values of a request, by the places that the design says."""
    http = operation.transport
    assert isinstance(http, HTTP)
    made: dict[str, Any] = {}
    for parameter in http.parameters:
        value = sample.parameters.get((parameter.place, parameter.name or parameter.attribute), MISSING)
        if value is not MISSING:
            made[parameter.attribute] = value
    if http.body is not None and sample.body is not MISSING:
        body = sample.body
        if isinstance(body, dict):  # a credential is no argument
            secret = {need.body for needs in http.security for need in needs}
            body = {key: value for key, value in body.items() if key not in secret}
        if http.body.attribute:
            made[http.body.attribute] = body
        else:
            made |= {key: value for key, value in body.items() if key in http.body.attributes}
    return made


def sample_of(operation: Operation[Any, Any], values: Mapping[str, Any]) -> Sample:
    """Return the values of a request for the arguments of a tool: what `arguments` does, the other way."""
    http = operation.transport
    assert isinstance(http, HTTP)
    sample = Sample()
    for parameter in http.parameters:
        if parameter.attribute in values:
            name = parameter.name or parameter.attribute
            sample.parameters[parameter.place, name] = values[parameter.attribute]
    if http.body is not None and http.body.attribute:
        sample.body = values.get(http.body.attribute, MISSING)
    elif http.body is not None:
        sample.body = {key: values[key] for key in http.body.attributes if key in values}
    return sample


def media_of(operation: Operation[Any, Any], described: Mapping[str, Any], examples: Examples) -> str:
    """Return the media type of a document in which an operation sends its body; "" for no body."""
    http = operation.transport
    assert isinstance(http, HTTP)
    if http.body is None:
        return ""
    content = examples.followed(described["requestBody"])["content"]
    plain = {media.partition(";")[0].lower(): media for media in content}
    own = {
        "json": "application/json",
        "form": "application/x-www-form-urlencoded",
        "multipart": "multipart/form-data",
        "text": "text/plain",
        "bytes": "application/octet-stream",
    }[http.body.media]
    return str(plain.get(http.body.content_type or own) or next(iter(content)))


@contextmanager
def loaded(folder: Path, package: str, http: httpx.AsyncClient) -> Iterator[Imported]:
    """Yield a generated package whose clients send by `http`."""
    sys.path.insert(0, str(folder))
    try:
        imported = Imported(Runtime())
        services: dict[str, HTTPClient] = {}
        for service in _packages(package):
            client = import_module(f"{service}.client")
            for value in vars(client).values():
                if isinstance(value, Operation):
                    imported.operations.append(value)
                elif inspect.isclass(value) and issubclass(value, HTTPClient) and value is not HTTPClient:
                    made: Any = value
                    services[service.rpartition(".")[2]] = made(http=http, credentials=Keys())
        for service in _packages(package):
            for toolset in _packages(f"{service}.toolsets"):
                _register(imported, toolset, services)
        yield imported
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            del sys.modules[name]


def _packages(package: str) -> list[str]:
    path = import_module(package).__path__
    return [f"{package}.{module.name}" for module in iter_modules(path) if module.ispkg]


def _register(imported: Imported, toolset: str, services: Mapping[str, HTTPClient]) -> None:
    executor = import_module(f"{toolset}.executor")
    (bound,) = [value for name, value in vars(executor).items() if name.startswith("Bound")]
    taken = inspect.signature(bound).parameters
    registration = executor.registration(bound(**{name: services[name] for name in taken}))
    imported.runtime.tools.register(registration)
