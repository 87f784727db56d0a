"""Results of calls as the JSON that journals keep and any process reads, and as `tool_end` tells of them."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic_core import to_json, to_jsonable_python

from toolgen.calls.call import CallMeta
from toolgen.calls.content import AudioContent, Content, ImageContent, ResourceContent, TextContent
from toolgen.calls.errors import DeclaredError, NotBegunError, ToolError, ToolValidationError
from toolgen.calls.results import Artifact, ArtifactRef, RetryHint, RunLink, Telemetry, ToolResult
from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.artifact_refs import NO_STORE
from toolgen.calls.steps.failures import log
from toolgen.calls.steps.frame import RuntimeServices
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.calls.steps.result_encoding import is_truncated
from toolgen.contract.bounds import Bounds
from toolgen.contract.json_pointer import tokens_of
from toolgen.contract.json_value import Json
from toolgen.contract.limits import UNLIMITED
from toolgen.contract.record import frozen_record
from toolgen.engines import ForgottenRun, OnForget, UnknownRunError
from toolgen.shapes.issues import FieldIssue
from toolgen.stores.outages import until_back

from .errors import TamperedSuspensionError, UnsealedSuspensionError
from .loop import CallDocument, Outcome
from .resuming import WaitingTools
from .wait_registry import WaitRegistry

if TYPE_CHECKING:
    from toolgen.calls.provided import ArtifactKeeper
    from toolgen.events.event_reporter import CallEvents

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
        result=_typed(tool.spec, result),
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


def _typed(spec: ToolSpec[Any, Any], result: ToolResult) -> Any:
    document = result.json
    if is_truncated(document):
        return None
    if result.warnings and spec.is_lenient:
        from toolgen.calls.steps.received import read_parts  # few results have warnings

        return read_parts(spec, document).value
    try:
        return spec.result.decode_lenient(document, UNLIMITED)
    except ToolValidationError as error:
        log.warning("the result of %s has no typed value any more: %s", spec.id, error)
        return None


def outcome_of(result: ToolResult, events: CallEvents) -> Outcome:
    """Return the document of a result, with the events of the call; `kept_result` reads it."""
    head: Outcome = {
        "status": result.status,
        "json": result.json.decode(),
        "events": events.kept,
        "frozen": None,
    }
    facts: dict[str, Any] = {
        "display": result.display,
        "bounds": result.bounds,
        "warnings": result.warnings,
        "is_final": result.is_final,
        "error": None if result.error is None else _error_json(result.error),
        "hint": result.retry_hint,
        "artifacts": [*map(artifact_document, result.artifacts)],
        "content": result.content,
    }
    facts = {name: value for name, value in facts.items() if value}
    if result.run_link is not None:  # no journal has a token, so not those of its work
        link = to_jsonable_python(result.run_link, exclude={"pending"})
        facts |= {"link": link, "children": result.children_count, "telemetry": result.telemetry}
    return head | to_jsonable_python(facts, bytes_mode="base64")  # type: ignore[no-any-return]


def artifact_document(artifact: Artifact) -> dict[str, Any]:
    """Return the reference to an artifact, and the id of the `tool` that made it."""
    ref = artifact.ref or ArtifactRef(kind=artifact.kind, not_kept=NO_STORE)
    return {**to_jsonable_python(ref), "tool": artifact.source_tool}


def _error_json(error: ToolError) -> dict[str, Json]:
    facts: dict[str, Json] = {"message": error.message}
    if isinstance(error, DeclaredError):
        facts |= {"code": error.code, "details": error.details_json.decode()}
    if isinstance(error, NotBegunError):
        facts["has_begun"] = False
    return facts


def result_of_event(event: Mapping[str, Any], tool: str, meta: CallMeta) -> ToolResult:
    """Return the result in a `tool_end` event, which has no sensitive values."""
    return _result_of(outcome_of_event(event), tool, meta)


def outcome_of_event(event: Mapping[str, Any]) -> Outcome:
    """Return what a `tool_end` event says of a result as its document."""
    seen = event["result"]
    outcome: dict[str, Any] = {name: event[name] for name in ("status", "bounds", "is_final")}
    outcome |= {
        "json": "" if seen is None else to_json(seen).decode(),
        "display": event["text"],
        "events": [],
    }
    if warnings := event.get("warnings"):
        outcome["warnings"] = [*map(_warning, warnings)]
    if event["error"]:
        outcome["error"] = {"message": event["error"]}
    if event["code"]:
        details = to_json(seen["details"]).decode() if isinstance(seen, dict) and "details" in seen else ""
        outcome["error"] |= {"code": event["code"], "details": details}
    return cast("Outcome", outcome)


def _result_of(outcome: Mapping[str, Any], tool: str, meta: CallMeta) -> ToolResult:
    """Return the result of a document, without the typed value and the artifacts."""
    bounds, link, telemetry = (outcome.get(name) for name in ("bounds", "link", "telemetry"))
    hint = _hint(outcome["hint"]) if "hint" in outcome else None
    return ToolResult(
        tool=tool,
        status=outcome["status"],
        json=outcome["json"].encode(),
        tool_call_id=meta.tool_call_id,
        error=_error(outcome["error"], hint) if "error" in outcome else None,
        retry_hint=hint,
        bounds=None if bounds is None else Bounds(**bounds),
        warnings=tuple(map(_issue, outcome.get("warnings", ()))),
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


def _warning(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return a warning of an event as outcomes have it."""
    tokens = tokens_of(facts["pointer"])
    keys = [int(token) if token.isdecimal() else token for token in tokens]
    issue = FieldIssue(keys=tuple(keys), constraint=facts["constraint"], message=facts["message"])
    return to_jsonable_python(issue)  # type: ignore[no-any-return]  # of a record


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
