"""Sensitive values of calls that wait for an answer, and of answers: shown to nobody who is told of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Annotated, Any

import pytest

from tests.cases.sensitive.gen.bank.toolsets import payments
from tests.cases.sensitive.gen.types import Card
from tests.runtime.canaries import (
    ARGUMENTS,
    CARD_AS_KEY,
    CODE,
    META,
    NUMBER,
    OTHER,
    Deciding,
    asked,
    quoted,
    raised,
    receipt,
    watched,
)
from toolgen.calls.functions.tools import function_toolset
from toolgen.contract.secrets import HIDDEN
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime, Suspended, ToolContext, ToolError, ToolOutcome
from toolgen.runtime.functions import Sensitive
from toolgen.waiting.errors import BadAnswerError
from toolgen.waiting.options import WaitOptions


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
            await runtime.suspensions.answer(waits.token, answer)
        await runtime.suspensions.cancel(waits.token)
    watch.clean(refused.value, refused.value.issues)
    assert CARD_AS_KEY not in f"{refused.value} {refused.value.issues!r} {watch.all}"


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
        found = await runtime.suspensions.list(), await runtime.suspensions.show(waits.token)
        watch.records += [repr(waits), repr(found)]
        assert waits.arguments["card"] == {"number": {"sensitive": True}, "holder": "Ann"}
        assert waits.question == f'Pay 100 with {HIDDEN} of {{"number": "{HIDDEN}", "holder": "Ann"}}?'
        assert not waits.is_shortened
        assert set(waits.sensitive) >= {"/pin", "/by-shop/bakery/number", "/from/below/0/below/0/iban"}
        try:
            result = await runtime.suspensions.answer(waits.token, answer)
            watch.records.append(repr(result))
        except Exception as error:
            watch.records.append(repr(error))
            await runtime.suspensions.cancel(waits.token, "nobody")
    watch.clean()


async def test_who_delivers_again_reads_the_result_of_the_log() -> None:
    """No log has sensitive values, so they are marks there, and the result has no typed value."""
    async with watched(receipt, policy=Deciding("ask")) as (runtime, watch):
        waits = asked(await runtime.call("pay", ARGUMENTS, META))
        first = await runtime.suspensions.answer(waits.token, {"approved": True})
        again = await runtime.suspensions.answer(waits.token, {"approved": True})
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
        first = await runtime.suspensions.answer(waits.token, {"approved": True})
        again = await runtime.suspensions.answer(waits.token, {"approved": True})
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
        watch.records.append(repr(await runtime.suspensions.answer(waits.token, answer)))
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
        watch.records.append(repr(await runtime.suspensions.answer(waits.token, answer)))
    watch.clean()
    assert "the host's answer rule failed for bank.payments.pay_much" in watch.all
    assert ADDED not in watch.all


async def test_what_was_approved_runs_with_its_values() -> None:
    found: list[Any] = []

    def does(payload: Any, ctx: Any) -> Any:
        found.append(payload)
        return payments.PayMuchResult(receipt="r")

    async with watched(does) as (runtime, watch):
        waits = asked(await runtime.call("pay_much", ARGUMENTS, META))
        assert (await runtime.suspensions.answer(waits.token, {"approved": True})).status == "ok"
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
        await runtime.suspensions.answer(waits.token, "yes")
    watch.clean()


async def test_work_that_goes_on() -> None:
    def does(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.pending("job-1", payments.TransferAck(ticket=CODE))

    async with watched(does) as (runtime, watch):
        result = await runtime.call("transfer", ARGUMENTS, META)
        waits = asked(result)
        assert json.loads(result.json) == {"ticket": CODE}
        await runtime.suspensions.progress(waits.token, 0.5, f"with {NUMBER}", {"step": CODE})
        done = await runtime.suspensions.answer(waits.token, {"code": CODE})
        assert json.loads(done.json) == {"code": CODE}
    watch.clean(repr(result), repr(waits), repr(done))


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
        result = await runtime.suspensions.answer(result.suspension.token, answer)
    assert (result.result, questions) == ("paid", [f"Pay with {HIDDEN}?"] * 2)
