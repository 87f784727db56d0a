"""Sessions with their messages, without sensitive values; a message starts a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from pydantic_core import from_json
from starlette.requests import Request

from toolgen.agents import (
    AssistantMessage,
    Message,
    Session,
    ToolAnswer,
    UnknownSessionError,
    UserMessage,
)
from toolgen.agents.activities.plan_secrets import note_messages
from toolgen.agents.planner.provider_facts import facts_document
from toolgen.agents.sessions.sessions import RunMessages
from toolgen.calls.documents.results import ref_document, result_facts
from toolgen.contract.json_value import Json
from toolgen.contract.secrets import HIDDEN, Secrets, hiding, scrubbed, scrubbed_json
from toolgen.events.redaction import is_public, public_result
from toolgen.runtime import CallMeta, DeclaredError, Runtime, SnapshotError, ToolError, ToolResult, ToolSpec

from .bodies import (
    choice_of,
    files_of,
    idempotency_key,
    limit_of,
    require_known,
    require_known_query,
    text_of,
)
from .call_views import artifact_href, artifact_record
from .callers import Caller, log
from .pages import fetched
from .records import MessageAnswer, MessageFile, Run, SessionPage, SessionRecord, Transcript, TurnRecord
from .runs import ServedRuns

_STATES: Final = ("open", "ended")
_MOST_OF_FIRST: Final = 200
"""Maximum number of characters of the first message in a list of sessions."""


class ServedConversations:
    """The sessions of the agents of one runtime."""

    def __init__(self, runtime: Runtime, runs: ServedRuns) -> None:
        self._runtime = runtime
        self._runs = runs

    async def list(self, request: Request, caller: Caller) -> SessionPage:
        """Return the sessions of the caller, the newest first."""
        require_known_query(request, "after", "limit", "status")
        state = choice_of(request, "status", _STATES)
        sessions = self._runs.agents().sessions

        async def fetch(after: str, most: int) -> tuple[Session, ...]:
            return await sessions.list(state=state, after=after, limit=most)

        async def is_own(session: Session) -> bool:
            return await caller.owns(session.id)

        after = request.query_params.get("after", "")
        page, following = await fetched(fetch, is_own, after, limit_of(request), lambda session: session.id)
        records = [_session_record(session, await self._first_message(session)) for session in page]
        return {"sessions": records, "next": following} if following else {"sessions": records}

    async def _first_message(self, session: Session) -> str:
        """Return the first user message of a session, shortened; "" if there is none."""
        agents = self._runs.agents()
        for turn in await agents.sessions.turns(session.id, limit=1):
            of_run = RunMessages(turn=turn, messages=await agents.sessions.run_messages(turn.run_id))
            tools = {turn.agent: {spec.name: spec for spec in self._designed(turn.agent)}}
            (record,) = _turn_records([of_run], tools)
            texts = [message.get("text", "") for message in record["messages"] if message["type"] == "user"]
            return texts[0][:_MOST_OF_FIRST] if texts else ""
        return ""

    async def messages(self, caller: Caller, session_id: str) -> Transcript:
        """Return a session with its messages, oldest first."""
        await caller.require(session_id)
        agents = self._runs.agents()
        session = await agents.sessions.get(session_id)
        turns = await agents.sessions.transcript(session_id)
        names = dict.fromkeys(of_run.turn.agent for of_run in turns)
        return {
            "session": _session_record(session, ""),
            "turns": _turn_records(turns, {agent: await self._tools(agent, session) for agent in names}),
        }

    async def _tools(self, agent: str, session: Session) -> Mapping[str, ToolSpec]:
        """Return the tools of an agent, including dynamic toolsets, and of the runtime, by name."""
        agents, specs = self._runs.agents(), self._designed(agent)
        if agent in agents.list():
            meta = CallMeta(session_id=session.id, agent=agent, labels=session.labels)
            try:
                specs += (await agents.tools(agent, meta)).directory.specs
            except SnapshotError as error:
                log.warning(
                    "the messages of session %s are shown without some tools: %s", session.id, error.message
                )
        return {spec.name: spec for spec in specs}

    def _designed(self, agent: str) -> tuple[ToolSpec, ...]:
        """Return the tools of the runtime and of an agent's design."""
        agents = self._runs.agents()
        return self._runtime.tools.list() + (agents.specs(agent) if agent in agents.list() else ())

    async def speak(self, request: Request, caller: Caller, body: dict[str, Any]) -> Run:
        """Start a turn with a message; `agent` begins a session that does not exist yet."""
        require_known(body, "message", "agent", "files")
        session_id = request.path_params["session"]
        await caller.require(session_id)
        agent = text_of(body, "agent")
        try:
            agent = (await self._runs.agents().sessions.get(session_id)).agent
        except UnknownSessionError:
            if not agent:
                raise
        message = text_of(body, "message", default=None)
        key, files = idempotency_key(request), files_of(body)
        return await self._runs.begin(caller, agent, message, session_id, key, files)


def _session_record(session: Session, message: str) -> SessionRecord:
    optional: dict[str, Any] = {
        "message": message,
        "ended_at": session.ended_at,
        "labels": dict(session.labels),
    }
    head: dict[str, Any] = {"id": session.id, "agent": session.agent, "created_at": session.created_at}
    return cast(SessionRecord, head | {key: value for key, value in optional.items() if value})


def _turn_records(
    turns: Sequence[RunMessages], tools: Mapping[str, Mapping[str, ToolSpec]]
) -> list[TurnRecord]:
    """Return runs with their messages, without the sensitive values of their calls.

    `tools` are those of each agent, by wire name.
    """
    with hiding(Secrets()):
        for of_run in turns:
            own = tools[of_run.turn.agent]
            note_messages(of_run.messages, {name: own[name] for name in own if own[name].is_sensitive}, None)
        return [_turn_record(of_run, tools[of_run.turn.agent]) for of_run in turns]


def _turn_record(of_run: RunMessages, specs: Mapping[str, ToolSpec]) -> TurnRecord:
    turn = of_run.turn
    return {
        "run_id": turn.run_id,
        "turn_id": turn.id,
        "agent": turn.agent,
        "started_at": turn.started_at,
        "messages": [scrubbed_json(_message(message, specs.get)) for message in of_run.messages],
    }


def _message(message: Message, spec: Any) -> dict[str, object]:
    match message:
        case UserMessage():
            record: dict[str, object] = {"type": "user", "text": message.text, "source": message.source}
            return {**record, "files": list(map(_file, message.content))} if message.content else record
        case AssistantMessage():
            calls = [
                {"id": call.id, "name": call.name, "arguments": _arguments(call.arguments, spec(call.name))}
                for call in message.calls
            ]
            text = scrubbed(message.text)  # citation ranges in redacted text would be at other positions
            length = len(text) if text == message.text else 0
            provider = message.provider and facts_document(message.provider, length)
            facts = {"text": text, "calls": calls, "provider": provider}
            return {"type": "assistant", **{key: value for key, value in facts.items() if value}}
        case _:
            answers = [_answer(answer, spec(answer.name)) for answer in message.answers]
            return {"type": "tools", "answers": answers}


def _file(link: Any) -> MessageFile:
    """Return the link to a user's file in the form for clients."""
    uri, size = link["uri"], link.get("size", 0)
    return {
        "name": link["name"],
        "media_type": link.get("mimeType", ""),
        "size": size,
        "uri": uri,
        "href": artifact_href(uri),
    }


def _arguments(text: str, spec: ToolSpec | None) -> Json:
    if spec is not None and not is_public(text.encode(), spec.payload):
        return HIDDEN
    value = _value(text)
    return value if spec is None else spec.payload.public(value)


def _answer(answer: ToolAnswer, spec: ToolSpec | None) -> MessageAnswer:
    text, seen = answer.text, _value(answer.text)
    error: ToolError | None = None
    if answer.status == "error" and isinstance(seen, dict) and isinstance(code := seen.get("code"), str):
        error = DeclaredError(str(seen.get("error")), code=code)
    result = ToolResult(
        tool=answer.name, status=answer.status, json=text.encode(), error=error, bounds=answer.bounds
    )
    shown = seen if isinstance(seen, str) else public_result(result, spec)
    optional: dict[str, Any] = {
        "bounds": result_facts(result).get("bounds"),
        "artifacts": [_artifact(ref, spec) for ref in answer.artifacts],
        "resolved_by": answer.resolved_by,
    }
    head: dict[str, Any] = {"id": answer.id, "name": answer.name, "status": answer.status, "result": shown}
    return cast(MessageAnswer, head | {key: value for key, value in optional.items() if value})


def _artifact(ref: Any, spec: ToolSpec | None) -> object:
    kind = None if spec is None else spec.artifacts.get(ref.kind)
    record: Any = artifact_record(ref_document(ref), None if kind is None else kind.view)
    if kind is not None and kind.codec.sensitive and "data" in record:
        record["data"] = kind.codec.public(record["data"])
    return record


def _value(text: str) -> Json:
    """Return the value of JSON text; the text itself if it is not JSON."""
    try:
        value: Json = from_json(text)
    except ValueError:
        return text
    return value
