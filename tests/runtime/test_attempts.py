"""Attempts of one call: the pauses that its executor asks for, and what they hold."""

from __future__ import annotations

import asyncio

import pytest

from tests.runtime.crowds import HOUR, inner, is_idle
from toolgen.calls.functions.tools import func_tool
from toolgen.runtime import RetryHint, Runtime, Scheduling, StaticToolset, ToolError

pytestmark = pytest.mark.asyncio(loop_factories=["virtual"])


class Failing:
    """Fails with a hint, and works in the end."""

    def __init__(self, *pauses: float | None) -> None:
        self._pauses = list(pauses)
        self.began = list[float]()

    async def __call__(self) -> str:
        """Try."""
        self.began.append(asyncio.get_running_loop().time())
        if not self._pauses:
            return "ok"
        pause = self._pauses.pop(0)
        hint = RetryHint(reason="rate_limited", tool="try", retry_after=pause)
        raise ToolError("later", retry_hint=hint, is_retryable=True)

    @property
    def pauses(self) -> list[float]:
        return [after - before for before, after in zip(self.began, self.began[1:], strict=False)]


@pytest.mark.parametrize(
    ("asked", "limit", "waited"),
    [
        ((2.0, 3.0), None, [2.0, 3.0]),
        ((5.0,), None, [5.0]),
        ((5.5,), None, []),
        ((HOUR,), None, []),
        ((float("inf"),), None, []),
        ((float("nan"),), None, []),
        ((None, None), None, [0.1, 0.2]),
        ((None, -1.0), None, [0.1, 0.0]),
        ((2.0, 2.0), 3.0, [2.0]),
        ((4.0,), 3.0, []),
    ],
)
async def test_an_executor_may_ask_for_a_pause_within_its_time(
    asked: tuple[float | None, ...], limit: float | None, waited: list[float]
) -> None:
    """For at most five seconds; else who made the call gets the hint at once."""
    failing = Failing(*asked)
    host = Runtime(scheduling=Scheduling(tool_timeout_s=limit))
    tool = func_tool(failing, name="try", toolset="x.tools", annotations={"idempotent": True})
    host.tools.register(StaticToolset(name="x.tools", bound=(tool,)))
    result = await host.call("try", {})
    assert failing.pauses == pytest.approx(waited)
    if len(waited) < len(asked):
        assert result.retry_hint is not None
        assert str(result.retry_hint.retry_after) == str(asked[len(waited)])
    else:
        assert result.status == "ok"


async def test_a_call_that_pauses_holds_no_slot() -> None:
    failing = Failing(4.0)
    host = Runtime(scheduling=Scheduling(max_calls=1))
    tool = func_tool(failing, name="try", toolset="x.tools", annotations={"idempotent": True})
    host.tools.register(StaticToolset(name="x.tools", bound=(tool, func_tool(inner, toolset="x.tools"))))
    trying = asyncio.create_task(host.call("try", {}))
    await asyncio.sleep(1)
    async with asyncio.timeout(1):
        assert (await host.call("inner", {})).status == "ok"
    assert (await trying).status == "ok"
    assert is_idle(host)
