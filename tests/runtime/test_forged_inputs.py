"""A journal that has the record of a call twice, of which somebody has changed the one that decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.runtime.forging import forge, put_copy
from tests.runtime.test_forged_records import CONFIRMED, YES, Drop, asked, serving
from tests.runtime.tools import Listing, waiting
from tests.virtual_time import now
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime
from toolgen.waiting.errors import TamperedSuspensionError, UnsealedSuspensionError

INPUT = [("run", "input")]
pytestmark = pytest.mark.asyncio(loop_factories=["virtual"])


def takes_other_arguments(record: dict[str, Any]) -> None:
    record["payload_json"] = '{"site_id":"s9"}'


async def test_a_changed_input_is_named_before_the_answer(tmp_path: Path) -> None:
    """The input of the run is what the answer leads to; nothing beside it says what waits."""
    path, executor = tmp_path / "runs.db", Listing()
    first = await asked(path, executor, CONFIRMED)
    forge(path, first.id, takes_other_arguments, INPUT)
    async with serving(path, executor, CONFIRMED) as made:
        assert [one.state for one in await made.suspensions.check()] == ["tampered"]
        assert await made.suspensions.list() == ()
        with pytest.raises(TamperedSuspensionError, match=first.run_id):
            await made.suspensions.answer(first.token, YES, wait_s=None)
    assert executor.calls == []


async def test_a_changed_input_beside_a_copy_ends_the_answer(tmp_path: Path) -> None:
    path, executor = tmp_path / "runs.db", Listing()
    first = await asked(path, executor, CONFIRMED)
    put_copy(path, first.run_id)
    forge(path, first.id, takes_other_arguments, INPUT)
    async with serving(path, executor, CONFIRMED) as made:
        for _ in range(2):
            with pytest.raises(TamperedSuspensionError, match=first.run_id):
                await made.suspensions.answer(first.token, YES, wait_s=None)
        assert [one.state for one in await made.suspensions.check()] == ["tampered"]
        await made.runs.cancel(first.run_id, "forged")
        assert await made.suspensions.check() == ()
    assert executor.calls == []


async def test_a_changed_result_that_asked_again_ends_the_answer(tmp_path: Path) -> None:
    path, executor = tmp_path / "runs.db", Drop()
    first = await asked(path, executor)
    async with serving(path, executor) as made:
        second = waiting(await made.suspensions.answer(first.token, "cleanup"))
    forge(path, second.id, takes_other_arguments, [("op", "value")])
    async with serving(path, executor) as made:
        with pytest.raises(TamperedSuspensionError, match=first.run_id):
            await made.suspensions.answer(second.token, YES, wait_s=None)
    assert executor.ran == 0


async def test_who_answered_a_host_without_the_key_hears_that_the_call_waits_on(tmp_path: Path) -> None:
    path, executor = tmp_path / "runs.db", Listing()
    old, new = b"the secret of before, 32 bytes !", b"the secret of now, 32 bytes !!!!"
    first = await asked(path, executor, CONFIRMED, secret=(new, old))
    desk = Runtime(engine=InProcessEngine(path, clock=now, worker=False), secret=(new, old))
    async with desk:
        await desk.suspensions.answer(first.token, YES, wait_s=0)
        async with serving(path, executor, CONFIRMED, secret=old) as late:
            assert late.engine is not None
            await late.engine.settled(first.run_id)
            (named,) = await late.suspensions.check()
            assert named.state == "unsealed"
        again = waiting(await desk.suspensions.answer(first.token, YES))
        assert (again.id, again.token == first.token) == (first.id, False)
    async with serving(path, executor, CONFIRMED, secret=(new, old)) as made:
        assert (await made.suspensions.answer(again.token, YES)).status == "ok"
    assert len(executor.calls) == 1


async def test_who_answered_a_host_without_the_key_and_has_it_no_more_hears_so(tmp_path: Path) -> None:
    path, executor = tmp_path / "runs.db", Listing()
    first = await asked(path, executor, CONFIRMED)
    put_copy(path, first.run_id)
    forge(path, first.id, lambda record: record.pop("seal"), INPUT)
    async with serving(path, executor, CONFIRMED) as made:
        with pytest.raises(UnsealedSuspensionError, match=first.run_id):
            await made.suspensions.answer(first.token, YES, wait_s=None)
    assert executor.calls == []
