"""`toolgen chat` and `toolgen run`: an agent that talks in the terminal, planned without a model."""

from __future__ import annotations

import json
import socket

import pytest

from toolgen.cli.artifact_text import artifact_text

from .conftest import Done, ProjectFolder
from .terminal import at_a_terminal

MAIN = '''\
from toolgen.agents import AgentRegistration, AgentSpec, AgentTool, Agents
from toolgen.engines import InProcessEngine
from toolgen.events import Events
from toolgen.runtime import ConfirmSpec, Runtime
from toolgen.runtime.functions import func_tool, function_toolset


def count_words(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())


def burn_text(text: str) -> str:
    """Burn a text."""
    return f"{text} is gone"


def keep_text(text: str) -> str:
    """Keep a text."""
    return f"{text} is kept"


def runtime():
    runtime = Runtime(engine=InProcessEngine("runs.db"), events=Events())
    agents = Agents(runtime)
    words = function_toolset(
        "desk.words",
        [
            func_tool(count_words, toolset="desk.words", annotations={"read_only": True}),
            func_tool(burn_text, toolset="desk.words", confirm=ConfirmSpec(hint="Burn {text}?")),
            func_tool(keep_text, toolset="desk.words"),
        ],
    )
    names = ("count_words", "burn_text", "keep_text")
    tools = tuple(AgentTool(id=f"desk.words.{name}", name=name) for name in names)
    for name in ("clerk", "intern"):
        spec = AgentSpec(id=f"desk.{name}", description="Counts.", tools=tools)
        agents.register(AgentRegistration(spec=spec, planner=PLANNER, toolsets=(words,)))
    return runtime
'''


@pytest.fixture
def desk(project: ProjectFolder) -> ProjectFolder:
    project.write("app/main.py", MAIN.replace("PLANNER", "None"))
    return project


def test_a_turn_prints_its_answer_alone(desk: ProjectFolder) -> None:
    done = desk.run("run", "clerk", 'Count the words of "to be or not"', "--model", "demo")
    assert (done.code, done.out) == (0, "count_words returned 4\n")
    assert "  → count_words {" in done.err
    assert "  ← count_words: ok, 4" in done.err


def test_a_turn_as_json(desk: ProjectFolder) -> None:
    done = desk.run(
        "run", "desk.clerk", "-", "--json", "--model", "demo", piped='count_words {"text": "a b"}'
    )
    turn = json.loads(done.out)
    assert turn["session"].startswith("session_")  # a run has another id
    assert (done.code, turn["status"], turn["text"], turn["tool_calls"]) == (
        0,
        "completed",
        "count_words returned 2",
        1,
    )


def test_a_turn_that_waits_names_the_command_that_answers(desk: ProjectFolder) -> None:
    done = desk.run("run", "clerk", 'burn_text {"text": "it"}', "--model", "demo", "--session", "s")
    assert (done.code, done.out) == (3, "")
    assert "it waits for a confirmation: Burn it?\nanswer it with: toolgen approve " in done.err
    assert "burn_text" in desk.run("approve", "--session", "s").out
    asked = desk.run("run", "intern", 'keep_text {"text": "it"}', "--model", "demo", "--session", "t")
    assert asked.err.endswith("\nanswer it with: toolgen chat desk.intern --session t\n")


@pytest.mark.parametrize(
    "command",
    [
        ("run", "clerk", 'keep_text {"text": "it"}', "--model", "demo"),
        ("call", "keep_text", '{"text": "it"}'),
    ],
    ids=["run", "call"],
)
def test_a_tool_that_can_ask_nobody_says_what_is_missing(
    desk: ProjectFolder, command: tuple[str, ...]
) -> None:
    main = MAIN.replace("PLANNER", "None").replace('engine=InProcessEngine("runs.db"), ', "")
    asks = main.replace('return f"{text} is kept"', 'return ToolOutcome.ask("Where?")')
    imported = asks.replace("import ConfirmSpec,", "import ToolOutcome, ConfirmSpec,")
    hints = 'keep_text, toolset="desk.words", annotations={"read_only": True}'
    desk.write("app/main.py", imported.replace('keep_text, toolset="desk.words"', hints))
    done = desk.run(*command)
    assert '  hint: keep the runs in a file: Runtime(engine=InProcessEngine("runs.db"))' in done.err
    known = desk.run(*(part.replace("keep_text", "burn_text") for part in command))
    assert "needs approval, but this runtime" in known.out
    assert "  hint: " not in known.err  # its registration has said it


def test_a_turn_that_waits_for_an_answer_that_nobody_can_give_says_so(desk: ProjectFolder) -> None:
    desk.write("app/main.py", MAIN.replace("PLANNER", "None").replace('"runs.db"', ""))
    done = desk.run("run", "clerk", 'burn_text {"text": "it"}', "--model", "demo")
    assert (done.code, done.out) == (3, "")
    assert "it waits for a confirmation: Burn it?\nit cannot be answered: the configured runtime" in done.err
    assert "toolgen approve" not in done.err


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (
            ("clark", "hi", "--model", "demo"),
            "the runtime has no agent 'clark'",
        ),
        (("clerk", "hi"), "the agent desk.clerk has no model\n  hint: add --model demo, which needs no key"),
        (("clerk", "hi", "--model", "gpt"), "'gpt' is not a model\n  hint: write \"openai:gpt-5\""),
    ],
    ids=["agent", "no model", "model"],
)
def test_what_cannot_talk_says_why(desk: ProjectFolder, options: tuple[str, ...], error: str) -> None:
    done = desk.run("run", *options)
    assert (done.code, done.out) == (2, "")
    assert error in done.err


@pytest.mark.parametrize("command", [("run", "clerk", "hi"), ("chat", "clerk")], ids=["run", "chat"])
def test_a_project_without_an_agent_says_how_it_gets_one(
    project: ProjectFolder, command: tuple[str, ...]
) -> None:
    project.write("app/main.py", "from toolgen.runtime import Runtime as runtime\n")
    assert project.run(*command) == Done(
        2,
        "",
        "error: the configured runtime has no agent\n"
        "  hint: put an Agent(…) into the design, and call its generated `register` in `runtime`\n",
    )


def test_a_server_of_this_machine_that_is_not_started_is_said_at_once(desk: ProjectFolder) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        model = f"llama3.2@http://127.0.0.1:{free.getsockname()[1]}/v1"
    error = f"no server answers at {model.partition('@')[2]}, the address in {model}\n  hint: start it, or"
    done = desk.run("run", "clerk", "hi", "--model", model)
    assert (done.code, done.out) == (2, "")
    assert error in done.err
    assert error in talk(desk, f"/model {model}").out


def talk(desk: ProjectFolder, *lines: str, agent: str = "clerk") -> Done:
    return desk.run(
        "chat", agent, "--model", "demo", "--session", "s", piped="".join(f"{line}\n" for line in lines)
    )


def test_a_conversation_shows_text_calls_and_results(desk: ProjectFolder) -> None:
    done = talk(desk, 'Count the words of "to be"', "", "/session", "/nothing", "/quit", "Never said")
    assert done.code == 0
    said = done.out.splitlines()
    assert said[0] == "desk.clerk, session s; /help lists the commands"
    assert [line for line in said if line.startswith(("  →", "  ←"))] == [
        '  → count_words {"text": "to be"}',
        "  ← count_words: ok, 2",
    ]
    assert said[-3:] == ["count_words returned 2", "s", "unknown command; /help lists the commands"]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [("y", "  approved by a person"), ("n", "  denied by a person: a person did not approve the call")],
)
def test_an_approval_is_asked_inline_with_all_arguments(
    desk: ProjectFolder, answer: str, outcome: str
) -> None:
    done = talk(desk, 'burn_text {"text": "the letter"}', answer)
    said = done.out.splitlines()
    assert '  "text": "the letter"' in said
    assert "[y/N]" in said
    assert outcome in said
    assert ("the letter is gone" in done.out) == (answer == "y")


def test_an_approval_has_the_payload_that_the_design_asks_for(desk: ProjectFolder) -> None:
    main = (desk.path / "app/main.py").read_text()
    payload = 'ConfirmSpec(hint="Burn {text}?", payload=TypeCodec(dict[str, str], "Reason"))'
    asks = main.replace('ConfirmSpec(hint="Burn {text}?")', payload)
    desk.write("app/main.py", f"from toolgen.calls.functions.type_codec import TypeCodec\n{asks}")
    said = talk(desk, 'burn_text {"text": "the letter"}', "y {why}", 'y {"why": "cold"}').out
    assert "[y/N], or y and the payload as JSON, for example: y {…}" in said
    assert "try again:" in said
    assert "the letter is gone" in said


def test_an_approval_counts_for_further_calls_of_the_conversation(desk: ProjectFolder) -> None:
    main = (desk.path / "app/main.py").read_text()
    grantable = 'ConfirmSpec(hint="Burn {text}?", grantable=True)'
    desk.write("app/main.py", main.replace('ConfirmSpec(hint="Burn {text}?")', grantable))
    grant = '{"uses": 1, "expires_s": 60, "pattern": {"/text": {"one_of": ["a", "b"]}}}'
    burn = 'burn_text {{"text": "{}"}}'.format
    said = talk(desk, burn("a"), f"y {grant}", burn("b"), burn("a"), "n").out
    assert said.count("[y/N], or y and the grant as JSON, for example: y {…}") == 2
    assert [line for line in said.splitlines() if line.startswith("  approved by ")][1].endswith(" UTC")
    assert said.count("← burn_text: ok") == 2


def test_what_is_not_answered_is_asked_again_when_the_conversation_goes_on(desk: ProjectFolder) -> None:
    first = talk(desk, 'keep_text {"text": "it"}', agent="intern")
    assert first.out.endswith(
        "[y/N]\nthe turn waits; continue it with: toolgen chat desk.intern --session s\n"
    )
    (id_, *asked) = desk.run("approve").out.splitlines()[0].split("  ")
    assert asked[:3] == ["confirmation", "desk.intern", "until its run ends"]
    listed = desk.run("runs", "list")
    assert f"  waits for confirmation: {id_}  desk.intern  {asked[3]}" in listed.out
    assert listed.err == "answer a suspended call with: toolgen approve ID\n"
    again = talk(desk, "y", agent="desk.intern")
    assert '  ← keep_text: ok, "it is kept"\n' in again.out


def test_commands_list_tools_events_and_the_conversation_again(desk: ProjectFolder) -> None:
    done = talk(desk, "/tools", 'count_words {"text": "a"}', "/events", "/replay", "/help", "/model no")
    assert "count_words  Count the words of a text." in done.out
    events = [json.loads(line) for line in done.out.splitlines() if line.startswith('{"')]
    assert [event["type"] for event in events if event["type"].startswith("tool_")] == [
        "tool_start",
        "tool_end",
    ]
    assert done.out.count("  ← count_words: ok, 1\n") == 2
    assert "/quit" in done.out
    assert "error: 'no' is not a model\n  hint: write " in done.out


def test_a_conversation_goes_on_in_another_process(desk: ProjectFolder) -> None:
    talk(desk, "/quit")
    talk(desk, 'count_words {"text": "a b c"}')
    done = desk.run("chat", "intern", "--model", "demo", "--session", "s", piped="hello\n")
    assert done.code == 0


SAFE = """\
from toolgen.agents import AgentRegistration, Agents, AgentSpec, AgentTool
from toolgen.capabilities import CredentialsCapability, EnvironmentCredentials, MemoryCredentialStore
from toolgen.contract.transport import Requirement, SecurityScheme
from toolgen.engines import InProcessEngine
from toolgen.capabilities import CredentialNeededError
from toolgen.runtime import Runtime, ToolContext
from toolgen.runtime.functions import func_tool, function_toolset

KEY = Requirement(SecurityScheme(name="key", kind="api_key", key="X-Key"))


async def get_book(ctx: ToolContext) -> str:
    if await ctx.credentials.get("books", KEY) is None:
        raise CredentialNeededError("books", KEY, "https://books.example")
    return "a book"


def runtime():
    store = CredentialsCapability(MemoryCredentialStore(), environment=EnvironmentCredentials({}))
    made = Runtime(engine=InProcessEngine("runs.db"), capabilities=[store])
    books = [func_tool(get_book, toolset="desk.books", annotations={"read_only": True})]
    tools = (AgentTool(id="desk.books.get_book", name="get_book"),)
    spec = AgentSpec(id="desk.clerk", description="Reads.", tools=tools)
    toolsets = (function_toolset("desk.books", books),)
    Agents(made).register(AgentRegistration(spec=spec, planner="demo", toolsets=toolsets))
    return made
"""


def test_a_credential_is_not_asked_for_where_it_is_shown(project: ProjectFolder) -> None:
    project.write("app/main.py", SAFE)
    done = talk(project, "get_book {}", "secret:key-8d2f1c9")
    assert "enter it with: toolgen approve " in done.out
    assert "your answer:" not in done.out
    assert "the turn waits; continue it with: toolgen chat desk.clerk --session s" in done.out


CHILD = """\
from toolgen.agents import (
    AgentRegistration, Agents, AgentSpec, AgentTool, CallTools, FinalResponse, PlannedCall, ScriptedPlanner,
)
from toolgen.calls.toolsets.registration import AgentRoute
from toolgen.engines import InProcessEngine
from toolgen.runtime import ConfirmSpec, Runtime, ToolsetRegistration
from toolgen.runtime.functions import func_tool, function_toolset


def burn_text(text: str) -> str:
    return f"{text} is gone"


def ask_intern(text: str) -> str:
    return text


def planned(tool, last):
    steps = [CallTools(calls=(PlannedCall.of(tool, {"text": "it"}),)), FinalResponse(text=last)]
    return ScriptedPlanner(steps)


def runtime():
    made = Runtime(engine=InProcessEngine("runs.db"))
    agents = Agents(made)
    burning = [func_tool(burn_text, toolset="desk.fire", confirm=ConfirmSpec(hint="Burn {text}?"))]
    spec = func_tool(ask_intern, toolset="desk.help").spec
    helping = ToolsetRegistration(name="desk.help", specs=(spec,), executor=AgentRoute(agent="desk.intern"))
    for name, tool, toolset, last in (
        ("intern", "fire.burn_text", function_toolset("desk.fire", burning), "it is gone"),
        ("clerk", "help.ask_intern", helping, "done"),
    ):
        called = tool.partition(".")[2]
        tools = (AgentTool(id=f"desk.{tool}", name=called),)
        agent = AgentSpec(id=f"desk.{name}", description="Helps.", tools=tools)
        planner = planned(called, last)
        agents.register(AgentRegistration(spec=agent, planner=planner, toolsets=(toolset,)))
    return made
"""


def test_what_a_tool_prints_is_no_part_of_the_answer(desk: ProjectFolder) -> None:
    printing = MAIN.replace("PLANNER", "None").replace(
        "    return len", '    print("counting")\n    return len'
    )
    desk.write("app/main.py", printing)
    done = desk.run("run", "clerk", 'Count the words of "to be or not"', "--model", "demo", "--json")
    assert json.loads(done.out)["status"] == "completed"
    assert "counting\n" in done.err


def test_a_turn_goes_on_although_its_child_is_the_newest_run_that_waits(project: ProjectFolder) -> None:
    project.write("app/main.py", CHILD)
    first = project.run("chat", "clerk", "--session", "s", piped="burn it\n")
    assert "the turn waits" in first.out
    listed = project.run("runs", "list", "--status", "waiting", "--session", "s").out
    assert "desk.intern" in listed.partition("desk.clerk")[0]
    again = project.run("chat", "clerk", "--session", "s", piped="y\n")
    assert "Burn it?" in again.out
    assert again.out.splitlines()[-1] == "done"


@pytest.mark.exhaustive
def test_a_person_at_a_terminal(desk: ProjectFolder) -> None:
    said = at_a_terminal(
        desk,
        ["chat", "clerk", "--model", "demo"],
        replies={b"/help lists the commands": b'count_words {"text": "a b c"}\r/quit\r'},
        environment={"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"},
    )
    assert "count_words returned 3" in said


def test_a_chart_is_a_sparkline() -> None:
    rows = [{"at": f"2026-01-{day:02}", "value": value} for day, value in enumerate([1, 2, 3, 8], 1)]
    assert artifact_text(
        "series", "chart.line", json.dumps({"unit": "%", "readings": rows}), 99
    ).splitlines() == [
        "series, 99 bytes",
        "value  ▁▂▃█  1 to 8",
    ]


def test_many_values_are_means_side_by_side() -> None:
    rows = [{"value": value} for value in range(600)]
    _, line = artifact_text("series", "chart.bar", json.dumps(rows), 9).splitlines()
    bars = line.split("  ")[1]
    assert len(bars) == 60
    assert (bars[0], bars[-1]) == ("▁", "█")


def test_a_table_has_heads_and_says_what_it_leaves_out() -> None:
    rows = [{"name": f"n{number}", "size": number, "tags": ["a"]} for number in range(12)]
    lines = artifact_text("list", "table", json.dumps({"rows": rows}), 9).splitlines()
    assert lines[1:3] == ["name  size  tags", 'n0    0     ["a"]']
    assert lines[-1] == "… 2 more rows"


def test_markdown_and_what_is_not_here() -> None:
    assert artifact_text("page", "markdown", json.dumps({"text": "# A\n\nB"}), 9).splitlines()[1:] == [
        "# A",
        "",
        "B",
    ]
    assert artifact_text("page", "markdown", "", 9_000) == "page, 9,000 bytes"
    assert artifact_text("thing", "", '{"a": 1}', 8) == "thing, 8 bytes"
