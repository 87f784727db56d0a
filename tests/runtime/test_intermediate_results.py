"""Intermediate results of calls outside of conversations: what fits, who hears of it, and what hooks do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cases.sensitive.gen.bank.toolsets import payments
from tests.runtime.canaries import ARGUMENTS as PAYMENT
from tests.runtime.canaries import CODE, NUMBER, watched
from tests.runtime.canaries import META as MADE
from tests.runtime.test_long_running import ARGUMENTS, DECLARED, SILENT, Ack, Done, Progress, runtime
from tests.runtime.tools import META
from toolgen.calls.results import ToolResult
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.runtime import (
    Answer,
    Continue,
    Deny,
    Hook,
    Runtime,
    Suspended,
    ToolCall,
    ToolContext,
    ToolOutcome,
    Verdict,
)
from toolgen.waiting.errors import (
    BadAnswerError,
    ConflictingAnswerError,
    LateAnswerError,
    MissingToolError,
    NotAllowedAnswerError,
    UnknownSuspensionError,
)
from toolgen.waiting.options import WaitOptions
from toolgen.waiting.reporting import MOST


async def pending(made: Runtime, spec: Any = DECLARED) -> Suspended:
    asked = (await made.call(spec.id, ARGUMENTS, META)).suspension
    assert asked is not None
    return asked


def updating(spec: Any = DECLARED, **host: Any) -> Runtime:
    return runtime(ToolOutcome.pending("job-1", Ack(minutes=4) if spec is not SILENT else None), spec, **host)


async def sent(made: Runtime, work: Suspended) -> list[Any]:
    """Return what the log of the work has of its intermediate results."""
    assert made.engine is not None
    events = [event async for _, event in made.engine.events(work.run_id, follow=False)]
    return [event["value"] for event in events if event["type"] == "tool_update"]


async def test_it_has_the_type_of_progress_and_is_in_the_log() -> None:
    events = Events()
    told = events.subscribe(types=["tool_update"])
    made = updating(events=events)
    work = await pending(made)
    await made.suspensions.intermediate(work.token, Progress(percent=10), key="a")
    await made.suspensions.intermediate(work.token, {"percent": 20}, key="b")
    await made.suspensions.progress(work.token, value=Progress(percent=30))
    done = await made.suspensions.answer(work.token, {"version": "2.4.0"})
    assert (done.status, done.result) == ("ok", Done(version="2.4.0"))
    assert await sent(made, work) == [{"percent": 10}, {"percent": 20}]
    events.close()
    heard = [(event.number, event.value) async for event in told]  # type: ignore[union-attr]  # one type
    assert heard == [(1, {"percent": 10}), (2, {"percent": 20}), (0, {"percent": 30})]


@pytest.mark.parametrize("value", [{"percent": "forty"}, {}, 40, Ack(minutes=4), object()])
async def test_what_does_not_fit_is_refused_and_nothing_is_sent(value: Any) -> None:
    made = updating()
    work = await pending(made)
    with pytest.raises(BadAnswerError, match="the progress of update_firmware does not fit"):
        await made.suspensions.intermediate(work.token, value, key="a")
    await made.suspensions.intermediate(work.token, {"percent": 1}, key="a")
    assert (await made.suspensions.answer(work.token, {"version": "2"})).status == "ok"
    assert await sent(made, work) == [{"percent": 1}]


@pytest.mark.parametrize("key", ["", 7, None])
async def test_a_key_is_a_text(key: Any) -> None:
    made = updating()
    work = await pending(made)
    with pytest.raises(BadAnswerError, match="must be a non-empty string"):
        await made.suspensions.intermediate(work.token, {"percent": 1}, key=key)


async def test_without_a_declared_type_it_is_any_json_also_without_an_acknowledgement() -> None:
    made = updating(SILENT)
    work = await pending(made, SILENT)
    await made.suspensions.intermediate(work.token, [1, {"a": None}], key="a")
    await made.suspensions.answer(work.token, {"version": "2"})
    assert await sent(made, work) == [[1, {"a": None}]]


async def test_what_a_result_says_is_no_intermediate_result() -> None:
    made = updating()
    work = await pending(made)
    forged: Any = {"toolgen.intermediate": {"key": "a", "digest": "", "value": 1, "shown": 1}}
    with pytest.raises(BadAnswerError, match="not part of a result"):
        await made.suspensions.answer(work.token, forged)


async def test_a_question_takes_none(caplog: pytest.LogCaptureFixture) -> None:
    made = runtime(ToolOutcome.ask("How?"), replace(DECLARED, long_running=None))
    asked = await pending(made, replace(DECLARED, long_running=None))
    with pytest.raises(UnknownSuspensionError, match="does not belong to pending work"):
        await made.suspensions.intermediate(asked.token, 1, key="a")


async def test_a_call_sends_a_bounded_number_of_bounded_size() -> None:
    made = updating(SILENT)
    work = await pending(made, SILENT)
    with pytest.raises(BadAnswerError, match="at most 4194304 bytes"):
        await made.suspensions.intermediate(work.token, "x" * 5_000_000, key="long")
    for number in range(MOST):
        await made.suspensions.intermediate(work.token, number, key=str(number))
    with pytest.raises(NotAllowedAnswerError, match="the maximum for one call"):
        await made.suspensions.intermediate(work.token, "one more", key="more")
    await made.suspensions.intermediate(work.token, 7, key="7")
    assert (await made.suspensions.answer(work.token, {"version": "2"})).status == "ok"
    assert await sent(made, work) == [*range(MOST)]


async def test_the_host_has_a_rule_for_who_may_send() -> None:
    def rule(asked: Suspended, answer: Any, by: str) -> str:
        return "" if by == "worker" else "only the worker may"

    made = updating(waiting=WaitOptions(rule=rule))
    work = await pending(made)
    with pytest.raises(NotAllowedAnswerError, match="only the worker may"):
        await made.suspensions.intermediate(work.token, {"percent": 1}, key="a", by="eve")
    await made.suspensions.intermediate(work.token, {"percent": 1}, key="a", by="worker")


async def test_a_process_without_the_tool_sends_none(tmp_path: Path) -> None:
    async with updating(engine=InProcessEngine(tmp_path / "runs.db")) as made:
        work = await pending(made)
    async with Runtime(engine=InProcessEngine(tmp_path / "runs.db")) as other:
        with pytest.raises(MissingToolError, match="its intermediate result was not reported"):
            await other.suspensions.intermediate(work.token, {"percent": 1}, key="a")


class Reading(Hook):
    """Sees what the model reads, and changes it."""

    async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
        if b'"percent":1' in result.json:
            return Deny(message="too early")
        return Answer(result=Done(version="hidden")) if b'"percent":2' in result.json else Continue()


async def test_hooks_after_the_tool_see_what_the_model_reads() -> None:
    made = updating(hooks=[Reading()])
    work = await pending(made)
    with pytest.raises(NotAllowedAnswerError, match="too early"):
        await made.suspensions.intermediate(work.token, {"percent": 1}, key="a")
    await made.suspensions.intermediate(work.token, {"percent": 2}, key="b")
    await made.suspensions.intermediate(work.token, {"percent": 3}, key="c")
    await made.suspensions.answer(work.token, {"version": "2"})
    assert await sent(made, work) == [{"version": "hidden"}, {"percent": 3}]


async def test_the_time_to_answer_is_not_extended() -> None:
    made = updating()
    work = await pending(made)
    await made.suspensions.intermediate(work.token, {"percent": 1}, key="a")
    (open_work,) = await made.suspensions.list()
    assert (open_work.id, open_work.expires_at) == (work.id, work.expires_at)
    assert open_work.token != work.token
    await made.suspensions.intermediate(open_work.token, {"percent": 1}, key="a")
    with pytest.raises(ConflictingAnswerError) as conflict:
        await made.suspensions.intermediate(open_work.token, {"percent": 2}, key="a")
    assert conflict.value.hint == "the first one counts; send this one under another key"
    await made.suspensions.answer(work.token, {"version": "2"})
    with pytest.raises(LateAnswerError, match="the work has ended"):
        await made.suspensions.intermediate(work.token, {"percent": 2}, key="b")


async def test_events_have_no_sensitive_values() -> None:
    def begins(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.pending("job-1", payments.TransferAck(ticket=CODE))

    async with watched(begins) as (made, watch):
        work = (await made.call("transfer", PAYMENT, MADE)).suspension
        assert work is not None
        await made.suspensions.intermediate(work.token, payments.TransferProgress(step=CODE), key="a")
        with pytest.raises(ConflictingAnswerError) as refused:
            await made.suspensions.intermediate(work.token, {"step": NUMBER}, key="a")
        with pytest.raises(BadAnswerError) as unfit:
            await made.suspensions.intermediate(work.token, {"step": [NUMBER]}, key="b")
        shown = await sent(made, work)
        await made.suspensions.cancel(work.token)
    assert shown == [{"step": {"sensitive": True}}]
    watch.clean(refused.value, unfit.value, shown)
