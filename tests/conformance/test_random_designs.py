"""The generator on random designs: what it writes imports, agrees with its schemas, and answers calls."""

from __future__ import annotations

import asyncio
import importlib
import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given
from mcp import Client
from mcp.client._memory import InMemoryTransport

from tests.catalog_entries import catalog_entry
from tests.conformance import oracle
from tests.conformance.agreement import compare, decoded, documents, drawing, pick
from tests.conformance.generated import codecs_of
from tests.conformance.random_designs import designs
from tests.golden import formatted, write
from toolgen import dsl
from toolgen.adapters.mcp import server
from toolgen.catalog import parse_catalog
from toolgen.catalog.entry import DESIGN_ONLY, tool_digest, without
from toolgen.codegen import generate, names, stub
from toolgen.codegen.layout import service_module, service_scope, shared_scope, toolset_path
from toolgen.dsl import build
from toolgen.dsl.expr import tree
from toolgen.runtime import CallMeta, Runtime, ToolCall, ToolSpec
from toolgen.runtime.functions import Codec
from toolgen.runtime.testing import RecordingExecutor
from toolgen.shapes.fields import ObjectType
from toolgen.shapes.naming import method_name, module_name
from toolgen.shapes.tree.schema import object_schema

pytestmark = pytest.mark.costly

CLASHES = {"duplicate-name", "identifier-clash", "name-too-long", "reserved-name"}
META = CallMeta(session_id="s")


@dataclass(frozen=True, slots=True)
class Generated:
    """A checked design, and the package that was generated from it."""

    design: tree.Design
    package: str
    documents: dict[str, Any] = field(default_factory=dict)
    """One that fits, by schema."""

    def toolsets(self) -> Iterator[tuple[tree.Toolset, Any]]:
        """Return the toolsets with their packages."""
        for service in self.design.services:
            for toolset in service.toolsets:
                yield toolset, importlib.import_module(toolset_path(toolset, self.package))

    def method_codec(self, service: tree.Service, type_: ObjectType) -> Codec[Any]:
        module = ".".join((self.package, *service_module(service.name)))
        schema = object_schema(type_, service_scope(service, shared_scope(self.design)).objects)
        return Codec(None, module, type_.name, {type_.name: json.dumps(schema)})


class Filler:
    """An interceptor that fills every field that no call fact fills."""

    fills = frozenset({"tenant"})

    async def intercept(self, call: ToolCall, payload: Any) -> None:
        if hasattr(type(payload), "set_tenant"):
            payload.set_tenant("t")


class Services:
    """Answers every method of every service with what stands under its name."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        async def method(payload: Any) -> Any:
            return self._answers[name]

        return method


seen: Counter[str] = Counter()
numbers = itertools.count()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose packages can be imported, and are forgotten again."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith(("random_", "formatted")):
            del sys.modules[name]


def test_random_designs_work(folder: Path) -> None:
    texts: dict[str, str] = {}

    @drawing(24)
    @given(designs(), st.data())
    def check(design: dsl.Design, data: st.DataObject) -> None:
        _check_design(design, data, folder, texts)

    check()
    assert seen["design"] > 15, seen
    assert seen["call"] > 40, seen
    assert seen["call by MCP"] > 80, seen
    assert seen["valid and not empty"] > 80, seen
    trees = {f"formatted/{path}": text for path, text in texts.items() if "_stubs_" not in path}
    after = formatted(trees)
    write(folder, after)
    _import_all(after)


def _check_design(design: dsl.Design, data: st.DataObject, folder: Path, texts: dict[str, str]) -> None:
    """Build and generate a design and try all of it; `texts` gains what was generated."""
    evaluation = build(design)
    if evaluation.design is None:
        messages = [diagnostic.message for diagnostic in evaluation.diagnostics]
        assert CLASHES.intersection(diagnostic.code for diagnostic in evaluation.diagnostics), messages
        seen["clash"] += 1
        return
    generated = Generated(evaluation.design, f"random_{next(numbers)}")
    files = _files(generated)
    write(folder, files)
    texts.update(files)
    _import_all(files)
    _check_entries(generated, files)
    _check_codecs(generated, data)
    asyncio.run(_check_calls(generated))
    seen["design"] += 1


def _files(generated: Generated) -> dict[str, str]:
    """Return the tree and the stubs by path."""
    package = generated.package
    texts = generate(generated.design, module="tests.random")
    files = {f"{package}/{path}": text for path, text in texts.items()}
    for service in generated.design.services:
        for toolset in service.toolsets:
            name = f"{package}_stubs_{module_name(service.name)}_{module_name(toolset.name)}.py"
            files[name] = stub(generated.design, toolset, package)
    return files


def _import_all(files: dict[str, str]) -> None:
    importlib.invalidate_caches()
    for path in files:
        if path.endswith(".py"):
            name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            module = importlib.import_module(name)
            for exported in getattr(module, "__all__", ()):
                assert getattr(module, exported) is not None


def _check_entries(generated: Generated, files: dict[str, str]) -> None:
    """Compare what the generator says of a tool with what the runtime does."""
    tools = parse_catalog(json.loads(files[f"{generated.package}/tool_schemas.json"])).tools
    written = {tool["id"]: without(tool, DESIGN_ONLY) for tool in tools}
    made: dict[str, Any] = {}
    for _, module in generated.toolsets():
        registered = module.registration(object())
        made |= {spec.id: catalog_entry(spec, registered) for spec in registered.specs}
        assert all(spec.digest == tool_digest(written[spec.id]) for spec in registered.specs)
    assert {id_: without(entry, DESIGN_ONLY) for id_, entry in made.items()} == written


def _check_codecs(generated: Generated, data: st.DataObject) -> None:
    codecs = [
        codec for _, module in generated.toolsets() for spec in module.SPECS for codec in codecs_of(spec)
    ]
    for service in generated.design.services:
        for method in service.methods:
            codecs += [generated.method_codec(service, of) for of in (method.payload, method.result)]
    for codec in {codec.schema_json: codec for codec in codecs}.values():
        drawn = documents(codec.schema)
        judge = oracle.validator(codec.schema)
        instance = data.draw(drawn)
        for document in [instance, *(oracle.mutations(instance, pick(data)) for _ in range(3))]:
            compare(codec, judge, document, seen)
        if not _fits(codec, instance):  # what it refuses was for `compare` to judge
            instance = data.draw(drawn.filter(partial(_fits, codec)))
        generated.documents[codec.schema_json] = instance


def _fits(codec: Codec[Any], document: Any) -> bool:
    return not decoded(codec, document)[1]


async def _check_calls(generated: Generated) -> None:
    """Call every tool of an executor that gives results, and the bound ones through their services."""
    for toolset, module in generated.toolsets():
        results = {
            method_name(tool.name): _result(generated, spec)
            for tool, spec in zip(toolset.tools, module.SPECS, strict=True)
        }
        await _call_all(generated, module, RecordingExecutor(results))
        if any(tool.binding for tool in toolset.tools):
            await _call_all(generated, module, _bound(generated, toolset, module, results))


async def _call_all(generated: Generated, module: Any, executor: Any) -> None:
    runtime = Runtime(interceptors=[Filler()])
    runtime.tools.register(module.registration(executor))
    for spec in module.SPECS:
        arguments = generated.documents[spec.payload.schema_json]
        result = await runtime.call(spec.id, json.dumps(arguments), META)
        assert result.error is None, (arguments, result.error)
        assert oracle.validator(spec.result.schema).is_valid(json.loads(result.json))
        seen["call"] += 1
    await _call_all_by_mcp(generated, module, runtime)


async def _call_all_by_mcp(generated: Generated, module: Any, runtime: Runtime) -> None:
    """Call the same by MCP, in both eras; the client of the SDK compares each result with `outputSchema`."""
    for era in ("legacy", "auto"):
        made = server(runtime, session_id=META.session_id)
        async with Client(InMemoryTransport(made.sdk), mode=era) as client:
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
            for spec in module.SPECS:
                arguments = generated.documents[spec.payload.schema_json]
                result = await client.call_tool(spec.name, arguments)
                assert not result.is_error, (spec.name, result.content)
                assert (result.structured_content is None) == (listed[spec.name].output_schema is None)
                seen["call by MCP"] += 1


def _result(generated: Generated, spec: ToolSpec[Any, Any]) -> Any:
    document = generated.documents[spec.result.schema_json]
    if spec.bounded is not None:
        whole = json.loads(spec.result.encode(spec.result.decode(document)))  # with the items of a default
        items = 1 if spec.bounded.items is None else len(whole.get(spec.bounded.items) or ())
        document = {**document, "returned": items, "truncated": False, "total": items}
    return spec.result.decode(document)


def _bound(generated: Generated, toolset: tree.Toolset, module: Any, results: dict[str, Any]) -> Any:
    """Return the bound executor over services that answer; what is not bound gives its result."""
    answers: dict[str, dict[str, Any]] = {}
    for tool in toolset.tools:
        if tool.binding:
            service = next(one for one in generated.design.services if one.name == tool.binding.service)
            method = next(one for one in service.methods if one.name == tool.binding.method)
            codec = generated.method_codec(service, method.result)
            document = generated.documents[codec.schema_json]
            total = {"total": len(document["rows"])} if tool.bounded else {}
            answer = codec.decode({**document, **total})
            answers.setdefault(service.name, {})[method_name(method.name)] = answer
    base = getattr(module, names.bound_executor(toolset))
    rest = {name: _giving(result) for name, result in results.items() if name in base.__abstractmethods__}
    services = {module_name(name): Services(of) for name, of in answers.items()}
    return type("Executor", (base,), rest)(**services)


def _giving(result: Any) -> Any:
    async def execute(self: object, payload: object, context: object) -> Any:
        return result

    return execute
