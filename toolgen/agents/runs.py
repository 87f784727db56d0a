"""The runs of one runtime, from outside: started, watched, answered, ended."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.policy import RunPolicy
from toolgen.contract.tasks import start_held
from toolgen.runtime.call.entry import Entry
from toolgen.runtime.call.failures import log
from toolgen.runtime.calls import CallMeta
from toolgen.runtime.engine import RunState, RunStatus, UnknownRunError, unknown_run
from toolgen.runtime.errors import RegistrationError
from toolgen.runtime.events.records import Event
from toolgen.runtime.results import Delegated, ToolResult
from toolgen.runtime.waiting.answers import answer_issues, refuse_excess, without_optional_nulls
from toolgen.runtime.waiting.errors import BadAnswerError, LateAnswerError
from toolgen.runtime.waiting.suspension import Suspension

from .activities.taking_back import open_calls, take_back
from .direct import DirectCalls
from .host import AgentHost, new_facts
from .log import event_of
from .loop.documents import TRANSFER
from .output import Awaiting, RunArtifact, RunOutput, awaiting_of, output_of, without_tokens
from .owner import Owner, is_within
from .planner.messages import UserMessage
from .planner.portable import portable_text
from .run_artifacts import artifacts_so_far
from .sessions.sessions import SessionError, Turn
from .turns import SessionBusyError

_ELSEWHERE_S: Final = 1.0
"""Between two attempts to begin a turn of a session whose turn an engine elsewhere has."""


class InterruptsNotAllowedError(ToolgenError):
    """The policy of the run's agent lets nobody speak into it."""


class Runs:
    """The runs of one host."""

    def __init__(self, host: AgentHost) -> None:
        self._host = host
        self._engine = host.engine
        self._direct = DirectCalls(host, self.cancel)
        self._later: set[asyncio.Task[None]] = set()

    async def start(
        self,
        agent: str,
        message: str,
        *,
        session_id: str = "",
        run_id: str = "",
        labels: Mapping[str, str] | None = None,
        policy: RunPolicy | None = None,
        allowed_tags: Sequence[str] = (),
        denied_tags: Sequence[str] = (),
        restrict_to_tool: str = "",
        source: Any = "person",
    ) -> str:
        """Start a run and return its id; as `AgentClient.start`."""
        host = self._host
        host.hook_tools.settle()
        message = portable_text(message)  # before it is kept, for no engine would start with it
        run_id = run_id or f"run_{uuid.uuid4().hex}"
        turn_id = f"turn_{uuid.uuid5(uuid.NAMESPACE_URL, run_id).hex}"
        self._check(agent)
        owner = Owner(agent=agent, session_id=session_id)
        if await self._is_there(run_id, owner):
            return run_id
        if session_id:
            said = UserMessage(text=message, source=source)
            agent = await self._take_turn(agent, session_id, run_id, turn_id, labels, said)
        facts = new_facts(
            agent,
            host.policy_of(agent, policy),
            session_id=session_id,
            turn_id=turn_id,
            labels=labels,
            allowed_tags=allowed_tags,
            denied_tags=denied_tags,
            restrict_to_tool=restrict_to_tool,
        )
        if agent != owner.agent:
            facts["client"] = owner.agent
        try:
            await host.start({"facts": facts, "message": message, "source": source}, run_id)
        except BaseException:
            host.turns.release(run_id, facts)
            raise
        return run_id

    async def _is_there(self, run_id: str, owner: Owner) -> bool:
        """Return whether the run was started before.

        Raises:
            UnknownRunError: it was, by another agent or in another session.
        """
        try:
            status = await self._engine.status(run_id)
        except UnknownRunError:
            return False
        owner.require(status)
        return True

    async def require(self, run_id: str, owner: Owner) -> None:
        """Raise where a run is not the owner's.

        Raises:
            UnknownRunError: as said, or no run has the id.
        """
        owner.require(await self._engine.status(run_id))

    def _check(self, agent: str) -> None:
        """Raise when the agent, or one whose tools it calls, is not registered.

        Raises:
            RegistrationError: as said.
        """
        waiting, seen = [agent], {agent}
        while waiting:
            id_ = waiting.pop()
            found = self._host.agents.get(id_)
            if found is None:
                by = "" if id_ == agent else f", whose tools {agent!r} reaches,"
                raise RegistrationError(
                    f"agent {id_!r}{by} is not registered",
                    hint="call the generated `register` of its package",
                )
            new = set(found.called).difference(seen)
            seen |= new
            waiting += sorted(new)

    async def _take_turn(
        self,
        agent: str,
        session_id: str,
        run_id: str,
        turn_id: str,
        labels: Mapping[str, str] | None,
        message: UserMessage,
    ) -> str:
        """Begin a turn with what a person says, and return the agent that has the conversation.

        Raises:
            SessionError: the session is over, or another run of it is not.
        """
        host = self._host
        session = await host.sessions.create(session_id, agent, labels)
        if session.agent in host.agents:
            agent = session.agent
            self._check(agent)
        turn = Turn(id=turn_id, session_id=session_id, run_id=run_id, agent=agent, started_at=host.clock())
        await host.turns.take(turn, message)
        return agent

    # Watching.

    async def output(self, run_id: str) -> RunOutput:
        """Return where a run stands.

        Raises:
            UnknownRunError: no run has the id.
        """
        return await self._whole(await self._engine.status(run_id))

    async def settled(self, run_id: str) -> RunOutput:
        return await self._ended(await self._engine.settled(run_id))

    async def result(self, run_id: str) -> RunOutput:
        return await self._ended(await self._engine.result(run_id))

    async def _ended(self, status: RunStatus) -> RunOutput:
        """Return where a run stands, when the next turn of its session may begin in every process."""
        if status.is_over:
            given: Any = status.input
            await self._host.turns.settled(given["facts"]["session_id"])
        return await self._whole(status)

    async def _whole(self, status: RunStatus) -> RunOutput:
        """Return the output with the artifacts, which only the log has of a run that returned none."""
        has_none = status.state != "completed"
        return await self._output(status, await artifacts_so_far(self._engine, status) if has_none else ())

    async def _output(self, status: RunStatus, artifacts: Sequence[RunArtifact] = ()) -> RunOutput:
        awaiting = () if status.is_over else tuple(await self._awaiting(status))
        return output_of(status, awaiting, artifacts)

    async def _awaiting(self, status: RunStatus) -> list[Awaiting]:
        """Return what the run and its children wait for, its own first."""
        found = [awaiting_of(status.run_id, one.about) for one in status.awaiting]
        for child in status.children:
            below = await self._engine.status(child)
            if not below.is_over:
                found += await self._awaiting(below)
        return found

    async def events(
        self, run_id: str, *, after: int = 0, follow: bool = True
    ) -> AsyncGenerator[Event, None]:
        """Yield the events of a run after this `seq`."""
        given: Any = (await self._engine.status(run_id)).input
        async for offset, event in self._engine.events(run_id, after=after, follow=follow):
            yield event_of(run_id, offset, event, given["facts"])

    async def list(self, *, state: RunState | None = None, limit: int = 100) -> tuple[RunOutput, ...]:
        """Return runs, the newest first."""
        # For its engine a run that failed by its planner or at a limit is completed.
        asked = None if state in ("completed", "failed") else state
        most = limit
        while True:
            found = await self._engine.list_runs(state=asked, limit=most)
            outputs = [without_tokens(await self._output(status)) for status in found]
            outputs = [output for output in outputs if state in (None, output.status)]
            if len(outputs) >= limit or len(found) < most:
                return tuple(outputs[:limit])
            most *= 4

    # Answers.

    async def answer(self, run_id: str, awaiting: Awaiting, answer: Json, session_id: str) -> None:
        """Answer what a run or a child of it waits for; as `RunHandle.answer`."""
        if not await is_within(self._engine, run_id, awaiting.run_id):
            raise unknown_run(awaiting.run_id)
        if awaiting.token:
            await self._host.deliver(awaiting.token, answer, session_id)
            return
        if awaiting.kind == "pause":
            raise BadAnswerError("the run is paused and asks nothing; handle.resume(…) lets it go on")
        limits = self._host.tools.limits
        refuse_excess(answer, limits)
        answer = without_optional_nulls(awaiting.answer_schema, answer)
        issues = answer_issues(awaiting.answer_schema, answer, limits.issues)
        if issues:
            raise BadAnswerError(f"the answer does not fit: {'; '.join(map(str, issues))}", issues)
        status = await self._engine.status(awaiting.run_id)
        if status.is_over:
            raise LateAnswerError("the run is over", hint="start another turn")
        text = portable_text(answer) if isinstance(answer, str) else _json_text(answer)
        name = f"answer:{awaiting.id}"
        await self._engine.signal(awaiting.run_id, name, {"text": text}, signal_id=name)

    async def deliver(self, suspension: Suspension, answer: Json) -> ToolResult | None:
        """Hand an answer, which fits, to the run whose call waits for it; None where no run does.

        Raises:
            LateAnswerError: the run is over.
        """
        run_id, id_ = suspension.meta.run_id, suspension.id
        try:
            status = await self._engine.status(run_id)
        except UnknownRunError:
            return None
        waits = any(isinstance(one.about, dict) and one.about.get("id") == id_ for one in status.awaiting)
        if suspension.kind == "pending" and not waits:
            return None  # the model has an acknowledgement, and the run went on
        if status.is_over:
            raise LateAnswerError("the run of this call is over", hint="let the model call the tool again")
        answered = self._host.expect(id_)
        payload: Json = {"id": id_, "answer": answer}
        await self._engine.signal(run_id, f"answer:{id_}", payload, signal_id=id_)
        over = asyncio.ensure_future(self._engine.result(run_id))
        both: set[asyncio.Future[Any]] = {answered, over}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if answered.done():
            over.cancel()
            return answered.result()
        self._host.forget(id_)
        over.result()  # raises where the engine was closed
        raise LateAnswerError("the run ended before its call did")

    async def go_on(self, suspension: Suspension, result: ToolResult) -> None:
        """Open a new turn with the result of work that went on while its run ended."""
        try:
            status = await self._engine.status(suspension.meta.run_id)
        except UnknownRunError:
            return
        given: Any = status.input
        facts = given["facts"]
        if not facts["in_conversation"]:
            return
        name = suspension.tool.rpartition(".")[2]
        text = f"The work of {name} ({suspension.meta.tool_call_id}) is done: {result.json.decode()}"

        start = partial(
            self.start,
            facts["agent"],
            text,
            session_id=facts["session_id"],
            run_id=f"{suspension.meta.run_id}/done:{suspension.meta.tool_call_id}",
            labels=facts["labels"],
            source="runtime",
        )
        try:
            await start()
        except SessionBusyError as busy:
            start_held(self._later, self._when_free(busy.run_id, start))
        except SessionError:  # whoever delivered has nothing to do with it
            log.warning("run %s: no turn takes the result of %s", suspension.meta.run_id, name, exc_info=True)

    async def _when_free(self, run_id: str, start: Callable[[], Awaitable[str]]) -> None:
        """Start a turn when the one before it is over."""
        try:
            while True:
                try:
                    await self._engine.result(run_id)
                except UnknownRunError:  # another engine has it, and nobody tells when it is over
                    await asyncio.sleep(_ELSEWHERE_S)
                try:
                    await start()
                    return
                except SessionBusyError as busy:
                    run_id = busy.run_id
        except Exception:
            log.exception("the turn after run %s did not begin", run_id)

    async def delegated(
        self, entry: Entry, arguments: bytes, delegated: Delegated, meta: CallMeta
    ) -> ToolResult:
        """Return the result of a call of an agent's tool that no loop made; as `DirectCalls.result`.

        Raises:
            RegistrationError: the agent, or one whose tools it calls, is not registered.
        """
        self._check(delegated.agent)
        return await self._direct.result(entry, arguments, delegated, meta)

    # Ends and interruptions.

    def close(self) -> None:
        """Begin no turn any more that waits for the one before it."""
        for task in self._later:
            task.cancel()

    async def cancel(self, run_id: str, reason: str) -> None:
        """Cancel a run and its children; what they wait for is taken back."""
        status = await self._engine.status(run_id)
        waiting = () if status.is_over else open_calls(self._host, await self._awaiting(status))
        await self._engine.cancel(run_id, reason=reason)
        await take_back(self._host, waiting, reason)

    async def refuse_canceled(self, run_id: str) -> None:
        """Raise where a run was canceled.

        Raises:
            LateAnswerError: as said.
        """
        try:
            status = await self._engine.status(run_id)
        except UnknownRunError:
            return
        if status.state == "canceled":
            raise LateAnswerError("the run of this call was canceled", hint="let the model call it again")

    async def interrupt(self, run_id: str, kind: str, text: str) -> None:
        """Pause a run, let it go on, or speak into it; after a hand-over it is the run that took over.

        Raises:
            InterruptsNotAllowedError: the policy of its agent says so, or the run is over.
        """
        status = await self._conversing(run_id)
        run_id = status.run_id
        given: Any = status.input
        if not given["facts"]["policy"]["interrupts_allowed"]:
            raise InterruptsNotAllowedError(
                f"run {run_id!r} takes no interrupts", hint="write RunPolicy(interrupts_allowed=True)"
            )
        if status.is_over:
            raise InterruptsNotAllowedError(f"run {run_id!r} is over", hint="start another turn")
        id_, text = uuid.uuid4().hex, portable_text(text)
        if text and given["facts"]["in_conversation"]:  # whatever becomes of the run
            await self._host.sessions.speak(run_id, id_, UserMessage(text=text))
        payload: Json = {"kind": kind, "text": text, "id": id_}
        await self._engine.signal(run_id, "interrupt", payload, signal_id=id_)

    async def _conversing(self, run_id: str) -> RunStatus:
        """Return the run that has the conversation of a run now, which may have handed it over."""
        while True:
            status = await self._engine.status(run_id)
            taken = [child for child in status.children if child[len(run_id) + 1 :].startswith(TRANSFER)]
            if not taken or (await self._engine.status(taken[-1])).is_over:
                return status
            run_id = taken[-1]


def _json_text(answer: Json) -> str:
    from pydantic_core import to_json

    return to_json(answer).decode()
