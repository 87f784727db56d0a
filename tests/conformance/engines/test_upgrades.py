"""Workers of an older and of a newer version side by side, and one that does not fit the runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.engines.toys import call, play
from toolgen.engines import NondeterminismError

from .processes import TemporalWorkers, ends

pytestmark = pytest.mark.costly


def outcome(run_id: str, version: int) -> list[Any]:
    """Return the output of a run that began with a version, and was told to go on."""
    calls = ["first", "check", "last"] if version >= 2 else ["first", "last"]
    done: list[Any] = [{"id": f"{run_id}.{name}", "ok": True} for name in calls]
    return [*done[:-1], "on", done[-1]]


async def test_runs_of_both_versions_end_before_while_and_after_both_work(workers: TemporalWorkers) -> None:
    client = workers.client
    versions: dict[str, int] = {}

    async def begin(name: str, version: int) -> None:
        for number in range(3):
            run_id = f"{name}{number}"
            versions[run_id] = version
            await client.start_run("versioned", {"version": version}, run_id=run_id)

    async def go_on(*names: str) -> None:
        for name in names:
            for number in range(3):
                await client.signal(f"{name}{number}", "go", "on", signal_id="1")

    async def parked(name: str) -> None:
        for number in range(3):
            run_id = f"{name}{number}"
            await workers.until_awaiting(run_id)

    await workers.start("old", loops=1)
    await begin("before", 1)
    await parked("before")
    await workers.start("new", loops=2)
    await begin("old_while", 1)
    await begin("new_while", 2)  # an old worker that gets one leaves it to the new one
    await parked("old_while")
    await parked("new_while")
    await go_on("before", "new_while")
    await workers.stop("old")
    await begin("after", 2)
    await parked("after")
    await go_on("old_while", "after")
    for run_id, version in versions.items():
        status = await until_over(workers, run_id)
        assert status.output == outcome(run_id, version), run_id
        await ends(client, run_id)
    assert set(workers.counts("end").values()) == {1}


async def test_a_worker_that_does_not_fit_leaves_a_run_as_it_is(workers: TemporalWorkers) -> None:
    client = workers.client
    await workers.start("right", loops=1)
    for run_id in ("goes_on", "is_canceled"):
        await client.start_run("versioned", {"version": 1}, run_id=run_id)
        await workers.until_awaiting(run_id)
    await workers.stop("right")
    await workers.start("wrong", loops=3)
    for run_id in ("goes_on", "is_canceled"):
        await client.signal(run_id, "go", "on", signal_id="1")
        with pytest.raises(NondeterminismError, match="is stalled") as stalled:
            await client.result(run_id)
        assert "cancel it" in str(stalled.value.hint)
        with pytest.raises(NondeterminismError, match="is stalled"):
            await client.settled(run_id)
        status = await client.status(run_id)
        assert status.state == "running"
        assert "check" in status.error, "it says what does not fit"
    await client.cancel("is_canceled", reason="enough")
    status = await client.result("is_canceled")
    assert (status.state, status.error) == ("canceled", "enough")
    await ends(client, "is_canceled")
    await workers.stop("wrong")
    await workers.start("right", loops=1)
    status = await until_over(workers, "goes_on")
    assert status.output == outcome("goes_on", 1)
    assert workers.counts("end") == {"goes_on.first": 1, "goes_on.last": 1, "is_canceled.first": 1}


async def test_what_one_worker_lacks_is_done_by_another(workers: TemporalWorkers) -> None:
    """As while a version with a further agent or tool is deployed."""
    client, ids = workers.client, [f"r{number}" for number in range(5)]
    await workers.start("old", lacks=["tool"])
    for run_id in ids:
        calls = [call(f"{run_id}.a"), call(f"{run_id}.b", once=True)]
        await play(client, [{"calls": calls}], run_id=run_id)
    await workers.until(lambda: "no activity is registered" in (workers.folder / "old.stderr").read_text())
    await workers.start("new")
    for run_id in ids:
        status = await client.result(run_id)
        assert status.output == [[{"id": f"{run_id}.{name}", "ok": True} for name in "ab"]]
    assert set(workers.counts("end").values()) == {1}
    assert {workers.attempts(f"{run_id}.a")[0] for run_id in ids} == {1}, "what was left to others counts not"


async def test_a_run_whose_loop_a_worker_lacks_stands_still_until_another_has_it(
    workers: TemporalWorkers,
) -> None:
    client = workers.client
    await workers.start("old", lacks=["script"])
    await play(client, [{"calls": [call("a")]}], run_id="r")
    with pytest.raises(NondeterminismError, match="no loop is registered as 'script'"):
        await client.result("r")
    assert (await client.status("r")).state == "running"
    await workers.start("new")
    await workers.stop("old")
    assert (await until_over(workers, "r")).output == [[{"id": "a", "ok": True}]]


async def test_what_no_worker_has_is_tried_within_its_time(workers: TemporalWorkers) -> None:
    client = workers.client
    await workers.start("old", lacks=["tool"])
    await play(client, [{"calls": [call("a", once=True, timeout=0.5)]}], run_id="r")
    assert (await client.result("r")).output == [[{"failed": "timeout"}]]
    await play(client, [{"calls": [call("b")]}], run_id="canceled")
    said = workers.folder / "old.stderr"
    await workers.until(lambda: said.read_text().count("run canceled: tool:b: no activity is registered") > 1)
    assert (await client.status("canceled")).state == "running"
    await client.cancel("canceled", reason="enough")
    assert (await client.result("canceled")).state == "canceled"


async def until_over(workers: TemporalWorkers, run_id: str) -> Any:
    """Return the status of a run that a worker may have stalled meanwhile."""
    async with asyncio.timeout(60):
        while not (status := await workers.client.status(run_id)).is_over:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    return status
