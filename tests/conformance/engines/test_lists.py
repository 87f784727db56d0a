"""Lists of runs: in the order in which they began, and with no more requests than they need."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from tests.engines.starting import StartEngine
from tests.engines.toys import Toys, call, play, until_listed
from toolgen.engines import Engine
from toolgen.engines.temporal import TemporalEngine

ENDED = 12
WAITING = 3


async def given(engine: Engine) -> list[str]:
    """Start runs, and return their ids, the newest first: `late` began first and ended last."""
    await play(engine, [{"wait": ["go"]}], run_id="late")
    ids = ["late"]
    for number in range(ENDED + WAITING):
        waits = number % 5 == 4
        ids.append(f"{'waits' if waits else 'ended'}{number}")
        await play(engine, [{"wait": ["go"]}] if waits else [], run_id=ids[-1])
        await engine.settled(ids[-1])
    await engine.signal("late", "go", None, signal_id="1")
    await engine.result("late")
    for id_ in ids:
        await until_listed(engine, id_)
    return ids[::-1]


class Requests(Counter[str]):
    """How often an engine asks its server for pages of lists, and for one run."""

    def __init__(self, engine: TemporalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.most_at_once = self._now = 0
        assert engine._client is not None
        service = engine._client.client.workflow_service
        for name in ("list_workflow_executions", "describe_workflow_execution"):
            monkeypatch.setattr(service, name, self._counted(name, getattr(service, name)))

    def _counted(self, name: str, method: Any) -> Any:
        async def call(*given: Any, **how: Any) -> Any:
            self[name] += 1
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            try:
                return await method(*given, **how)
            finally:
                self._now -= 1

        return call

    def taken(self) -> tuple[int, int]:
        """Return the pages and the runs since the last time."""
        found = self["list_workflow_executions"], self["describe_workflow_execution"]
        self.clear()
        return found


async def test_a_list_reads_the_pages_and_the_runs_that_it_needs(
    start_engine: StartEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await start_engine()
    assert isinstance(engine, TemporalEngine)
    ids = await given(engine)
    waiting = [one for one in ids if one.startswith("waits")]
    ended = [one for one in ids if one not in waiting]
    requests = Requests(engine, monkeypatch)

    async def listed(**how: Any) -> list[str]:
        return [run.run_id for run in await engine.list_runs(**how)]

    assert await listed() == ids
    assert requests.taken() == (2, len(ids))
    assert await listed(state="completed") == ended
    assert requests.taken() == (1, len(ended))
    assert await listed(limit=2) == ids[:2]
    assert requests.taken()[1] == 2
    assert await listed(state="waiting", limit=2) == waiting[:2]
    assert requests.taken() == (1, 2)
    assert await listed(state="completed", limit=3) == ended[:3]
    assert requests.taken() == (2, 3), "`late` is first in the server's order, and last in ours"
    for limit in range(1, len(ids) + 2):
        assert await listed(limit=limit) == ids[:limit]
        pages, runs = requests.taken()
        assert runs == min(limit, len(ids))
        assert pages <= 4
    assert await listed(limit=0) == []
    assert requests.taken() == (0, 0)
    for at, last in enumerate(ids, 1):
        assert await listed(after=last) == ids[at:]
        pages, runs = requests.taken()
        assert (pages, runs) == (2, len(ids[at:]) + 1), "one more to know when the last one began"


async def test_runs_of_other_states_are_read_side_by_side(
    start_engine: StartEngine, toys: Toys, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await start_engine()
    assert isinstance(engine, TemporalEngine)
    await play(engine, [{"wait": ["go"]}], run_id="waits")
    await engine.settled("waits")
    busy = [f"busy{number}" for number in range(6)]
    for id_ in busy:
        await play(engine, [{"calls": [call(id_, gate="1")]}], run_id=id_)
        await toys.has("start", id_)
    for id_ in ("waits", *busy):
        await until_listed(engine, id_)
    requests = Requests(engine, monkeypatch)
    assert [run.run_id for run in await engine.list_runs(state="waiting", limit=1)] == ["waits"]
    assert requests.most_at_once > 1, "after the first, which does not wait"
    toys.open("1")


async def test_the_oldest_waits_of_all_are_found_without_reading_all(
    start_engine: StartEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server lists the newest first; runs that wait for nobody are not read."""
    engine = await start_engine()
    assert isinstance(engine, TemporalEngine)
    for number in range(20):
        about = {"about": number} if number % 2 else {}
        await play(engine, [{"wait": ["go"], **about}], run_id=f"r{number}")
        await engine.settled(f"r{number}")
    async with asyncio.timeout(30):
        while len(await engine.open_waits()) < 10:
            pass
    requests = Requests(engine, monkeypatch)
    assert [wait.about for wait in await engine.open_waits(limit=3)] == [1, 3, 5]
    pages, runs = requests.taken()
    assert pages <= 4
    assert runs <= 6
    assert [wait.about for wait in await engine.open_waits()] == list(range(1, 20, 2))
    assert requests.taken()[1] == 10
