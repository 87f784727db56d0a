"""Questions of a server during a call (MCP 2026-07-28, `InputRequiredResult`), answered by a person.

The call is suspended like a call of a designed tool, and resumes with the server's own state. Sampling and
roots are declined. `elicitation` handles the questions of servers of earlier versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import mcp_types as types

from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.runtime import ToolContext, ToolError, ToolOutcome, ToolSpec, Unfinished

from .errors import shortened
from .forms import UnaskableError, page_of, question_of

_MOST_QUESTIONS: Final = 10
"""Maximum number of questions in one answer; a person answers them one by one."""
_MARK: Final = "mcp"
"""Key of the state that is stored with a question."""


@frozen_record
class ResumedRequest:
    """Data with which a call resumes."""

    responses: Mapping[str, Json] | None = None
    """Responses by the keys of their requests."""
    state: str | None = None
    """State of the server, passed back unchanged."""
    further: tuple[tuple[str, dict[str, Any]], ...] = ()
    """Requests that have not been shown yet, with their keys."""


def resumed_by(ctx: ToolContext) -> ResumedRequest:
    """Return the data with which the call resumes; empty unless a question of its server was answered."""
    stored = ctx.resume_state.get(_MARK) if isinstance(ctx.resume_state, dict) else None
    if not isinstance(stored, dict):
        return ResumedRequest()
    facts: Any = stored
    response: dict[str, Any] = {"action": "accept"}
    if facts["is_form"]:
        response["content"] = ctx.answer if isinstance(ctx.answer, dict) else {}
    elif isinstance(ctx.answer, dict) and not ctx.answer.get("available"):
        response["action"] = "decline"
    responses = {**facts["responses"], facts["key"]: response}
    further = tuple((key, request) for key, request in facts["further"])
    return ResumedRequest(responses=responses, state=facts["state"], further=further)


def first_question(answer: types.InputRequiredResult, spec: ToolSpec) -> Unfinished | None:
    """Return the first question of a server; None if it has no question and only requests its state back.

    Raises:
        ToolError: The server requests something other than questions, or too many of them.
    """
    requests = answer.input_requests or {}
    if len(requests) > _MOST_QUESTIONS:
        raise ToolError(f"{spec.name} asks {len(requests)} questions at once; {_MOST_QUESTIONS} are allowed")
    documents = [(key, request.model_dump(by_alias=True, mode="json")) for key, request in requests.items()]
    return question(documents, {}, answer.request_state, spec) if documents else None


def next_question(resumed: ResumedRequest, spec: ToolSpec) -> Unfinished | None:
    """Return the next question of the same answer; None if all are answered."""
    if not resumed.further:
        return None
    return question(list(resumed.further), resumed.responses or {}, resumed.state, spec)


def question(
    requests: list[tuple[str, dict[str, Any]]],
    responses: Mapping[str, Any],
    state: str | None,
    spec: ToolSpec,
) -> Unfinished:
    """Return the question of the first request; the other requests are stored with it.

    Raises:
        ToolError: The request is not a question to a person, or its URL is not a web page.
    """
    (key, request), *further = requests
    parameters = request.get("params") or {}
    if request.get("method") != "elicitation/create":
        raise ToolError(f"{spec.name} asks for {shortened(str(request.get('method')))}, which is declined")
    is_form = parameters.get("mode", "form") == "form"
    facts: dict[str, Json] = {
        "key": key,
        "is_form": is_form,
        "responses": dict(responses),
        "state": state,
        "further": [list(pair) for pair in further],
    }
    resume_state: Json = {_MARK: facts}
    try:
        if is_form:
            asks = question_of(parameters["message"], parameters["requestedSchema"])
            return ToolOutcome.ask(asks.message, asks.schema, resume_state=resume_state)
        page = page_of(parameters["message"], parameters["url"])
        return ToolOutcome.need_credential({"url": page.url}, page.message, resume_state=resume_state)
    except UnaskableError as error:
        raise ToolError(f"{spec.name} {error.message}") from None
