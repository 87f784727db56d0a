"""An approved call that was cut: it is executed again only where that does no harm."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.tools import META, SITE, Listing, nothing, runtime, spec
from toolgen.engines import InProcessEngine
from toolgen.runtime import ConfirmSpec, ToolContext, ToolOutcome
from toolgen.waiting.errors import UnknownSuspensionError

TOOL = "assistant.devices.list_devices"
YES: dict[str, Any] = {"approved": True}
CONFIRMED = spec(confirm=ConfirmSpec())


@pytest.mark.parametrize("is_idempotent", [True, False])
async def test_an_approved_call_that_was_cut(engine: InProcessEngine, is_idempotent: bool) -> None:
    begun, gate, runs = asyncio.Event(), asyncio.Event(), 0

    async def hangs(payload: Any, ctx: ToolContext) -> Any:
        nonlocal runs
        runs += 1
        begun.set()
        await gate.wait()
        return nothing()

    asked = replace(CONFIRMED, annotations={"idempotent": is_idempotent, "read_only": False})
    made = runtime(Listing(hangs), asked, engine=engine)
    waiting = (await made.call(TOOL, SITE, META)).suspension
    assert waiting is not None
    answered = asyncio.ensure_future(made.suspensions.answer(waiting.token, YES))
    await begun.wait()
    await engine.close()
    answered.cancel()
    gate.set()
    await engine.start()
    result = await made.suspensions.answer(waiting.token, YES)
    if is_idempotent:
        assert (result.status, runs) == ("ok", 2)
    else:
        unknown = b'{"unknown":"its result was not kept; it may have run"}'
        assert (result.status, result.json, runs) == ("unknown", unknown, 1)


async def test_a_call_has_one_idempotency_key_before_and_after_it_waits(engine: InProcessEngine) -> None:
    keys: list[str] = []

    async def asks(payload: Any, ctx: ToolContext) -> Any:
        keys.append(ctx.idempotency_key)
        if ctx.answer is None:
            return ToolOutcome.ask("Which?")
        return nothing()

    made = runtime(Listing(asks), engine=engine)
    waiting = (await made.call(TOOL, SITE)).suspension  # without an id of the call
    assert waiting is not None
    assert (await made.suspensions.answer(waiting.token, "this")).status == "ok"
    assert len(keys) == 2
    assert len(set(keys)) == 1


async def test_a_result_that_the_engine_does_not_keep_is_not_told_as_one() -> None:
    async def much(payload: Any, ctx: ToolContext) -> Any:
        return ToolOutcome.final(nothing(), display="x" * 9000)

    engine = InProcessEngine(max_payload_bytes=8000)
    asked = replace(CONFIRMED, annotations={"idempotent": False, "read_only": False})
    made = runtime(Listing(much), asked, engine=engine)
    waiting = (await made.call(TOOL, SITE, META)).suspension
    assert waiting is not None
    first, again = [await made.suspensions.answer(waiting.token, YES) for _ in range(2)]
    unknown = b'{"unknown":"its result was not kept; it may have run"}'
    assert (first.status, first.json) == (again.status, again.json) == ("unknown", unknown)


async def test_an_answer_that_is_too_large_with_its_call_has_a_result() -> None:
    async def never(payload: Any, ctx: ToolContext) -> Any:
        raise AssertionError("it is not executed")

    engine = InProcessEngine(max_payload_bytes=8000)
    made = runtime(Listing(never), CONFIRMED, engine=engine)
    waiting = (await made.call(TOOL, SITE, META)).suspension
    assert waiting is not None
    result = await made.suspensions.answer(waiting.token, {"approved": True, "message": "x" * 7600})
    assert result.status == "error"
    assert "the engine keeps 8000" in str(result.json)


@pytest.mark.exhaustive
async def test_answers_to_calls_that_are_forgotten_meanwhile_say_so(tmp_path: Path) -> None:
    async def does(payload: Any, ctx: ToolContext) -> Any:
        return nothing()

    async with runtime(
        Listing(does), CONFIRMED, engine=InProcessEngine(tmp_path / "r.db", keep_runs=0)
    ) as made:
        asked = [(await made.call(TOOL, SITE, META)).suspension for _ in range(60)]
        tokens = [one.token for one in asked if one is not None]
        await asyncio.gather(*(made.suspensions.answer(token, YES) for token in tokens))
        again = await asyncio.gather(
            *(made.suspensions.answer(token, YES) for token in tokens), return_exceptions=True
        )
    told = [one for one in again if isinstance(one, BaseException)]
    assert told
    assert {type(one) for one in told} == {UnknownSuspensionError}
