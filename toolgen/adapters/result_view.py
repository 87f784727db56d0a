"""A common view of results for the adapters of agent frameworks, so that all show the same parts."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any, Final

from toolgen.calls.results import ToolStatus
from toolgen.contract.bounds import Bounds
from toolgen.contract.json_value import Json
from toolgen.contract.names import UNAVAILABLE, RetryReason
from toolgen.contract.record import frozen_record
from toolgen.runtime import ArtifactRef, Content, FieldIssue, Suspended, ToolResult
from toolgen.waiting.grants import without_grant
from toolgen.waiting.unfit import text_for_model, waiting_message

_REPAIRABLE: Final = frozenset({"invalid_arguments", "missing_fields"})
_FAILED: Final = frozenset({"error", "denied", "unknown"})


@frozen_record
class ErrorView:
    """Why a call has no result, and how a model can repair it."""

    message: str
    code: str = ""
    """Name of the declared error, or the runtime's own code of a denial; "" for other errors."""
    reason: RetryReason | None = None
    """Reason of the retry hint; None if there is no hint."""
    issues: tuple[FieldIssue, ...] = ()
    more_issues: int = 0
    """Minimum number of issues that were not built."""
    example: str | None = None
    """Arguments that the tool accepts, as JSON text."""
    retry_after_s: float | None = None
    restrict_to_tool: bool = False
    """Whether the next attempt should offer only this tool."""

    @property
    def is_repairable(self) -> bool:
        """Whether the same tool can be called again with other arguments."""
        return self.reason in _REPAIRABLE

    def as_json(self) -> dict[str, Json]:
        """Return the error as JSON, without empty members."""
        facts: dict[str, Json] = {
            "message": self.message,
            "code": self.code,
            "reason": self.reason,
            "issues": [issue.as_json() for issue in self.issues],
            "more_issues": self.more_issues,
            "example": None if self.example is None else json.loads(self.example),
            "retry_after_s": self.retry_after_s,
            "restrict_to_tool": self.restrict_to_tool,
        }
        return {name: value for name, value in facts.items() if value or name == "message"}


@frozen_record
class ResultView:
    """Parts of a `ToolResult` for which agent frameworks have a place."""

    tool: str
    """Id of the tool."""
    status: ToolStatus
    text: str
    """Text for the model, by `text_for_model`."""
    content: tuple[Content, ...] = ()
    error: ErrorView | None = None
    """Error of the call, or the reason why it is suspended; None for other results."""
    approval: Suspended | None = None
    """Question for a person; None if the call has none."""
    work: Suspended | None = None
    """Work that continues elsewhere; None if there is none."""
    artifacts: tuple[ArtifactRef, ...] = ()
    bounds: Bounds | None = None
    warnings: tuple[FieldIssue, ...] = ()
    """Mismatches in the answer of a lenient service; the text contains these values as received."""
    display: str = ""
    """Text for people."""
    is_final: bool = False
    """Whether the result ends the turn."""
    approved_by: str = ""
    """Person who approved the call in advance, and when."""

    @property
    def is_error(self) -> bool:
        """Whether the model should read the text as a failure: an error, a denial, or an unknown outcome."""
        return self.status in _FAILED or self.error is not None

    @property
    def document(self) -> Json:
        """The text as a JSON value."""
        value: Json = json.loads(self.text)
        return value

    def as_json(self, *, is_for_peer: bool = False) -> dict[str, Json]:
        """Return the facts that an application can store and show next to the text, as JSON without tokens.

        Artifacts are references whose `json` contains the data of small ones; a peer gets neither this data
        nor the handle of work. Empty members are omitted.
        """
        hidden = {"json", "handle"} if is_for_peer else set()
        facts: dict[str, Json] = {
            "tool": self.tool,
            "status": self.status,
            "error": None if self.error is None else self.error.as_json(),
            "artifacts": [_non_empty(asdict(ref), hidden) for ref in self.artifacts],
            "bounds": None if self.bounds is None else _non_empty(asdict(self.bounds)),
            "warnings": [issue.as_json() for issue in self.warnings],
            "display": self.display,
            "is_final": self.is_final,
            "approved_by": self.approved_by,
            "work": None
            if self.work is None
            else _non_empty({"id": self.work.id, "handle": self.work.handle}, hidden),
        }
        return {name: value for name, value in facts.items() if value}


def result_view(result: ToolResult) -> ResultView:
    """Return the view of a result."""
    waits = result.suspension
    is_work = waits is not None and waits.kind == "pending"
    error = _error_view(result) if result.status in _FAILED else None
    if waits is not None and not is_work:
        error = ErrorView(message=waiting_message(waits), code=UNAVAILABLE)
    return ResultView(
        tool=result.tool,
        status=result.status,
        text=text_for_model(result),
        content=result.content,
        error=error,
        approval=None if is_work else waits,
        work=waits if is_work else None,
        artifacts=tuple(artifact.ref for artifact in result.artifacts if artifact.ref is not None),
        bounds=result.bounds,
        warnings=result.warnings,
        display=result.display,
        is_final=result.is_final,
        approved_by=result.approved_by,
    )


def approval_json(suspended: Suspended, *, with_token: bool = False) -> dict[str, Json]:
    """Return the question for a person as JSON: the question, the preview and all arguments.

    `with_token` adds the token for answering, for places that neither a model nor a peer reads.
    """
    facts: dict[str, Json] = {
        "id": suspended.id,
        "kind": suspended.kind,
        "tool": suspended.tool,
        "question": suspended.question,
        "preview": suspended.preview,
        "is_shortened": suspended.is_shortened,
        "arguments": dict(suspended.arguments),
        "answer_schema": without_grant(suspended),
        "expires_at": suspended.expires_at,
        "requested_by": suspended.requested_by,
        "reason": suspended.reason,
        "request": None if suspended.request is None else dict(suspended.request),
    }
    always = ("arguments", "answer_schema", "question")
    shown = {name: value for name, value in facts.items() if value or name in always}
    return {**shown, "token": suspended.token} if with_token else shown


def question_text(suspended: Suspended) -> str:
    """Return the question, its preview and the reason for asking again as one text for people."""
    lines = (suspended.reason, suspended.question or f'Allow "{suspended.tool}"?', suspended.preview)
    return "\n".join(line for line in lines if line)


def _non_empty(facts: dict[str, Json], hidden: Collection[str] = ()) -> Json:
    """Return the facts without empty and hidden ones."""
    return {name: value for name, value in facts.items() if value not in (None, "") and name not in hidden}


def _error_view(result: ToolResult) -> ErrorView:
    """Return the error; for a result that was read from a journal, the error in its JSON."""
    document: Any = json.loads(result.json) if result.json else {}
    error: Mapping[str, Any] = document if isinstance(document, dict) else {}
    message = result.error.message if result.error is not None else str(error.get("error", result.status))
    code = error.get("code")
    hint = result.retry_hint
    if hint is None:
        return ErrorView(message=message, code=code if isinstance(code, str) else "")
    return ErrorView(
        message=message,
        code=code if isinstance(code, str) else "",
        reason=hint.reason,
        issues=hint.issues,
        more_issues=hint.more_issues,
        example=hint.example_input,
        retry_after_s=hint.retry_after,
        restrict_to_tool=hint.restrict_to_tool,
    )
