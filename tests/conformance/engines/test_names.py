"""Ids that are longer than the server takes, and sessions that are longer than it can look for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engines.toys import call, play, until_listed
from toolgen.runtime.engine import Engine, EngineError

LONG = "x" * 1_100


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
    for run_id in ("r", "y" * 995):
        status = await engine.result(run_id)
        assert (status.state, "characters; the server takes 1000" in status.error) == ("failed", True)
    await play(engine, [{"calls": [call("z" * 980)]}, {"child": []}], run_id="y" * 980)
    assert (await engine.result("y" * 980)).state == "completed"
    with pytest.raises(EngineError, match="length"):
        await play(engine, [], run_id=LONG)
