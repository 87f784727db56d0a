"""Results of calls as JSON: in journals, which any process can read, and in `tool_end` events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pydantic_core import to_json

from toolgen.calls.call import CallMeta
from toolgen.calls.documents.results import ref_of, result_document, result_of
from toolgen.calls.errors import ToolValidationError
from toolgen.calls.results import Artifact, ToolResult
from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.failures import log
from toolgen.calls.steps.frame import RuntimeServices
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.calls.steps.result_encoding import is_truncated
from toolgen.contract.limits import UNLIMITED
from toolgen.contract.record import frozen_record
from toolgen.engines import ForgottenRun, OnForget, UnknownRunError
from toolgen.stores.outages import until_back

from .errors import TamperedSuspensionError, UnsealedSuspensionError
from .loop import CallDocument, CallOutcome
from .resuming import WaitingTools
from .wait_registry import WaitRegistry

if TYPE_CHECKING:
    from toolgen.calls.provided import ArtifactKeeper
    from toolgen.events.event_reporter import CallEvents


@frozen_record
class CallReader:
    """Reads the results of calls from the journals of their runs."""

    waits: WaitRegistry
    tools: WaitingTools
    services: RuntimeServices


async def stored_result(
    reader: CallReader, run_id: str, call: CallDocument, outcome: CallOutcome
) -> ToolResult:
    """Return the stored result of a call's run, without its actions.

    It has no typed value if the tool is gone or was replaced, or if the document was truncated. Artifacts
    whose data is not stored are left out.
    """
    meta, tools = CallMeta(**call["meta"]), reader.tools
    result = await with_pending(reader.waits, result_of(outcome), outcome.get("pending", ()))
    if result.status != "ok" or (tool := await tools.find(call["tool"], meta, run_id)) is None:
        return result
    artifacts = [
        await stored_artifact(
            ref, await tools.find(ref.get("tool", call["tool"]), meta, run_id), reader.services
        )
        for ref in outcome.get("artifacts", ())
    ]
    return replace(
        result,
        result=_typed(tool.spec, result),
        artifacts=tuple([artifact for artifact in artifacts if artifact is not None]),
    )


async def with_pending(
    waits: WaitRegistry, result: ToolResult, work: Sequence[Mapping[str, Any]]
) -> ToolResult:
    """Return the result of a call that an agent answered, with the pending work of its run.

    `work` is as in `CallOutcome`; work with an unverified record is left out.
    """
    if not work or result.run_link is None:
        return result
    pending = []
    for wait in work:
        with suppress(TamperedSuspensionError, UnsealedSuspensionError, UnknownRunError):
            record = await waits.verify(wait["run_id"], wait["op"], wait["frozen"])
            if not (await waits.engine.status(wait["run_id"])).is_over:
                pending.append(waits.suspended(record))
    return replace(result, run_link=replace(result.run_link, pending=tuple(pending)))


def _typed(spec: ToolSpec, result: ToolResult) -> object:
    document = result.json
    if is_truncated(document):
        return None
    if result.warnings and spec.is_lenient:
        from toolgen.calls.steps.received import read_parts  # few results have warnings

        return read_parts(spec, document).value
    try:
        return spec.result.decode_null_as_absent(document, UNLIMITED)
    except ToolValidationError as error:
        log.warning(
            "the result of %s no longer fits its type and is returned as JSON only: %s", spec.id, error
        )
        return None


def outcome_of(result: ToolResult, events: CallEvents) -> CallOutcome:
    """Return the record of a result, with the events of the call; `stored_result` reads it."""
    return cast(CallOutcome, {**result_document(result), "events": events.recorded})


def is_of_not_begun(outcome: CallOutcome) -> bool:
    """Return whether the scheduler rejected the call of a document, so that it can be made again."""
    return "error" in outcome and outcome["error"].get("has_begun") is False


async def stored_artifact(
    document: Mapping[str, Any], tool: RegisteredTool | None, services: RuntimeServices
) -> Artifact | None:
    """Return the typed artifact of a stored reference, with the `tool` that created it.

    None if the tool is gone or was replaced, or if the data is not stored: a log has no sensitive data.
    """
    kind = None if tool is None else tool.spec.artifacts.get(document["kind"])
    data = None if kind is None else await _data(document, services.artifacts)
    if kind is None or data is None:
        return None
    try:
        typed = kind.codec.decode_null_as_absent(data, UNLIMITED)
    except ToolValidationError as error:
        log.warning("the artifact %s of %s is not returned: %s", kind.kind, document["tool"], error)
        return None
    return Artifact(kind=kind.kind, data=typed, source_tool=document["tool"], json=data, ref=ref_of(document))


def dropping(keeper: ArtifactKeeper | None) -> OnForget | None:
    """Return the function that deletes the artifacts of deleted runs; None if none are stored."""
    if keeper is None:
        return None

    async def drop(runs: Sequence[ForgottenRun]) -> None:
        for run in runs:
            await keeper.drop(run.session, run.run_id)

    return drop


async def _data(document: Mapping[str, Any], keeper: ArtifactKeeper | None) -> bytes | None:
    """Return the data of an artifact, waiting for its store if necessary; None if it was deleted."""
    if "data" in document:
        return to_json(document["data"])
    if keeper is None:
        return None
    uri = document.get("uri", "")
    try:
        artifact = await until_back(partial(keeper.read, uri), f"artifact {uri}")
    except Exception:  # noqa: BLE001 - a store of the author's; logged, and the result comes without the data
        log.exception("the artifact %s could not be read", uri)
        return None
    return None if artifact is None else artifact.data
