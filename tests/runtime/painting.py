"""A tool that gives photos as artifacts, its runtimes, and the stores that keep them."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.store_files import ARTIFACT_STORES
from toolgen.calls.functions.tools import func_tool
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.capabilities import ArtifactsCapability, ArtifactStore
from toolgen.runtime import (
    Artifact,
    ArtifactRef,
    CallMeta,
    Limits,
    Runtime,
    StaticToolset,
    ToolModel,
    ToolOutcome,
    ToolResult,
)
from toolgen.runtime.functions import ArtifactSpec


class Photo(ToolModel):
    pixels: str


PHOTO: ArtifactSpec[Photo] = ArtifactSpec(kind="photo", codec=TypeCodec(Photo, "Photo"))
META = CallMeta(run_id="r", session_id="s", tool_call_id="c1")
LIMITS = Limits(inline_artifact_bytes=100)


def photos(*sizes: int) -> list[Artifact]:
    return [PHOTO.of(Photo(pixels="x" * size)) for size in sizes]


async def paint(sizes: list[int]) -> ToolOutcome[str]:
    """Paint photos of these sizes."""
    return ToolOutcome.of("painted", artifacts=photos(*sizes))


def runtime(
    store: ArtifactStore | None = None,
    tool: Any = paint,
    *,
    limits: Limits = LIMITS,
    kind: ArtifactSpec[Any] = PHOTO,
    **options: Any,
) -> Runtime:
    """Return a runtime with one tool, `local.functions.paint`."""
    made = func_tool(tool, name="paint")
    bound = replace(made, spec=replace(made.spec, artifacts={"photo": kind}))
    capabilities = () if store is None else (ArtifactsCapability(store),)
    found = Runtime(capabilities=capabilities, limits=limits, **options)
    found.tools.register(StaticToolset(name="local.functions", bound=(bound,)))
    return found


def refs(result: ToolResult) -> list[ArtifactRef]:
    assert result.status == "ok", result.json
    return [artifact.ref for artifact in result.artifacts if artifact.ref is not None]


@pytest.fixture(params=ARTIFACT_STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ArtifactStore:
    return ARTIFACT_STORES[request.param](tmp_path, time.time)
