"""Which tools a run may use, and what becomes of calls that lack fields."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.agents.tools import (
    TOOLS,
    agent,
    answers,
    calling,
    first_answer,
    ran,
    running,
    waiting,
)
from toolgen.agents import (
    Await,
    RunHandle,
    RunPolicy,
    ScriptedPlanner,
    ScriptStep,
    UnknownRestrictionError,
    UnknownSessionError,
    agents_of,
)
from toolgen.calls.functions.tools import func_tool
from toolgen.calls.specs import NativeTool
from toolgen.runtime import Runtime, StaticToolset
from toolgen.waiting.options import WaitOptions

TAGS = ("open", "shut")


@pytest.mark.parametrize(
    ("facts", "count"),
    [
        ({}, 1),
        ({"denied_tags": ["shut"]}, 1),
        ({"allowed_tags": ["open"]}, 0),
        ({"restrict_to_tool": "add"}, 0),
    ],
)
async def test_a_provider_runs_no_tool_that_the_run_may_not_use(facts: dict[str, Any], count: int) -> None:
    """Nobody else could stop it."""
    tagged = [func_tool(_do, name=tag, toolset="x.tagged", description="Do.", tags=(tag,)) for tag in TAGS]
    search = NativeTool(id="x.sums.search", provider="anthropic", kind="web_search")
    toolset = replace(TOOLS, native=(search,))
    planner = ScriptedPlanner([calling("boom", "boom"), "done"])
    toolsets = (toolset, StaticToolset(name="x.tagged", bound=tuple(tagged)))
    await ran(planner, RunPolicy(max_tool_calls=1), toolsets=toolsets, **facts)
    first, last = planner.inputs
    assert (len(first.native), len(last.native)) == (count, 0 if last.closing else count)


ADD = ("add", {"a": 1, "b": 2})


def _do() -> str:
    return "ok"


TAGGED = StaticToolset(
    name="local.functions",
    bound=tuple(
        func_tool(_do, name=name, description="Do.", tags=(tag,))
        for name, tag in (("read", "safe"), ("write", "plain"))
    ),
)
ELSEWHERE = func_tool(_do, name="do", toolset="x.other", description="Do.", tags=("elsewhere",))


async def test_tags_and_one_tool_are_advertised_and_kept() -> None:
    tools = [func_tool(_do, name=name, description="Do.", tags=(name,)) for name in ("read", "write")]
    toolset = StaticToolset(name="local.functions", bound=tuple(tools))
    for allowed, denied in ((["read"], []), ([], ["write"])):
        planner = ScriptedPlanner([calling("read", "write"), lambda given: str(answers(given))])
        async with running(agent("x.agent", planner, toolset)) as (runtime, _):
            output = (
                await agents_of(runtime)
                .client("x.agent")
                .one_shot("Go.", allowed_tags=allowed, denied_tags=denied)
            )
        assert [spec.name for spec in planner.inputs[0].tools] == ["read"]
        assert output.text == str(['"ok"', '{"error":"not run: this run may not use write"}'])
    found = await ran(ScriptedPlanner([calling(ADD), first_answer]), restrict_to_tool="boom")
    assert found.output.text == '{"error":"not run: only boom may be called now"}'


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"restrict_to_tool": "reed"}, "no tool of agent 'x.agent' has the wire name 'reed'\n.*read"),
        ({"restrict_to_tool": "local.functions.read"}, "has the wire name 'local.functions.read'"),
        ({"allowed_tags": ["plain", "sfae"]}, "has the allowed tag 'sfae'\n  hint: similar to 'sfae': safe"),
        ({"allowed_tags": ["elsewhere"]}, "no tool of agent 'x.agent' has the allowed tag 'elsewhere'"),
        ({"denied_tags": ["sfae"]}, "no tool of the runtime has the denied tag 'sfae'"),
    ],
)
async def test_a_restriction_that_nothing_has_is_refused_at_the_start(
    facts: dict[str, Any], message: str
) -> None:
    planner = ScriptedPlanner([])
    async with running(agent("x.agent", planner, TAGGED)) as (runtime, _):
        runtime.tools.register(StaticToolset(name="x.other", bound=(ELSEWHERE,)))
        client = agents_of(runtime).client("x.agent")
        with pytest.raises(UnknownRestrictionError, match=message):
            await client.start("Go.", session_id="s", **facts)
        assert planner.inputs == []
        with pytest.raises(UnknownSessionError):
            await agents_of(runtime).sessions.get("s")


async def test_a_run_may_name_what_agents_have_that_it_may_reach() -> None:
    planner = ScriptedPlanner(["done", "done", "done"])
    desk = agent("x.desk", ScriptedPlanner([]), TAGGED)
    async with running(agent("x.agent", planner, TOOLS, transfers=("x.desk",)), desk) as (runtime, _):
        runtime.tools.register(StaticToolset(name="x.other", bound=(ELSEWHERE,)))
        client = agents_of(runtime).client("x.agent")
        assert (await client.one_shot("Go.", allowed_tags=["safe"])).text == "done"
        assert (await client.run("Go.", session_id="s", restrict_to_tool="read")).text == "done"
        assert (await client.run("Go.", session_id="t", denied_tags=["plain", "elsewhere"])).text == "done"


async def test_the_tools_of_a_dynamic_toolset_may_come_later() -> None:
    planner = ScriptedPlanner(["done"])
    registration = replace(agent("x.agent", planner, TOOLS), dynamic=(replace(TAGGED, name="x.late"),))
    async with running(registration) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        assert (await client.run("Go.", session_id="s", restrict_to_tool="soon")).text == "done"
    assert planner.inputs[0].tools == ()


async def test_one_tool_is_advertised_and_taken() -> None:
    planner = ScriptedPlanner([calling(ADD, "boom", "nope"), lambda given: " | ".join(answers(given))])
    found = await ran(planner, restrict_to_tool="add")
    assert [[spec.name for spec in given.tools] for given in planner.inputs] == [["add"], ["add"]]
    first, *others = found.output.text.split(" | ")
    assert first == "3"
    assert [json.loads(text)["error"] for text in others] == ["not run: only add may be called now"] * 2
    assert found.output.tool_calls == 1


@pytest.mark.parametrize("mode", ["resume", "await_clarification", "finalize"])
async def test_missing_fields(mode: Any) -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        for awaiting in (await handle.settled()).awaiting:
            assert awaiting.question == "To call add I need a, b."
            await handle.answer(awaiting, "1 and 2")

    planner = ScriptedPlanner(
        [calling("add", ADD), lambda given: given.closing or calling(ADD), first_answer]
    )
    found = await ran(planner, RunPolicy(on_missing_fields=mode), drive=drive)
    (hint,) = planner.inputs[1].retry_hints
    assert (hint.reason, hint.missing_fields) == ("missing_fields", ("$.a", "$.b"))
    assert answers(planner.inputs[1])[1] == "3"
    assert found.output.text == {"finalize": "missing_fields"}.get(mode, "3")
    asked = found.of("question_asked")
    assert [event.missing_fields for event in asked] == (
        [("$.a", "$.b")] if mode == "await_clarification" else []
    )


async def test_with_nobody_to_ask_the_model_is_told_of_missing_fields() -> None:
    planner = ScriptedPlanner([calling("add"), calling(ADD), first_answer])
    policy = RunPolicy(on_missing_fields="await_clarification")
    found = await ran(planner, policy, options={"waiting": WaitOptions(is_interactive=False)})
    assert found.output.text == "3"


SUM = ("add", {"a": 1, "b": 1})

SUMS: list[int] = []


async def add(a: int, b: int) -> int:
    """Add."""
    SUMS.append(a + b)
    return a + b


@pytest.mark.parametrize(("own", "allowed"), [("", "add"), ("boom", "boom")])
async def test_only_the_tool_that_a_question_was_about_may_be_called_next(own: str, allowed: str) -> None:
    """A planner cannot widen what its run may call."""

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await handle.answer(await waiting(handle), "b is 1")

    question = Await(kind="clarification", question="And b?", restrict_to_tool="add", missing_fields=("b",))
    script: list[ScriptStep] = [question, calling("boom", SUM), calling("boom", SUM), "done"]
    planner = ScriptedPlanner(script)
    found = await ran(planner, drive=drive, restrict_to_tool=own)
    assert found.output.text == "done"
    assert [tool.name for tool in planner.inputs[1].tools] == [allowed]
    assert planner.inputs[1].restrict_to_tool == allowed
    refused = [text for text in answers(planner.inputs[2]) if "not run" in text]
    assert refused == ['{"error":"not run: only %s may be called now"}' % allowed]  # noqa: UP031
    assert [tool.name for tool in planner.inputs[2].tools][:1] == [own or "add"]
    assert planner.inputs[2].restrict_to_tool == own
