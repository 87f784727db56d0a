"""`planner="openai:gpt-5"` and `planner="demo"`: names of planners, and agents that have none."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.tools import agent
from toolgen.agents import LLMPlanner, ScriptedPlanner, agents_of
from toolgen.agents.planner.model_names import ModelName
from toolgen.calls.errors import RegistrationError
from toolgen.contract.errors import ToolgenError
from toolgen.runtime import Runtime


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("openai:gpt-5", ("openai", "gpt-5", "")),
        ("bedrock:us.amazon.nova-pro-v1:0", ("bedrock", "us.amazon.nova-pro-v1:0", "")),
        (
            "llama3.2:3b@http://localhost:11434/v1",
            ("openai-chat", "llama3.2:3b", "http://localhost:11434/v1"),
        ),
        ("anthropic:claude-haiku-4-5@https://x.test", ("anthropic", "claude-haiku-4-5", "https://x.test")),
        ("@cf/meta/llama@https://x.test/v1", ("openai-chat", "@cf/meta/llama", "https://x.test/v1")),
    ],
)
def test_names_of_models(name: str, parts: tuple[str, str, str]) -> None:
    assert ModelName.parse(name) == parts


@pytest.mark.parametrize("name", ["", "gpt-5", "openai:", ":gpt-5", "openai: gpt-5", "@http://localhost"])
async def test_what_is_no_name_is_refused_where_it_is_given(name: str) -> None:
    async with Runtime() as runtime:
        with pytest.raises(RegistrationError, match=f"{name!r} is not a model") as caught:
            agents_of(runtime).register(agent("x.agent", name))
        assert caught.value.hint == (
            'write "openai:gpt-5", "NAME@http://localhost:11434/v1" for a server, or "demo"'
        )


async def test_a_named_planner_plans() -> None:
    async with Runtime() as runtime:
        agents_of(runtime).register(agent("x.agent", "demo"))
        output = await agents_of(runtime).client("x.agent").run("Say something else.", session_id="s")
    assert output.text.startswith("Demo model")


async def test_an_agent_without_a_planner_says_what_to_write() -> None:
    async with Runtime() as runtime:
        agents = agents_of(runtime)
        agents.register(agent("x.clerk", None))
        output = await agents.client("x.clerk").run("Go.", session_id="s")
        fix = 'write clerk = "openai:gpt-5" under [tool.toolgen.agents], or register(…, planner=…)'
        assert output.error == f"the planner failed: agent 'x.clerk' has no planner; {fix}"
        with pytest.raises(RegistrationError, match=r"agent 'x.clerk' has no planner"):
            agents.ready_planners()
        agents.override_planner("x.clerk", ScriptedPlanner(["Here I am."]))
        assert (await agents.client("x.clerk").run("Go.", session_id="s")).text == "Here I am."


@pytest.mark.exhaustive
async def test_a_model_whose_key_is_missing_ends_the_run_with_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    async with Runtime() as runtime:
        agents = agents_of(runtime)
        agents.register(agent("x.agent", "openai:gpt-5"))
        with pytest.raises(ToolgenError, match="OPENAI_API_KEY"):
            agents.ready_planners()
        output = await agents.client("x.agent").run("Go.", session_id="s")
    assert output.status == "failed"
    assert "OPENAI_API_KEY" in output.error
    assert "\n" not in output.error


@pytest.mark.parametrize(("model", "name"), [(5, "5"), (LLMPlanner, "LLMPlanner")])
def test_what_is_no_model_is_refused(model: Any, name: str) -> None:
    with pytest.raises(ToolgenError, match=f'{name} is not a model\n  hint: write "openai:gpt-5"'):
        LLMPlanner(model)
