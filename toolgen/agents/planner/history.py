"""Selection of earlier turns for a planner: the newest in full, the others as a summary. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolgen.contract.policy import History
from toolgen.contract.record import frozen_record

from ..sessions.sessions import RunMessages, Summary
from .message_sizes import tokens_of
from .messages import Message, UserMessage


@frozen_record
class VisibleHistory:
    """Part of a conversation that a history policy shows."""

    messages: tuple[Message, ...]
    """Messages, oldest first, including those still to be summarized: without a summary nothing is lost."""
    to_summarize: tuple[RunMessages, ...] = ()
    """The runs that the next summary has to include; with that summary, `visible_history` leaves them out."""
    summary: UserMessage | None = None
    """The previous summary, which is the first message; None if there is none."""

    @property
    def to_condense(self) -> tuple[Message, ...]:
        """The messages for a summarizer: the previous summary, and the messages of the runs after it."""
        before = () if self.summary is None else (self.summary,)
        return (*before, *_messages(self.to_summarize))


def visible_history(
    runs: Sequence[RunMessages], summary: Summary | None, history: History | None
) -> VisibleHistory:
    """Return the messages that a history policy shows of these runs.

    A turn consists of the runs with one `Turn.id`. Turns that the summary covers no longer count, so a new
    summary is due only when more than `summarize_after` further turns are there, or when they have more than
    `summarize_at` tokens.
    """
    if history is None:
        return VisibleHistory(messages=_messages(runs))
    if history.summarize_after is None and history.summarize_at is None:
        _, newest = _split(runs, history)
        return VisibleHistory(messages=_messages(newest))
    shown = None if summary is None else _shown(summary)
    before = () if shown is None else (shown,)
    fresh = runs if summary is None else _after(runs, summary.through)
    older: tuple[RunMessages, ...] = ()
    turns, at = history.summarize_after, history.summarize_at
    if (turns is not None and len(_turns(fresh)) > turns) or (
        at is not None and sum(map(tokens_of, _messages(fresh))) > at
    ):
        older, _ = _split(fresh, history)
    return VisibleHistory(messages=(*before, *_messages(fresh)), to_summarize=older, summary=shown)


def _shown(summary: Summary) -> UserMessage:
    return UserMessage(text=f"Summary of the conversation so far: {summary.text}", source="runtime")


def _after(runs: Sequence[RunMessages], run_id: str) -> tuple[RunMessages, ...]:
    """Return the runs after a run; all runs if it is missing, because then it is older than all of them."""
    places = [place for place, run in enumerate(runs) if run.turn.run_id == run_id]
    return tuple(runs[places[-1] + 1 :]) if places else tuple(runs)


def _split(
    runs: Sequence[RunMessages], history: History
) -> tuple[tuple[RunMessages, ...], tuple[RunMessages, ...]]:
    """Return the runs of the older turns, and the runs of the newest turns that are shown."""
    turns = _turns(runs)
    most = len(turns) if history.keep_turns is None else history.keep_turns
    shown = turns[max(len(turns) - most, 0) :]
    if history.keep_tokens is not None:
        shown = shown[len(shown) - _fitting(runs, shown, history.keep_tokens) :]
    older = tuple([run for run in runs if run.turn.id not in shown])
    return older, tuple([run for run in runs if run.turn.id in shown])


def _fitting(runs: Sequence[RunMessages], turns: Sequence[str], tokens: int) -> int:
    """Return how many of the newest turns fit into this number of tokens."""
    sizes = dict.fromkeys(turns, 0)
    for run in runs:
        if run.turn.id in sizes:
            sizes[run.turn.id] += sum(map(tokens_of, run.messages))
    count = 0
    for size in reversed(sizes.values()):
        tokens -= size
        if tokens < 0:
            break
        count += 1
    return count


def _turns(runs: Iterable[RunMessages]) -> list[str]:
    """Return the ids of the turns, in the order of their first runs."""
    return list(dict.fromkeys(run.turn.id for run in runs))


def _messages(runs: Iterable[RunMessages]) -> tuple[Message, ...]:
    return tuple([message for run in runs for message in run.messages])
