"""Results of calls, as any process reads them in the outcomes that journals keep (`activities.py`)."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from toolgen.calls.call import CallMeta
from toolgen.calls.content import AudioContent, Content, ImageContent, ResourceContent, TextContent
from toolgen.calls.errors import DeclaredError, ToolError, ToolValidationError
from toolgen.calls.results import Artifact, ArtifactRef, RetryHint, RunLink, Telemetry, ToolResult
from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.failures import log
from toolgen.calls.steps.frame import RuntimeServices
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.calls.steps.result_encoding import is_truncated
from toolgen.contract.bounds import Bounds
from toolgen.contract.limits import UNLIMITED
from toolgen.contract.record import frozen_record
from toolgen.runs import ForgottenRun, OnForget, UnknownRunError
from toolgen.shapes.issues import FieldIssue
from toolgen.stores.outages import until_back

from .errors import TamperedSuspensionError, UnsealedSuspensionError
from .loop import CallDocument, Outcome
from .resuming import WaitingTools
from .wait_registry import WaitRegistry

if TYPE_CHECKING:
    from toolgen.calls.provided import ArtifactKeeper

_CONTENT: Final[dict[str, type[Any]]] = {
    "text": TextContent,
    "image": ImageContent,
    "audio": AudioContent,
    "resource_link": ResourceContent,
}


@frozen_record
class CallReader:
    """Reads the results of calls from the journals of their runs."""

    waits: WaitRegistry
    tools: WaitingTools
    services: RuntimeServices


async def kept_result(reader: CallReader, run_id: str, call: CallDocument, outcome: Outcome) -> ToolResult:
    """Return the result of a run of a call as it was: all but the actions.

    Without the typed value where the tool is gone or another one now, or where the document was truncated;
    without the artifacts whose data nobody kept.
    """
    meta, tools = CallMeta(**call["meta"]), reader.tools
    result = _result_of(outcome, call["tool"], meta)
    result = await with_pending(reader.waits, result, outcome.get("pending", ()))
    if result.status != "ok" or (tool := await tools.find(call["tool"], meta, run_id)) is None:
        return result
    artifacts = [
        await kept_artifact(ref, await tools.find(ref["tool"], meta, run_id), reader.services)
        for ref in outcome.get("artifacts", ())
    ]
    return replace(
        result,
        result=_typed(tool.spec, result.json),
        artifacts=tuple([artifact for artifact in artifacts if artifact is not None]),
    )


async def with_pending(
    waits: WaitRegistry, result: ToolResult, work: Sequence[Mapping[str, Any]]
) -> ToolResult:
    """Return the result of a call that an agent answered with what of the work of its run still goes on.

    `work` is as in `Outcome`; where its record is not verified, it is left out.
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


def _typed(spec: ToolSpec[Any, Any], document: bytes) -> Any:
    if is_truncated(document):
        return None
    try:
        return spec.result.decode_lenient(document, UNLIMITED)
    except ToolValidationError as error:
        log.warning("the result of %s has no typed value any more: %s", spec.id, error)
        return None


def _result_of(outcome: Outcome, tool: str, meta: CallMeta) -> ToolResult:
    """Return the result of a document, without the typed value and the artifacts."""
    bounds: Any = outcome.get("bounds")
    link: Any = outcome.get("link")
    telemetry: Any = outcome.get("telemetry")
    hint: Any = outcome.get("hint")
    read = None if hint is None else _hint(hint)
    return ToolResult(
        tool=tool,
        status=outcome["status"],
        json=outcome["json"].encode(),
        tool_call_id=meta.tool_call_id,
        error=_error(outcome["error"], read) if "error" in outcome else None,
        retry_hint=read,
        bounds=None if bounds is None else Bounds(**bounds),
        content=tuple(map(_content, outcome.get("content", ()))),
        display=outcome.get("display", ""),
        is_final=outcome.get("is_final", False),
        run_link=None if link is None else RunLink(**link),
        children_count=outcome.get("children", 0),
        telemetry=None if telemetry is None else Telemetry(**telemetry),
    )


def is_of_not_begun(outcome: Outcome) -> bool:
    """Return whether the call of a document was not let in by the scheduler, and may be made again."""
    return outcome.get("error", {}).get("has_begun") is False


def _error(facts: dict[str, Any], hint: RetryHint | None) -> ToolError:
    if "code" not in facts:
        return ToolError(facts["message"], retry_hint=hint)
    details = facts["details"].encode()
    return DeclaredError(facts["message"], code=facts["code"], details_json=details, retry_hint=hint)


def _content(block: Any) -> Content:
    facts = dict(block)
    kind = _CONTENT[facts.pop("type")]
    if isinstance(facts.get("data"), str):
        facts["data"] = b64decode(facts["data"], altchars=b"-_")
    made: Content = kind(**facts)
    return made


def _hint(facts: Mapping[str, Any]) -> RetryHint:
    issues = tuple(map(_issue, facts["issues"]))
    return RetryHint(**{**facts, "missing_fields": tuple(facts["missing_fields"]), "issues": issues})


def _issue(facts: Mapping[str, Any]) -> FieldIssue:
    allowed = facts["allowed"]
    sequences = {"keys": tuple(facts["keys"]), "allowed": None if allowed is None else tuple(allowed)}
    return FieldIssue(**{**facts, **sequences})


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
        typed = kind.codec.decode_lenient(data, UNLIMITED)
    except ToolValidationError as error:
        log.warning("an artifact %s of %s is left out: %s", kind.kind, document["tool"], error)
        return None
    ref = ArtifactRef(**{field.name: document[field.name] for field in fields(ArtifactRef)})
    return Artifact(kind=kind.kind, data=typed, source_tool=document["tool"], json=data, ref=ref)


def dropping(keeper: ArtifactKeeper | None) -> OnForget | None:
    """Return the function that drops the artifacts of forgotten runs; None where none are stored."""
    if keeper is None:
        return None

    async def drop(runs: Sequence[ForgottenRun]) -> None:
        for run in runs:
            await keeper.drop(run.session, run.run_id)

    return drop


async def _data(document: Mapping[str, Any], keeper: ArtifactKeeper | None) -> bytes | None:
    """Return the data of an artifact, as soon as its store is back; None where it is no longer stored."""
    if document["json"]:
        return bytes(document["json"], "utf-8")
    if keeper is None:
        return None
    uri = document["uri"]
    try:
        artifact = await until_back(partial(keeper.read, uri), f"artifact {uri}")
    except Exception:  # noqa: BLE001 - a store of the author's; logged, and the result comes without the data
        log.exception("artifact %s was not read", uri)
        return None
    return None if artifact is None else artifact.data
