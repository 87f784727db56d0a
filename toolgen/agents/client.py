"""Clients of runs: how programs start, watch, answer and cancel them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Unpack

from toolgen.calls.results import Suspended
from toolgen.contract.json_value import Json
from toolgen.contract.policy import RunPolicy
from toolgen.events.records import Event

from .output import RunFailedError, RunOutput
from .owner import Owner
from .run_facts import RunOptions
from .runs import AgentRuns
from .sessions.sessions import SessionError
from .uploads import Upload


class RunHandle:
    """One run of one agent, in one session.

    Each method raises `UnknownRunError` if the run does not exist or belongs to another agent or session.
    """

    __slots__ = ("_owner", "_runs", "run_id")

    def __init__(self, runs: AgentRuns, run_id: str, owner: Owner) -> None:
        self._runs = runs
        self._owner = owner
        self.run_id = run_id

    async def output(self) -> RunOutput:
        """Return the current output of the run."""
        await self._own()
        return await self._runs.output(self.run_id)

    async def settled(self) -> RunOutput:
        """Return the output of the run when the run is over or waits for an answer."""
        await self._own()
        return await self._runs.settled(self.run_id)

    async def result(self) -> RunOutput:
        """Return the output of the run when it is over."""
        await self._own()
        return await self._runs.result(self.run_id)

    async def events(self, *, after: int = 0) -> AsyncIterator[Event]:
        """Yield the events of the run after this `seq`, to its `run_stream_end`; can be called repeatedly.

        Also works for pending work that continued after a run of a conversation: `Suspended.run_id`.
        """
        await self._runs.require_log(self.run_id, self._owner)
        async with aclosing(self._runs.events(self.run_id, after=after)) as events:
            async for event in events:
                yield event

    async def answer(self, awaiting: Suspended, answer: Json, *, by: str = "") -> None:
        """Answer a wait of the run or of a child of it; `by` names the person, for the log.

        Raises:
            SuspensionError: the answer is not accepted; the class gives the reason.
            UnknownRunError: the wait belongs to another run.
        """
        await self._own()
        await self._runs.answer(self.run_id, awaiting, answer, self._owner.session_id, by)

    async def cancel(self, reason: str = "") -> None:
        """Cancel the run and its children; without effect on a run that is over."""
        await self._own()
        await self._runs.cancel(self.run_id, reason)

    async def interrupt(self, text: str) -> None:
        """Add a message to the run for its next planning.

        Raises:
            InterruptsNotAllowedError: the policy of its agent forbids interrupts, or the run is over.
        """
        await self._interrupt("message", text)

    async def pause(self) -> None:
        """Pause the run before its next planning; raises as `interrupt`."""
        await self._interrupt("pause", "")

    async def resume(self, text: str = "") -> None:
        """Resume a paused run with a message; raises as `interrupt`."""
        await self._interrupt("resume", text)

    async def _interrupt(self, kind: str, text: str) -> None:
        await self._own()
        await self._runs.interrupt(self.run_id, kind, text)

    async def _own(self) -> None:
        """Raise if the run belongs to another agent or session; its ID alone gives no access."""
        await self._runs.require(self.run_id, self._owner)


class AgentClient:
    """Starts runs of one agent. Created by the generated `client`, or by `Agents.client`."""

    __slots__ = ("_runs", "agent")

    def __init__(self, runs: AgentRuns, agent: str) -> None:
        self._runs = runs
        self.agent = agent
        """ID of the agent."""

    async def start(
        self,
        message: str,
        *,
        session_id: str,
        run_id: str = "",
        labels: Mapping[str, str] | None = None,
        requested_by: str = "",
        policy: RunPolicy | None = None,
        allowed_tags: Sequence[str] = (),
        denied_tags: Sequence[str] = (),
        restrict_to_tool: str = "",
        files: Sequence[Upload] = (),
    ) -> RunHandle:
        """Start a turn of a session and return its run.

        Args:
            message: Message of the person.
            session_id: The conversation, created by its first turn. After a hand-over, the new agent answers.
            run_id: A second start with the same ID returns the same run; assigned by the runtime if empty.
            labels: Facts for executors and planners.
            requested_by: The person who requested the run, so that another person can be required to approve.
            policy: Replaces the agent's own policy.
            allowed_tags: Only tools with one of these tags, of this agent or an agent that it can reach.
            denied_tags: No tools with one of these tags, of the whole runtime.
            restrict_to_tool: Wire name of the only tool.
            files: Files of the person, which the runtime stores and attaches to the message for the model.

        Raises:
            BadFileError: a file is too large or not of its media type, or the runtime stores no files.
            SessionError: the session has no ID or is over, or another run of it is not over.
            UnknownRunError: the run ID belongs to a run of another agent or session.
            UnknownRestrictionError: no tool has this name, or one of these tags. Not checked if a reachable
                agent has dynamic toolsets or is executed elsewhere; calls of other tools are then refused.
            RegistrationError: an agent whose tools it calls is not registered, or a hook names no tool.
        """
        started = await self._runs.start(
            self.agent,
            message,
            session_id=_required(session_id),
            run_id=run_id,
            labels=labels,
            requested_by=requested_by,
            policy=policy,
            allowed_tags=allowed_tags,
            denied_tags=denied_tags,
            restrict_to_tool=restrict_to_tool,
            files=files,
        )
        return self.handle(started, session_id=session_id)

    async def run(self, message: str, *, session_id: str, **options: Unpack[RunOptions]) -> RunOutput:
        """Start a turn and return its output when it is over or waits for an answer; otherwise as `start`.

        A failed turn stays in its session: `RunOutput.status` reports the failure and `error` the reason.
        """
        handle = await self.start(message, session_id=session_id, **options)
        return await self._runs.settled(handle.run_id)

    async def stream(
        self, message: str, *, session_id: str, labels: Mapping[str, str] | None = None
    ) -> AsyncIterator[Event]:
        """Start a turn and yield its events, to its `run_stream_end`; otherwise as `start`."""
        handle = await self.start(message, session_id=session_id, labels=labels)
        async for event in handle.events():
            yield event

    async def one_shot(
        self,
        message: str,
        *,
        labels: Mapping[str, str] | None = None,
        policy: RunPolicy | None = None,
        allowed_tags: Sequence[str] = (),
        denied_tags: Sequence[str] = (),
        files: Sequence[Upload] = (),
    ) -> RunOutput:
        """Start a run without a conversation and return its output when it is completed or waits.

        Raises:
            RunFailedError: the run failed, for example because its planner failed, or was canceled.
        """
        started = await self._runs.start(
            self.agent,
            message,
            labels=labels,
            policy=policy,
            allowed_tags=allowed_tags,
            denied_tags=denied_tags,
            files=files,
        )
        output = await self._runs.settled(started)
        if output.status in ("failed", "canceled"):
            raise RunFailedError(output)
        return output

    def handle(self, run_id: str, *, session_id: str = "") -> RunHandle:
        """Return a run of this agent by its ID and its session; a `one_shot` run has no session."""
        return RunHandle(self._runs, run_id, Owner(agent=self.agent, session_id=session_id))


def _required(session_id: str) -> str:
    """Return the session ID, checked.

    Raises:
        SessionError: it is empty.
    """
    if not session_id:
        raise SessionError(
            "a turn needs a session, but the session id is empty",
            hint="pass a session id, or use one_shot(…)",
        )
    return session_id
