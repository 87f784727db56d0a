"""A run as lines for people, with the times of its plans, calls, waits and children, and its tokens."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from toolgen.contract.printable import printable
from toolgen.contract.record import frozen_record

_LONGEST: Final = 100
"""Maximum characters of the description of an event."""
_PLURALS: Final = {"child": "children"}
_SHORTEST_S: Final = 10.0
"""Seconds below which two decimals are shown."""


@frozen_record
class Span:
    """Times of the first and the last event of a run, in seconds since 1970."""

    began: float
    last: float
    is_over: bool

    @property
    def text(self) -> str:
        at = dt.datetime.fromtimestamp(self.began, dt.UTC).strftime("%Y-%m-%d %H:%M:%S")
        return f"{at} UTC, {duration(self.last - self.began)}{'' if self.is_over else ' so far'}"

    def record(self) -> dict[str, Any]:
        """Return the times for programs; `ended_at` is None for a run that is not over."""
        return {
            "started_at": self.began,
            "ended_at": self.last if self.is_over else None,
            "duration_s": round(self.last - self.began, 6),
        }


def span_of(events: Sequence[Mapping[str, Any]], *, is_over: bool) -> Span | None:
    """Return the span of a run from its events; None if there are none."""
    times = [float(event["time"]) for event in events if event.get("time")]
    return Span(began=times[0], last=times[-1], is_over=is_over) if times else None


def duration(seconds: float) -> str:
    """Return a duration such as `0.31 s`, `42 s` or `2:05:07 h`."""
    if seconds < _SHORTEST_S:
        return f"{max(seconds, 0.0):.2f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} h" if hours else f"{minutes}:{rest:02} min"


def timeline(events: Sequence[Mapping[str, Any]], *, is_over: bool) -> list[str]:
    """Return the head of a run, with its sums, and a line for each event that is shown."""
    span = span_of(events, is_over=is_over)
    if span is None:
        return ["nothing has happened yet"]
    usage = [event for event in events if event["type"] == "usage"]
    counts = {
        "planning": sum(event.get("phase") == "planning" for event in events),
        "call": sum(event["type"] == "tool_start" for event in events),
        "child": sum(event["type"] == "agent_run_started" for event in events),
    }
    parts = [span.text, *(_counted(number, name) for name, number in counts.items() if number)]
    if usage:
        sent, got = (sum(event[key] for event in usage) for key in ("input_tokens", "output_tokens"))
        parts.append(f"{sent:,} tokens in, {got:,} out")
    return [", ".join(parts), *_lines(events, span.began)]


def _lines(events: Sequence[Mapping[str, Any]], began: float) -> Iterator[str]:
    names = {event["tool_call_id"]: event["name"] for event in events if event["type"] == "tool_start"}
    planning = 0.0
    for event in events:
        if event.get("phase") == "planning":
            planning = event["time"]
        text = _text(event, names)
        if not text:
            continue
        took = ""
        if event["type"] == "tool_end":
            took = duration(event.get("telemetry", {}).get("duration_s", 0.0))
        elif event["type"] in ("tool_start", "assistant_reply", "question_asked") and planning:
            took, planning = f"planned in {duration(event['time'] - planning)}", 0.0
        body = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
        yield f"{'+' + duration(event['time'] - began):>11}  {body}{f'  ({took})' if took else ''}"


def _text(event: Mapping[str, Any], names: Mapping[str, str]) -> str:
    name = names.get(event.get("tool_call_id", ""), "") or str(event.get("tool", "")).rpartition(".")[2]
    name = printable(name)
    match event["type"]:
        case "run_started":
            return f"started {event['agent']}"
        case "assistant_reply" if not event["is_partial"]:
            return f"said {_one_line(event['text'])}"
        case "tool_start":
            return f"calls {printable(event['name'])} {_json(event['arguments'])}"
        case "tool_end" if event["status"] == "suspended":
            return f"{name} waits"
        case "tool_end":
            message = event.get("display") or event.get("error", {}).get("message", "")
            shown = printable(message) or _json(event.get("result"))
            return f"{name}: {event['status']} {shown}"
        case "agent_run_started":
            return f"starts {event['agent']} as {printable(event['child_run_id'])}"
        case "approval_requested" | "input_requested" | "question_asked":
            return f"asks {_one_line(event['question'])} ({event['suspension_id']})"
        case "answer_accepted":
            return f"is answered{_by(event['answered_by'])}"
        case "tool_authorization" if event.get("grant_id"):
            return f"{name} is {printable(event['reason'])}"
        case "tool_authorization":
            who = printable(event["answered_by"]) or f"the {event['decided_by']}"
            how = f" (grant {printable(event['grant_id'])})" if event.get("grant_id") else ""
            return f"{name} is {event['decision']} by {who}{how}"
        case "usage":
            sums = f"{event['input_tokens']:,} tokens in, {event['output_tokens']:,} out"
            return f"{printable(event['model'])}: {sums}"
        case "plan_retry":
            return f"plans again: {_one_line(event['reason'])}"
        case "artifact_saved":
            return f"saves {printable(event['name'])}, {event['size']:,} bytes"
        case "run_completed" | "run_paused" | "run_resumed":
            return f"{event.get('status', event['type'])} {printable(event.get('error', ''))}".rstrip()
        case _:
            return ""


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else _PLURALS.get(noun, f'{noun}s')}"


def _by(person: str) -> str:
    return f" by {printable(person)}" if person else ""


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
