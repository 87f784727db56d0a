"""The agents of a runtime: registration, clients, sessions and runs."""

from __future__ import annotations

import sys

from toolgen.calls.call import CallMeta
from toolgen.calls.errors import RegistrationError
from toolgen.calls.specs import ToolSpec
from toolgen.calls.toolsets.snapshot import Snapshot
from toolgen.contract.policy import RunPolicy
from toolgen.engines import RunState
from toolgen.runtime.assembly import Assembly
from toolgen.runtime.many_workers import require_shared
from toolgen.runtime.runtime import Runtime
from toolgen.waiting.later_turns import OPEN_TURN
from toolgen.waiting.options import WAIT_OPTIONS
from toolgen.waiting.wait_registry import WaitRegistry

from .activities.call_activities import CallActivities
from .activities.planning import Planning
from .activities.recording import Recording
from .activities.store_waits import waiting_for_stores
from .checking import CheckedSessions, Released, check_sessions, release
from .client import AgentClient
from .conversations import Sessions
from .erasing import Erased, Retention, drop_left, erase, forgetting
from .host import AgentHost
from .joined import AgentLoops
from .output import RunOutput, without_tokens
from .pending_work import PendingWork
from .planner.planner import Planner
from .planner.retrying import PlannerRetry
from .registered_agents import AgentRegistration, AgentSpec, register_agent, require_planner
from .runs import AgentRuns
from .sessions.memory import MemorySessionStore
from .sessions.sessions import SessionStore


def agents_of(runtime: Runtime) -> Agents:
    """Return the agents of a runtime, made with their defaults when they are first asked for.

    Raises:
        RegistrationError: something else stands on the runtime.
    """
    joined = runtime.assembly.joined
    return joined if isinstance(joined, Agents) else Agents(runtime)


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
        sessions = sessions or _sessions_of(runtime.engine)
        if runtime.engine is not None:
            require_shared(runtime.engine, {"Agents(sessions=…)": sessions})
        self._assembly = assembly = runtime.assembly
        waits = assembly.waits or _waits_in_memory(assembly)
        self._host = host = AgentHost(assembly, waits, sessions, planner_retry or PlannerRetry())
        self._runs = AgentRuns(host)
        retention = Retention(host, keep_sessions, keep_sessions_s)
        assembly.join(self, AgentLoops(host, self._runs, retention), waits)
        planning, calling, recording = Planning(host), CallActivities(host), Recording(host)
        host.serve(
            {
                "plan": planning.plan,
                "tool": calling.tool,
                "answer": calling.answer,
                "conclude": calling.conclude,
                "accept": recording.accept,
                "record": waiting_for_stores(host, recording.record),
                "store": recording.store,
                "remember": waiting_for_stores(host, planning.memory.remember),
                "restore_agent": waiting_for_stores(host, recording.restore_agent),
                OPEN_TURN: waiting_for_stores(host, PendingWork(host, self._runs).open_turn),
            },
            forgetting(host),
        )
        self._sessions = Sessions(host.sessions, self._runs, host.transcripts)

    @property
    def sessions(self) -> Sessions:
        """The sessions of the agents."""
        return self._sessions

    def register(self, registration: AgentRegistration) -> None:
        """Register an agent and those of its toolsets that are not registered; all of it or nothing.

        A warning goes to the log as `Runtime.tools.register` says.

        Raises:
            RegistrationError: it does not fit, or another agent gave a toolset another executor.
        """
        assembly, id_ = self._assembly, registration.spec.id
        if id_ in self._host.agents:
            raise RegistrationError(
                f"agent {id_!r} is registered already", hint="remove one of the calls to its `register`"
            )
        new = assembly.registry.prepare_new(registration.toolsets, id_)
        directory = assembly.registry.directory_with(new)
        agent = register_agent(
            registration, directory, assembly.options, assembly.caller, assembly.registry.managers
        )
        if agent.planner is not None and not isinstance(agent.planner, str):
            agent.check_native(agent.planner)
        assembly.registry.add_prepared(new)
        assembly.warn_of_unasked(agent.specs)
        self._host.agents[id_] = agent

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
        self._require_agent(agent)
        return AgentClient(self._runs, agent)

    def list(self) -> tuple[str, ...]:
        """Return the ids of the agents, in the order of registration."""
        return tuple(self._host.agents)

    def specs(self, agent: str) -> tuple[ToolSpec, ...]:
        """Return the tools of an agent's design, by its own wire names.

        Raises:
            RegistrationError: it is not registered.
        """
        self._require_agent(agent)
        return self._host.agents[agent].specs

    async def tools(self, agent: str, meta: CallMeta) -> Snapshot:
        """Return the tools of an agent, those of its dynamic toolsets too, as a planning would get them now.

        Raises:
            RegistrationError: it is not registered.
            SnapshotError: a dynamic toolset cannot list its tools.
        """
        self._require_agent(agent)
        return await self._host.agents[agent].snapshot(meta, None)

    def override_policy(self, agent: str, policy: RunPolicy | None) -> None:
        """Set the limits of runs that an agent starts from now on; None restores those of its design.

        Raises:
            RegistrationError: it is not registered.
        """
        self._require_agent(agent)
        registered = self._host.agents[agent]
        registered.policy = policy or registered.spec.policy

    def override_planner(self, agent: str, planner: Planner | str) -> None:
        """Set what plans for an agent from now on: a planner, or the name of one.

        Raises:
            RegistrationError: the agent is not registered, or it is no planner and names none.
        """
        self._require_agent(agent)
        require_planner(agent, planner)
        self._host.agents[agent].planner = planner

    def has_planner(self, agent: str) -> bool:
        """Return whether an agent has a planner, or the name of one.

        Raises:
            RegistrationError: the agent is not registered.
        """
        self._require_agent(agent)
        return self._host.agents[agent].planner is not None

    def ready_planners(self) -> None:
        """Make the planners that have only a name yet, so that what is wrong with one shows before a run.

        Raises:
            RegistrationError: an agent has no planner, or one that cannot have its native tools.
            ToolgenError: a model cannot be asked: a package or a key is missing.
        """
        for agent in self._host.agents.values():
            agent.ready_planner()

    async def list_runs(self, *, state: RunState | None = None, limit: int = 100) -> tuple[RunOutput, ...]:
        """Return runs, the newest first, without the tokens of suspended calls."""
        return await self._runs.list(state=state, limit=limit)

    async def forget(self, before: float) -> int:
        """Drop the sessions that ended before this second since 1970; return how many.

        What was said in them goes, and what their runs and tools left in the stores of artifacts and state.
        The same of a run of no session goes where its newest is older. Runs are forgotten by their engine.
        """
        sessions, keeper = self._host.sessions, self._host.tools.artifacts
        for session in await sessions.list(state="ended", limit=sys.maxsize):
            if session.ended_at is not None and session.ended_at < before:
                await drop_left(self._host, session.id)  # first: a process that is killed here does it again
        if keeper is not None:
            await keeper.forget("", before=before)
        return await sessions.forget(before)

    async def erase(self, session_id: str, *, rewrite: bool = True) -> Erased:
        """Delete a session with its messages, runs, state, artifacts and stored events; idempotent.

        Args:
            session_id: Of the session.
            rewrite: Rewrite the files without it; False where another session is erased next, which does.

        Raises:
            SessionBusyError: a run of it is not over.
            ToolgenError: a store or the engine cannot delete.
        """
        return await erase(self._host, session_id, rewrite=rewrite)

    async def release(self, *, session_id: str = "", lost_engine: str = "") -> Released:
        """Release the sessions whose turn is that of a run which is gone, and say so in each conversation.

        Args:
            session_id: This session alone, also where its turn is that of another engine that keeps its runs,
                which is lost then.
            lost_engine: The id of an engine that is lost with all its runs.

        Raises:
            UnknownSessionError: there is no such session.
            SessionBusyError: its run is not over.
        """
        return await release(self._host.turns, self._host.sessions, session_id, lost_engine)

    async def check(self) -> CheckedSessions:
        """Return what of the sessions cannot be read, and where they name runs that the engine has not.

        It reads all of them. Where the runs are on a server, nothing is checked.

        Raises:
            StoreError: the store cannot be used.
        """
        host = self._host
        return await check_sessions(host.turns, host.sessions, host.engine)

    async def labelled(self, name: str, value: str) -> tuple[str, ...]:
        """Return the ids of the sessions with a label, the newest first."""
        sessions = await self._host.sessions.list(limit=sys.maxsize)
        return tuple(session.id for session in sessions if session.labels.get(name) == value)

    async def snapshot(self, run_id: str) -> RunOutput:
        """Return the output of a run without tokens, which only the handle of its client returns.

        Raises:
            UnknownRunError: no run has the id.
        """
        return without_tokens(await self._runs.output(run_id))

    def _require_agent(self, agent: str) -> None:
        if agent not in self._host.agents:
            registered = ", ".join(self._host.agents) or "none"
            raise RegistrationError(
                f"agent {agent!r} is not registered",
                hint=f"registered agents: {registered}; call the `register` of the agent",
            )


def _sessions_of(engine: object) -> SessionStore:
    """Return the store of conversations that is where the engine has the runs: in its file, or in memory."""
    from toolgen.engines import InProcessEngine  # a runtime that is given both needs none

    if isinstance(engine, InProcessEngine) and engine.file is not None:
        from .sessions.sqlite import SqliteSessionStore  # SQLite is for those who keep runs in a file

        return SqliteSessionStore(engine.file)
    return MemorySessionStore()


def _waits_in_memory(assembly: Assembly) -> WaitRegistry:
    from toolgen.engines import InProcessEngine  # a host with an engine of its own never needs it

    return WaitRegistry(InProcessEngine(), WAIT_OPTIONS, None, assembly.services.scheduler)
