"""Sequential tools: whose calls take turns, and what ends calls that wait for each other."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from tests.runtime.crowds import HOUR, Crowd, calls_of, is_idle, serving, statuses
from toolgen.calls.functions.tools import func_tool
from toolgen.runtime import CallMeta, DeadlockError, RegistrationError, Runtime, StaticToolset

pytestmark = pytest.mark.asyncio(loop_factories=["virtual"])


async def test_a_sequential_tool_may_call_itself_and_others() -> None:
    """One at a time among its own calls, too."""
    crowd = Crowd()

    async def alone() -> None:
        """Stay alone."""
        await crowd.stay()

    async def first() -> str:
        """Call the others."""
        return str(statuses(await host.call_all(calls_of("alone", 3))))

    host = serving(alone, first, sequential="alone first")
    async with asyncio.timeout(HOUR):
        results = await host.call_all([*calls_of("first", 2), *calls_of("alone", 2)])
    assert [result.result for result in results] == ["Counter({'ok': 3})"] * 2 + [None] * 2
    assert crowd.most == 1
    assert is_idle(host)


async def test_sequential_calls_take_turns_by_runs_too() -> None:
    order = list[str]()

    async def say(who: str) -> None:
        """Say who calls."""
        order.append(who)
        await asyncio.sleep(0)

    host = serving(say, sequential="say")
    many = [host.call("say", {"who": "many"}, CallMeta(run_id="many")) for _ in range(500)]
    few = [host.call("say", {"who": "few"}, CallMeta(run_id="few")) for _ in range(5)]
    await asyncio.gather(*many, *few)
    assert order[1:11].count("few") == 5


# What sequential calls have in common.


@pytest.mark.parametrize(
    ("by", "metas", "most"),
    [
        ("", [CallMeta(session_id="a"), CallMeta(session_id="b")], 1),
        ("session", [CallMeta(session_id="a"), CallMeta(session_id="b")], 2),
        ("session", [CallMeta(run_id="1"), CallMeta(run_id="2"), CallMeta()], 3),
        ("device", [CallMeta(session_id="a"), CallMeta(session_id="b")], 3),
    ],
)
async def test_sequential_calls_take_turns_with_those_of_the_same(
    by: str, metas: list[CallMeta], most: int
) -> None:
    together, by_device, others = Crowd(), {name: Crowd() for name in "xyz"}, Crowd()

    async def restart(device: str = "x") -> None:
        """Restart a device."""
        await asyncio.gather(together.stay(), by_device[device].stay())

    async def update(device: str = "x") -> None:
        """Update a device."""
        await restart(device)

    async def elsewhere(device: str = "x") -> None:
        """Be of another toolset, and on its own."""
        await others.stay()

    host, facts = Runtime(), {"is_sequential": True, "sequential_by": by}
    for name, functions in (("x.tools", (restart, update)), ("x.others", (elsewhere,))):
        tools = tuple(func_tool(one, toolset=name, **facts) for one in functions)  # type: ignore[arg-type]
        host.tools.register(StaticToolset(name=name, bound=tools))
    calls = [
        host.call(tool, {"device": device}, meta)
        for meta in metas
        for device in "xyz"
        for tool in ("restart", "update", "elsewhere")
    ]
    await asyncio.gather(*calls, host.call("restart", {}, metas[0]))
    assert together.most == most
    if by == "device":
        assert {crowd.most for crowd in by_device.values()} == {1}
        assert others.most == 3
    assert is_idle(host)


async def test_two_runs_that_wait_for_each_other_end_with_the_names_of_both_tools() -> None:
    async def lock(device: str, then: str = "") -> str:
        """Lock a device, and another."""
        await asyncio.sleep(1)
        return await next_of(then)

    async def hold(device: str, then: str = "") -> str:
        """Hold a device, and another."""
        await asyncio.sleep(1)
        return await next_of(then)

    async def next_of(device: str) -> str:
        result = await host.call("lock" if device == "a" else "hold", {"device": device}) if device else None
        return str(result and result.error)

    host = Runtime()
    tools = [
        func_tool(one, toolset="x.tools", is_sequential=True, sequential_by="device") for one in (lock, hold)
    ]
    host.tools.register(StaticToolset(name="x.tools", bound=tuple(tools)))
    async with asyncio.timeout(HOUR):
        first, second = await asyncio.gather(
            host.call("lock", {"device": "a", "then": "b"}, CallMeta(run_id="1")),
            host.call("hold", {"device": "b", "then": "a"}, CallMeta(run_id="2")),
        )
    refused = (
        "lock was not run: deadlock: it would wait for x.tools.lock, "
        "which waits for x.tools.hold, which waits for x.tools.lock"
    )
    assert {first.result, second.result} == {"None", refused}
    assert is_idle(host)


async def test_a_call_that_would_close_a_circle_may_be_made_again() -> None:
    async def lock(device: str, then: str = "") -> str:
        """Lock a device, and another."""
        await asyncio.sleep(1)
        if not then:
            return "done"
        result = await host.call("lock", {"device": then})
        assert result.error is None or isinstance(result.error, DeadlockError)
        return str(result.result or result.json)

    host = Runtime()
    tool = func_tool(lock, toolset="x.tools", is_sequential=True, sequential_by="device")
    host.tools.register(StaticToolset(name="x.tools", bound=(tool,)))
    pairs = [("a", "b"), ("b", "c"), ("c", "a")]
    results = await asyncio.gather(*(host.call("lock", {"device": one, "then": two}) for one, two in pairs))
    said = Counter(str(result.result) for result in results)
    assert said["done"] == 2
    assert sum(count for text, count in said.items() if '"code":"deadlock","retryable":true' in text) == 1
    assert is_idle(host)


async def test_what_sequential_calls_have_in_common_is_an_argument() -> None:
    for by, is_sequential in (("gone", True), ("device", False)):
        tool = func_tool(found, toolset="x.tools", is_sequential=is_sequential, sequential_by=by)
        with pytest.raises(RegistrationError, match="sequential"):
            Runtime().tools.register(StaticToolset(name="x.tools", bound=(tool,)))


async def found(device: str) -> str:
    """Find a device."""
    return device
