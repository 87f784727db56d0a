"""Questions of a planner within the loop: asked again until an answer is accepted."""

from __future__ import annotations

from typing import Any

from toolgen.engines.context import RunContext, answer_name
from toolgen.engines.errors import ActivityFailed, PayloadTooLargeError
from toolgen.events.records import AnswerAccepted, QuestionAsked

from .documents import AcceptArgument, AwaitStep, QuestionDocument
from .events import RunEvents
from .limits import LimitCounter


async def ask(ctx: RunContext, step: AwaitStep, id_: str, progress: LimitCounter, events: RunEvents) -> str:
    """Return a person's answer to a planner's question; if an answer is rejected, ask again."""
    number, reason = 1, ""
    while True:
        name = id_ if number == 1 else f"{id_}:{number}"
        about: QuestionDocument = {
            "kind": step["await_kind"],
            "id": name,
            "question": step["question"],
            "answer_schema": step["schema"] or {"type": "string"},
        }
        if reason:
            about["reason"] = reason
        await events.publish(name, _event(step, about))
        await events.phase("waiting", name)
        began, op = ctx.now(), f"wait:{name}"
        signal = await ctx.wait(op, answer_name(op), about=about)  # type: ignore[arg-type]  # it is JSON
        progress.add_wait(began, ctx.now())
        payload: Any = signal.payload if signal else {"text": ""}
        text, reason = await _accepted(ctx, {"op": op, "about": about, "answer": payload})
        if text is not None:
            person = str(payload.get("by", ""))
            answered = AnswerAccepted(suspension_id=name, kind=step["await_kind"], answered_by=person)
            await events.publish(f"answered:{name}", answered)
            return text
        number += 1


async def _accepted(ctx: RunContext, argument: AcceptArgument) -> tuple[str | None, str]:
    """Return the text and "" if an answer is accepted; otherwise None and the reason."""
    try:
        accepted: Any = await ctx.start(f"accept:{argument['about']['id']}", "accept", argument)  # type: ignore[arg-type]  # it is JSON
    except (ActivityFailed, PayloadTooLargeError) as error:
        return None, f"the answer could not be used: {error.message}"
    return accepted["text"], accepted["reason"]


def _event(step: AwaitStep, about: QuestionDocument) -> QuestionAsked:
    return QuestionAsked(
        suspension_id=about["id"],
        question=about["question"],
        missing_fields=tuple(step["missing_fields"]),
        kind=about["kind"],
        answer_schema=about["answer_schema"],
        reason=about.get("reason", ""),
    )
