"""What a dynamic toolset reads of the state: that of the call for which it lists its tools."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.agents.tools import calling, first_answer, ran
from tests.runtime.clock import HOUR, LoopClock
from toolgen.agents import ScriptedPlanner
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.state import Scope
from toolgen.calls.toolsets.dynamic import OnError
from toolgen.capabilities import (
    Change,
    MemoryStateStore,
    SqliteStateStore,
    StateCapability,
    StateStore,
)
from toolgen.runtime import BoundTool, CallMeta, ReadonlyContext, Runtime, SnapshotError, ToolContext
from toolgen.runtime.views import filter_toolset

ANN = CallMeta(session_id="s", turn_id="t", labels={"user": "ann"})


async def sign_in(name: str, ctx: ToolContext) -> str:
    """Sign in."""
    ctx.state.set("user:name", name)
    return "welcome"


async def greet() -> str:
    """Greet whoever is signed in."""
    return "hello"


class Members:
    """Has a tool for those who are signed in."""

    name = "x.members"

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []

    async def tools(self, context: ReadonlyContext) -> Sequence[BoundTool]:
        self.seen.append(dict(context.state))
        return [func_tool(greet)] if context.state.get("user:name") else []


@pytest.fixture(params=["memory", "sqlite"])
def states(request: pytest.FixtureRequest, tmp_path: Path) -> StateStore:
    return MemoryStateStore() if request.param == "memory" else SqliteStateStore(tmp_path / "state.db")


async def fill(states: StateStore) -> None:
    owners: dict[Scope, tuple[str, ...]] = {"app": ("app",), "user": ("ann", "bob"), "session": ("s", "z")}
    for scope, names in owners.items():
        for owner in names:
            change = Change(key="x", operation="set", value=f"{scope} of {owner}")
            await states.apply(scope, owner, [change])


async def test_a_run_offers_a_tool_to_who_has_signed_in(states: StateStore) -> None:
    members = Members()
    planner = ScriptedPlanner([calling(("sign_in", {"name": "Ann"})), calling("greet"), first_answer])
    found = await ran(
        planner,
        toolsets=(function_toolset("x.door", [sign_in]),),
        dynamic=(members,),
        options={"capabilities": [StateCapability(states)]},
        labels={"user": "ann"},
    )
    assert found.output.text == '"hello"'
    offered = [[spec.name for spec in given.tools] for given in planner.inputs]
    assert offered == [["sign_in"], ["sign_in", "greet"], ["sign_in", "greet"]]
    assert members.seen == [{}, {"user:name": "Ann"}, {"user:name": "Ann"}]


async def test_a_snapshot_reads_the_state_of_its_meta(states: StateStore) -> None:
    await fill(states)
    members = Members()
    host = Runtime(capabilities=[StateCapability(states)])
    host.tools.add_toolset(members)
    for meta in (ANN, CallMeta(session_id="z"), CallMeta()):
        await host.tools.snapshot(ReadonlyContext(meta=meta))
    assert members.seen == [
        {"app:x": "app of app", "user:x": "user of ann", "x": "session of s"},
        {"app:x": "app of app", "x": "session of z"},
        {"app:x": "app of app"},
    ]


async def test_what_the_host_says_itself_goes_before_it(states: StateStore) -> None:
    await fill(states)
    members = Members()
    host = Runtime(capabilities=[StateCapability(states)])
    host.tools.add_toolset(members)
    await host.tools.snapshot(ReadonlyContext(meta=ANN, state={"x": "mine", "user:name": "Ann"}))
    assert members.seen == [{"app:x": "app of app", "user:x": "user of ann", "x": "mine", "user:name": "Ann"}]


async def test_no_key_of_a_session_passes_for_one_of_another_scope(states: StateStore) -> None:
    async def names(ctx: ToolContext) -> None:
        """Set."""
        ctx.state.set("session:user:name", "root")
        ctx.state.set("temp:step", 1)

    members = Members()
    host = Runtime(capabilities=[StateCapability(states)])
    host.tools.register(function_toolset("x.tools", [names]))
    host.tools.add_toolset(members)
    await host.call("names", {}, ANN)
    assert (await host.tools.snapshot(ReadonlyContext(meta=ANN))).specs[1:] == ()
    assert members.seen == [{"session:user:name": "root", "temp:step": 1}]


async def test_filters_see_it_too(states: StateStore) -> None:
    await states.apply("user", "ann", [Change(key="name", operation="set", value="Ann")])
    host = Runtime(capabilities=[StateCapability(states)])
    everything = function_toolset("x.tools", [greet])
    host.tools.add_toolset(filter_toolset(everything, lambda spec, context: "user:name" in context.state))
    assert len((await host.tools.snapshot(ReadonlyContext(meta=ANN))).specs) == 1
    assert (await host.tools.snapshot(ReadonlyContext(meta=CallMeta(session_id="s")))).specs == ()


class Broken(MemoryStateStore):
    async def load_each(self, places: Any) -> Any:
        raise SystemExit("the secret place")


@pytest.mark.parametrize("on_error", ["fail", "drop"])
async def test_a_state_that_cannot_be_read_is_a_list_that_cannot(on_error: OnError) -> None:
    host = Runtime(capabilities=[StateCapability(Broken())])
    host.tools.add_toolset(Members(), on_error=on_error)
    if on_error == "fail":
        with pytest.raises(SnapshotError, match=r"toolset 'x\.members' cannot list its tools"):
            await host.tools.snapshot()
    else:
        snapshot = await host.tools.snapshot()
        assert [*snapshot.dropped] == ["x.members"]
        assert "secret" not in str(snapshot.dropped)


async def test_a_state_that_hangs_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    class Hanging(MemoryStateStore):
        async def load_each(self, places: Any) -> Any:
            asked.set()
            await asyncio.Event().wait()

    caplog.set_level(logging.CRITICAL)
    asked = asyncio.Event()
    host = Runtime(capabilities=[StateCapability(Hanging())])
    host.tools.add_toolset(Members(), timeout=HOUR)
    async with LoopClock() as clock:
        listing = asyncio.create_task(host.tools.snapshot())
        await asked.wait()
        await clock.advance(HOUR)
        with pytest.raises(SnapshotError, match="it timed out"):
            await listing


async def test_static_toolsets_cost_no_reading() -> None:
    host = Runtime(capabilities=[StateCapability(Broken())])
    host.tools.register(function_toolset("x.tools", [greet]))
    assert len((await host.tools.snapshot()).specs) == 1
