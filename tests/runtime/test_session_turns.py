"""Turns of sessions: one run has it at a time, while its engine is at work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.runtime.session_stores import HELLO, turn
from tests.runtime.session_stores import make as make
from tests.runtime.session_stores import seconds as seconds
from tests.runtime.session_stores import store as store
from toolgen.agents import (
    EndedSessionError,
    EngineLease,
    SessionError,
    SessionStore,
    TurnHolder,
    UnknownSessionError,
    UserMessage,
)


def lease(engine_id: str, seconds: float = 10.0, *, is_durable: bool = False) -> EngineLease:
    return EngineLease(engine_id=engine_id, is_durable=is_durable, seconds=seconds)


async def test_one_run_of_a_session_has_its_turn(make: Callable[..., SessionStore]) -> None:
    now = [1000.0]
    store = make(clock=lambda: now[0])
    await store.create("s", "a")
    assert await store.holder("s") is None
    first = await store.take(turn("r1"), lease("e1"), [HELLO])
    assert first == TurnHolder(run_id="r1", engine_id="e1", age_s=0.0, is_durable=False, is_alive=True)
    now[0] = 1004.0
    for instead_of in ("", "another"):
        held = await store.take(turn("r2"), lease("e2"), [HELLO], instead_of=instead_of)
        assert (held.run_id, held.age_s) == ("r1", 4.0)
    assert held == await store.holder("s")
    assert [one.run_id for one in await store.turns("s")] == ["r1"]
    assert await store.run_messages("r2") == ()
    await store.release("s", "r2")
    assert await store.holder("s") == held
    await store.release("s", "r1")
    assert await store.holder("s") is None
    assert (await store.take(turn("r2"), lease("e2"), [HELLO])).run_id == "r2"
    assert (await store.take(turn("r3"), lease("e1"), [], instead_of="r2")).run_id == "r3"
    assert [(one.turn.run_id, one.messages) for one in await store.transcript("s")] == [
        ("r1", (HELLO,)),
        ("r2", (HELLO,)),
        ("r3", ()),
    ]


async def test_a_turn_that_is_taken_twice_begins_once(store: SessionStore) -> None:
    await store.create("s", "a")
    for text in ("one", "two"):
        held = await store.take(turn("r"), lease("e"), [UserMessage(text=text)])
        assert held.run_id == "r"
    assert await store.run_messages("r") == (UserMessage(text="one"),)
    with pytest.raises(UnknownSessionError):
        await store.take(turn("r9", "nowhere"), lease("e"), [])
    await store.create("other", "a")
    with pytest.raises(SessionError, match="does not belong to the session"):
        await store.take(turn("r", "other"), lease("e"), [])
    await store.end("other")
    with pytest.raises(EndedSessionError):
        await store.take(turn("r9", "other"), lease("e"), [])


async def test_engines_say_that_they_are_at_work(make: Callable[..., SessionStore]) -> None:
    now = [1000.0]
    store = make(clock=lambda: now[0])

    async def facts(session_id: str) -> tuple[bool, bool]:
        held = await store.holder(session_id)
        assert held is not None
        return held.is_alive, held.is_durable

    for name, is_durable in (("memory", False), ("file", True)):
        await store.create(name, "a")
        await store.take(turn(f"r-{name}", name), lease(name, is_durable=is_durable), [])
    now[0] = 1009.0
    assert [await facts(name) for name in ("memory", "file")] == [(True, False), (True, True)]
    await store.beat(lease("memory"))
    now[0] = 1011.0
    assert [await facts(name) for name in ("memory", "file")] == [(True, False), (False, True)]
    await store.leave("memory")
    await store.leave("nobody")
    assert await facts("memory") == (False, False)
    await store.end("memory")
    assert await store.forget(9000.0) == 1
    assert await store.holder("memory") is None
    assert await facts("file") == (False, True)


async def test_of_many_at_once_one_gets_the_turn(store: SessionStore) -> None:
    await store.create("s", "a")
    taking = (store.take(turn(f"r{n}"), lease(f"e{n}"), [HELLO]) for n in range(8))
    held = await asyncio.gather(*taking)
    assert len({one.run_id for one in held}) == 1
    assert len(await store.turns("s")) == 1


async def test_a_session_is_unused_since_something_happened_in_its_newest_turn(store: SessionStore) -> None:
    lease = EngineLease(engine_id="e", is_durable=True, seconds=10.0)
    for session_id in "abcd":
        await store.create(session_id, "a.one")
    await store.take(turn("r1", "a", "t1"), lease, [HELLO])
    await store.take(turn("r2", "b", "t2"), lease, [HELLO])
    for session_id, run_id in (("a", "r1"), ("b", "r2")):
        await store.release(session_id, run_id)
    await store.begin(turn("r1/transfer:1", "a", "t1"))
    await store.write("r1", 1, [HELLO])
    await store.end("c")
    assert [one.session_id for one in await store.unused(keep=0)] == ["d", "b", "a", "c"]
    assert [one.session_id for one in await store.unused(keep=3)] == ["d"]
    assert await store.unused() == await store.unused(keep=4) == await store.unused(keep_s=1e6) == ()
    (d, b, a, c) = await store.unused(keep_s=0)
    assert (await store.get("c")).ended_at == c.used_at
    assert d.used_at < b.used_at < a.used_at


async def test_only_a_session_that_is_still_unused_is_retired_and_dropped(store: SessionStore) -> None:
    lease = EngineLease(engine_id="e", is_durable=True, seconds=10.0)
    await store.create("s", "a.one")
    (new,) = await store.unused(keep=0)
    await store.take(turn("r1"), lease, [HELLO])
    assert not await store.retire(new)  # used since
    (used,) = await store.unused(keep=0)
    assert not await store.retire(used)  # a run has its turn
    await store.release("s", "r1")
    await store.drop("s")  # not over
    assert len(await store.transcript("s")) == 1
    assert await store.retire(used)
    assert await store.retire(used)
    assert (await store.get("s")).ended_at == used.used_at
    with pytest.raises(EndedSessionError):
        await store.take(turn("r2"), lease, [HELLO])
    assert await store.unused(keep=0) == (used,)
    for run_id in ("r1/child:c1", "r1/child:c1/child:c2", "r10"):
        await store.write(run_id, 0, [HELLO])
    await store.drop("s")
    await store.drop("s")
    assert await store.list() == () == await store.run_messages("r1")
    assert await store.run_messages("r1/child:c1") == () == await store.run_messages("r1/child:c1/child:c2")
    assert len(await store.run_messages("r10")) == 1  # of another run
    assert not await store.retire(used)
