"""Generation as a whole: how much a tool adds, that nothing depends on chance, and what stubs say."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.golden import design, formatted
from toolgen.codegen import generate, stub
from toolgen.dsl import Agent, Args, Attribute, Design, Return, Service, String, Tool, Toolset, Use, build

ROOT = Path(__file__).resolve().parents[1]

DIGEST = """
import hashlib
from tests.golden import NAMES, design, module
from toolgen.codegen import generate
trees = [list(generate(design(case), module=module(case)).items()) for case in NAMES]
print(hashlib.sha256(repr(trees).encode()).hexdigest())
"""


def lines_of(tools: int, folder: str) -> int:
    """Return the non-blank lines of Python of a toolset of one-field tools, or of an agent that uses it."""
    made = (
        Tool(
            f"describe_device_number_{number}",
            "Return what is known about the device, in one sentence.",
            Args(
                Attribute("device_id", String, "Stable identifier of the device to describe.", required=True)
            ),
            Return(Attribute("description", String, "What is known about the device.", required=True)),
        )
        for number in range(tools)
    )
    toolset = Toolset("devices", "Find devices.", *made)
    agent = Agent("chat", "Talks with people.", Use(toolset, prefix="home_"))
    checked = build(Design("home", "Home.", Service("assistant", "Tools.", toolset, agent))).design
    assert checked is not None
    texts = formatted(generate(checked, module="design"))
    return sum(
        1
        for path, text in texts.items()
        if path.startswith(f"assistant/{folder}/") and path.endswith(".py")
        for line in text.splitlines()
        if line.strip()
    )


def test_a_further_tool_adds_less_than_forty_lines() -> None:
    assert lines_of(4, "toolsets") - lines_of(3, "toolsets") <= 36


def test_a_further_tool_of_a_large_toolset_adds_its_own_types_module() -> None:
    # The header, the docstring and the imports of the module come on top.
    assert lines_of(23, "toolsets") - lines_of(22, "toolsets") <= 52


def test_a_further_tool_adds_few_lines_to_an_agent() -> None:
    assert lines_of(4, "agents") - lines_of(3, "agents") <= 6


@pytest.mark.parametrize("name", ["runtime", "planner", "dynamic", "register", "client", "replace", "class"])
def test_no_toolset_takes_a_name_that_its_agent_needs(name: str) -> None:
    toolset = Toolset(name, "Helps.", Tool("do", "Do it."))
    agent = Agent("chat", "Talks.", Use(toolset, prefix="my_"))
    checked = build(Design("home", "Home.", Service("Home", "Home.", toolset, agent))).design
    assert checked is not None
    texts = generate(checked, module="design")
    module = ast.parse(texts["home/agents/chat/agent.py"])
    functions = {one.name: one.args for one in module.body if isinstance(one, ast.FunctionDef)}
    parameters = [one.arg for one in (*functions["register"].args, *functions["register"].kwonlyargs)]
    imports = [one for one in module.body if isinstance(one, ast.ImportFrom)]
    imported = {alias.asname or alias.name for one in imports for alias in one.names}
    assert len(set(parameters)) == len(parameters) == 4
    assert not imported & {*functions, *parameters}
    assert ("replace as _replace" in texts["home/agents/chat/specs.py"]) == (name == "replace")


@pytest.mark.parametrize("seed", ["0", "1", "4711"])
def test_output_depends_neither_on_hash_seed_nor_on_the_working_directory(seed: str, tmp_path: Path) -> None:
    assert _digest(seed, tmp_path) == _digest("2", ROOT)


def _digest(seed: str, folder: Path) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", DIGEST]
    done = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return done.stdout


def test_files_come_in_the_order_of_the_design() -> None:
    paths = list(generate(design("enums"), module="design"))
    assert paths[:3] == ["__init__.py", "py.typed", "types.py"]
    assert [path for path in paths if path.endswith("specs.py")] == [
        "states/toolsets/states/specs.py",
        "states/toolsets/more/specs.py",
    ]
    assert paths[-1] == "tool_schemas.json"


def test_imports_inside_the_tree_are_relative() -> None:
    for path, text in generate(design("binding"), module="design").items():
        if path.endswith(".py"):
            nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
            modules = {node.module for node in nodes if node.level == 0}
            assert modules <= {"__future__", "abc", "pydantic", "toolgen.runtime", "typing"}, path


def test_a_header_names_the_design_and_nothing_else() -> None:
    for path, text in generate(design("maps"), module="acme.design").items():
        if path.endswith(".py"):
            assert text.splitlines()[:2] == [
                "# Code generated by toolgen. DO NOT EDIT.",
                "# Design: acme.design",
            ]


def test_the_stub_of_a_bound_toolset_holds_what_is_not_bound() -> None:
    checked = design("binding")
    (toolset,) = checked.services[2].toolsets
    assert (
        formatted({"stub.py": stub(checked, toolset, "acme.gen")})["stub.py"]
        == '''\
"""Executes the tools of assistant.devices in binding."""

from __future__ import annotations

from toolgen.runtime import ToolContext, ToolReturn

from acme.gen.assistant.toolsets import devices


class Devices(devices.BoundDevicesExecutor):
    """Devices of a site."""

    async def ping(
        self, payload: devices.PingPayload, ctx: ToolContext
    ) -> ToolReturn[devices.PingResult]:
        """Answer."""
        raise NotImplementedError("ping returns PingResult, and trace as artifact")
'''
    )


def test_the_stub_of_an_unbound_toolset_holds_every_tool() -> None:
    checked = design("recursive")
    (toolset,) = checked.services[0].toolsets
    assert (
        formatted({"stub.py": stub(checked, toolset, "gen")})["stub.py"]
        == '''\
"""Executes the tools of library.documents in recursive."""

from __future__ import annotations

from toolgen.runtime import ToolContext

from gen.library.toolsets import documents


class Documents(documents.DocumentsExecutor):
    """Read documents."""

    async def table_of_contents(
        self, payload: documents.TableOfContentsPayload, ctx: ToolContext
    ) -> documents.TableOfContentsResult:
        """Return the sections of a document."""
        raise NotImplementedError("table_of_contents returns TableOfContentsResult with root")

    async def team(self, payload: documents.TeamPayload, ctx: ToolContext) -> documents.TeamResult:
        """Return a team."""
        raise NotImplementedError("team returns TeamResult with members")
'''
    )


def test_the_stub_of_a_long_running_tool_may_be_pending() -> None:
    """With the acknowledgement that the design declares, wherever its class stands; formatted already."""
    checked = design("behaviour")
    toolset = checked.services[0].toolsets[0]
    late = tuple(replace(tool, artifacts=()) for tool in toolset.tools if tool.behaviour.long_running)
    texts = [
        stub(checked, replace(toolset, name=name, tools=late), "acme.gen")
        for name in ("devices", "lamps_of_the_house", "devices_of_the_upper_floors")
    ]
    for text in texts:
        assert formatted({"stub.py": text})["stub.py"].strip() == re.sub(r"\n\n\n\n*", "\n\n\n", text).strip()
    assert (
        formatted({"stub.py": texts[0]})["stub.py"]
        == '''\
"""Executes the tools of home.devices in behaviour."""

from __future__ import annotations

from toolgen.runtime import LongRunningReturn, ToolContext

from acme.gen.home.toolsets import devices
from acme.gen.types import Reason


class Devices(devices.DevicesExecutor):
    """Devices."""

    async def update_firmware(
        self, payload: devices.UpdateFirmwarePayload, ctx: ToolContext
    ) -> LongRunningReturn[devices.UpdateFirmwareResult, devices.UpdateFirmwareAck]:
        """Update the firmware of a device."""
        raise NotImplementedError(
            "update_firmware returns UpdateFirmwareResult with version, or ToolOutcome.pending(…)"
        )

    async def finish(
        self, payload: devices.FinishPayload, ctx: ToolContext
    ) -> LongRunningReturn[devices.FinishResult, Reason]:
        """End the conversation."""
        raise NotImplementedError("finish returns FinishResult, or ToolOutcome.pending(…)")

    async def measure(
        self, payload: devices.MeasurePayload, ctx: ToolContext
    ) -> LongRunningReturn[devices.MeasureResult, None]:
        """Measure for a day."""
        raise NotImplementedError(
            "measure returns MeasureResult with low, or ToolOutcome.pending(…)"
        )
'''
    )


def test_a_stub_tells_its_class_from_the_acknowledgement_of_its_tool() -> None:
    """Which may have the same name, and come from the shared types."""
    checked = design("behaviour")
    toolset = checked.services[0].toolsets[0]
    late = tuple(tool for tool in toolset.tools if tool.name == "finish")
    text = stub(checked, replace(toolset, name="reason", tools=late), "acme.gen")
    assert "from acme.gen.types import Reason as _Reason\n" in text
    assert "class Reason(reason.ReasonExecutor):" in text
    assert "LongRunningReturn[reason.FinishResult, _Reason]" in text
