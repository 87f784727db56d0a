"""Names that come from outside: of tools, which a model may choose, and ids and sessions that are long."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.engines.toys import call, play, until_listed
from toolgen.engines import Engine, EngineError
from toolgen.engines.temporal import TemporalEngine

from .processes import ends

LONG = "x" * 1_100


@pytest.mark.parametrize(
    ("tool", "type_"),
    [
        ("toolgen.log", "tool"),
        ("toolgen.run", "tool"),
        ("toolgen.later", "tool"),
        ("__temporal_x", "tool"),
        ("__stack_trace", "tool"),
        ("no name", "tool"),
        ("signal", "signal"),
        ("devices.toolgen.log", "devices.toolgen.log"),
    ],
)
async def test_no_tool_becomes_a_type_of_ours(engine: Engine, tool: str, type_: str) -> None:
    """A model may ask for a tool of any name."""
    assert isinstance(engine, TemporalEngine)
    await play(engine, [{"calls": [call("a", call={"tool": tool})]}], run_id="r")
    async with asyncio.timeout(30):
        status = await engine.result("r")
    assert (status.state, status.output) == ("completed", [[{"id": "a", "ok": True}]])
    history = await (await engine._connected()).history("r")
    types = [one.activity_task_scheduled_event_attributes.activity_type.name for one in history.events]
    assert [name for name in types if name] == [type_, "toolgen.log"]
    assert [event["type"] for event in await ends(engine, "r")] == ["run_stream_end"]


async def test_the_runs_of_a_long_session_are_those_of_no_other(engine: Engine) -> None:
    runs = {f"r{number}": f"{'s' * 300}{number}" for number in range(3)}
    for run_id, session in runs.items():
        steps: Any = [{"wait": ["go"], "about": run_id}]
        await engine.start_run("script", steps, run_id=run_id, session=session)
        await engine.settled(run_id)
        await until_listed(engine, run_id)
    for run_id, session in runs.items():
        assert [run.run_id for run in await engine.list_runs(session=session)] == [run_id]
        assert [wait.about for wait in await engine.open_waits(session=session)] == [run_id]
        assert (await engine.status(run_id)).session == session


async def test_an_id_that_the_server_refuses_fails_its_run(engine: Engine) -> None:
    """A server that refuses a command fails the workflow task, again and again."""
    await play(engine, [{"calls": [call(LONG)]}], run_id="r")
    await play(engine, [{"child": [], "is_needed": True}], run_id="y" * 995)
    await play(engine, [{"calls": [call("é" * 600)]}], run_id="wide")
    await play(engine, [{"child": [], "is_needed": True}], run_id="é" * 496)
    for run_id in ("r", "y" * 995, "wide", "é" * 496):
        status = await engine.result(run_id)
        assert (status.state, "bytes; the server accepts 1000" in status.error) == ("failed", True)
    await play(engine, [{"calls": [call("z" * 980)]}, {"child": []}], run_id="y" * 980)
    assert (await engine.result("y" * 980)).state == "completed"
    with pytest.raises(EngineError, match="length"):
        await play(engine, [], run_id=LONG)


@pytest.mark.parametrize(
    "session",
    ["\U0001f600" * 255, "\U0001f600" * 1_000, "é" * 255],
    ids=["as long as listed", "longer", "smaller"],
)
async def test_a_session_of_large_characters_is_found(engine: Engine, session: str) -> None:
    """The server counts the bytes of their JSON."""
    await engine.start_run("script", [], run_id="r", session=session)
    await engine.start_run("script", [], run_id="other", session=f"{session}+")
    for run_id in ("r", "other"):
        await engine.result(run_id)
        await until_listed(engine, run_id)
    assert [run.run_id for run in await engine.list_runs(session=session)] == ["r"]
