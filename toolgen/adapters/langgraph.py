"""Asks people by the interruptions of LangGraph: `toolgen[langgraph]`.

LangGraph hands out the answers of a task in the order of its interruptions, and runs the task again for each,
in which calls that go on side by side may come in another order. So an answer names its question.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from toolgen.contract.extras import extra
from toolgen.runtime import Suspended, ToolResult
from toolgen.waiting.unfit import MOST_MISFITS, asks_again

from .framework_calls import FrameworkCall, named_answer
from .result_view import approval_json, result_view

with extra("langgraph"):
    from langgraph.types import interrupt

__all__ = ["langgraph_ask"]

_WITHOUT_ID: Final = "LangGraph asks people about calls that have an id, such as those of a model"


class LangGraphAsk:
    """`ask` of `langchain_tools`: interrupts the graph with the question, whose answer resumes it.

    The value of an interruption is `approval_json` of the question. What resumes the graph is `{"id": …,
    "answer": …}`, with the `id` of that value, and may have `by`. An answer to another question of the
    session is delivered there, one whose question is not open any more is skipped.
    """

    async def answered(self, call: FrameworkCall, result: ToolResult) -> ToolResult:
        """Return the result of a suspended call after the answers that LangGraph has.

        Raises:
            GraphInterrupt: LangGraph has no further answer, and asks.
        """
        if call.name is None:
            asked = result_view(result).approval
            return result if asked is None else await call.cancel(asked, _WITHOUT_ID)
        misfits, reason = 0, ""
        while result_view(result).approval is not None and misfits < MOST_MISFITS:
            async with call.reading:  # else one reads the answer of another, which asks again meanwhile
                if (asked := await call.question()) is not None:
                    is_misfit, reason = await self._read(call, replace(asked, reason=reason or asked.reason))
                    misfits += is_misfit
            result = await call.result()
        return result

    async def _read(self, call: FrameworkCall, asked: Suspended) -> tuple[bool, str]:
        """Take one answer; return whether it does not fit this call, and why the call is asked again then."""
        answer = interrupt(approval_json(asked))
        if (named := named_answer(answer)) is not None and named["id"] != asked.id:
            await call.answer_elsewhere(named)
            return False, asked.reason
        again = (await call.answer(asked, answer, wait_s=0)).suspension
        is_misfit = asks_again(asked, again)
        return is_misfit, again.reason if again is not None and is_misfit else ""


langgraph_ask: Final = LangGraphAsk()
"""The `ask` of `langchain_tools` in a graph."""
