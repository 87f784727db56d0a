"""A snapshot of all toolsets has one tool for each wire name: those of one name get prefixes."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from toolgen.calls.functions.tools import func_tool
from toolgen.calls.toolsets.dynamic import SnapshotError
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    CallMeta,
    ConfirmSpec,
    Continue,
    Hook,
    Runtime,
    StaticToolset,
    ToolCall,
    ToolContext,
    Verdict,
)

META = CallMeta(session_id="s")


def toolset(name: str, *tools: str, **facts: Any) -> StaticToolset:
    """Return a toolset whose tools say which one was called."""

    def tool(own: str) -> Any:
        async def say(q: str = "") -> str:
            return f"{name}.{own}"

        say.__name__, say.__doc__ = own, "Search."
        return func_tool(say, toolset=name, **facts)

    return StaticToolset(name=name, bound=tuple(map(tool, tools)))


def registered(*toolsets: StaticToolset, **host: Any) -> Runtime:
    runtime = Runtime(**host)
    for one in toolsets:
        runtime.tools.register(one)
    return runtime


async def names(*toolsets: StaticToolset) -> dict[str, str]:
    """Return the wire names by id."""
    return {spec.id: spec.name for spec in (await registered(*toolsets).tools.snapshot()).specs}


async def test_tools_of_one_name_get_the_name_of_their_toolset_in_any_order() -> None:
    toolsets = toolset("home.lamps", "search", "dim"), toolset("home.doors", "search"), toolset("a.b", "lock")
    for order in itertools.permutations(toolsets):
        assert await names(*order) == {
            "home.lamps.search": "lamps_search",
            "home.lamps.dim": "dim",
            "home.doors.search": "doors_search",
            "a.b.lock": "lock",
        }


async def test_toolsets_of_one_name_get_that_of_their_service_too() -> None:
    assert await names(toolset("home.lamps", "search"), toolset("office.lamps", "search")) == {
        "home.lamps.search": "home_lamps_search",
        "office.lamps.search": "office_lamps_search",
    }


async def test_a_prefixed_name_that_another_tool_has_is_not_taken() -> None:
    toolsets = toolset("home.lamps", "search"), toolset("home.doors", "search", "lamps_search")
    assert await names(*toolsets) == {
        "home.lamps.search": "home_lamps_search",
        "home.doors.search": "home_doors_search",
        "home.doors.lamps_search": "lamps_search",
    }


@pytest.mark.parametrize(
    "toolsets",
    [
        (toolset("home.lamps", "s" * 60), toolset("home.doors", "s" * 60)),
        (
            toolset("home.lamps", "x"),
            toolset("home_lamps", "x"),
            toolset("home.doors", "home_lamps_x", "lamps_x"),
        ),
    ],
    ids=["too long", "taken"],
)
async def test_what_prefixes_do_not_tell_apart_is_an_error_that_names_both(
    toolsets: tuple[StaticToolset, ...],
) -> None:
    with pytest.raises(SnapshotError, match=f"wire name .*{toolsets[0].name}.*{toolsets[1].name}"):
        await registered(*toolsets).tools.snapshot()


async def test_a_toolset_that_is_registered_later_counts() -> None:
    runtime = registered(toolset("home.lamps", "search"))
    before = await runtime.tools.snapshot()
    runtime.tools.register(toolset("home.doors", "search"))
    after = await runtime.tools.snapshot(previous=before)
    assert [spec.name for spec in before.specs] == ["search"]
    assert [spec.name for spec in after.specs] == ["lamps_search", "doors_search"]
    assert (await before.call("search", {}, META)).result == "home.lamps.search"
    gone = await after.call("search", {}, META)
    assert gone.status == "error"
    assert b"the tool 'search' is no longer available" in gone.json


class Seen(Hook):
    """A hook for one of the tools, by its id."""

    tools = frozenset({"home.doors.search"})

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        self.seen.append(call.tool)
        return Continue()


async def test_calls_reach_the_tool_of_their_name_with_its_hooks_and_approvals() -> None:
    hook = Seen()
    asks = toolset("home.doors", "search", confirm=ConfirmSpec(hint="Search?"))
    async with registered(
        toolset("home.lamps", "search"), asks, hooks=[hook], engine=InProcessEngine()
    ) as runtime:
        snapshot = await runtime.tools.snapshot()
        assert (await snapshot.call("lamps_search", {}, META)).result == "home.lamps.search"
        waiting = (await snapshot.call("doors_search", {}, META)).suspension
        assert waiting is not None
        assert waiting.tool == "home.doors.search"
        done = await snapshot.suspensions.answer(waiting.token, {"approved": True})
    assert (done.status, done.result) == ("ok", "home.doors.search")
    assert set(hook.seen) == {"home.doors.search"}


async def test_a_dynamic_tool_of_the_name_of_another_stays_an_error() -> None:
    runtime = registered(toolset("home.lamps", "search"))
    runtime.tools.add_toolset(toolset("home.doors", "search"))
    with pytest.raises(SnapshotError, match="wire name 'search'"):
        await runtime.tools.snapshot()
