"""`[tool.toolgen.agents]`: which agent a name means, and what each mistake in it gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.tools import agent
from toolgen.agents import ScriptedPlanner, agents_of
from toolgen.cli.config import Project, find_project
from toolgen.cli.models import ready_planners, set_models
from toolgen.contract.errors import ToolgenError
from toolgen.runtime import Runtime


def project(folder: Path, table: str) -> Project:
    (folder / "pyproject.toml").write_text(f'[tool.toolgen]\ndesign = "d"\n[tool.toolgen.agents]\n{table}\n')
    return find_project(folder / "pyproject.toml")


async def test_a_name_or_an_id_gives_an_agent_its_planner(tmp_path: Path) -> None:
    settings = project(tmp_path, 'clerk = "demo"\n"x.boss" = "demo"')
    async with Runtime() as runtime:
        agents = agents_of(runtime)
        for id_ in ("x.clerk", "x.boss"):
            agents.register(agent(id_, None))
        set_models(settings, runtime)
        ready_planners(runtime)
        assert (await agents.client("x.boss").one_shot("Hello!")).text.startswith("Demo model")


@pytest.mark.parametrize(
    ("table", "message", "hint"),
    [
        ('clrk = "demo"', "the runtime has no agent 'clrk'", "did you mean 'clerk'?"),
        ('both = "demo"', "several agents are named 'both': x.both, y.both", 'write "x.both"'),
        ('scripted = "demo"', "has a model for 'scripted', whose code sets a planner", "remove this line"),
        ('clerk = "gpt-5"', "'gpt-5' is not a model", 'write "openai:gpt-5"'),
    ],
)
async def test_what_cannot_be_is_said_at_once(tmp_path: Path, table: str, message: str, hint: str) -> None:
    settings = project(tmp_path, table)
    async with Runtime() as runtime:
        agents = agents_of(runtime)
        for id_ in ("x.clerk", "x.both", "y.both"):
            agents.register(agent(id_, None))
        agents.register(agent("x.scripted", ScriptedPlanner(["Hi."])))
        with pytest.raises(ToolgenError) as caught:
            set_models(settings, runtime)
    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("table", "hint"),
    [
        ("clerk = 5", 'write clerk = "openai:gpt-5" below [tool.toolgen.agents]'),
        ('desk.clerk = "demo"', 'write an id with its dot in quotes: "desk.clerk" = "openai:gpt-5"'),
    ],
)
def test_the_table_has_texts(tmp_path: Path, table: str, hint: str) -> None:
    with pytest.raises(ToolgenError, match="is not a table of models by agent") as caught:
        project(tmp_path, table)
    assert caught.value.hint == hint
