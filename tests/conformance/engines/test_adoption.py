"""A call that waits on Temporal without a seal: its adoption is an update."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runtime.earlier import frozen_with
from tests.runtime.tools import Listing, runtime, spec
from tests.temporal_server import TemporalServer
from toolgen.engines.temporal import TemporalEngine
from toolgen.runtime import ConfirmSpec, Runtime
from toolgen.waiting.errors import UnsealedSuspensionError
from toolgen.waiting.frozen import FIRST, Sealer, seal_call
from toolgen.waiting.loop import LOOP, VERSION

CONFIRMED = spec(confirm=ConfirmSpec())
SECRET, OTHER = b"the secret of all hosts, 32 byte", b"the secret of some other, 32 byt"
YES: dict[str, Any] = {"approved": True}
RUN = "call_1"


def host(server: TemporalServer, executor: Listing, prefix: str, secret: bytes = SECRET) -> Runtime:
    engine = TemporalEngine(server.address, queue=prefix, prefix=f"{prefix}:")
    return runtime(executor, CONFIRMED, engine=engine, secret=secret)


async def waits(made: Runtime, document: Any) -> None:
    """Let a record wait."""
    assert made.engine is not None
    await made.engine.start_run(LOOP, {"frozen": document, "version": VERSION}, run_id=RUN, session="s")
    await made.engine.settled(RUN)


async def test_what_has_no_seal_waits_for_an_operator(server: TemporalServer) -> None:
    executor, call = Listing(), frozen_with(CONFIRMED)
    async with host(server, executor, "adopted") as made:
        await waits(made, call.as_json())
        token = Sealer(SECRET).issue(seal_call(Sealer(SECRET), RUN, FIRST, call).claims)
        assert await made.suspensions.list() == ()
        with pytest.raises(UnsealedSuspensionError):
            await made.suspensions.answer(token, YES)
        (adopted,) = await made.suspensions.adopt(RUN, by="ann")
        assert (adopted.state, adopted.call) == ("unsealed", call)
        (listed,) = await made.suspensions.list()
        assert listed.token == token
        assert (await made.suspensions.answer(token, YES)).status == "ok"
        assert len(executor.calls) == 1


async def test_an_answer_runs_nothing_before_the_adoption(server: TemporalServer) -> None:
    executor, call = Listing(), frozen_with(CONFIRMED)
    async with host(server, executor, "answered") as made:
        await waits(made, call.as_json())
        claims = seal_call(Sealer(SECRET), RUN, FIRST, call).claims
        assert made.engine is not None
        await made.engine.answer(RUN, FIRST, Sealer(SECRET).seal(claims, YES, "ann"), key="k")
        await made.engine.settled(RUN)
        (waiting,) = await made.suspensions.check()
        assert (waiting.op, waiting.state, executor.calls) == ("wait:2", "unsealed", [])
        await made.suspensions.adopt(RUN, by="ann")
        (again,) = await made.suspensions.list()
        assert (await made.suspensions.answer(again.token, YES)).status == "ok"


async def test_an_adoption_by_another_secret_is_none(server: TemporalServer) -> None:
    executor, call = Listing(), frozen_with(CONFIRMED)
    async with host(server, executor, "other") as made:
        await waits(made, call.as_json())
        async with host(server, executor, "other", OTHER) as eve:
            await eve.suspensions.adopt(RUN, by="eve")
            assert len(await eve.suspensions.list()) == 1
        assert await made.suspensions.list() == ()
        assert [one.state for one in await made.suspensions.check()] == ["unsealed"]
        await made.suspensions.adopt(RUN, by="ann")
        assert len(await made.suspensions.list()) == 1
