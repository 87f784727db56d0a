"""What a person said reaches the executor as the type that was asked for, or ends the call."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, Literal, TypedDict

import pytest
from pydantic import BaseModel, Field

from tests.agents.tools import agent, answers, calling, running
from tests.cases.behaviour.gen.home.toolsets import devices
from tests.runtime.tools import META, waiting
from tests.selection import first
from toolgen.agents import ScriptedPlanner, agents_of
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    BoundTool,
    ConfirmSpec,
    Runtime,
    StaticToolset,
    ToolContext,
    ToolOutcome,
    Unfinished,
)
from toolgen.waiting.errors import BadAnswerError


class Floor(Enum):
    GROUND = "ground"
    FIRST = "first"


class Address(BaseModel):
    """Where a parcel goes."""

    city: str = Field(description="Town.", min_length=2, pattern="^[A-Z]")
    floor: Floor = Floor.GROUND
    note: str | None = None
    on: dt.date | None = None
    parcels: int = Field(default=2, gt=0, multiple_of=2)
    kind: Literal["gift", "order"] = "order"


@dataclass
class Size:
    width: int
    unit: str = "cm"


class Colour(TypedDict):
    name: str


def resetting(confirm: ConfirmSpec | None = None) -> tuple[BoundTool, list[Any]]:
    """Return a generated tool whose approval may add something, and what its executor heard."""
    heard: list[Any] = []

    async def reset(payload: devices.ResetDevicePayload, ctx: ToolContext) -> devices.ResetDeviceResult:
        heard.append(ctx.answered(devices.ResetDeviceApproval))
        return devices.ResetDeviceResult(done=True)

    facts = {"needs": (), "injected": ()} | ({} if confirm is None else {"confirm": confirm})
    return BoundTool(spec=replace(devices.RESET_DEVICE, **facts), execute=reset), heard  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "keep_name"),
    [
        ({"approved": True}, True),
        ({"approved": True, "payload": None}, True),
        ({"approved": True, "payload": {}}, True),
        ({"approved": True, "payload": {"keep_name": None}}, True),
        ({"approved": True, "payload": {"keep_name": False}, "message": "careful"}, False),
    ],
)
async def test_an_approval_adds_the_generated_class_with_its_defaults(
    engine: InProcessEngine, answer: dict[str, Any], keep_name: bool
) -> None:
    tool, heard = resetting()
    runtime = Runtime(engine=engine)
    runtime.tools.register(StaticToolset(name="home.devices", bound=(tool,)))
    arguments = {"device_id": "d1", "mode": "hard", "force": True}
    asked = waiting(await runtime.call("reset_device", arguments, META))
    with pytest.raises(BadAnswerError, match="keep_name"):
        await runtime.suspensions.answer(asked.token, {"approved": True, "payload": {"keep_name": "no"}})
    assert (await runtime.suspensions.answer(asked.token, answer)).status == "ok"
    assert heard == [devices.ResetDeviceApproval(keep_name=keep_name)]
    assert (await runtime.call("reset_device", {"device_id": "d1"}, META)).status == "ok"
    assert heard[1] is None  # nobody was asked


async def test_what_an_approval_must_add_and_does_not_is_none(serve: Callable[..., Runtime]) -> None:
    heard: list[Address | None] = []

    async def send(ctx: ToolContext) -> str:
        """Send a parcel."""
        heard.append(ctx.answered(Address))
        return "sent"

    payload = func_tool(lambda_of(Address), toolset="x.y").spec.result
    runtime = serve(func_tool(send, toolset="x.tools", confirm=ConfirmSpec(payload=payload)))
    assert (
        await runtime.suspensions.answer(waiting(await runtime.call("send", {})).token, {"approved": True})
    ).status
    assert heard == [None]  # a city has no default
    given: Json = {"approved": True, "payload": {"city": "Kiel"}}
    await runtime.suspensions.answer(waiting(await runtime.call("send", {})).token, given)
    assert heard[1] == Address(city="Kiel")


def lambda_of(type_: Any) -> Any:
    """Return a function with this type as its result."""

    def function() -> Any:
        """Return it."""

    function.__annotations__["return"] = type_
    function.__name__ = "made"
    return function


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("type_", "answer", "typed"),
    [
        (str, "Kiel", "Kiel"),
        (bool, True, True),
        (int, 3, 3),
        (float, 2.5, 2.5),
        (Floor, "first", Floor.FIRST),
        (dt.date, "2026-01-31", dt.date(2026, 1, 31)),
        (Size, {"width": 3}, Size(width=3)),
        (Colour, {"name": "red"}, {"name": "red"}),
        (Address, {"city": "Kiel"}, Address(city="Kiel")),
        (Address, {"city": "Kiel", "note": None, "floor": "first"}, Address(city="Kiel", floor=Floor.FIRST)),
        (devices.ResetDeviceApproval, {}, devices.ResetDeviceApproval()),
        (devices.ResetDeviceApproval, {"keep_name": False}, devices.ResetDeviceApproval(keep_name=False)),
    ],
)
@pytest.mark.parametrize("is_later", first([False, True]), ids=["here", "after a restart"])
async def test_a_question_gives_back_the_type_that_it_asks_for(
    tmp_path: Path, type_: Any, answer: Any, typed: Any, is_later: bool
) -> None:
    """Also to the executor of another runtime, which runs from its first line."""
    heard: list[Any] = []

    async def ask(ctx: ToolContext) -> str | Unfinished:
        """Ask."""
        given = ctx.answered(type_)
        if given is None:
            return ToolOutcome.ask("What?", type_)
        heard.append((given, ctx.answer))
        return "heard"

    def process() -> Runtime:
        made = Runtime(engine=InProcessEngine(tmp_path / "runs.db"))
        made.tools.register(function_toolset("x.tools", [ask]))
        return made

    async with process() as runtime:
        asked = waiting(await runtime.call("ask", {}, META))
        if not is_later:
            assert (await runtime.suspensions.answer(asked.token, answer)).status == "ok"
    async with process() as runtime:  # which has the outcome, or finds it
        assert (await runtime.suspensions.answer(asked.token, answer)).status == "ok"
    plain = (
        {name: one for name, one in answer.items() if one is not None} if isinstance(answer, dict) else answer
    )
    assert heard == [(typed, plain)]
    assert type(heard[0][0]) is type(typed)


ADDRESS = {
    "type": "object",
    "title": "Address",
    "description": "Where a parcel goes.",
    "properties": {
        "city": {
            "type": "string", "minLength": 2, "pattern": "^[A-Z]", "title": "City", "description": "Town.",
        },
        "floor": {"type": "string", "enum": ["ground", "first"], "title": "Floor", "default": "ground"},
        "note": {"type": "string", "title": "Note"},
        "on": {"type": "string", "format": "date", "title": "On"},
        "parcels": {
            "type": "integer", "multipleOf": 2, "exclusiveMinimum": 0, "title": "Parcels", "default": 2,
        },
        "kind": {"type": "string", "enum": ["gift", "order"], "title": "Kind", "default": "order"},
    },
    "required": ["city"],
    "additionalProperties": False,
}  # fmt: skip


async def test_clients_are_asked_for_something_flat(serve: Callable[..., Runtime]) -> None:
    async def ask(ctx: ToolContext) -> str | Unfinished:
        """Ask."""
        return ToolOutcome.ask("Where?", Address)

    assert waiting(await serve(ask).call("ask", {}, META)).answer_schema == ADDRESS


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("Kiel", "$ must be an object, not string"),
        ({}, "$.city is required"),
        ({"city": "K"}, "$.city must have at least 2 characters"),
        ({"city": "kiel"}, "$.city must match ^[A-Z]"),
        ({"city": "Kiel", "floor": "cellar"}, "$.floor must be one of ground, first"),
        ({"city": "Kiel", "kind": "x"}, "$.kind must be one of gift, order"),
        ({"city": "Kiel", "on": "tomorrow"}, "$.on must be written as date, such as 2026-01-31"),
        ({"city": "Kiel", "parcels": 0}, "$.parcels must be above 0"),
        ({"city": "Kiel", "parcels": 3}, "$.parcels must be a multiple of 2"),
        ({"city": "Kiel", "more": 1}, "$.more is not a field here"),
    ],
)
async def test_an_answer_that_its_type_refuses_leaves_the_call_waiting(
    serve: Callable[..., Runtime], answer: Any, message: str
) -> None:
    async def ask(ctx: ToolContext) -> str | Unfinished:
        """Ask."""
        return "heard" if ctx.answered(Address) else ToolOutcome.ask("Where?", Address)

    runtime = serve(ask)
    asked = waiting(await runtime.call("ask", {}, META))
    with pytest.raises(BadAnswerError) as refused:
        await runtime.suspensions.answer(asked.token, answer)
    assert message in str(refused.value)
    assert (await runtime.suspensions.answer(asked.token, {"city": "Kiel"})).status == "ok"


async def test_an_answer_that_only_its_type_can_refuse_is_asked_for_again(
    serve: Callable[..., Runtime], caplog: pytest.LogCaptureFixture
) -> None:
    """There is no thirtieth of February, and no JSON Schema says so."""

    async def ask(ctx: ToolContext) -> str | Unfinished:
        """Ask."""
        on = ctx.answered(dt.date)
        return ToolOutcome.ask("When?", dt.date) if on is None else f"on {on}"

    runtime = serve(ask)
    again = await runtime.suspensions.answer(waiting(await runtime.call("ask", {}, META)).token, "2026-02-30")
    assert (again.status, waiting(again).question) == ("suspended", "When?")
    assert "an answer does not fit date" in caplog.text
    done = await runtime.suspensions.answer(waiting(again).token, "2026-02-28")
    assert done.json == b'"on 2026-02-28"'


class Deep(BaseModel):
    inside: Size


@pytest.mark.parametrize("type_", [Deep, list[str], dict[str, int], Callable, object])
async def test_a_type_that_no_client_can_ask_for_is_the_executors_bug(
    serve: Callable[..., Runtime], type_: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def ask(ctx: ToolContext) -> str | Unfinished:
        """Ask."""
        return ToolOutcome.ask("What?", type_)

    result = await serve(ask).call("ask", {}, META)
    assert result.status == "error"
    assert result.retry_hint is None
    assert b" ran; its result could not be read" in result.json
    assert "cannot be the type of an answer" in caplog.text


async def test_each_question_keeps_its_answer(serve: Callable[..., Runtime]) -> None:
    """A tool runs from its first line after every answer, and asks nothing twice."""

    async def order(ctx: ToolContext) -> str | Unfinished:
        """Order something."""
        if (size := ctx.answered(Size)) is None:
            return ToolOutcome.ask("Which size?", Size)
        if (first := ctx.answered(str, "First name?")) is None:
            return ToolOutcome.ask("First name?", str)
        if (last := ctx.answered(str, "Last name?")) is None:
            return ToolOutcome.ask("Last name?")
        return f"{size.width}{size.unit} for {first} {last}, at last {ctx.answered(str)} and {ctx.answer}"

    runtime = serve(order)
    result = await runtime.call("order", {}, META)
    given: tuple[Json, ...] = ({"width": 3}, "Ada", "Byron")
    for answer in given:
        result = await runtime.suspensions.answer(waiting(result).token, answer)
    assert result.json == b'"3cm for Ada Byron, at last Byron and Byron"'


async def test_a_schema_gives_what_was_given(serve: Callable[..., Runtime]) -> None:
    schema = {"type": "object", "properties": {"width": {"type": "integer", "default": 3}}}
    heard: list[Any] = []

    async def ask(ctx: ToolContext) -> str | Unfinished:
        """Ask."""
        if ctx.answer is None:
            return ToolOutcome.ask("Which size?", schema)
        heard.append((ctx.answer, ctx.answered(Size)))
        return "heard"

    runtime = serve(ask)
    await runtime.suspensions.answer(waiting(await runtime.call("ask", {}, META)).token, {})
    assert heard == [({}, None)]


async def test_a_run_gives_typed_answers_too(engine: InProcessEngine) -> None:
    async def ask(ctx: ToolContext) -> str | Unfinished:
        """Ask."""
        size = ctx.answered(Size)
        return ToolOutcome.ask("Which size?", Size) if size is None else f"{size.width}{size.unit}"

    planner = ScriptedPlanner([calling("ask"), lambda given: answers(given)[0]])
    toolset = function_toolset("x.tools", [ask])
    async with running(agent("x.agent", planner, toolset), engine=engine) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        (awaiting,) = (await handle.settled()).awaiting
        await handle.answer(awaiting, {"width": 4})
        assert (await handle.result()).text == '"4cm"'


def test_a_context_made_by_hand_has_no_answers() -> None:
    context = ToolContext(META, "x.tools.ask")
    assert (context.answer, context.answered(str), context.approved("Sure?")) == (None, None, False)


@pytest.mark.parametrize("answer", [1e300, 10**40, 1e308, 0.35])
async def test_a_multiple_is_exact_however_large_the_number(
    serve: Callable[..., Runtime], answer: Any
) -> None:
    async def ask(ctx: ToolContext) -> str | Unfinished:
        """Ask."""
        return "heard" if ctx.answer else ToolOutcome.ask("How much?", {"type": "number", "multipleOf": 0.1})

    made = serve(ask)
    token = waiting(await made.call("ask", {}, META)).token
    if answer == 0.35:
        with pytest.raises(BadAnswerError, match=r"must be a multiple of 0\.1"):
            await made.suspensions.answer(token, answer)
    else:
        assert (await made.suspensions.answer(token, answer)).status == "ok"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "number", "multipleOf": 0},
        {"type": "number", "minimum": "1"},
        {"type": "number", "maximum": float("nan")},
        {"type": "string", "minLength": "1"},
        {"type": "string", "enum": 5},
        {"type": "string", "format": ["date"]},
        {"type": "object", "properties": {}, "required": 5},
        {"type": "object", "properties": {}, "required": [["a"]]},
    ],
)
async def test_a_schema_that_no_answer_can_be_compared_with_is_not_asked(
    serve: Callable[..., Runtime], schema: dict[str, Any]
) -> None:
    async def ask() -> str | Unfinished:
        """Ask."""
        return ToolOutcome.ask("What?", schema)

    result = await serve(ask).call("ask", {}, META)
    assert (result.status, result.suspension) == ("error", None)
