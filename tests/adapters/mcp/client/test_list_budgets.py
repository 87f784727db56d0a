"""What the list of a server may cost its client: tools, and the work of their schemas, counted."""

from __future__ import annotations

import asyncio
import re
import threading
from typing import Any

import mcp_types as types
import pytest

from tests.adapters.mcp.client.conftest import hostile, served
from tests.selection import first
from toolgen.adapters.mcp.client import toolset
from toolgen.adapters.mcp.client.binding import (
    TOOLS_OF_A_TURN,
    WORK_OF_A_LIST,
    WORK_OF_A_TURN,
    Bindings,
    work_of,
)
from toolgen.adapters.mcp.client.listing import MOST_TOOLS, ServerListing
from toolgen.adapters.mcp.client.tools import server_tool


class Asked:
    """How often tools were made of what a server lists, and how many turns others had."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made = 0
        self.turns = 0
        make = server_tool

        def counted(*args: Any, **options: Any) -> Any:
            self.made += 1
            return make(*args, **options)

        monkeypatch.setattr(toolset, "server_tool", counted)

    async def count_turns(self) -> None:
        while True:
            await asyncio.sleep(0)
            if self.made:
                self.turns += 1


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("mode", "number", "left_out"),
    first(
        [
            ("five_thousand", 2_000, "3000 after t1999"),
            pytest.param("pages", 5_000, "tools on further pages", marks=pytest.mark.exhaustive),
            ("unusable_pages", 0, "tools on further pages"),
        ]
    ),
)
async def test_tools_of_a_page_and_of_a_list_are_limited(
    mode: str, number: int, left_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(monkeypatch)
    async with asyncio.TaskGroup() as group:
        counting = group.create_task(asked.count_turns())
        async with served(hostile(mode)) as (runtime, snapshot):
            assert (len(snapshot.specs), asked.made) == (number, number)
            assert asked.turns >= number // TOOLS_OF_A_TURN  # others went on meanwhile
            assert f"mcp.hostile.{left_out}" in snapshot.left_out
            assert len(snapshot.left_out) <= MOST_TOOLS + 1
            again = await runtime.tools.snapshot()
            assert (len(again.specs), asked.made) == (number, number)  # nothing is made again
        counting.cancel()


def sized(name: str, work: int) -> types.Tool:
    """Return a tool whose schema takes so much work."""
    return types.Tool(name=name, input_schema={"type": "object", "required": ["b"] * (work - 2)})


def patterned(name: str, patterns: list[str]) -> types.Tool:
    properties = {f"p{at}": {"type": "string", "pattern": pattern} for at, pattern in enumerate(patterns)}
    return types.Tool(name=name, input_schema={"type": "object", "properties": properties})


def test_the_work_of_a_tool_is_that_of_its_keys_items_references_and_patterns() -> None:
    assert work_of(types.Tool(name="a", input_schema={"type": "object"})) == (1, 0)
    assert work_of(sized("a", 1_000)) == (1_000, 0)
    assert work_of(patterned("a", ["a" * 100] * 2)) == (2 + 2 + 4 + 2 * 15, 2 * 15)
    of_keys = {"type": "object", "patternProperties": {"a" * 100: {}}, "required": ["b"] * 50}
    assert work_of(types.Tool(name="a", input_schema=of_keys)) == (3 + 1 + 50 + 15, 15)
    referring = {"type": "object", "anyOf": [{"$ref": "#/a"}] * 5}
    assert work_of(types.Tool(name="a", input_schema={"type": "object"}, output_schema=referring)) == (18, 0)


class Made:
    """Tools that are made of nothing, and in which threads."""

    def __init__(self) -> None:
        self.threads: list[int] = []
        self.bindings = Bindings("mcp.s", "", self._make, None)

    def _make(self, tool: types.Tool, id_: str, wire_name: str) -> str:
        self.threads.append(threading.get_ident())
        return f"made of {wire_name}"

    async def left_out(self, *works: int) -> dict[str, str]:
        return await self.left_out_of(*[sized(f"t{number}", work) for number, work in enumerate(works)])

    async def left_out_of(self, *tools: types.Tool) -> dict[str, str]:
        return dict((await self.bindings.tools(ServerListing(tools=tools))).left_out)


async def test_others_have_their_turn_by_the_work_of_tools_and_large_ones_are_made_in_a_thread() -> None:
    made, turns = Made(), 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    counting = asyncio.create_task(count())
    await made.left_out(*[WORK_OF_A_TURN] * 10)
    counting.cancel()
    assert turns >= 9  # between each and the next
    assert set(made.threads) == {threading.get_ident()}
    made.threads.clear()
    large = [WORK_OF_A_TURN + 1] * 3
    await asyncio.gather(made.left_out(*large), made.left_out(*large))
    assert len(made.threads) == 3  # once for both
    assert threading.get_ident() not in made.threads


async def test_tools_beyond_the_work_of_a_list_are_left_out_each_time() -> None:
    made = Made()
    works = [*[WORK_OF_A_LIST // 10] * 9, WORK_OF_A_LIST // 10 + 1, 5, WORK_OF_A_LIST // 10]
    for _ in range(2):
        found = await made.left_out(*works)
        beyond = [id_ for id_, reason in found.items() if not reason.startswith("made of")]
        assert beyond == ["mcp.s.t9", "mcp.s.t11"]
        assert (
            found["mcp.s.t9"]
            == "together with the other tools, its schemas exceed the limit of 200000 keys and items per list"
        )
    assert len(made.threads) == 10


ALTERNATIVES = ["|".join(f"w{at}x{number}" for number in range(120)) for at in range(30)]
UUID = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("patterns", "most"),
    [
        (ALTERNATIVES, 40_000 // (30 * 60)),
        ([rf"\p{{L}}{{1,{20 + at}}}" for at in range(30)], 40_000 // (30 * 40)),
        ([r"\s" * (10 + at) for at in range(30)], 40_000 // (30 * 70)),
        ([rf"(?i)[\u0100-\uffff]{at}" for at in range(30)], 40_000 // (30 * 200)),
    ],
)
async def test_tools_beyond_the_work_of_the_patterns_of_a_list_are_left_out(
    patterns: list[str], most: int
) -> None:
    made = Made()
    found = await made.left_out_of(*[patterned(f"t{number}", patterns) for number in range(100)])
    assert 0 < len(made.threads) <= most
    assert (
        found["mcp.s.t99"]
        == "together with the other tools, its patterns exceed the work limit of 40000 per list"
    )
    assert found["mcp.s.t0"] == "made of t0"


async def test_the_patterns_of_many_plain_tools_are_within_the_work_of_a_list() -> None:
    plain = await Made().left_out_of(*[patterned(f"t{number}", [UUID] * 2) for number in range(1_500)])
    assert all(reason.startswith("made of") for reason in plain.values())


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("mode", "why"),
    first(
        [
            ("sixty_thousand", "cannot list its tools: it has more than 100000 keys and items in all"),
            ("noisy", "ended before the answer|cannot list its tools|ended: it sent more than"),
        ]
    ),
)
async def test_a_list_that_costs_too_much_is_none(mode: str, why: str) -> None:
    async with served(hostile(mode, clock=lambda: 0.0), on_error="drop") as (_, snapshot):
        assert snapshot.specs == ()
        assert re.search(why, snapshot.failures["hostile"])


async def test_a_tool_that_is_deeper_than_a_message_may_be_is_left_out_alone() -> None:
    async with served(hostile("deep")) as (_, snapshot), served(hostile()) as (_, plain):
        assert [spec.id for spec in snapshot.specs] == [spec.id for spec in plain.specs]
        assert list(snapshot.left_out) == ["mcp.hostile.deep"]


async def test_a_list_that_came_again_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(monkeypatch)
    async with served(hostile(list_s=0)) as (runtime, snapshot):
        made = asked.made
        assert made == len(snapshot.specs)
        again = await runtime.tools.snapshot()
        assert again.specs == snapshot.specs
        assert asked.made == made
