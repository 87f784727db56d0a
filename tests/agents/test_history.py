"""What a history policy shows of a conversation, and what it wants summarized."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from tests.agents.tools import agent
from toolgen.agents import CallTools, RunPolicy, ScriptedPlanner, agents_of
from toolgen.agents.planner.history import visible_history
from toolgen.agents.planner.message_sizes import tokens_of, within_tokens
from toolgen.agents.planner.messages import (
    AssistantMessage,
    Message,
    PlannedCall,
    ToolAnswer,
    ToolMessage,
    UserMessage,
)
from toolgen.agents.sessions.sessions import RunMessages, Summary, Turn
from toolgen.calls.functions.tools import function_toolset
from toolgen.contract.policy import History
from toolgen.runtime import Runtime


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


def sized(number: int, tokens: int) -> RunMessages:
    """Return a run whose messages are about so many tokens."""
    return replace(run(number), messages=(UserMessage(text=f"{number:04}" * tokens),))


def test_the_newest_turns_that_have_room_are_kept() -> None:
    runs = [sized(number, 100) for number in range(1, 6)]
    assert len(visible_history(runs, None, History(keep_tokens=250)).messages) == 2
    assert len(visible_history(runs, None, History(keep_tokens=300)).messages) == 3
    assert len(visible_history(runs, None, History(keep_tokens=99)).messages) == 0
    assert len(visible_history(runs, None, History(keep_turns=1, keep_tokens=300)).messages) == 1
    assert len(visible_history(runs, None, History(keep_turns=4, keep_tokens=300)).messages) == 3


def test_a_summary_is_due_beyond_its_tokens() -> None:
    runs = [sized(number, 100) for number in range(1, 6)]
    policy = History(keep_tokens=200, summarize_at=500)
    assert visible_history(runs, None, policy).to_summarize == ()
    seen = visible_history([*runs, sized(6, 1)], None, policy)
    assert ids(seen.to_summarize) == ["run-1", "run-2", "run-3", "run-4"]
    after = visible_history([*runs, sized(6, 1)], Summary(text="they talked", through="run-4"), policy)
    assert after.to_summarize == ()
    assert len(after.messages) == 3


def batch(number: int, characters: int, count: int = 1) -> list[Message]:
    """Return a batch of calls and their results, each of so many characters."""
    calls = tuple(PlannedCall(name="read", id=f"{number}_{place}") for place in range(count))
    answers = tuple(
        ToolAnswer(id=call.id, name="read", status="ok", text=f"{number}" * characters) for call in calls
    )
    return [AssistantMessage(calls=calls), ToolMessage(answers=answers)]


def shown(messages: Sequence[Message]) -> list[str]:
    return [
        answer.text[:8]
        for message in messages
        if isinstance(message, ToolMessage)
        for answer in message.answers
    ]


def test_old_results_of_a_turn_are_left_out_and_the_newest_stays() -> None:
    messages: list[Message] = [
        UserMessage(text="Read all."),
        *(m for n in range(1, 7) for m in batch(n, 400)),
    ]
    assert within_tokens(messages[:5], 450) == tuple(messages[:5])
    sent = within_tokens(messages, 450)
    assert shown(sent) == ['{"left_o'] * 4 + ["55555555", "66666666"]
    assert "an earlier result of 400 characters" in shown_text(sent[2])
    assert sum(map(tokens_of, sent)) <= 450
    assert [message for message in sent if not isinstance(message, ToolMessage)] == messages[0:1] + messages[
        1::2
    ]


def test_the_beginning_stays_the_same_for_several_plannings() -> None:
    messages: list[Message] = [m for n in range(1, 10) for m in batch(n, 400)]
    sent = [within_tokens(messages[: 2 * step], 500) for step in range(1, 10)]
    same = [later[: len(earlier)] == earlier for earlier, later in pairwise(sent)]
    assert same == [True, True, True, False, True, True, False, True]


def test_a_batch_that_is_too_large_alone_is_cut_in_equal_shares() -> None:
    sent = within_tokens(batch(1, 8_000, count=2), 1_000)
    assert [len(text) for text in map(shown_text, sent[1:])] == [4_000]
    assert '"cut":"2000 of 8000 characters are shown"' in full_text(sent[1])


def shown_text(message: Message) -> str:
    """Return what is shown of the results of a batch."""
    assert isinstance(message, ToolMessage)
    documents = [json.loads(answer.text) for answer in message.answers]
    return "".join(document.get("beginning", "") or document["left_out"] for document in documents)


def full_text(message: Message) -> str:
    assert isinstance(message, ToolMessage)
    return "".join(answer.text for answer in message.answers)


@pytest.mark.exhaustive
async def test_a_run_sends_no_more_than_its_policy_says_and_keeps_everything() -> None:
    """Without the policy the twelfth planning is sent 480 KB."""

    def read(page: int) -> str:
        """Read a page."""
        return f"{page:04}" * 10_000

    pages = function_toolset("x.pages", [read])
    steps = [CallTools(calls=(PlannedCall.of("read", {"page": page}),)) for page in range(1, 13)]
    planner = ScriptedPlanner([*steps, "Read."])
    policy = RunPolicy(history=History(keep_tokens=25_000))
    async with Runtime() as runtime:
        agents = agents_of(runtime)
        agents.register(agent("x.agent", planner, pages, policy=policy))
        output = await agents.client("x.agent").run("Read all.", session_id="s")
        (kept,) = await agents.sessions.transcript("s")
    assert output.text == "Read."
    assert max(sum(map(tokens_of, given.messages)) for given in planner.inputs) <= 25_000 + 12 * 40
    newest = planner.inputs[-1].messages[-1]
    assert isinstance(newest, ToolMessage)
    assert newest.answers[0].text == f'"{"0012" * 10_000}"'
    assert sum(len(full_text(each)) for each in kept.messages if isinstance(each, ToolMessage)) > 480_000


async def test_a_policy_without_numbers_shows_all_turns() -> None:
    planner = ScriptedPlanner(*[["Said."]] * 21)
    async with Runtime() as runtime:
        agents = agents_of(runtime)
        agents.register(agent("x.agent", planner, policy=RunPolicy(history=History())))
        for number in range(21):
            await agents.client("x.agent").run(f"question {number}", session_id="s")
    assert texts(planner.inputs[-1].messages) == [f"question {number}" for number in range(21)]
