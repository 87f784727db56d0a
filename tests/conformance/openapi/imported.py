"""A document that `toolgen` imports and generates, and calls of its tools through a runtime."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any
from urllib.parse import parse_qsl

import httpx

from tests.conftest import in_a_process
from toolgen.clients import HTTP, HTTPClient, Operation, Requirement
from toolgen.contract.credentials import Credential
from toolgen.runtime import Runtime, ToolResult

from .examples import MISSING, Sample


class Keys:
    """One secret for each scheme."""

    async def get(self, service: str, requirement: Requirement) -> Credential | None:
        return Credential(secret="key", username="frank")

    async def replace(self, service: str, requirement: Requirement, refused: Credential) -> Credential | None:
        return None

    async def address(self, service: str, requirement: Requirement) -> str:
        return ""


def generate(folder: Path, document: Path, package: str, *options: str) -> str:
    """Import a document into a folder and generate its package; return what the import says."""
    command = ("-m", "toolgen", "import", "openapi", str(document), "--name", package, *options)
    done = in_a_process(folder, *command)
    assert done.returncode == 0, done.stderr[-3_000:]
    configuration = f'[tool.toolgen]\ndesign = "{package}_design"\nout = "{package}"\n'
    (folder / "pyproject.toml").write_text(configuration, "utf-8")
    made = in_a_process(folder, "-m", "toolgen", "gen")
    assert made.returncode == 0, made.stderr[-3_000:]
    return done.stderr


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

    async def call(self, operation: Operation[Any, Any], sample: Sample) -> ToolResult:
        return await self.runtime.call(operation.name, arguments(operation, sample))


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
        if http.body.attribute:
            made[http.body.attribute] = sample.body
        else:
            made |= {key: value for key, value in sample.body.items() if key in http.body.attributes}
    return made


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
