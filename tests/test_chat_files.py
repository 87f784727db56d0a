"""Files that go with a message of `toolgen chat` and `toolgen run`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from toolgen.agents import (
    AgentRegistration,
    AgentSpec,
    Await,
    FinalResponse,
    PlanInput,
    PlanResult,
    ScriptedPlanner,
    agents_of,
)
from toolgen.capabilities import ArtifactsCapability, MemoryArtifactStore
from toolgen.cli.chat import _Chat
from toolgen.cli.conversing import OpenAgent
from toolgen.runtime import Runtime

from .conftest import ProjectFolder
from .test_chat_command import MAIN
from .test_chat_command import desk as desk

STORED = (
    "from toolgen.capabilities import ArtifactsCapability, SqliteArtifactStore\n"
    + MAIN.replace(
        "Runtime(engine",
        'Runtime(capabilities=[ArtifactsCapability(SqliteArtifactStore("files.db"))], engine',
    ).replace("PLANNER", "Seeing()")
    + '''

class Seeing:
    """Says what came with the newest message."""

    async def plan_start(self, plan_input):
        content = plan_input.messages[-1].content
        names = [block["name"] for block in content if block["type"] == "resource"]
        return FinalResponse(text=f"I see {names}.")

    plan_resume = plan_start
'''
)
SEEING = STORED.replace("import AgentRegistration,", "import FinalResponse, AgentRegistration,")


def test_a_file_goes_with_the_next_message(desk: ProjectFolder) -> None:
    desk.write("app/main.py", SEEING)
    desk.write("note.txt", "Buy milk.")
    lines = "/attach note.txt\nWhat is it?\nAnd now?\n/attach none.txt\n/attach bad.png\nLook.\n"
    lines += "/attach a\0b\n/attach /dev/zero\n/quit\n"
    desk.write("bad.png", "no picture")
    done = desk.run("chat", "clerk", piped=lines)
    assert done.code == 0, done.err
    assert "note.txt (text/plain, 9 bytes) will be sent with your next message\n" in done.out
    assert "I see ['note.txt'].\nI see [].\n" in done.out
    assert "error: none.txt cannot be read: No such file or directory\n" in done.out
    assert "error: bad.png is not of the media type image/png" in done.out
    assert "cannot be read: embedded null byte\n" in done.out
    assert "error: /dev/zero cannot be read: it is not a file\n" in done.out


def test_a_turn_takes_files(desk: ProjectFolder) -> None:
    desk.write("app/main.py", SEEING)
    desk.write("note.txt", "Buy milk.")
    done = desk.run("run", "clerk", "What is it?", "--file", "note.txt")
    assert (done.code, done.out) == (0, "I see ['note.txt'].\n")


def test_a_project_without_a_store_says_how_it_takes_files(desk: ProjectFolder) -> None:
    desk.write("note.txt", "Buy milk.")
    done = desk.run("run", "clerk", "What is it?", "--file", "note.txt", "--model", "demo")
    assert done.code == 2
    assert "note.txt cannot be accepted: this runtime has no artifact store" in done.err
    assert "ArtifactsCapability" in done.err


async def test_a_file_stays_attached_while_the_session_is_busy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = tmp_path / "note.txt"
    note.write_text("Buy milk.", "utf-8")

    def names(plan_input: PlanInput) -> PlanResult:
        content = getattr(plan_input.messages[-1], "content", ())
        return FinalResponse(text=f"I see {[block['name'] for block in content if 'name' in block]}.")

    planner = ScriptedPlanner(
        by_message={"Ask": [Await(kind="clarification", question="What?")], "Look": [names]}
    )
    runtime = Runtime(capabilities=[ArtifactsCapability(MemoryArtifactStore())])
    agents = agents_of(runtime)
    spec = AgentSpec(id="desk.clerk", description="Looks.")
    agents.register(AgentRegistration(spec=spec, planner=planner))
    client = agents.client(spec.id)

    async def lines() -> AsyncIterator[str]:
        yield f"/attach {note}"
        other = await client.start("Ask.", session_id="s")
        await other.settled()
        yield "Look."
        await other.cancel("no longer needed")
        await other.result()
        yield "Look again."

    async with runtime:
        await _Chat(OpenAgent(runtime=runtime, agents=agents, client=client), "s", lines()).run()
    shown = capsys.readouterr().out
    assert "of session 's' is not over" in shown
    assert "I see ['note.txt']." in shown
