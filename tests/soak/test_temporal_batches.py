"""A batch of more calls than a Temporal server takes of one run at once."""

from __future__ import annotations

from typing import Final

from tests.conformance.conftest import temporal
from tests.conformance.engines.conftest import server, start_engine
from tests.engines.starting import StartEngine, toys
from tests.engines.toys import Toys, call, play
from toolgen.engines.temporal import TemporalEngine

__all__ = ["server", "start_engine", "temporal", "toys"]

CALLS: Final = 2_100


async def test_more_calls_than_the_server_takes_end_and_can_be_replayed(
    start_engine: StartEngine, toys: Toys
) -> None:
    engine = await start_engine()
    assert isinstance(engine, TemporalEngine)
    ids = [f"c{number}" for number in range(CALLS)]
    await play(engine, [{"calls": [call(id_) for id_ in ids]}, {"calls": [call("after")]}], run_id="r")
    status = await engine.result("r")
    assert status.output == [[{"id": id_, "ok": True} for id_ in ids], [{"id": "after", "ok": True}]]
    assert set(toys.counts("start").values()) == {1}
    assert await engine.replay("r") == status.output


async def test_a_run_is_canceled_while_calls_wait_for_their_turn(
    start_engine: StartEngine, toys: Toys
) -> None:
    engine = await start_engine()
    calls = [call(f"c{number}", gate="never") for number in range(CALLS)]
    await play(engine, [{"calls": calls}], run_id="r")
    await toys.has("start", "c0")
    await engine.cancel("r", reason="enough")
    status = await engine.result("r")
    assert (status.state, status.error) == ("canceled", "enough")
    assert toys.counts("start")[f"c{CALLS - 1}"] == 0
