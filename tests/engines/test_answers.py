"""Answers to waits: one counts, whoever asks, and none is taken that nobody waits for."""

from __future__ import annotations

from typing import Any

import pytest

from toolgen.engines import Engine, UnknownRunError, WaitOverError, WaitStatus

from .starting import StartEngine
from .toys import abouts, play, until_listed

ASKS = [{"wait": ["answer:wait:0"], "about": {"question": "sure?"}}]


async def test_of_two_answers_the_first_counts(engine: Engine) -> None:
    await play(engine, ASKS, run_id="r")
    await engine.settled("r")
    receipts = [
        await engine.answer("r", "wait:0", {"answer": answer}, key=answer) for answer in ("yes", "no", "yes")
    ]
    assert receipts == ["accepted", "conflict", "same"]
    assert (await engine.result("r")).output == [{"answer:wait:0": {"answer": "yes"}}]
    assert await engine.answer("r", "wait:0", {"answer": "yes"}, key="yes") == "same"


async def test_a_wait_can_be_looked_at_before_and_after_its_answer(engine: Engine) -> None:
    await play(engine, ASKS, run_id="r")
    status = await engine.settled("r")
    assert [(wait.op, wait.about) for wait in status.awaiting] == [("wait:0", {"question": "sure?"})]
    assert await engine.wait_status("r", "wait:0") == WaitStatus(about={"question": "sure?"}, is_open=True)
    assert await engine.wait_status("r", "wait:1") is None
    await engine.answer("r", "wait:0", "yes", key="yes")
    await engine.result("r")
    over = WaitStatus(about={"question": "sure?"}, is_open=False, answer="yes")
    assert await engine.wait_status("r", "wait:0") == over


async def test_an_answer_may_come_before_the_wait(engine: Engine) -> None:
    await play(engine, [{"wait": ["go"]}, {"wait": ["answer:wait:1"]}], run_id="r")
    await engine.settled("r")
    assert await engine.answer("r", "wait:1", 1, key="1") == "accepted"
    await engine.signal("r", "go", None, signal_id="s")
    assert (await engine.result("r")).output == [{"go": None}, {"answer:wait:1": 1}]


async def test_an_answer_is_kept_for_an_operation_that_never_waits(engine: Engine) -> None:
    """As what an operator adds to the journal of a run that waits for something else."""
    await play(engine, ASKS, run_id="r")
    await engine.settled("r")
    assert await engine.accepted_answer("r", "aside") is None
    receipts = [await engine.answer("r", "aside", [said], key=said) for said in ("yes", "no", "yes")]
    assert receipts == ["accepted", "conflict", "same"]
    assert await engine.accepted_answer("r", "aside") == ["yes"]
    assert (await engine.settled("r")).state == "waiting"
    await engine.answer("r", "wait:0", "go", key="go")
    assert (await engine.result("r")).output == [{"answer:wait:0": "go"}]
    with pytest.raises(UnknownRunError):
        await engine.accepted_answer("x", "aside")


async def test_nobody_answers_what_is_over(engine: Engine) -> None:
    await play(engine, [{"wait": ["answer:wait:0"], "timeout_s": 0}, {"wait": ["go"]}], run_id="r")
    await engine.settled("r")
    with pytest.raises(WaitOverError):
        await engine.answer("r", "wait:0", 1, key="1")
    await engine.cancel("r")
    with pytest.raises(WaitOverError):
        await engine.answer("r", "wait:1", 1, key="1")
    with pytest.raises(UnknownRunError):
        await engine.answer("x", "wait:0", 1, key="1")
    with pytest.raises(UnknownRunError):
        await engine.wait_status("x", "wait:0")


async def test_without_a_worker_an_answer_is_recorded(start_engine: StartEngine) -> None:
    engine = await start_engine(is_started=False)
    await play(engine, ASKS, run_id="r")
    assert await engine.answer("r", "wait:0", "yes", key="yes") == "recorded"
    assert await engine.answer("r", "wait:0", "no", key="no") == "conflict"
    await engine.start()
    assert (await engine.result("r")).output == [{"answer:wait:0": "yes"}]


async def test_a_detached_run_goes_on_after_its_starter(engine: Engine) -> None:
    steps: Any = [{"detach": [{"wait": ["go"]}]}]
    await engine.start_run("script", steps, run_id="r", session="s")
    status = await engine.result("r")
    assert (status.output, status.children) == (["r/work:0"], ())
    apart = await engine.settled("r/work:0")
    assert (apart.state, apart.session) == ("waiting", "s")
    await engine.cancel("r")
    assert (await engine.status("r/work:0")).state == "waiting"
    await engine.signal("r/work:0", "go", None, signal_id="s")
    assert (await engine.result("r/work:0")).output == [{"go": None}]


async def test_a_detached_run_is_canceled_with_its_starter(engine: Engine) -> None:
    await play(engine, [{"detach": [{"wait": ["go"]}]}, {"wait": ["go"]}], run_id="r")
    await engine.settled("r")
    await engine.cancel("r", reason="enough")
    status = await engine.status("r/work:0")
    assert (status.state, status.error) == ("canceled", "enough")


async def test_runs_are_listed_by_session(engine: Engine) -> None:
    for run_id, session in (("a", "s"), ("b", "t"), ("c", "s")):
        steps: Any = ASKS
        await engine.start_run("script", steps, run_id=run_id, session=session)
        await engine.settled(run_id)
        await until_listed(engine, run_id)
    found = await engine.list_runs(session="s", state="waiting")
    assert [(run.run_id, abouts(run)) for run in found] == [
        ("c", ({"question": "sure?"},)),
        ("a", ({"question": "sure?"},)),
    ]
    assert [run.run_id for run in await engine.list_runs(session="s", limit=1)] == ["c"]
