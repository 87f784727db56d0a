"""Artifacts of results that a log names: read again, and dropped with their run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from toolgen.calls.errors import ToolValidationError
from toolgen.calls.provided import ArtifactKeeper
from toolgen.calls.results import Artifact, ArtifactRef
from toolgen.calls.steps.failures import log
from toolgen.calls.steps.frame import RuntimeServices
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.contract.limits import UNLIMITED
from toolgen.runs import ForgottenRun, OnForget


async def kept_artifact(
    document: Mapping[str, Any], tool: RegisteredTool | None, services: RuntimeServices
) -> Artifact | None:
    """Return the artifact of a stored reference, with the `tool` that made it, typed.

    None where the tool is gone or another one now, or nobody kept the data: a log has none that is sensitive.
    """
    kind = None if tool is None else tool.spec.artifacts.get(document["kind"])
    data = None if kind is None else await _data(document, services.artifacts)
    if kind is None or data is None:
        return None
    try:
        typed = kind.codec.decode(data, UNLIMITED)
    except ToolValidationError as error:
        log.warning("an artifact %s of %s is left out: %s", kind.kind, document["tool"], error)
        return None
    ref = ArtifactRef(**known_facts(document))
    return Artifact(kind=kind.kind, data=typed, source_tool=document["tool"], json=data, ref=ref)


def known_facts(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the known fields of a stored reference; other versions may write more or fewer."""
    return {one.name: document[one.name] for one in fields(ArtifactRef) if one.name in document}


def dropping(keeper: ArtifactKeeper | None) -> OnForget | None:
    """Return the function that drops the artifacts of forgotten runs; None where none are stored."""
    if keeper is None:
        return None

    async def drop(runs: Sequence[ForgottenRun]) -> None:
        for run in runs:
            await keeper.drop(run.session, run.run_id)

    return drop


async def _data(document: Mapping[str, Any], keeper: ArtifactKeeper | None) -> bytes | None:
    """Return the data of an artifact; None where it is no longer stored."""
    if document["json"]:
        return bytes(document["json"], "utf-8")
    try:
        found = None if keeper is None else await keeper.read(document["uri"])
    except Exception:
        log.exception("artifact %s was not read", document["uri"])
        return None
    return None if found is None else found.data
