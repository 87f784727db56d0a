"""The checker of the laboratory finds nothing in a sound episode, and each invariant that is broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.lab.evidence import Evidence, RunRecord
from tests.lab.invariants import INVARIANTS, violations
from tests.lab.ledger import Entry, Kind
from toolgen.agents import AssistantMessage, Message, PlannedCall, ToolAnswer, ToolMessage, UserMessage

NAMED = {"name": "twice", "ms": 1}
APPROVED, DENIED = {"approved": True}, {"approved": False}


def entry(
    kind: Kind, call: str = "", tool: str = "", *, run: str = "r", wait: str = "", **facts: Any
) -> Entry:
    return Entry(kind=kind, run=run, session="s", call=call, tool=tool, wait=wait, facts=facts)


def begin(call: str, tool: str, **facts: Any) -> Entry:
    return entry("begin", call, tool, arguments={"name": call, "ms": 1}, **facts)


def start(call: str) -> dict[str, Any]:
    return {"type": "tool_start", "run_id": "r", "tool_call_id": call}


def end(call: str, tool: str, status: str) -> dict[str, Any]:
    return {"type": "tool_end", "run_id": "r", "tool_call_id": call, "tool": f"lab.{tool}", "status": status}


def log(*events: dict[str, Any]) -> RunRecord:
    """Return a run with these events of its calls."""
    ends = ({"type": "run_completed"}, {"type": "run_stream_end"})
    return RunRecord(events=tuple(enumerate(({"type": "run_started"}, *events, *ends), 1)))


def said(*answered: str) -> tuple[Message, ...]:
    """Return a conversation of three calls of which these have results."""
    calls = tuple(PlannedCall(name="x", id=call) for call in ("pay", "wipe", "ask"))
    answers = tuple(ToolAnswer(id=call, name="x", status="ok", text="{}") for call in answered)
    return (
        UserMessage(text="Go."),
        AssistantMessage(calls=calls),
        ToolMessage(answers=answers),
        AssistantMessage(text="Done."),
    )


HEARD = UserMessage(text='The work of order (order) is done: "delivery 7"', source="runtime")
TURN = (HEARD, AssistantMessage(text="Good."))
AUTHORIZED = {"type": "tool_authorization", "suspension_id": "w1", "decision": "approved"}
ACCEPTED = {"type": "answer_accepted", "suspension_id": "w2"}
DELIVERED = {"type": "answer_accepted", "suspension_id": "w3"}
LEDGER = (
    entry("starting"),
    entry("started"),
    entry("plan", unpaired=[]),
    begin("pay", "pay"),
    entry("end", "pay", "pay"),
    entry("shown", "wipe", "wipe", wait="w1", arguments={"name": "wipe", "ms": 1}),
    entry("answered", "wipe", "wipe", wait="w1", answer=APPROVED),
    begin("wipe", "wipe"),
    entry("end", "wipe", "wipe"),
    entry("answered", "ask", "ask", wait="w2", answer="jo"),
    begin("ask", "ask", answer="jo"),
    entry("end", "ask", "ask"),
    begin("order", "order"),
    entry("end", "order", "order"),
    entry("answered", "order", "order", wait="w3", answer="delivery 7"),
    entry("plan", run="r/done:order", unpaired=[]),
)
CALLS = ("pay", "wipe", "ask")
RUN = log(
    *(start(call) for call in (*CALLS, "order")),
    AUTHORIZED,
    ACCEPTED,
    *(end(call, call, "ok") for call in CALLS),
    end("order", "order", "pending"),
)
WORK = RunRecord(events=((1, DELIVERED), (2, end("order", "order", "ok")), (3, {"type": "run_stream_end"})))
SOUND = Evidence(
    ledger=LEDGER,
    runs={"r": RUN, "r/work:order": WORK, "r/done:order": log()},
    conversations={"s": {"r": said(*CALLS), "r/done:order": TURN}},
)


def with_ledger(*more: Entry) -> Evidence:
    return replace(SOUND, ledger=(*LEDGER, *more))


def without(*kinds: Kind, call: str) -> Evidence:
    left = tuple(one for one in LEDGER if not (one.kind in kinds and one.call == call))
    return replace(SOUND, ledger=left)


def with_status(call: str, status: str) -> Evidence:
    """Return the sound episode with another end of a call in the log."""
    events = tuple(
        (offset, {**event, "status": status} if event.get("tool") == f"lab.{call}" else event)
        for offset, event in RUN.events
    )
    return with_run(replace(RUN, events=events))


def with_run(run: RunRecord) -> Evidence:
    return replace(SOUND, runs={**SOUND.runs, "r": run})


def with_turns(messages: tuple[Message, ...], **more: tuple[Message, ...]) -> Evidence:
    """Return the sound episode with other messages of its run; `done` and `other` are turns behind it."""
    turns = {f"r/done:{'order' if name == 'done' else name}": told for name, told in more.items()}
    return replace(SOUND, conversations={"s": {"r": messages, **turns}})


def with_events(change: Callable[[list[Any]], list[Any]]) -> Evidence:
    return with_run(replace(RUN, events=tuple(change(list(RUN.events)))))


def with_answer(call: str, answer: Any) -> Evidence:
    """Return the sound episode in which a person has said something else."""
    ledger = tuple(
        replace(one, facts={"answer": answer}) if (one.kind, one.call) == ("answered", call) else one
        for one in LEDGER
    )
    return replace(SOUND, ledger=ledger)


def numbered(events: list[Any]) -> list[Any]:
    return [(number, event) for number, (_, event) in enumerate(events, 1)]


PLANTED: dict[str, tuple[str, Evidence]] = {
    "a payment begins twice": ("I1", with_ledger(begin("pay", "pay"))),
    "a payment is made again, as a planner was told to": (
        "I1",
        with_ledger(
            entry("begin", "again", "pay", arguments=NAMED), entry("begin", "first", "pay", arguments=NAMED)
        ),
    ),
    "ok, and it never ended": ("I2", without("end", call="pay")),
    "an error, and it has ended": ("I2", with_status("pay", "error")),
    "an error, and it was cut": (
        "I2",
        replace(with_status("pay", "error"), ledger=without("end", call="pay").ledger),
    ),
    "denied, and it has begun": ("I2", with_status("pay", "denied")),
    "unknown, and it only reads": (
        "I2",
        replace(
            with_run(log(start("look"), end("look", "look_up", "unknown"))),
            ledger=(entry("started"), begin("look", "look_up")),
            conversations={},
        ),
    ),
    "a call without a result at a planning": ("I3", with_ledger(entry("plan", unpaired=["c1 has none"]))),
    "a call without a result in the transcript": (
        "I3",
        with_turns(said("pay", "wipe"), done=TURN),
    ),
    "a result of no call": ("I3", with_turns(said("pay", "wipe", "ask", "other"), done=TURN)),
    "two answers are acknowledged": (
        "I4",
        with_ledger(entry("answered", "ask", "ask", wait="w2", answer="eve")),
    ),
    "an answer is used twice": (
        "I4",
        with_events(lambda all_: numbered([*all_[:2], (0, ACCEPTED), *all_[2:]])),
    ),
    "an answer is not used": (
        "I4",
        with_events(lambda all_: numbered([one for one in all_ if one[1] is not ACCEPTED])),
    ),
    "another answer is used": ("I4", with_answer("ask", "eve")),
    "a yes is taken for a no": (
        "I4",
        with_events(
            lambda all_: [
                (offset, {**event, "decision": "denied"} if event is AUTHORIZED else event)
                for offset, event in all_
            ]
        ),
    ),
    "a delivery is not heard": ("I4", with_turns(said(*CALLS))),
    "a delivery is heard that nobody made": ("I4", with_turns(said(*CALLS), done=TURN, other=TURN)),
    "a delivery is heard twice": ("I4", with_turns(said(*CALLS), done=(HEARD, *TURN))),
    "other arguments run than were shown": (
        "I5",
        with_ledger(
            entry("begin", "other", "wipe", arguments=NAMED),
            entry("shown", "other", "wipe", arguments={"name": "b", "ms": 1}),
        ),
    ),
    "what was denied runs": ("I5", with_answer("wipe", DENIED)),
    "a log has a gap": ("I6", with_events(lambda all_: [*all_[:2], *all_[3:]])),
    "a run ends twice": (
        "I6",
        with_events(lambda all_: numbered([*all_[:-1], (0, {"type": "run_completed"}), all_[-1]])),
    ),
    "a stream has no end": ("I6", with_events(lambda all_: all_[:-1])),
    "a call ends twice": ("I6", with_events(lambda all_: numbered([*all_[:-2], all_[7], *all_[-2:]]))),
    "turns interleave": ("I7", with_ledger(entry("plan", unpaired=[]))),
    "a run goes on": ("I8", with_run(replace(RUN, state="running"))),
    "a call waits": ("I8", replace(SOUND, waits=("r wait:1",))),
    "a replay returns something else": ("I9", with_run(replace(RUN, replayed=False))),
    "a run is gone": ("I10", with_ledger(entry("started", run="gone"))),
}


def test_a_sound_episode_has_no_violation() -> None:
    assert violations(SOUND) == []


@pytest.mark.parametrize("planted", PLANTED)
def test_a_broken_invariant_is_found(planted: str) -> None:
    invariant, evidence = PLANTED[planted]
    assert invariant in {found.invariant for found in violations(evidence)}


def test_each_invariant_has_a_planted_violation() -> None:
    assert len(INVARIANTS) == 10
    assert {invariant for invariant, _ in PLANTED.values()} == {f"I{number}" for number in range(1, 11)}


def test_a_call_that_was_cut_may_be_unknown() -> None:
    evidence = replace(with_status("pay", "unknown"), ledger=without("end", call="pay").ledger)
    assert violations(evidence) == []


def test_no_answer_is_used_of_a_call_that_had_begun_in_a_file_that_was_lost() -> None:
    begun = begin("gone", "ask", answer="jo", is_before=True)
    asked = entry("answered", "gone", "ask", wait="w9", answer="ann")
    unused = {found.invariant for found in violations(with_ledger(asked))}
    assert "I4" in unused
    assert violations(with_ledger(begun, asked)) == []
    assert violations(with_ledger(entry("begun", "gone"), asked)) == []


def test_an_end_has_no_start_where_a_run_is_cut_before_it_comes_to_a_call_that_had_begun() -> None:
    ended = with_events(lambda all_: numbered([*all_[:-2], (0, end("gone", "", "unknown")), *all_[-2:]]))
    cut = replace(ended, runs={**ended.runs, "r": replace(ended.runs["r"], state="canceled")})
    had_begun = (*LEDGER, entry("begun", "gone"))
    assert violations(replace(cut, ledger=had_begun)) == []
    for evidence in (cut, replace(ended, ledger=had_begun)):
        assert {found.invariant for found in violations(evidence)} == {"I6"}


def test_what_ended_late_is_published_too() -> None:
    settled = RunRecord(events=(), state="running")
    found = violations(replace(SOUND, runs={**SOUND.runs, "r/resolved:pay": settled}))
    assert {one.invariant for one in found} == {"I6", "I8"}
