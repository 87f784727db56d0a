"""What was said in sessions: kept step by step, read in order, and summed up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.runtime.session_stores import HELLO, ODD, turn
from tests.runtime.session_stores import make as make
from tests.runtime.session_stores import seconds as seconds
from tests.runtime.session_stores import store as store
from toolgen.agents import (
    AssistantMessage,
    PlannedCall,
    SessionStore,
    Summary,
    ToolAnswer,
    ToolMessage,
    UserMessage,
)
from toolgen.agents.sessions.rows import messages_as_text


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
    await store.write("r", 3, [one, HELLO], message_ids=["i1", "another"])
    assert await store.run_messages("r") == (HELLO, one, HELLO, two)
    await store.end("s")
    assert await store.forget(9000.0) == 1
    assert await store.run_messages("r") == ()


async def test_runs_of_no_session_keep_what_they_said(store: SessionStore) -> None:
    await store.write("child", 0, [HELLO])
    assert await store.run_messages("child") == (HELLO,)
    assert await store.run_messages("nobody") == ()
    assert await store.list() == ()


async def test_a_summary_replaces_the_one_before(store: SessionStore) -> None:
    await store.create("s", "a")
    await store.create("other", "a")
    assert await store.summary("s") is None
    for text, through in (("one", "r1"), ("", "r2"), ("half \ud800 日本\x00", "r3")):
        summary = Summary(text=text, through=through)
        await store.summarize("s", summary)
        assert await store.summary("s") == summary
    assert await store.summary("other") is None
