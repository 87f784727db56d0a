"""Which form of a method gets which context, and which is refused."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.clock import HOUR
from tests.runtime.tools import META, SITE, Listing, nothing, runtime, spec
from toolgen.calls.functions.tools import function_toolset
from toolgen.capabilities import MemoryStateStore, StateCapability
from toolgen.runtime import (
    BoundTool,
    RegistrationError,
    Runtime,
    Scheduling,
    SyncToolContext,
    ToolContext,
    ToolsetRegistration,
)

TOOL = "assistant.devices.list_devices"


def logged(function: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Coroutine[Any, Any, Any]]:
    """Wrap an asynchronous function in one that is not."""

    @functools.wraps(function)
    def wrapper(*arguments: Any, **named: Any) -> Coroutine[Any, Any, Any]:
        return function(*arguments, **named)

    return wrapper


@pytest.mark.parametrize("seconds", [None, HOUR])
async def test_a_function_that_wraps_an_asynchronous_one_gets_its_context(seconds: float | None) -> None:
    @logged
    async def visit(ctx: ToolContext) -> int:
        """Count."""
        ctx.state.add("visits", 1)
        visits = await ctx.state.get("visits")
        assert isinstance(visits, int)
        return visits

    host = Runtime(
        capabilities=[StateCapability(MemoryStateStore())], scheduling=Scheduling(tool_timeout_s=seconds)
    )
    host.tools.register(function_toolset("x.tools", [visit]))
    assert [(await host.call("visit", {}, META)).result for _ in range(2)] == [1, 2]


class WrongSync:
    def list_devices(self, payload: Any, ctx: ToolContext) -> Any: ...


class WrongAsync:
    async def list_devices(self, payload: Any, ctx: "SyncToolContext") -> Any: ...  # noqa: UP037  # as text


class WrongObject:
    class Call:
        def __call__(self, payload: Any, ctx: ToolContext) -> Any: ...

    list_devices = Call()


class Lonely:
    async def list_devices(self, payload: Any) -> Any: ...


class WithMore:
    async def list_devices(self, payload: Any, ctx: Any, *, session_id: str) -> Any: ...


@pytest.mark.parametrize(
    ("executor", "message"),
    [
        (
            WrongSync(),
            r"test_methods\.py:\d+: WrongSync\.list_devices is synchronous, .* write `ctx: Sync",
        ),
        (WrongAsync(), r"WrongAsync\.list_devices is asynchronous, .* write `ctx: ToolContext`, or `def`"),
        (WrongObject(), r"WrongObject\.list_devices is synchronous"),
        (
            Lonely(),
            r"test_methods\.py:\d+: Lonely\.list_devices cannot be called with \(payload, ctx\); "
            r"write `async def list_devices\(self, payload, ctx\)`",
        ),
        (WithMore(), r"WithMore\.list_devices cannot be called with \(payload, ctx\)"),
    ],
)
async def test_a_method_that_cannot_be_called_is_refused(executor: object, message: str) -> None:
    registration = ToolsetRegistration(name="assistant.devices", specs=[spec()], executor=executor)
    with pytest.raises(RegistrationError, match=message):
        Runtime().tools.register(registration)


class Injecting:
    """What a decorator makes that gives more arguments; it shows the code of the function, as wrapt does."""

    def __init__(self, function: Callable[..., Coroutine[Any, Any, Any]]) -> None:
        self.__code__ = function.__code__
        self.function = function

    def __get__(self, instance: object, owner: type) -> Injecting:
        return self

    async def __call__(self, payload: Any, ctx: Any) -> Any:
        return await self.function(payload, ctx, nothing())


async def test_an_object_that_shows_the_code_of_a_function_is_called_as_itself() -> None:
    class Listed:
        @Injecting
        async def list_devices(payload: Any, ctx: Any, listing: Any) -> Any:
            return listing

    assert (await runtime(Listed()).call(TOOL, SITE, META)).status == "ok"


async def test_a_method_is_missing_in_a_file_that_is_being_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "edited.py"
    file.write_text("class Devices:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    executor = import_module("edited").Devices()
    file.write_text("class Devices:\n    async def list_dev(\n")
    with pytest.raises(RegistrationError, match=r"Devices\.list_devices is missing"):
        runtime(executor)


async def test_a_bound_tool_with_the_context_of_the_other_form_is_refused() -> None:
    class Dynamic:
        name = "assistant.devices"

        async def tools(self, context: Any) -> Any:
            return [BoundTool(spec=spec(), execute=WrongSync().list_devices)]

    host = Runtime()
    host.tools.add_toolset(Dynamic())
    with pytest.raises(RegistrationError, match="list_devices is synchronous"):
        await host.tools.snapshot()


async def test_a_method_that_says_nothing_gets_the_right_context() -> None:
    class Silent:
        def list_devices(self, payload, ctx):  # type: ignore[no-untyped-def]  # that is what is tested
            seen.append(type(ctx))
            return nothing()

    class Both:
        def list_devices(self, payload: Any, ctx: ToolContext | SyncToolContext) -> Any:
            seen.append(type(ctx))
            return nothing()

    async def waits(payload: Any, ctx: Any) -> Any:
        seen.append(type(ctx))
        return nothing()

    seen: list[type] = []
    for executor in (Silent(), Both(), Listing(waits)):
        assert (await runtime(executor).call(TOOL, SITE, META)).status == "ok"
    assert seen == [SyncToolContext, SyncToolContext, ToolContext]
