"""Agents as they are registered: all of one, or nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest

from gen.assistant.toolsets import tariffs
from tests.agents.tools import TOOLS, add, agent, calling, first_answer, running
from tests.cases.mcp.gen.helper.toolsets import git
from toolgen.adapters.mcp import MCPToolset, StdioServer
from toolgen.agents import (
    AgentRegistration,
    Agents,
    AgentSpec,
    AgentTool,
    FinalResponse,
    Message,
    PlanInput,
    ScriptedPlanner,
    ToolMessage,
    agents_of,
)
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.toolsets.registration import AgentRoute
from toolgen.contract.errors import ToolgenError
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    BoundTool,
    ConfirmSpec,
    ReadonlyContext,
    RegistrationError,
    Runtime,
    StaticToolset,
    ToolsetRegistration,
)

NOBODY = ScriptedPlanner([])
ADD = calling(("add", {"a": 1, "b": 1}))


class Yielding:
    """A planner that yields its plan."""

    async def plan_start(self, given: PlanInput) -> AsyncIterator[FinalResponse]:
        yield FinalResponse(text="")

    plan_resume = plan_start


class Lonely:
    """A planner whose methods take nothing."""

    async def plan_start(self) -> FinalResponse:
        return FinalResponse(text="")

    plan_resume = plan_start


class SyncPlanner:
    """A planner that was written without `async`."""

    def plan_start(self, given: PlanInput) -> FinalResponse:
        return FinalResponse(text="")

    plan_resume = plan_start


SYNC = f"test_registration.py:{SyncPlanner.plan_start.__code__.co_firstlineno}"


def test_agents_share_a_toolset_and_its_executor() -> None:
    runtime = Runtime()
    agents_of(runtime).register(agent("x.one", NOBODY))
    agents_of(runtime).register(agent("x.two", NOBODY))
    assert agents_of(runtime).list() == ("x.one", "x.two")
    assert runtime.tools.toolsets() == ("x.tools",)
    other = StaticToolset(name="x.tools", bound=(func_tool(add, toolset="x.tools"),))
    with pytest.raises(RegistrationError, match=r"different executor for toolset 'x.tools'"):
        agents_of(runtime).register(agent("x.three", NOBODY, other))
    assert agents_of(runtime).list() == ("x.one", "x.two")


def test_agents_share_a_toolset_that_another_agent_implements() -> None:
    runtime = Runtime()
    spec = func_tool(add, toolset="x.sums").spec
    for name in ("x.one", "x.two"):
        route = AgentRoute(agent="x.sums")  # each package makes its own
        sums = ToolsetRegistration(name="x.sums", specs=[spec], executor=route)
        agents_of(runtime).register(agent(name, NOBODY, sums))
    assert agents_of(runtime).list() == ("x.one", "x.two")


def test_agents_share_a_toolset_that_clients_execute() -> None:
    """Generated code creates an executor for each registration that is called without one."""
    runtime = Runtime()
    for name in ("assistant.one", "assistant.two"):
        agents_of(runtime).register(agent(name, NOBODY, tariffs.registration()))
    assert agents_of(runtime).list() == ("assistant.one", "assistant.two")
    other = tariffs.registration(tariffs.BoundTariffsExecutor())
    with pytest.raises(RegistrationError, match=r"different executor for toolset 'assistant.tariffs'"):
        agents_of(runtime).register(agent("assistant.three", NOBODY, other))


def test_an_agent_uses_a_toolset_that_was_registered_without_an_executor() -> None:
    runtime = Runtime()
    runtime.tools.register(tariffs.registration())
    agents_of(runtime).register(agent("assistant.one", NOBODY, tariffs.registration()))
    assert runtime.tools.toolsets() == ("assistant.tariffs",)


def test_agents_share_the_toolset_of_a_server() -> None:
    server, runtime = MCPToolset("git", StdioServer("mcp-server-git")), Runtime()
    for name in ("helper.one", "helper.two"):
        agents_of(runtime).register(agent(name, NOBODY, git.registration(server.executor)))
    assert agents_of(runtime).list() == ("helper.one", "helper.two")


def test_what_is_wrong_registers_nothing() -> None:
    runtime = Runtime()
    agents_of(runtime).register(agent("x.one", NOBODY, function_toolset("x.sums", [add])))
    before = (agents_of(runtime).list(), runtime.tools.toolsets())
    fine = agent("x.two", NOBODY)
    missing = AgentTool(id="x.tools.nothing", name="nothing")
    twice = AgentTool(id="x.tools.boom", name="add")
    for wrong, message in [
        (
            replace(fine, planner=SyncPlanner()),  # type: ignore[arg-type]  # what is refused
            rf"{SYNC}: SyncPlanner.plan_start, of the planner of agent 'x.two', is not asynchronous\n",
        ),
        (replace(fine, planner=Yielding()), "Yielding.plan_start, of the planner of agent 'x.two', yields\n"),  # type: ignore[arg-type]  # what is refused
        (replace(fine, planner=Lonely()), "Lonely.plan_start, .* cannot be called with one argument\n"),  # type: ignore[arg-type]  # what is refused
        (
            replace(fine, planner=ScriptedPlanner),  # type: ignore[arg-type]  # what is refused
            "the planner of agent 'x.two', ScriptedPlanner, is a class, not an instance",
        ),
        (replace(fine, planner=first_answer), "of function, has no method plan_start"),  # type: ignore[arg-type]  # what is refused
        (agent("x.one", NOBODY), "agent 'x.one' is registered already"),
        (replace(fine, spec=replace(fine.spec, tools=(missing,))), "no toolset passed to agent 'x.two' has"),
        (replace(fine, spec=replace(fine.spec, tools=(*fine.spec.tools[:1], twice))), "wire name 'add'"),
    ]:
        with pytest.raises(RegistrationError, match=message):
            agents_of(runtime).register(wrong)
        assert (agents_of(runtime).list(), runtime.tools.toolsets()) == before


def test_an_executor_without_a_method_registers_nothing() -> None:
    runtime = Runtime()
    spec = func_tool(add, toolset="x.sums").spec
    sums = ToolsetRegistration(name="x.sums", specs=[spec], executor=object())
    with pytest.raises(RegistrationError, match=r"object\.add is missing"):
        agents_of(runtime).register(agent("x.one", NOBODY, TOOLS, sums))
    assert (agents_of(runtime).list(), runtime.tools.toolsets()) == ((), ())


def test_a_toolset_that_is_there_already_serves_an_agent_too() -> None:
    runtime = Runtime()
    runtime.tools.register(TOOLS)
    agents_of(runtime).register(agent("x.one", NOBODY))
    assert runtime.tools.toolsets() == ("x.tools",)


def test_unknown_agents_are_named() -> None:
    runtime = Runtime()
    agents_of(runtime).register(agent("x.one", NOBODY))
    for ask in (agents_of(runtime).client, agents_of(runtime).specs):
        with pytest.raises(RegistrationError, match=r"agent 'x.two' is not registered"):
            ask("x.two")


async def test_an_agent_that_is_called_must_be_there() -> None:
    spec = func_tool(add, toolset="x.sums").spec
    route = ToolsetRegistration(name="x.sums", specs=[spec], executor=AgentRoute(agent="x.adder"))
    async with running(agent("x.one", ScriptedPlanner([ADD, first_answer]), route)) as (runtime, _):
        with pytest.raises(RegistrationError, match=r"agent 'x.adder', whose tools 'x.one' reaches"):
            await agents_of(runtime).client("x.one").one_shot("Go.")
        result = await runtime.call("add", {"a": 1, "b": 1})
        assert result.status == "error"


async def test_a_name_of_its_own_and_the_id_of_all() -> None:
    tool = AgentTool(id="x.tools.add", name="my_add")
    spec = AgentSpec(id="x.one", description="Adds.", tools=(tool,))
    planner = ScriptedPlanner([calling(("my_add", {"a": 1, "b": 1}), ("add", {"a": 1, "b": 1})), _both])
    registration = AgentRegistration(spec=spec, planner=planner, toolsets=(TOOLS,))
    async with running(registration) as (runtime, _):
        assert [one.name for one in agents_of(runtime).specs("x.one")] == ["my_add"]
        output = await agents_of(runtime).client("x.one").one_shot("Go.")
    assert output.text == "2 there is no tool 'add'; similar names: my_add"


def _both(given: PlanInput) -> str:
    first, second = [answer.text for answer in given.messages[-1].answers]  # type: ignore[union-attr]
    return f"{first} {second[10:-2]}"


def texts_of(given: PlanInput) -> str:
    return " ".join(answer for message in given.messages for answer in _answers(message))


def _answers(message: Message) -> list[str]:
    return [answer.text for answer in message.answers] if isinstance(message, ToolMessage) else []


class Changing:
    """Has one tool, every second time that it is asked."""

    name = "x.changing"

    def __init__(self) -> None:
        self.asked = 0

    async def tools(self, context: ReadonlyContext) -> Sequence[BoundTool]:
        self.asked += 1
        return [func_tool(add, toolset=self.name)] if self.asked % 2 else []


async def test_tools_of_the_host_come_and_go() -> None:
    planner = ScriptedPlanner([ADD, ADD, ADD, first_answer])
    spec = AgentSpec(id="x.one", description="Adds.")
    registration = AgentRegistration(spec=spec, planner=planner, dynamic=(Changing(),))
    async with running(registration) as (runtime, _):
        output = await agents_of(runtime).client("x.one").one_shot("Go.")
    assert output.text == "2"
    assert [len(given.tools) for given in planner.inputs] == [1, 0, 1, 0]
    assert "is no longer available" in texts_of(planner.inputs[2])


def test_a_tool_of_an_agent_that_nobody_is_asked_about_is_said_at_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    asking = replace(func_tool(add, toolset="x.tools").spec, confirm=ConfirmSpec(hint="Really?"))
    tools = StaticToolset(name="x.tools", bound=(replace(func_tool(add, toolset="x.tools"), spec=asking),))
    agents_of(Runtime(engine=InProcessEngine())).register(agent("x.one", NOBODY, tools))
    assert caplog.messages == []
    agents = agents_of(Runtime())
    agents.register(agent("x.one", NOBODY, tools))
    agents.register(agent("x.two", NOBODY, tools))
    (line,) = caplog.messages
    assert line.startswith("add: needs approval, but this runtime has no engine to store the question")


def test_an_agent_that_is_registered_twice_is_told_what_to_remove() -> None:
    agents = agents_of(Runtime())
    agents.register(agent("x.one", NOBODY))
    with pytest.raises(RegistrationError, match=r"'x.one' is registered already\n  hint: remove one of"):
        agents.register(agent("x.one", NOBODY))


def test_a_runtime_has_its_agents_once() -> None:
    runtime = Runtime()
    agents_of(runtime)
    with pytest.raises(RegistrationError, match=r"already has Agents\n.* agents_of\(runtime\)"):
        Agents(runtime)


def test_a_text_in_the_place_of_a_script_is_refused() -> None:
    with pytest.raises(ToolgenError, match=r"string 'Hello', .*\n.* write ScriptedPlanner\(\['Hello'\]\)"):
        ScriptedPlanner("Hello")
