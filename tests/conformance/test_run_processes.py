"""Runs in a file whose worker is killed: nothing acknowledged is lost, nothing done is done again."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.engines.processes import PATIENCE_S, Workers
from tests.engines.toys import call, play
from toolgen.engines import Receipt, WaitOverError


@pytest.fixture
async def workers(tmp_path: Path) -> AsyncIterator[Workers]:
    workers = Workers(tmp_path)
    await workers.client.start()
    async with asyncio.timeout(PATIENCE_S):
        yield workers
    await workers.kill()
    await workers.client.close()


def done(id_: str) -> dict[str, Any]:
    return {"id": id_, "ok": True}


async def test_what_was_done_is_not_done_again(workers: Workers) -> None:
    await workers.start()
    calls = [call("a"), call("b", gate="b"), call("c", gate="c")]
    await play(workers.client, [{"calls": calls}, {"calls": [call("d")]}], run_id="r")
    await workers.has("start", "c")
    workers.open("b")
    await workers.has("end", "b")
    await _has_ops(workers, "r", 2)
    await workers.kill()
    workers.open("c")
    await workers.start()
    assert (await workers.client.result("r")).output == [
        [{"id": id_, "ok": True} for id_ in "abc"],
        [{"id": "d", "ok": True}],
    ]
    assert workers.counts("start") == {"a": 1, "b": 1, "c": 2, "d": 1}


async def test_a_signal_counts_that_came_while_no_worker_was_there(workers: Workers) -> None:
    await workers.start()
    steps = [{"wait": ["answer:wait:0"], "about": "?"}, {"wait": ["go"]}, {"calls": [call("a")]}]
    await play(workers.client, steps, run_id="r")
    await workers.client.settled("r")
    await workers.kill()
    assert await workers.client.answer("r", "wait:0", "yes", key="yes") == "recorded"
    assert await workers.client.answer("r", "wait:0", "no", key="no") == "conflict"
    await workers.client.signal("r", "go", 1, signal_id="1")
    await play(workers.client, [{"calls": [call("b")]}], run_id="new")
    await workers.start()
    output: Any = [{"answer:wait:0": "yes"}, {"go": 1}, [{"id": "a", "ok": True}]]
    assert (await workers.client.result("r")).output == output
    assert (await workers.client.result("new")).state == "completed"


async def test_a_child_run_goes_on_after_a_kill(workers: Workers) -> None:
    await workers.start()
    below = [{"calls": [call("a")]}, {"calls": [call("b", gate="b")]}]
    await play(workers.client, [{"child": below}, {"calls": [call("c")]}], run_id="r")
    await workers.has("start", "b")
    await workers.kill()
    workers.open("b")
    await workers.start()
    status = await workers.client.result("r")
    assert status.output == [
        [[{"id": "a", "ok": True}], [{"id": "b", "ok": True}]],
        [{"id": "c", "ok": True}],
    ]
    assert workers.counts("start") == {"a": 1, "b": 2, "c": 1}


async def test_what_a_client_cancels_ends_in_the_worker(workers: Workers) -> None:
    await workers.start()
    await play(workers.client, [{"wait": ["never"]}], run_id="parked")
    await play(workers.client, [{"child": [{"calls": [call("a", gate="never")]}]}], run_id="busy")
    await workers.client.settled("parked")
    await workers.has("start", "a")
    for run_id in ("parked", "busy"):
        await workers.client.cancel(run_id, reason="enough")
        status = await workers.client.status(run_id)
        assert (status.state, status.error) == ("canceled", "enough")
    await workers.has("cancel", "a")
    assert (await workers.client.status("busy/child:0")).state == "canceled"


async def test_attempts_and_sleeps_survive_a_kill(workers: Workers) -> None:
    await workers.start()
    calls = [call("flaky", fail_until=3, gate="first"), call("long", gate="long")]
    await play(workers.client, [{"calls": calls}, {"wait": [], "timeout_s": 0.2}], run_id="r")
    await workers.has("start", "long")
    workers.open("first")
    await workers.has("start", "flaky", 2)
    await workers.kill()
    workers.open("long")
    await workers.start()
    assert (await workers.client.result("r")).output == [
        [{"id": "flaky", "ok": True}, {"id": "long", "ok": True}],
        None,
    ]
    recorded = [1, 2, 2, 3], [1, 2, 3], [1, 2, 3, 3]
    assert workers.attempts("flaky") in (*recorded, [1, 2, 1, 2, 3]), "the kill may come before the commit"
    assert workers.attempts("long") == [1, 1]


async def test_what_has_begun_is_not_done_again(workers: Workers) -> None:
    await workers.start()
    await play(
        workers.client, [{"calls": [call("a", once=True, gate="never"), call("b", gate="b")]}], run_id="r"
    )
    await workers.has("begun", "a")
    await workers.kill()
    workers.open("b")
    await workers.start()
    assert (await workers.client.result("r")).output == [
        [{"failed": "outcome_unknown"}, {"id": "b", "ok": True}]
    ]
    assert workers.counts("start")["a"] == 1


async def test_the_log_is_gapless_after_a_kill(workers: Workers) -> None:
    await workers.start()
    steps = [
        {"publish": {"type": "one"}},
        {"calls": [call("a", emit=3)]},
        {"publish": {"type": "two"}},
        {"calls": [call("b", gate="b", emit=2)]},
        {"publish": {"type": "three"}},
    ]
    await play(workers.client, steps, run_id="r")
    following = asyncio.ensure_future(_events(workers, "r"))
    await workers.has("start", "b")
    await workers.kill()
    workers.open("b")
    await workers.start()
    events = [(offset, kind) for offset, kind in await following if offset]  # 0: progress, in no log
    assert [offset for offset, _ in events] == list(range(1, len(events) + 1))
    assert [kind for _, kind in events if kind != "tool_update"] == ["one", "two", "three", "run_stream_end"]
    assert await _events(workers, "r") == events


async def test_many_runs_survive_kills(workers: Workers) -> None:
    await workers.start()
    ids = [f"r{number}" for number in range(50)]
    for id_ in ids:
        steps = [{"calls": [call(f"{id_}.{n}")]} for n in range(3)]
        await play(workers.client, [*steps, {"publish": {"type": "last"}}], run_id=id_)
    for ended in (10, 60):
        await workers.until(lambda ended=ended: sum(workers.counts("end").values()) >= ended)  # type: ignore[misc]  # a default
        await workers.kill()
        await workers.start()
    for id_ in ids:
        status = await workers.client.result(id_)
        assert status.output == [[{"id": f"{id_}.{n}", "ok": True}] for n in range(3)]
        assert [kind for _, kind in await _events(workers, id_)] == ["last", "run_stream_end"]


ANSWERING = """
import asyncio, sys
from toolgen.engines import InProcessEngine
async def main():
    engine = InProcessEngine(sys.argv[1], worker=False)
    await engine.start()
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(20):
        print(number, await engine.answer(f"r{number}", "wait:0", sys.argv[2], key=sys.argv[2]), flush=True)
    await engine.close()
asyncio.run(main())
"""


async def test_of_answers_from_two_processes_one_counts(workers: Workers) -> None:
    await workers.start()
    for number in range(20):
        await play(workers.client, [{"wait": ["answer:wait:0"]}], run_id=f"r{number}")
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", ANSWERING, str(workers.path), name, stdin=-1, stdout=-1
        )
        for name in ("one", "two")
    ]
    for process in processes:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
    said = await asyncio.gather(*(process.communicate(b"\n") for process in processes))
    receipts = [dict(line.split() for line in text.decode().splitlines()) for text, _ in said]
    for number in range(20):
        output: Any = (await workers.client.result(f"r{number}")).output
        of_both = [receipt[str(number)] for receipt in receipts]
        assert sorted(of_both) == ["accepted", "conflict"]
        assert output == [{"answer:wait:0": ("one", "two")[of_both.index("accepted")]}]


async def test_an_answer_is_taken_or_refused_never_dropped(workers: Workers) -> None:
    """The wait expires at about the time of the answer: what `answer` says is what the run has got."""
    await workers.start()
    for number in range(30):
        await play(workers.client, [{"wait": ["answer:wait:0"], "timeout_s": 0.1}], run_id=f"r{number}")
    receipts: dict[int, Receipt | None] = {}
    for number in range(30):
        try:
            receipts[number] = await workers.client.answer(f"r{number}", "wait:0", number, key="k")
        except WaitOverError:
            receipts[number] = None
    for number, receipt in receipts.items():
        output = (await workers.client.result(f"r{number}")).output
        assert output == ([None] if receipt is None else [{"answer:wait:0": number}])


async def _has_ops(workers: Workers, run_id: str, count: int) -> None:
    """Return when the journal holds how some operations of a run ended."""
    async with asyncio.timeout(PATIENCE_S):
        while len(workers.client._store.record(run_id).ops) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def _events(workers: Workers, run_id: str) -> list[tuple[int, Any]]:
    return [(offset, event["type"]) async for offset, event in workers.client.events(run_id)]
