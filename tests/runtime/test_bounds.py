"""The contract of bounded results, wherever a result comes from, and who sees its bounds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.agents.tools import agent, calling, running
from tests.cases.bounded.gen.store.service import CarriedResult, PagedResult
from tests.cases.bounded.gen.store.toolsets import rows
from toolgen.agents import FinalResult, ScriptedPlanner, UserMessage, agents_of
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.calls.specs import BoundedSpec, LongRunningSpec
from toolgen.calls.toolsets.registration import AgentRoute
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    Allow,
    Answer,
    Bounds,
    CallMeta,
    Deny,
    Hook,
    Runtime,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolsetRegistration,
    ToolSpec,
    Values,
)
from toolgen.waiting.errors import BadAnswerError

PLAIN = replace(rows.FREE, bounded=BoundedSpec(items="rows"))
"""A window without cursors."""


def found(*items: str, **facts: Any) -> rows.FreeResult:
    """Return a whole window on these rows, with other facts."""
    return rows.FreeResult(**{"rows": list(items), "returned": len(items), "truncated": False, **facts})


class Finding:
    """An executor of one tool, `free`, and of the methods of the bound ones."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)

    async def free(self, payload: Any, ctx: Any) -> Any:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    carried = paged = free


def runtime(executor: object, spec: ToolSpec[Any, Any] = PLAIN, **host: Any) -> Runtime:
    made = Runtime(**host)
    made.tools.register(toolset(executor, spec))
    return made


def toolset(executor: object, spec: ToolSpec[Any, Any] = PLAIN) -> ToolsetRegistration:
    return ToolsetRegistration(name="store.rows", specs=[spec], executor=executor)


async def call(answer: Any, spec: ToolSpec[Any, Any] = PLAIN) -> ToolResult:
    return await runtime(Finding(answer), spec).call(spec.id, {})


HINT = {"truncated": True, "refinement_hint": "Name the shelf."}
HOLDS = [
    (PLAIN, found()),
    (PLAIN, found(total=0)),
    (PLAIN, found("a", "b")),
    (PLAIN, found("a", "b", total=2)),
    (PLAIN, found("a", total=9)),
    (PLAIN, found("a", **HINT)),
    (PLAIN, found("a", total=1, **HINT)),
    (rows.FREE, found("a", truncated=True, next_cursor="n")),
    (rows.FREE, found("a", **HINT)),
    (rows.FREE, found(total=9)),
    (rows.FREE, found(truncated=True, next_cursor="n")),
]
BREAKS = [
    (PLAIN, found(returned=-1), "returned is -1"),
    (PLAIN, found("a", "b", "c", returned=7), "returned is 7, but the result has 3 items"),
    (PLAIN, found("a", returned=0), "returned is 0, but the result has 1 item"),
    (PLAIN, found("a", "b", total=1), "total is 1; it must be at least returned"),
    (PLAIN, found(total=1), "nothing was returned"),
    (PLAIN, found(**HINT), "nothing was returned"),
    (PLAIN, found("a", truncated=True), "refinement_hint is not set, so the model cannot get the rest"),
    (PLAIN, found("a", truncated=True, refinement_hint=" "), "refinement_hint is not set"),
    (PLAIN, found("a", truncated=True, total=9), "refinement_hint is not set"),
    (rows.FREE, found("a", truncated=True), "neither next_cursor nor refinement_hint is set"),
    (rows.FREE, found(truncated=True), "neither next_cursor nor refinement_hint is set"),
    (rows.FREE, found(truncated=True, next_cursor=""), "neither next_cursor nor refinement_hint is set"),
]


@pytest.mark.parametrize(("spec", "answer"), HOLDS)
async def test_bounds_that_hold_stand_beside_the_result(spec: Any, answer: rows.FreeResult) -> None:
    result = await call(answer, spec)
    assert result.status == "ok"
    assert result.bounds == answer.result_bounds()


@pytest.mark.parametrize(("spec", "answer", "reason"), BREAKS)
async def test_bounds_that_do_not_hold_are_the_executors_bug(
    spec: Any, answer: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    for given in (answer, ToolOutcome.of(answer)):
        result = await call(given, spec)
        assert (result.status, result.bounds) == ("error", None)
        assert result.retry_hint is None
        assert b" ran; its result could not be read" in result.json
        assert reason.encode() not in result.json, "the model can do nothing about it"
    assert reason in caplog.text
    assert "store.rows.free" in caplog.text


async def test_of_several_lists_the_service_says_what_it_counts() -> None:
    several = replace(PLAIN, bounded=BoundedSpec())
    assert (await call(found("a", "b", returned=5), several)).status == "ok"


async def test_a_service_that_counts_wrong_breaks_the_contract_too() -> None:
    class Store:
        async def carried(self, payload: Any) -> CarriedResult:
            return CarriedResult(rows=["a"], returned=2, truncated=False)

        async def paged(self, payload: Any) -> PagedResult:
            return PagedResult(rows=["a"], next_cursor=payload.cursor, total=9)

        counted = endless = carried

    made = Runtime()

    class Rows(rows.BoundRowsExecutor):
        async def free(self, payload: Any, ctx: Any) -> Any:
            return found()

    store: Any = Store()
    made.tools.register(rows.registration(Rows(store=store)))
    assert (await made.call("carried", {"query": "a"})).status == "error"
    page = await made.call("paged", {"query": "a", "cursor": "n"})
    assert page.bounds == Bounds(returned=1, truncated=True, total=9, next_cursor="n")
    last = await made.call("paged", {"query": "a"})
    assert last.bounds == Bounds(returned=1, truncated=False, total=9)


async def test_an_answer_of_a_hook_holds_to_it() -> None:
    class Wrong(Hook):
        async def after_tool(self, call: ToolCall, result: ToolResult, ctx: Any) -> Any:
            return Answer(result=found("a", returned=2))

    result = await runtime(Finding(found()), hooks=[Wrong()]).call("free", {})
    assert result.retry_hint is None
    assert b" ran; its result could not be read" in result.json


async def test_a_delivered_result_holds_to_it_and_another_one_may_be_delivered() -> None:
    late = replace(PLAIN, long_running=LongRunningSpec())
    made = runtime(Finding(ToolOutcome.pending("job-1")), late, engine=InProcessEngine())
    waiting = (await made.call("free", {})).suspension
    assert waiting is not None
    wrong: dict[str, Json] = {"rows": ["a"], "returned": 2, "truncated": False}
    with pytest.raises(BadAnswerError, match="returned is 2, but the result has 1 item"):
        await made.suspensions.answer(waiting.token, wrong)
    done = await made.suspensions.answer(waiting.token, {**wrong, "returned": 1})
    assert done.bounds == Bounds(returned=1, truncated=False)
    again = await made.suspensions.answer(waiting.token, {**wrong, "returned": 1})
    assert again.bounds == done.bounds


async def test_an_agent_repairs_a_result_whose_bounds_do_not_hold() -> None:
    wrong: dict[str, Json] = {"rows": ["a"], "returned": 2, "truncated": False}
    low = ScriptedPlanner([FinalResult(result=wrong), FinalResult(result={**wrong, "returned": 1})])
    top = ScriptedPlanner([calling("free"), "done"])
    exported = toolset(AgentRoute(agent="x.low"))
    async with running(agent("x.low", low), agent("x.top", top, exported)) as (made, _):
        await agents_of(made).client("x.top").one_shot("Go.")
    told = low.inputs[1].messages[-1]
    assert isinstance(told, UserMessage)
    assert "the final result does not fit: returned is 2, but the result has 1 item" in told.text
    (answer,) = top.inputs[1].messages[-1].answers  # type: ignore[union-attr]  # the results
    assert (answer.status, answer.bounds) == ("ok", Bounds(returned=1, truncated=False))


async def test_planners_see_the_bounds(tmp_path: Path) -> None:
    planner = ScriptedPlanner([calling("free"), "done"], [calling("free"), "done"])
    sessions = SqliteSessionStore(tmp_path / "sessions.db")
    registration = agent("x.agent", planner, toolset(Finding(found("a", total=9, **HINT))))
    async with running(registration, sessions=sessions) as (made, _):
        for _ in range(2):
            await agents_of(made).client("x.agent").run("Go.", session_id="s")
    seen = [
        answer.bounds for message in planner.inputs[3].messages for answer in getattr(message, "answers", ())
    ]
    shown = Bounds(returned=1, truncated=True, total=9, refinement_hint="Name the shelf.")
    assert seen == [shown, shown]


class OneTruncated:
    """Denies a call after a truncated result of the turn."""

    async def decide(self, call: ToolCall, spec: Any, preview: str) -> Allow | Deny:
        cut = [seen.tool for seen in call.seen_bounds if seen.bounds.truncated]
        return Deny(message=f"narrow {cut[0]} first") if cut else Allow()


async def test_a_policy_sees_the_bounds_of_the_turn() -> None:
    executor = Finding(found("a"), found("a", **HINT), found("b"))
    made = runtime(executor, policy=OneTruncated())
    turn = Values()
    results = [await made.call("free", {}, CallMeta(), values=turn) for _ in range(3)]
    assert [result.status for result in results] == ["ok", "ok", "denied"]
    assert results[2].json == b'{"error":"narrow store.rows.free first","code":"denied"}'
    assert (await made.call("free", {}, values=Values())).status == "ok"


async def test_a_policy_sees_the_bounds_of_a_run() -> None:
    planner = ScriptedPlanner([calling("free"), calling("free"), "done"], [calling("free"), "done"])
    registration = agent("x.agent", planner, toolset(Finding(found("a", **HINT))))
    async with running(registration, policy=OneTruncated()) as (made, _):
        for _ in range(2):
            await agents_of(made).client("x.agent").run("Go.", session_id="s")
    statuses = [
        answer.status for message in planner.inputs[-1].messages for answer in getattr(message, "answers", ())
    ]
    assert statuses == ["ok", "denied", "ok"], "the next turn begins anew"
