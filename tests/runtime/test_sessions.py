"""Sessions over memory and SQLite: made, listed, handed over, ended and forgotten."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.session_stores import HELLO, file_of_runs, turn
from tests.runtime.session_stores import make as make
from tests.runtime.session_stores import seconds as seconds
from tests.runtime.session_stores import store as store
from toolgen.agents import (
    EndedSessionError,
    Session,
    SessionError,
    SessionStore,
    Summary,
    UnknownSessionError,
    UserMessage,
)
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.stores import StoreError


async def test_a_session_is_made_once(store: SessionStore) -> None:
    made = await store.create("s", "a.one", {"user": "ann", "é": "日本"})
    assert made == Session(id="s", agent="a.one", created_at=1000.0, labels={"user": "ann", "é": "日本"})
    assert await store.create("s", "a.two", {"user": "bob"}) == made
    assert await store.get("s") == made
    assert await store.list() == (made,)
    assert not made.is_over


async def test_labels_are_those_of_the_creation(store: SessionStore) -> None:
    labels = {"user": "ann"}
    await store.create("s", "a", labels)
    labels["user"] = "bob"
    assert (await store.get("s")).labels == {"user": "ann"}
    assert (await store.create("bare", "a")).labels == {}


async def test_many_at_once_make_one(store: SessionStore) -> None:
    made = await asyncio.gather(*(store.create("s", f"a{n}") for n in range(8)))
    assert all(one == made[0] for one in made)
    assert len(await store.list()) == 1


@pytest.mark.parametrize("make", ["memory", "sqlite"], indirect=True)
def test_many_threads_make_one_and_lose_nothing(make: Callable[..., SessionStore]) -> None:
    store = make()
    together = threading.Barrier(4)

    async def talks(n: int) -> Session:
        together.wait()
        made = await store.create("s", f"a{n}")
        for m in range(5):
            await store.begin(turn(f"r{n}-{m}"))
            await store.write(f"r{n}-{m}", 0, [HELLO])
        return made

    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda n: asyncio.run(talks(n)), range(4)))
    assert len({one.created_at for one in made}) == 1
    said = asyncio.run(store.transcript("s"))
    assert sorted(one.turn.run_id for one in said) == sorted(f"r{n}-{m}" for n in range(4) for m in range(5))
    assert all(one.messages == (HELLO,) for one in said)


async def test_the_file_of_an_engine_is_for_one_event_loop(tmp_path: Path) -> None:
    store = SqliteSessionStore(file_of_runs(tmp_path / "runs.db"))
    await store.create("s", "a")
    with pytest.raises(StoreError, match="is used by another event loop"):
        await asyncio.to_thread(lambda: asyncio.run(store.create("t", "a")))
    with pytest.raises(StoreError, match="is used by another event loop"):
        await asyncio.to_thread(lambda: asyncio.run(store.write("r", 1, [HELLO])))
    assert await asyncio.to_thread(lambda: asyncio.run(store.get("s"))) == await store.get("s")


async def test_what_is_over_stays_over(store: SessionStore) -> None:
    await store.create("s", "a")
    await store.begin(turn("r1"))
    over = await store.end("s")
    assert (over.ended_at, over.is_over) == (1001.0, True)
    assert await store.end("s") == over == await store.get("s")
    for refused in (store.create("s", "a"), store.begin(turn("r2"))):
        with pytest.raises(EndedSessionError, match="the session 's' has ended") as caught:
            await refused
        assert caught.value.hint == "start a session with a new id"
    await store.begin(turn("r1"))  # tried again by an engine that does not know that it was done
    await store.write("r1", 0, [HELLO])
    assert [one.turn.run_id for one in await store.transcript("s")] == ["r1"]


@pytest.mark.parametrize("session_id", ["s", "", "half \ud800"])
async def test_what_nobody_made_is_unknown(store: SessionStore, session_id: str) -> None:
    summary = Summary(text="x", through="r")
    await store.create("another", "a")
    for refused in (
        store.get(session_id),
        store.end(session_id),
        store.hand_over(session_id, "a"),
        store.transcript(session_id),
        store.turns(session_id),
        store.summarize(session_id, summary),
    ):
        with pytest.raises(UnknownSessionError, match="the session '") as caught:
            await refused
        assert caught.value.hint
    assert await store.summary(session_id) is None


async def test_a_run_begins_in_a_session_that_is_there(store: SessionStore) -> None:
    with pytest.raises(UnknownSessionError):
        await store.begin(turn("r1", "nowhere"))
    assert await store.run_messages("r1") == ()


async def test_ids_are_of_whole_characters(store: SessionStore) -> None:
    await store.create("s", "a")
    for refused in (
        store.create("half \ud800", "a"),
        store.begin(turn("half \ud800")),
        store.write("half \ud800", 0, [HELLO]),
        store.write("r1", 0, [HELLO], message_ids=["half \ud800"]),
        store.release("half \ud800", "r1"),
    ):
        with pytest.raises(SessionError, match=r"the id 'half \\ud800' holds a lone surrogate"):
            await refused
    assert await store.run_messages("half \ud800") == ()
    strange = "日本 🏠'; DROP TABLE session; --\x00"
    assert (await store.create(strange, "a")).id == strange
    assert (await store.get(strange)).id == strange


async def test_sessions_are_listed_the_newest_first(store: SessionStore) -> None:
    for n in range(5):
        await store.create(f"s{n}", "a")
    await store.end("s1")
    await store.end("s3")

    async def ids(**given: Any) -> str:
        return " ".join(session.id for session in await store.list(**given))

    assert await ids() == "s4 s3 s2 s1 s0"
    assert await ids(state="open") == "s4 s2 s0"
    assert await ids(state="ended") == "s3 s1"
    assert await ids(limit=2) == "s4 s3"
    assert await ids(state="open", limit=2) == "s4 s2"
    assert await ids(limit=0) == await ids(limit=-1) == ""


async def test_sessions_of_the_same_moment_are_listed_the_newest_first(
    make: Callable[..., SessionStore],
) -> None:
    store = make(clock=lambda: 1000.0)
    for n in ("b", "c", "a"):
        await store.create(n, "x")
    assert [session.id for session in await store.list()] == ["a", "c", "b"]
    assert [session.id for session in await store.list(after="a")] == ["c", "b"]
    assert [session.id for session in await store.list(after="c", limit=1)] == ["b"]
    assert await store.list(after="b") == await store.list(after="none") == ()


async def test_a_conversation_is_handed_over(store: SessionStore) -> None:
    made = await store.create("s", "a.one", {"user": "ann"})
    await store.hand_over("s", "a.two")
    handed = await store.get("s")
    assert (handed.agent, handed.labels, handed.created_at) == ("a.two", made.labels, made.created_at)
    await store.begin(turn("r"))
    assert (await store.get("s")).agent == "home.helper"
    await store.hand_over("s", "a.two")
    await store.begin(turn("r"))
    assert (await store.create("s", "a.one")).agent == "a.two"


async def test_a_run_begins_once_and_stays_where_it_is(store: SessionStore) -> None:
    await store.create("s", "a")
    await store.create("other", "a")
    for run_id in ("r2", "r1", "r3", "r2", "r1"):
        await store.begin(turn(run_id))
    await store.begin(turn("r1", turn_id="changed"))
    said = await store.transcript("s")
    assert [one.turn for one in said] == [turn("r2"), turn("r1"), turn("r3")]
    with pytest.raises(SessionError, match="'r1' does not belong to the session 'other'"):
        await store.begin(turn("r1", "other"))
    assert await store.transcript("other") == ()


async def test_what_is_below_a_conversation_stays_and_goes_with_it(store: SessionStore) -> None:
    """The ids of hosts may hold slashes, as those of child runs do."""
    await store.create("s", "a")
    await store.begin(turn("tenant/1"))
    below, alone = ("tenant/1/child:a", "tenant/1/child:a/child:b"), ("tenant", "tenant/10", "call_1/child:a")
    for run_id in ("tenant/1", *below, *alone):
        await store.write(run_id, 0, [HELLO])
        await store.speak(run_id, "i", UserMessage(text="more"))
    assert await store.forget(0.0) == 0
    await store.forget_runs([*below, "tenant/1", "nobody"])
    for run_id in ("tenant/1", *below, *alone):
        assert len(await store.run_messages(run_id)) == 2
    await store.forget_runs(alone)
    assert [await store.run_messages(run_id) for run_id in alone] == [()] * 3
    await store.write("tenant/10", 0, [HELLO])
    await store.end("s")
    await store.drop("s")
    assert [await store.run_messages(run_id) for run_id in ("tenant/1", *below)] == [()] * 3
    assert await store.run_messages("tenant/10") == (HELLO,)


async def test_what_a_child_of_a_session_said_is_not_forgotten_before_it(
    make: Callable[..., SessionStore],
) -> None:
    now = [1000.0]
    store = make(clock=lambda: now[0])
    await store.create("s", "a")
    await store.begin(turn("r"))
    for run_id in ("r", "r/child:a", "alone", "alone/child:a"):
        await store.write(run_id, 0, [HELLO])
    assert await store.forget(2000.0) == 0
    left = [
        run_id for run_id in ("r", "r/child:a", "alone", "alone/child:a") if await store.run_messages(run_id)
    ]
    assert left == ["r", "r/child:a"]


async def test_what_ended_long_ago_is_forgotten(make: Callable[..., SessionStore]) -> None:
    now = [1000.0]
    store = make(clock=lambda: now[0])
    for name in ("early", "late", "open"):
        await store.create(name, "a")
        await store.begin(turn(f"r-{name}", name))
        for run_id in (f"r-{name}", f"child-{name}"):
            await store.write(run_id, 0, [HELLO])
        await store.summarize(name, Summary(text="x", through=f"r-{name}"))
    await store.write("long child", 0, [HELLO])
    await store.end("early")
    now[0] = 2000.0
    await store.end("late")
    await store.write("long child", 1, [HELLO])

    assert await store.forget(1000.0) == 0
    assert await store.run_messages("child-early") == (HELLO,)
    assert await store.forget(2000.0) == 1
    assert [session.id for session in await store.list()] == ["open", "late"]
    with pytest.raises(UnknownSessionError):
        await store.transcript("early")
    assert await store.summary("early") is None
    left = {
        run_id: len(await store.run_messages(run_id)) for run_id in ("r-early", "child-early", "child-open")
    }
    assert left == {"r-early": 0, "child-early": 0, "child-open": 0}
    assert len(await store.run_messages("long child")) == 2  # whole, for it is at work
    for name in ("late", "open"):
        assert [one.messages for one in await store.transcript(name)] == [(HELLO,)]
        assert await store.summary(name) is not None

    assert await store.forget(2000.5) == 1
    assert await store.run_messages("long child") == ()
    assert [session.id for session in await store.list()] == ["open"]
    assert await store.forget(9000.0) == 0
    assert [one.messages for one in await store.transcript("open")] == [(HELLO,)]


async def test_an_id_that_was_forgotten_is_new_again(store: SessionStore) -> None:
    await store.create("s", "a.one", {"user": "ann"})
    await store.begin(turn("r"))
    await store.summarize("s", Summary(text="x", through="r"))
    await store.end("s")
    assert await store.forget(5000.0) == 1
    made = await store.create("s", "a.two")
    assert (made.agent, made.labels, made.is_over) == ("a.two", {}, False)
    assert await store.transcript("s") == ()
    assert await store.summary("s") is None
    await store.begin(turn("r"))
    assert len(await store.transcript("s")) == 1
