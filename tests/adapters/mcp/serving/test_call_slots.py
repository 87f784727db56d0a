"""The slots of calls that are executed: who has one again after its client was asked."""

from __future__ import annotations

import asyncio

from toolgen.adapters.mcp.serving.executing import CallSlot, ExecutingCalls


class Calls:
    """Calls of a server that executes one at once; `went_on` has those that have their slot again."""

    def __init__(self, number: int) -> None:
        self.executing = ExecutingCalls()
        self.slots = [
            CallSlot(self.executing, None, lambda: self.executing.count >= 1) for _ in range(number)
        ]
        self.answers = [asyncio.Event() for _ in range(number)]
        self.went_on: list[int] = []

    async def ask(self, number: int) -> None:
        """Be a call whose client is asked before it goes on."""
        slot = self.slots[number]
        with slot.held():
            async with slot.asking():
                await self.answers[number].wait()
            if slot.has_client:
                self.went_on.append(number)

    async def answer(self, *numbers: int) -> None:
        for number in numbers:
            self.answers[number].set()
            await asyncio.sleep(0)
            await asyncio.sleep(0)


async def test_calls_that_were_asked_about_go_on_in_the_order_of_their_answers_before_newcomers() -> None:
    calls = Calls(3)
    asked = [asyncio.create_task(calls.ask(number)) for number in range(3)]
    await asyncio.sleep(0)
    with calls.executing.counted(None):
        await calls.answer(2, 0, 1)
        assert calls.went_on == []
    assert calls.executing.count == 1, "the first of them has the slot before anybody else is looked at"
    await asyncio.gather(*asked)
    assert (calls.went_on, calls.executing.count) == ([2, 0, 1], 0)


async def test_a_call_that_waits_for_its_slot_ends_with_its_client() -> None:
    """It waited on until some other call had ended, and was executed for nobody."""
    calls = Calls(2)
    asked = [asyncio.create_task(calls.ask(number)) for number in range(2)]
    await asyncio.sleep(0)
    with calls.executing.counted(None):
        await calls.answer(0, 1)
        calls.slots[0].end_client()
        async with asyncio.timeout(30):
            await asked[0]
        assert (calls.went_on, calls.executing.count) == ([], 1)
    await asked[1]
    assert calls.went_on == [1]


async def test_a_call_that_is_cancelled_while_it_waits_for_its_slot_takes_none() -> None:
    calls = Calls(2)
    asked = [asyncio.create_task(calls.ask(number)) for number in range(2)]
    await asyncio.sleep(0)
    with calls.executing.counted(None):
        await calls.answer(0, 1)
        asked[0].cancel()
        await asyncio.wait({asked[0]})
    await asked[1]
    assert (calls.went_on, calls.executing.count) == ([1], 0)


async def test_a_call_of_an_owner_who_has_enough_holds_up_nobody_else() -> None:
    executing, went_on = ExecutingCalls(), list[str]()

    def is_full(owner: str) -> bool:
        return executing.count >= 3 or executing.count_of(owner) >= 1

    async def ask(owner: str, answer: asyncio.Event) -> None:
        slot = CallSlot(executing, owner, lambda: is_full(owner))
        with slot.held():
            async with slot.asking():
                await answer.wait()
            went_on.append(owner)

    answer = asyncio.Event()
    asked = [asyncio.create_task(ask(owner, answer)) for owner in ("mira", "jonas")]
    await asyncio.sleep(0)
    with executing.counted("mira"):
        with executing.counted("anna"), executing.counted("otto"):
            answer.set()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert went_on == []
        await asked[1]
        assert went_on == ["jonas"]
    await asked[0]
    assert went_on == ["jonas", "mira"]
