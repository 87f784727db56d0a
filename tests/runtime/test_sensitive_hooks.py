"""Sensitive values that hooks and policies quote, or put into the place of others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases.sensitive.gen.types import Card
from tests.runtime.canaries import (
    ARGUMENTS,
    META,
    NUMBER,
    OTHER,
    PIN,
    Deciding,
    quoted,
    raised,
    receipt,
    seen,
    watched,
)
from tests.selection import diagonal
from toolgen.runtime import Abort, Continue, Deny, Hook, ToolError


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


@pytest.mark.parametrize("kind", ["raise", "deny", "ask", "allow"])
async def test_policies_that_quote(kind: str) -> None:
    async with watched(receipt, policy=Deciding(kind)) as (runtime, watch):
        result = await runtime.call("pay", ARGUMENTS, META)
        if result.suspension is not None:
            watch.records.append(repr(result.suspension))
            await runtime.suspensions.answer(result.suspension.token, {"approved": True})
    watch.clean(repr(result))
