"""The text that a model reads of each result, for a framework without an adapter."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    CallMeta,
    ConfirmSpec,
    ReadonlyContext,
    Runtime,
    Snapshot,
    ToolError,
    ToolOutcome,
    ToolResult,
)
from toolgen.runtime.functions import func_tool, function_toolset
from toolgen.waiting import text_for_model

MIRA = CallMeta(session_id="s-mira")


async def balance(account: str) -> int:
    """Return what an account holds."""
    if account != "savings":
        raise ToolError("there is no such account")
    return 120


async def pay(to: str) -> str:
    """Pay somebody."""
    return f"paid to {to}"


async def wonder() -> ToolOutcome[str]:
    """Ask a person for a word."""
    return ToolOutcome.ask("Which word?")  # type: ignore[return-value]  # as an executor asks


@pytest.fixture
async def offered() -> AsyncIterator[Snapshot]:
    async with Runtime(engine=InProcessEngine()) as bank:
        asks = func_tool(pay, toolset="bank.accounts", confirm=ConfirmSpec(hint="Pay {to}?"))
        bank.tools.register(function_toolset("bank.accounts", [balance, asks, wonder]))
        yield await bank.tools.snapshot(ReadonlyContext(meta=MIRA))


async def test_three_lines_of_glue_never_show_an_empty_text(offered: Snapshot) -> None:
    async def glue(name: str, **arguments: object) -> str:
        return text_for_model(await offered.call(name, arguments, MIRA))

    assert await glue("balance", account="savings") == "120"
    assert json.loads(await glue("balance", account="x")) == {"error": "there is no such account"}
    for name, arguments in (("pay", {"to": "baker"}), ("wonder", {})):
        told = json.loads(await glue(name, **arguments))
        assert told["code"] == "approval_unavailable"
        assert told["error"].startswith(f"the call waits for a person's answer ({told['id']})")
    assert "error" in json.loads(await glue("nothing"))


async def test_after_the_answer_the_text_is_that_of_the_result(offered: Snapshot) -> None:
    asked = (await offered.call("pay", {"to": "baker"}, MIRA)).suspension
    assert asked is not None
    result = await offered.suspensions.answer(asked.token, {"approved": True})
    assert text_for_model(result) == result.json.decode() == '"paid to baker"'


@pytest.mark.parametrize("status", ["pending", "running", "unknown", "ok"])
def test_a_result_without_json_is_its_status(status: str) -> None:
    result = ToolResult(tool="bank.accounts.pay", status=status)  # type: ignore[arg-type]  # one of these
    assert json.loads(text_for_model(result)) == {"status": status}


def test_a_call_that_runs_has_no_result_yet() -> None:
    result = ToolResult(tool="bank.accounts.pay", status="running", json=b'"an acknowledgement"')
    assert json.loads(text_for_model(result)) == {"status": "running"}
