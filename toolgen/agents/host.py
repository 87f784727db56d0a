"""The agents of one runtime, and the services that their runs need: tools, sessions, an engine."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from toolgen.contract.json_value import Json
from toolgen.contract.policy import RunPolicy
from toolgen.runtime.call.frame import RuntimeServices
from toolgen.runtime.call.hooks import Hook
from toolgen.runtime.call.registered_tool import RegisteredTool, RuntimeOptions
from toolgen.runtime.calls import CallMeta
from toolgen.runtime.engine import Activity, NotRegisteredError, RunStatus
from toolgen.runtime.errors import RegistrationError
from toolgen.runtime.events.hub import Events
from toolgen.runtime.results import Delegated
from toolgen.runtime.specs import ToolSpec
from toolgen.runtime.stores.outages import StoreRetry
from toolgen.runtime.toolsets.directory import Directory
from toolgen.runtime.toolsets.resources import ResourceStack
from toolgen.runtime.toolsets.snapshot import CallService, Snapshot
from toolgen.runtime.values import Values
from toolgen.runtime.waiting.call_names import CALL
from toolgen.runtime.waiting.frozen import Sealer
from toolgen.runtime.waiting.resuming import FindAnswered, listed_now
from toolgen.runtime.waiting.wait_registry import WaitRegistry, is_call

from .activities.conversation import Conversations
from .event_forwarding import LAST, EventForwarder
from .loop.documents import LOOP, ChildRun, RunFacts, RunInput, StepCall
from .loop.events import last_events
from .loop.loop import agent_loop
from .planner.chats import NO_CHATS, Chats
from .planner.retrying import PlannerRetry
from .recent_runs import MOST_RUNS, RecentRuns
from .registered_agents import RegisteredAgent, register_agent
from .registration import AgentRegistration, AgentSpec
from .run_facts import called_facts, handed_over_facts, meta_of
from .run_metrics import RunMetrics
from .run_spans import RunSpans
from .sessions.sessions import SessionStore
from .transcripts import Transcripts
from .turns import Turns

MOST_DEPTH: Final = 8
"""Agents that may stand above one another, each called by the one above."""


class AgentHost:
    """The services that the activities of runs use; one for each runtime."""

    most_depth = MOST_DEPTH

    def __init__(
        self,
        caller: CallService,
        tools: RuntimeServices,
        directory: Directory,
        options: RuntimeOptions,
        *,
        waits: WaitRegistry,
        sessions: SessionStore,
        hub: Events | None = None,
        listed: FindAnswered,
        deliver: Callable[[str, Json, str, str], Awaitable[None]],
        planner_retry: PlannerRetry,
    ) -> None:
        self.planner_retry = planner_retry
        self.store_retry = StoreRetry(pause=planner_retry.pause, total_s=planner_retry.total_s)
        """Of the steps of runs on stores that are away."""
        self.waits = waits
        self.engine = engine = waits.engine
        self.sessions = sessions
        is_shared = engine.caps.has_many_workers
        most = MOST_RUNS if is_shared else None  # one worker hears of the end of each run
        self.transcripts = Transcripts(sessions, engine)
        self.conversations = Conversations(sessions, self.transcripts, is_shared=is_shared)
        self.turns = Turns(engine, sessions)
        self.events = EventForwarder(engine, hub, self.turns.release, most)
        self.tools = tools
        self.hooks: Sequence[Hook] = options.hooks
        self.hook_tools = options.hook_tools
        self.clock: Callable[[], float] = time.time
        self.agents: dict[str, RegisteredAgent] = {}
        self.elsewhere: dict[str, AgentSpec] = {}
        """Agents that other processes execute."""
        self.caller = caller
        self.listed = listed
        """Finds the tool of a call that waits, as it is now, when its answer comes."""
        self.deliver = deliver
        """Answers what waits under a token, for a session and by a person, as `Runtime.deliver`."""
        self._directory = directory
        self._options = options
        self.is_shared = is_shared
        """Whether many workers execute the runs."""
        self._served: RecentRuns[RegisteredTool] = RecentRuns(most)
        """By run that answers a call of no run, the tool."""
        self._snapshots: RecentRuns[_Listed] = RecentRuns(most)
        self._about_to_wait: RecentRuns[set[str]] = RecentRuns(most)
        """The waits that were admitted and may not have begun."""
        self._values: RecentRuns[Values] = RecentRuns(most)
        self._spans = None if tools.spans is None else RunSpans(tools.spans, is_shared=is_shared)
        self._metrics = None if tools.metrics is None else RunMetrics(tools.metrics)

    def serve(self, activities: Mapping[str, Activity]) -> None:
        """Register the agent loop and its activities with the engine."""
        if self._spans is not None:
            activities = {name: self._spans.wrap_activity(name, work) for name, work in activities.items()}
        self.waits.register({LOOP: agent_loop}, activities, self._on_event, last_events)

    @property
    def sealer(self) -> Sealer:
        """The sealer of answers to the questions of planners; as `WaitRegistry.sealer`."""
        return self.waits.sealer

    @property
    def tags(self) -> set[str]:
        """The tags of all registered tools of the runtime."""
        return {tag for spec in self._directory.specs for tag in spec.tags}

    def may_ask(self, run_id: str) -> bool:
        """Return whether there is somebody whom a run may ask.

        Below a direct call that is its caller, by a token, which only a runtime with an engine takes.
        """
        is_direct = run_id.startswith(CALL) and "/" in run_id
        return self.tools.is_interactive and not (is_direct and self.tools.waits is None)

    def build_agent(
        self, registration: AgentRegistration, directory: Directory, managers: ResourceStack
    ) -> RegisteredAgent:
        """Return the agent to be registered; the directory has its tools.

        Raises:
            RegistrationError: it does not fit.
        """
        return register_agent(registration, directory, self._options, self.caller, managers)

    def refuse_second(self, agent: str) -> None:
        """Raise where an agent of this id is registered.

        Raises:
            RegistrationError: as said.
        """
        if agent in self.agents:
            raise RegistrationError(f"agent {agent!r} is registered already")

    def agent(self, id_: str) -> RegisteredAgent:
        """Return a registered agent.

        Raises:
            NotRegisteredError: there is none; this process cannot go on with its runs.
        """
        found = self.agents.get(id_)
        if found is None:
            raise NotRegisteredError(f"agent {id_!r} is not registered in this runtime")
        return found

    def meta(self, run_id: str, facts: RunFacts, tool_call_id: str = "") -> CallMeta:
        """Return the facts of a call of a run."""
        self.events.learn(run_id, facts)
        return meta_of(run_id, facts, tool_call_id)

    def chats(self, facts: RunFacts) -> Chats:
        """Return what makes the spans of requests to models of a run."""
        spans = self.tools.spans
        return NO_CHATS if spans is None else Chats(spans, facts["agent"], facts["session_id"])

    # Tools.

    async def snapshot(self, agent: RegisteredAgent, meta: CallMeta, step: int | None) -> Snapshot:
        """Return the snapshot of one planning; calls until the next planning are dispatched against it."""
        known = self._snapshots.get(meta.run_id)
        found = await agent.snapshot(self.caller, meta, None if known is None else known.snapshot)
        self._snapshots.put(meta.run_id, _Listed(found, step))
        return found

    async def advertised(self, run_id: str, facts: RunFacts, step: int | None = None) -> Snapshot:
        """Return the snapshot of a planning; the current tools where another process planned.

        `step` is that of the planning; without one it is the newest of the run.
        """
        known = self._snapshots.get(run_id)
        if known is not None and (not self.is_shared or known.step == step is not None):
            return known.snapshot
        return await self.snapshot(self.agent(facts["agent"]), self.meta(run_id, facts), step)

    def within_time(self, tool: RegisteredTool, timeout: float | None) -> RegisteredTool:
        """Return the tool with the time limit of the run's policy, if its design gives none."""
        if timeout is None or tool.spec.timeout is not None:
            return tool
        return tool.with_spec(replace(tool.spec, timeout=timeout), self._options)

    def values_of(self, run_id: str) -> Values:
        """Return the values that the hooks and tools of a run share."""
        found = self._values.get(run_id)
        if found is None:
            self._values.put(run_id, found := Values())
        return found

    def seen_tool(self, tool: str, run_id: str) -> RegisteredTool | None:
        """Return a tool by id as the run saw it last; None where it did not."""
        known = self._snapshots.get(run_id)
        return None if known is None else known.snapshot.directory.by_id.get(tool)

    async def tool_now(self, tool: str, meta: CallMeta, status: RunStatus) -> RegisteredTool | None:
        """Return the tool of a call of a run as its agent has it now; None where it has none."""
        given: Any = status.input
        agent = self.agents.get(given["facts"]["agent"])
        if agent is None:
            return None
        found = agent.static.directory.by_id.get(tool)
        if found is None and agent.toolsets.is_dynamic:
            found = await listed_now(tool, agent.snapshot(self.caller, meta, None))
        return found

    def find_tool(self, tool: str, run_id: str = "") -> RegisteredTool | None:
        """Return a tool by id: as the run saw it last, else as it is registered."""
        return self.seen_tool(tool, run_id) or self._directory.by_id.get(tool)

    def returned_by(self, facts: RunFacts) -> ToolSpec[Any, Any] | None:
        """Return the tool whose result the run must give; None where the run ends with text."""
        parent = facts["parent"]
        if parent is None or not parent["tool"]:
            return None
        tool = self._served.get(parent.get("child", "")) or self.find_tool(parent["tool"], parent["run_id"])
        return None if tool is None else tool.spec

    def serve_tool(self, run_id: str, tool: RegisteredTool) -> None:
        """Keep the tool of a call outside of runs until the agent run that answers it is over."""
        self._served.put(run_id, tool)

    async def may_wait(self, run_id: str, op: str) -> bool:
        """Return whether one more call of the run may wait, under this key.

        It is decided in an activity: what waits at once is a matter of time, which a loop cannot tell again.
        """
        if self.tools.waits is None:
            return False
        about = self._about_to_wait.get(run_id)
        if about is None:
            self._about_to_wait.put(run_id, about := set())
        begun = [one for one in list(about) if await self.engine.wait_status(run_id, one) is not None]
        awaiting = (await self.engine.status(run_id)).awaiting
        about.difference_update(begun)
        calls = {one.op for one in awaiting if is_call(one.about)}
        if len(calls | about) >= self.tools.waits.options.max_per_run:
            return False
        about.add(op)
        return True

    # Runs that follow from runs.

    def transfers(self, agent: RegisteredAgent, facts: RunFacts) -> Mapping[str, str]:
        """Return the agents that may take the conversation over, by id, with their descriptions."""
        parent = facts["parent"]
        if (parent and parent["tool"]) or facts["depth"] + 1 >= self.most_depth:
            return {}  # whoever called a tool waits for this very agent
        known = (self.agents.get(id_) for id_ in agent.spec.transfers)
        return {found.spec.id: found.spec.description for found in known if found is not None}

    def child(self, delegated: Delegated, call: StepCall, run_id: str, facts: RunFacts) -> ChildRun:
        """Return the run that answers a call of an agent's tool which a run makes."""
        tool = self.find_tool(call["tool"], run_id)
        timeout = None if tool is None else tool.spec.timeout
        meta = meta_of(run_id, facts, call["id"])
        child_id = f"{run_id}/child:{call['id']}"
        given = self.called_run(delegated, call["tool"], timeout, meta, facts, child_id)
        parent = given["facts"]["parent"]
        if call.get("is_designed") and parent is not None:
            parent["is_designed"] = True
        return {"agent": delegated.agent, "input": given}

    def called_run(
        self,
        delegated: Delegated,
        tool: str,
        timeout: float | None,
        meta: CallMeta,
        above: RunFacts | None,
        run_id: str,
    ) -> RunInput:
        """Return the input of the run of this id that answers the call of an agent's tool, whoever makes it.

        `timeout` are the seconds that the design gives to the tool, `above` as in `called_facts`.
        """
        policy = self.policy_of(delegated.agent, timeout=timeout)
        facts = called_facts(delegated.agent, policy, meta, tool, above)
        if self._spans is not None and delegated.span is not None:
            self._spans.call(run_id, facts, delegated.span)
        return {"facts": facts, "message": delegated.message, "source": "agent"}

    def hand_over_run(self, agent: str, message: str, run_id: str, facts: RunFacts) -> ChildRun:
        """Return the input of the run to which the conversation is handed."""
        taken = handed_over_facts(agent, self.policy_of(agent), run_id, facts)
        if self._spans is not None:
            self._spans.hand_over(run_id, facts, taken)
        given: RunInput = {
            "facts": taken,
            "message": message or "The conversation was handed to you; go on with it.",
            "source": "agent" if message else "runtime",
        }
        return {"agent": agent, "input": given}

    def policy_of(
        self, agent: str, policy: RunPolicy | None = None, *, timeout: float | None = None
    ) -> dict[str, Json]:
        """Return the limits of a run of the agent: the given ones, else the runtime's, else the design's.

        `timeout` are the seconds that the design gives to the tool that the run answers.
        """
        found = self.agents.get(agent) or self.elsewhere.get(agent)
        chosen = policy or (found.policy if found is not None else RunPolicy())
        budget = chosen.time_budget
        if timeout is not None and (budget is None or timeout < budget):
            chosen = replace(chosen, time_budget=timeout)
        return asdict(chosen)

    async def start(self, given: RunInput, run_id: str) -> None:
        """Start a run that no other run starts."""
        await self.begin(run_id)
        if self.engine.is_worker:  # a client hears of no event, and not of the last one either
            self.events.learn(run_id, given["facts"])
        session = given["facts"]["session_id"]
        is_here = self.engine.is_worker and not self.is_shared
        door = nullcontext() if self._spans is None else self._spans.start(run_id, given["facts"], is_here)
        try:
            with door:
                await self.engine.start_run(LOOP, given, run_id=run_id, session=session)  # type: ignore[arg-type]  # it is JSON
        except BaseException:
            self.events.forget(run_id)
            raise

    async def begin(self, run_id: str = "") -> None:
        """Begin to execute runs; a client executes the run of this id."""
        await self.waits.start(run_id)

    def _on_event(self, run_id: str, loop: str, offset: int, event: Mapping[str, Json]) -> None:
        """Forward an event of a run to the runtime's subscribers; drop the run's data at its end."""
        if self._spans is not None:
            self._spans.on_event(run_id, event)
        if self._metrics is not None:
            known, tool = self.events.known(run_id), str(event.get("tool", ""))
            agent = "" if known is None else known["agent"]
            self._metrics.on_event(run_id, event, agent, self.find_tool(tool, run_id) is not None)
        self.events.forward(run_id, offset, event)
        if event.get("type") == LAST:
            self._served.pop(run_id)
            self._snapshots.pop(run_id)
            self._about_to_wait.pop(run_id)
            self._values.pop(run_id)
            self.conversations.forget(run_id)


@dataclass(frozen=True, slots=True)
class _Listed:
    """The snapshot of a planning."""

    snapshot: Snapshot
    step: int | None
    """Of the planning; None where it was listed for something else."""
