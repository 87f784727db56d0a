"""Who can write to the journal, without the secret, changes no call: its record is sealed as a whole."""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.bank import Bank
from tests.runtime.forging import Change, forge, put_record, put_text, record_in
from tests.runtime.tools import META, Listing, nothing, runtime, spec, waiting
from tests.selection import first
from tests.virtual_time import now
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine, NondeterminismError
from toolgen.runtime import ConfirmSpec, Runtime, Suspended, ToolOutcome
from toolgen.waiting.errors import (
    SuspensionError,
    TamperedSuspensionError,
)
from toolgen.waiting.loop import VERSION
from toolgen.waiting.resolving import unknown_ends

TOOL = "assistant.devices.list_devices"
CONFIRMED = spec(confirm=ConfirmSpec(hint="List {site_id}?"))
YES: dict[str, Any] = {"approved": True}
PLANTED = {"kind": "confirmation", "answer": YES, "question": "Really?", "by_tool": True}


class Drop(Listing):
    """Asks why, then wants an approval, and then counts what it did."""

    def __init__(self) -> None:
        super().__init__()
        self.ran = 0

    async def list_devices(self, payload: Any, ctx: Any) -> Any:
        if ctx.answered(str, "Why?") is None:
            return ToolOutcome.ask("Why?", str)
        if not ctx.approved("Really?"):
            return ToolOutcome.approval("Really?")
        self.ran += 1
        return nothing()


@asynccontextmanager
async def serving(path: Path, executor: object, *specs: Any, **host: Any) -> AsyncIterator[Runtime]:
    async with runtime(executor, *specs, engine=InProcessEngine(path, clock=now), **host) as made:
        yield made


async def asked(path: Path, executor: object, *specs: Any, **host: Any) -> Suspended:
    """Return what a process asked that is closed now."""
    async with serving(path, executor, *specs, **host) as made:
        return waiting(await made.call(TOOL, {"site_id": "s1"}, META))


def plants(record: dict[str, Any]) -> None:
    record["answers"] = [PLANTED]


def asks_something_else(record: dict[str, Any]) -> None:
    record |= {"kind": "input", "question": "What is your favourite colour?"}
    record |= {"answer_schema": {"type": "string"}, "answers": [PLANTED]}


def hides(record: dict[str, Any]) -> None:
    record |= {"sensitive": ["/site_id"], "question": "List nothing?"}


def words_it_otherwise(record: dict[str, Any]) -> None:
    record |= {"question": "List nothing?", "preview": "List nothing?"}


def takes_other_arguments(record: dict[str, Any]) -> None:
    record["payload_json"] = json.dumps({"site_id": "s2", "limit": 20})


def is_for_somebody_else(record: dict[str, Any]) -> None:
    record["meta"] |= {"labels": {"user": "admin"}, "session_id": "s-admin", "requested_by": "root"}


FORGERIES: list[Change] = [
    asks_something_else,
    hides,
    words_it_otherwise,
    takes_other_arguments,
    is_for_somebody_else,
]


async def test_an_approval_that_is_planted_among_the_earlier_answers_runs_nothing(tmp_path: Path) -> None:
    """The person answers a harmless question of the tool, and never sees the one that matters."""
    path, executor = tmp_path / "runs.db", Drop()
    first = await asked(path, executor)
    forge(path, first.id, plants)
    await _is_refused(path, executor, first, "cleanup")
    assert executor.ran == 0


@pytest.mark.parametrize("change", FORGERIES)
async def test_a_record_that_was_changed_is_shown_to_nobody_and_runs_nothing(
    tmp_path: Path, change: Change
) -> None:
    path, executor = tmp_path / "runs.db", Listing()
    first = await asked(path, executor, CONFIRMED)
    forge(path, first.id, change)
    await _is_refused(path, executor, first, "blue" if change is asks_something_else else YES, CONFIRMED)
    assert executor.calls == []


async def _is_refused(path: Path, executor: object, first: Suspended, answer: Json, *specs: Any) -> None:
    """Show that a call is not listed as answerable, is not answered, and is named to the operator."""
    async with serving(path, executor, *specs) as made:
        for one in await made.suspensions.list():
            await made.suspensions.answer(one.token, answer)
        assert await made.suspensions.list() == ()
        with pytest.raises(TamperedSuspensionError, match=first.run_id):
            await made.suspensions.answer(first.token, answer)
        with pytest.raises(TamperedSuspensionError, match=first.run_id):
            await made.suspensions.show(first.token)
        (named,) = await made.suspensions.check()
        assert (named.run_id, named.state) == (first.run_id, "tampered")


async def test_a_record_that_was_changed_after_its_answer_runs_nothing(tmp_path: Path) -> None:
    """The answer is kept, and nobody has executed the call yet."""
    path, executor = tmp_path / "runs.db", Listing()
    first = await asked(path, executor, CONFIRMED)
    desk = Runtime(engine=InProcessEngine(path, clock=now, worker=False))
    async with desk:
        await desk.suspensions.answer(first.token, YES, wait_s=0)
    forge(path, first.id, takes_other_arguments)
    async with serving(path, executor, CONFIRMED) as made:
        assert made.engine is not None
        await made.engine.settled(first.run_id)
        (named,) = await made.suspensions.check()
        assert (executor.calls, named.op, named.state) == ([], "wait:2", "tampered")
        with pytest.raises(TamperedSuspensionError):
            await made.suspensions.adopt(first.run_id, by="ann")
        await made.runs.cancel(first.run_id, "forged")
        assert await made.suspensions.check() == ()


async def test_a_host_without_the_key_costs_an_answer_and_not_the_call(tmp_path: Path) -> None:
    """It executes nothing, and the call waits on, for whoever has the key."""
    path, executor = tmp_path / "runs.db", Listing()
    old, new = b"the secret of before, 32 bytes !", b"the secret of now, 32 bytes !!!!"
    first = await asked(path, executor, CONFIRMED, secret=(new, old))
    desk = Runtime(engine=InProcessEngine(path, clock=now, worker=False), secret=(new, old))
    async with desk:
        await desk.suspensions.answer(first.token, YES, wait_s=0)
    async with serving(path, executor, CONFIRMED, secret=old) as late:
        assert late.engine is not None
        await late.engine.settled(first.run_id)
        assert ([one.state for one in await late.suspensions.check()], executor.calls) == (["unsealed"], [])
    async with serving(path, executor, CONFIRMED, secret=(new, old)) as made:
        (again,) = await made.suspensions.list()
        assert (again.id, again.token == first.token) == (first.id, False)
        assert (await made.suspensions.answer(again.token, YES)).status == "ok"
    assert len(executor.calls) == 1


@pytest.mark.asyncio(loop_factories=["virtual"])
async def test_who_answered_hears_that_the_call_waits_on_whoever_answered_since(tmp_path: Path) -> None:
    path, executor = tmp_path / "runs.db", Listing()
    old, new = b"the secret of before, 32 bytes !", b"the secret of now, 32 bytes !!!!"
    first = await asked(path, executor, CONFIRMED, secret=(new, old))

    def desk() -> Runtime:
        return Runtime(engine=InProcessEngine(path, clock=now, worker=False), secret=(new, old))

    for _ in range(2):
        async with desk() as made:
            (again,) = await made.suspensions.list()
            await made.suspensions.answer(again.token, YES, wait_s=0)
        async with serving(path, executor, CONFIRMED, secret=old) as late:
            assert late.engine is not None
            await late.engine.settled(first.run_id)
    async with desk() as made:
        told = await made.suspensions.answer(first.token, YES, wait_s=60)
        assert (told.status, [one.id for one in told.suspensions]) == ("suspended", [first.id])
    assert executor.calls == []


async def test_a_call_that_asks_again_after_it_waited_on_has_not_begun_since(tmp_path: Path) -> None:
    """Where it is canceled then, nobody has to find out what it did."""
    bank, path = Bank(), tmp_path / "runs.db"
    old, new = b"the secret of before, 32 bytes !", b"the secret of now, 32 bytes !!!!"

    def host(*secret: bytes, worker: bool = True) -> Runtime:
        made = Runtime(engine=InProcessEngine(path, clock=now, worker=worker), secret=secret)
        made.tools.register(bank.toolset())
        return made

    async with host(new, old) as made:
        first = waiting(await made.call("pay_asking", {"amount": 5}, META))
    async with host(new, old, worker=False) as desk:
        await desk.suspensions.answer(first.token, "here", wait_s=0)
    async with host(old) as late:
        assert late.engine is not None
        await late.engine.settled(first.run_id)
    async with host(new, old) as made:
        (again,) = await made.suspensions.list()
        assert waiting(await made.suspensions.answer(again.token, "here")).question == "When?"
        await made.runs.cancel(first.run_id, "enough")
        assert made.engine is not None
        assert (await unknown_ends(made.engine, first.run_id), bank.paid) == ([], [])


async def test_a_record_of_another_run_is_none_here(tmp_path: Path) -> None:
    """Though a host has sealed it, and everything that it says of itself fits."""
    path, executor = tmp_path / "runs.db", Listing()
    first, other = [await asked(path, executor, CONFIRMED) for _ in range(2)]
    put_record(path, first.run_id, record_in(path, other.run_id))
    async with serving(path, executor, CONFIRMED) as made:
        assert await made.suspensions.list() == (other,)
        named = {one.run_id: one.state for one in await made.suspensions.check()}
        assert named == {first.run_id: "tampered", other.run_id: "sealed"}
        assert executor.calls == []


@pytest.mark.parametrize(
    "text",
    first(
        [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"frozen":' + b'{"a":' * 3_000 + b"1" + b"}" * 3_001], 2
    ),
    ids=["empty", "broken", "no text", "deep", "deep record"],
)
async def test_a_record_that_cannot_be_read_hides_no_other(tmp_path: Path, text: bytes) -> None:
    path, executor = tmp_path / "runs.db", Listing()
    first, other = [await asked(path, executor, CONFIRMED) for _ in range(2)]
    put_text(path, first.run_id, text or b"x")
    async with serving(path, executor, CONFIRMED) as made:
        assert await made.suspensions.list() == (other,)
        named = {one.run_id: (one.state, one.call) for one in await made.suspensions.check()}
        assert named[first.run_id] == ("tampered", None)
        with pytest.raises(TamperedSuspensionError, match=first.run_id):
            await made.suspensions.answer(first.token, YES)
        await made.runs.cancel(first.run_id)
        assert (await made.suspensions.answer(other.token, YES)).status == "ok"


@pytest.mark.exhaustive
async def test_whatever_field_somebody_changes_is_named_and_runs_nothing(tmp_path: Path) -> None:
    path, executor = tmp_path / "runs.db", Listing()
    meta = replace(META, labels={"user": "ann"}, requested_by="ann")
    async with serving(path, executor, CONFIRMED) as made:
        first = waiting(await made.call(TOOL, {"site_id": "s1"}, meta))
    whole = record_in(path, first.run_id)
    changes = list(_changed(whole))
    others = await _asked_at_once(path, executor, len(changes))
    for other, change in zip(others, changes, strict=True):
        record = record_in(path, other.run_id)
        put_record(path, other.run_id, change(record))
    async with serving(path, executor, CONFIRMED) as made:
        assert [one.id for one in await made.suspensions.list()] == [first.id]
        states = {one.run_id: one.state for one in await made.suspensions.check()}
        assert set(states.values()) == {"sealed", "tampered", "unsealed"}
        assert len(states) == len(others) + 1
        for other in others:
            with pytest.raises(SuspensionError, match=other.run_id):
                await made.suspensions.answer(other.token, YES)
    assert executor.calls == []
    assert len(changes) > 50


@pytest.mark.exhaustive
async def test_whatever_byte_somebody_changes_runs_nothing(tmp_path: Path) -> None:
    """Of the whole row: also where it is no record any more, or no JSON."""
    path, executor = tmp_path / "runs.db", Listing()
    first = await asked(path, executor, CONFIRMED)
    size = len(json.dumps({"frozen": record_in(path, first.run_id), "version": VERSION}).encode())
    others = await _asked_at_once(path, executor, len(range(0, size, 13)))
    for number, other in enumerate(others):
        text = json.dumps({"frozen": record_in(path, other.run_id), "version": VERSION}).encode()
        place = number * 13
        put_text(path, other.run_id, bytes((*text[:place], text[place] ^ 1, *text[place + 1 :])))
    async with serving(path, executor, CONFIRMED) as made:
        for other in others:
            with pytest.raises((SuspensionError, NondeterminismError), match=other.run_id):
                await made.suspensions.answer(other.token, YES)
        assert [one.id for one in await made.suspensions.list()] == [first.id]
        assert executor.calls == []
        assert (await made.suspensions.answer(first.token, YES)).status == "ok"
    assert len(others) > 40


async def _asked_at_once(path: Path, executor: object, count: int) -> list[Suspended]:
    """Return so many calls that wait, of a process that is closed now."""
    async with serving(path, executor, CONFIRMED) as made:
        return [waiting(await made.call(TOOL, {"site_id": "s1"}, META)) for _ in range(count)]


def _changed(record: dict[str, Any]) -> Iterator[Any]:
    """Yield functions that return a record with one field dropped, of another type or of another value."""
    for path in (*((name,) for name in record), *(("meta", name) for name in record["meta"])):
        for how in (_dropped, _nulled, _other):
            yield lambda record, path=path, how=how: _at(record, path, how)


def _at(record: dict[str, Any], path: tuple[str, ...], how: Any) -> dict[str, Any]:
    changed = copy.deepcopy(record)
    inner = changed
    for name in path[:-1]:
        inner = inner[name]
    how(inner, path[-1])
    return changed


def _dropped(inner: dict[str, Any], name: str) -> None:
    del inner[name]


def _nulled(inner: dict[str, Any], name: str) -> None:
    inner[name] = None


def _other(inner: dict[str, Any], name: str) -> None:
    match inner[name]:
        case str(text):
            inner[name] = f"{text}x"
        case bool(flag):
            inner[name] = not flag
        case int(number) | float(number):
            inner[name] = 1e308 if number else number + 1
        case dict(fields):
            inner[name] = {**fields, "x": 1}
        case list(items):
            inner[name] = [*items, "/x"]
