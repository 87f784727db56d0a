"""What people see at a terminal: JSON, timelines, completion, help with examples, settings of clients."""

from __future__ import annotations

import json
import re
import resource
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

from toolgen.cli.app import app
from toolgen.cli.terminal import indented
from toolgen.cli.timeline import duration, timeline

from .conftest import ProjectFolder
from .terminal import at_a_terminal
from .test_chat_command import MAIN
from .test_gen_command import without

ESCAPE = re.compile(r"\x1b\[\d+m")
DOCUMENTS = ["{}", "[]", '{"a":[]}', '[{"a":1.5,"b":[true,null,{"c":"\\"{,"}]},[]]', '"a: [b]"', '{"é: ":-1}']


@pytest.fixture
def desk(project: ProjectFolder) -> ProjectFolder:
    project.write("app/main.py", MAIN.replace("PLANNER", '"demo"'))
    return project


@pytest.mark.parametrize("document", DOCUMENTS)
def test_indented_json_says_the_same_in_the_same_words(document: str) -> None:
    shown = indented(document)
    assert re.sub(r"\s", "", shown) == re.sub(r"\s", "", document)
    coloured = indented(document, colour=True)
    assert ESCAPE.sub("", coloured) == shown


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.314, "0.31 s"), (42.2, "42 s"), (125, "2:05 min"), (7507, "2:05:07 h")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(each, (*path, name))
    if not hasattr(command, "commands"):
        yield path, command


@pytest.mark.parametrize(
    ("path", "command"), [pytest.param(*each, id=" ".join(each[0])) for each in commands(get_command(app))]
)
def test_each_help_has_an_example(path: tuple[str, ...], command: Any) -> None:
    examples = [line.strip() for line in command.help.splitlines() if "Example: " in line]
    assert examples
    assert all(line.startswith(f"Example: toolgen {' '.join(path)}") for line in examples)


def test_a_run_is_a_timeline_for_people_and_json_for_programs(desk: ProjectFolder) -> None:
    desk.run("run", "clerk", 'count_words {"text": "to be"}', "--session", "s")
    (record,) = desk.run("runs", "list", "--json").out.splitlines()
    run = json.loads(record)
    assert run["ended_at"] >= run["started_at"]
    assert run["duration_s"] >= 0
    lines = desk.run("runs", "show", run["run_id"], "--timeline").out.splitlines()
    assert lines[1].endswith("s, 2 plannings, 1 call")
    assert [line.split("s  ", 1)[1].split("  (")[0] for line in lines[2:] if "said" not in line] == [
        "started desk.clerk",
        'calls count_words {"text": "to be"}',
        "count_words: ok 2",
        "completed",
    ]
    events = json.loads(desk.run("runs", "show", run["run_id"]).out)["events"]
    assert timeline(events, is_over=True) == lines[1:]


def test_a_timeline_counts_tokens_and_children() -> None:
    events: list[dict[str, Any]] = [
        {"type": "run_started", "agent": "a", "time": 1.0},
        {"type": "usage", "model": "m", "input_tokens": 1200, "output_tokens": 7, "time": 2.0},
        {"type": "agent_run_started", "agent": "b", "child_run_id": "run_2", "tool": "t", "time": 3.5},
    ]
    head, *lines = timeline(events, is_over=False)
    assert head == "1970-01-01 00:00:01 UTC, 2.50 s so far, 1 child, 1,200 tokens in, 7 out"
    assert lines[-1] == "    +2.50 s  starts b as run_2"
    assert timeline([], is_over=False) == ["nothing has happened yet"]


def test_tools_for_programs(desk: ProjectFolder) -> None:
    listed = [json.loads(line) for line in desk.run("tools", "list", "--json").out.splitlines()]
    assert [tool["name"] for tool in listed] == ["count_words", "burn_text", "keep_text"]
    assert listed[0]["description"] == "Count the words of a text."


def test_a_desktop_client_gets_absolute_paths(desk: ProjectFolder) -> None:
    done = desk.run("mcp", "serve", "--print-config", "--session", "s", "--agent", "desk.clerk")
    (server,) = json.loads(done.out)["mcpServers"].values()
    file = str(desk.path / "pyproject.toml")
    assert server == {
        "command": sys.executable,
        "args": [
            *["-m", "toolgen", "mcp", "serve", "--config", file],
            *["--agent", "desk.clerk", "--session", "s"],
        ],
    }
    refused = desk.run("mcp", "serve", "--print-config", "--http", "8000")
    assert (refused.code, refused.out) == (2, "")


def test_a_server_that_cannot_start_has_no_settings(desk: ProjectFolder) -> None:
    refused = without("mcp_types", desk.path, "mcp", "serve", "--print-config")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.endswith("  hint: pip install 'toolgen[mcp]'\n")


def test_a_shell_completes_commands(desk: ProjectFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TOOLGEN_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "toolgen ru")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert desk.run().out.split() == ["run", "runs"]


@pytest.mark.exhaustive
def test_a_terminal_gets_indented_json_and_colours(desk: ProjectFolder) -> None:
    failed = ["call", "count_words", '{"txt": 1}']
    said = at_a_terminal(desk, failed)
    assert '{\r\n  \x1b[34m"error"\x1b[0m: \x1b[32m"the arguments of count_words do not fit"\x1b[0m' in said
    plain = at_a_terminal(desk, failed, environment={"NO_COLOR": "1"})
    assert '{\r\n  "error": "the arguments of count_words do not fit"' in plain


MANY = """\
from toolgen.dsl import Args, Attribute, Design, Service, String, Tool, Toolset
tools = [Tool(f"get_{n}", "Get it.", Args(Attribute("id", String, "Id of it."))) for n in range(150)]
design = Design("app", "An application.", Service("hall", "A hall.", Toolset("many", "Tools.", *tools)))
"""


@pytest.mark.exhaustive
def test_a_person_is_told_what_takes_long_and_where_a_code_is_explained(project: ProjectFolder) -> None:
    project.write("app/design.py", MANY)
    assert "generating the code of 150 tools…" in at_a_terminal(project, ["gen"])
    assert "generating" not in project.run("gen").err
    project.write("app/design.py", MANY.replace('"get_{n}"', '"Get {n}"'))
    assert "see: toolgen explain bad-name\r\n" in at_a_terminal(project, ["gen"])
    assert "see:" not in project.run("gen").err


def test_an_artifact_is_shown_and_saved(project: ProjectFolder) -> None:
    project.write("app/main.py", ARTIFACTS)
    project.run("call", "report", '{"city": "Bonn"}', "--session", "s-1")
    uri = "artifact:session/s-1/report.json?version=1"
    assert project.run("artifacts", "show", uri).out == '{"rows":[{"city":"Bonn","heat":3}]}'
    assert "city  heat" in project.run("artifacts", "show", uri, "--view", "table").out
    assert project.run("artifacts", "save", uri, "r.json").code == 0
    assert (project.path / "r.json").read_text() == '{"rows":[{"city":"Bonn","heat":3}]}'
    again = project.run("artifacts", "save", uri, "r.json")
    assert (again.code, "already exists" in again.err) == (2, True)
    assert project.run("artifacts", "save", uri, "r.json", "--force").code == 0
    other = project.run("artifacts", "show", uri, "--session", "other")
    assert (other.code, "there is no artifact" in other.err) == (2, True)
    assert "pass the URI from the result of its call" in project.run("artifacts", "show", "report").err


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_full_disk_leaves_what_is_there_and_no_half_of_an_artifact(
    project: ProjectFolder, force: tuple[str, ...]
) -> None:
    project.write("app/main.py", ARTIFACTS.replace("data = b", "data = 20_000 * b"))
    project.run("call", "report", '{"city": "Bonn"}', "--session", "s-1")
    uri = "artifact:session/s-1/report.json?version=1"
    if force:
        project.write("r.json", "mine")
    before = {name: text for name, text in project.files().items() if "artifacts.db" not in name}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limits[1]))
    try:
        done = project.run("artifacts", "save", uri, "r.json", *force)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (done.code, "File too large" in done.err) == (2, True)
    assert {name: text for name, text in project.files().items() if "artifacts.db" not in name} == before


ARTIFACTS = '''\
from toolgen.capabilities import ArtifactsCapability, SqliteArtifactStore
from toolgen.runtime import Runtime, ToolContext
from toolgen.runtime.functions import func_tool, function_toolset


async def report(city: str, ctx: ToolContext) -> str:
    """Report on a city."""
    data = b'{"rows":[{"city":"Bonn","heat":3}]}'
    return (await ctx.artifacts.save("report.json", data, "application/json")).uri


def runtime():
    runtime = Runtime(capabilities=[ArtifactsCapability(SqliteArtifactStore("artifacts.db"))])
    runtime.tools.register(function_toolset("desk.reports", [func_tool(report, toolset="desk.reports")]))
    return runtime
'''


def test_a_longer_word_means_the_command_that_it_begins_with(desk: ProjectFolder) -> None:
    said = desk.run("generate")
    assert (said.code, "No such command 'generate'. Did you mean 'gen'?" in said.err) == (2, True)


def test_the_model_of_an_agent_is_named_in_the_settings(desk: ProjectFolder) -> None:
    desk.write(
        "app/design.py",
        "from toolgen.dsl import Agent, Design, Service\n"
        'clerk = Agent("clerk", "Helps.", model="gpt-5")\n'
        'design = Design("d", "D.", Service("s", "S.", clerk))\n',
    )
    assert 'below [tool.toolgen.agents] write name = "openai:gpt-5"' in desk.run("gen").err
