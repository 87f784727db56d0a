"""The ten invariants of the laboratory, over what is left of an episode.

A call is known by its run and its own id. One that may not run twice is that of any tool but of `REPEATABLE`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from .agents import unpaired
from .evidence import Evidence, RunRecord
from .ledger import Entry
from .tools import DELEGATE, REPEATABLE

Key: TypeAlias = tuple[str, str]
"""The id of a run, "" of a call that no agent made, and of the call."""
_WORK: Final = ("order", "await_delivery")
"""Tools whose call goes on after their effect, until somebody delivers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """An invariant that does not hold."""

    invariant: str
    """`I1` to `I10`."""
    subject: str
    text: str

    def __str__(self) -> str:
        return f"{self.invariant} {self.subject}: {self.text}"


@dataclass(slots=True, kw_only=True)
class Call:
    """What happened to one call."""

    tool: str = ""
    begun: list[Entry] = field(default_factory=list)
    ended: int = 0
    failed: int = 0
    statuses: list[str] = field(default_factory=list)
    """How it ended, in its logs; `pending` may come before another one."""
    answers: list[Entry] = field(default_factory=list)
    """Those that were acknowledged."""
    shown: list[Mapping[str, Any]] = field(default_factory=list)
    """The arguments that a person was shown."""
    was_kept: bool = False
    """It had begun before files were lost, by their witness."""

    @property
    def began_before(self) -> bool:
        """Whether it had begun before files were lost, so that no answer is used any more."""
        return self.was_kept or any("is_before" in entry.facts for entry in self.begun)

    @property
    def is_repeatable(self) -> bool:
        return self.tool in REPEATABLE


def calls_of(evidence: Evidence) -> dict[Key, Call]:
    """Return the calls of all runs."""
    calls: dict[Key, Call] = defaultdict(Call)
    for entry in evidence.entries("begin", "end", "failed", "answered", "shown", "begun"):
        call = calls[entry.run, entry.call]
        call.tool = entry.tool or call.tool
        match entry.kind:
            case "begin":
                call.begun.append(entry)
            case "answered":
                call.answers.append(entry)
            case "shown":
                call.shown.append(entry.facts["arguments"])
            case "begun":
                call.was_kept = True
            case _:
                call.ended += entry.kind == "end"
                call.failed += entry.kind == "failed"
    for event in evidence.ends():
        call = calls[event["run_id"], event["tool_call_id"]]
        call.tool = event["tool"].rpartition(".")[2]
        call.statuses.append(event["status"])
    return {key: call for key, call in calls.items() if call.tool != DELEGATE}


def once(evidence: Evidence) -> Iterator[Violation]:
    """I1: what may not run twice begins at most once, although the planner does as it is told."""
    effects = Counter[str]()
    for key, call in calls_of(evidence).items():
        if call.is_repeatable:
            continue
        if len(call.begun) > 1:
            yield _violation("I1", key, f"{call.tool} began {len(call.begun)} times")
        if not is_direct(key[0]) and not call.failed:
            effects.update({entry.facts["arguments"]["name"] for entry in call.begun})
    for name, times in effects.items():
        if times > 1:
            text = f"{times} calls of it began"
            yield Violation(invariant="I1", subject=name, text=text)


def truthful(evidence: Evidence) -> Iterator[Violation]:
    """I2: `ok` says that it ended, and no call that has begun is told as failed or as not run."""
    for key, call in calls_of(evidence).items():
        began = len(call.begun)
        for status in call.statuses:
            match status:
                case "ok" | "pending" if call.ended == 0:
                    yield _violation("I2", key, f"{call.tool} is {status}, and never ended")
                case "denied" if began:
                    yield _violation("I2", key, f"{call.tool} is denied, and began")
                case "unknown" if call.is_repeatable:
                    yield _violation("I2", key, f"{call.tool} is unknown, and may run again")
                case "error" if _hides_an_effect(call):
                    yield _violation("I2", key, f"{call.tool} began, did not fail, and is told as an error")


def _hides_an_effect(call: Call) -> bool:
    """Return whether a call that is told as an error has begun and did not fail; a delivery may fail."""
    if call.is_repeatable or (call.tool in _WORK and call.ended):
        return False
    return len(call.begun) > call.failed


def one_result(evidence: Evidence) -> Iterator[Violation]:
    """I3: each call has exactly one result right behind it, at each planning and in each transcript."""
    for entry in evidence.entries("plan"):
        for wrong in entry.facts["unpaired"]:
            yield Violation(invariant="I3", subject=entry.run, text=f"a planner was shown that {wrong}")
    for session, turns in evidence.conversations.items():
        for wrong in unpaired(message for messages in turns.values() for message in messages):
            yield Violation(invariant="I3", subject=session, text=f"the transcript says that {wrong}")


def used_once(evidence: Evidence) -> Iterator[Violation]:
    """I4: an answer that was acknowledged is the one that is used, once; a delivery is heard exactly once."""
    used: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for run in evidence.runs.values():
        for event in run.of("answer_accepted", "tool_authorization"):
            used[event["suspension_id"]].append(event)
    given: dict[str, list[Entry]] = defaultdict(list)
    for entry in evidence.entries("answered"):
        given[entry.wait].append(entry)
    calls = calls_of(evidence)
    for wait, entries in given.items():
        entry = entries[-1]
        key = (entry.run, entry.call)
        if len({repr(one.facts["answer"]) for one in entries}) > 1:
            yield _violation("I4", key, f"two answers to {wait} were acknowledged")
        elif len(used[wait]) > 1:
            yield _violation("I4", key, f"the answer to {wait} was used {len(used[wait])} times")
        elif not used[wait] and not _is_cut(evidence, entry.run) and not calls[key].began_before:
            yield _violation("I4", key, f"the answer to {wait} was acknowledged and not used")
        elif used[wait] and (wrong := _misused(entry.facts["answer"], calls[key], used[wait][0])):
            yield _violation("I4", key, wrong)
    yield from _heard(evidence)


def _misused(answer: Any, call: Call, event: Mapping[str, Any]) -> str:
    """Return how the one acknowledged answer differs from what the call made of it; "" where it does not."""
    approved = answer.get("approved") if isinstance(answer, dict) else None
    if approved is not None and event.get("decision") != ("approved" if approved else "denied"):
        return f"a person said {answer}, and it was {event.get('decision')}"
    now = (entry.facts for entry in call.begun if "is_before" not in entry.facts)
    told = [facts["answer"] for facts in now if "answer" in facts]
    if told and told != [answer]:
        return f"a person said {answer!r}, and the tool heard {told}"
    return ""


def _heard(evidence: Evidence) -> Iterator[Violation]:
    """Check the turns that tell of deliveries: one for each acknowledged one, and for nothing else."""
    ended = {entry.session for entry in evidence.entries("ended")}
    answered = {entry.wait: entry for entry in evidence.entries("answered") if entry.tool == "order"}
    heard = {run_id for turns in evidence.conversations.values() for run_id in turns if "/done:" in run_id}
    for entry in answered.values():
        said, turn = entry.facts["answer"], f"{entry.run}/done:{entry.call}"
        said = said["error"] if isinstance(said, dict) else said
        messages = evidence.conversations.get(entry.session, {}).get(turn, ())
        times = sum(said in getattr(message, "text", "") for message in messages)
        if times != 1 and (messages or entry.session not in ended):
            yield _violation("I4", (entry.run, entry.call), f"the delivery {said!r} was heard {times} times")
        heard.discard(turn)
    given = {f"{entry.run}/done:{entry.call}" for entry in evidence.entries("answering")}
    for turn in heard - given:
        yield Violation(invariant="I4", subject=turn, text="it tells of what nobody delivered")


def as_approved(evidence: Evidence) -> Iterator[Violation]:
    """I5: what a person was shown is what runs, and what was denied never begins."""
    for key, call in calls_of(evidence).items():
        for entry in call.begun:
            arguments = entry.facts["arguments"]
            if call.tool == "wipe" and not any(shown == arguments for shown in call.shown):
                yield _violation("I5", key, f"it ran with {arguments}, and {call.shown} was shown")
        denials = [one for one in call.answers if one.facts["answer"] == {"approved": False}]
        if denials and any("is_before" not in entry.facts for entry in call.begun):
            yield _violation("I5", key, "it was denied, and began")


def whole_logs(evidence: Evidence) -> Iterator[Violation]:
    """I6: a log has no gaps, one start, one end, one end of stream, and one final end for each call."""
    calls = calls_of(evidence)
    for run_id, run in evidence.runs.items():
        types = Counter(event["type"] for _, event in run.events)
        offsets = [offset for offset, _ in run.events]
        wrong = []
        if offsets != list(range(1, len(offsets) + 1)):
            wrong.append(f"its offsets are {offsets}")
        if types["run_stream_end"] != 1 or run.events[-1][1]["type"] != "run_stream_end":
            wrong.append(f"it has {types['run_stream_end']} ends of its stream, or something behind it")
        if is_of_an_agent(run_id):
            starts = Counter(event["tool_call_id"] for event in run.of("tool_start"))
            ends = Counter(
                event["tool_call_id"]
                for event in run.of("tool_end")
                if event["status"] != "suspended" and not _is_of_lost(event, run, calls)
            )
            if (types["run_started"], types["run_completed"]) != (1, 1):
                wrong.append(f"it starts {types['run_started']} and ends {types['run_completed']} times")
            if starts != ends or any(count > 1 for count in starts.values()):
                wrong.append(f"calls start {dict(starts)} and end {dict(ends)}")
        yield from (Violation(invariant="I6", subject=run_id, text=text) for text in wrong)


def _is_of_lost(event: Mapping[str, Any], run: RunRecord, calls: Mapping[Key, Call]) -> bool:
    """Return whether an end tells of a call that had begun in a lost file, and its run came not to it."""
    call_id = event["tool_call_id"]
    is_unstarted = all(start["tool_call_id"] != call_id for start in run.of("tool_start"))
    is_cut = run.state != "completed" and event["status"] == "unknown"
    call = calls.get((event["run_id"], call_id))
    return is_unstarted and is_cut and call is not None and call.began_before


def in_turns(evidence: Evidence) -> Iterator[Violation]:
    """I7: the turns of a session never interleave: what one has planned comes before all of the next."""
    turns: dict[str, list[str]] = defaultdict(list)
    for entry in evidence.entries("plan"):
        turn = turn_of(entry.run)
        if not is_direct(turn) and turns[entry.session][-1:] != [turn]:
            turns[entry.session].append(turn)
    for session, order in turns.items():
        if len(order) != len(set(order)):
            yield Violation(invariant="I7", subject=session, text=f"its turns planned in the order {order}")


def all_ended(evidence: Evidence) -> Iterator[Violation]:
    """I8: every run is over, and nothing waits."""
    for run_id, run in evidence.runs.items():
        if run.state in ("running", "waiting"):
            yield Violation(invariant="I8", subject=run_id, text=f"it is {run.state}")
    for wait in evidence.waits:
        yield Violation(invariant="I8", subject=wait, text="it still waits")


def replayed(evidence: Evidence) -> Iterator[Violation]:
    """I9: the loop of a completed run, executed again, returns the same."""
    for run_id, run in evidence.runs.items():
        if not run.replayed:
            yield Violation(invariant="I9", subject=run_id, text="its replay returns something else")


def starts_kept(evidence: Evidence) -> Iterator[Violation]:
    """I10: a run whose start was acknowledged exists."""
    for entry in evidence.entries("started"):
        if entry.run not in evidence.runs:
            yield Violation(
                invariant="I10", subject=entry.run, text="its start was acknowledged, and it is gone"
            )


INVARIANTS: Final[tuple[Callable[[Evidence], Iterator[Violation]], ...]] = (
    once,
    truthful,
    one_result,
    used_once,
    as_approved,
    whole_logs,
    in_turns,
    all_ended,
    replayed,
    starts_kept,
)


def violations(evidence: Evidence) -> list[Violation]:
    """Return all that does not hold."""
    return [found for invariant in INVARIANTS for found in invariant(evidence)]


def is_direct(run_id: str) -> bool:
    """Return whether a run is that of a call of a client, who makes it again in each of its lives."""
    return not run_id or run_id.startswith("call_")


def turn_of(run_id: str) -> str:
    """Return the run that has the turn of a session, of a run that may be below it."""
    above, done, last = run_id.rpartition("/done:")
    return above + done + last.partition("/child:")[0]


def is_of_an_agent(run_id: str) -> bool:
    """Return whether a run is that of an agent, and not of a call that waits by itself."""
    return not run_id.rpartition("/")[2].startswith(("call_", "work:", "resolved:"))


def _is_cut(evidence: Evidence, run_id: str) -> bool:
    """Return whether a run or one above it was canceled, ran out of its time, or lost its session."""
    root = run_id.partition("/")[0]
    if not root:
        return False  # of a call that no run made
    ended = {entry.session for entry in evidence.entries("ended")}
    sessions = {entry.session for entry in evidence.entries("started") if entry.run == root}
    canceled = {entry.run for entry in evidence.entries("canceling")}
    run = evidence.runs[root]
    is_over_time = run.state != "completed" or run.stop == "time_budget"
    return is_over_time or root in canceled or bool(sessions & ended)


def _violation(invariant: str, key: Key, text: str) -> Violation:
    return Violation(invariant=invariant, subject=" ".join(key), text=text)
