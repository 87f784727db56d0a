"""The generated packages of the examples and of `tests/cases`, and their codecs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from toolgen.catalog import load_catalog
from toolgen.runtime import ToolSpec
from toolgen.runtime.functions import Codec
from toolgen.shapes.naming import module_name

ROOT = Path(__file__).resolve().parents[2]


@lru_cache
def codecs() -> dict[str, Codec[Any]]:
    """Return the codecs of everything that crosses the JSON boundary, by a name for reports."""
    return {
        f"{package}:{spec.id}:{codec.name}": codec
        for package in packages()
        for spec in specs_of(package)
        for codec in codecs_of(spec)
    }


def codecs_of(spec: ToolSpec[Any, Any]) -> Iterator[Codec[Any]]:
    yield spec.payload
    yield spec.result
    for artifact in spec.artifacts.values():
        yield artifact.codec
    long, confirm = spec.long_running, spec.confirm
    beside = (confirm and confirm.payload, long and long.ack, long and long.progress)
    yield from (codec for codec in beside if codec)


def packages() -> Iterator[str]:
    for catalog in [
        ROOT / "gen/tool_schemas.json",
        *sorted(ROOT.glob("tests/cases/*/gen/tool_schemas.json")),
    ]:
        yield ".".join(catalog.parent.relative_to(ROOT).parts)


def specs_of(package: str) -> Iterator[ToolSpec[Any, Any]]:
    for tool in load_catalog(ROOT / package.replace(".", "/") / "tool_schemas.json").tools:
        if tool["kind"] == "native":
            continue  # the provider's own; it has no schemas
        service, toolset, _ = tool["id"].split(".")
        folder = f"{module_name(service)}.toolsets"
        if "agent" in tool:  # a toolset that an agent exports stands in the agent's package
            owner, agent = tool["agent"].split(".")
            folder = f"{module_name(owner)}.agents.{module_name(agent)}.exports"
        module = import_module(f"{package}.{folder}.{module_name(toolset)}")
        (spec,) = (spec for spec in module.SPECS if spec.id == tool["id"])
        yield spec
