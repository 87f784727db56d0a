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
from .erasing import Erased, Retention, drop_tool_data, erase, forgetting
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
    """Return the agents of a runtime, created with defaults when they are first used.

    Raises:
        RegistrationError: the runtime is already joined to something other than agents.
    """
    joined = runtime.assembly.joined
    return joined if isinstance(joined, Agents) else Agents(runtime)


class Agents:
    """Registers agents with a runtime and creates clients for them; one instance for each runtime."""

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
            runtime: Its engine executes the runs; a runtime without an engine gets an in-memory engine.
            sessions: Store of the conversations; by default where the engine has its runs: in a file or in
                memory.
            planner_retry: Retries of a planner that is temporarily unavailable; by default for five minutes.
            keep_sessions: Maximum number of sessions; the most recently used are kept. None for no limit.
            keep_sessions_s: Seconds to keep a session after its last use; None for no limit. A session with a
                running or waiting run is always kept.

        Raises:
            RegistrationError: the runtime already has agents, or its engine has many workers that cannot
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

        It logs the same warning as `Runtime.tools.register`.

        Raises:
            RegistrationError: the registration does not fit, or another agent gave a toolset another
                executor.
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
        """Return the client that starts runs of an agent, given the ID of a registered agent or its constant.

        An agent passed by its constant, for example `AGENT`, does not need to be registered here: the process
        that executes the runs of the engine has its planner and its executors.

        Raises:
            RegistrationError: no agent with this ID is registered.
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
        """Return the tools of an agent's design, with the agent's own wire names.

        Raises:
            RegistrationError: the agent is not registered.
        """
        self._require_agent(agent)
        return self._host.agents[agent].specs

    async def tools(self, agent: str, meta: CallMeta) -> Snapshot:
        """Return the tools of an agent, including its dynamic toolsets, as a planning would get them now.

        Raises:
            RegistrationError: the agent is not registered.
            SnapshotError: a dynamic toolset cannot list its tools.
        """
        self._require_agent(agent)
        return await self._host.agents[agent].snapshot(meta, None)

    def override_policy(self, agent: str, policy: RunPolicy | None) -> None:
        """Set the limits of runs that an agent starts from now on; None restores the design's limits.

        Raises:
            RegistrationError: the agent is not registered.
        """
        self._require_agent(agent)
        registered = self._host.agents[agent]
        registered.policy = policy or registered.spec.policy

    def override_planner(self, agent: str, planner: Planner | str) -> None:
        """Set the planner of an agent for all plannings from now on: a planner object or a planner name.

        Raises:
            RegistrationError: the agent is not registered, or `planner` is neither a planner nor a planner
                name.
        """
        self._require_agent(agent)
        require_planner(agent, planner)
        self._host.agents[agent].planner = planner

    def has_planner(self, agent: str) -> bool:
        """Return whether an agent has a planner or a planner name.

        Raises:
            RegistrationError: the agent is not registered.
        """
        self._require_agent(agent)
        return self._host.agents[agent].planner is not None

    def ready_planners(self) -> None:
        """Create the planners that are only named so far, so that an error in one shows before a run.

        Raises:
            RegistrationError: an agent has no planner, or its planner does not support its native tools.
            ToolgenError: a model cannot be used because a package or a key is missing.
        """
        for agent in self._host.agents.values():
            agent.ready_planner()

    async def list_runs(self, *, state: RunState | None = None, limit: int = 100) -> tuple[RunOutput, ...]:
        """Return runs, the newest first, without the tokens of suspended calls."""
        return await self._runs.list(state=state, limit=limit)

    async def forget(self, before: float) -> int:
        """Drop the sessions that ended before this time, in seconds since 1970; return their number.

        Their messages are deleted, and everything that their runs and tools left in the artifact and state
        stores. Artifacts of runs without a session are deleted if the newest one is older. The engine forgets
        runs itself.
        """
        sessions, keeper = self._host.sessions, self._host.tools.artifacts
        for session in await sessions.list(state="ended", limit=sys.maxsize):
            if session.ended_at is not None and session.ended_at < before:
                # first, so that a process killed here repeats it
                await drop_tool_data(self._host, session.id)
        if keeper is not None:
            await keeper.forget("", before=before)
        return await sessions.forget(before)

    async def erase(self, session_id: str, *, rewrite: bool = True) -> Erased:
        """Delete a session with its messages, runs, state, artifacts and stored events; idempotent.

        Args:
            session_id: ID of the session.
            rewrite: Rewrite the files without the session; False if you erase another session next, which
                rewrites them.

        Raises:
            SessionBusyError: a run of the session is not over.
            ToolgenError: a store or the engine cannot delete.
        """
        return await erase(self._host, session_id, rewrite=rewrite)

    async def release(self, *, session_id: str = "", lost_engine: str = "") -> Released:
        """Release sessions whose turn is held by a run that no longer exists, with a note in each one.

        Args:
            session_id: Only this session, even if its turn is held by a run of another engine, whose runs
                then count as lost.
            lost_engine: ID of an engine that is lost with all its runs.

        Raises:
            UnknownSessionError: there is no such session.
            SessionBusyError: its run is not over.
        """
        return await release(self._host.turns, self._host.sessions, session_id, lost_engine)

    async def check(self) -> CheckedSessions:
        """Return sessions that cannot be read, and sessions that name runs that the engine does not have.

        It reads all sessions. If the runs are on a server, nothing is checked.

        Raises:
            StoreError: the store cannot be used.
        """
        host = self._host
        return await check_sessions(host.turns, host.sessions, host.engine)

    async def labelled(self, name: str, value: str) -> tuple[str, ...]:
        """Return the IDs of the sessions with this label value, newest first."""
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
    """Return the session store in the same place as the engine's runs: in its file, or in memory."""
    from toolgen.engines import InProcessEngine  # not needed if a runtime has both

    if isinstance(engine, InProcessEngine) and engine.file is not None:
        from .sessions.sqlite import SqliteSessionStore  # import SQLite only if runs are in a file

        return SqliteSessionStore(engine.file)
    return MemorySessionStore()


def _waits_in_memory(assembly: Assembly) -> WaitRegistry:
    from toolgen.engines import InProcessEngine  # not needed if the host has its own engine

    return WaitRegistry(InProcessEngine(), WAIT_OPTIONS, None, assembly.services.scheduler)
