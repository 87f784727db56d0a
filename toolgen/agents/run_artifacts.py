"""The artifacts of a run and its children: read from the log, and passed to the caller."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from toolgen.contract.json_value import Json
from toolgen.runtime.call.artifact_refs import kept_artifact, known_facts
from toolgen.runtime.call.frame import RuntimeServices
from toolgen.runtime.call.registered_tool import RegisteredTool
from toolgen.runtime.engine import Engine, RunStatus, UnknownRunError
from toolgen.runtime.results import Artifact

from .output import RunArtifact


async def artifacts_so_far(engine: Engine, status: RunStatus) -> list[RunArtifact]:
    """Return the artifacts of the calls that have ended, by the log of the run.

    Those of the run come first, in the order in which its calls ended, then those of each child.
    """
    found = []
    async for _, event in engine.events(status.run_id, follow=False):
        told: Any = event
        if told["type"] == "tool_end":
            call = {"tool": told["tool"], "tool_call_id": told["tool_call_id"]}
            found += [RunArtifact(**known_facts(ref), **call) for ref in told.get("artifacts", ())]
    for child in status.children:
        found += await artifacts_so_far(engine, await engine.status(child))
    return found


async def documents_so_far(engine: Engine, run_id: str) -> list[Json]:
    """Return the artifacts of the calls that have ended, as the JSON of a run's result.

    A run that could not begin has none.
    """
    try:
        status = await engine.status(run_id)
    except UnknownRunError:
        return []
    return [asdict(one) for one in await artifacts_so_far(engine, status)]


async def child_artifacts(
    documents: Iterable[Any], tool_of: Callable[[str], RegisteredTool | None], services: RuntimeServices
) -> tuple[Artifact, ...]:
    """Return the artifacts of a run and its children as typed `Artifact`s.

    Those of tools that are gone are left out, and those whose data nobody kept.
    """
    found = [await kept_artifact(one, tool_of(one["tool"]), services) for one in documents]
    return tuple([artifact for artifact in found if artifact is not None])
