"""Writes the histories anew: `python -m tests.agents.histories.store [NAME …]`.

Each is what the loops of now do in a scenario. A history that is stored is what runs of an older toolgen have
in their journals; to write it anew is to give those runs up.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any, Final

from tests.agents.histories.tools import ADD, META, MORE, NO, RESET, YES, update
from tests.agents.tools import TOOLS, Bench, agent, calling, exported, running, until, waiting
from tests.virtual_time import VirtualTimeLoop
from toolgen.agents import (
    Await,
    FinalResponse,
    HandOver,
    PlannerUnavailableError,
    PlanResult,
    RunPolicy,
    ScriptedPlanner,
    ScriptStep,
    agents_of,
)
from toolgen.calls.codec import arguments_json
from toolgen.calls.toolsets.functions import func_tool, function_toolset
from toolgen.engines import InProcessEngine
from toolgen.engines.journal import RunRecord
from toolgen.runtime import Runtime
from toolgen.waiting.errors import LateAnswerError

from .files import store


async def calls() -> list[RunRecord]:
    """Calls in parallel, one of which fails; calls without an answer to give; words beside them."""
    first = calling(ADD, "boom", ("add", {"a": "x"}), "unknown", text="Let me see.")
    planner = ScriptedPlanner([first, calling(ADD), "done"])
    async with running(agent("x.agent", planner)) as (runtime, engine):
        await _run(runtime)
        return await _records(engine)


async def terminal() -> list[RunRecord]:
    """A tool whose result ends the run, and a final answer in the place of calls that are empty."""
    async with running(
        agent("x.agent", ScriptedPlanner([calling(), calling(("finish", {"text": "so"}))]))
    ) as (
        runtime,
        engine,
    ):
        await _run(runtime)
        return await _records(engine)


async def approval() -> list[RunRecord]:
    """Two calls at once that a person has to approve: one is approved, one is denied."""
    planner = ScriptedPlanner([calling(RESET, ("reset", {"device": "lamp"}), ADD), "done"])
    async with running(agent("x.agent", planner, TOOLS, MORE)) as (runtime, engine):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s", run_id="r")
        first, second = (await handle.settled()).awaiting
        await handle.answer(second, {"approved": False, "message": "not now"}, by="jo")
        await handle.answer(first, YES, by="jo")
        await handle.result()
        return await _records(engine)


async def question() -> list[RunRecord]:
    """A tool that asks, one that asks again, and a planner that asks."""
    planner = ScriptedPlanner(
        [calling("ask", "twice"), Await(kind="clarification", question="Which?"), "done"]
    )
    async with running(agent("x.agent", planner, TOOLS, MORE)) as (runtime, engine):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s", run_id="r")
        first, second = (await handle.settled()).awaiting
        await handle.answer(first, "Bo")
        await handle.answer(second, "again")
        await handle.answer(await waiting(handle), "Cy")
        await handle.answer(await waiting(handle), "this one")
        await handle.result()
        return await _records(engine)


async def missing() -> list[RunRecord]:
    """A call that lacks arguments, and a policy that asks the person for them."""
    policy = RunPolicy(on_missing_fields="await_clarification")
    planner = ScriptedPlanner([calling(("add", {"a": 1})), calling(ADD), "done"])
    async with running(agent("x.agent", planner, policy=policy)) as (runtime, engine):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s", run_id="r")
        await handle.answer(await waiting(handle), "b is 2")
        await handle.result()
        return await _records(engine)


async def child() -> list[RunRecord]:
    """A call that another agent answers."""
    low = agent("x.low", ScriptedPlanner([calling(ADD), '"three"']))
    top = agent(
        "x.agent", ScriptedPlanner([calling("look", ADD), "done"]), exported("x.checks", "x.low"), TOOLS
    )
    async with running(low, top) as (runtime, engine):
        await _run(runtime)
        return await _records(engine)


async def child_fails() -> list[RunRecord]:
    """A call whose agent fails, and a hand-over to an agent that fails."""
    low = agent("x.low", ScriptedPlanner([calling()] * 2))
    planner = ScriptedPlanner([calling("look"), HandOver(agent="x.low")])
    top = agent("x.agent", planner, exported("x.checks", "x.low"), TOOLS, transfers=("x.low",))
    async with running(low, top) as (runtime, engine):
        await _run(runtime)
        return await _records(engine)


async def hand_over() -> list[RunRecord]:
    """The conversation is handed over by a planner and by a tool, and given back each time but the last."""
    low = agent("x.low", ScriptedPlanner([calling("back")], [calling("back")], ["mine"]))
    steps: list[ScriptStep] = [
        HandOver(agent="x.low", message="Go on."),
        calling(("go", {"agent": "x.low"})),
        HandOver(agent="x.low"),
    ]
    top = agent("x.agent", ScriptedPlanner(steps), transfers=("x.low",))
    async with running(low, top) as (runtime, engine):
        await _run(runtime)
        return await _records(engine)


async def given_back() -> list[RunRecord]:
    """An agent that has the conversation from an earlier turn gives it back."""
    low = agent("x.low", ScriptedPlanner(["mine"], [calling("back")]))
    top = agent("x.agent", ScriptedPlanner([HandOver(agent="x.low")], ["back"]), transfers=("x.low",))
    async with running(low, top) as (runtime, engine):
        await _run(runtime)
        await _run(runtime, "r2")
        return await _records(engine)


async def pending_work() -> list[RunRecord]:
    """Work elsewhere: a run waits for one, and the other opens a turn, which is busy at first."""
    planner = ScriptedPlanner([calling("update", "order"), "begun"], ["done"])
    async with running(agent("x.agent", planner, TOOLS, MORE)) as (runtime, engine):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s", run_id="r")
        await handle.settled()
        tokens = {one.handle: one.token for one in await runtime.waits.list("s")}
        assert set(tokens) == {"job-1", "job-2"}
        delivering = asyncio.create_task(runtime.waits.answer(tokens["job-2"], "came"))
        await asyncio.sleep(5)
        await runtime.waits.answer(tokens["job-1"], "2.4.0")
        await delivering
        await handle.result()
        opened = await _ended(engine, "r/done:call_0_1")
        assert opened
        return await _records(engine)


async def busy_session() -> list[RunRecord]:
    """Results of two works come while another turn of their session waits for a person."""
    question = Await(kind="clarification", question="When?")
    planner = ScriptedPlanner([calling("order", "order"), "begun"], [question, "soon"], ["one"], ["two"])
    async with running(agent("x.agent", planner, TOOLS, MORE)) as (runtime, engine):
        client = agents_of(runtime).client("x.agent")
        works = (await client.run("Go.", session_id="s", run_id="r")).pending
        second = await client.start("More.", session_id="s", run_id="second")
        asked = await waiting(second)
        for work in works:
            await runtime.waits.answer(work.token, "came")
        await asyncio.sleep(5)
        await second.answer(asked, "now")
        for work in works:
            assert await _ended(engine, f"r/done:{work.tool_call_id}")
        return await _records(engine)


async def interrupts() -> list[RunRecord]:
    """A run is paused, spoken into, and goes on; and is spoken into while a tool works."""
    bench = Bench()
    policy = RunPolicy(interrupts_allowed=True)
    planner = ScriptedPlanner([calling("through"), calling(("work", {"name": "a"})), "done"])
    async with running(agent("x.agent", planner, bench.toolset, policy=policy)) as (runtime, engine):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s", run_id="r")
        await until(lambda: "at the gate" in bench.did)
        await handle.interrupt("One.")
        await handle.pause()
        bench.gate.set()
        assert (await waiting(handle)).kind == "pause"
        await handle.interrupt("Two.")
        await handle.resume("Three.")
        await handle.result()
        return await _records(engine)


class Busy:
    """A planner whose provider is busy twice."""

    def __init__(self) -> None:
        self.left = 2

    async def plan_start(self, given: object) -> PlanResult:
        self.left -= 1
        if self.left >= 0:
            raise PlannerUnavailableError("HTTP 429")
        return FinalResponse(text="done")

    plan_resume = plan_start


async def planning_again() -> list[RunRecord]:
    """A planner that is asked again after a pause."""
    async with running(agent("x.agent", Busy())) as (runtime, engine):
        await _run(runtime)
        return await _records(engine)


async def planner_fails() -> list[RunRecord]:
    """A planner that gives nothing of use twice, so that the run fails."""
    async with running(agent("x.agent", ScriptedPlanner([calling()] * 2))) as (runtime, engine):
        await _run(runtime)
        return await _records(engine)


async def cap() -> list[RunRecord]:
    """More calls than the policy allows; the planner closes."""
    planner = ScriptedPlanner([calling(ADD), calling(ADD, ADD), "done"])
    async with running(agent("x.agent", planner, policy=RunPolicy(max_tool_calls=2))) as (runtime, engine):
        await _run(runtime)
        return await _records(engine)


async def time_budget() -> list[RunRecord]:
    """A run whose time is over while a tool works; the planner closes."""
    planner = ScriptedPlanner([calling("hang"), "late"])
    async with running(agent("x.agent", planner, policy=RunPolicy(time_budget=8.0))) as (runtime, engine):
        await _run(runtime)
        return await _records(engine)


async def direct_calls() -> list[RunRecord]:
    """Calls of no agent: approved, denied, asked twice, never answered, done elsewhere."""
    engine = InProcessEngine(clock=lambda: asyncio.get_running_loop().time())
    async with running(engine=engine) as (runtime, _):
        runtime.tools.register(TOOLS)
        runtime.tools.register(MORE)
        for given in (YES, NO):
            await runtime.waits.answer(await _asked(runtime, *RESET), given)
        token = await _asked(runtime, "twice")
        again = await runtime.waits.answer(token, "again")
        assert again.suspension is not None
        await runtime.waits.answer(again.suspension.token, "Bo")
        await runtime.waits.answer(await _asked(runtime, "update"), "2.4.0")
        late = await _asked(runtime, "ask")
        await asyncio.sleep(7 * 24 * 3600)
        try:
            await runtime.waits.answer(late, "Bo")
        except LateAnswerError:
            return await _records(engine)
        raise AssertionError("a call was answered long after its time")


async def agents_tool() -> list[RunRecord]:
    """A direct call of an agent's tool: approved in the run of the agent, and one whose agent fails."""
    asking = ScriptedPlanner(
        [calling(RESET, ("reset", {"device": "lamp"})), '"all is well"', "no answer", "none"]
    )
    low = agent("x.low", asking, TOOLS, MORE)
    async with running(low) as (runtime, engine):
        runtime.tools.register(exported("x.lows", "x.low"))
        result = await runtime.call("look", {}, META)
        for given in (YES, NO):
            assert result.suspension is not None, result
            result = await runtime.waits.answer(result.suspension.token, given)
        assert result.status == "ok", result
        await runtime.call("look", {}, META)
        return await _records(engine)


async def executed() -> list[RunRecord]:
    """Calls that begin in a run of their own: one ends at once, one asks, an agent answers one."""
    low = agent("x.low", ScriptedPlanner(['"all is well"']), TOOLS, MORE)
    async with running(low) as (runtime, engine):
        runtime.tools.register(exported("x.lows", "x.low"))
        directory = runtime._directory
        for name, arguments in (("add", {"a": 1, "b": 2}), RESET, ("look", {})):
            tool = directory.by_name.get(name)
            assert tool is not None, name
            result = await runtime.assembly.calls.execute(
                tool, arguments_json(arguments), META, f"call_{name}"
            )
            if result.suspension is not None:
                await runtime.waits.answer(result.suspension.token, YES)
        return await _records(engine)


async def forged_answer() -> list[RunRecord]:
    """A planner that asks, an answer that no host took, and one that a host took."""
    planner = ScriptedPlanner([Await(kind="clarification", question="Which?"), "done"])
    async with running(agent("x.agent", planner)) as (runtime, engine):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s", run_id="r")
        asked = await waiting(handle)
        await engine.answer("r", f"wait:{asked.id}", {"text": "that one", "by": ""}, key="forged")
        await handle.answer(await waiting(handle), "this one", by="jo")
        await handle.result()
        return await _records(engine)


async def not_made() -> list[RunRecord]:
    """Calls that are not made: one that the run may not use, and one that nobody approves in time."""
    denied = function_toolset("x.denied", [func_tool(update, toolset="x.denied", name="deny", tags=("no",))])
    planner = ScriptedPlanner([calling(RESET, "deny", ADD), "done"])
    async with running(agent("x.agent", planner, TOOLS, MORE, denied)) as (runtime, engine):
        client = agents_of(runtime).client("x.agent")
        handle = await client.start("Go.", session_id="s", run_id="r", denied_tags=["no"])
        await handle.result()
        return await _records(engine)


SCENARIOS: Final[dict[str, Callable[[], Coroutine[Any, Any, list[RunRecord]]]]] = {
    scenario.__name__: scenario
    for scenario in (
        calls,
        terminal,
        approval,
        question,
        missing,
        child,
        busy_session,
        child_fails,
        hand_over,
        given_back,
        pending_work,
        interrupts,
        planning_again,
        planner_fails,
        cap,
        time_budget,
        direct_calls,
        agents_tool,
        executed,
        forged_answer,
        not_made,
    )
}


async def _run(runtime: Runtime, run_id: str = "r") -> None:
    handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s", run_id=run_id)
    await handle.result()


async def _asked(runtime: Runtime, tool: str, arguments: dict[str, Any] | None = None) -> str:
    """Return the token of a call that waits."""
    result = await runtime.call(tool, arguments or {}, META)
    assert result.suspension is not None, result
    return result.suspension.token


async def _ended(engine: InProcessEngine, run_id: str) -> bool:
    async with asyncio.timeout(3600):
        while run_id not in {status.run_id for status in await engine.list_runs(state="completed")}:  # noqa: ASYNC110
            await asyncio.sleep(1)
    return True


async def _records(engine: InProcessEngine) -> list[RunRecord]:
    """Return the records of all runs, once they are over, oldest first."""
    runs = await engine.list_runs()
    for status in runs:
        await engine.result(status.run_id)
    return [engine._store.record(status.run_id) for status in reversed(runs)]


def main() -> None:
    for name in sys.argv[1:] or SCENARIOS:
        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            records = runner.run(SCENARIOS[name]())
        store(name, records)
        print(name, *(f"{record.run_id}={record.ending}" for record in records))


if __name__ == "__main__":
    main()
