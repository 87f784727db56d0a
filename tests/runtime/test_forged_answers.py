"""Who can write to the journal can approve nothing: what has no seal of the host runs nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.runtime.earlier import frozen_with, started
from tests.runtime.tools import EMPTY, META, SITE, Listing, nothing, runtime, spec, waiting
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine, answer_name
from toolgen.runtime import ConfirmSpec, Runtime, Suspended, ToolOutcome
from toolgen.runtime.functions import LongRunningSpec
from toolgen.waiting.answers import answer_key, cancel_answer
from toolgen.waiting.errors import SuspensionError, TamperedSuspensionError
from toolgen.waiting.frozen import SealedCall, Sealer, TokenClaims, seal_call
from toolgen.waiting.loop import LOOP, VERSION

TOOL = "assistant.devices.list_devices"
CONFIRMED = spec(confirm=ConfirmSpec())
SECRET, FOREIGN = b"the secret of this host, 32 bytes", b"the secret of some other host, 32"
YES: dict[str, Any] = {"approved": True}
UNSEALED = "the answer in the journal has no valid seal"


def _sealed() -> SealedCall:
    return seal_call(Sealer(SECRET), "call_1", "wait:1", frozen_with(CONFIRMED))


async def asked(made: Runtime, site: str = "s1") -> Suspended:
    return waiting(await made.call(TOOL, {"site_id": site}, META))


FORGED = [
    pytest.param(YES, id="the answer alone"),
    pytest.param({"answer": YES, "by": "eve"}, id="without a seal"),
    pytest.param({"answer": YES, "by": "eve", "key": "00000000", "seal": "x"}, id="with some seal"),
    pytest.param(
        Sealer(FOREIGN).seal(TokenClaims("r", "o", "s", 1.0, "d"), YES, "eve"), id="of another host"
    ),
    pytest.param(None, id="null"),
    pytest.param({"answer": cancel_answer("no"), "by": "eve"}, id="a cancellation"),
]


@pytest.mark.parametrize("given", FORGED)
async def test_a_forged_answer_runs_nothing_and_the_person_is_asked_again(
    engine: InProcessEngine, given: Json, caplog: pytest.LogCaptureFixture
) -> None:
    executor = Listing()
    made = runtime(executor, CONFIRMED, engine=engine, secret=SECRET)
    first = await asked(made)
    await engine.answer(first.run_id, "wait:1", given, key="forged")
    await engine.settled(first.run_id)
    (again,) = await made.suspensions.list("s")
    assert (again.reason, again.arguments, executor.calls) == (UNSEALED, first.arguments, [])
    assert again.id != first.id
    assert "sealed with another secret; pass the same Runtime(secret=...) in all processes" in caplog.text
    with pytest.raises(SuspensionError):  # what the forger wrote stands there
        await made.suspensions.answer(first.token, YES)
    assert (await made.suspensions.answer(again.token, YES)).status == "ok"
    assert len(executor.calls) == 1


async def test_a_forged_answer_under_the_key_of_the_right_one_is_asked_again_too(
    engine: InProcessEngine,
) -> None:
    executor = Listing()
    made = runtime(executor, CONFIRMED, engine=engine)
    first = await asked(made)
    await engine.answer(first.run_id, "wait:1", {"answer": YES, "by": ""}, key=answer_key(YES))
    again = await made.suspensions.answer(first.token, YES)
    assert (again.status, waiting(again).reason, executor.calls) == ("suspended", UNSEALED, [])


async def test_a_signal_is_no_answer(engine: InProcessEngine) -> None:
    executor = Listing()
    made = runtime(executor, CONFIRMED, engine=engine)
    first = await asked(made)
    await engine.signal(first.run_id, answer_name("wait:1"), {"answer": YES, "by": ""}, signal_id="x")
    await engine.settled(first.run_id)
    (again,) = await made.suspensions.list("s")
    assert (again.reason, executor.calls) == (UNSEALED, [])


async def test_the_answer_to_one_call_is_none_to_another(engine: InProcessEngine) -> None:
    """Though it has the seal of the host, and both calls ask the same."""
    executor = Listing()
    made = runtime(executor, CONFIRMED, engine=engine)
    good, bad = await asked(made), await asked(made, "s2")
    await made.suspensions.answer(good.token, YES, by="ann")
    kept = await engine.wait_status(good.run_id, "wait:1")
    assert kept is not None
    await engine.answer(bad.run_id, "wait:1", kept.answer, key="replayed")
    await engine.settled(bad.run_id)
    (again,) = await made.suspensions.list("s")
    assert (again.reason, again.arguments["site_id"], len(executor.calls)) == (UNSEALED, "s2", 1)


async def test_an_answer_for_other_arguments_runs_nothing(engine: InProcessEngine) -> None:
    """As when somebody exchanged the arguments in the journal after a person had seen them."""
    executor = Listing()
    made = runtime(executor, CONFIRMED, engine=engine, secret=SECRET)
    await started(made)
    seen = _sealed()
    put = {**seen.document, "payload_json": '{"site_id":"s2","limit":20}'}
    ticket = seen.claims
    await engine.start_run(LOOP, {"frozen": put, "version": VERSION}, run_id="call_1", session="s")
    await engine.settled("call_1")
    token = Sealer(SECRET).issue(ticket)
    with pytest.raises(TamperedSuspensionError):
        await made.suspensions.answer(token, YES)
    with pytest.raises(TamperedSuspensionError):
        await made.suspensions.show(token)
    await engine.answer("call_1", "wait:1", Sealer(SECRET).seal(ticket, YES, "ann"), key="k")
    await engine.settled("call_1")
    assert (await made.suspensions.list("s"), executor.calls) == ((), [])
    (named,) = await made.suspensions.check()
    assert (named.run_id, named.op, named.state) == ("call_1", "wait:2", "tampered")


@pytest.mark.parametrize("frozen", [None, {}, {"id": "f1"}, "x", {"payload_json": 5}], ids=repr)
async def test_what_is_no_frozen_call_runs_nothing(engine: InProcessEngine, frozen: Any) -> None:
    executor = Listing()
    made = runtime(executor, CONFIRMED, engine=engine, secret=SECRET)
    await started(made)
    await engine.start_run(LOOP, {"frozen": frozen, "version": VERSION}, run_id="call_1", session="s")
    await engine.settled("call_1")
    token = Sealer(SECRET).issue(_sealed().claims)
    with pytest.raises(TamperedSuspensionError):
        await made.suspensions.answer(token, YES)
    assert executor.calls == []


async def test_one_row_that_is_no_call_does_not_hide_the_others(engine: InProcessEngine) -> None:
    made = runtime(Listing(), CONFIRMED, engine=engine)
    first = await asked(made)
    broken: Json = {"id": "f1", "expires_at": 4e9}
    await engine.start_run(LOOP, {"frozen": broken, "version": VERSION}, run_id="call_1", session="s")
    await engine.settled("call_1")
    assert await made.suspensions.list("s") == (first,)


async def test_a_forged_answer_to_a_question_is_not_heard(engine: InProcessEngine) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        heard.append(ctx.answer)
        return nothing() if ctx.answer else ToolOutcome.ask("Why?")

    heard: list[Any] = []
    made = runtime(Listing(asks), engine=engine)
    first = await asked(made)
    await engine.answer(first.run_id, "wait:1", {"answer": "because", "by": ""}, key="forged")
    await engine.settled(first.run_id)
    (again,) = await made.suspensions.list("s")
    assert (again.kind, again.question, again.reason, heard) == ("input", "Why?", UNSEALED, [None])


async def test_a_forged_result_of_work_is_not_delivered(engine: InProcessEngine) -> None:
    async def starts(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.pending("job-7")

    made = runtime(Listing(starts), spec(long_running=LongRunningSpec()), engine=engine)
    first = waiting(await made.call(TOOL, SITE, META))
    await engine.answer(first.run_id, "wait:1", {"answer": EMPTY, "by": ""}, key="forged")
    await engine.settled(first.run_id)
    (again,) = await made.suspensions.list("s")
    assert (again.kind, again.handle, again.reason) == ("pending", "job-7", UNSEALED)
    assert (await made.suspensions.answer(again.token, EMPTY)).status == "ok"


@pytest.mark.parametrize("given", [None, 7, "x", ["frozen"], {"facts": {}}], ids=repr)
async def test_an_input_that_is_no_call_is_named(tmp_path: Path, given: Json) -> None:
    """Of a run that no worker has begun, so that only its input says what it waits for."""
    async with Runtime(engine=InProcessEngine(tmp_path / "runs.db", worker=False), secret=SECRET) as desk:
        await started(desk)
        assert desk.engine is not None
        await desk.engine.start_run(LOOP, given, run_id="call_1", session="s")
        token = Sealer(SECRET).issue(_sealed().claims)
        for asked in (
            desk.suspensions.answer(token, YES),
            desk.suspensions.show(token),
            desk.suspensions.cancel(token),
        ):
            with pytest.raises(TamperedSuspensionError, match="the journal of run 'call_1' does not match"):
                await asked
