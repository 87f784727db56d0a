"""The artifacts of a run and its children: read from the log, and passed to the caller."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from toolgen.calls.results import Artifact
from toolgen.calls.steps.frame import RuntimeServices
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.contract.json_value import Json
from toolgen.runs import Engine, RunStatus, UnknownRunError
from toolgen.waiting.call_results import kept_artifact, known_facts

from .output import RunArtifact


async def artifacts_so_far(engine: Engine, status: RunStatus) -> list[RunArtifact]:
    """Return the artifacts of the calls that have ended, by the log of the run.

    Those of the run come first, in the order in which its calls ended, then those of each child.
    """
    artifacts = []
    async for _, event in engine.events(status.run_id, follow=False):
        document: Any = event
        if document["type"] == "tool_end":
            call = {"tool": document["tool"], "tool_call_id": document["tool_call_id"]}
            artifacts += [RunArtifact(**known_facts(ref), **call) for ref in document.get("artifacts", ())]
    for child in status.children:
        artifacts += await artifacts_so_far(engine, await engine.status(child))
    return artifacts


async def documents_so_far(engine: Engine, run_id: str) -> list[Json]:
    """Return the artifacts of the calls that have ended, as the JSON of a run's result.

    A run that could not begin has none.
    """
    try:
        status = await engine.status(run_id)
    except UnknownRunError:
        return []
    return [asdict(artifact) for artifact in await artifacts_so_far(engine, status)]


async def child_artifacts(
    documents: Iterable[Any], tool_of: Callable[[str], RegisteredTool | None], services: RuntimeServices
) -> tuple[Artifact, ...]:
    """Return the artifacts of a run and its children as typed `Artifact`s.

    Those of tools that are gone are left out, and those whose data nobody kept.
    """
    artifacts = [await kept_artifact(document, tool_of(document["tool"]), services) for document in documents]
    return tuple([artifact for artifact in artifacts if artifact is not None])
