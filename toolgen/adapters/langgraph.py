"""LangGraph interrupts as questions to people: `toolgen[langgraph]`.

LangGraph numbers the interrupts of a task and assigns resume values by number, even to questions of the
application. Therefore a call accepts only values that name its questions, and an ended call consumes them
again whenever its node runs again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from toolgen.contract.errors import ToolgenError
from toolgen.contract.extras import extra
from toolgen.runtime import Suspended, ToolResult
from toolgen.waiting.unfit import MOST_MISFITS, asks_again

from .framework_calls import FrameworkCall, NamedAnswer, named_answer
from .langgraph_task import GraphTask, current_task
from .langgraph_tool_node import toolgen_tool_node
from .result_view import approval_json, result_view

with extra("langgraph"):
    from langgraph.errors import GraphBubbleUp, GraphInterrupt
    from langgraph.types import interrupt

__all__ = ["ResumeError", "langgraph_ask", "toolgen_tool_node"]

_WITHOUT_ID: Final = "LangGraph can ask only about a call with an id, for example a call of a model"
_BY_ID: Final = "resume the graph by interrupt id: Command(resume={interrupt.id: answer})"


class ResumeError(ToolgenError, GraphBubbleUp):
    """A call was not continued, because a value that resumes its graph would answer another question.

    Nothing of the call was executed and no value was consumed, so the graph can be resumed with the right
    value. `ToolNode` does not convert this error to a message for the model.
    """


@dataclass(slots=True)
class _Running:
    """A call that is executed in a task."""

    task: GraphTask
    is_shared: bool
    """Whether another call has run in the same task in the meantime."""


class LangGraphAsk:
    """`ask` for `langchain_tools`: interrupts the graph with the question, and resumes with the answer.

    The interrupt's value is `approval_json` of the question. The resume value is `{"id": …, "answer": …}`,
    with the `id` of the interrupt's value, and optionally `by`.
    """

    def __init__(self) -> None:
        self._running: list[_Running] = []

    async def call_result(self, call: FrameworkCall) -> ToolResult:
        """Return the result of a call after the answers that LangGraph has.

        Raises:
            GraphInterrupt: LangGraph has no further answer, and asks.
            ResumeError: The resume values are for another question, or the record of the call is gone.
        """
        if call.name is None:
            result = await call.result()
            suspended = result_view(result).approval
            return result if suspended is None else await call.cancel(suspended, _WITHOUT_ID)
        task = current_task()
        if task is None:
            result = await call.result()
            if result_view(result).approval is not None:
                raise ToolgenError(
                    f"{call.tool} asks a person, but langgraph_ask works only in a node of a graph",
                    hint="pass another `ask` to langchain_tools, or call the tool in a graph",
                )
            return result
        with self._executed(task) as running:
            if task.has_value and await call.question_ids() is None and task.has_value_left():
                raise ResumeError(
                    f"the call {call.name.call_id!r} of {call.tool} has no stored record, and its node runs "
                    "again after an answer: it may have run before",
                    hint="check what the call did, then fork the thread: the new step asks again",
                )
            try:
                result = await self._after_answers(call, running)
                await self._take_own(call)
            except GraphBubbleUp:
                call.caller.is_interrupted = True
                raise
            return result

    @contextmanager
    def _executed(self, task: GraphTask) -> Iterator[_Running]:
        """Register a call that is executed in a task, next to the other calls of the task.

        Raises:
            ResumeError: LangGraph has a value of an earlier resume, and would pass it to the next question.
        """
        if task.is_mixed:
            raise ResumeError(
                "one question of this step was answered by a plain value, and a later one by its id: "
                "LangGraph gives the first answer to the next question too",
                hint="resume this step with a plain value again: Command(resume=answer), and put the id of "
                f"the question into the answer; for the next step, {_BY_ID}",
            )
        siblings = [call for call in self._running if call.task.is_same(task)]
        for sibling in siblings:
            sibling.is_shared = True
        running = _Running(task, is_shared=bool(siblings))
        self._running.append(running)
        try:
            yield running
        finally:
            self._running.remove(running)

    async def _after_answers(self, call: FrameworkCall, running: _Running) -> ToolResult:
        """Return the result of a call; it is suspended after three rejected answers."""
        result = await call.result()
        rejections, reason = 0, ""
        while (suspended := result_view(result).approval) is not None and rejections < MOST_MISFITS:
            if running.is_shared:
                raise ResumeError(
                    f"{call.tool} asks a person while another call runs in the same task of the node "
                    f"{running.task.node!r}: LangGraph assigns answers within a task by their order",
                    hint="use toolgen_tool_node(tools) instead of ToolNode(tools), or make one call at a "
                    "time",
                )
            answer = await self._answer(call, replace(suspended, reason=reason or suspended.reason))
            if answer["id"] == suspended.id:  # otherwise it answers an earlier question of the call
                again = (await call.answer(suspended, answer, wait_s=0)).suspension
                is_misfit = asks_again(suspended, again)
                rejections += is_misfit
                reason = again.reason if again is not None and is_misfit else ""
            result = await call.result()
        return result

    async def _answer(self, call: FrameworkCall, suspended: Suspended) -> NamedAnswer:
        """Return the value at the position of a question, which answers a question of the same call.

        Raises:
            GraphInterrupt: LangGraph has no value.
            ResumeError: The value answers another question; it was not consumed.
        """
        own = {suspended.id, *(await call.question_ids() or ())}
        task = current_task()
        assert task is not None, "a call ends in the task in which it was made"
        if task.has_value and not _is_own(task.value, own) and task.has_value_left():
            raise _unfit(suspended, is_by_id=task.is_recorded)
        answer = named_answer(interrupt(approval_json(suspended)))
        if answer is None or answer["id"] not in own:
            raise _unfit(suspended, is_by_id=task.is_recorded)
        return answer

    async def _take_own(self, call: FrameworkCall) -> None:
        """Consume the answers of an ended call, so that the next question has its own number."""
        task = current_task()
        if task is None or not task.has_value:
            return
        own = await call.question_ids() or frozenset()
        while (task := current_task()) is not None and task.has_value and _is_own(task.value, own):
            try:
                interrupt(None)
            except GraphInterrupt:
                raise ResumeError(
                    f"the answer to {call.tool} was taken by another question of the graph", hint=_BY_ID
                ) from None


def _is_own(value: object, ids: set[str] | frozenset[str]) -> bool:
    answer = named_answer(value)
    return answer is not None and answer["id"] in ids


def _unfit(suspended: Suspended, *, is_by_id: bool) -> ResumeError:
    answer = f'{{"id": {suspended.id!r}, "answer": …}}'
    return ResumeError(
        f"the value that resumes the graph does not answer the question {suspended.id!r} "
        f"({suspended.question!r}); it was not used",
        hint=f"Command(resume={{interrupt.id: {answer}}})"
        if is_by_id
        else f"resume this step with a plain value again: Command(resume={answer}); for the next step, "
        f"{_BY_ID}",
    )


langgraph_ask: Final = LangGraphAsk()
"""`ask` for `langchain_tools` in a graph."""
