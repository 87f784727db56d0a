"""What a history policy shows of a conversation, and what it wants summarized."""

from __future__ import annotations

from toolgen.agents.planner.history import visible_history
from toolgen.agents.planner.messages import AssistantMessage, Message, UserMessage
from toolgen.agents.sessions.sessions import RunMessages, Summary, Turn
from toolgen.contract.policy import History


def run(number: int, turn: str = "") -> RunMessages:
    """Return a run in which a question was asked and answered."""
    place = Turn(
        id=turn or f"turn-{number}",
        session_id="s",
        run_id=f"run-{number}",
        agent="home.assistant",
        started_at=number,
    )
    messages = (UserMessage(text=f"question {number}"), AssistantMessage(text=f"answer {number}"))
    return RunMessages(turn=place, messages=messages)


def texts(messages: tuple[Message, ...]) -> list[str]:
    return [message.text for message in messages if isinstance(message, UserMessage)]


def ids(said: tuple[RunMessages, ...]) -> list[str]:
    return [one.turn.run_id for one in said]


FIVE = [run(number) for number in range(1, 6)]


def test_without_a_policy_all_is_seen() -> None:
    seen = visible_history(FIVE, Summary(text="old", through="run-2"), None)
    assert texts(seen.messages) == [f"question {number}" for number in range(1, 6)]
    assert len(seen.messages) == 10
    assert seen.to_summarize == ()
    assert seen.to_condense == ()


def test_only_the_newest_turns_are_kept() -> None:
    seen = visible_history(FIVE, None, History(keep_turns=2))
    assert texts(seen.messages) == ["question 4", "question 5"]
    assert seen.to_summarize == ()


def test_runs_of_one_turn_count_once() -> None:
    runs = [run(1), run(2), run(3, "turn-2"), run(4)]
    seen = visible_history(runs, None, History(keep_turns=2))
    assert texts(seen.messages) == ["question 2", "question 3", "question 4"]


def test_fewer_turns_than_are_kept() -> None:
    assert texts(visible_history(FIVE[:1], None, History(keep_turns=3)).messages) == ["question 1"]
    assert visible_history([], None, History(keep_turns=3)).messages == ()


def test_no_turn_may_be_kept() -> None:
    assert visible_history(FIVE, None, History(keep_turns=0)).messages == ()


def test_a_summary_is_not_due_before_its_number_of_turns() -> None:
    seen = visible_history(FIVE, None, History(keep_turns=2, summarize_after=5))
    assert len(seen.messages) == 10
    assert seen.to_summarize == ()


def test_with_more_turns_those_before_the_kept_are_to_be_summarized() -> None:
    seen = visible_history(FIVE, None, History(keep_turns=2, summarize_after=4))
    assert ids(seen.to_summarize) == ["run-1", "run-2", "run-3"]
    assert texts(seen.to_condense) == ["question 1", "question 2", "question 3"]
    assert len(seen.messages) == 10, "nothing is lost before there is a summary"


def test_a_summary_stands_first_and_in_the_place_of_what_it_covers() -> None:
    summary = Summary(text="they talked", through="run-3")
    seen = visible_history(FIVE, summary, History(keep_turns=2, summarize_after=4))
    assert seen.messages[0] == UserMessage(
        text="Summary of the conversation so far: they talked", source="runtime"
    )
    assert texts(seen.messages[1:]) == ["question 4", "question 5"]
    assert seen.to_summarize == ()


def test_the_next_summary_is_due_after_as_many_further_turns() -> None:
    summary = Summary(text="they talked", through="run-3")
    policy = History(keep_turns=2, summarize_after=4)
    eight = [run(number) for number in range(1, 9)]
    assert visible_history(eight[:7], summary, policy).to_summarize == ()
    seen = visible_history(eight, summary, policy)
    assert ids(seen.to_summarize) == ["run-4", "run-5", "run-6"]
    assert texts(seen.to_condense) == [
        "Summary of the conversation so far: they talked",
        "question 4",
        "question 5",
        "question 6",
    ]


def test_a_summary_of_older_runs_than_these_covers_none_of_them() -> None:
    seen = visible_history(
        FIVE, Summary(text="old", through="run-0"), History(keep_turns=5, summarize_after=5)
    )
    assert len(seen.messages) == 11


def test_a_summary_may_end_within_a_turn() -> None:
    runs = [run(1, "turn"), run(2, "turn"), run(3)]
    seen = visible_history(
        runs, Summary(text="old", through="run-1"), History(keep_turns=1, summarize_after=2)
    )
    assert texts(seen.messages[1:]) == ["question 2", "question 3"]


def test_what_is_left_out_for_good_needs_no_summary() -> None:
    seen = visible_history(FIVE, Summary(text="old", through="run-3"), History(keep_turns=4))
    assert texts(seen.messages) == [f"question {number}" for number in range(2, 6)]


def test_kept_turns_are_never_summarized() -> None:
    assert visible_history(FIVE, None, History(keep_turns=6, summarize_after=2)).to_summarize == ()
