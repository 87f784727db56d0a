"""Typed completions: a model's final answer in a declared shape, without tools and without a run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, Generic

from pydantic_core import to_json
from typing_extensions import TypeVar

from toolgen.calls.codec import Codec
from toolgen.calls.errors import ToolValidationError
from toolgen.contract.boundary import Contained
from toolgen.contract.errors import ToolgenError
from toolgen.contract.limits import DEFAULT_LIMITS, Limits
from toolgen.contract.record import frozen_record

from ..loop.planning import Attempts
from .checked import check_planner
from .messages import UserMessage
from .named import named_planner
from .plan_faults import faults
from .planner import FinalResponse, FinalResult, PlanInput, Planner, PlanResult, assistant_message_of
from .retrying import PlannerRetry, PlannerUnavailableError

R = TypeVar("R", default=Any)


@frozen_record
class CompletionSpec(Generic[R]):
    """A typed final answer. A constant of generated code."""

    id: str
    """`service.completion`."""
    description: str
    result: Codec[R]


class CompletionError(ToolgenError):
    """The model twice returned no answer of the declared shape; the message has the last one's issues."""


_RETRY: Final = PlannerRetry()


async def complete(
    spec: CompletionSpec[R],
    planner: Planner | str,
    message: str,
    *,
    instructions: str = "",
    limits: Limits = DEFAULT_LIMITS,
    retry: PlannerRetry = _RETRY,
) -> R:
    """Return the model's answer; an answer that does not fit or exceeds the limits is requested once more.

    A planner that is unavailable is retried, as in runs.

    `planner` can be a planner name, for example `openai:gpt-5`.

    Raises:
        CompletionError: the second answer does not fit either.
        ToolgenError: there is no planner with this name, its model cannot be used, or the object is no
            planner.
        Exception: an exception of the planner.
    """
    plan = partial(_planned, _checked(spec.id, planner), retry)
    return await _completed(spec, plan, message, instructions, _Reports(lambda _: None), limits)


async def stream_completion(
    spec: CompletionSpec[R],
    planner: Planner | str,
    message: str,
    *,
    instructions: str = "",
    limits: Limits = DEFAULT_LIMITS,
    retry: PlannerRetry = _RETRY,
) -> AsyncIterator[str | R]:
    """Yield the pieces of the model's answer as they arrive, and the typed answer at the end.

    If the answer is requested again, its pieces follow the pieces of the first answer; only the typed answer
    counts.

    Raises:
        CompletionError: as `complete`.
        Exception: an exception of the planner.
    """
    pieces: asyncio.Queue[str | None] = asyncio.Queue()
    working = asyncio.ensure_future(
        _completed(
            spec,
            partial(_planned, _checked(spec.id, planner), retry),
            message,
            instructions,
            _Reports(pieces.put_nowait),
            limits,
        )
    )

    def ended(task: asyncio.Future[R]) -> None:
        pieces.put_nowait(None)
        if not task.cancelled():
            task.exception()  # mark it as retrieved if the reader has gone

    working.add_done_callback(ended)
    try:
        while (piece := await pieces.get()) is not None:
            yield piece
        yield await working
    finally:
        working.cancel()


def _checked(completion: str, planner: Planner | str) -> Planner:
    """Return the planner of a completion, created from its name if it is a name.

    Raises:
        ToolgenError: the object is no planner, or as `named_planner`.
    """
    checked = named_planner(planner)
    check_planner(f"completion {completion!r}", checked)
    return checked


async def _completed(
    spec: CompletionSpec[R],
    plan: Callable[[PlanInput], Awaitable[PlanResult]],
    message: str,
    instructions: str,
    reports: _Reports,
    limits: Limits,
) -> R:
    plan_input = PlanInput(
        agent=spec.id,
        description=spec.description,
        run_id="",
        session_id="",
        turn_id="",
        labels={},
        step=0,
        messages=(UserMessage(text=message),),
        tools=(),
        instructions=instructions,
        result_schema=spec.result.schema,
        closing="",
        reports=reports,
    )
    answer = await plan(plan_input)
    try:
        return _decoded(spec, answer, limits)
    except ToolValidationError as error:
        wrong = f"the answer does not fit: {error}; answer with JSON that fits the schema"
    correction = UserMessage(text=wrong, source="runtime")
    messages = (*plan_input.messages, assistant_message_of(answer), correction)
    again = await plan(replace(plan_input, step=1, messages=messages))
    try:
        return _decoded(spec, again, limits)
    except ToolValidationError as error:
        raise CompletionError(f"the model returned no {spec.id}: {error}") from error


def _decoded(spec: CompletionSpec[R], answer: PlanResult, limits: Limits) -> R:
    """Return the answer of a planner as a typed value.

    Raises:
        ToolValidationError: it does not fit.
        CompletionError: the planner returned a plan other than an answer.
    """
    if isinstance(answer, FinalResult | FinalResponse) and (wrong := "; ".join(faults(answer))):
        raise CompletionError(f"the planner of {spec.id} returned a {type(answer).__name__}: {wrong}")
    match answer:
        case FinalResult():
            return spec.result.decode_null_as_absent(to_json(answer.result), limits)
        case FinalResponse():
            return spec.result.decode_null_as_absent(answer.text.encode(errors="replace"), limits)
        case _:
            raise CompletionError(f"the planner of {spec.id} returned {type(answer).__name__}, not an answer")


async def _planned(planner: Planner, retry: PlannerRetry, plan_input: PlanInput) -> PlanResult:
    """Return the planner's plan; retry while it is unavailable, because completions have no engine for it.

    Raises:
        Exception: an exception of the planner, at the latest after `PlannerRetry.total_s`.
    """
    loop = asyncio.get_running_loop()
    attempts = Attempts(loop.time())
    plan = planner.plan_start if plan_input.step == 0 else planner.plan_resume
    while True:
        attempts.count += 1
        try:
            with Contained():
                return await plan(plan_input)
        except PlannerUnavailableError as error:
            pause = retry.after(error, attempts.count)
            if attempts.record_failure(pause, loop.time()):
                raise
        await asyncio.sleep(pause["delay_s"])


class _Reports:
    """Receives the pieces of an answer; other reports are ignored."""

    def __init__(self, take: Callable[[str], object]) -> None:
        self._take = take

    def text(self, delta: str) -> None:
        self._take(delta)

    def thought(self, text: str) -> None:
        pass

    def arguments(self, call_id: str, name: str, delta: str) -> None:
        self._take(delta)

    def usage(self, model: str, input_tokens: int, output_tokens: int) -> None:
        pass

    def restarted(self, reason: str) -> None:
        pass
