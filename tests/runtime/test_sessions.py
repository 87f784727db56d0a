"""Sessions, turns and what was said: the same over memory and SQLite."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.selection import first
from toolgen.agents import (
    AssistantMessage,
    EndedSessionError,
    EngineLease,
    Message,
    PlannedCall,
    Session,
    SessionError,
    SessionStore,
    Summary,
    ToolAnswer,
    ToolMessage,
    Turn,
    TurnHolder,
    UnknownSessionError,
    UserMessage,
)
from toolgen.agents.sessions.kept_rows import messages_as_text
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.engines import InProcessEngine
from toolgen.stores import StoreError
from toolgen.stores.batched_file import BatchedFile

HELLO = UserMessage(text="hello")
NATIVE: dict[str, Any] = {
    "parts": [{"kind": "text", "content": "日本 🏠 \u2028 \x00"}],
    "tokens": 2**70,
    "cost": 0.1,
    "none": None,
    "nested": [[], {}, True, -0.0, 1e300],
}
ODD: tuple[Message, ...] = (
    UserMessage(text=""),
    UserMessage(text='a\n\t"\\\x00\x7f日本 🏠', source="agent"),
    UserMessage(text="half \ud83d of a pair", source="runtime"),
    AssistantMessage(
        text="\udc00",
        calls=(PlannedCall(name="t", arguments='{"broken": "\ud800', id="c1"), PlannedCall(name="ü")),
        native=NATIVE,
    ),
    AssistantMessage(native={"half \ud83d": "\ud83d"}),
    AssistantMessage(native='["text", "not a list"]'),
    ToolMessage(
        answers=(
            ToolAnswer(
                id="c1",
                name="t",
                status="ok",
                text='{"a": 1.0}',
                reminder="\ud800",
                content=({"type": "text", "text": "é"},),
            ),
        )
    ),
    ToolMessage(answers=()),
)


def file_of_runs(path: Path) -> BatchedFile:
    """Return the file of an engine, as one of its processes has it."""
    file = InProcessEngine(path).file
    assert file is not None
    return file


@pytest.fixture(params=first(["memory", "sqlite", "beside the runs"], 2))
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., SessionStore]:
    if request.param == "memory":
        return MemorySessionStore
    if request.param == "beside the runs":
        return lambda **given: SqliteSessionStore(file_of_runs(tmp_path / "runs.db"), **given)
    return lambda **given: SqliteSessionStore(tmp_path / "sessions.db", **given)


@pytest.fixture
def seconds() -> Iterator[int]:
    return count(1000)


@pytest.fixture
def store(make: Callable[..., SessionStore], seconds: Iterator[int]) -> SessionStore:
    """Of a clock that goes on by one second each time somebody looks."""
    return make(clock=lambda: float(next(seconds)))


def turn(run_id: str, session_id: str = "s", turn_id: str = "t1") -> Turn:
    return Turn(id=turn_id, session_id=session_id, run_id=run_id, agent="home.helper", started_at=1000.5)


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
        with pytest.raises(EndedSessionError, match="the session 's' is over") as caught:
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
        with pytest.raises(UnknownSessionError, match="there is no session '") as caught:
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
        store.write("r1", 0, [HELLO], heard=["half \ud800"]),
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
    with pytest.raises(SessionError, match="'r1' belongs to another session than 'other'"):
        await store.begin(turn("r1", "other"))
    assert await store.transcript("other") == ()


async def test_a_step_that_is_written_again_replaces_itself(store: SessionStore) -> None:
    def says(text: str) -> UserMessage:
        return UserMessage(text=text)

    for step, *texts in ((2, "e"), (0, "a", "wrong"), (10, "f"), (1, "c", "d"), (0, "a", "b")):
        await store.write("r", int(step), [says(str(text)) for text in texts])
    assert [getattr(one, "text", "") for one in await store.run_messages("r")] == list("abcdef")
    assert [getattr(one, "text", "") for one in await store.run_messages("r", before=2)] == list("abcd")
    assert await store.run_messages("r", before=0) == ()
    await store.write("r", 0, [])
    assert [getattr(one, "text", "") for one in await store.run_messages("r")] == list("cdef")
    await store.write("other", 1, [says("x")])
    assert len(await store.run_messages("r")) == 4


async def test_messages_come_back_as_they_were(store: SessionStore) -> None:
    await store.create("s", "a")
    await store.begin(turn("r"))
    await store.write("r", 0, ODD)
    assert await store.run_messages("r") == ODD
    (said,) = await store.transcript("s")
    assert said.messages == ODD
    assert messages_as_text(said.messages) == messages_as_text(ODD)


async def test_what_has_no_json_is_refused_and_nothing_is_kept(store: SessionStore) -> None:
    await store.write("r", 0, [HELLO])
    circle: list[Any] = []
    circle.append(circle)
    for native in (object(), {"x": {1: object()}}, circle):
        with pytest.raises(ValueError, match=r"serialize|Circular"):
            await store.write("r", 0, [AssistantMessage(native=native)])
    assert await store.run_messages("r") == (HELLO,)


@pytest.mark.exhaustive
async def test_huge_messages_are_kept(store: SessionStore) -> None:
    huge = (UserMessage(text="é" * 3_000_000), AssistantMessage(native={"image": "x" * 3_000_000}))
    await store.write("r", 0, huge)
    await store.write("r", 1, [UserMessage(text=str(n)) for n in range(5_000)])
    found = await store.run_messages("r")
    assert found[:2] == huge
    assert found[-1] == UserMessage(text="4999")
    assert len(found) == 5_002


async def test_what_was_read_is_not_what_is_kept(store: SessionStore) -> None:
    native = {"parts": [1]}
    await store.write("r", 0, [AssistantMessage(native=native)])
    native["parts"].append(2)
    for _ in range(2):
        (found,) = await store.run_messages("r")
        assert isinstance(found, AssistantMessage)
        assert found.native == {"parts": [1]}
        found.native["parts"].append(3)


async def test_the_transcript_is_in_the_order_of_the_runs(store: SessionStore) -> None:
    await store.create("s", "a")
    await store.create("other", "a")
    for n in (1, 2, 3, 4):
        await store.begin(turn(f"r{n}", turn_id=f"t{(n + 1) // 2}"))
    await store.begin(turn("elsewhere", "other"))
    for run_id in ("r4", "r1", "r3", "elsewhere"):  # r2 has said nothing yet
        await store.write(run_id, 1, [UserMessage(text=f"{run_id} later")])
        await store.write(run_id, 0, [UserMessage(text=run_id)])

    async def shown(**given: Any) -> list[tuple[str, int]]:
        return [(one.turn.run_id, len(one.messages)) for one in await store.transcript("s", **given)]

    everything = [("r1", 2), ("r2", 0), ("r3", 2), ("r4", 2)]
    assert await shown() == everything
    assert await shown(newest=1) == everything[-2:]  # r3 and r4 are one turn
    assert await shown(newest=2) == everything
    assert await shown(newest=9) == everything
    assert await shown(after="r2") == everything[-2:]
    assert await shown(after="r4") == []
    assert await shown(after="another") == everything
    assert [one.run_id for one in await store.turns("s")] == ["r1", "r2", "r3", "r4"]
    assert await shown(newest=0) == await shown(newest=-1) == []
    first = (await store.transcript("s"))[0]
    assert first.turn == turn("r1", turn_id="t1")
    assert first.messages == (UserMessage(text="r1"), UserMessage(text="r1 later"))


def result(id_: str, text: str = "2") -> ToolAnswer:
    return ToolAnswer(id=id_, name="add", status="ok", text=text)


async def test_what_a_person_has_resolved_is_in_the_place_of_what_a_step_has(store: SessionStore) -> None:
    batch = AssistantMessage(calls=(PlannedCall(name="add", id="c1"), PlannedCall(name="add", id="c2")))
    await store.write("r", 1, [HELLO, batch])
    await store.write("r", 3, [ToolMessage(answers=(result("c1"), result("c2"))), AssistantMessage(text="3")])
    await store.answer("r", result("c1", "7"))
    found = replace(result("c2", "8"), resolved_by="jo")
    await store.answer("r", found)
    whole = ToolMessage(answers=(result("c1"), found))
    assert await store.run_messages("r") == (HELLO, batch, whole, AssistantMessage(text="3"))


async def test_the_results_of_a_batch_that_was_cut_are_kept(store: SessionStore) -> None:
    calls = tuple(PlannedCall(name="add", id=id_) for id_ in ("c1", "c2", "c3"))
    batch = AssistantMessage(calls=calls)
    await store.create("s", "a")
    await store.begin(turn("r"))
    await store.write("r", 1, [HELLO, batch])
    assert await store.run_messages("r") == (HELLO, batch)
    for answer in (result("c3"), result("c1", "1"), result("c1", "2"), result("another")):
        await store.answer("r", answer)
    cut = (HELLO, batch, ToolMessage(answers=(result("c1"), result("c3"))))
    assert await store.run_messages("r") == cut
    assert (await store.transcript("s"))[0].messages == cut
    await store.write("r", 2, [HELLO])
    assert await store.run_messages("r") == (*cut, HELLO)
    whole = ToolMessage(answers=(result("c1"), result("c2"), result("c3")))
    await store.write("r", 2, [whole])
    assert await store.run_messages("r") == (HELLO, batch, whole)
    await store.end("s")
    assert await store.forget(9000.0) == 1
    await store.write("r", 1, [HELLO, batch])
    assert await store.run_messages("r") == (HELLO, batch)


async def test_what_is_spoken_into_a_run_comes_last_until_a_step_has_it(store: SessionStore) -> None:
    await store.create("s", "a")
    await store.begin(turn("r"))
    one, two = UserMessage(text="one"), UserMessage(text="two")
    for id_, message in (("i1", one), ("i2", two), ("i1", one)):
        await store.speak("r", id_, message)
    await store.write("r", 1, [HELLO])
    assert await store.run_messages("r") == (HELLO, one, two)
    assert await store.run_messages("r", before=9) == (HELLO,)
    assert [said.messages for said in await store.transcript("s")] == [(HELLO, one, two)]
    await store.write("r", 3, [one, HELLO], heard=["i1", "another"])
    assert await store.run_messages("r") == (HELLO, one, HELLO, two)
    await store.end("s")
    assert await store.forget(9000.0) == 1
    assert await store.run_messages("r") == ()


async def test_runs_of_no_session_keep_what_they_said(store: SessionStore) -> None:
    await store.write("child", 0, [HELLO])
    assert await store.run_messages("child") == (HELLO,)
    assert await store.run_messages("nobody") == ()
    assert await store.list() == ()


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


async def test_a_summary_replaces_the_one_before(store: SessionStore) -> None:
    await store.create("s", "a")
    await store.create("other", "a")
    assert await store.summary("s") is None
    for text, through in (("one", "r1"), ("", "r2"), ("half \ud800 日本\x00", "r3")):
        summary = Summary(text=text, through=through)
        await store.summarize("s", summary)
        assert await store.summary("s") == summary
    assert await store.summary("other") is None


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
    with pytest.raises(SessionError, match="another session"):
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
