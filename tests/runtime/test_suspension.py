"""Calls that wait for an answer: frozen, answered once, by whoever holds the token, in any process."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gen.assistant.toolsets import devices
from tests.runtime.tools import EMPTY, META, SITE, Listing, nothing, runtime, spec
from toolgen.contract.names import Hint
from toolgen.runtime import (
    Ask,
    BoundTool,
    CallMeta,
    ConfirmSpec,
    Continue,
    Deny,
    Hook,
    LongRunningSpec,
    Runtime,
    ToolCall,
    ToolError,
    ToolOutcome,
)
from toolgen.runtime.waiting.approvals import Suspensions
from toolgen.runtime.waiting.errors import (
    BadAnswerError,
    ChangedToolError,
    ConflictingAnswerError,
    ForeignAnswerError,
    LateAnswerError,
    ReplayedAnswerError,
    SuspensionError,
    TamperedSuspensionError,
    UnknownSuspensionError,
)
from toolgen.runtime.waiting.sqlite import SqliteSuspensionStore
from toolgen.runtime.waiting.suspension import MemorySuspensionStore, SuspensionStore

TOOL = "assistant.devices.list_devices"
CONFIRMED = spec(confirm=ConfirmSpec(hint="List {site_id}?"), call_hint="Lists the devices of {site_id}.")
APPROVED = spec(confirm=ConfirmSpec(payload=devices.LIST_DEVICES.payload))
"""Takes something with an approval."""
YES: dict[str, Any] = {"approved": True}


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SuspensionStore:
    return MemorySuspensionStore() if request.param == "memory" else SqliteSuspensionStore(tmp_path / "s.db")


async def ask(made: Runtime, meta: CallMeta = META) -> Any:
    result = await made.call(TOOL, SITE, meta)
    assert (result.status, result.json) == ("suspended", b"")
    assert result.suspension is not None
    return result.suspension


async def test_what_was_approved_is_what_runs(store: SuspensionStore) -> None:
    executor = Listing()
    waiting = await ask(runtime(executor, CONFIRMED, suspensions=store))
    assert (waiting.kind, waiting.question, waiting.preview) == (
        "confirmation",
        "List s1?",
        "Lists the devices of s1.",
    )
    assert executor.calls == []
    other = Listing()
    result = await runtime(other, CONFIRMED, suspensions=store).deliver(waiting.token, YES)
    assert (result.status, result.tool_call_id) == ("ok", "c1")
    assert [payload.site_id for payload in other.calls] == ["s1"]


async def test_the_same_answer_again_gives_the_same_and_runs_nothing(store: SuspensionStore) -> None:
    executor = Listing()
    made = runtime(executor, CONFIRMED, suspensions=store)
    waiting = await ask(made)
    first = await made.deliver(waiting.token, {"approved": True, "message": "go"})
    again = await made.deliver(waiting.token, {"message": "go", "approved": True})
    assert (first.json, first.status) == (again.json, again.status)
    assert len(executor.calls) == 1
    with pytest.raises(ConflictingAnswerError):
        await made.deliver(waiting.token, {"approved": False})


async def test_a_denied_call_never_runs(store: SuspensionStore) -> None:
    executor = Listing()
    made = runtime(executor, CONFIRMED, suspensions=store)
    result = await made.deliver((await ask(made)).token, {"approved": False, "message": "too late today"})
    assert (result.status, executor.calls) == ("denied", [])
    assert json.loads(result.json)["error"] == "too late today"


@pytest.mark.parametrize("answer", [{"approved": True, "message": None, "payload": None}, YES])
async def test_null_means_absent_in_an_approval(store: SuspensionStore, answer: Any) -> None:
    """Some clients send every key that the schema of the answer has."""
    made = runtime(Listing(), APPROVED, suspensions=store)
    waiting = await ask(made)
    assert (await made.deliver(waiting.token, answer)).status == "ok"
    assert (await made.deliver(waiting.token, {"approved": True, "message": None})).status == "ok"  # the same


async def test_null_means_absent_in_a_denial(store: SuspensionStore) -> None:
    made = runtime(Listing(), CONFIRMED, suspensions=store)
    denied = await made.deliver((await ask(made)).token, {"approved": False, "message": None})
    assert json.loads(denied.json)["error"] == "a person did not approve the call"


async def test_null_means_absent_in_an_answer_about_a_credential(store: SuspensionStore) -> None:
    async def needs(payload: Any, ctx: Any) -> Any:
        return nothing() if ctx.answer else ToolOutcome.need_credential({"provider": "mail"})

    made = runtime(Listing(needs), suspensions=store)
    assert (await made.deliver((await ask(made)).token, {"available": True, "message": None})).status == "ok"


async def test_null_means_absent_in_an_answer_to_a_question(store: SuspensionStore) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        if ctx.answer is None:
            fields = {"city": {"type": "string"}, "floor": {"type": "integer"}}
            return ToolOutcome.ask("Where?", {"type": "object", "properties": fields, "required": ["city"]})
        answers.append(ctx.answer)
        return nothing()

    answers: list[Any] = []
    made = runtime(Listing(asks), suspensions=store)
    waiting = await ask(made)
    with pytest.raises(BadAnswerError, match=r"\$\.city must be of type string, not null"):
        await made.deliver(waiting.token, {"city": None, "floor": 3})
    assert (await made.deliver(waiting.token, {"city": "Kiel", "floor": None})).status == "ok"
    assert answers == [{"city": "Kiel"}]


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
    store: SuspensionStore, answer: Any
) -> None:
    made = runtime(Listing(), CONFIRMED, suspensions=store)
    waiting = await ask(made)
    with pytest.raises(BadAnswerError):
        await made.deliver(waiting.token, answer)
    assert (await made.deliver(waiting.token, YES)).status == "ok"


async def test_only_the_own_session_may_answer(store: SuspensionStore) -> None:
    made = runtime(Listing(), CONFIRMED, suspensions=store)
    waiting = await ask(made)
    with pytest.raises(ForeignAnswerError):
        await made.deliver(waiting.token, YES, session_id="another")
    assert (await made.deliver(waiting.token, YES, session_id="s")).status == "ok"


async def test_a_token_is_not_guessed(store: SuspensionStore) -> None:
    made = runtime(Listing(), CONFIRMED, suspensions=store)
    waiting = await ask(made)
    for token in ("", waiting.token[:-1], f"{waiting.token}x", waiting.id):
        with pytest.raises(UnknownSuspensionError):
            await made.deliver(token, YES)


async def test_a_late_answer_is_refused(store: SuspensionStore) -> None:
    now = [1000.0]
    suspensions = Suspensions(store, clock=lambda: now[0], lifetime_s=60)
    waiting = await suspensions.open(
        kind="confirmation",
        spec=CONFIRMED,
        payload_json=SITE,
        meta=META,
        question="?",
        preview="",
        answer_schema={},
    )
    now[0] = 1061.0
    with pytest.raises(LateAnswerError):
        await suspensions.claim(waiting.token, YES, spec_of=lambda tool: CONFIRMED)
    assert await suspensions.open_suspensions() == ()
    assert await store.forget(now[0]) == 1


async def test_a_tool_that_changed_is_asked_about_again(store: SuspensionStore) -> None:
    waiting = await ask(runtime(Listing(), CONFIRMED, suspensions=store))
    changed = replace(CONFIRMED, payload=devices.GET_TIME_SERIES.payload)
    with pytest.raises(ChangedToolError):
        await runtime(Listing(), changed, suspensions=store).deliver(waiting.token, YES)


DESTRUCTIVE: dict[Hint, bool] = {"destructive": True, "read_only": False}


async def test_a_tool_that_became_destructive_is_asked_about_again(store: SuspensionStore) -> None:
    """Whoever approved it, or the policy that asked, took it for another one."""
    reads = replace(CONFIRMED, annotations={"read_only": True})
    waiting = await ask(runtime(Listing(), reads, suspensions=store))
    executor = Listing()
    changed = runtime(executor, replace(reads, annotations=DESTRUCTIVE), suspensions=store)
    with pytest.raises(ChangedToolError):
        await changed.deliver(waiting.token, YES)
    assert (await changed.cancel(waiting.token)).status == "denied"
    assert executor.calls == []


async def test_a_question_of_a_tool_that_became_destructive_is_asked_again(store: SuspensionStore) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        return nothing() if ctx.answer else ToolOutcome.ask("Why?")

    waiting = await ask(runtime(Listing(asks), suspensions=store))
    with pytest.raises(ChangedToolError):
        await runtime(Listing(asks), spec(annotations=DESTRUCTIVE), suspensions=store).deliver(
            waiting.token, "because"
        )


async def test_work_that_goes_on_is_delivered_whatever_its_tool_has_become(store: SuspensionStore) -> None:
    async def starts(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.pending("job-7", nothing())

    result = await runtime(Listing(starts), LONG, suspensions=store).call(TOOL, SITE, META)
    assert result.suspension is not None
    changed = runtime(Listing(starts), replace(LONG, annotations=DESTRUCTIVE), suspensions=store)
    assert (await changed.deliver(result.suspension.token, EMPTY)).status == "ok"


async def test_another_wording_changes_no_approval(store: SuspensionStore) -> None:
    waiting = await ask(runtime(Listing(), CONFIRMED, suspensions=store))
    reworded = replace(CONFIRMED, description="List them.", confirm=ConfirmSpec(hint="All of {site_id}?"))
    assert (await runtime(Listing(), reworded, suspensions=store).deliver(waiting.token, YES)).status == "ok"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE suspension SET frozen = replace(frozen, 's1', 's2')",
        "UPDATE suspension SET frozen = (SELECT max(frozen) FROM suspension WHERE frozen LIKE '%s3%')",
        "UPDATE suspension SET frozen = '{}'",
    ],
)
async def test_what_somebody_changed_in_the_store_never_runs(tmp_path: Path, change: str) -> None:
    """Not even when it is the row of another call."""
    store = SqliteSuspensionStore(tmp_path / "s.db")
    executor = Listing()
    made = runtime(executor, CONFIRMED, suspensions=store)
    waiting = await ask(made)
    await made.call(TOOL, b'{"site_id": "s3"}', META)
    with sqlite3.connect(tmp_path / "s.db") as database:
        database.execute(change)
    with pytest.raises(TamperedSuspensionError):
        await made.deliver(waiting.token, YES)
    assert executor.calls == []


def test_the_store_holds_no_token(tmp_path: Path) -> None:
    made = runtime(Listing(), CONFIRMED, suspensions=SqliteSuspensionStore(tmp_path / "s.db"))
    waiting = asyncio.run(ask(made))
    files = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert waiting.token.encode() not in files
    assert waiting.id.encode() in files


async def test_an_answer_whose_outcome_is_lost_is_never_run_again(store: SuspensionStore) -> None:
    """As when the process died in the middle of the call."""
    made = runtime(Listing(), CONFIRMED, suspensions=store)
    waiting = await ask(made)
    claimed = await Suspensions(store).claim(waiting.token, YES, spec_of=lambda tool: CONFIRMED)
    assert claimed.outcome is None
    with pytest.raises(ReplayedAnswerError):
        await made.deliver(waiting.token, YES)


async def test_one_of_many_answers_at_once_wins(store: SuspensionStore) -> None:
    executor = Listing()
    made = runtime(executor, CONFIRMED, suspensions=store)
    waiting = await ask(made)
    given = await asyncio.gather(
        *(made.deliver(waiting.token, YES) for _ in range(8)), return_exceptions=True
    )
    assert len(executor.calls) == 1
    assert all(isinstance(one, SuspensionError) or one.status == "ok" for one in given)  # type: ignore[union-attr]


async def test_with_nobody_to_ask_the_call_is_denied(store: SuspensionStore) -> None:
    for host in ({}, {"suspensions": store, "is_interactive": False}):
        executor = Listing()
        result = await runtime(executor, CONFIRMED, **host).call(TOOL, SITE, META)
        assert (result.status, executor.calls) == ("denied", [])
        assert json.loads(result.json)["code"] == "approval_unavailable"


async def test_confirmation_may_hang_on_the_arguments(store: SuspensionStore) -> None:
    made = runtime(Listing(), spec(confirm=ConfirmSpec(when={"site_id": ("s1",)})), suspensions=store)
    assert (await made.call(TOOL, SITE, META)).status == "suspended"
    assert (await made.call(TOOL, b'{"site_id": "s2"}', META)).status == "ok"


async def test_a_policy_decides_over_every_call(store: SuspensionStore) -> None:
    class Careful:
        async def decide(self, call: Any, spec: Any, preview: str) -> Any:
            return Ask(question="Sure?") if call.payload.site_id == "s1" else Deny(message="not there")

    made = runtime(Listing(), suspensions=store, policy=Careful())
    assert (await ask(made)).question == "Sure?"
    denied = await made.call(TOOL, b'{"site_id": "s2"}', META)
    assert (denied.status, denied.json) == ("denied", b'{"error":"not there","code":"denied"}')


async def test_finished_siblings_keep_their_results(store: SuspensionStore) -> None:
    when = ConfirmSpec(when={"site_id": ("s1",)})
    made = runtime(Listing(), spec(confirm=when), suspensions=store)
    calls = [
        ToolCall(tool=TOOL, payload_json=b'{"site_id": "%s"}' % site, meta=META) for site in (b"s1", b"s2")
    ]
    results = await made.call_all(calls)
    assert [result.status for result in results] == ["suspended", "ok"]


async def test_hooks_before_the_tool_run_once_and_their_payload_is_frozen(store: SuspensionStore) -> None:
    class Rewrites(Hook):
        def __init__(self) -> None:
            self.count = 0

        async def before_tool(self, call: Any, payload: Any, ctx: Any) -> Any:
            self.count += 1
            return Continue(payload=CONFIRMED.payload.decode(b'{"site_id": "s9"}'))

    hook, executor = Rewrites(), Listing()
    made = runtime(executor, CONFIRMED, suspensions=store, hooks=[hook])
    waiting = await ask(made)
    assert waiting.question == "List s9?"
    await made.deliver(waiting.token, YES)
    assert (hook.count, executor.calls[0].site_id) == (1, "s9")


async def test_a_tool_may_ask_and_runs_again_with_the_answer(store: SuspensionStore) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        if ctx.answer is None:
            return ToolOutcome.ask("Which floor?", {"type": "string", "enum": ["ground", "first"]})
        answers.append(ctx.answer)
        return nothing()

    answers: list[Any] = []
    made = runtime(Listing(asks), suspensions=store)
    waiting = await ask(made)
    assert (waiting.kind, waiting.question) == ("input", "Which floor?")
    with pytest.raises(BadAnswerError, match="must be one of ground, first"):
        await made.deliver(waiting.token, "cellar")
    assert (await made.deliver(waiting.token, "first")).status == "ok"
    assert answers == ["first"]


async def test_an_approved_call_that_asks_is_not_approved_again(store: SuspensionStore) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        return nothing() if isinstance(ctx.answer, str) else ToolOutcome.ask("Why?")

    made = runtime(Listing(asks), CONFIRMED, suspensions=store)
    second = await made.deliver((await ask(made)).token, YES)
    assert second.suspension is not None
    assert second.suspension.kind == "input"
    assert (await made.deliver(second.suspension.token, "because")).status == "ok"


@pytest.mark.parametrize(
    "schema",
    [{"type": "array"}, {"type": ["string", "null"]}, {"anyOf": [{"type": "string"}]}, {"$ref": "#"}],
)
async def test_a_question_that_no_client_can_ask_is_the_executors_bug(
    store: SuspensionStore, schema: Any
) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.ask("What?", schema)

    result = await runtime(Listing(asks), suspensions=store).call(TOOL, SITE, META)
    assert result.status == "error"
    assert result.retry_hint is not None
    assert result.retry_hint.reason == "malformed_response"


@pytest.mark.parametrize("answer", [object(), b"x", float("nan"), {"floor": "\ud800"}])
async def test_an_answer_that_is_no_json_is_refused(store: SuspensionStore, answer: Any) -> None:
    made = runtime(Listing(), CONFIRMED, suspensions=store)
    with pytest.raises(BadAnswerError):
        await made.deliver((await ask(made)).token, answer)


async def test_the_token_is_in_no_repr(store: SuspensionStore) -> None:
    waiting = await ask(runtime(Listing(), CONFIRMED, suspensions=store))
    assert waiting.token not in repr(waiting)


async def test_a_missing_credential_is_waited_for(store: SuspensionStore) -> None:
    async def needs(payload: Any, ctx: Any) -> Any:
        return nothing() if ctx.answer else ToolOutcome.need_credential({"provider": "mail"}, "Sign in.")

    made = runtime(Listing(needs), suspensions=store)
    waiting = await ask(made)
    assert (waiting.kind, waiting.request) == ("credential", {"provider": "mail"})
    assert (await made.deliver(waiting.token, {"available": True})).status == "ok"


LONG = spec(long_running=LongRunningSpec(ack=devices.LIST_DEVICES.result))


async def test_long_work_is_acknowledged_and_delivered_later(store: SuspensionStore) -> None:
    async def starts(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.pending("job-7", nothing())

    made = runtime(Listing(starts), LONG, suspensions=store)
    result = await made.call(TOOL, SITE, META)
    assert (result.status, json.loads(result.json)) == ("pending", EMPTY)
    assert result.suspension is not None
    assert result.suspension.handle == "job-7"
    with pytest.raises(BadAnswerError):
        await made.deliver(result.suspension.token, {"devices": "none"})
    await made.progress(result.suspension.token, 0.5, "half")
    done = await made.deliver(result.suspension.token, EMPTY)
    assert (done.status, done.result.returned) == ("ok", 0)


async def test_long_work_may_fail(store: SuspensionStore) -> None:
    async def starts(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.pending("job-8")

    made = runtime(Listing(starts), spec(long_running=LongRunningSpec()), suspensions=store)
    waiting = await ask(made)
    done = await made.deliver(waiting.token, {"error": "the line is cut"})
    assert (done.status, done.json) == ("error", b'{"error":"the line is cut"}')


async def test_only_a_tool_whose_design_says_so_may_answer_later(store: SuspensionStore) -> None:
    async def starts(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.pending("job-9")

    result = await runtime(Listing(starts), suspensions=store).call(TOOL, SITE, META)
    assert result.status == "error"


async def test_a_failed_call_that_was_approved_is_answered_the_same_again(store: SuspensionStore) -> None:
    async def fails(payload: Any, ctx: Any) -> Any:
        raise ToolError("out of paper")

    made = runtime(Listing(fails), CONFIRMED, suspensions=store)
    waiting = await ask(made)
    first = await made.deliver(waiting.token, YES)
    again = await made.deliver(waiting.token, YES)
    assert first.json == again.json == b'{"error":"out of paper"}'


async def test_what_waits_can_be_listed_without_tokens(store: SuspensionStore) -> None:
    made = runtime(Listing(), CONFIRMED, suspensions=store)
    mine = await ask(made)
    await ask(made, CallMeta(session_id="other"))
    assert [one.id for one in await made.suspended("s")] == [mine.id]
    assert [one.token for one in await made.suspended()] == ["", ""]


async def test_a_tool_of_a_dynamic_toolset_is_answered_with_a_snapshot(store: SuspensionStore) -> None:
    class Dynamic:
        name = "other"

        async def tools(self, context: Any) -> Any:
            return [BoundTool(spec=CONFIRMED, execute=Listing().list_devices)]

    made = Runtime(suspensions=store)
    made.add_toolset(Dynamic())
    snapshot = await made.snapshot()
    waiting = (await snapshot.call(TOOL, SITE, META)).suspension
    assert waiting is not None
    with pytest.raises(ChangedToolError):
        await made.deliver(waiting.token, YES)
    assert (await made.deliver(waiting.token, YES, within=await made.snapshot())).status == "ok"
