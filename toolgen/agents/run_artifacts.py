"""The artifacts of a run and its children: read from the log, and passed to the caller."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, fields
from typing import Any

from toolgen.contract.json_value import Json
from toolgen.contract.limits import UNLIMITED
from toolgen.runtime.call.artifact_refs import keeper_of
from toolgen.runtime.call.failures import log
from toolgen.runtime.call.frame import RuntimeServices
from toolgen.runtime.call.registered_tool import RegisteredTool
from toolgen.runtime.engine import Engine, RunStatus, UnknownRunError
from toolgen.runtime.results import Artifact, ArtifactRef

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
            found += [RunArtifact(**_fields(ref), **call) for ref in told.get("artifacts", ())]
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
    found = []
    for document in documents:
        tool = tool_of(document["tool"])
        kind = None if tool is None else tool.spec.artifacts.get(document["kind"])
        data = None if kind is None else await _data(document, services)
        if kind is not None and data is not None:
            artifact = Artifact(
                kind=kind.kind,
                data=kind.codec.decode(data, UNLIMITED),  # by an executor of this runtime
                source_tool=document["tool"],
                json=data,
                ref=ArtifactRef(**_fields(document)),
            )
            found.append(artifact)
    return tuple(found)


async def _data(document: Any, services: RuntimeServices) -> bytes | None:
    """Return the data of an artifact; None where it is no longer stored."""
    if document["json"]:
        return bytes(document["json"], "utf-8")
    keeper = keeper_of(services)
    try:
        found = None if keeper is None else await keeper.read(document["uri"])
    except Exception:
        log.exception("artifact %s was not read", document["uri"])
        return None
    return None if found is None else found.data


def _fields(document: Any) -> dict[str, Any]:
    """Return the known fields of a stored reference; other versions may write more or fewer."""
    return {one.name: document[one.name] for one in fields(ArtifactRef) if one.name in document}
