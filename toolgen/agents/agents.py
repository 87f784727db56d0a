"""The agents of a runtime: registration, clients, sessions and runs."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from toolgen.contract.json_value import Json
from toolgen.contract.policy import RunPolicy
from toolgen.runtime.call.artifact_refs import keeper_of
from toolgen.runtime.call.frame import Frame
from toolgen.runtime.call.registered_tool import RegisteredTool
from toolgen.runtime.calls import NO_META, CallMeta
from toolgen.runtime.engine import ActivityInfo, Engine, FileEngine, RunState, RunStatus
from toolgen.runtime.errors import RegistrationError, check_format
from toolgen.runtime.events.records import Event
from toolgen.runtime.many_workers import require_shared
from toolgen.runtime.resolution import Resolution
from toolgen.runtime.results import Delegated, ToolResult
from toolgen.runtime.runtime import Runtime
from toolgen.runtime.specs import ToolSpec
from toolgen.runtime.toolsets.lookup import Listing
from toolgen.runtime.toolsets.snapshot import Snapshot
from toolgen.runtime.waiting.call_runs import AgentAnswer
from toolgen.runtime.waiting.frozen import read_call
from toolgen.runtime.waiting.loop import OPEN_TURN, ChildOfCall
from toolgen.runtime.waiting.options import WAIT_OPTIONS
from toolgen.runtime.waiting.wait_registry import WaitRegistry

from .activities.accepting import accept
from .activities.call_activities import CallActivities
from .activities.planning import Planning
from .activities.recording import give_back, keep, record
from .activities.store_waits import waiting_for_stores
from .client import AgentClient
from .conversations import Sessions
from .direct import DirectCalls
from .erasing import Erased, erase
from .host import AgentHost
from .output import RunOutput, status_of, without_tokens
from .owner import has_facts, is_of_agent
from .planner.retrying import PlannerRetry
from .registration import AgentRegistration, AgentSpec
from .resolving import resolve
from .retention import Retention
from .runs import Runs
from .sessions.memory import MemorySessionStore
from .sessions.sessions import SessionStore


def agents_of(runtime: Runtime) -> Agents:
    """Return the agents of a runtime, made with their defaults when they are first asked for.

    Raises:
        RegistrationError: something else stands on the runtime.
    """
    found = runtime.extension
    return found if isinstance(found, Agents) else Agents(runtime)


class Agents:
    """Registers agents with a runtime and makes clients of them; one for each runtime."""

    def __init__(
        self,
        runtime: Runtime,
        *,
        sessions: SessionStore | None = None,
        planner_retry: PlannerRetry | None = None,
        keep_sessions: int | None = None,
        keep_sessions_s: float | None = None,
    ) -> None:
        """Attach agents to a runtime.

        Args:
            runtime: Its engine executes the runs; where it has none, one in memory does.
            sessions: Keeps the conversations; by default they are where the engine has the runs: in its file,
                or in memory.
            planner_retry: How a planner is asked again that cannot plan now; by default for five minutes.
            keep_sessions: How many sessions are kept, those that were used last; None for all.
            keep_sessions_s: How long after their last use, in seconds; None for ever. Where a run goes on or
                waits, the session is kept in any case.

        Raises:
            RegistrationError: the runtime has agents already, or its engine has many workers that cannot
                share the sessions.
        """
        sessions = sessions or _sessions_beside(runtime.engine)
        if runtime.engine is not None:
            require_shared(runtime.engine, {"Agents(sessions=…)": sessions})
        inside = runtime.extend(self)
        self._runtime = runtime
        self._registry = inside.registry
        waits = inside.services.waits
        if waits is None:
            waits = WaitRegistry(_engine_in_memory(), WAIT_OPTIONS, None, inside.services.scheduler)
            inside.serve_calls(waits)
        self._host = host = AgentHost(
            runtime,
            inside.services,
            inside.registry.directory,
            inside.registry.options,
            waits=waits,
            sessions=sessions,
            hub=inside.events,
            listed=inside.tool_of,
            deliver=self._answer,
            planner_retry=planner_retry or PlannerRetry(),
        )
        planning, calling = Planning(host), CallActivities(host)
        host.serve(
            {
                "plan": planning.plan,
                "tool": calling.tool,
                "answer": calling.answer,
                "conclude": calling.conclude,
                "accept": accept(host),
                "record": waiting_for_stores(host, record(host)),
                "keep": keep(host),
                "give_back": waiting_for_stores(host, give_back(host)),
                OPEN_TURN: waiting_for_stores(host, self._open_turn),
            }
        )
        self._runs = Runs(host)
        self._direct = DirectCalls(host)
        self._retention = Retention(host, keep_sessions, keep_sessions_s)
        self._sessions = Sessions(host.sessions, self._runs, host.transcripts)

    @property
    def sessions(self) -> Sessions:
        """The sessions of the agents."""
        return self._sessions

    @property
    def runs(self) -> Runs:
        return self._runs

    def register(self, registration: AgentRegistration) -> None:
        """Register an agent and those of its toolsets that are not registered; all of it or nothing.

        Raises:
            FormatError: it was generated in another format.
            RegistrationError: it does not fit, or another agent gave a toolset another executor.
        """
        check_format(registration.spec.id, registration.format)
        self._host.refuse_second(registration.spec.id)
        new = self._registry.prepare_new(registration.toolsets, registration.spec.id)
        directory = self._registry.directory_with(new)
        agent = self._host.build_agent(registration, directory, self._registry.managers)
        check = getattr(agent.planner, "check_native", None)  # see `NativeCheck`
        if check is not None and agent.static.native:
            check(agent.static.native, agent.specs)
        self._registry.add_prepared(new)
        self._host.agents[agent.spec.id] = agent

    def client(self, agent: str | AgentSpec) -> AgentClient:
        """Return the client that starts runs of an agent, by the id of a registered one or by its constant.

        By its constant, such as `AGENT`, an agent need not be registered here: the process that executes the
        runs of the engine has its planner and its executors.

        Raises:
            RegistrationError: no agent of the id is registered.
        """
        if isinstance(agent, AgentSpec):
            self._host.elsewhere[agent.id] = agent
            return AgentClient(self._runs, agent.id)
        self._known(agent)
        return AgentClient(self._runs, agent)

    def list(self) -> tuple[str, ...]:
        """Return the ids of the agents, in the order of registration."""
        return tuple(self._host.agents)

    def specs(self, agent: str) -> tuple[ToolSpec[Any, Any], ...]:
        """Return the tools of an agent's design, by its own wire names.

        Raises:
            RegistrationError: it is not registered.
        """
        self._known(agent)
        return self._host.agents[agent].specs

    async def tools(self, agent: str, meta: CallMeta) -> Snapshot:
        """Return the tools of an agent, those of its dynamic toolsets too, as a planning would get them now.

        Raises:
            RegistrationError: it is not registered.
            SnapshotError: a dynamic toolset cannot list its tools.
        """
        self._known(agent)
        return await self._host.agents[agent].snapshot(self._runtime, meta, None)

    @property
    def listings(self) -> tuple[Listing, ...]:
        """What lists the tools of each agent with dynamic toolsets, as `tools` without facts of a call."""
        agents = [agent for agent, found in self._host.agents.items() if found.toolsets.is_dynamic]
        return tuple(partial(self.tools, agent, NO_META) for agent in agents)

    @property
    def stores(self) -> tuple[object, ...]:
        """The stores that agents have beside those of the runtime: that of the sessions."""
        return (self._host.sessions,)

    def override_policy(self, agent: str, policy: RunPolicy | None) -> None:
        """Set the limits of runs that an agent starts from now on; None restores those of its design.

        Raises:
            RegistrationError: it is not registered.
        """
        self._known(agent)
        found = self._host.agents[agent]
        found.policy = policy or found.spec.policy

    async def events(self, run_id: str, *, after: int = 0) -> tuple[Event, ...]:
        """Return the events of a run that are logged now, those after this `seq`.

        Raises:
            UnknownRunError: no run has the id.
        """
        return tuple([event async for event in self._runs.events(run_id, after=after, follow=False)])

    async def list_runs(self, *, state: RunState | None = None, limit: int = 100) -> tuple[RunOutput, ...]:
        """Return runs, the newest first, without the tokens of suspended calls."""
        return await self._runs.list(state=state, limit=limit)

    async def forget(self, before: float) -> int:
        """Drop the sessions that ended before this second since 1970; return how many.

        What was said in them goes, and what their runs and tools left in the store of artifacts. The same of
        a run of no session goes where its newest is older. Runs are forgotten by their engine.
        """
        sessions, keeper = self._host.sessions, keeper_of(self._host.tools)
        if keeper is not None:  # first, so that a process that is killed here does it again
            for session in await sessions.list(state="ended", limit=sys.maxsize):
                if session.ended_at is not None and session.ended_at < before:
                    await keeper.forget(session.id)
            await keeper.forget("", before=before)
        return await sessions.forget(before)

    async def erase(self, session_id: str) -> Erased:
        """Delete a session with its messages, runs, state, artifacts and stored events; idempotent.

        Raises:
            SessionBusyError: a run of it is not over.
            ToolgenError: a store or the engine cannot delete.
        """
        return await erase(self._host, session_id)

    async def labelled(self, name: str, value: str) -> tuple[str, ...]:
        """Return the ids of the sessions with a label, the newest first."""
        found = await self._host.sessions.list(limit=sys.maxsize)
        return tuple(session.id for session in found if session.labels.get(name) == value)

    async def snapshot(self, run_id: str) -> RunOutput:
        """Return the output of a run without tokens, which only the handle of its client returns.

        Raises:
            UnknownRunError: no run has the id.
        """
        return without_tokens(await self._runs.output(run_id))

    async def child_of(
        self, tool: RegisteredTool, delegated: Delegated, meta: CallMeta, run_id: str
    ) -> ChildOfCall:
        """Return the run that is to answer a call of an agent's tool that no agent made.

        Raises:
            RegistrationError: the agent, or one whose tools it calls, is not registered.
            ToolError: the agents are nested too deep.
        """
        self._runs.check(delegated.agent)
        return await self._direct.child_of(tool, delegated, meta, run_id)

    async def conclude(self, frame: Frame, answer: AgentAnswer) -> ToolResult:
        """Return the result of a call by what its run said, after its hooks."""
        return await self._direct.conclude(frame, answer)

    async def find_tool(self, tool: str, meta: CallMeta, run_id: str) -> RegisteredTool | None:
        """Return the tool of a call of an agent's run, or of its work, as the agent has it now."""
        status = await self._host.engine.status(run_id)
        return await self._host.tool_now(tool, meta, status) if has_facts(status) else None

    async def cancel_run(self, run_id: str, reason: str) -> None:
        """Cancel a run; the conversation of an agent's run records that its waiting calls were canceled."""
        if is_of_agent(await self._host.engine.status(run_id)):
            await self._runs.cancel(run_id, reason)
        else:
            await self._host.engine.cancel(run_id, reason=reason)

    async def resolve(self, run_id: str, tool_call_id: str, resolution: Resolution, *, by: str) -> ToolResult:
        """Return the outcome that a person found out of a call, after its conversation has stored it."""
        return await resolve(self._host, run_id, tool_call_id, resolution, by)

    def status_of(self, status: RunStatus) -> RunStatus:
        """Return the status of a run for its clients; as `Runtime.status_of`."""
        return status_of(status) if is_of_agent(status) else status

    async def open(self) -> None:
        """Open the dynamic toolsets of the agents, and begin to execute runs."""
        for agent in self._host.agents.values():
            await agent.toolsets.open()
        await self._host.turns.open()
        await self._host.begin()
        self._retention.open()

    async def close(self) -> None:
        """End the execution of runs, and close the dynamic toolsets."""
        await self._retention.close()
        await self._host.events.settle()  # by the engine
        await self._host.engine.close()
        await self._host.events.settle()
        await self._host.turns.close()
        for agent in reversed(self._host.agents.values()):
            await agent.toolsets.close()

    async def _answer(self, token: str, answer: Json, session_id: str, by: str) -> None:
        await self._runtime.deliver(token, answer, session_id=session_id, by=by)

    async def _open_turn(self, info: ActivityInfo, argument: Any) -> str:
        """Start the turn that receives the result of pending work; return `busy` while another turn runs."""
        frozen = read_call(info.run_id, argument["frozen"])
        outcome = argument["outcome"]
        facts, turns = argument["facts"], self._host.turns
        if not await turns.is_next(facts["session_id"], info.run_id):
            started = "busy"
        else:
            started = await self._runs.open_turn(facts, frozen, outcome["status"], outcome["json"])
        if started == "busy":
            turns.enqueue(facts["session_id"], info.run_id)
        else:
            turns.leave(facts["session_id"], info.run_id)
        return started

    def _known(self, agent: str) -> None:
        if agent not in self._host.agents:
            known = ", ".join(self._host.agents) or "none"
            raise RegistrationError(
                f"agent {agent!r} is not registered", hint=f"registered are {known}; call its `register`"
            )


def _sessions_beside(engine: object) -> SessionStore:
    """Return the store of conversations that is where the engine has the runs: in its file, or in memory."""
    if isinstance(engine, FileEngine) and engine.file is not None:
        from .sessions.sqlite import SqliteSessionStore  # SQLite is for those who keep runs in a file

        return SqliteSessionStore(engine.file)
    return MemorySessionStore()


def _engine_in_memory() -> Engine:
    from toolgen.engines import InProcessEngine  # a host with an engine of its own never needs it

    return InProcessEngine()
