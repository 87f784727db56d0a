"""Pending work that failed with an error that its design declares."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.cases.errors.gen.home.toolsets import devices
from tests.cases.errors.gen.types import NotFound
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.events.records import ToolEnd
from toolgen.runtime import CallMeta, DeclaredError, Runtime, ToolContext, ToolOutcome, ToolsetRegistration
from toolgen.runtime.functions import LongRunningSpec
from toolgen.waiting.errors import BadAnswerError, ConflictingAnswerError

READ = replace(devices.READ, long_running=LongRunningSpec())
MISSING = NotFound(id="d9", close=["d8"])


class Reading:
    async def read(self, payload: Any, ctx: ToolContext) -> Any:
        return ToolOutcome.pending("job-1")


async def started(**host: Any) -> tuple[Runtime, str]:
    runtime = Runtime(engine=InProcessEngine(), **host)
    runtime.tools.register(ToolsetRegistration(name="home.devices", specs=[READ], executor=Reading()))
    waiting = await runtime.call(READ.id, {"id": "d9"}, CallMeta(session_id="s1"))
    assert waiting.suspension is not None
    return runtime, waiting.suspension.token


async def test_the_model_reads_code_and_details_of_pending_work_that_failed() -> None:
    events = Events()
    runtime, token = await started(events=events)
    failure = devices.READ_NOT_FOUND.of("no device d9", MISSING)
    async with events.subscribe() as told:
        result = await runtime.suspensions.answer(token, failure)
    (end,) = [event async for event in told if isinstance(event, ToolEnd)]
    assert end.error is not None
    assert (end.error.get("code"), end.error.get("details")) == ("not_found", {"id": "d9", "close": ["d8"]})
    assert result.status == "error"
    assert json.loads(result.json) == {
        "error": "no device d9",
        "code": "not_found",
        "details": {"id": "d9", "close": ["d8"]},
    }
    assert devices.READ_NOT_FOUND.get(result) == MISSING
    assert (await runtime.suspensions.answer(token, failure)).json == result.json
    with pytest.raises(ConflictingAnswerError):
        await runtime.suspensions.answer(token, devices.READ_OFFLINE.of("it sleeps"))


async def test_the_design_says_whether_the_same_call_may_work_later() -> None:
    runtime, token = await started()
    result = await runtime.suspensions.answer(token, devices.READ_OFFLINE.of("it sleeps"))
    assert json.loads(result.json) == {"error": "it sleeps", "code": "offline", "retryable": True}


@pytest.mark.parametrize(
    ("failure", "why"),
    [
        (devices.RENAME_TAKEN.of("taken"), "does not declare the error 'taken'"),
        (DeclaredError("none", code="not_found"), "needs details"),
        (DeclaredError("none", code="offline", details=MISSING), "the error offline has no details"),
        (
            DeclaredError("none", code="not_found", details=devices.RenamePayload(id="a", name="b")),
            r"does not fit: \$\.close is required and was left out",
        ),
    ],
)
async def test_an_error_that_does_not_fit_is_refused_and_the_work_still_waits(
    failure: DeclaredError, why: str
) -> None:
    runtime, token = await started()
    with pytest.raises(BadAnswerError, match=why):
        await runtime.suspensions.answer(token, failure)
    assert (await runtime.suspensions.answer(token, {"error": "it broke"})).json == b'{"error":"it broke"}'
