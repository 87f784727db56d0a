"""Clients beside the worker of a file of runs: who may work, and what the others see and send."""

from __future__ import annotations

import asyncio
import itertools
import socket
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from toolgen.engines import EngineError, InProcessEngine
from toolgen.engines.in_process import file_worker
from toolgen.engines.in_process.sqlite_rows import require_sound_runs
from toolgen.stores import UnsafeFileError

from .clock import ManualClock
from .file_engines import Open
from .file_engines import open_engine as open_engine
from .file_engines import toys as toys
from .toys import Toys, call, play


async def test_who_starts_it_meanwhile_takes_nothing_from_the_worker(
    open_engine: Open, toys: Toys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call that is made in a runtime starts the engine, so several do at once when it is new."""
    checks, has_begun = itertools.count(), threading.Event()

    def check(database: sqlite3.Connection) -> None:
        if next(checks):  # not that of the first one
            has_begun.wait(30)
        require_sound_runs(database)

    monkeypatch.setattr(file_worker, "require_sound_runs", check)
    engine = await open_engine(is_started=False)
    first, *others = [asyncio.ensure_future(engine.start()) for _ in range(3)]
    await first
    await play(engine, [{"calls": [call("pay", gate="paid", once=True)]}], run_id="r")
    await toys.has("start", "pay")
    has_begun.set()
    await asyncio.gather(*others)
    toys.open("paid")
    assert (await engine.result("r")).state == "completed"
    assert toys.counts("start") == {"pay": 1}
    assert next(checks) == 1, "the file was opened as a worker's once"


def send_to_clients(folder: Path, *messages: bytes) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stranger:
        for bell in folder.glob("runs.db.*.bell"):
            for message in messages:
                stranger.sendto(message, str(bell))


async def test_a_client_gets_the_reports_of_the_worker(open_engine: Open, tmp_path: Path) -> None:
    await open_engine()
    client = await open_engine(worker=False)
    other = await open_engine(worker=False)
    steps = [{"publish": {"type": "began"}}, {"wait": ["go"]}, {"calls": [call("a", emit=5)]}]
    await play(client, steps, run_id="r")
    seen: dict[InProcessEngine, list[Any]] = {client: [], other: []}

    async def follow(engine: InProcessEngine) -> None:
        async for offset, event in engine.events("r"):
            seen[engine].append(event.get("number", event["type"]))
            if offset == 1:
                began.release()

    began = asyncio.Semaphore(0)
    following = [asyncio.ensure_future(follow(engine)) for engine in seen]
    for _ in following:
        await began.acquire()
    send_to_clients(tmp_path, b"{", b"[1]", b'["r", 1]', b'["r", "x", {}]', b'["r", 1, 2]')
    await client.signal("r", "go", 1, signal_id="1")
    await asyncio.gather(*following)
    assert list(seen.values()) == [["began", *range(5), "run_stream_end"]] * 2


async def test_one_engine_works_and_others_are_clients(open_engine: Open, toys: Toys) -> None:
    worker = await open_engine()
    with pytest.raises(EngineError, match="executed by another engine") as refused:
        await open_engine()
    assert "worker=False" in str(refused.value.hint)
    client = await open_engine(worker=False)
    steps = [{"publish": {"type": "x"}}, {"wait": ["answer:wait:1"], "about": "?"}, {"wait": ["go"]}]
    await play(client, steps, run_id="r")
    assert (await client.settled("r")).awaiting[0].about == "?"
    following = asyncio.ensure_future(_types(client, "r"))
    assert await client.answer("r", "wait:1", "yes", key="yes") == "accepted"
    assert await worker.answer("r", "wait:1", "yes", key="yes") == "same"
    assert await client.answer("r", "wait:1", "no", key="no") == "conflict"
    await client.signal("r", "go", 1, signal_id="1")
    assert (await client.result("r")).output == [{"answer:wait:1": "yes"}, {"go": 1}]
    assert await following == ["x", "run_stream_end"]
    await play(client, [{"wait": ["never"]}], run_id="s")
    await client.settled("s")
    await client.cancel("s", reason="enough")
    assert (await client.status("s")).error == "enough"
    assert [run.run_id for run in await client.list_runs()] == ["s", "r"]
    await worker.close()
    await play(client, [{"wait": ["answer:wait:0"]}], run_id="t")
    assert await client.answer("t", "wait:0", 1, key="1") == "recorded"
    await client.start(worker=False)
    again = await open_engine()
    assert (await again.result("t")).output == [{"answer:wait:0": 1}]


async def test_a_file_that_a_link_leads_to_has_one_worker(open_engine: Open, tmp_path: Path) -> None:
    await open_engine()
    link = tmp_path / "link.db"
    link.symlink_to("runs.db")
    other = InProcessEngine(link)
    with pytest.raises(EngineError, match="are executed by another engine"):
        await other.start()
    await other.close()


@pytest.mark.parametrize("how", ["mode", "link", "link to nothing"])
async def test_a_file_that_every_user_can_change_has_no_worker(
    open_engine: Open, tmp_path: Path, how: str
) -> None:
    file, link = tmp_path / "runs.db", tmp_path / "folder" / "runs.db"
    link.parent.mkdir()
    link.symlink_to(file)
    if how != "link to nothing":
        await (await open_engine()).close()
    if how == "mode":
        file.chmod(0o646)
    with pytest.raises(UnsafeFileError, match=r"runs\.db"):
        InProcessEngine(file if how == "mode" else link)
    assert [each.name for each in link.parent.iterdir()] == ["runs.db"]
    assert file.exists() == (how != "link to nothing")


async def test_a_client_needs_no_signal_from_the_worker(open_engine: Open, tmp_path: Path) -> None:
    """Without sockets everybody looks each second, by the clock of the engine."""
    clock = ManualClock()
    how: dict[str, Any] = {"clock": clock.time, "call_later": clock.call_later}
    worker = await open_engine(**how)
    client = await open_engine(worker=False, **how)
    for name in await asyncio.to_thread(lambda: list(tmp_path.glob("*.bell"))):
        name.unlink()
    await play(client, [{"wait": ["go"]}], run_id="r")
    settled = asyncio.ensure_future(client.settled("r"))
    while not settled.done():
        await clock.advance()
        await asyncio.sleep(0.002)
    assert (await settled).state == "waiting"
    assert (await worker.status("r")).state == "waiting"


@pytest.mark.parametrize("is_noticed", [False, True])
async def test_an_answer_that_the_worker_has_not_seen_is_before_the_end_of_its_wait(
    open_engine: Open, toys: Toys, tmp_path: Path, is_noticed: bool
) -> None:
    """Also when the worker sees it after the time of the wait was over, and before that was written."""
    clock = ManualClock()
    worker = await open_engine(clock=clock.time, call_later=clock.call_later)
    client = await open_engine(worker=False)
    await asyncio.to_thread((tmp_path / "runs.db.bell").unlink)
    steps = [{"leave": call("a", gate="never")}, {"wait": ["answer:wait:1"], "timeout_s": 0.5}]
    await play(worker, steps, run_id="r")
    await toys.has("start", "a")
    assert await client.answer("r", "wait:1", "yes", key="k") == "recorded"
    assert await clock.advance() == 0.5
    if is_noticed:
        worker._worker.notify()
    assert (await worker.result("r")).output == [{"answer:wait:1": "yes"}]


async def _types(engine: InProcessEngine, run_id: str) -> list[Any]:
    return [event["type"] async for _, event in engine.events(run_id)]
