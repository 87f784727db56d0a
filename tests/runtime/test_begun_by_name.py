"""A named call that has begun is not made again, whatever error its executor raises."""

from __future__ import annotations

from typing import Any

from toolgen.calls.call import CallName
from toolgen.calls.errors import StuckLockError
from toolgen.calls.functions.tools import function_toolset
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime

NAME: Any = CallName(interface="tests", call_id="c")


async def test_an_executor_that_raises_the_error_of_its_own_call_has_begun(engine: InProcessEngine) -> None:
    """Such as of one that was not let in, which it made after its effect."""
    paid = list[int]()

    async def pay(amount: int) -> str:
        """Pay, and then make a call that is not let in."""
        paid.append(amount)
        raise StuckLockError("x.tools.follow", "x.tools.pay")

    runtime = Runtime(engine=engine)
    runtime.tools.register(function_toolset("x.tools", [pay]))
    results = [await runtime.call_once(NAME, "pay", {"amount": 5}) for _ in range(2)]
    assert paid == [5]
    assert [result.status for result in results] == ["error", "error"]
    assert results[0].json == results[1].json
    assert b"the executor of pay is still running after its call ended" in results[0].json
