"""Calls that wait for an answer: frozen, answered once, by whoever holds the token, in any process."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from gen.assistant.toolsets import devices
from tests.runtime.earlier import frozen_with
from tests.runtime.tools import EMPTY, META, SITE, TOOL, Listing, ask, nothing, runtime, spec, waiting
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    Ask,
    BoundTool,
    CallMeta,
    ConfirmSpec,
    Continue,
    Deny,
    Hook,
    Runtime,
    ToolCall,
    ToolError,
    ToolOutcome,
)
from toolgen.runtime.functions import LongRunningSpec
from toolgen.waiting.errors import (
    BadAnswerError,
    ConflictingAnswerError,
    ForeignAnswerError,
    LateAnswerError,
    SuspensionError,
)
from toolgen.waiting.frozen import FIRST
from toolgen.waiting.loop import LOOP, VERSION
from toolgen.waiting.options import WaitOptions

CONFIRMED = spec(confirm=ConfirmSpec(hint="List {site_id}?"), call_hint="Lists the devices of {site_id}.")
APPROVED = spec(confirm=ConfirmSpec(payload=devices.LIST_DEVICES.payload))
"""Takes something with an approval."""
YES: dict[str, Any] = {"approved": True}


async def test_what_was_approved_is_what_runs(engine: InProcessEngine) -> None:
    executor = Listing()
    made = runtime(executor, CONFIRMED, engine=engine)
    waiting = await ask(made)
    assert (waiting.kind, waiting.question, waiting.preview) == (
        "confirmation",
        "List s1?",
        "Lists the devices of s1.",
    )
    assert executor.calls == []
    result = await made.suspensions.answer(waiting.token, YES)
    assert (result.status, result.tool_call_id) == ("ok", "c1")
    assert [payload.site_id for payload in executor.calls] == ["s1"]


async def test_the_same_answer_again_gives_the_same_and_runs_nothing(engine: InProcessEngine) -> None:
    executor = Listing()
    made = runtime(executor, CONFIRMED, engine=engine)
    waiting = await ask(made)
    first = await made.suspensions.answer(waiting.token, {"approved": True, "message": "go"})
    again = await made.suspensions.answer(waiting.token, {"message": "go", "approved": True})
    assert (first.json, first.status) == (again.json, again.status)
    assert len(executor.calls) == 1
    with pytest.raises(ConflictingAnswerError):
        await made.suspensions.answer(waiting.token, {"approved": False})


async def test_a_denied_call_never_runs(engine: InProcessEngine) -> None:
    executor = Listing()
    made = runtime(executor, CONFIRMED, engine=engine)
    result = await made.suspensions.answer(
        (await ask(made)).token, {"approved": False, "message": "too late today"}
    )
    assert (result.status, executor.calls) == ("denied", [])
    assert json.loads(result.json)["error"] == "too late today"


@pytest.mark.parametrize("answer", [{"approved": True, "message": None, "payload": None}, YES])
async def test_null_means_absent_in_an_approval(engine: InProcessEngine, answer: Any) -> None:
    """Some clients send every key that the schema of the answer has."""
    made = runtime(Listing(), APPROVED, engine=engine)
    waiting = await ask(made)
    assert (await made.suspensions.answer(waiting.token, answer)).status == "ok"
    assert (
        await made.suspensions.answer(waiting.token, {"approved": True, "message": None})
    ).status == "ok"  # the same


async def test_null_means_absent_in_a_denial(engine: InProcessEngine) -> None:
    made = runtime(Listing(), CONFIRMED, engine=engine)
    denied = await made.suspensions.answer((await ask(made)).token, {"approved": False, "message": None})
    assert json.loads(denied.json)["error"] == "a person did not approve the call"


@pytest.mark.parametrize(
    "answer",
    [
        None,
        True,
        {},
        {"approved": "yes"},
        {"approved": True, "site_id": "s2"},
        {"approved": True, "message": 1},
        {"approved": None},
        {"approved": True, "site_id": None},
    ],
)
async def test_an_answer_that_does_not_fit_leaves_the_call_waiting(
    engine: InProcessEngine, answer: Any
) -> None:
    made = runtime(Listing(), CONFIRMED, engine=engine)
    waiting = await ask(made)
    with pytest.raises(BadAnswerError):
        await made.suspensions.answer(waiting.token, answer)
    assert (await made.suspensions.answer(waiting.token, YES)).status == "ok"


async def test_only_the_own_session_may_answer(engine: InProcessEngine) -> None:
    made = runtime(Listing(), CONFIRMED, engine=engine)
    waiting = await ask(made)
    with pytest.raises(ForeignAnswerError):
        await made.suspensions.answer(waiting.token, YES, session_id="another")
    assert (await made.suspensions.answer(waiting.token, YES, session_id="s")).status == "ok"


async def test_one_of_many_answers_at_once_wins(engine: InProcessEngine) -> None:
    executor = Listing()
    made = runtime(executor, CONFIRMED, engine=engine)
    waiting = await ask(made)
    given = await asyncio.gather(
        *(made.suspensions.answer(waiting.token, YES) for _ in range(8)), return_exceptions=True
    )
    assert len(executor.calls) == 1
    assert all(isinstance(one, SuspensionError) or one.status == "ok" for one in given)  # type: ignore[union-attr]


async def test_with_nobody_to_ask_the_call_is_denied(engine: InProcessEngine) -> None:
    for host in ({}, {"engine": engine, "waiting": WaitOptions(is_interactive=False)}):
        executor = Listing()
        result = await runtime(executor, CONFIRMED, **host).call(TOOL, SITE, META)
        assert (result.status, executor.calls) == ("denied", [])
        assert json.loads(result.json)["code"] == "approval_unavailable"


async def test_confirmation_may_hang_on_the_arguments(engine: InProcessEngine) -> None:
    made = runtime(Listing(), spec(confirm=ConfirmSpec(when={"site_id": ("s1",)})), engine=engine)
    assert (await made.call(TOOL, SITE, META)).status == "suspended"
    assert (await made.call(TOOL, b'{"site_id": "s2"}', META)).status == "ok"


async def test_a_policy_decides_over_every_call(engine: InProcessEngine) -> None:
    class Careful:
        async def decide(self, call: Any, spec: Any, preview: str) -> Any:
            return Ask(question="Sure?") if call.payload.site_id == "s1" else Deny(message="not there")

    made = runtime(Listing(), engine=engine, policy=Careful())
    assert (await ask(made)).question == "Sure?"
    denied = await made.call(TOOL, b'{"site_id": "s2"}', META)
    assert (denied.status, denied.json) == ("denied", b'{"error":"not there","code":"denied"}')


async def test_finished_siblings_keep_their_results(engine: InProcessEngine) -> None:
    when = ConfirmSpec(when={"site_id": ("s1",)})
    made = runtime(Listing(), spec(confirm=when), engine=engine)
    calls = [
        ToolCall(tool=TOOL, payload_json=b'{"site_id": "%s"}' % site, meta=META) for site in (b"s1", b"s2")
    ]
    results = await made.call_all(calls)
    assert [result.status for result in results] == ["suspended", "ok"]


async def test_hooks_before_the_tool_run_once_and_their_payload_is_frozen(engine: InProcessEngine) -> None:
    class Rewrites(Hook):
        def __init__(self) -> None:
            self.count = 0

        async def before_tool(self, call: Any, payload: Any, ctx: Any) -> Any:
            self.count += 1
            return Continue(payload=CONFIRMED.payload.decode(b'{"site_id": "s9"}'))

    hook, executor = Rewrites(), Listing()
    made = runtime(executor, CONFIRMED, engine=engine, hooks=[hook])
    waiting = await ask(made)
    assert waiting.question == "List s9?"
    await made.suspensions.answer(waiting.token, YES)
    assert (hook.count, executor.calls[0].site_id) == (1, "s9")


async def test_an_approved_call_that_asks_is_not_approved_again(engine: InProcessEngine) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        return nothing() if isinstance(ctx.answer, str) else ToolOutcome.ask("Why?")

    made = runtime(Listing(asks), CONFIRMED, engine=engine)
    second = await made.suspensions.answer((await ask(made)).token, YES)
    assert second.suspension is not None
    assert second.suspension.kind == "input"
    assert (await made.suspensions.answer(second.suspension.token, "because")).status == "ok"


@pytest.mark.parametrize("answer", [object(), b"x", float("nan"), {"floor": "\ud800"}])
async def test_an_answer_that_is_no_json_is_refused(engine: InProcessEngine, answer: Any) -> None:
    made = runtime(Listing(), CONFIRMED, engine=engine)
    with pytest.raises(BadAnswerError):
        await made.suspensions.answer((await ask(made)).token, answer)


async def test_the_token_is_in_no_repr(engine: InProcessEngine) -> None:
    waiting = await ask(runtime(Listing(), CONFIRMED, engine=engine))
    assert waiting.token not in repr(waiting)


LONG = spec(long_running=LongRunningSpec(ack=devices.LIST_DEVICES.result))


async def test_long_work_is_acknowledged_and_delivered_later(engine: InProcessEngine) -> None:
    async def starts(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.pending("job-7", nothing())

    made = runtime(Listing(starts), LONG, engine=engine)
    result = await made.call(TOOL, SITE, META)
    assert (result.status, json.loads(result.json)) == ("pending", EMPTY)
    assert result.suspension is not None
    assert result.suspension.handle == "job-7"
    with pytest.raises(BadAnswerError):
        await made.suspensions.answer(result.suspension.token, {"devices": "none"})
    await made.suspensions.progress(result.suspension.token, 0.5, "half")
    done = await made.suspensions.answer(result.suspension.token, EMPTY)
    assert (done.status, done.result.returned) == ("ok", 0)


async def test_long_work_may_fail(engine: InProcessEngine) -> None:
    async def starts(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.pending("job-8")

    made = runtime(Listing(starts), spec(long_running=LongRunningSpec()), engine=engine)
    waiting = await ask(made)
    done = await made.suspensions.answer(waiting.token, {"error": "the line is cut"})
    assert (done.status, done.json) == ("error", b'{"error":"the line is cut"}')


async def test_only_a_tool_whose_design_says_so_may_answer_later(engine: InProcessEngine) -> None:
    async def starts(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.pending("job-9")

    result = await runtime(Listing(starts), engine=engine).call(TOOL, SITE, META)
    assert result.status == "error"


async def test_a_failed_call_that_was_approved_is_answered_the_same_again(engine: InProcessEngine) -> None:
    async def fails(payload: Any, ctx: Any) -> Any:
        raise ToolError("out of paper")

    made = runtime(Listing(fails), CONFIRMED, engine=engine)
    waiting = await ask(made)
    first = await made.suspensions.answer(waiting.token, YES)
    again = await made.suspensions.answer(waiting.token, YES)
    assert first.json == again.json == b'{"error":"out of paper"}'


async def test_what_waits_can_be_listed(engine: InProcessEngine) -> None:
    made = runtime(Listing(), CONFIRMED, engine=engine)
    mine = await ask(made)
    other = await ask(made, CallMeta(session_id="other"))
    assert await made.suspensions.list("s") == (mine,)
    assert await made.suspensions.list() == (mine, other)
    await made.suspensions.answer(mine.token, YES)
    assert await made.suspensions.list() == (other,)


async def test_a_call_that_waits_is_a_run(engine: InProcessEngine) -> None:
    made = runtime(Listing(), CONFIRMED, engine=engine)
    waiting = await ask(made)
    assert waiting.run_id.startswith("call_")
    (status,) = await engine.list_runs(session="s")
    assert (status.run_id, status.state) == (waiting.run_id, "waiting")
    await made.suspensions.answer(waiting.token, YES)
    assert (await engine.result(waiting.run_id)).state == "completed"
    assert await engine.replay(waiting.run_id) == (await engine.status(waiting.run_id)).output


async def test_an_answer_to_a_run_that_was_canceled_is_late(engine: InProcessEngine) -> None:
    executor = Listing()
    made = runtime(executor, CONFIRMED, engine=engine)
    waiting = await ask(made)
    await engine.cancel(waiting.run_id)
    with pytest.raises(LateAnswerError):
        await made.suspensions.answer(waiting.token, YES)
    assert (executor.calls, await made.suspensions.list()) == ([], ())


async def test_of_two_who_say_the_same_and_one_who_objects_the_first_counts(engine: InProcessEngine) -> None:
    """And both of them get the typed result."""
    made = runtime(Listing(), CONFIRMED, engine=engine)
    waiting = await ask(made)
    first, objection, second = await asyncio.gather(
        made.suspensions.answer(waiting.token, YES),
        made.suspensions.answer(waiting.token, {"approved": False}),
        made.suspensions.answer(waiting.token, YES),
        return_exceptions=True,
    )
    assert isinstance(objection, ConflictingAnswerError)
    for one in (first, second):
        assert not isinstance(one, BaseException)
        assert (one.status, one.result) == ("ok", nothing())


async def test_a_tool_of_a_dynamic_toolset_is_answered_as_it_was_seen(engine: InProcessEngine) -> None:
    executor = Listing()

    class Dynamic:
        name = "other"

        async def tools(self, context: Any) -> Any:
            return [BoundTool(spec=CONFIRMED, execute=executor.list_devices)]

    made = Runtime(engine=engine)
    made.tools.add_toolset(Dynamic())
    snapshot = await made.tools.snapshot()
    waiting = (await snapshot.call(TOOL, SITE, META)).suspension
    assert waiting is not None
    assert (await made.suspensions.answer(waiting.token, YES)).status == "ok"
    assert len(executor.calls) == 1


@pytest.mark.exhaustive
async def test_everything_that_waits_is_listed(engine: InProcessEngine) -> None:
    """However much it is, and whatever else is open."""
    made = runtime(Listing(), CONFIRMED, engine=engine)
    first = waiting(await made.call(TOOL, SITE, META))
    waits, call = made._waits, frozen_with(CONFIRMED)
    assert waits is not None
    for number in range(1_005):
        record = waits.seal(f"call_{number}", FIRST, call)
        await engine.start_run(
            LOOP, {"frozen": record.document, "version": VERSION}, run_id=record.run_id, session="s"
        )
    await engine.settled("call_1004")
    last = waiting(await made.call(TOOL, SITE, CallMeta(session_id="late")))
    listed = await made.suspensions.list()
    assert (len(listed), listed[0], listed[-1]) == (1_007, first, last)
    assert await made.suspensions.list("s") == listed[:-1]
