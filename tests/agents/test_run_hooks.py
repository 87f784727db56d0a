"""Hooks of whole runs: their start and their end, calls that wait, and calls of tools that do not exist."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agents.tools import (
    TOOLS,
    Resetting,
    Users,
    agent,
    calling,
    exported,
    first_answer,
    ran,
    resetting,
    running,
    waiting,
)
from tests.virtual_time import now
from toolgen.agents import (
    Await,
    FinalResponse,
    PlanInput,
    PlannerUnavailableError,
    RunOutput,
    RunPolicy,
    ScriptedPlanner,
    agents_of,
)
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    Abort,
    Answer,
    ConfirmSpec,
    Continue,
    Deny,
    Hook,
    Runtime,
    Suspended,
    ToolCall,
    ToolContext,
    ToolError,
    Verdict,
)

ADD = ("add", {"a": 1, "b": 2})


class Diary(Hook):
    """Writes down all points of runs, by one object."""

    def __init__(self, happened: list[str], name: str = "") -> None:
        self._happened, self._name = happened, name

    def _note(self, what: str) -> Continue:
        self._happened.append(f"{self._name}{what}")
        return Continue()

    async def before_run(self, request: PlanInput) -> Verdict:
        return self._note(f"begins {request.agent}")

    async def after_run(self, output: RunOutput) -> Verdict:
        return self._note(f"ends {output.agent} {output.status} {output.stop or output.error}".strip())

    async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        return self._note(f"calls {call.tool.rpartition('.')[2]}")

    async def on_suspend(self, call: ToolCall, suspension: Suspended, ctx: ToolContext) -> Verdict:
        assert (suspension.token, suspension.tool, call.meta.run_id) == ("", call.tool, suspension.run_id)
        return self._note(f"asks {suspension.question}")

    async def on_resume(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        return self._note(f"goes on with {payload.device_id}")

    async def on_unknown_tool(self, call: ToolCall) -> Verdict:
        return self._note(f"misses {call.tool} {call.payload_json.decode()}")


async def test_one_hook_hears_of_a_whole_run_and_all_hooks_run() -> None:
    happened: list[str] = []
    reset, executor = ("factory_reset", {"device_id": "d1"}), Resetting()
    planner = ScriptedPlanner([calling(reset, ("missing", {"a": 1})), first_answer])
    made = agent("x.agent", planner, resetting(executor))
    hooks = [Diary(happened, "1 "), Diary(happened, "2 ")]
    async with running(made, interceptors=[Users()], hooks=hooks) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        await handle.answer(await waiting(handle), {"approved": True})
        await handle.result()
    first = [line.removeprefix("1 ") for line in happened if line.startswith("1 ")]
    (asked,) = [line for line in first if line.startswith("asks")]
    assert sorted(first) == sorted(
        [
            "begins x.agent",
            "calls factory_reset",
            'misses missing {"a":1}',
            asked,
            "goes on with d1",
            "ends x.agent completed final",
        ]
    )
    assert (first[0], first[-2:]) == ("begins x.agent", ["goes on with d1", "ends x.agent completed final"])
    assert [line.removeprefix("2 ") for line in happened if line.startswith("2 ")] == first


async def test_a_child_run_has_its_own_beginning_and_end() -> None:
    happened: list[str] = []
    low = agent("x.low", ScriptedPlanner(['"three"']))
    top = agent("x.agent", ScriptedPlanner([calling("look"), first_answer]), exported("x.checks", "x.low"))
    async with running(low, top, hooks=[Diary(happened)]) as (runtime, _):
        await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
    assert [line for line in happened if line.split()[0] in ("begins", "ends")] == [
        "begins x.agent",
        "begins x.low",
        "ends x.low completed final",
        "ends x.agent completed final",
    ]


@pytest.mark.parametrize(
    ("verdict", "status", "text"),
    [
        (Deny(message="not at night"), "failed", "not at night"),
        (Abort(error=ToolError("no money left")), "failed", "no money left"),
        (Answer(result=FinalResponse(text="closed")), "completed", "closed"),
        (Continue(payload="another"), "failed", "cannot replace the request of a run"),
        (None, "failed", "a model hook failed"),
    ],
)
async def test_what_a_hook_says_before_a_run(verdict: Any, status: str, text: str) -> None:
    planned: list[str] = []

    class Guard(Hook):
        async def before_run(self, request: PlanInput) -> Verdict:
            return verdict  # type: ignore[no-any-return]  # or none

    def plan(given: PlanInput) -> FinalResponse:
        planned.append("plan")
        return FinalResponse(text="done")

    later: list[str] = []
    found = await ran(ScriptedPlanner([plan]), options={"hooks": [Guard(), Diary(later)]})
    assert found.output.status == status
    assert text in (found.output.text or found.output.error)
    assert planned == []
    assert [line.split()[0] for line in later] == ["ends"]


async def test_an_attempt_at_the_first_planning_begins_no_other_run() -> None:
    happened: list[str] = []
    tries: list[object] = [PlannerUnavailableError("HTTP 429"), PlannerUnavailableError("HTTP 429"), "done"]

    def plan(given: PlanInput) -> FinalResponse:
        if isinstance(said := tries.pop(0), Exception):
            raise said
        return FinalResponse(text=str(said))

    found = await ran(ScriptedPlanner([plan] * 3), options={"hooks": [Diary(happened)]})
    assert found.output.text == "done"
    assert happened == ["begins x.agent", "ends x.agent completed final"]


@pytest.mark.parametrize("how", ["failed", "canceled", "limit"])
async def test_the_end_of_a_run_has_its_reason(how: str) -> None:
    happened: list[str] = []
    question = Await(kind="clarification", question="Which?")
    scripts: dict[str, list[Any]] = {
        "failed": [calling()] * 2,
        "canceled": [question],
        "limit": [calling(ADD), "that is all"],
    }
    made = agent("x.agent", ScriptedPlanner(scripts[how]), TOOLS, policy=RunPolicy(max_tool_calls=1))
    async with running(made, hooks=[Diary(happened)]) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        if how == "canceled":
            await waiting(handle)
            await handle.cancel("not needed")
        await handle.result()
    (end,) = [line for line in happened if line.startswith("ends")]
    assert end.startswith(f"ends x.agent {'completed' if how == 'limit' else how}")
    assert {"failed": "the answer has no calls", "canceled": "not needed", "limit": "final"}[how] in end


class Bad(Hook):
    """Fails wherever it only hears of something."""

    async def after_run(self, output: RunOutput) -> Verdict:
        raise RuntimeError("the diary is full")

    async def on_suspend(self, call: ToolCall, suspension: Suspended, ctx: ToolContext) -> Verdict:
        return Deny(message="nobody is here")


async def test_a_hook_that_only_hears_loses_no_result(caplog: pytest.LogCaptureFixture) -> None:
    happened: list[str] = []
    reset, executor = ("factory_reset", {"device_id": "d1"}), Resetting()
    made = agent("x.agent", ScriptedPlanner([calling(reset), "well"]), resetting(executor))
    hooks = [Bad(), Diary(happened)]
    async with running(made, interceptors=[Users()], hooks=hooks) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        await handle.answer(await waiting(handle), {"approved": True})
        assert (await handle.result()).text == "well"
    assert "the diary is full" in caplog.text
    assert "which changes nothing; return Continue()" in caplog.text
    assert happened[-1] == "ends x.agent completed final"


@pytest.mark.parametrize(
    ("verdict", "status", "seen"),
    [
        (Deny(message="not now"), "denied", "not now"),
        (Abort(error=ToolError("stop")), "error", "stop"),
        (Answer(result="from the hook"), "ok", "from the hook"),
        (Continue(payload=object()), "error", "internal error"),
    ],
)
async def test_what_a_hook_says_after_an_answer(
    verdict: Verdict, status: str, seen: str, caplog: pytest.LogCaptureFixture
) -> None:
    executed: list[str] = []

    class Guard(Hook):
        async def on_resume(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
            return verdict

    async def shred(file: str) -> str:
        """Shred a file."""
        executed.append(file)
        return "done"

    tool = func_tool(shred, toolset="x.files", confirm=ConfirmSpec(hint="Shred {file}?"))
    async with Runtime(engine=InProcessEngine(clock=now), hooks=[Guard()]) as runtime:
        runtime.tools.register(function_toolset("x.files", [tool]))
        asked = (await runtime.call("shred", {"file": "a"})).suspension
        assert asked is not None
        result = await runtime.suspensions.answer(asked.token, {"approved": True})
    assert (result.status, executed) == (status, [])
    assert seen in result.json.decode()
    if isinstance(verdict, Continue):
        assert "cannot replace the arguments of a resumed call" in caplog.text


UNKNOWN = [
    (Continue(), "error", {"error": "there is no tool 'ad'; similar names: add"}),
    (Deny(message="ask for add"), "denied", {"error": "ask for add", "code": "denied"}),
    (Abort(error=ToolError("use add")), "error", {"error": "use add"}),
    (Answer(result={"sum": 3}), "ok", {"sum": 3}),
    (Answer(result={"sum": float("nan")}), "error", {"error": "there is no tool 'ad'; similar names: add"}),
    (None, "error", {"error": "there is no tool 'ad'; similar names: add"}),
]


@pytest.mark.parametrize("by", ["call", "batch", "agent"])
@pytest.mark.parametrize(("verdict", "status", "seen"), UNKNOWN)
async def test_what_a_hook_makes_of_an_unknown_tool(verdict: Any, status: str, seen: Any, by: str) -> None:
    calls: list[ToolCall] = []

    class Finder(Hook):
        async def on_unknown_tool(self, call: ToolCall) -> Verdict:
            calls.append(call)
            return verdict  # type: ignore[no-any-return]  # or none

    arguments = {"a": 1}
    made = agent("x.agent", ScriptedPlanner([calling(("ad", arguments)), first_answer]), TOOLS)
    async with running(made, hooks=[Finder()]) as (runtime, _):
        if by == "agent":
            await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
            (turn,) = await agents_of(runtime).sessions.transcript("s")
            (one,) = [a for m in turn.messages for a in getattr(m, "answers", ())]
            found = (one.status, json.loads(one.text))
        else:
            if by == "call":
                result = await runtime.call("ad", arguments)
            else:
                call = ToolCall(tool="ad", payload_json=b'{"a":1}')
                (result,) = await runtime.call_all([call])
            found = (result.status, json.loads(result.json))
    assert found == (status, seen)
    assert [(one.tool, json.loads(one.payload_json)) for one in calls] == [("ad", arguments)]


async def test_a_run_that_has_begun_does_not_begin_again_after_a_restart(tmp_path: Path) -> None:
    happened: list[str] = []
    question = Await(kind="clarification", question="Which?")

    def process() -> Any:
        made = agent("x.agent", ScriptedPlanner([question, "done"]))
        engine = InProcessEngine(tmp_path / "runs.db", clock=now)
        return running(made, engine=engine, hooks=[Diary(happened)])

    async with process() as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s", run_id="r")
        await waiting(handle)
    async with process() as (runtime, _):
        handle = agents_of(runtime).client("x.agent").handle("r", session_id="s")
        await handle.answer(await waiting(handle), "this")
        await handle.result()
    assert happened == ["begins x.agent", "ends x.agent completed final"]
