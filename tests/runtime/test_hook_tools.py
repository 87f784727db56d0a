"""A hook that names a tool which is not there would never run: the runtime does not serve with one."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.agents.tools import agent, calling, running
from tests.runtime.test_hooks import Says, named
from tests.runtime.tools import META, SITE, Listing, runtime
from toolgen.agents import FinalResponse, ScriptedPlanner, agents_of
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    BoundTool,
    CallMeta,
    ReadonlyContext,
    RegistrationError,
    Runtime,
    SnapshotError,
    StaticToolset,
    ToolCall,
)
from toolgen.runtime.views import filter_toolset

TOOL = "assistant.devices.list_devices"


def guard(*tools: str) -> Says:
    """Return a hook for the tools of these ids."""
    hook = Says()
    hook.tools = frozenset(tools)  # type: ignore[misc]  # as a host may give it
    return hook


async def test_a_hook_with_a_misspelt_id_serves_no_call() -> None:
    executor = Listing()
    made = runtime(executor, hooks=[guard("assistant.devices.list_device")])
    with pytest.raises(RegistrationError, match=re.escape("did you mean 'assistant.devices.list_devices'")):
        await made.call(TOOL, SITE, META)
    with pytest.raises(RegistrationError):
        await made.call_all([ToolCall(tool=TOOL, payload_json=SITE, meta=META)])
    with pytest.raises(RegistrationError):
        await made.tools.snapshot()
    with pytest.raises(RegistrationError, match="which does not exist"):
        async with made:
            pass
    assert executor.calls == []


async def test_a_hook_with_a_wire_name_is_told_the_id() -> None:
    with pytest.raises(RegistrationError, match=re.escape("did you mean 'assistant.devices.list_devices'")):
        await runtime(Listing(), hooks=[guard("list_devices")]).call(TOOL, SITE, META)


async def test_a_hook_may_name_what_is_registered_after_the_runtime_was_opened() -> None:
    hook = guard("x.tools.add")
    planner = ScriptedPlanner([calling(("add", {"a": 1, "b": 2})), FinalResponse(text="3")])
    async with running(agent("x.agent", planner), hooks=[hook]) as (made, _):
        output = await agents_of(made).client("x.agent").one_shot("Add.")
    assert (output.text, hook.heard) == ("3", ["before", "after"])


async def test_a_run_with_a_misspelt_hook_does_not_start() -> None:
    planner = ScriptedPlanner(["done"])
    made = Runtime(engine=InProcessEngine(), hooks=[guard("x.tools.ad")])
    agents_of(made).register(agent("x.agent", planner))
    with pytest.raises(RegistrationError, match=re.escape("did you mean 'x.tools.add'")):
        await agents_of(made).client("x.agent").start("Add.", session_id="s")
    assert await agents_of(made).sessions.list() == ()
    await made.aclose()


class Desk:
    """A toolset whose tools depend on the session."""

    name = "hall.desk"

    def __init__(self, **tools: str) -> None:
        self._tools = tools

    async def tools(self, context: ReadonlyContext) -> list[BoundTool]:
        listed = self._tools.get(context.meta.session_id, "").split()
        return [named(f"hall.desk.{one}") for one in listed]


def of(session_id: str) -> ReadonlyContext:
    return ReadonlyContext(meta=CallMeta(session_id=session_id))


async def test_a_hook_names_a_tool_that_its_toolset_lists() -> None:
    hook = guard("hall.desk.wipe")
    made = Runtime(hooks=[hook])
    made.tools.add_toolset(Desk(admin="read wipe", nobody=""))
    assert (await made.tools.snapshot(of("nobody"))).specs == ()  # nothing is there to be guarded
    snapshot = await made.tools.snapshot(of("admin"))
    assert (await snapshot.call("hall.desk.wipe", SITE, META)).status == "ok"
    assert hook.heard == ["before", "after"]


async def test_a_misspelt_id_of_a_dynamic_toolset_is_refused_when_it_lists_its_tools() -> None:
    made = Runtime(hooks=[guard("hall.desk.wip")])
    made.tools.add_toolset(Desk(admin="read wipe"))
    with pytest.raises(
        SnapshotError,
        match=re.escape("names the tool 'hall.desk.wip', which toolset 'hall.desk' does not list"),
    ):
        await made.tools.snapshot(of("admin"))


async def test_an_id_of_no_toolset_at_all_is_refused_at_once() -> None:
    made = Runtime(hooks=[guard("hall.dsk.wipe")])
    made.tools.add_toolset(Desk(admin="read wipe"))
    with pytest.raises(RegistrationError, match="which does not exist"):
        await made.tools.snapshot(of("admin"))


async def test_a_toolset_may_say_what_it_may_list() -> None:
    class Told(Desk):
        tool_ids = frozenset({"hall.desk.read", "hall.desk.wipe"})

    made = Runtime(hooks=[guard("hall.desk.wipe")])
    made.tools.add_toolset(Told(guest="read", admin="read wipe"))
    assert len((await made.tools.snapshot(of("guest"))).specs) == 1
    misspelt = Runtime(hooks=[guard("hall.desk.wip")])
    misspelt.tools.add_toolset(Told(guest="read"))
    with pytest.raises(RegistrationError, match=re.escape("did you mean 'hall.desk.wipe'")):
        await misspelt.tools.snapshot(of("guest"))


async def test_a_view_of_tools_that_are_known_may_leave_some_out() -> None:
    known = StaticToolset(name="hall.desk", bound=(named("hall.desk.read"), named("hall.desk.wipe")))
    made = Runtime(hooks=[guard("hall.desk.wipe")])
    made.tools.add_toolset(filter_toolset(known, lambda tool, context: tool.id.endswith("read")))
    assert len((await made.tools.snapshot(of("guest"))).specs) == 1


@pytest.mark.parametrize("tools", [(), "hall.desk.wipe", ["hall.desk.wipe"], {1}])
def test_what_names_no_tools_is_refused(tools: Any) -> None:
    hook = Says()
    hook.tools = frozenset() if tools == () else tools  # type: ignore[misc]  # as a host may give it
    with pytest.raises(RegistrationError, match="not a frozenset of tool ids"):
        Runtime(hooks=[hook])
