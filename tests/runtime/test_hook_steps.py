"""Hooks that suspend, raise or change the arguments of a call: their time limits, and the call that waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from uuid import uuid4

import pytest
from pydantic import (
    AfterValidator,
    Field,
    PlainSerializer,
    PydanticDeprecatedSince20,
    field_validator,
    root_validator,
)

from gen.assistant.toolsets import devices
from tests.runtime.clock import HOUR, LoopClock
from tests.runtime.tools import META, SITE, TOOL, Listing, nothing, runtime, waiting
from toolgen.calls.functions.tools import function_toolset
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    Answer,
    Continue,
    Deny,
    Hook,
    Runtime,
    Scheduling,
    ToolContext,
    ToolModel,
    ToolOutcome,
    ToolResult,
    Verdict,
)
from toolgen.shapes.design.scalars import holds_scalars

STAGES: Final = ("before", "after")


class At(Hook):
    """Does one thing at one stage; gets the payload or the result."""

    def __init__(self, stage: str, does: Callable[[Any], Any]) -> None:
        self._stage, self._does = stage, does

    def before_tool(self, call: Any, payload: Any, ctx: Any) -> Any:
        return self._does(payload) if self._stage == "before" else passes(payload)

    def after_tool(self, call: Any, result: Any, ctx: Any) -> Any:
        return self._does(result) if self._stage == "after" else passes(result)


async def passes(subject: Any) -> Verdict:
    return Continue()


def listing(stage: str, does: Callable[[Any], Any], seconds: float | None = HOUR) -> tuple[Listing, Runtime]:
    executor = Listing()
    made = runtime(executor, hooks=[At(stage, does)], scheduling=Scheduling(stage_timeout_s=seconds))
    return executor, made


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("seconds", [None, HOUR])
@pytest.mark.parametrize("suspends", [0, 1, 2])
async def test_a_verdict_counts_whether_or_not_its_hook_suspends(
    stage: str, seconds: float | None, suspends: int
) -> None:
    verdicts: list[Verdict] = [Continue(), Deny(message="no"), Answer(result=nothing())]

    async def does(subject: Any) -> Verdict:
        for _ in range(suspends):
            await asyncio.sleep(0)
        return verdict

    for verdict in verdicts:
        executor, made = listing(stage, does, seconds)
        result = await made.call(TOOL, SITE, META)
        assert result.status == ("denied" if isinstance(verdict, Deny) else "ok")
        assert len(executor.calls) == (stage == "after" or isinstance(verdict, Continue))


class Waits:
    """An awaitable that is no coroutine."""

    def __await__(self) -> Generator[Any, None, Verdict]:
        yield from asyncio.sleep(0).__await__()
        return Deny(message="no")


@pytest.mark.parametrize("stage", STAGES)
async def test_a_hook_may_return_any_awaitable(stage: str) -> None:
    async def denies(subject: Any) -> Verdict:
        return Deny(message="no")

    for does in (lambda _: Waits(), lambda subject: asyncio.ensure_future(denies(subject))):
        _, made = listing(stage, does)
        assert (await made.call(TOOL, SITE, META)).status == "denied"


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("error", [ValueError, StopIteration, StopAsyncIteration, SystemExit, GeneratorExit])
async def test_what_a_hook_raises_before_or_after_it_suspends_fails_the_call(
    stage: str, error: type[BaseException]
) -> None:
    def at_once(subject: Any) -> Any:
        raise error

    async def in_first_step(subject: Any) -> Any:
        raise error

    async def later(subject: Any) -> Any:
        await asyncio.sleep(0)
        raise error

    for does in (at_once, in_first_step, later, lambda _: None):
        _, made = listing(stage, does)
        result = await made.call(TOOL, SITE, META)
        assert (result.status, result.error is not None and bool(result.error.correlation_id)) == (
            "error",
            True,
        )


class Hangs:
    """What a hook does that never ends by itself."""

    def __init__(self) -> None:
        self.began, self.has_ended = asyncio.Event(), False

    async def __call__(self, subject: Any) -> Any:
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.has_ended = True


@pytest.mark.parametrize("stage", STAGES)
async def test_a_hook_that_takes_too_long_is_cancelled_and_fails_the_call(stage: str) -> None:
    hangs = Hangs()
    executor, made = listing(stage, hangs)
    async with LoopClock() as clock:
        running = asyncio.create_task(made.call(TOOL, SITE, META))
        await hangs.began.wait()
        await clock.advance(HOUR)
        result = await running
    assert (result.status, hangs.has_ended, len(executor.calls)) == ("error", True, stage == "after")


@pytest.mark.parametrize("stage", STAGES)
async def test_a_hook_is_cancelled_with_its_call(stage: str) -> None:
    hangs = Hangs()
    executor, made = listing(stage, hangs)
    running = asyncio.create_task(made.call(TOOL, SITE, META))
    await hangs.began.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (hangs.has_ended, len(executor.calls)) == (True, stage == "after")


@pytest.mark.parametrize("stage", STAGES)
async def test_a_hook_without_a_time_limit_may_suspend_outside_of_a_task(stage: str) -> None:
    async def does(subject: Any) -> Verdict:
        await asyncio.sleep(0)
        return Deny(message="no")

    def drive() -> None:
        call = made.call(TOOL, SITE, META)
        call.send(None)
        try:
            call.send(None)
        except StopIteration as end:
            results.append(end.value)

    _, made = listing(stage, does, None)
    results: list[ToolResult] = []
    asyncio.get_running_loop().call_soon(drive)
    await asyncio.sleep(0)
    assert [result.status for result in results] == ["denied"]


class Noted(Continue):
    """A verdict of the host's own."""


@pytest.mark.parametrize("stage", STAGES)
async def test_a_verdict_of_the_hosts_own_class_counts_as_its_base(stage: str) -> None:
    async def does(subject: Any) -> Verdict:
        return Noted()

    executor, made = listing(stage, does)
    assert ((await made.call(TOOL, SITE, META)).status, len(executor.calls)) == ("ok", 1)


async def tag(names: list[str], ctx: ToolContext) -> str:
    """Tag devices."""
    return "done" if ctx.answer else ToolOutcome.ask("Which tag?")  # type: ignore[return-value]


async def move(room: str, floor: int | None = None, *, ctx: ToolContext) -> str:
    """Move a device."""
    return "done" if ctx.answer else ToolOutcome.ask("When?")  # type: ignore[return-value]


async def store(name: Annotated[str, Field(default_factory=lambda: uuid4().hex)], ctx: ToolContext) -> str:
    """Store under a name, by default under one of its own."""
    return ToolOutcome.ask(name)  # type: ignore[return-value]


def asking(does: Callable[[Any], Any], engine: InProcessEngine) -> Runtime:
    made = Runtime(hooks=[At("before", does)], engine=engine)
    made.tools.register(function_toolset("local.functions", [tag, move, store]))
    return made


async def test_a_call_that_waits_has_the_arguments_as_its_hooks_left_them(engine: InProcessEngine) -> None:
    async def adds(payload: Any) -> Verdict:
        if hasattr(payload, "names"):
            payload.names.append("lamp")
        return Continue()

    made = asking(adds, engine)
    tagged = await made.call("tag", b'{"names": ["blind"]}', META)
    assert waiting(tagged).arguments == {"names": ["blind", "lamp"]}
    moved = await made.call("move", b'{"room": "hall",\n "floor": null}', META)
    assert waiting(moved).arguments == {"room": "hall"}


async def test_a_call_that_waits_has_the_arguments_that_a_hook_gives_it(engine: InProcessEngine) -> None:
    async def moves(payload: Any) -> Verdict:
        return Continue(payload=payload.model_copy(update={"floor": 2}))

    moved = await asking(moves, engine).call("move", b'{"room": "hall"}', META)
    assert waiting(moved).arguments == {"room": "hall", "floor": 2}


async def test_a_payload_that_a_hook_puts_into_its_call_is_what_waits(engine: InProcessEngine) -> None:
    """Types forbid it, and nothing else does."""

    class Puts(Hook):
        async def before_tool(self, call: Any, payload: Any, ctx: Any) -> Verdict:
            call.payload = payload.model_copy(update={"floor": 2})
            return Continue()

    made = Runtime(hooks=[Puts()], engine=engine)
    made.tools.register(function_toolset("local.functions", [move]))
    moved = await made.call("move", b'{"room": "hall"}', META)
    assert waiting(moved).arguments == {"room": "hall", "floor": 2}


async def test_a_call_that_waits_has_the_default_that_its_executor_got(engine: InProcessEngine) -> None:
    stored = waiting(await asking(passes, engine).call("store", b"{}", META))
    assert stored.arguments == {"name": stored.question}


async def test_a_call_that_waits_has_its_arguments_though_somebody_changes_the_mapping(
    engine: InProcessEngine,
) -> None:
    async def changes(payload: Any) -> Verdict:
        given["room"] = "attic"
        return Continue()

    given = {"room": "hall"}
    assert waiting(await asking(changes, engine).call("move", given, META)).arguments == {"room": "hall"}


async def test_arguments_that_a_hook_has_spoilt_fail_the_call(engine: InProcessEngine) -> None:
    async def spoils(payload: Any) -> Verdict:
        payload.names.append(5)
        return Continue()

    result = await asking(spoils, engine).call("tag", b'{"names": ["blind"]}', META)
    assert result.status == "error"
    assert result.error is not None
    assert result.error.correlation_id


class Replacing(Hook):
    """Puts another payload into the call itself, which type checkers refuse."""

    async def before_tool(self, call: Any, payload: Any, ctx: ToolContext) -> Verdict:
        call.payload = {"room": "attic"}
        return Continue()


async def test_what_is_no_payload_does_not_reach_the_executor() -> None:
    executor = Listing()
    result = await runtime(executor, hooks=[Replacing()]).call(TOOL, SITE, META)
    assert (result.status, executor.calls) == ("error", [])


class Texts(ToolModel):
    text: str
    number: Annotated[int, Field(ge=1)] = 1
    choice: Literal["a", "b"] | None = None


class Listed(ToolModel):
    texts: list[str]


class Nested(ToolModel):
    texts: Texts


class Changeable(ToolModel, frozen=False):
    text: str


class Open(ToolModel, extra="allow"):
    text: str


class Converted(ToolModel):
    text: Annotated[str, AfterValidator(Path)]


class Validated(ToolModel):
    text: str

    @field_validator("text")
    @classmethod
    def validated(cls, value: str) -> Any:
        return [value]


with pytest.warns(PydanticDeprecatedSince20):

    class ValidatedAsInVersion1(ToolModel):
        text: str

        @root_validator(skip_on_failure=True)
        def validated(cls, values: dict[str, Any]) -> dict[str, Any]:
            return {"text": [values["text"]]}


class Serialized(ToolModel):
    text: Annotated[str, PlainSerializer(len)]


class Defaulted(ToolModel):
    text: str = Field(default_factory=list)  # type: ignore[assignment]  # what no validator checks


class ListedByDefault(ToolModel):
    text: str = [5]  # type: ignore[assignment]  # as above


@pytest.mark.parametrize(
    ("model", "holds"),
    [
        (Texts, True),
        (devices.ListDevicesPayload, True),
        (Listed, False),
        (Nested, False),
        (Changeable, False),
        (Open, False),
        (Converted, False),
        (Validated, False),
        (ValidatedAsInVersion1, False),
        (Serialized, False),
        (Defaulted, False),
        (ListedByDefault, False),
        (dict, False),
        (Texts | None, False),
    ],
)
def test_only_frozen_classes_of_scalars_cannot_be_changed(model: Any, holds: bool) -> None:
    assert holds_scalars(model) == holds
