"""Every engine: operations, their order, their failures, and what may cross the seam."""

from __future__ import annotations

import asyncio
import re

import pytest

from tests.selection import first
from toolgen.engines import (
    CallOptions,
    Engine,
    EngineError,
    PayloadTooLargeError,
    UnknownRunError,
)

from .starting import StartEngine
from .toys import Toys, call, play, until_listed


async def test_calls_go_on_side_by_side_and_give_their_results_in_order(engine: Engine, toys: Toys) -> None:
    calls = [call("a", gate="a"), call("b", gate="b"), call("c", gate="c")]
    await play(engine, [{"calls": calls}], run_id="r")
    for id_ in "abc":
        await toys.has("start", id_)
    for id_ in "cba":
        toys.open(id_)
        await toys.has("end", id_)
    status = await engine.result("r")
    assert (status.state, status.output) == ("completed", [[{"id": id_, "ok": True} for id_ in "abc"]])


async def test_a_run_of_an_id_is_started_once(engine: Engine, toys: Toys) -> None:
    for id_ in "abc":
        await play(engine, [{"calls": [call(id_)]}], run_id="r")
    await engine.result("r")
    await play(engine, [{"calls": [call("d")]}], run_id="r")
    assert (await engine.result("r")).output == [[{"id": "a", "ok": True}]]
    assert toys.counts("start") == {"a": 1}


async def test_failures_of_the_infrastructure_are_tried_again(engine: Engine, toys: Toys) -> None:
    calls = [
        call("flaky", fail_until=3),
        call("down", fail_until=9, attempts=2),
        call("fatal", is_fatal=True),
        call("slow", gate="never", timeout=0.05, attempts=2),
        call("exit", exits=True),
        call("once", fail_until=2, attempts=1),
    ]
    await play(engine, [{"calls": calls}], run_id="r")
    status = await engine.result("r")
    assert status.output == [
        [
            {"id": "flaky", "ok": True},
            {"failed": "ConnectionError"},
            {"failed": "NonRetryableError"},
            {"failed": "timeout"},
            {"failed": "SystemExit"},
            {"failed": "ConnectionError"},
        ]
    ]
    assert toys.counts("start") == {"flaky": 3, "down": 2, "fatal": 1, "slow": 2, "exit": 1, "once": 1}
    assert [attempt for what, id_, attempt in toys.log if (what, id_) == ("start", "flaky")] == [1, 2, 3]
    assert toys.keys["flaky"] == {"r/tool:flaky"}
    assert toys.counts("cancel") == {"slow": 2}  # a tool learns that its time is over


async def test_a_failure_that_the_loop_does_not_catch_ends_the_run(engine: Engine) -> None:
    await play(engine, [{"start": call("x", is_fatal=True)}], run_id="r")
    status = await engine.result("r")
    assert (status.state, status.output) == ("failed", None)
    assert status.error == "tool:x: NonRetryableError: no such house"


@pytest.mark.parametrize(
    "step",
    [{"raise": "the word"}, {"exit": 3}, {"parts": [{"raise": "the word"}]}, {"parts": [{"exit": 3}]}],
    ids=["raise", "exit", "raise in a part", "exit in a part"],
)
async def test_a_mistake_of_the_loop_is_in_the_log_and_not_in_the_status(
    engine: Engine, caplog: pytest.LogCaptureFixture, step: object
) -> None:
    await play(engine, [step], run_id="r")
    status = await engine.result("r")
    assert status.state == "failed"
    assert "word" not in status.error
    (reference,) = re.findall(r"\(reference (\w+)\)", status.error)
    assert f"[{reference}]" in caplog.text
    assert "LookupError: the word" in caplog.text or "exit" in caplog.text
    await play(engine, [], run_id="next")
    assert (await engine.result("next")).state == "completed"


@pytest.mark.parametrize("is_caught", [False, True])
async def test_two_operations_under_one_key_are_our_bug(engine: Engine, toys: Toys, is_caught: bool) -> None:
    await engine.start_run("twice", {"is_caught": is_caught}, run_id="r")
    status = await engine.result("r")
    assert status.state == "failed"
    assert "uses the key 'tool:1' for two operations" in status.error
    assert toys.counts("start") == {"a": 1}


@pytest.mark.parametrize(
    ("what", "told"),
    first(
        [
            ("argument", "the argument of tool for the operation tool:1 is not JSON: $.deep[0].set is a set"),
            ("event", "the event one is not JSON: $.deep[0].set is a set"),
            ("about", "what the operation wait:1 is about is not JSON: $.deep[0].set is a set"),
            ("input", "the input of script for the operation child:1 is not JSON: $.deep[0].set is a set"),
            ("output", "the output of run r is not JSON: $.deep[0].set is a set"),
            ("loop", "no loop is registered as 'hoop'"),
        ],
        4,
    ),
)
async def test_what_a_loop_hands_over_is_json_and_exists(engine: Engine, what: str, told: str) -> None:
    await engine.start_run("broken", {"what": what}, run_id="r")
    status = await engine.result("r")
    assert status.state == "failed"
    assert told in status.error


@pytest.mark.parametrize(
    ("value", "told"),
    first(
        [
            ((1, 2), "$ is a tuple"),
            ({"a": {1: 2}}, "$.a has the key 1, which is not a string"),
            ([float("inf")], "$[0] is inf"),
            (float("nan"), "$ is nan"),
            (b"x", "$ is a bytes"),
            ({"half": "\ud800"}, "$.half has a lone surrogate"),
        ],
        4,
    ),
)
async def test_what_comes_from_outside_is_json(engine: Engine, toys: Toys, value: object, told: str) -> None:
    with pytest.raises(EngineError) as input_error:
        await play(engine, value, run_id="r")
    assert f"the input of run r is not JSON: {told}" in str(input_error.value)
    await play(engine, [{"calls": [call("a", gate="a")]}], run_id="r")
    with pytest.raises(EngineError) as signal_error:
        await engine.signal("r", "go", value, signal_id="1")  # type: ignore[arg-type]  # on purpose
    assert f"the payload of the signal go to run r is not JSON: {told}" in str(signal_error.value)
    toys.open("a")
    assert (await engine.result("r")).state == "completed"


@pytest.mark.parametrize(("run_id", "session", "told"), [("r\ud800", "", "$[0]"), ("r", "s\ud800", "$[1]")])
async def test_ids_that_no_file_holds_are_refused(
    engine: Engine, run_id: str, session: str, told: str
) -> None:
    """It was a UnicodeEncodeError of the file, and memory took them."""
    with pytest.raises(EngineError, match=re.escape(f"{told} has a lone surrogate")):
        await engine.start_run("script", [], run_id=run_id, session=session)
    assert await engine.list_runs() == ()


async def test_a_result_that_is_not_json_fails_its_activity_for_good(
    start_engine: StartEngine, toys: Toys
) -> None:
    async def tool(info: object, arg: object) -> object:
        toys.log.append(("start", "date", 1))
        return {"when": {1, 2}}

    toys.tool = tool  # type: ignore[method-assign]  # another activity under the name
    engine = await start_engine()
    await play(engine, [{"calls": [call("a")]}], run_id="r")
    assert (await engine.result("r")).output == [[{"failed": "EngineError"}]]
    assert toys.counts("start") == {"date": 1}


async def test_an_error_of_the_environment_is_told_with_its_hint(
    start_engine: StartEngine, toys: Toys, caplog: pytest.LogCaptureFixture
) -> None:
    async def tool(info: object, arg: object) -> object:
        raise EngineError("there is no place", hint="make one")

    toys.tool = tool  # type: ignore[method-assign]  # another activity under the name
    engine = await start_engine()
    await play(engine, [{"calls": [call("a", attempts=1)]}], run_id="r")
    assert (await engine.result("r")).output == [[{"failed": "EngineError"}]]
    said = [record.getMessage() for record in caplog.records]
    assert any(re.search(r"a failed: EngineError: there is no place\W+hint: make one$", one) for one in said)


async def test_nothing_is_shared_over_the_seam(engine: Engine) -> None:
    """The toys change their arguments, on both sides, after they were handed over."""
    given = [{"calls": [call("a", fail_until=2)]}]
    await play(engine, given, run_id="r")
    given.clear()
    status = await engine.result("r")
    assert status.output == [[{"id": "a", "ok": True}]]
    assert status.input == [{"calls": [call("a", fail_until=2)]}]
    assert isinstance(status.output, list)
    status.output.clear()
    assert (await engine.status("r")).output == [[{"id": "a", "ok": True}]]


async def test_payloads_have_a_limit(start_engine: StartEngine, toys: Toys) -> None:
    engine = await start_engine(max_payload_bytes=200)
    assert engine.caps.max_payload_bytes == 200
    with pytest.raises(PayloadTooLargeError, match="the input of run r has 302 bytes of JSON"):
        await play(engine, "x" * 300, run_id="r")
    await engine.start_run("broken", {"what": "large argument", "size": 300}, run_id="argument")
    failed = await engine.result("argument")
    assert (
        failed.error
        == "the argument of tool for the operation tool:1 has 302 bytes of JSON; the engine keeps 200"
    )
    await engine.start_run("broken", {"what": "large output", "size": 300}, run_id="output")
    assert "the output of run output has 302 bytes" in (await engine.result("output")).error
    assert not toys.log
    await play(engine, [{"calls": [call("a")]}, {"wait": ["go"]}], run_id="r")
    with pytest.raises(PayloadTooLargeError, match="the signal go"):
        await engine.signal("r", "go", "x" * 300, signal_id="1")
    await engine.signal("r", "go", "x" * 100, signal_id="1")
    assert (await engine.result("r")).state == "completed"


async def test_a_result_over_the_limit_fails_its_activity_for_good(
    start_engine: StartEngine, toys: Toys
) -> None:
    async def tool(info: object, arg: object) -> object:
        toys.log.append(("start", "large", 1))
        return "x" * 300

    toys.tool = tool  # type: ignore[method-assign]  # another activity under the name
    engine = await start_engine(max_payload_bytes=200)
    await play(engine, [{"calls": [call("a")]}], run_id="r")
    assert (await engine.result("r")).output == [[{"failed": "PayloadTooLargeError"}]]
    assert toys.counts("start") == {"large": 1}


async def test_fifty_runs_go_on_at_once(engine: Engine, toys: Toys) -> None:
    ids = [f"r{number}" for number in range(50)]
    for id_ in ids:
        calls = [call(f"{id_}.a", gate="all"), call(f"{id_}.b", gate="all")]
        await play(engine, [{"calls": calls}, {"calls": [call(f"{id_}.c")]}], run_id=id_)
    await toys.until(lambda: len(toys.counts("start")) == 100)
    toys.open("all")
    results = await asyncio.gather(*(engine.result(id_) for id_ in ids))
    assert [status.run_id for status in results] == ids
    assert {status.state for status in results} == {"completed"}
    assert set(toys.counts("start").values()) == {1}


async def test_runs_are_listed_with_the_newest_first(engine: Engine, toys: Toys) -> None:
    await play(engine, [], run_id="over")
    await engine.result("over")
    await play(engine, [{"wait": ["go"]}], run_id="waits")
    await engine.settled("waits")
    await play(engine, [{"calls": [call("a", gate="a")]}], run_id="goes")
    await until_listed(engine, "goes")
    assert [(run.run_id, run.state) for run in await engine.list_runs()] == [
        ("goes", "running"),
        ("waits", "waiting"),
        ("over", "completed"),
    ]
    assert [run.run_id for run in await engine.list_runs(state="waiting")] == ["waits"]
    assert [run.run_id for run in await engine.list_runs(limit=1)] == ["goes"]
    assert [run.run_id for run in await engine.list_runs(after="goes")] == ["waits", "over"]
    assert [run.run_id for run in await engine.list_runs(after="goes", limit=1)] == ["waits"]
    assert [run.run_id for run in await engine.list_runs(after="waits", state="completed")] == ["over"]
    assert [run.run_id for run in await engine.list_runs(after="goes", state="completed")] == ["over"]
    assert await engine.list_runs(after="over") == await engine.list_runs(after="none") == ()


async def test_an_unknown_run_is_said_to_be_unknown(engine: Engine) -> None:
    with pytest.raises(UnknownRunError, match="no run has the id 'x'"):
        await engine.status("x")
    with pytest.raises(UnknownRunError):
        await engine.result("x")
    with pytest.raises(UnknownRunError):
        await engine.settled("x")
    with pytest.raises(UnknownRunError):
        await engine.signal("x", "go", None, signal_id="1")
    with pytest.raises(UnknownRunError):
        await engine.cancel("x")
    with pytest.raises(UnknownRunError):
        async for _ in engine.events("x"):
            pass
    with pytest.raises(EngineError, match="no loop is registered as 'hoop'"):
        await engine.start_run("hoop", None, run_id="x")


async def test_an_engine_belongs_to_one_owner_and_starts_once(engine: Engine, toys: Toys) -> None:
    with pytest.raises(EngineError, match="already belongs to a runtime"):
        engine.register(loops=toys.loops(), activities=toys.activities())
    await engine.start()
    await engine.start(worker=False)
    await play(engine, [{"calls": [call("a")]}], run_id="r")
    assert (await engine.result("r")).state == "completed"


async def test_a_run_begins_when_a_worker_starts(start_engine: StartEngine, toys: Toys) -> None:
    engine = await start_engine(is_started=False)
    await engine.start(worker=False)
    await play(engine, [{"calls": [call("a")]}, {"wait": ["go"]}], run_id="r")
    await engine.signal("r", "go", 1, signal_id="1")
    waiting = asyncio.ensure_future(engine.result("r"))
    await asyncio.sleep(0.02)
    assert (await engine.status("r")).state == "running"
    assert not toys.log
    await engine.start()
    assert (await waiting).output == [[{"id": "a", "ok": True}], {"go": 1}]


def test_attempts_have_a_default() -> None:
    assert CallOptions() == CallOptions(attempts=3, backoff=0.2, timeout=None)


async def test_a_store_that_is_away_is_no_outcome_of_what_has_not_begun(engine: Engine, toys: Toys) -> None:
    """Its error was told to the model, with the path of the file."""
    calls = [
        call("once", away=2, once=True, attempts=1),
        call("repeated", away=2, attempts=1),
        call("begun", away=1, tells=[], before="open", once=True, attempts=1),
        call("late", away=99, timeout=2.5, attempts=1),
    ]
    toys.open("open")
    await play(engine, [{"calls": calls}], run_id="r")
    status = await engine.result("r")
    assert status.output == [
        [
            {"id": "once", "ok": True},
            {"id": "repeated", "ok": True},
            {"failed": "outcome_unknown"},
            {"failed": "timeout"},
        ]
    ]
    assert toys.counts("start")["once"] == 3
    assert status.error == ""
