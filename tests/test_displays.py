"""Texts of models, peers and schemas at a terminal: no two of them look the same, and none hides anything."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

import pytest

from toolgen.adapters.mcp.client.errors import MCPServerError, reason_of
from toolgen.adapters.mcp.client.forms import page_of, question_of
from toolgen.adapters.mcp.serving.forms import form_of
from toolgen.cli.artifact_text import artifact_text
from toolgen.cli.reimporting import Effect
from toolgen.cli.timeline import timeline
from toolgen.runtime import Suspended

from .compatibility.pairs import CATALOG
from .conftest import ProjectFolder
from .terminal import at_a_terminal

TEXTS = {"a\u202eb": r"a\u202eb", r"a\u202eb": r"a\\u202eb"}
"""A text that hides something, one that spells the escape of it out, and how each is shown."""
each_text = pytest.mark.parametrize(("text", "shown"), TEXTS.items(), ids=["hidden", "spelled"])

MAIN = '''\
from toolgen.agents import AgentRegistration, AgentSpec, AgentTool, Agents, Await, FinalResponse
from toolgen.agents import RunPolicy
from toolgen.engines import InProcessEngine
from toolgen.events import Events
from toolgen.runtime import ConfirmSpec, Runtime, ToolContext, ToolError, ToolOutcome, Unfinished
from toolgen.runtime.functions import func_tool, function_toolset


READS = {"read_only": True}
POLICY = RunPolicy(interrupts_allowed=True)


def burn(text: str) -> str:
    """Burn a text."""
    return text


async def ask(text: str, ctx: ToolContext) -> str | Unfinished:
    """Ask a text."""
    return ctx.answer or ToolOutcome.ask(text)


async def report(text: str, ctx: ToolContext) -> str:
    """Report a text."""
    ctx.progress(0.5, text)
    return text


def fail(text: str) -> str:
    """Fail with a text."""
    raise ToolError(text)


class Asking:
    """Asks what it is told, and says it after an answer."""

    async def plan_start(self, given):
        return Await(kind="clarification", question=given.messages[-1].text)

    async def plan_resume(self, given):
        return FinalResponse(text=given.messages[0].text)


def runtime():
    runtime = Runtime(engine=InProcessEngine("runs.db"), events=Events())
    agents = Agents(runtime)
    bound = [func_tool(ask, toolset="x.tools"), func_tool(report, toolset="x.tools", annotations=READS)]
    bound.append(func_tool(fail, toolset="x.tools", annotations=READS))
    bound.append(func_tool(burn, toolset="x.tools", confirm=ConfirmSpec(hint="Burn {text}?")))
    tools = function_toolset("x.tools", bound)
    names = tuple(AgentTool(id=each.spec.id, name=each.spec.name) for each in bound)
    for name, planner in {"clerk": None, "asker": Asking()}.items():
        spec = AgentSpec(id=f"x.{name}", description="Works.", tools=names, policy=POLICY)
        agents.register(AgentRegistration(spec=spec, planner=planner, toolsets=(tools,)))
    return runtime
'''


@pytest.fixture
def desk(project: ProjectFolder) -> ProjectFolder:
    project.write("app/main.py", MAIN)
    return project


def arguments(text: str) -> str:
    return json.dumps({"text": text}, ensure_ascii=False)


@each_text
def test_questions_of_calls(desk: ProjectFolder, text: str, shown: str) -> None:
    """Arguments are JSON, in which the backslash of a text is escaped already."""
    said = desk.run("call", "burn", arguments(text)).err
    asked = f"Burn {shown}?"
    as_json = f'"text": "{shown}"'
    assert asked in said.splitlines()
    assert f"  {as_json}" in said.splitlines()
    listed = desk.run("approve").out
    assert asked in listed
    assert as_json in listed
    assert asked in desk.run("runs", "list").out
    assert shown in desk.run("call", "ask", arguments(text)).err.splitlines()


@each_text
def test_progress_and_steps_of_calls(desk: ProjectFolder, text: str, shown: str) -> None:
    assert f"report: 50% {shown}\n" in desk.run("call", "report", arguments(text)).err
    assert f"failed: {shown}\n" in desk.run("call", "fail", arguments(text), "--trace").err


@each_text
def test_turns_of_agents(desk: ProjectFolder, text: str, shown: str) -> None:
    waits = desk.run("run", "clerk", f"burn {arguments(text)}", "--model", "demo").err
    assert f"it waits for a confirmation: Burn {shown}?\n" in waits
    assert f'  → burn {{"text": "{shown}"}}\n' in waits
    failed = desk.run("run", "clerk", f"fail {arguments(text)}", "--model", "demo", "--session", "s").err
    assert f"  ← fail: error, {shown}\n" in failed
    command = ["run", "clerk", f"report {arguments(text)}", "--model", "demo"]
    assert f"report returned {shown}\r\n" in at_a_terminal(desk, command)
    assert desk.run(*command).out == f"report returned {text}\n", "a pipe gets the text as it is"


@each_text
def test_conversations(desk: ProjectFolder, text: str, shown: str) -> None:
    desk.write("app/main.py", MAIN.replace('"clerk": None, ', ""))
    said = desk.run("chat", "asker", "--session", "s", piped=f"{text}\nyes\n/events\n").out
    assert [line for line in said.splitlines() if line == shown] == [shown, shown], "question and answer"
    assert f'"question": "{shown}"' in said
    run = desk.run("runs", "list").out.split()[0]
    timed = at_a_terminal(desk, ["runs", "show", run])
    assert f"asks {shown} (" in timed
    assert f"said {shown}" in timed


@each_text
def test_a_conversation_asks_for_approvals(desk: ProjectFolder, text: str, shown: str) -> None:
    said = desk.run("chat", "clerk", "--model", "demo", piped=f"burn {arguments(text)}\nn\n").out
    assert f"Burn {shown}?\n" in said


@each_text
def test_artifacts(text: str, shown: str) -> None:
    table = artifact_text("rows", "table", json.dumps([{text: text}]), 9)
    assert table.splitlines()[1:] == [shown, shown]
    assert artifact_text("note", "markdown", json.dumps({"body": f"{text}\n{text}"}), 9).endswith(
        f"\n{shown}\n{shown}"
    )
    chart = artifact_text("x", "chart.line", json.dumps([{text: 1}, {text: 2}]), 9)
    assert chart.splitlines()[1].startswith(f"{shown}  ")


@each_text
def test_errors_and_plans_of_a_run(text: str, shown: str) -> None:
    usage = {"model": text, "input_tokens": 1, "output_tokens": 1}
    events = [
        {"type": "plan_retry", "time": 1.0, "reason": text},
        {"type": "answer_accepted", "time": 1.0, "answered_by": text},
        {"type": "usage", "time": 1.0, **usage},
        {"type": "artifact_saved", "time": 1.0, "name": text, "size": 1},
        {"type": "run_completed", "time": 1.0, "status": "failed", "error": text},
    ]
    lines = timeline(events, is_over=True)[1:]
    assert len(lines) == len(events)
    assert all(shown in line and text not in line.replace(shown, "") for line in lines)


@each_text
def test_changes_of_imported_sources(text: str, shown: str, tmp_path: Any) -> None:
    effect = Effect(
        kind="conflict", subject="x", file=tmp_path / "d.py", place=f"tool:{text}", now="b", was=text
    )
    assert f": tool:{shown}: the tool sent {text!r} and" in effect.note
    assert effect.finding("text").message == effect.text


def asked(**facts: Any) -> Suspended:
    schema: Mapping[str, Any] = facts.pop("answer_schema", {"type": "string"})
    stored: dict[str, Any] = {"kind": "question", "tool": "x.tools.ask", "question": "", "preview": ""}
    return Suspended(token="s", id="1", answer_schema=schema, expires_at=0.0, **{**stored, **facts})


@each_text
def test_forms_of_mcp(text: str, shown: str) -> None:
    call = asked(
        kind="confirmation", question=text, preview=f"{text} too", reason=text, arguments={"a": text}
    )
    lines = form_of(call, note=text).message.splitlines()
    assert lines == [
        shown,
        shown,
        f"{shown} too",
        shown,
        f'Tool x.tools.ask, arguments: {{"a": "{shown}"}}',
    ]


@each_text
def test_fields_of_forms_of_mcp(text: str, shown: str) -> None:
    """What a field sends back stays as it is, and has a title where it cannot be shown so."""
    properties = {
        "a": {"type": "string", "title": text, "description": text, "enum": [text, "plain"]},
        "b": {"type": "string", "oneOf": [{"const": text}, {"const": "c", "title": text}]},
        "c": {"type": "array", "items": {"type": "string", "enum": [text]}},
        "d": {"type": "string", "default": text, "pattern": text},
    }
    schema = {"type": "object", "properties": properties}
    fields: Any = form_of(asked(answer_schema=schema)).requested_schema["properties"]
    assert (fields["a"]["title"], fields["a"]["description"]) == (shown, shown)
    choices = [{"const": text, "title": shown}, {"const": "plain", "title": "plain"}]
    assert fields["a"]["oneOf"] == choices
    assert "enum" not in fields["a"]
    assert fields["b"]["oneOf"] == [{"const": text, "title": shown}, {"const": "c", "title": shown}]
    assert fields["c"]["items"] == {
        "type": "string",
        "anyOf": [{"const": text, "title": shown}],
    }
    assert "default" not in fields["d"]
    assert fields["d"]["description"] == f'(pattern {shown}; default "{shown}")'


@each_text
def test_questions_of_mcp_servers(text: str, shown: str) -> None:
    field = {"type": "string", "title": text, "description": text}
    question = question_of(text, {"type": "object", "properties": {"a": field}})
    assert question.message == shown
    assert question.schema["properties"]["a"] == {"type": "string", "title": shown, "description": shown}
    assert page_of(text, "https://a.example").message == shown


def test_a_choice_of_an_mcp_server_may_have_backslashes() -> None:
    field = {"type": "string", "enum": [r"C:\new"]}
    schema = question_of("Where?", {"type": "object", "properties": {"a": field}}).schema
    assert schema["properties"]["a"]["enum"] == [r"C:\new"]


@each_text
def test_reasons_of_mcp_servers(text: str, shown: str) -> None:
    assert reason_of(ValueError(text)) == f"ValueError: {shown}"
    assert reason_of(MCPServerError(shown)) == shown
    assert logging.getLogger("toolgen.mcp").filters


@each_text
def test_findings_of_catalogs(project: ProjectFolder, text: str, shown: str) -> None:
    """Names in sentences are literals of Python, in which the backslash of a text is escaped already."""
    entry = json.loads(CATALOG.read_text("utf-8"))["tools"][0]
    entry["payload"]["schema"] = {"type": "object", "properties": {text: {"type": "array", "items": {}}}}
    later = {**entry, "description": text, "deprecated": {"reason": text}, "payload": {**entry["payload"]}}
    later["payload"]["schema"] = {"type": "object", "properties": {text: {"type": "string"}}}
    for name, tool in {"old": entry, "new": later}.items():
        project.write(f"{name}.json", json.dumps({"tools": [tool]}))
    changes = project.run("diff", "--against", "old.json", "--to", "new.json").out
    assert f"it is now deprecated: {shown}." in changes
    assert f"argument '{shown}'" in changes
    assert f"\n  +{shown}\n" in changes, "a description is shown as a diff"
    assert f'{{"{shown}":' in changes
    linted = project.run("lint", "old.json").err
    assert f"'{shown}'" in linted
    assert text not in linted.replace(shown, "")
