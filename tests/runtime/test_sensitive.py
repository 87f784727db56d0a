"""Sensitive values stand in no event, log record, span, text for people or `repr`, however a call goes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from tests.cases.sensitive.gen.bank.toolsets import payments
from tests.cases.sensitive.gen.types import Account, Card
from tests.runtime.canaries import (
    ARGUMENTS,
    BORN,
    CANARIES,
    CARD_AS_KEY,
    CODE,
    DEEP,
    IBAN,
    LIMIT,
    META,
    MISPLACED,
    MISPLACED_VALUE,
    NUMBER,
    OTHER,
    PIN,
    SHOP,
    SPARE,
    VOUCHER,
    quoted,
    raised,
    receipt,
    seen,
    watched,
)
from tests.selection import first
from toolgen.agents.activities.plan_secrets import note_seen
from toolgen.calls.call import CallName
from toolgen.calls.steps.result_encoding import truncation_marker
from toolgen.capabilities import ArtifactsCapability, MemoryArtifactStore, MemoryStateStore, StateCapability
from toolgen.contract.secrets import HIDDEN, Secrets, hiding
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.events.records import ToolEnd
from toolgen.runtime import (
    DeclaredError,
    Limits,
    MalformedResultError,
    Runtime,
    ToolCall,
    ToolError,
    ToolOutcome,
)
from toolgen.runtime.functions import Sensitive, func_tool, function_toolset


async def test_a_good_call_is_told_with_marks() -> None:
    result, watch = await seen("pay", receipt)
    assert json.loads(result.json) == {"receipt": "r1", "code": CODE}, "the model asked for it"
    start, end = (json.loads(one) for one in watch.events[:2])
    mark = {"sensitive": True}
    assert start["arguments"] == {
        "amount": 100,
        "card": {"number": mark, "holder": "Ann"},
        "pin": mark,
        "born": mark,
        "limit": mark,
        "vouchers": mark,
        "others": [{"number": mark}],
        "by-shop": {"bakery": {"number": mark}, "none": None},
        "from": {"kind": "account", "iban": mark, "below": [{"iban": mark, "below": [{"iban": mark}]}]},
    }
    assert start["text"] == f'Paying 100 with {{"number": "{HIDDEN}", "holder": "Ann"}} and {HIDDEN}'
    assert end["result"] == {"receipt": "r1", "code": mark}
    assert end["display"] == result.display == f"Paid: r1 {HIDDEN}"


@pytest.mark.parametrize(
    "change",
    [
        {"amount": "100"},
        {"pin": str(PIN)},
        {"born": f"{BORN} "},
        {"limit": 271828182845.18},
        {"card": {"number": PIN}},
        {"card": {"number": NUMBER, NUMBER: 1}},
        {"vouchers": {VOUCHER: 1}},
        {"from": {"kind": NUMBER}},
        {NUMBER: NUMBER},
        {"others": [NUMBER]},
    ],
    ids=str,
)
async def test_arguments_that_do_not_fit(change: dict[str, Any]) -> None:
    result, _ = await seen("pay", receipt, {**ARGUMENTS, **change})
    assert result.status == "error"


@pytest.mark.parametrize("arguments", [*[{**ARGUMENTS, **change} for change in MISPLACED], [ARGUMENTS]])
async def test_a_value_in_the_wrong_place(arguments: Any) -> None:
    result, watch = await seen("pay", receipt, json.dumps(arguments))
    assert result.status == "error"
    assert MISPLACED_VALUE not in watch.all


KEYED: list[dict[str, Any]] = [
    {CARD_AS_KEY: 1},
    {**ARGUMENTS, "card": {"number": "12345678", CARD_AS_KEY: {}}},
    {**ARGUMENTS, "others": [{"number": "12345678", CARD_AS_KEY: None}]},
    {**ARGUMENTS, "by-shop": {CARD_AS_KEY: {"holder": "Ann"}}},
]


@pytest.mark.parametrize("arguments", KEYED)
async def test_a_key_that_nobody_knows_is_not_quoted(arguments: dict[str, Any]) -> None:
    result, watch = await seen("pay", receipt, arguments)
    assert CARD_AS_KEY in result.json.decode(), "the model sent it"
    assert CARD_AS_KEY not in watch.all
    end = json.loads(watch.events[0])
    assert any(HIDDEN in issue["path"] for issue in end["result"]["issues"])
    assert [issue["path"] for issue in end["error"]["issues"]] == [
        issue["path"] for issue in end["result"]["issues"]
    ]


@pytest.mark.parametrize("cut", [1, 60, 200, 300])
async def test_arguments_that_break_off(cut: int) -> None:
    result, _ = await seen("pay", receipt, json.dumps(ARGUMENTS)[:-cut])
    assert result.status == "error"


class Other(BaseModel):
    """A class of somebody else, whose errors quote what they get."""

    number: int


def chained(payload: Any, ctx: Any) -> Any:
    try:
        raise KeyError(payload.card.number)
    except KeyError as error:
        error.add_note(f"of {payload.card.number!r}")
        raise RuntimeError(repr(payload.model_dump())) from error


@pytest.mark.parametrize(
    "does",
    [
        raised(lambda payload: ValueError(quoted(payload))),
        raised(lambda payload: ValueError(repr(payload.born), payload.limit, payload.vouchers)),
        raised(lambda payload: ToolError(f"declined: {quoted(payload)}")),
        raised(lambda payload: ToolError("declined", cause=ToolError(quoted(payload)))),
        raised(lambda payload: MalformedResultError(quoted(payload))),
        raised(lambda payload: ExceptionGroup(quoted(payload), [ValueError(payload.card.number)])),
        raised(lambda payload: payments.PAY_DECLINED.of(quoted(payload), payload.card)),
        raised(lambda payload: ValueError(payload.model_dump_json())),
        lambda payload, ctx: Other(number=payload.card.number),
        lambda payload, ctx: Card(number=payload.pin),
        lambda payload, ctx: payments.PayResult.model_construct(receipt="r", code=payload.pin),
        lambda payload, ctx: payments.PayResult.model_construct(receipt="r", code=Card(number=NUMBER)),
        lambda payload, ctx: payload.card.number,
        chained,
    ],
    ids=[
        *("str", "repr", "told", "cause", "malformed", "group", "declared", "dump", "other class"),
        *("own class", "wrong type", "object for text", "no result", "chained"),
    ],
)
@pytest.mark.parametrize("tool", first(["pay", "check_card", "transfer"]))
async def test_whatever_the_executor_raises(tool: str, does: Callable[[Any, Any], Any]) -> None:
    """In the loop, in a thread with retries, and in a tool that may answer later."""
    result, _ = await seen(tool, does)
    assert result.status == "error"


def circle(payload: Any) -> ToolError:
    """Return an error that is the cause of its own cause."""
    first = ToolError(f"no {payload.card.number}")
    first.cause = ToolError(quoted(payload), cause=first)
    return first


def odd_cause(payload: Any) -> ToolError:
    cause: Any = ValueError(quoted(payload))
    return ToolError(f"no {payload.card.number}", cause=cause)


def odd_code(payload: Any) -> ToolError:
    code: Any = [payload.card.number]
    return DeclaredError(f"no {payload.card.number}", code=code)


@pytest.mark.parametrize("error", [circle, odd_cause, odd_code])
async def test_odd_errors_are_results_too(error: Callable[[Any], ToolError]) -> None:
    result, _ = await seen("pay", raised(error))
    assert json.loads(result.json) == {"error": f"no {HIDDEN}"}


async def test_what_is_told_on_the_way() -> None:
    def does(payload: Any, ctx: Any) -> Any:
        ctx.progress(0.5, f"asking for {payload.card.number}", {"step": CODE})
        ctx.stream(f"using {payload.pin} of {payload.from_.iban}")
        return payments.TransferResult(code=CODE)

    result, watch = await seen("transfer", does)
    assert result.status == "ok", result.json
    told = [json.loads(one) for one in watch.events]
    assert {"step": {"sensitive": True}} in [one.get("value") for one in told]


async def test_a_key_of_the_state_that_holds_a_value() -> None:
    def does(payload: Any, ctx: Any) -> Any:
        ctx.state.set(f"used {payload.card.number}", payload.card.number)
        return payments.TransferResult(code=CODE)

    result, watch = await seen("transfer", does, capabilities=[StateCapability(MemoryStateStore())])
    assert result.status == "ok", result.json
    (told,) = [one for one in map(json.loads, watch.events[::2]) if one["type"] == "state_changed"]
    assert told["key"] == f"used {HIDDEN}"


async def test_artifacts_and_texts_beside_the_result() -> None:
    def does(payload: Any, ctx: Any) -> Any:
        account = Account(iban=IBAN, below=[Account(iban=DEEP)])
        return ToolOutcome.of(
            receipt(payload, ctx),
            artifacts=[payments.PAY_STATEMENT.of(account)],
            display=f"paid with {payload.card.number}",
        )

    async with watched(does, capabilities=[ArtifactsCapability(MemoryArtifactStore())]) as (runtime, watch):
        result = await runtime.call("pay", ARGUMENTS, META)
    watch.clean()
    assert payments.PAY_STATEMENT.get(result) is not None
    (ref,) = json.loads(watch.events[-1])["artifacts"]
    assert ref["data"] == {"iban": {"sensitive": True}, "below": [{"iban": {"sensitive": True}}]}


async def test_a_result_that_is_too_long() -> None:
    def does(payload: Any, ctx: Any) -> Any:
        return payments.PayResult(receipt="r" * 90, code=CODE * 200)

    result, _ = await seen("pay", does, limits=Limits(result_bytes=200))
    assert b"truncated_by" in result.json


def test_no_canary_hides_another_one() -> None:
    values = [NUMBER, str(PIN), BORN, LIMIT, SPARE, SHOP, IBAN, VOUCHER, CODE, DEEP]
    for value in values:
        secrets = Secrets()
        secrets.add([value])
        assert [other for other in values if secrets.scrubbed(other) != other] == [value]


async def test_many_calls_at_once_hide_their_own() -> None:
    def does(payload: Any, ctx: Any) -> Any:
        raise ValueError(quoted(payload))

    numbers = [{**ARGUMENTS, "card": {"number": f"{at}555-{OTHER}-{at}"}} for at in range(5)]
    calls = [ToolCall(tool="pay", payload_json=json.dumps(one).encode()) for one in numbers]
    async with watched(does) as (runtime, watch):
        results = await runtime.call_all(calls)
    watch.clean(*results, *calls)


async def test_a_tool_that_calls_a_tool() -> None:
    runtimes: list[Runtime] = []

    async def does(payload: Any, ctx: Any) -> Any:
        if payload.amount:
            inner = {**ARGUMENTS, "amount": 0, "card": {"number": f"7444-{OTHER}"}}
            await runtimes[0].call("pay", inner)
        raise ValueError(quoted(payload), NUMBER)

    async with watched(does) as (runtime, watch):
        runtimes.append(runtime)
        await runtime.call("pay", ARGUMENTS, META)
    watch.clean()


def test_reprs_of_generated_classes_leave_them_out() -> None:
    payload = payments.PAY.payload.decode(ARGUMENTS)
    text = f"{payload!r} {payload} {Card(number=NUMBER)!r} {receipt(None, None)!r}"
    assert not any(canary in text for canary in CANARIES), text
    assert "holder='Ann'" in text


async def test_a_long_value_is_hidden_where_only_a_piece_is_quoted() -> None:
    key = "".join(f"{OTHER}{number:05}" for number in range(99))

    def does(payload: Any, ctx: Any) -> Any:
        Other(number=payload.card.number)

    result, _ = await seen("pay", does, {"amount": 1, "card": {"number": key}})
    assert result.status == "error"


def test_what_a_model_saw_of_a_truncated_result_is_known() -> None:
    secrets, whole = Secrets(), json.dumps({"code": "OWN-ZEBRA", "receipt": "r" * 200}).encode()
    with hiding(secrets):
        note_seen(payments.PAY, "ok", truncation_marker(whole, 150).decode())
    assert secrets.scrubbed("of OWN-ZEBRA") == f"of {HIDDEN}"


class Failing:
    """A capability that keeps numbers of cards until the batch is settled, and quotes them then."""

    name = "cards"

    def open(self, call: Any) -> list[str]:
        return []

    async def close(self, opened: Any) -> Any:
        raise ValueError("not kept", *[numbers for numbers, _ in opened])


@pytest.mark.parametrize("count", [1, 3])
async def test_a_capability_that_fails_after_the_calls(count: int) -> None:
    def does(payload: Any, ctx: Any) -> Any:
        ctx.cards.append(payload.card.number)
        return payments.PayResult(receipt="r", code="OWN-ZEBRA")

    cards = [f"CAPABLE-{at}-CARD" for at in range(count)]
    numbers = [{**ARGUMENTS, "card": {"number": card}} for card in cards]
    calls = [ToolCall(tool="pay", payload_json=json.dumps(one).encode()) for one in numbers]
    async with watched(does, capabilities=[Failing()]) as (runtime, watch):
        if count == 1:
            await runtime.call("pay", numbers[0])
        else:
            await runtime.call_all(calls)
    watch.clean()
    assert f"capability 'cards' failed to commit the changes of {count} calls" in watch.all
    assert "CAPABLE" not in watch.all


@pytest.mark.parametrize("result", [10**5_000, "deep"], ids=["large", "deep"])
async def test_a_result_that_no_journal_keeps_as_a_value_is_a_mark(result: Any, tmp_path: Path) -> None:
    """Of a tool with sensitive values; its call has its outcome."""
    value = result
    for _ in range(200 if result == "deep" else 0):
        value = [value]

    async def look(card: Annotated[str, Sensitive()]) -> Any:
        return value

    events = Events()
    made = Runtime(events=events, engine=InProcessEngine(tmp_path / "runs.db"))
    made.tools.register(function_toolset("bank.looks", [func_tool(look)]))
    async with events.subscribe(types=["tool_end"]) as told, made:
        done = await made.call_once(CallName(interface="d", call_id="c"), "look", {"card": NUMBER}, META)
    assert done.status == "ok"
    assert [event.result async for event in told if isinstance(event, ToolEnd)] == [{"sensitive": True}]
