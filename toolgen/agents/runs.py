"""The runs of one runtime for its clients: starting, watching, answering, canceling."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from typing import Any, Final, TypeVar, Unpack

from toolgen.calls.call import CallMeta
from toolgen.calls.errors import RegistrationError
from toolgen.calls.results import Suspended
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.engines import RunState, RunStatus, UnknownRunError, unknown_run
from toolgen.events.document import logged_event
from toolgen.events.records import Event
from toolgen.runtime.runs import runs_in_state
from toolgen.waiting.asking import answer_question
from toolgen.waiting.errors import BadAnswerError, TamperedSuspensionError, UnsealedSuspensionError

from .host import AgentHost
from .loop.documents import TRANSFER, event_ids
from .output import (
    RunArtifact,
    RunOutput,
    artifacts_so_far,
    awaiting_of,
    awaiting_unverified,
    output_of,
    readable,
    status_of,
    without_tokens,
)
from .owner import Owner, has_facts, is_of_agent, is_same_or_descendant
from .planner.messages import UserMessage
from .planner.portable import portable_text
from .registered_agents import check_restrictions
from .run_facts import RunOptions, first_facts
from .sessions.sessions import SessionError, Turn, check_ids
from .uploads import Upload, stored_files

T = TypeVar("T")

SESSION_ENDED: Final = "the session ended"
"""Reason for canceling the runs of a session that was ended."""


class InterruptsNotAllowedError(ToolgenError):
    """The policy of the run's agent does not allow interrupts."""


class AgentRuns:
    """The runs of one host."""

    def __init__(self, host: AgentHost) -> None:
        self._host = host
        self._engine = host.engine

    async def start(
        self,
        agent: str,
        message: str,
        *,
        session_id: str = "",
        source: Any = "person",
        **options: Unpack[RunOptions],
    ) -> str:
        """Start a run and return its ID; as `AgentClient.start`."""
        host = self._host
        host.hook_tools.require_all_known()
        message = portable_text(message)  # before it is stored; engines reject lone surrogates
        run_id = options.get("run_id") or f"run_{uuid.uuid4().hex}"
        check_ids(run_id)
        turn_id = f"turn_{uuid.uuid5(uuid.NAMESPACE_URL, run_id).hex}"
        await host.waits.start(run_id)  # afterwards it is known whether this process executes the run
        self.check(agent)
        owner = Owner(agent=agent, session_id=session_id)
        if options.get("run_id") and await self._is_started(run_id, owner):  # a generated ID is always new
            return run_id
        if source != "runtime":  # the original run was checked, and its tools may have changed
            check_restrictions(agent, options, host.agents, host.directory)
        content = await self._stored(options.get("files", ()), session_id, run_id)
        if session_id:
            self._check_sessions()
            user_message = UserMessage(text=message, source=source, content=content)
            agent = await self._take_turn(
                agent, session_id, run_id, turn_id, options.get("labels"), user_message
            )
        meta = CallMeta(
            session_id=session_id,
            turn_id=turn_id,
            labels=options.get("labels") or {},
            requested_by=options.get("requested_by", ""),
        )
        facts = first_facts(agent, host.policy_of(agent, options.get("policy")), meta, options)
        if agent != owner.agent:
            facts["client"] = owner.agent
        run_input: Any = {"facts": facts, "message": message, "source": source}
        run_input |= {"content": list(content)} if content else {}
        try:
            await host.start(run_input, run_id)
        except BaseException as error:
            if isinstance(error, Exception) or not self._engine.caps.is_durable:
                host.turns.release(run_id, facts)
            raise  # a durable engine may have started the run of a cancelled caller
        if session_id and (await host.sessions.get(session_id)).is_over:
            await self.cancel(run_id, SESSION_ENDED)  # the session ended before it could find this run
        return run_id

    async def _stored(self, files: Sequence[Upload], session_id: str, run_id: str) -> tuple[Any, ...]:
        """Store the files of a message for a turn that can begin, and return the links to them.

        Raises:
            BadFileError, StoreError: as `stored_files`.
            SessionError: the session is over, or another run of it is not over.
        """
        if files and session_id:
            self._check_sessions()
            await self._host.turns.require_free(session_id, run_id)
        return await stored_files(files, self._host.tools, session_id, run_id)

    async def _is_started(self, run_id: str, owner: Owner) -> bool:
        """Return whether this or another process has already started the run.

        Raises:
            UnknownRunError: another agent started it, or it is in another session.
        """
        try:
            status = await self._engine.status(run_id)
        except UnknownRunError:
            return False
        owner.require(status)
        return True

    async def require(self, run_id: str, owner: Owner) -> None:
        """Raise if a run belongs to another owner.

        Raises:
            UnknownRunError: the run belongs to another owner, or there is no run with this ID.
        """
        owner.require(await self._engine.status(run_id))

    async def require_log(self, run_id: str, owner: Owner) -> None:
        """Raise if the events of a run belong to another owner.

        Raises:
            UnknownRunError: the events belong to another owner, or there is no run with this ID.
        """
        owner.require_log(await self._engine.status(run_id))

    def _check_sessions(self) -> None:
        """Raise if the process that executes the runs cannot access the sessions of this process.

        Raises:
            SessionError: the sessions are in this process's memory.
        """
        if not self._host.sees_sessions:
            raise SessionError(
                "another process executes the run, but this one stores its sessions in memory",
                hint="omit sessions= so that they are stored in the file of the engine: Agents(runtime)",
            )

    def check(self, agent: str) -> None:
        """Raise if the agent, or an agent whose tools it calls, is not registered where the run is executed.

        A client process only knows that the agent was passed by its constant.

        Raises:
            RegistrationError: an agent is not registered.
        """
        waiting, seen = [agent], {agent}
        while waiting:
            id_ = waiting.pop()
            registered = self._host.agents.get(id_)
            if registered is None and id_ in self._host.elsewhere and not self._engine.is_worker:
                continue
            if registered is None:
                by = "" if id_ == agent else f", whose tools {agent!r} reaches,"
                raise RegistrationError(
                    f"agent {id_!r}{by} is not registered",
                    hint="call the generated `register` of its package",
                )
            new = set(registered.called).difference(seen)
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
        """Begin a turn with a person's message, and return the agent that has the conversation.

        Raises:
            SessionError: the session is over, or another run of it is not over.
        """
        host, sessions = self._host, self._host.sessions
        is_work = message.source == "runtime"  # a result of pending work does not recreate a dropped session
        session = await (sessions.get(session_id) if is_work else sessions.create(session_id, agent, labels))
        if session.agent in host.agents or session.agent in host.elsewhere:
            agent = session.agent
            self.check(agent)
        elif agent not in host.agents:
            raise SessionError(
                f"the agent {session.agent!r} of the session {session_id!r} is not registered here",
                hint="start the turn with its generated constant: agents_of(runtime).client(AGENT)",
            )
        turn = Turn(id=turn_id, session_id=session_id, run_id=run_id, agent=agent, started_at=host.clock())
        await host.turns.take(turn, message)
        return agent

    # Watching.

    async def output(self, run_id: str) -> RunOutput:
        """Return the output of a run.

        Raises:
            UnknownRunError: there is no run with this ID.
        """
        return await self._with_artifacts(await self._engine.status(run_id))

    async def settled(self, run_id: str) -> RunOutput:
        return await self._ended(await self._waited(run_id, self._engine.settled(run_id)))

    async def result(self, run_id: str) -> RunOutput:
        return await self._ended(await self._waited(run_id, self._engine.result(run_id)))

    async def _waited(self, run_id: str, coming: Awaitable[T]) -> T:
        """Await a run. A call that waits for it releases its slot, and its locks admit the run."""
        return await self._host.tools.scheduler.wait_for_run(run_id, coming)

    async def _ended(self, status: RunStatus) -> RunOutput:
        """Return the output of a run once any process can begin the next turn of its session."""
        if status.is_over:
            run_input: Any = status.input
            turns, facts = self._host.turns, run_input["facts"]
            if self._engine.caps.has_many_workers:  # the worker that receives the end may be slow
                turns.release(status.run_id, facts)
            await turns.settled(facts["session_id"])
        return await self._with_artifacts(status)

    async def _with_artifacts(self, status: RunStatus) -> RunOutput:
        """Return the output with artifacts from the log, for a run that returned none."""
        if not is_of_agent(status):
            raise unknown_run(status.run_id)
        has_none = status.state != "completed"
        return await self._output(status, await artifacts_so_far(self._engine, status) if has_none else ())

    async def _output(self, status: RunStatus, artifacts: Sequence[RunArtifact] = ()) -> RunOutput:
        if not status.is_over:
            return output_of(status, awaiting=await self._awaiting(status), artifacts=artifacts)
        document: Any = status.output
        work = document["pending"] if status.state == "completed" else ()
        pending = [
            await self._awaiting_of(wait["run_id"], wait["op"], {"frozen": wait["frozen"]}) for wait in work
        ]
        return output_of(status, pending=pending, artifacts=artifacts)

    async def _awaiting_of(self, run_id: str, op: str, about: Json) -> Suspended:
        """Return a wait of a run, with the token of a call.

        If the call's record cannot be verified, only its ID and its tool are returned.
        """
        if about is None:  # it cannot be read
            return awaiting_unverified(run_id, "tampered", {"frozen": None})
        try:
            record = await self._host.waits.record(run_id, op, about)
        except TamperedSuspensionError:
            return awaiting_unverified(run_id, "tampered", about)
        except UnsealedSuspensionError:
            return awaiting_unverified(run_id, "unsealed", about)
        if record is None:
            return awaiting_of(run_id, about)
        return self._host.waits.suspended(record)

    async def _awaiting(self, status: RunStatus) -> list[Suspended]:
        """Return the waits of the run and its child runs, its own first."""
        waits = [await self._awaiting_of(status.run_id, wait.op, wait.about) for wait in status.awaiting]
        for child in status.children:
            below = await self._engine.status(child)
            if not below.is_over:
                waits += await self._awaiting(below)
        return waits

    async def events(self, run_id: str, *, after: int = 0) -> AsyncGenerator[Event, None]:
        """Yield the events of a run after this `seq`; each wait for an event is a wait as in `_waited`."""
        status = await self._engine.status(run_id)
        if not has_facts(status):
            raise unknown_run(run_id)
        run_input: Any = status.input
        events = self._engine.events(run_id, after=after)
        while (logged := await self._waited(run_id, anext(events, None))) is not None:
            offset, event = logged
            yield logged_event(run_id, offset, event, event_ids(run_input["facts"]))

    async def list(self, *, state: RunState | None = None, limit: int = 100) -> tuple[RunOutput, ...]:
        """Return runs of agents, newest first."""

        def seen(status: RunStatus) -> RunStatus | None:
            listed = readable(status) if is_of_agent(status) else None
            return None if listed is None else status_of(listed)

        runs = await runs_in_state(self._engine, seen, state=state, limit=limit)
        return tuple(
            [without_tokens(await self._output(listed)) for run in runs if (listed := readable(run))]
        )

    # Answers.

    async def answer(
        self, run_id: str, awaiting: Suspended, answer: Json, session_id: str, by: str = ""
    ) -> None:
        """Answer a wait of a run or of its child runs; as `RunHandle.answer`."""
        if not await is_same_or_descendant(self._engine, run_id, awaiting.run_id):
            raise unknown_run(awaiting.run_id)
        if awaiting.token:
            await self._host.caller.suspensions.answer(awaiting.token, answer, session_id=session_id, by=by)
            return
        if awaiting.kind == "pause":
            raise BadAnswerError("the run is paused without a question; resume it with handle.resume(…)")
        if awaiting.kind == "unsealed":
            raise UnsealedSuspensionError(awaiting.run_id)
        if awaiting.kind == "tampered":
            raise TamperedSuspensionError(awaiting.run_id)
        names = ("kind", "id", "question", "answer_schema")
        about = {name: getattr(awaiting, name) for name in names}
        host = self._host
        await answer_question(host.waits, host.tools.limits, awaiting.run_id, about, answer, by, session_id)

    # Cancellation and interrupts.

    async def cancel(self, run_id: str, reason: str) -> None:
        """Cancel a run and its children with all their waits; the next turn receives how these calls ended.

        Raises:
            UnknownRunError: there is no run with this ID.
        """
        await self._engine.cancel(run_id, reason=reason)

    async def interrupt(self, run_id: str, kind: str, text: str) -> None:
        """Pause, resume or add a message to a run; after a hand-over, to the run that took over.

        Raises:
            InterruptsNotAllowedError: the policy of its agent forbids interrupts, or the run is over.
        """
        status = await self._run_with_conversation(run_id)
        run_id = status.run_id
        run_input: Any = status.input
        if not run_input["facts"]["policy"]["interrupts_allowed"]:
            raise InterruptsNotAllowedError(
                f"run {run_id!r} does not accept interrupts", hint="write RunPolicy(interrupts_allowed=True)"
            )
        if status.is_over:
            raise InterruptsNotAllowedError(f"run {run_id!r} is over", hint="start another turn")
        id_, text = uuid.uuid4().hex, portable_text(text)
        if text and run_input["facts"]["in_conversation"]:  # stored no matter how the run ends
            await self._host.sessions.speak(run_id, id_, UserMessage(text=text))
        payload: Json = {"kind": kind, "text": text, "id": id_}
        await self._engine.signal(run_id, "interrupt", payload, signal_id=id_)

    async def _run_with_conversation(self, run_id: str) -> RunStatus:
        """Return the run that has a run's conversation now, after any hand-overs."""
        while True:
            status = await self._engine.status(run_id)
            taken = [child for child in status.children if child[len(run_id) + 1 :].startswith(TRANSFER)]
            if not taken or (await self._engine.status(taken[-1])).is_over:
                return status
            run_id = taken[-1]
