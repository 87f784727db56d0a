"""What `toolgen call`, `approve` and `runs` print of a tool with sensitive values: that they are there."""

from __future__ import annotations

import json

import pytest

from tests.selection import first

from .conftest import ProjectFolder

DESIGN = '''\
"""A bank, for a test."""

from toolgen.dsl import (
    Args, Attribute, Confirm, Design, Int, Return, Service, String, Tool, Toolset, Type,
)

ARGS = Args(
    Attribute("card", String, "What pays.", required=True, sensitive=True),
    Attribute("amount", Int, "Cents.", required=True),
)
RETURN = Return(
    Attribute("code", String, "What opens the parcel.", required=True, sensitive=True),
    Attribute("receipt", String, "Its number.", required=True),
)
PIN = Type("Pin", "A PIN.", Attribute("pin", String, "Its digits.", required=True, sensitive=True))
bank = Toolset(
    "bank",
    "Pays.",
    Tool("pay", "Pay.", ARGS, RETURN),
    Tool("pay_much", "Pay much.", ARGS, RETURN, Confirm("Pay {amount} with {card}?")),
    Tool("pay_twice", "Pay twice.", ARGS, RETURN, Confirm("Pay?", payload=PIN)),
)
design = Design("app", "A small application.", Service("hall", "Where money is.", bank))
'''
MAIN = """\
from app.gen.hall.toolsets import bank
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime, ToolContext, ToolError, ToolOutcome


def paid(payload, result):
    if payload.amount < 0:
        raise ToolError(f"{payload.card} is refused")
    if payload.amount == 0:
        raise ValueError(f"{payload.card} is broken")
    return result(code="CANARYCODE", receipt=f"r1 of {payload.card}")


class Bank(bank.BankExecutor):
    async def pay(self, payload: bank.PayPayload, ctx: ToolContext) -> bank.PayResult:
        return paid(payload, bank.PayResult)

    async def pay_much(self, payload: bank.PayMuchPayload, ctx: ToolContext) -> bank.PayMuchResult:
        return paid(payload, bank.PayMuchResult)

    async def pay_twice(self, payload: bank.PayTwicePayload, ctx: ToolContext) -> ToolOutcome:
        return ToolOutcome.ask(f"really, with {ctx.answer}?")


def runtime() -> Runtime:
    made = Runtime(engine=InProcessEngine("runs.db"))
    made.tools.register(bank.registration(Bank()))
    return made
"""
CARD = "CANARYCARD'7"


@pytest.fixture
def bank(project: ProjectFolder) -> ProjectFolder:
    project.write("app/design.py", DESIGN)
    project.write("app/main.py", MAIN)
    assert project.run("gen").code == 0
    return project


def printed(bank: ProjectFolder, *arguments: str) -> str:
    """Return all that a command prints; no canary stands in it."""
    done = bank.run(*arguments)
    text = f"{done.out}\n{done.err}"
    assert "CANARY" not in text, text
    return text


@pytest.mark.exhaustive
@pytest.mark.parametrize("amount", first([1, 0, -1, "many"], 2))
@pytest.mark.parametrize("trace", [(), ("--trace",)], ids=["plain", "trace"])
def test_a_call_prints_no_sensitive_value(
    bank: ProjectFolder, amount: object, trace: tuple[str, ...]
) -> None:
    text = printed(bank, "call", "pay", json.dumps({"card": CARD, "amount": amount}), *trace)
    if amount == 1:
        assert '{"code":{"sensitive":true},"receipt":"r1 of •••• (sensitive)"}' in text


def test_a_call_says_that_the_model_sees_more_and_shows_it_when_asked(bank: ProjectFolder) -> None:
    arguments = json.dumps({"card": CARD, "amount": 1})
    note = "sensitive values are redacted here; the model sees them"
    done = bank.run("call", "pay", arguments)
    assert (done.code, done.err) == (0, f"{note}; --show-sensitive shows them\n")
    shown = bank.run("call", "pay", arguments, "--show-sensitive")
    assert (shown.code, shown.err) == (0, "")
    assert json.loads(shown.out) == {"code": "CANARYCODE", "receipt": f"r1 of {CARD}"}
    waits = bank.run("call", "pay_much", json.dumps({"card": CARD, "amount": 5}), "--show-sensitive")
    assert (waits.code, CARD in waits.out + waits.err) == (3, False), "arguments of a call that waits stay"
    (id_, *_) = printed(bank, "approve").split()
    assert f"{note}\n" in bank.run("approve", id_, "--yes").err


def test_nothing_is_said_of_a_result_that_is_shown_as_it_is(bank: ProjectFolder) -> None:
    assert bank.run("call", "pay", "{}").err == ""


@pytest.mark.exhaustive
def test_a_person_sees_that_there_is_a_value(bank: ProjectFolder) -> None:
    text = printed(bank, "call", "pay_much", json.dumps({"card": CARD, "amount": 5}))
    assert '  "card": "•••• (sensitive)"\n  "amount": 5\n' in text
    assert "Pay 5 with •••• (sensitive)?" in text
    (id_, *_) = printed(bank, "approve").split()
    (run, *_) = [word for word in printed(bank, "runs", "list").split() if word.startswith("call_")]
    for command in (("runs", "show", run), ("runs", "list", "--format", "json")):
        assert '{"sensitive":true}' in printed(bank, *command).replace("\\", "")
    assert '"card": "•••• (sensitive)"' in printed(bank, "approve", "--format", "json")
    assert "r1 of" in printed(bank, "approve", id_, "--yes")
    printed(bank, "runs", "show", run)


@pytest.mark.exhaustive
@pytest.mark.parametrize("amount", first([0, -1]))
def test_an_approved_call_that_fails(bank: ProjectFolder, amount: int) -> None:
    printed(bank, "call", "pay_much", json.dumps({"card": CARD, "amount": amount}))
    (id_, *_) = printed(bank, "approve").split()
    printed(bank, "approve", id_, "--yes")
    (run, *_) = [word for word in printed(bank, "runs", "list").split() if word.startswith("call_")]
    printed(bank, "runs", "show", run)


@pytest.mark.exhaustive
def test_what_a_person_added_to_an_approval(bank: ProjectFolder) -> None:
    printed(bank, "call", "pay_twice", json.dumps({"card": CARD, "amount": 1}))
    (id_, *_) = printed(bank, "approve").split()
    done = bank.run("approve", id_, "--yes", "--payload", '{"pin": "CANARY-PIN"}')
    assert "CANARY" not in done.out + done.err
    (run, *_) = [word for word in printed(bank, "runs", "list").split() if word.startswith("call_")]
    assert '"payload": {"pin": {"sensitive": true}}' in printed(bank, "runs", "show", run)


def test_a_key_that_nobody_knows_is_not_printed(bank: ProjectFolder) -> None:
    text = printed(bank, "call", "pay", json.dumps({"card": CARD, "amount": 1, "CANARY-KEY": 1}))
    assert '"constraint":"unknown_field"' in text.replace(" ", "")
    printed(bank, "call", "pay_twice", json.dumps({"card": CARD, "amount": 1}))
    (id_, *_) = printed(bank, "approve").split()
    done = bank.run("approve", id_, "--yes", "--payload", '{"pin": "1", "CANARY-KEY": 1}')
    assert (done.code, "CANARY" in done.out + done.err) == (2, False), done.err
    assert "•••• (sensitive)" in done.err
