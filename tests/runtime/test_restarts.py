"""Calls that one runtime asked about, answered in another over the same file of runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gen.assistant.toolsets import devices
from tests.runtime.runs_file import CONFIRMED, YES, File
from tests.runtime.runs_file import file as file
from tests.runtime.tools import EMPTY, META, SITE, TOOL, Listing, nothing, runtime, spec, waiting
from tests.virtual_time import now
from toolgen.contract.names import Hint
from toolgen.runtime import BoundTool, ConfirmSpec, Runtime, Suspended, ToolContext, ToolOutcome, ToolSpec
from toolgen.runtime.functions import LongRunningSpec
from toolgen.waiting.errors import (
    ConflictingAnswerError,
    ForeignAnswerError,
    LateAnswerError,
    MissingToolError,
    SuspensionError,
    UnknownSuspensionError,
)
from toolgen.waiting.options import WaitOptions

DESTRUCTIVE: dict[Hint, bool] = {"destructive": True, "read_only": False}
READS = replace(CONFIRMED, annotations={"read_only": True})
LONG = spec(long_running=LongRunningSpec())
CHANGED = "the tool has changed since the question was asked"


async def asks(payload: Any, ctx: ToolContext) -> Any:
    return nothing() if ctx.answer else ToolOutcome.ask("Why?")


async def starts(payload: Any, ctx: ToolContext) -> Any:
    return ToolOutcome.pending("job-7")


async def test_what_was_approved_is_what_runs(file: File) -> None:
    asked = await file.asked(CONFIRMED)
    executor = Listing()
    async with file.serving(executor, CONFIRMED) as made:
        assert await made.suspensions.list("s") == (asked,)
        result = await made.suspensions.answer(asked.token, YES)
        assert await made.suspensions.list("s") == ()
    assert (result.status, result.tool_call_id, result.result) == ("ok", "c1", nothing())
    assert [payload.site_id for payload in executor.calls] == ["s1"]


async def test_the_same_answer_gives_the_same_in_a_later_process_and_runs_nothing(file: File) -> None:
    asked = await file.asked(CONFIRMED)
    async with file.serving(Listing(), CONFIRMED) as made:
        first = await made.suspensions.answer(asked.token, YES)
    executor = Listing()
    async with file.serving(executor, CONFIRMED) as made:
        again = await made.suspensions.answer(asked.token, YES)
        with pytest.raises(ConflictingAnswerError):
            await made.suspensions.answer(asked.token, {"approved": False})
    assert (again.status, again.json, again.display) == (first.status, first.json, first.display)
    assert (first.result, again.result, executor.calls) == (nothing(), None, [])


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("before", "does", "after", "answer"),
    [
        pytest.param(READS, None, replace(READS, annotations=DESTRUCTIVE), YES, id="became destructive"),
        pytest.param(
            CONFIRMED, None, replace(CONFIRMED, result=devices.GET_TIME_SERIES.result), YES, id="result"
        ),
        pytest.param(
            CONFIRMED, None, spec(confirm=ConfirmSpec(payload=devices.LIST_DEVICES.payload)), YES, id="form"
        ),
        pytest.param(spec(), asks, spec(annotations=DESTRUCTIVE), "because", id="a question"),
    ],
)
async def test_of_a_tool_that_changed_the_person_is_asked_again(
    file: File, before: Any, does: Any, after: Any, answer: Any
) -> None:
    asked = await file.asked(before, does=does)
    executor = Listing(does)
    async with file.serving(executor, after) as made:
        again = waiting(await made.suspensions.answer(asked.token, answer))
        same = waiting(await made.suspensions.answer(asked.token, answer))
    assert (again.reason, again.kind, executor.calls) == (CHANGED, asked.kind, [])
    async with file.serving(executor, after) as made:
        assert await made.suspensions.list("s") == (again,)
        assert (same, again.token != asked.token) == (again, True)
        assert (await made.suspensions.answer(again.token, answer)).status in ("ok", "error")


async def test_a_tool_that_the_arguments_do_not_fit_any_more_ends_its_call(file: File) -> None:
    asked = await file.asked(CONFIRMED)
    other, executor = replace(CONFIRMED, payload=devices.GET_TIME_SERIES.payload), Listing()
    async with file.serving(executor, other) as made:
        result = await made.suspensions.answer(asked.token, YES)
        assert await made.suspensions.list("s") == ()
    assert (result.status, executor.calls) == ("error", [])
    assert b"the arguments no longer fit" in result.json


@pytest.mark.parametrize(
    ("before", "does", "after", "answer", "runs"),
    [
        pytest.param(LONG, starts, replace(LONG, annotations=DESTRUCTIVE), EMPTY, 0, id="work"),
        pytest.param(
            CONFIRMED, None, replace(CONFIRMED, description="List.", confirm=ConfirmSpec(hint="?")), YES, 1
        ),
    ],
)
async def test_what_no_answer_hangs_on_may_change(
    file: File, before: Any, does: Any, after: Any, answer: Any, runs: int
) -> None:
    asked = await file.asked(before, does=does)
    executor = Listing()
    async with file.serving(executor, after) as made:
        assert (await made.suspensions.answer(asked.token, answer)).status == "ok"
    assert len(executor.calls) == runs


async def test_a_tool_that_asked_runs_from_its_first_line(file: File) -> None:
    ran: list[str] = []

    def which(name: str) -> Callable[..., Any]:
        async def does(payload: Any, ctx: ToolContext) -> Any:
            ran.append(f"{name} {ctx.answer}")
            return nothing() if ctx.answer else ToolOutcome.ask("Which floor?")

        return does

    asked = await file.asked(does=which("first"))
    async with file.serving(Listing(which("second"))) as made:
        assert (await made.suspensions.answer(asked.token, "ground")).status == "ok"
    assert ran == ["first None", "second ground"]


async def test_a_tool_that_asked_for_an_approval_has_it_after_a_restart(file: File) -> None:
    async def does(payload: Any, ctx: ToolContext) -> Any:
        return nothing() if ctx.approved("Really?") else ToolOutcome.approval("Really?")

    asked = await file.asked(CONFIRMED, does=does)
    async with file.serving(Listing(does), CONFIRMED) as made:
        own = waiting(await made.suspensions.answer(asked.token, YES))
    assert own.question == "Really?"
    async with file.serving(Listing(does), CONFIRMED) as made:
        assert (await made.suspensions.answer(own.token, YES)).status == "ok"


async def test_progress_of_work_is_reported_after_a_restart(file: File) -> None:
    asked = await file.asked(LONG, does=starts)
    async with file.serving(Listing(), LONG) as made:
        await made.suspensions.progress(asked.token, 0.5, "half")
        assert (await made.suspensions.answer(asked.token, EMPTY)).status == "ok"
        with pytest.raises(LateAnswerError):
            await made.suspensions.progress(asked.token, 0.9)


async def test_progress_that_nobody_could_check_or_hear_is_refused(file: File) -> None:
    asked = await file.asked(LONG, does=starts)
    async with file.bare() as made:
        with pytest.raises(MissingToolError, match="its progress was not reported; the work continues"):
            await made.suspensions.progress(asked.token, 0.5, value={"percent": "many"})


# What is taken back, refused, late.


async def test_a_call_is_taken_back_by_a_process_without_its_tool(file: File) -> None:
    asked = await file.asked(CONFIRMED)
    async with file.bare() as made:
        with pytest.raises(UnknownSuspensionError):
            await made.suspensions.cancel(f"{asked.token}x")
        with pytest.raises(ForeignAnswerError):
            await made.suspensions.cancel(asked.token, session_id="another")
        result = await made.suspensions.cancel(asked.token, "the guest left")
        assert await made.suspensions.list() == ()
    assert (result.status, result.json) == ("denied", b'{"error":"the guest left","code":"canceled"}')
    executor = Listing()
    async with file.serving(executor, CONFIRMED) as made:
        with pytest.raises(ConflictingAnswerError):
            await made.suspensions.answer(asked.token, YES)
    assert executor.calls == []


async def test_a_call_of_a_tool_that_changed_is_taken_back(file: File) -> None:
    asked = await file.asked(READS)
    executor = Listing()
    async with file.serving(executor, replace(READS, annotations=DESTRUCTIVE)) as made:
        assert (await made.suspensions.cancel(asked.token)).status == "denied"
        assert await made.suspensions.list() == ()
    assert executor.calls == []


@pytest.mark.asyncio(loop_factories=["virtual"])
async def test_a_wait_that_was_over_while_nobody_worked_is_late(file: File) -> None:
    options = WaitOptions(clock=now, expires_s=60)
    asked = await file.asked(CONFIRMED, waiting=options)
    await asyncio.sleep(61)
    executor = Listing()
    async with file.serving(executor, CONFIRMED, waiting=options) as made:
        assert await made.suspensions.list() == ()
        with pytest.raises(LateAnswerError):
            await made.suspensions.answer(asked.token, YES)
    assert executor.calls == []


@pytest.mark.exhaustive
@pytest.mark.asyncio(loop_factories=["virtual"])
async def test_a_wait_that_expired_is_forgotten_with_its_time(file: File) -> None:
    options = WaitOptions(clock=now, expires_s=60)
    asked = await file.asked(CONFIRMED, waiting=options)
    await asyncio.sleep(61)
    for _ in range(2):
        engine = file.engine(keep_s=600)
        async with runtime(Listing(), CONFIRMED, engine=engine, waiting=options) as made:
            await made.suspensions.list()
            await asyncio.sleep(601)
            await made.call(TOOL, SITE, META)  # the worker looks at the file again
            await asyncio.sleep(1)
    async with file.serving(Listing(), CONFIRMED, waiting=options) as made:
        with pytest.raises(UnknownSuspensionError):
            await made.suspensions.answer(asked.token, YES)


@pytest.mark.asyncio(loop_factories=["virtual"])
async def test_an_answer_that_was_taken_in_time_counts_when_the_worker_comes_too_late(file: File) -> None:
    options = WaitOptions(clock=now, expires_s=60)
    asked = await file.asked(CONFIRMED, waiting=options)
    executor = Listing()
    async with Runtime(engine=file.engine(worker=False), waiting=options) as desk:
        kept = await desk.suspensions.answer(asked.token, YES, wait_s=0)
        await asyncio.sleep(61)
        async with file.serving(executor, CONFIRMED, waiting=options):
            done = await desk.suspensions.answer(asked.token, YES)
    assert (kept.status, done.status, len(executor.calls)) == ("running", "ok", 1)


# Tools that come and go.


class Coming:
    """A dynamic toolset of one tool, or of none."""

    name = "other"

    def __init__(self, executor: Listing, given: ToolSpec[Any, Any] | None) -> None:
        self.given = given
        self._executor = executor

    async def tools(self, context: Any) -> Any:
        return [BoundTool(spec=self.given, execute=self._executor.list_devices)] if self.given else []


async def asked_by(file: File, given: ToolSpec[Any, Any]) -> Suspended:
    """Return what a tool that comes and goes asked before the restart."""
    async with file.bare(Coming(Listing(), given)) as made:
        within = await made.tools.snapshot()
        return waiting(await made.call(given.name, SITE, META, within=within))


async def test_a_tool_that_is_listed_again_runs(file: File) -> None:
    asked = await asked_by(file, CONFIRMED)
    executor = Listing()
    async with file.bare(Coming(executor, CONFIRMED)) as made:
        assert (await made.suspensions.answer(asked.token, YES)).status == "ok"
    assert len(executor.calls) == 1


async def test_a_tool_that_is_listed_otherwise_is_asked_about_again(file: File) -> None:
    asked = await asked_by(file, READS)
    executor = Listing()
    async with file.bare(Coming(executor, replace(READS, annotations=DESTRUCTIVE))) as made:
        again = waiting(await made.suspensions.answer(asked.token, YES))
        assert (again.reason, executor.calls) == (CHANGED, [])
        assert (await made.suspensions.answer(again.token, YES)).status == "ok"
    assert len(executor.calls) == 1


async def test_a_tool_that_is_not_listed_waits_on(file: File) -> None:
    asked = await asked_by(file, CONFIRMED)
    executor = Listing()
    coming = Coming(executor, None)
    async with file.bare(coming) as made:
        with pytest.raises(MissingToolError):
            await made.suspensions.answer(asked.token, YES)
        assert await made.suspensions.list("s") == (asked,)
        coming.given = CONFIRMED
        assert (await made.suspensions.answer(asked.token, YES)).status == "ok"
    assert len(executor.calls) == 1


# A process that does not execute.


async def test_an_answer_without_a_worker_is_running_until_one_comes(file: File) -> None:
    asked = await file.asked(CONFIRMED)
    async with Runtime(engine=file.engine(worker=False)) as desk:
        kept = await desk.suspensions.answer(asked.token, YES, by="jo", wait_s=0)
        assert (kept.status, kept.tool_call_id) == ("running", "c1")
        executor = Listing()
        async with file.serving(executor, CONFIRMED):
            done = await desk.suspensions.answer(asked.token, YES, by="jo")
        with pytest.raises(SuspensionError):
            await desk.suspensions.answer(asked.token, {"approved": False})
    assert (done.status, done.result, len(executor.calls)) == ("ok", None, 1)
