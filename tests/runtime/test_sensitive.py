"""Sensitive values stand in no event, log record, span, text for people or `repr`, however a call goes."""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from tests.cases.sensitive.gen.bank.toolsets import payments
from tests.cases.sensitive.gen.types import Account, Card
from tests.selection import diagonal, first
from toolgen.agents.activities.plan_secrets import note_seen
from toolgen.calls.steps.result_encoding import truncate_document
from toolgen.calls.toolsets.functions import function_toolset
from toolgen.capabilities import (
    ArtifactsCapability,
    MemoryArtifactStore,
    MemoryStateStore,
    StateCapability,
)
from toolgen.contract.secrets import HIDDEN, Secrets, hiding
from toolgen.engines import InProcessEngine
from toolgen.events.document import as_json
from toolgen.events.hub import Events
from toolgen.observability.spans import ToolSpans
from toolgen.runtime import (
    Abort,
    Allow,
    Ask,
    CallMeta,
    Continue,
    DeclaredError,
    Deny,
    Hook,
    Limits,
    MalformedResultError,
    Runtime,
    Sensitive,
    Suspended,
    ToolCall,
    ToolContext,
    ToolError,
    ToolOutcome,
    ToolResult,
)
from toolgen.waiting.errors import BadAnswerError
from toolgen.waiting.options import WaitOptions

META = CallMeta(run_id="r", session_id="s", turn_id="t", tool_call_id="c1")
NUMBER, PIN = "4111-OTTER\n'MIDDLE_HERON' \"é\" TAIL_IBEX", 90210777
SPARE, SHOP = "5222-LEMUR", "6333-TAPIR"
BORN, LIMIT = "1961-04-12T06:07:00Z", "271828182845.18"
IBAN, VOUCHER, CODE, DEEP = "DE77-WALRUS", "VOUCH-GECKO", "OPEN-MARTEN", "ES88-PUFFIN"
OTHER = "MACAW"
"""A part of what a test adds."""
ARGUMENTS: dict[str, Any] = {
    "amount": 100,
    "card": {"number": NUMBER, "holder": "Ann"},
    "pin": PIN,
    "born": BORN,
    "limit": LIMIT,
    "vouchers": {VOUCHER: VOUCHER},
    "others": [{"number": SPARE}],
    "by-shop": {"bakery": {"number": SHOP}, "none": None},
    "from": {"kind": "account", "iban": IBAN, "below": [{"iban": DEEP, "below": [{"iban": DEEP}]}]},
}
CANARIES = (
    *("OTTER", "HERON", "IBEX", "LEMUR", "TAPIR", "WALRUS", "GECKO", "MARTEN", "PUFFIN", OTHER),
    *(str(PIN), "1961-04-12", "1961, 4, 12", "271828182845"),
)
"""A part of each value, of which none is in another one, and which no time and no id holds by chance."""


class Payments(payments.PaymentsExecutor):
    """Does what a test says, with the payload and the context of any of the tools."""

    def __init__(self, does: Callable[[Any, Any], Any]) -> None:
        self._does = does

    async def pay(self, payload: Any, ctx: Any) -> Any:
        return await _awaited(self._does(payload, ctx))

    async def pay_much(self, payload: Any, ctx: Any) -> Any:
        return await _awaited(self._does(payload, ctx))

    async def transfer(self, payload: Any, ctx: Any) -> Any:
        return await _awaited(self._does(payload, ctx))

    def check_card(self, payload: Any, ctx: Any) -> Any:
        return self._does(payload, ctx)


async def _awaited(value: Any) -> Any:
    return await value if hasattr(value, "__await__") else value


class Watch:
    """All that was told of the calls of a runtime, as text."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.events: list[str] = []
        self.records: list[str] = []

    @property
    def all(self) -> str:
        spans = [span.to_json() for span in self.exporter.get_finished_spans()]
        return "\n".join([*self.events, *self.records, *spans])

    def clean(self, *more: object) -> None:
        """Check that no canary stands in what was told, nor in what is given beside it."""
        assert self.events
        text = "\n".join([self.all, *map(str, more), *map(repr, more)])
        for canary in CANARIES:
            at = text.find(canary)
            assert at < 0, text[max(0, at - 300) : at + 100]


class Kept(logging.Handler):
    def __init__(self, records: list[str]) -> None:
        super().__init__()
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        self._records.append(logging.Formatter("%(message)s").format(record))
        self._records.append(repr(vars(record)))
        if record.exc_info and record.exc_info[1]:
            self._records.append("".join(traceback.format_exception(record.exc_info[1])))


@asynccontextmanager
async def watched(
    does: Callable[[Any, Any], Any] = lambda payload, ctx: None, **host: Any
) -> AsyncIterator[tuple[Runtime, Watch]]:
    watch, events = Watch(), Events()
    handler, root = Kept(watch.records), logging.getLogger("toolgen")
    root.addHandler(handler)
    try:
        made = Runtime(
            events=events,
            spans=ToolSpans(watch.provider, shows_content=True),
            engine=InProcessEngine(),
            **host,
        )
        made.tools.register(payments.registration(Payments(does)))
        async with events.subscribe() as told, made:
            yield made, watch
        watch.events += [json.dumps(as_json(event), ensure_ascii=False) async for event in told]
        watch.events += [json.dumps(json.loads(one)) for one in watch.events]
    finally:
        root.removeHandler(handler)


async def seen(
    tool: str, does: Callable[[Any, Any], Any], arguments: Any = None, **host: Any
) -> tuple[ToolResult, Watch]:
    """Return the result of a call, of which nothing that was told shows a canary."""
    async with watched(does, **host) as (runtime, watch):
        result = await runtime.call(tool, ARGUMENTS if arguments is None else arguments, META)
    watch.clean(repr(result), result.display)
    return result, watch


def receipt(payload: Any, ctx: Any) -> payments.PayResult:
    return payments.PayResult(receipt="r1", code=CODE)


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
    assert end["text"] == result.display == f"Paid: r1 {HIDDEN}"


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


MISPLACED_VALUE = "4111-ZEBRA-9999"
"""Nothing else of the arguments is like it, so that it is hidden by its place or not at all."""
MISPLACED: list[dict[str, Any]] = [
    {"card": MISPLACED_VALUE},
    {"card": [MISPLACED_VALUE]},
    {"card": {"numbr": MISPLACED_VALUE}},
    {"crad": {"number": MISPLACED_VALUE}},
    {"others": MISPLACED_VALUE},
    {"others": {"number": MISPLACED_VALUE}},
    {"from": {"kind": "account", "iban": "DE77", "below": {"iban": MISPLACED_VALUE}}},
]


@pytest.mark.parametrize("arguments", [*[{**ARGUMENTS, **change} for change in MISPLACED], [ARGUMENTS]])
async def test_a_value_in_the_wrong_place(arguments: Any) -> None:
    result, watch = await seen("pay", receipt, json.dumps(arguments))
    assert result.status == "error"
    assert MISPLACED_VALUE not in watch.all


CARD_AS_KEY = "4111-YAK-1111"
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
    assert end["issue_count"] == len(end["result"]["issues"])


@pytest.mark.parametrize(
    "answer",
    [
        {"approved": True, "payload": {"number": "12345678", CARD_AS_KEY: 1}},
        {"approved": True, CARD_AS_KEY: 1},
    ],
)
async def test_a_key_of_an_answer_that_nobody_asked_for(answer: dict[str, Any]) -> None:
    async with watched(receipt) as (runtime, watch):
        waits = asked(await runtime.call("pay_much", ARGUMENTS, META))
        with pytest.raises(BadAnswerError, match=re.escape(HIDDEN)) as refused:
            await runtime.waits.answer(waits.token, answer)
        await runtime.waits.cancel(waits.token)
    watch.clean(refused.value, refused.value.issues)
    assert CARD_AS_KEY not in f"{refused.value} {refused.value.issues!r} {watch.all}"


@pytest.mark.parametrize("cut", [1, 60, 200, 300])
async def test_arguments_that_break_off(cut: int) -> None:
    result, _ = await seen("pay", receipt, json.dumps(ARGUMENTS)[:-cut])
    assert result.status == "error"


class Other(BaseModel):
    """A class of somebody else, whose errors quote what they get."""

    number: int


def quoted(payload: Any) -> str:
    values = (payload.card.number, payload.pin, payload.born, payload.limit, payload.vouchers)
    return f"{' '.join(map(str, values))} {payload.from_.iban if payload.from_ else None}"


def raised(error: Callable[[Any], Exception]) -> Callable[[Any, Any], Any]:
    def does(payload: Any, ctx: Any) -> Any:
        raise error(payload)

    return does


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
    assert json.loads(ref["json"]) == {"iban": {"sensitive": True}, "below": [{"iban": {"sensitive": True}}]}


async def test_a_result_that_is_too_long() -> None:
    def does(payload: Any, ctx: Any) -> Any:
        return payments.PayResult(receipt="r" * 90, code=CODE * 200)

    result, _ = await seen("pay", does, limits=Limits(result_bytes=200))
    assert b"truncated_by" in result.json


class Quoting(Hook):
    """Quotes the arguments wherever it stands."""

    def __init__(self, stage: str, kind: str) -> None:
        self._stage, self._kind = stage, kind

    def _says(self, stage: str) -> Any:
        if stage != self._stage:
            return Continue()
        text = f"no: {NUMBER} {PIN}"
        if self._kind == "raise":
            raise ValueError(text)
        return Deny(message=text) if self._kind == "deny" else Abort(error=ToolError(text))

    async def before_tool(self, call: Any, payload: Any, ctx: Any) -> Any:
        return self._says("before")

    async def after_tool(self, call: Any, result: Any, ctx: Any) -> Any:
        return self._says("after")

    async def on_tool_error(self, call: Any, error: Any, ctx: Any) -> Any:
        return self._says("error")


@pytest.mark.parametrize(
    ("stage", "kind"), diagonal(["before", "after", "error"], ["raise", "deny", "abort"])
)
async def test_hooks_that_quote(stage: str, kind: str) -> None:
    does = raised(lambda payload: ValueError(quoted(payload))) if stage == "error" else receipt
    result, _ = await seen("pay", does, hooks=[Quoting(stage, kind)])
    assert result.status in ("error", "denied")


class Changing(Hook):
    """Gives the call another card."""

    async def before_tool(self, call: Any, payload: Any, ctx: Any) -> Any:
        return Continue(payload=payload.model_copy(update={"card": Card(number=f"7444-{OTHER}")}))


async def test_what_a_hook_puts_in_the_place_is_hidden_too() -> None:
    does = raised(lambda payload: ValueError(payload.card.number))
    result, _ = await seen("pay", does, hooks=[Changing()])
    assert result.status == "error"


class Deciding:
    """A policy that quotes what it decides on."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    async def decide(self, call: Any, spec: Any, preview: str) -> Any:
        text = f"{preview} {quoted(call.payload)}"
        match self._kind:
            case "raise":
                raise ValueError(text)
            case "deny":
                return Deny(message=text)
            case "ask":
                return Ask(question=text)
        return Allow()


@pytest.mark.parametrize("kind", ["raise", "deny", "ask", "allow"])
async def test_policies_that_quote(kind: str) -> None:
    async with watched(receipt, policy=Deciding(kind)) as (runtime, watch):
        result = await runtime.call("pay", ARGUMENTS, META)
        if result.suspension is not None:
            watch.records.append(repr(result.suspension))
            await runtime.waits.answer(result.suspension.token, {"approved": True})
    watch.clean(repr(result))


def asked(result: ToolResult) -> Suspended:
    assert result.suspension is not None, result.json
    return result.suspension


@pytest.mark.parametrize(
    "answer",
    [
        {"approved": True, "payload": {"number": f"7444-{OTHER}"}},
        {"approved": False, "message": "not with this one"},
        {"approved": "yes"},
    ],
    ids=["approved", "denied", "wrong"],
)
async def test_where_a_person_approves(answer: dict[str, Any]) -> None:
    def does(payload: Any, ctx: Any) -> Any:
        raise ValueError(quoted(payload), str(ctx.answer))

    async with watched(does) as (runtime, watch):
        waits = asked(await runtime.call("pay_much", ARGUMENTS, META))
        found = await runtime.waits.list(), await runtime.waits.show(waits.token)
        watch.records += [repr(waits), repr(found)]
        assert waits.arguments["card"] == {"number": {"sensitive": True}, "holder": "Ann"}
        assert waits.question == f'Pay 100 with {HIDDEN} of {{"number": "{HIDDEN}", "holder": "Ann"}}?'
        assert not waits.is_shortened
        assert set(waits.sensitive) >= {"/pin", "/by-shop/bakery/number", "/from/below/0/below/0/iban"}
        try:
            result = await runtime.waits.answer(waits.token, answer)
            watch.records.append(repr(result))
        except Exception as error:
            watch.records.append(repr(error))
            await runtime.waits.cancel(waits.token, "nobody")
    watch.clean()


def test_no_canary_hides_another_one() -> None:
    values = [NUMBER, str(PIN), BORN, LIMIT, SPARE, SHOP, IBAN, VOUCHER, CODE, DEEP]
    for value in values:
        secrets = Secrets()
        secrets.add([value])
        assert [other for other in values if secrets.scrubbed(other) != other] == [value]


async def test_who_delivers_again_reads_the_result_of_the_log() -> None:
    """No log has sensitive values, so they are marks there, and the result has no typed value."""
    async with watched(receipt, policy=Deciding("ask")) as (runtime, watch):
        waits = asked(await runtime.call("pay", ARGUMENTS, META))
        first = await runtime.waits.answer(waits.token, {"approved": True})
        again = await runtime.waits.answer(waits.token, {"approved": True})
    watch.clean(again)
    assert json.loads(first.json) == {"receipt": "r1", "code": CODE}
    assert json.loads(again.json) == {"receipt": "r1", "code": {"sensitive": True}}
    assert (first.status, again.status) == ("ok", "ok")
    assert first.result == receipt(None, None)
    assert again.result is None


async def test_who_delivers_again_reads_an_error_without_its_details() -> None:
    does = raised(lambda payload: payments.PAY_DECLINED.of("no", payload.card))
    async with watched(does, policy=Deciding("ask")) as (runtime, _):
        waits = asked(await runtime.call("pay", ARGUMENTS, META))
        first = await runtime.waits.answer(waits.token, {"approved": True})
        again = await runtime.waits.answer(waits.token, {"approved": True})
    assert payments.PAY_DECLINED.get(first) == Card(**ARGUMENTS["card"])
    assert payments.PAY_DECLINED.matches(again)
    assert payments.PAY_DECLINED.get(again) is None


ADDED = "OWN-ZEBRA"
"""What a person adds to an approval, and stands nowhere else."""


@pytest.mark.parametrize("error", [ValueError, ToolError])
async def test_what_a_person_added_is_quoted(error: Callable[[str], Exception]) -> None:
    def does(payload: Any, ctx: Any) -> Any:
        raise error(f"{ctx.answer} {ctx.answered(Card)}")

    async with watched(does) as (runtime, watch):
        waits = asked(await runtime.call("pay_much", ARGUMENTS, META))
        answer: dict[str, Any] = {"approved": True, "payload": {"number": ADDED}}
        watch.records.append(repr(await runtime.waits.answer(waits.token, answer)))
    watch.clean()
    assert ADDED not in watch.all


async def test_a_rule_that_quotes_what_a_person_added() -> None:
    heard: list[Any] = []

    def rule(asked: Suspended, answer: Any, by: str) -> str:
        heard.append(answer)
        if len(heard) > 1:  # when the call is to go on
            raise ValueError(answer)
        return ""

    async with watched(receipt, waiting=WaitOptions(rule=rule)) as (runtime, watch):
        waits = asked(await runtime.call("pay_much", ARGUMENTS, META))
        answer: dict[str, Any] = {"approved": True, "payload": {"number": ADDED}}
        watch.records.append(repr(await runtime.waits.answer(waits.token, answer)))
    watch.clean()
    assert "the rule for answers to bank.payments.pay_much failed" in watch.all
    assert ADDED not in watch.all


async def test_what_was_approved_runs_with_its_values() -> None:
    found: list[Any] = []

    def does(payload: Any, ctx: Any) -> Any:
        found.append(payload)
        return payments.PayMuchResult(receipt="r")

    async with watched(does) as (runtime, watch):
        waits = asked(await runtime.call("pay_much", ARGUMENTS, META))
        assert (await runtime.waits.answer(waits.token, {"approved": True})).status == "ok"
    watch.clean()
    assert found == [payments.PAY_MUCH.payload.decode(ARGUMENTS)]


async def test_a_question_of_the_tool_itself() -> None:
    def does(payload: Any, ctx: Any) -> Any:
        if ctx.answer:
            raise ValueError(quoted(payload))
        return ToolOutcome.ask(f"Is {payload.card.number} yours?")

    async with watched(does) as (runtime, watch):
        waits = asked(await runtime.call("pay", ARGUMENTS, META))
        watch.records += [repr(waits), waits.question]
        await runtime.waits.answer(waits.token, "yes")
    watch.clean()


async def test_work_that_goes_on() -> None:
    def does(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.pending("job-1", payments.TransferAck(ticket=CODE))

    async with watched(does) as (runtime, watch):
        result = await runtime.call("transfer", ARGUMENTS, META)
        waits = asked(result)
        assert json.loads(result.json) == {"ticket": CODE}
        await runtime.waits.progress(waits.token, 0.5, f"with {NUMBER}", {"step": CODE})
        done = await runtime.waits.answer(waits.token, {"code": CODE})
        assert json.loads(done.json) == {"code": CODE}
    watch.clean(repr(result), repr(waits), repr(done))


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
        note_seen(payments.PAY, "ok", truncate_document(whole, 150).decode())
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
    assert f"did not commit the changes of {count} calls" in watch.all
    assert "CAPABLE" not in watch.all


# Questions of tools that quote what nobody is shown.


def two_cards(ask: Callable[[Any, str], Any]) -> Callable[..., Any]:
    """Return a tool that asks about one card and about another one, by the same words."""

    async def pay(first: Annotated[str, Sensitive()], second: Annotated[str, Sensitive()], ctx: Any) -> Any:
        """Pay with two cards."""
        for card in (first, second):
            if (unfinished := ask(ctx, f"Pay with {card}?")) is not None:
                return unfinished
        return "paid"

    pay.__annotations__["ctx"] = ToolContext
    return pay


ASKS: dict[str, tuple[Callable[[Any, str], Any], Any]] = {
    "approval": (
        lambda ctx, question: None if ctx.approved(question) else ToolOutcome.approval(question),
        {"approved": True},
    ),
    "question": (
        lambda ctx, question: None if ctx.answered(str, question) else ToolOutcome.ask(question, str),
        "yes",
    ),
}


@pytest.mark.parametrize("way", ASKS)
async def test_an_answer_to_a_question_with_a_sensitive_value_counts_for_that_question(way: str) -> None:
    """What is shown of both questions is the same: an answer to one is none to the other."""
    ask, answer = ASKS[way]
    runtime = Runtime(engine=InProcessEngine())
    runtime.tools.register(function_toolset("x.cards", [two_cards(ask)]))
    cards = {"first": "4111222233334444", "second": "4999888877776666"}
    result, questions = await runtime.call("pay", cards), []
    while result.suspension is not None:
        questions.append(result.suspension.question)
        assert not any(card in repr(result) for card in cards.values())
        result = await runtime.waits.answer(result.suspension.token, answer)
    assert (result.result, questions) == ("paid", [f"Pay with {HIDDEN}?"] * 2)
