"""Sensitive values of calls within runs of agents: in no event, no log record, no error of a run."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.agents import tools
from tests.cases.sensitive.gen.bank.agents import shopper, teller
from tests.cases.sensitive.gen.bank.toolsets import payments
from tests.cases.sensitive.gen.types import Card
from tests.runtime.canaries import (
    ARGUMENTS,
    CANARIES,
    CODE,
    MISPLACED,
    MISPLACED_VALUE,
    Kept,
    Payments,
    quoted,
    receipt,
)
from tests.runtime.test_redaction_matrix import FORMS, Values
from tests.selection import diagonal
from toolgen.agents import (
    CallTools,
    FinalResponse,
    FinalResult,
    History,
    Message,
    PlanInput,
    RunPolicy,
    ScriptedPlanner,
    agents_of,
)
from toolgen.agents.planner.scripted import ScriptStep
from toolgen.contract.json_value import Json
from toolgen.engines import NonRetryableError
from toolgen.events.document import as_json
from toolgen.events.hub import Events
from toolgen.runtime import Runtime, ToolError, ToolOutcome
from toolgen.waiting.once_call import Resolution, ResolveError

DONE = FinalResponse(text="That is done.")


def call(name: str, arguments: Mapping[str, Json] | None = None) -> CallTools:
    return tools.calling((name, ARGUMENTS if arguments is None else arguments))


async def told(
    does: Callable[[Any, Any], Any],
    *steps: ScriptStep,
    child: tuple[ScriptStep, ...] = (),
    answer: Json = None,
    policy: RunPolicy | None = None,
) -> str:
    """Return all that is told of a run with these steps, and of its children; no canary stands in it."""
    records: list[str] = []
    handler, root, events = Kept(records), logging.getLogger("toolgen"), Events()
    root.addHandler(handler)
    try:
        async with events.subscribe() as heard:
            runtime = Runtime(engine=tools.new_engine(), events=events, secret=tools.SECRET)
            shopper.register(runtime, planner=ScriptedPlanner(child))
            teller.register(runtime, planner=ScriptedPlanner(steps), payments=Payments(does))
            async with runtime:
                handle = (
                    await agents_of(runtime)
                    .client("bank.teller")
                    .start("Pay.", session_id="s", policy=policy)
                )
                while (output := await handle.settled()).awaiting:
                    records += map(repr, output.awaiting)
                    await runtime.suspensions.answer(output.awaiting[0].token, answer)
                records.append(repr(output))
                for run_id in (output.run_id, f"{output.run_id}/child:call_0_0"):
                    try:
                        log = await runtime.runs.events(run_id)
                    except Exception:  # it has no child
                        continue
                    records += [json.dumps(as_json(event)) for event in log]
        records += [json.dumps(as_json(event)) async for event in heard]
    finally:
        root.removeHandler(handler)
    text = "\n".join(records)
    for canary in CANARIES:
        at = text.find(canary)
        assert at < 0, text[max(0, at - 400) : at + 100]
    return text


def declined(text: str) -> Exception:
    return payments.PAY_DECLINED.of(text, Card(number=text))


def quoting(error: Callable[[str], Exception]) -> Callable[[Any, Any], Any]:
    def does(payload: Any, ctx: Any) -> Any:
        raise error(quoted(payload))

    return does


async def test_what_a_person_found_out() -> None:
    """The outcome of a call that was cut is published by a run of its own."""
    events = Events()
    async with events.subscribe() as heard:
        runtime = Runtime(engine=tools.new_engine(), events=events, secret=tools.SECRET)
        shopper.register(runtime, planner=ScriptedPlanner())
        hanging = Payments(lambda payload, ctx: asyncio.Event().wait())
        teller.register(runtime, planner=ScriptedPlanner([call("pay"), DONE]), payments=hanging)
        async with runtime:
            handle = await agents_of(runtime).client("bank.teller").start("Pay.", session_id="s")
            async for event in handle.events():
                if event.type == "tool_start":
                    break
            await handle.cancel()
            quoting_one: Json = {"receipt": "r1 of DE77-WALRUS", "code": CODE}
            found = Resolution(outcome="result", result=quoting_one)
            result = await runtime.runs.resolve(handle.run_id, "call_0_0", found, by="jo")
            assert json.loads(result.json) == quoting_one
            other = Resolution(outcome="result", result={"receipt": "r1", "code": "SHUT-IBEX"})
            with pytest.raises(ResolveError, match="is known: ok, says jo"):
                await runtime.runs.resolve(handle.run_id, "call_0_0", other, by="mira")
            assert runtime.engine is not None
            log = runtime.engine.events(f"{handle.run_id}/resolved:call_0_0")
            records = [json.dumps(event) async for _, event in log]
    assert any("tool_end" in one and '"receipt": "r1 of ' in one for one in records)
    text = "\n".join([*records, *[json.dumps(as_json(event)) async for event in heard]])
    assert not [canary for canary in CANARIES if canary in text]


async def test_a_good_call() -> None:
    text = await told(receipt, call("pay"), DONE)
    assert '"receipt": "r1"' in text
    assert '{"sensitive": true}' in text


@pytest.mark.parametrize("error", [ToolError, ValueError, declined])
async def test_calls_that_fail(error: Callable[[str], Exception]) -> None:
    await told(quoting(error), call("pay"), DONE)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("form", "error"),
    diagonal([form for form in FORMS if form not in ("bytes", "hex", "base64")], [ToolError, ValueError]),
)
async def test_a_value_in_each_form(form: str, error: Callable[[str], Exception]) -> None:
    """As an executor quotes it, and then a planner: in no event, log record, error or output of the run."""

    def quote(payload: Any) -> str:
        values = Values.model_construct(
            text=payload.card.number,
            number=payload.pin,
            amount=payload.limit,
            at=payload.born,
            by=payload.vouchers,
        )
        return FORMS[form](values)

    def does(payload: Any, ctx: Any) -> Any:
        raise error(quote(payload))

    def plans(given: PlanInput) -> CallTools:
        raise error(quote(payments.PAY.payload.decode(ARGUMENTS)))

    await told(does, call("pay"), plans)


async def test_a_run_that_ends_by_its_failures() -> None:
    policy = RunPolicy(max_consecutive_failed_tool_calls=1)
    await told(quoting(ToolError), call("pay"), DONE, policy=policy)


async def test_arguments_that_do_not_fit() -> None:
    await told(receipt, call("pay", {**ARGUMENTS, "amount": "1"}), DONE)


@pytest.mark.parametrize("change", MISPLACED, ids=str)
async def test_a_value_in_the_wrong_place(change: Mapping[str, Json]) -> None:
    text = await told(receipt, call("pay", {**ARGUMENTS, **change}), DONE)
    assert MISPLACED_VALUE not in text


async def test_the_arguments_while_they_are_written() -> None:
    def step(given: PlanInput) -> CallTools:
        given.reports.arguments("m1", "pay", json.dumps(ARGUMENTS))
        return call("pay")

    text = await told(receipt, step, DONE)
    assert "tool_args_delta" not in text


@pytest.mark.parametrize("answer", [{"approved": True}, {"approved": False, "message": "no"}])
async def test_what_a_person_decides(answer: Json) -> None:
    await told(quoting(ValueError), call("pay_much"), DONE, answer=answer)


async def test_a_question_of_the_tool() -> None:
    def does(payload: Any, ctx: Any) -> Any:
        if ctx.answer:
            raise ValueError(quoted(payload), ctx.answer)
        return ToolOutcome.ask(f"{quoted(payload)}?")

    await told(does, call("pay"), DONE, answer="yes")


async def test_the_tool_of_an_agent() -> None:
    text = await told(receipt, call("buy"), DONE, child=(FinalResult(result={"code": CODE}),))
    assert "agent_run_started" in text


async def test_the_tool_of_an_agent_that_fails() -> None:
    def fails(given: PlanInput) -> CallTools:
        raise ValueError(given.messages)

    await told(receipt, call("buy"), DONE, child=(fails,))


async def test_a_planner_that_quotes_what_a_tool_returned() -> None:
    def does(payload: Any, ctx: Any) -> Any:
        return payments.PayResult(receipt="r1", code="OWN-ZEBRA")

    assert "OWN-ZEBRA" not in await told(does, call("pay"), quotes_all)


async def test_a_planner_that_quotes_the_details_of_an_error() -> None:
    def does(payload: Any, ctx: Any) -> Any:
        raise payments.PAY_DECLINED.of("no", Card(number="OWN-ZEBRA"))

    assert "OWN-ZEBRA" not in await told(does, call("pay"), quotes_all)


async def test_a_planner_that_quotes_an_acknowledgement() -> None:
    def does(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.pending("h1", payments.TransferAck(ticket="OWN-ZEBRA"))

    text = await told(does, call("transfer"), quotes_all, answer={"code": CODE})
    assert "OWN-ZEBRA" not in text


async def test_a_planner_that_quotes_and_will_not_plan_again() -> None:
    def fails(given: PlanInput) -> CallTools:
        raise NonRetryableError(given.messages)

    await told(receipt, call("pay"), fails)


@pytest.mark.parametrize("error", [ValueError, NonRetryableError])
async def test_a_summary_that_fails(
    error: Callable[[object], Exception], caplog: pytest.LogCaptureFixture
) -> None:
    class Summarizing(ScriptedPlanner):
        async def summarize(self, messages: tuple[Message, ...], given: PlanInput, history: History) -> str:
            raise error(messages)

    runtime = Runtime(engine=tools.new_engine())
    shopper.register(runtime, planner=ScriptedPlanner())
    teller.register(runtime, planner=Summarizing([call("pay"), DONE, DONE, DONE]), payments=Payments(receipt))
    policy = RunPolicy(history=History(keep_turns=1, summarize_after=1))
    async with runtime:
        client = agents_of(runtime).client("bank.teller")
        for _ in range(3):
            await (await client.start("Pay.", session_id="s", policy=policy)).result()
    assert "were not summarized" in caplog.text
    assert not [canary for canary in CANARIES if canary in caplog.text]


def quotes_all(given: PlanInput) -> CallTools:
    raise ValueError(given.messages)
