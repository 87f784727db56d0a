"""The agents of one runtime, and the services that their runs need: tools, sessions, an engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Final

from toolgen.calls.call import CALL, CallMeta
from toolgen.calls.capability import state_reader
from toolgen.calls.context import Values
from toolgen.calls.results import Delegated
from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.hooks import Hook
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.calls.toolsets.directory import Directory
from toolgen.calls.toolsets.snapshot import Snapshot
from toolgen.contract.json_value import Json
from toolgen.contract.policy import RunPolicy
from toolgen.contract.record import frozen_record
from toolgen.engines import Activity, NotRegisteredError, OnForget, OpenWait, RunStatus
from toolgen.events.telemetry.metrics import Metrics
from toolgen.events.telemetry.spans import ToolSpans
from toolgen.runtime.assembly import Assembly
from toolgen.stores.outages import StoreRetry, until_back
from toolgen.waiting.resuming import listed_now
from toolgen.waiting.subjects import is_call
from toolgen.waiting.wait_registry import WaitRegistry

from .activities.conversation import Conversations
from .event_forwarding import LAST, EventForwarder
from .instructions import instructions_for
from .loop.documents import LOOP, ChildRun, RunFacts, RunInput, StepCall
from .loop.events import last_events
from .loop.loop import agent_loop
from .planner.chats import NO_CHATS, Chats
from .planner.retrying import PlannerRetry
from .recent_runs import MOST_RUNS, RecentRuns
from .registered_agents import AgentSpec, RegisteredAgent
from .run_ends import RunEnds
from .run_facts import called_facts, handed_over_facts, meta_of
from .run_telemetry import RunMetrics, RunSpans
from .sessions.memory import MemorySessionStore
from .sessions.sessions import SessionStore
from .transcripts import Transcripts
from .turns import Turns

MOST_DEPTH: Final = 8
"""Maximum nesting depth of agents that call each other."""


class AgentHost:
    """The services that the activities of runs use; one for each runtime."""

    most_depth = MOST_DEPTH

    def __init__(
        self,
        assembly: Assembly,
        waits: WaitRegistry,
        sessions: SessionStore,
        planner_retry: PlannerRetry,
    ) -> None:
        self.planner_retry = planner_retry
        self.store_retry = StoreRetry(pause=planner_retry.pause, total_s=planner_retry.total_s)
        """Retries of run steps while a store is unavailable."""
        self.waits = waits
        self.engine = engine = waits.engine
        self.sessions = sessions
        is_shared = engine.caps.has_many_workers
        most = MOST_RUNS if is_shared else None  # a single worker receives the end of each run
        self.transcripts = Transcripts(sessions, engine)
        self.conversations = Conversations(sessions, self.transcripts, is_shared=is_shared)
        self.turns = Turns(engine, sessions)
        self.events = EventForwarder(engine, assembly.events, self.turns.release, most)
        self.tools = tools = assembly.services
        self.hooks: Sequence[Hook] = assembly.options.hooks
        self.run_ends = RunEnds(engine, self.hooks, tools.stage_timeout)
        self.hook_tools = assembly.options.hook_tools
        self.clock: Callable[[], float] = time.time
        self.agents: dict[str, RegisteredAgent] = {}
        self.elsewhere: dict[str, AgentSpec] = {}
        """Agents that other processes execute."""
        self.caller = assembly.caller
        self.listed = assembly.tools.tool_of_answered
        """Finds the current tool of a suspended call when its answer arrives."""
        self._directory = assembly.directory
        self.options = assembly.options
        self.is_shared = is_shared
        """Whether many workers execute the runs."""
        self.served: RecentRuns[RegisteredTool] = RecentRuns(most)
        """Tools by the run that answers a call made outside a run."""
        self._snapshots: RecentRuns[_Listed] = RecentRuns(most)
        self._about_to_wait: RecentRuns[set[str]] = RecentRuns(most)
        """Waits that were admitted and might not have begun yet."""
        self._values: RecentRuns[Values] = RecentRuns(most)
        self._spans = (
            RunSpans(tools.spans, is_shared=is_shared) if isinstance(tools.spans, ToolSpans) else None
        )
        self._metrics = RunMetrics(tools.metrics) if isinstance(tools.metrics, Metrics) else None

    def serve(self, activities: Mapping[str, Activity], on_forget: OnForget) -> None:
        """Register the agent loop, its activities and the listener for forgotten runs with the engine."""
        if self._spans is not None:
            activities = {name: self._spans.wrap_activity(name, work) for name, work in activities.items()}
        self.waits.register({LOOP: agent_loop}, activities, self._on_event, last_events, on_forget)

    @property
    def sees_sessions(self) -> bool:
        """Whether this process can access the sessions of the process that executes the runs."""
        return self.engine.is_worker or not isinstance(self.sessions, MemorySessionStore)

    @property
    def directory(self) -> Directory:
        """All registered tools of the runtime."""
        return self._directory

    def may_ask(self, run_id: str) -> bool:
        """Return whether a run can ask a person.

        Below a direct call, the person is its caller, who answers with a token. Only a runtime with an engine
        accepts tokens.
        """
        is_direct = run_id.startswith(CALL) and "/" in run_id
        return self.tools.is_interactive and not (is_direct and self.tools.suspender is None)

    def agent(self, id_: str) -> RegisteredAgent:
        """Return a registered agent.

        Raises:
            NotRegisteredError: it is not registered, so this process cannot continue its runs.
        """
        agent = self.agents.get(id_)
        if agent is None:
            raise NotRegisteredError(f"agent {id_!r} is not registered in this runtime")
        return agent

    def meta(self, run_id: str, facts: RunFacts, tool_call_id: str = "") -> CallMeta:
        """Return the facts of a call of a run."""
        self.events.facts.put(run_id, facts)
        return meta_of(run_id, facts, tool_call_id)

    def chats(self, facts: RunFacts) -> Chats:
        """Return the factory for the spans of a run's model requests."""
        spans = self.tools.spans
        if not isinstance(spans, ToolSpans):
            return NO_CHATS
        return Chats(spans, facts["agent"], facts["session_id"])

    # Tools.

    async def snapshot(self, agent: RegisteredAgent, meta: CallMeta, step: int | None) -> Snapshot:
        """Return the snapshot of one planning; calls until the next planning are dispatched against it."""
        listed = self._snapshots.get(meta.run_id)
        snapshot = await agent.snapshot(meta, None if listed is None else listed.snapshot)
        self._snapshots.put(meta.run_id, _Listed(snapshot, step))
        return snapshot

    async def advertised(self, run_id: str, facts: RunFacts, step: int | None = None) -> Snapshot:
        """Return the snapshot of a planning; the current tools if another process planned.

        `step` is the number of the planning; None for the newest planning of the run.
        """
        listed = self._snapshots.get(run_id)
        if listed is not None and (not self.is_shared or listed.step == step is not None):
            return listed.snapshot
        return await self.snapshot(self.agent(facts["agent"]), self.meta(run_id, facts), step)

    async def instructions(self, agent: RegisteredAgent, run_id: str, facts: RunFacts) -> str:
        """Return the instructions of an agent for a planning; raises as `instructions_for`."""
        text, function = agent.spec.instructions, agent.instructions
        if not text and function is None:
            return ""
        read_state = state_reader(self.options.capabilities)
        return await instructions_for(agent.spec.id, text, function, read_state, self.meta(run_id, facts))

    def within_time(self, tool: RegisteredTool, timeout: float | None) -> RegisteredTool:
        """Return the tool with the time limit of the run's policy, if its design sets none."""
        if timeout is None or tool.spec.timeout is not None:
            return tool
        return tool.with_spec(replace(tool.spec, timeout=timeout), self.options)

    def values_of(self, run_id: str) -> Values:
        """Return the values that the hooks and tools of a run share."""
        values = self._values.get(run_id)
        if values is None:
            self._values.put(run_id, values := Values())
        return values

    def seen_tool(self, tool: str, run_id: str) -> RegisteredTool | None:
        """Return a tool by ID as the run last saw it; None if it did not."""
        listed = self._snapshots.get(run_id)
        return None if listed is None else listed.snapshot.directory.by_id.get(tool)

    async def tool_now(self, tool: str, meta: CallMeta, status: RunStatus) -> RegisteredTool | None:
        """Return the tool of a call of a run as its agent has it now; None if the agent has no such tool."""
        document: Any = status.input
        agent = self.agents.get(document["facts"]["agent"])
        if agent is None:
            return None
        registered = agent.static.directory.by_id.get(tool)
        if registered is None and agent.toolsets.is_dynamic:
            registered = await listed_now(tool, agent.snapshot(meta, None))
        return registered

    def find_tool(self, tool: str, run_id: str = "") -> RegisteredTool | None:
        """Return a tool by ID: as the run last saw it, otherwise as it is registered."""
        return self.seen_tool(tool, run_id) or self._directory.by_id.get(tool)

    def returned_by(self, facts: RunFacts) -> ToolSpec | None:
        """Return the tool whose result the run must return; None if the run ends with text."""
        parent = facts["parent"]
        if parent is None or not parent["tool"]:
            return None
        tool = self.served.get(parent.get("child", "")) or self.find_tool(parent["tool"], parent["run_id"])
        return None if tool is None else tool.spec

    async def may_wait(self, run_id: str, op: str) -> bool:
        """Return whether one more call of the run can be suspended, under this key.

        An activity decides this: the number of concurrent waits depends on time, so replaying the loop could
        give another answer.
        """
        if self.tools.suspender is None:
            return False
        about = self._about_to_wait.get(run_id)
        if about is None:
            self._about_to_wait.put(run_id, about := set())
        waiting, awaiting = await until_back(partial(self._waits_of, run_id, about), f"run {run_id}: {op}")
        about.difference_update(waiting)
        calls = {wait.op for wait in awaiting if is_call(wait.about)}
        if len(calls | about) >= self.waits.options.max_per_run:
            return False
        about.add(op)
        return True

    async def _waits_of(self, run_id: str, about: Iterable[str]) -> tuple[Sequence[str], Sequence[OpenWait]]:
        """Return which of these operations of a run wait by now, and all open waits of the run."""
        waiting = [op for op in tuple(about) if await self.engine.wait_status(run_id, op) is not None]
        return waiting, (await self.engine.status(run_id)).awaiting

    # Child runs and hand-overs.

    def transfers(self, agent: RegisteredAgent, facts: RunFacts) -> Mapping[str, str]:
        """Return the agents that can take the conversation over, by ID, with their descriptions."""
        parent = facts["parent"]
        if (parent and parent["tool"]) or facts["depth"] + 1 >= self.most_depth:
            return {}  # the caller of a tool waits for this agent
        others = (self.agents.get(id_) for id_ in agent.spec.transfers)
        return {other.spec.id: other.spec.description for other in others if other is not None}

    def child(self, delegated: Delegated, call: StepCall, run_id: str, facts: RunFacts) -> ChildRun:
        """Return the run that answers a run's call of an agent's tool."""
        tool = self.find_tool(call["tool"], run_id)
        timeout = None if tool is None else tool.spec.timeout
        meta = meta_of(run_id, facts, call["id"])
        child_id = f"{run_id}/child:{call['id']}"
        child = self.called_run(delegated, call["tool"], timeout, meta, facts, child_id)
        parent = child["facts"]["parent"]
        if call.get("is_designed") and parent is not None:
            parent["is_designed"] = True
        return {"agent": delegated.agent, "input": child}

    def called_run(
        self,
        delegated: Delegated,
        tool: str,
        timeout: float | None,
        meta: CallMeta,
        above: RunFacts | None,
        run_id: str,
    ) -> RunInput:
        """Return the input of the run with this ID that answers the call of an agent's tool, for any caller.

        `timeout` is the tool's time limit in seconds from its design; `above` as in `called_facts`.
        """
        policy = self.policy_of(delegated.agent, timeout=timeout)
        facts = called_facts(delegated.agent, policy, meta, tool, above)
        if self._spans is not None and delegated.span is not None:
            self._spans.call(run_id, facts, delegated.span)
        return {"facts": facts, "message": delegated.message, "source": "agent"}

    def hand_over_run(self, agent: str, message: str, run_id: str, facts: RunFacts) -> ChildRun:
        """Return the input of the run that takes the conversation over."""
        taken = handed_over_facts(agent, self.policy_of(agent), run_id, facts)
        if self._spans is not None:
            self._spans.hand_over(run_id, facts, taken)
        run_input: RunInput = {
            "facts": taken,
            "message": message or "The conversation was handed over to you; continue it.",
            "source": "agent" if message else "runtime",
        }
        return {"agent": agent, "input": run_input}

    def policy_of(
        self, agent: str, policy: RunPolicy | None = None, *, timeout: float | None = None
    ) -> dict[str, Json]:
        """Return the limits of a run: the passed policy, otherwise the runtime's, otherwise the design's.

        `timeout` is the time limit in seconds that the design sets for the tool that the run answers.
        """
        registered = self.agents.get(agent) or self.elsewhere.get(agent)
        chosen = policy or (registered.policy if registered is not None else RunPolicy())
        budget = chosen.time_budget
        if timeout is not None and (budget is None or timeout < budget):
            chosen = replace(chosen, time_budget=timeout)
        return asdict(chosen)

    async def start(self, run_input: RunInput, run_id: str) -> None:
        """Start a run that has no parent run."""
        await self.waits.start(run_id)
        if self.engine.is_worker:  # a client receives no events, so it could never drop the facts
            self.events.facts.put(run_id, run_input["facts"])
        session = run_input["facts"]["session_id"]
        is_here = self.engine.is_worker and not self.is_shared
        span = (
            nullcontext() if self._spans is None else self._spans.start(run_id, run_input["facts"], is_here)
        )
        try:
            with span:
                await self.engine.start_run(LOOP, run_input, run_id=run_id, session=session)  # type: ignore[arg-type]  # it is JSON
        except BaseException:
            self.events.facts.pop(run_id)
            raise

    def _on_event(self, run_id: str, loop: str, offset: int, event: Mapping[str, Json]) -> None:
        """Forward an event of a run to the runtime's subscribers; drop the run's data at its end."""
        if self._spans is not None:
            self._spans.on_event(run_id, event)
        if self._metrics is not None:
            facts, tool = self.events.facts.get(run_id), str(event.get("tool", ""))
            agent = "" if facts is None else facts["agent"]
            self._metrics.on_event(run_id, event, agent, self.find_tool(tool, run_id) is not None)
        self.events.forward(run_id, offset, event)
        if event.get("type") == LAST:
            self.served.pop(run_id)
            self._snapshots.pop(run_id)
            self._about_to_wait.pop(run_id)
            self._values.pop(run_id)
            self.conversations.forget(run_id)
            self.run_ends.notify(run_id)


@frozen_record(kw_only=False)
class _Listed:
    """The snapshot of a planning, with the number of the planning."""

    snapshot: Snapshot
    step: int | None
    """Number of the planning; None if the tools were listed for another purpose."""
