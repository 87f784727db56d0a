"""Tools that are disabled while a runtime works: not advertised and not executed, in every process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.tools import META, SITE, Listing, runtime, spec, waiting
from tests.virtual_time import in_virtual_time
from toolgen.calls.errors import RegistrationError, UnknownToolError
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.state import Change, Scope
from toolgen.capabilities import DisabledTool, DisabledTools, MemoryStateStore, SqliteStateStore
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.runtime import (
    BoundTool,
    ConfirmSpec,
    Continue,
    Hook,
    ReadonlyContext,
    Runtime,
    ToolOutcome,
    ToolResult,
    ToolSpec,
)
from toolgen.runtime.functions import LongRunningSpec

TOOL = "assistant.devices.list_devices"
WHY = '{"error":"list_devices is disabled: the hub is on fire"}'
CONFIRMED = spec(confirm=ConfirmSpec(hint="List {site_id}?"))


class Clock:
    """Seconds since 1970, which a test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Counting(MemoryStateStore):
    """A store that counts how often it is read, and fails or hangs when a test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0
        self.is_away = False
        self.hangs = False

    async def load(self, scope: Scope, owner: str) -> dict[str, Json]:
        self.reads += 1
        if self.hangs:
            await asyncio.sleep(3_600)
        if self.is_away:
            raise OSError("the store is away")
        return await super().load(scope, owner)


def disabled(result: ToolResult) -> bool:
    """Return whether a call has ended because its tool is disabled."""
    hint = result.retry_hint
    return result.status == "error" and hint is not None and hint.reason == "tool_unavailable"


async def test_a_disabled_tool_is_not_executed_and_its_result_says_why() -> None:
    executor, store = Listing(), MemoryStateStore()
    async with runtime(executor, disabled=DisabledTools(store)) as made:
        assert await made.tools.disable("list_devices", "the hub is on fire", by="jo") == TOOL
        result = await made.call(TOOL, SITE, META)
        assert (result.status, result.json.decode()) == ("error", WHY)
        hint = result.retry_hint
        assert hint is not None
        assert (hint.reason, hint.tool) == ("tool_unavailable", TOOL)
        assert hint.message == "list_devices is disabled: the hub is on fire"
        assert not executor.calls
        assert await made.tools.enable("list_devices") == TOOL
        assert (await made.call(TOOL, SITE, META)).status == "ok"


async def test_nothing_of_a_disabled_call_reaches_hooks_or_its_arguments_are_looked_at() -> None:
    seen: list[str] = []

    class Watching(Hook):
        async def before_tool(self, call: Any, payload: Any, ctx: Any) -> Continue:
            seen.append(call.tool)
            return Continue()

    async with runtime(Listing(), disabled=DisabledTools(MemoryStateStore()), hooks=[Watching()]) as made:
        await made.tools.disable(TOOL)
        assert disabled(await made.call(TOOL, b"no JSON", META))
        assert not seen


async def test_a_disabled_tool_is_not_advertised_and_a_call_of_it_says_so() -> None:
    other = function_toolset("x.tools", [func_tool(_double, instructions="Double with double.")])
    made = Runtime(disabled=DisabledTools(MemoryStateStore()))
    made.tools.register(other)
    async with made:
        assert made.tools.may_change
        before = await made.tools.snapshot()
        await made.tools.disable("double")
        after = await made.tools.snapshot(previous=before)
        assert ([one.name for one in before.specs], after.specs) == (["double"], ())
        assert (len(before.declarations()), after.declarations()) == (1, [])
        assert (before.instructions, after.instructions) == ("Double with double.", "")
        assert after.of_toolset("x.tools").specs == ()
        for snapshot in (before, after):
            assert disabled(await snapshot.call("double", {"number": 2}))


async def test_another_process_sees_it_within_seconds_and_reads_no_store_for_each_call(
    tmp_path: Path,
) -> None:
    clock = Clock()
    file = tmp_path / "state.db"
    operator = runtime(Listing(), disabled=DisabledTools(SqliteStateStore(file)))
    async with runtime(Listing(), disabled=DisabledTools(SqliteStateStore(file), clock=clock)) as worker:
        assert (await worker.call(TOOL, SITE, META)).status == "ok"
        await operator.tools.disable(TOOL, "the hub is on fire")
        clock.now += 1.9
        assert (await worker.call(TOOL, SITE, META)).status == "ok"
        clock.now += 0.2
        assert disabled(await worker.call(TOOL, SITE, META))
        await operator.tools.enable(TOOL)
        clock.now += 2
        assert (await worker.call(TOOL, SITE, META)).status == "ok"


async def test_the_store_is_read_once_for_all_calls_of_some_seconds() -> None:
    clock, store = Clock(), Counting()
    async with runtime(Listing(), disabled=DisabledTools(store, clock=clock)) as made:
        await asyncio.gather(*(made.call(TOOL, SITE, META) for _ in range(50)))
        assert store.reads == 1
        clock.now += 2
        await asyncio.gather(*(made.call(TOOL, SITE, META) for _ in range(50)))
        assert store.reads == 2
        clock.now -= 100  # a clock that was put back does not hold up what comes next
        await made.call(TOOL, SITE, META)
        assert store.reads == 3


async def test_what_was_known_holds_while_the_store_is_away(caplog: pytest.LogCaptureFixture) -> None:
    clock, store = Clock(), Counting()
    caplog.set_level(logging.INFO, "toolgen.runtime")
    async with runtime(Listing(), disabled=DisabledTools(store, clock=clock)) as made:
        await made.tools.disable(TOOL, "why")
        assert disabled(await made.call(TOOL, SITE, META))
        store.is_away = True
        clock.now += 60
        assert disabled(await made.call(TOOL, SITE, META))
        store.is_away = False
        await made.tools.enable(TOOL)
        assert (await made.call(TOOL, SITE, META)).status == "ok"
    assert [record.getMessage() for record in caplog.records] == [
        f"{TOOL} is disabled: why",
        "the disabled tools could not be read, so the last known list is used: the store is away",
        f"{TOOL} is enabled again",
    ]


async def test_no_call_is_executed_before_the_store_was_read_once() -> None:
    clock, store = Clock(), Counting()
    store.is_away = True
    executor = Listing()
    async with runtime(executor, disabled=DisabledTools(store, clock=clock)) as made:
        result = await made.call(TOOL, SITE, META)
        assert disabled(result)
        assert b"the disabled tools could not be read" in result.json
        assert len((await made.tools.snapshot()).specs) == 1
        store.is_away = False
        clock.now += 2
        assert (await made.call(TOOL, SITE, META)).status == "ok"
    assert len(executor.calls) == 1


@in_virtual_time
async def test_a_store_that_hangs_holds_a_call_up_for_a_second_and_no_longer() -> None:
    clock, store = Clock(), Counting()
    loop = asyncio.get_running_loop()
    made = runtime(Listing(), disabled=DisabledTools(store, clock=clock))
    await made.call(TOOL, SITE, META)
    store.hangs = True
    clock.now += 2
    began = loop.time()
    assert (await made.call(TOOL, SITE, META)).status == "ok"
    assert (await made.call(TOOL, SITE, META)).status == "ok"
    assert loop.time() - began == pytest.approx(1)


@pytest.mark.parametrize("value", ["text", None, {"reason": 3}, {}])
async def test_a_record_of_something_else_disables_the_tool_all_the_same(value: Json) -> None:
    store = MemoryStateStore()
    await store.apply("app", "toolgen.disabled_tools", [Change(key=TOOL, operation="set", value=value)])
    made = runtime(Listing(), disabled=DisabledTools(store))
    result = await made.call(TOOL, SITE, META)
    assert result.json == b'{"error":"list_devices is disabled"}'


async def test_who_disabled_what_and_when_is_kept() -> None:
    made = runtime(Listing(), disabled=DisabledTools(MemoryStateStore(), clock=Clock()))
    await made.tools.disable(TOOL, "why", by="jo")
    assert await made.tools.disabled() == (DisabledTool(tool=TOOL, reason="why", by="jo", since=1_000.0),)


async def test_an_unknown_tool_is_refused_with_close_names() -> None:
    made = runtime(Listing(), disabled=DisabledTools(MemoryStateStore()))
    for change in (made.tools.disable, made.tools.enable):
        with pytest.raises(UnknownToolError, match=r"no tool 'list_device'; similar names: list_devices"):
            await change("list_device")
    assert await made.tools.disabled() == ()


async def test_a_tool_that_is_gone_is_enabled_by_its_id() -> None:
    store = MemoryStateStore()
    await DisabledTools(store).disable("x.gone.away")
    made = runtime(Listing(), disabled=DisabledTools(store))
    assert await made.tools.enable("x.gone.away") == "x.gone.away"
    assert await made.tools.disabled() == ()


async def test_a_runtime_without_a_store_says_what_it_needs() -> None:
    made = runtime(Listing())
    assert made.tools.disabled_store is None
    with pytest.raises(RegistrationError, match="has no store for disabled tools"):
        await made.tools.disable(TOOL)


def _double(number: int) -> int:
    """Double a number."""
    return 2 * number


_double.__name__ = "double"


class Lamps:
    """A dynamic toolset, which may be broken."""

    name = "x.lamps"

    def __init__(self, is_broken: bool = False) -> None:
        self.is_broken = is_broken

    async def tools(self, context: ReadonlyContext) -> Sequence[BoundTool]:
        if self.is_broken:
            raise OSError("no line")
        return [func_tool(_double, toolset=self.name)]


async def test_a_tool_of_a_dynamic_toolset_is_found_in_its_list() -> None:
    made = runtime(Listing(), disabled=DisabledTools(MemoryStateStore()))
    made.tools.add_toolset(Lamps())
    async with made:
        assert await made.tools.disable("double") == "x.lamps.double"
        snapshot = await made.tools.snapshot()
        assert [one.name for one in snapshot.specs] == ["list_devices"]
        assert disabled(await snapshot.call("double", {"number": 2}))
        with pytest.raises(UnknownToolError, match="similar names: double"):
            await made.tools.disable("doubel")


async def test_a_toolset_that_cannot_be_listed_does_not_hold_up_the_others() -> None:
    made = runtime(Listing(), disabled=DisabledTools(MemoryStateStore()))
    made.tools.add_toolset(Lamps(is_broken=True))
    async with made:
        assert await made.tools.disable(TOOL) == TOOL
        with pytest.raises(RegistrationError, match=r"'x\.lamps' cannot list its tools"):
            await made.tools.disable("double")


async def asked(made: Runtime) -> str:
    return waiting(await made.call(TOOL, SITE, META)).token


async def test_an_approved_call_of_a_tool_that_was_disabled_meanwhile_is_not_executed(
    engine: InProcessEngine,
) -> None:
    executor, events = Listing(), Events()
    switch = DisabledTools(MemoryStateStore())
    async with runtime(executor, CONFIRMED, engine=engine, disabled=switch, events=events) as made:
        token = await asked(made)
        await made.tools.disable(TOOL, "the hub is on fire")
        async with events.subscribe() as told:
            result = await made.suspensions.answer(token, {"approved": True}, by="jo")
            assert (result.status, result.json.decode()) == ("error", WHY)
            again = await made.suspensions.answer(token, {"approved": True}, by="jo")
            assert (again.status, again.json.decode()) == ("error", WHY)
            seen = [
                (
                    one.type,
                    getattr(one, "decision", ""),
                    getattr(one, "decided_by", ""),
                    getattr(one, "reason", ""),
                )
                for one in await told.batch()
            ]
        assert seen == [
            ("tool_authorization", "approved", "person", ""),
            ("tool_authorization", "denied", "runtime", "list_devices is disabled: the hub is on fire"),
            ("tool_end", "", "", ""),
        ]
        await made.tools.enable(TOOL)
        assert not await made.suspensions.list()
        assert not executor.calls


async def test_a_denial_and_the_result_of_work_elsewhere_count_although_the_tool_is_disabled(
    engine: InProcessEngine,
) -> None:
    async def works(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.pending("job-1")

    working: ToolSpec[Any, Any] = spec(long_running=LongRunningSpec())
    switch = DisabledTools(MemoryStateStore())
    async with runtime(Listing(works), working, engine=engine, disabled=switch) as made:
        token = await asked(made)
        await made.tools.disable(TOOL)
        result = await made.suspensions.answer(token, {"devices": [], "returned": 0, "truncated": False})
        assert result.status == "ok"
