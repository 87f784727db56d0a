"""A design whose agent uses tools of a server's lock: selected and prefixed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.adapters.mcp.client.conftest import bare
from tests.agents.tools import answers, calling
from tests.golden import write
from tests.peers import PEERS
from toolgen import dsl
from toolgen.adapters.mcp import StdioServer, lock_of
from toolgen.agents import Agents, CallTools, PlanInput, ScriptedPlanner, agents_of
from toolgen.codegen import generate
from toolgen.contract.mcp_lock import lock_text
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime

PACKAGE = "locked_agent_gen"


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[ModuleType]:
    """The generated package of the agent."""
    file = tmp_path / "bare.mcp.json"
    file.write_text(lock_text(lock_of("bare", StdioServer(sys.executable, (str(PEERS / "bare.py"), "good")))))
    tools = dsl.MCPToolset("bare", lock=str(file))
    used = dsl.Use(tools, only=["echo", "math_factorial", "math_factorial_2"], prefix="srv_")
    design = dsl.Design("d", "Locked.", dsl.Service("it", "It.", tools, dsl.Agent("chat", "Chats.", used)))
    evaluation = dsl.build(design)
    assert evaluation.design is not None, evaluation.diagnostics
    texts = generate(evaluation.design, module="locked")
    write(tmp_path, {f"{PACKAGE}/{path}": text for path, text in texts.items()})
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        patch.setattr(sys, "dont_write_bytecode", True)
        yield importlib.import_module(f"{PACKAGE}.it.agents.chat")
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.mark.exhaustive
async def test_an_agent_calls_the_tools_of_a_lock_by_its_own_names(chat: ModuleType) -> None:
    told: list[list[str]] = []

    def misname(given: PlanInput) -> CallTools:
        told.append(answers(given))
        return calling("echo", "srv_die")

    def end(given: PlanInput) -> str:
        told.append(answers(given))
        return "done"

    first = (
        ("srv_echo", {"n": 3}),
        ("srv_echo", {"n": "three"}),
        "srv_math_factorial",
        "srv_math_factorial_2",
    )
    planner = ScriptedPlanner([calling(*first), misname, end])
    server = bare("good")
    runtime = Runtime(engine=InProcessEngine())
    Agents(runtime)
    chat.register(runtime, planner=planner, bare=server.executor)
    async with server, runtime:
        output = await agents_of(runtime).client("it.chat").one_shot("Go.")
    assert output.text == "done"
    (echoed, refused, *named), unknown = told
    assert echoed == '{"n":3}'
    assert "$.n" in refused
    assert sorted(named) == ['"math.factorial"', '"math_factorial"']
    assert all("srv_" in text for text in unknown)  # neither is a tool of the agent
