"""A writer of the log that fails by our own bug: the run is stalled and says so, and goes on with a fix."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from tests.engines.starting import StartEngine
from tests.engines.toys import play
from toolgen.engines import NondeterminismError
from toolgen.engines.temporal.log_writer import LogWriter

next_piece = LogWriter._next_piece


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Have writers fail while the list says so."""
    is_broken = [True]

    def fails(self: LogWriter) -> Any:
        if is_broken[0]:
            raise RuntimeError("a bug of the writer")
        return next_piece(self)

    monkeypatch.setattr(LogWriter, "_next_piece", fails)
    return is_broken


@pytest.mark.parametrize(
    "steps",
    [[{"wait": ["go"], "about": "?"}], [{"calls": [{"id": "a"}]}], []],
    ids=["in the middle", "with a call", "at the end"],
)
async def test_a_run_whose_log_is_not_written_is_stalled_until_it_can_be(
    start_engine: StartEngine, broken: list[bool], steps: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    engine = await start_engine()
    with caplog.at_level(logging.ERROR, logger="toolgen.engines"):
        await play(engine, steps, run_id="r")
        with pytest.raises(NondeterminismError, match="run r is stalled"):
            async with asyncio.timeout(30):
                await engine.result("r")
    assert "run r is stalled: its log cannot be written" in caplog.text
    assert "a bug of the writer" in caplog.text
    broken[0] = False
    if steps and "wait" in steps[0]:
        await engine.signal("r", "go", None, signal_id="1")
    async with asyncio.timeout(60):  # the server has the workflow task done again after a pause
        while not (status := await engine.status("r")).is_over:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert (status.state, status.error) == ("completed", "")
    events = [event async for _, event in engine.events("r", follow=False)]
    assert events[-1] == {"type": "run_stream_end"}
