"""A list of tools that stays as it was is registered once, through views too; counted, not timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.selection import diagonal
from toolgen.calls.toolsets import dynamic
from toolgen.calls.toolsets.dynamic import ListedTools
from toolgen.calls.toolsets.registration import registered_bound_tools
from toolgen.runtime import (
    BoundTool,
    CallMeta,
    DynamicToolset,
    ReadonlyContext,
    Runtime,
    StaticToolset,
    views,
)
from toolgen.runtime.functions import func_tool
from toolgen.runtime.views import allow_tools, filter_toolset, prefixed, with_confirmation

VIEWS: dict[str, Callable[[Any], DynamicToolset]] = {
    "none": lambda toolset: toolset,
    "prefixed": lambda toolset: prefixed(toolset, "x_"),
    "filtered": lambda toolset: filter_toolset(toolset, lambda spec, _: True),
    "allowed": lambda toolset: allow_tools(toolset, "t0"),
    "confirmed": with_confirmation,
    "all": lambda toolset: prefixed(filter_toolset(with_confirmation(toolset), lambda spec, _: True), "x_"),
}


async def work(a: int) -> int:
    return a


def tools(number: int) -> tuple[BoundTool, ...]:
    tool = func_tool(work, toolset="x.many")
    specs = (replace(tool.spec, id=f"x.many.t{n}", name=f"t{n}") for n in range(number))
    return tuple(replace(tool, spec=spec) for spec in specs)


class Listing:
    """Lists the same tools until it is told others."""

    name = "x.many"

    def __init__(self, number: int) -> None:
        self.listed = ListedTools(tools(number), {"x.many.bad": "it is bad"})

    async def tools(self, context: ReadonlyContext) -> ListedTools:
        return self.listed


class Counted:
    """How many tools were registered, and how many copies of tools were made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.registered = self.copied = 0

        def registering(name: str, bound: Any, options: Any) -> Any:
            self.registered += len(bound)
            return registered_bound_tools(name, bound, options)

        def copying(*args: Any, **changes: Any) -> Any:
            self.copied += 1
            return replace(*args, **changes)

        monkeypatch.setattr(dynamic, "registered_bound_tools", registering)
        monkeypatch.setattr(views, "replace", copying)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(monkeypatch)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("is_static", "number"), diagonal([False, True], [1, 1_000]))
@pytest.mark.parametrize("view", VIEWS)
async def test_an_unchanged_list_is_registered_once(
    view: str, number: int, is_static: bool, counted: Counted
) -> None:
    bare = StaticToolset(name="x.many", bound=tools(number)) if is_static else Listing(number)
    runtime = Runtime()
    runtime.tools.add_toolset(VIEWS[view](bare))
    first = await runtime.tools.snapshot()
    listed = 1 if view == "allowed" else number
    assert len(first.specs) == counted.registered == listed
    copied = counted.copied
    for _ in range(3):
        again = await runtime.tools.snapshot()
        assert again.specs == first.specs
        assert again.left_out == first.left_out
    assert (counted.registered, counted.copied) == (listed, copied)
    if isinstance(bare, Listing):
        assert first.left_out == {"x.many.bad": "it is bad"}
        bare.listed = ListedTools(tools(number + 1), {})
        assert len((await runtime.tools.snapshot()).specs) == (1 if view == "allowed" else number + 1)


async def test_a_predicate_chooses_anew_for_each_request(counted: Counted) -> None:
    asked = []

    async def may(spec: Any, context: ReadonlyContext) -> bool:
        asked.append(spec.name)
        return spec.name in context.meta.labels

    runtime = Runtime()
    runtime.tools.add_toolset(filter_toolset(Listing(3), may))
    for name in ("t0", "t2"):
        for _ in range(3):
            snapshot = await runtime.tools.snapshot(ReadonlyContext(meta=CallMeta(labels={name: ""})))
            assert [spec.name for spec in snapshot.specs] == [name]
    assert len(asked) == 2 * 3 * 3
    assert counted.registered == 2
