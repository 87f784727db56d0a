"""How many questions one call may ask: over restarts too, and which of them count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.tools import META, SITE, Listing, runtime, spec, waiting
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import ConfirmSpec, Runtime, ToolOutcome, ToolResult
from toolgen.waiting.errors import BadAnswerError
from toolgen.waiting.options import WaitOptions

TOOL = "assistant.devices.list_devices"
YES: Json = {"approved": True}


async def asks(payload: Any, ctx: Any) -> Any:
    return ToolOutcome.ask("Again?")


async def asked_until_it_ends(made: Runtime, result: ToolResult) -> tuple[int, ToolResult]:
    """Answer until there is a result; return how often that was, and the result."""
    times = 0
    while result.status == "suspended":
        asked = waiting(result)
        result = await made.suspensions.answer(
            asked.token, YES if asked.kind == "confirmation" else "once more"
        )
        times += 1
    return times, result


async def test_the_eleventh_question_ends_the_call_as_an_error(engine: InProcessEngine) -> None:
    listing = Listing(asks)
    made = runtime(listing, engine=engine)
    times, result = await asked_until_it_ends(made, await made.call(TOOL, SITE, META))
    assert (times, result.status) == (10, "error")
    assert json.loads(result.json)["error"] == "list_devices asked 10 questions, the maximum for one call"
    assert len(listing.calls) == 11
    assert await made.suspensions.list() == ()


async def test_an_approval_is_a_question_too(engine: InProcessEngine) -> None:
    options = WaitOptions(max_questions=3)
    made = runtime(Listing(asks), spec(confirm=ConfirmSpec()), engine=engine, waiting=options)
    times, result = await asked_until_it_ends(made, await made.call(TOOL, SITE, META))
    assert (times, result.status) == (3, "error")


async def test_a_restart_does_not_begin_the_count_anew(tmp_path: Path) -> None:
    async with runtime(Listing(asks), engine=InProcessEngine(tmp_path / "runs.db")) as first:
        result = await first.call(TOOL, SITE, META)
        for _ in range(6):
            result = await first.suspensions.answer(waiting(result).token, "once more")
    async with runtime(Listing(asks), engine=InProcessEngine(tmp_path / "runs.db")) as second:
        times, result = await asked_until_it_ends(second, result)
    assert (times, result.status) == (4, "error")


async def test_an_answer_that_does_not_fit_is_no_question_more(engine: InProcessEngine) -> None:
    made = runtime(Listing(asks), engine=engine, waiting=WaitOptions(max_questions=2))
    result = await made.call(TOOL, SITE, META)
    for _ in range(5):
        with pytest.raises(BadAnswerError):
            await made.suspensions.answer(waiting(result).token, 7)
    assert [one.id for one in await made.suspensions.list()] == [waiting(result).id]
    times, result = await asked_until_it_ends(made, result)
    assert (times, result.status) == (2, "error")
