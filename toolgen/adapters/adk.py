"""Google ADK tools for the tools of a snapshot: `toolgen[adk]`.

A question becomes an ADK confirmation whose payload contains the preview and all arguments. The payload that
the client returns contains the person's additions. Artifacts go to ADK's artifact service if the runner has
one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolgen.calls.call import NO_META
from toolgen.contract.extras import extra
from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.runtime import AudioContent, Content, ImageContent, Snapshot, Suspended, TextContent
from toolgen.runtime import ToolResult as Result
from toolgen.waiting.unfit import asks_again

from .framework_calls import FrameworkCall, FrameworkCalls, MetaOf, Spec
from .result_view import ResultView, approval_json, question_text, result_view

with extra("adk"):
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.tool_confirmation import ToolConfirmation
    from google.adk.tools.tool_context import ToolContext
    from google.genai import types

__all__ = ["FACTS", "adk_tools"]

log = logger("toolgen.adapters")
FACTS: Final = "temp:toolgen:"
"""Prefix of the state key for a call's `ResultView.as_json()`; the call's id follows.

For `after_tool_callback` and plugins: ADK does not persist state with the prefix `temp:`.
"""
_ASKED: Final = {"status": "suspended", "message": "this call is waiting for a person"}
_ASKED_ONCE: Final = "the call asked a second question, but ADK can ask only once per call"
_CONTENT: Final = "content_blocks"
"""Key of the content blocks next to a result; ADK extracts the media from it."""


def adk_tools(snapshot: Snapshot, meta: MetaOf[ToolContext] = NO_META) -> list[BaseTool]:
    """Return the tools of a snapshot, in the order of the snapshot.

    `meta` is the facts of each call, or a function that derives them from ADK's context of the call. They
    never come from the model.
    """
    calls = FrameworkCalls(interface="adk", snapshot=snapshot, meta=meta)
    return [ADKSnapshotTool(calls, spec, description) for spec, description in calls.tools]


class ADKSnapshotTool(BaseTool):
    """Made by `adk_tools`."""

    def __init__(self, calls: FrameworkCalls[ToolContext], spec: Spec, description: str) -> None:
        super().__init__(
            name=spec.name,
            description=description,
            is_long_running=spec.long_running is not None,
            custom_metadata={"id": spec.id, "tags": list(spec.tags), "hints": dict(spec.hints)},
        )
        self._calls = calls
        self._spec = spec

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self._spec.payload.schema
        )

    async def run_async(self, *, args: dict[str, Json], tool_context: ToolContext) -> object:
        """Return the response for the model.

        None if the work continues in the background without acknowledgement.
        """
        call = self._calls.named(
            tool_context, self.name, args, tool_context.function_call_id or "", _checkpoint(tool_context)
        )
        with call.among_siblings():
            confirmation = tool_context.tool_confirmation
            suspended = None if confirmation is None else await call.question()
            result = await (
                call.result()
                if confirmation is None or suspended is None
                else _confirmed(call, suspended, confirmation, tool_context)
            )
            if (again := result_view(result).approval) is not None and confirmation is None:
                return _ask(tool_context, again)
            while again is not None and (suspended is None or not asks_again(suspended, again)):
                result = await call.cancel(again, _ASKED_ONCE)
                again = result_view(result).approval
        view = result_view(result)
        if view.work is not None and view.status == "suspended":
            return None
        await _save_artifacts(tool_context, result)
        tool_context.state[f"{FACTS}{tool_context.function_call_id}"] = view.as_json()
        if view.is_final:  # unless a callback has set it already
            tool_context.actions.skip_summarization = True
        return _response(view)


async def _confirmed(
    call: FrameworkCall, suspended: Suspended, confirmation: ToolConfirmation, tool_context: ToolContext
) -> Result:
    """Return the result of a call after a person answered ADK's confirmation.

    The payload can name the question; otherwise the answer is for the question whose id is in the session
    state. If both are missing, a callback or plugin requested the confirmation.
    """
    payload = confirmation.payload if isinstance(confirmation.payload, Mapping) else {}
    id_ = payload.get("id", tool_context.state.get(_asked_key(tool_context)))
    answer = _answer(suspended, confirmation.confirmed, payload)
    if answer is None:
        return await call.cancel(suspended, "the question was not answered")
    return await call.answer(suspended, {"id": id_, "answer": answer} if isinstance(id_, str) else None)


def _answer(suspended: Suspended, is_confirmed: bool, payload: Mapping[str, Any]) -> Json:
    """Return a decision with the person's additions from the payload.

    For other questions, return the payload's `answer`.
    """
    if suspended.kind == "confirmation":
        added = {name: payload[name] for name in ("message", "payload") if payload.get(name) is not None}
        return {"approved": is_confirmed, **added}
    return payload.get("answer") if is_confirmed else None


def _asked_key(tool_context: ToolContext) -> str:
    return f"toolgen:asked:{tool_context.function_call_id}"


def _checkpoint(tool_context: ToolContext) -> str:
    """Return the event that contains a call; it is the same if a later invocation continues the call."""
    session = tool_context.session
    for event in reversed(session.events):
        if any(
            function_call.id == tool_context.function_call_id for function_call in event.get_function_calls()
        ):
            return f"{session.app_name}/{session.user_id}/{session.id}/{event.id}"
    return ""


def _ask(tool_context: ToolContext, suspended: Suspended) -> dict[str, Json]:
    """Request an ADK confirmation, and return the placeholder for the result."""
    tool_context.state[_asked_key(tool_context)] = suspended.id
    tool_context.request_confirmation(hint=question_text(suspended), payload=approval_json(suspended))
    tool_context.actions.skip_summarization = True
    return dict(_ASKED)


async def _save_artifacts(tool_context: ToolContext, result: Result) -> None:
    """Save the artifacts in ADK's service as `<tool>.<call>.<kind>.<n>.json`, if the runner has one."""
    for n, artifact in enumerate(result.artifacts):
        name = f"{result.tool}.{tool_context.function_call_id}.{artifact.kind}.{n}.json"
        part = types.Part.from_bytes(data=artifact.json, mime_type="application/json")
        try:
            await tool_context.save_artifact(name, part)
        except ValueError:  # the runner has no artifact service
            return
        except Exception as error:  # noqa: BLE001 - the tool has run, and its result counts
            log.warning("an artifact of %s was not saved: %s", result.tool, type(error).__name__)


def _response(view: ResultView) -> dict[str, Any]:
    document = view.document
    response = dict(document) if isinstance(document, dict) else {"result": document}
    return {**response, _CONTENT: [_part(block) for block in view.content]} if view.content else response


def _part(content: Content) -> types.Part | Json:
    match content:
        case ImageContent() | AudioContent():
            return types.Part.from_bytes(data=content.data, mime_type=content.media_type)
        case TextContent(text=text):
            return text
        case _:
            return content.as_json()
