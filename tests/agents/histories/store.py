"""Writes the histories anew: `python -m tests.agents.histories.store [NAME …]`.

There is one for each loop, by its name: what the loop of now does with everything that it can meet. Write one
anew when the version of its loop is raised; the runs of the version before are given up.
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
    RunPolicy,
    ScriptedPlanner,
    agents_of,
)
from toolgen.agents.loop.documents import LOOP
from toolgen.calls.call import arguments_json
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.capabilities import InMemoryMemoryStore, MemoryCapability
from toolgen.engines import InProcessEngine
from toolgen.engines.in_process.journal import RunRecord
from toolgen.runtime import Runtime
from toolgen.waiting.errors import LateAnswerError
from toolgen.waiting.loop import LOOP as WAITING

from .files import store

DENIED: Final = function_toolset(
    "x.denied", [func_tool(update, toolset="x.denied", name="deny", tags=("no",))]
)


async def agent_runs() -> list[RunRecord]:
    """A run that calls, asks, is spoken into and hands over; then a turn of another agent, and limits."""
    bench = Bench()
    low = agent(
        "x.low",
        ScriptedPlanner(
            [calling(ADD), '"three"'], [calling()] * 2, [calling("back")], ["mine"], [calling("back")]
        ),
    )
    busy = [PlannerUnavailableError("HTTP 429"), "late"]

    def after_a_pause(given: object) -> FinalResponse:
        if isinstance(said := busy.pop(0), Exception):
            raise said
        return FinalResponse(text=str(said))

    planner = ScriptedPlanner(
        [
            calling(ADD, "boom", ("add", {"a": "x"}), "unknown", "deny", text="Let me see."),
            calling(RESET, ("reset", {"device": "lamp"}), "ask", ("add", {"a": 1})),
            Await(kind="clarification", question="Which?"),
            calling("through", "look"),
            calling("look", "update", "order"),
            HandOver(agent="x.low", message="Go on."),
            calling(),
            calling(("finish", {"text": "so"})),
        ],
        [calling(("go", {"agent": "x.low"}))],
        [after_a_pause],
        [calling(ADD, ADD), "capped"],
        [calling("hang"), "too late"],
        [calling()] * 2,
    )
    policy = RunPolicy(interrupts_allowed=True, on_missing_fields="await_clarification")
    toolsets = (
        TOOLS,
        MORE,
        DENIED,
        function_toolset("x.bench", [bench.through]),
        exported("x.checks", "x.low"),
    )
    top = agent("x.agent", planner, *toolsets, policy=policy, transfers=("x.low",))
    async with running(low, top) as (runtime, engine):
        client = agents_of(runtime).client("x.agent")
        handle = await client.start("Go.", session_id="s", run_id="r", denied_tags=["no"])
        first, second, third = (await handle.settled()).awaiting
        await handle.answer(second, {"approved": False, "message": "not now"}, by="jo")
        await handle.answer(first, YES, by="jo")
        await handle.answer(third, "Bo")
        await handle.answer(await waiting(handle), "b is 2")
        asked = await waiting(handle)
        await engine.answer("r", f"wait:{asked.id}", {"text": "that one", "by": ""}, key="forged")
        await handle.answer(await waiting(handle), "this one", by="jo")
        await until(lambda: "at the gate" in bench.did)
        await handle.interrupt("One.")
        await handle.pause()
        bench.gate.set()
        assert (await waiting(handle)).kind == "pause"
        await handle.resume("Three.")
        await handle.settled()
        tokens = {one.handle: one.token for one in await runtime.suspensions.list("s")}
        await runtime.suspensions.answer(tokens["job-1"], "2.4.0")
        await handle.result()
        limits: list[dict[str, Any]] = [{}, {}, {}, {"max_tool_calls": 1}, {"time_budget": 8.0}, {}]
        for number, limit in enumerate(limits):
            run = await client.start("Go.", session_id="s", run_id=f"r{number}", policy=RunPolicy(**limit))
            await run.result()
        await runtime.suspensions.answer(tokens["job-2"], "came")
        await _ended(engine, "r/done:call_4_2")
        records = await _records(engine)
    noting = agent("x.agent", ScriptedPlanner(["noted"]))
    memory = MemoryCapability(InMemoryMemoryStore())
    async with running(noting, capabilities=[memory]) as (runtime, engine):
        client = agents_of(runtime).client("x.agent")
        await client.run("Go.", session_id="t", run_id="remembered", labels={"user": "ann"})
        records += await _records(engine)
    return [record for record in records if record.loop == LOOP]


async def waiting_calls() -> list[RunRecord]:
    """Calls outside of agents, each in a run of its own, and work whose result opens a turn."""
    asking = ScriptedPlanner(
        [calling(RESET, ("reset", {"device": "lamp"})), '"all is well"', "no answer", "none"]
    )
    low = agent("x.low", asking, TOOLS, MORE)
    question = Await(kind="clarification", question="When?")
    top = agent(
        "x.agent",
        ScriptedPlanner([calling("order", "order"), "begun"], [question, "soon"], *[["one"]] * 4),
        MORE,
    )
    engine = InProcessEngine(clock=lambda: asyncio.get_running_loop().time())
    async with running(low, top, engine=engine) as (runtime, _):
        runtime.tools.register(exported("x.lows", "x.low"))
        for given in (YES, NO):
            await runtime.suspensions.answer(await _asked(runtime, *RESET), given)
        again = await runtime.suspensions.answer(await _asked(runtime, "twice"), "again")
        assert again.suspension is not None
        await runtime.suspensions.answer(again.suspension.token, "Bo")
        await runtime.suspensions.answer(await _asked(runtime, "update"), "2.4.0")
        result = await runtime.call("look", {}, META)
        for given in (YES, NO):
            assert result.suspension is not None, result
            result = await runtime.suspensions.answer(result.suspension.token, given)
        await runtime.call("look", {}, META)
        for name, arguments in (("add", {"a": 1, "b": 2}), RESET):
            tool = runtime._directory.by_name[name]
            result = await runtime.assembly.calls.execute(
                tool, arguments_json(arguments), META, f"call_{name}"
            )
            if result.suspension is not None:
                await runtime.suspensions.answer(result.suspension.token, YES)
        await _work_while_the_session_is_busy(runtime, engine)
        late = await _asked(runtime, "ask")
        await asyncio.sleep(7 * 24 * 3600)
        try:
            await runtime.suspensions.answer(late, "Bo")
        except LateAnswerError:
            return [record for record in await _records(engine) if record.loop == WAITING]
        raise AssertionError("a call was answered long after its time")


async def _work_while_the_session_is_busy(runtime: Runtime, engine: InProcessEngine) -> None:
    """Deliver the results of two works while another turn of their session waits for a person."""
    client = agents_of(runtime).client("x.agent")
    works = (await client.run("Go.", session_id="busy", run_id="r")).pending
    second = await client.start("More.", session_id="busy", run_id="second")
    asked = await waiting(second)
    for work in works:
        await runtime.suspensions.intermediate(work.token, "half", key="half")
        await runtime.suspensions.answer(work.token, "came")
    await asyncio.sleep(5)
    await second.answer(asked, "now")
    for work in works:
        assert await _ended(engine, f"r/done:{work.tool_call_id}")


SCENARIOS: Final[dict[str, Callable[[], Coroutine[Any, Any, list[RunRecord]]]]] = {
    LOOP: agent_runs,
    WAITING: waiting_calls,
}


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
