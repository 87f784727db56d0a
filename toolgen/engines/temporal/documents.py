"""JSON documents of a run on Temporal: input and output of its workflow and its activities.

Every client of the namespace can send any document. The workflow and the readers of its history drop
malformed documents in the same way.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NotRequired, TypedDict, cast

from toolgen.contract.json_value import Json

from ..context import answer_name
from ..errors import EngineError
from ..in_process.journal import encode, log_key
from ..in_process.operations import activity_name

WORKFLOW: Final = "toolgen.run"
"""Workflow type of every run."""
LOG: Final = "toolgen.log"
"""Type of the activity whose argument is a piece of the log of a run."""
SIGNAL: Final = "signal"
ANSWER: Final = "answer"
"""Name of the update that answers a wait, and of the signal that does so if no worker replies."""
BEGUN_RECORD: Final = "begun"
"""Heartbeat detail that records the beginning of an effect that must not happen twice. Also the name of the
signal that reports it to the run, with the events of the activity so far."""
VERSION: Final = 3
"""The only run version that a worker executes; increase it with each change of documents or commands."""
SESSION: Final = "ToolgenSession"
AGENT: Final = "ToolgenAgent"
"""Search attributes of the type Keyword, which every namespace supports."""
TURN: Final = "ToolgenTurn"
WAITS: Final = "ToolgenWaits"
"""Search attributes of the types Keyword and KeywordList; runs work without them too."""
NOTHING: Final = "nothing"
"""Value for a run without open waits."""
MEMO: Final = "toolgen."
"""Prefix of the memo keys of toolgen."""
_RESERVED: Final = ("toolgen.", "__")
"""Prefixes of toolgen's own types, and of names in Temporal's SDKs (`__temporal_`, `__stack_trace`)."""
_LONGEST_ATTRIBUTE: Final = 255
"""Maximum number of characters in a keyword that every visibility store of a Temporal server accepts."""
_LARGEST_ATTRIBUTE: Final = 2_048
"""Maximum size of the JSON of a search attribute in bytes; a character has up to twelve."""
_LONGEST_KIND: Final = 60
"""Maximum length of a wait kind; if all kinds together are too large, the server ends the run."""
_LONGEST_SUMMARY: Final = 200
"""Maximum size of a summary in bytes; the server accepts 400 with overhead, for example from a codec."""
_START: Final = {"version": int, "run_id": str, "loop": str, "session": str, "input": object}
_SIGNAL: Final = {"id": str, "name": str, "payload": object}
_ANSWER: Final = {"op": str, "key": str, "payload": object, "request_id": str}
_BEGUN_RECORD: Final = {"op": str, "events": list}
_PIECE: Final = {"run_id": str, "loop": str, "session": str, "after": int, "entries": list}
_LONGEST_TYPE: Final = 100
"""Maximum number of characters in an event type."""


class RunStart(TypedDict):
    """Argument of the workflow."""

    version: int
    run_id: str
    loop: str
    session: str
    input: Any


class ActivityStart(TypedDict):
    """Argument of an activity."""

    loop: str
    logged: int
    """Number of events in the log of the run before the activity."""
    activity: str
    argument: Any
    attempts: int
    timeout: float | None
    once: bool


class ActivityEnd(TypedDict):
    """Result of an activity."""

    argument_digest: str
    """Digest of its argument; in a replay, the loop must pass the same argument."""
    value: Any


class SentSignal(TypedDict):
    """Argument of the signal `signal`."""

    id: str
    name: str
    payload: Json


class SentAnswer(TypedDict):
    """Argument of the update and of the signal `answer`."""

    op: str
    key: str
    payload: Json
    request_id: str
    """Unique id of this request, by which its sender recognizes it."""


class SentBegun(TypedDict):
    """Argument of the signal `begun`."""

    op: str
    events: list[dict[str, Json]]
    """Events of the activity so far."""


class KeptAnswer(TypedDict):
    """Result of the update: the answer that counts, or the information that the wait ended without one."""

    key: str
    request_id: str
    is_over: bool
    """Whether the wait is over without an answer; then `key` and `request_id` are ""."""


class Entry(TypedDict, total=False):
    """Entry in the log of a run: an event, a wait that began, or a wait that ended."""

    event: dict[str, Json]
    wait: str
    names: list[str]
    """Names of the signals that end the wait."""
    about: Json
    wait_over: str
    key: str
    """Key of the answer that ended the wait, if an answer did."""


class Mark(TypedDict):
    """Value in the memo: an open wait, or a child run."""

    number: int
    """Sequence number of waits and children, in the order in which they began."""
    op: str
    names: NotRequired[list[str]]
    """Names of the signals that end the wait."""
    about: NotRequired[Json]


class LogPiece(TypedDict):
    """Argument of the activity `toolgen.log`, and second argument of an activity that carries a log piece."""

    run_id: str
    loop: str
    session: str
    after: int
    """Number of events of the run before these."""
    entries: list[Entry]


def agent_of(input_: object) -> str:
    """Return the agent that the input of a loop names; "" if it names none."""
    match input_:
        case {"facts": {"agent": str(agent)}}:
            return agent
        case _:
            return ""


def turn_of(input_: object) -> str:
    """Return the turn that the input of a loop names; "" if it names none."""
    match input_:
        case {"facts": {"turn_id": str(turn)}}:
            return turn
        case {"frozen": {"meta": {"turn_id": str(turn)}}} | {"call": {"meta": {"turn_id": str(turn)}}}:
            return turn
        case _:
            return ""


def kind_of(about: Json) -> str:
    """Return the kind of a wait from its subject, for example `confirmation`; `signal` if it has none."""
    match about:
        case {"frozen": {"kind": str(kind)}} | {"kind": str(kind)} if _is_listed(kind):
            return kind
        case _:
            return "signal"


def _is_listed(kind: str) -> bool:
    return kind != NOTHING and 0 < len(kind) <= _LONGEST_KIND and kind.isascii() and kind.isprintable()


def run_summary(loop: str, input_: object) -> str:
    """Return the summary of a run for operators: the ids of its agent and its tool, otherwise its loop."""
    return summary(agent_of(input_), _tool_of(input_)) or loop


def activity_summary(loop: str, input_: object, arg: object) -> str:
    """Return the summary of an activity for operators: the agent, and the step or the call."""
    match arg:
        case {"step": int(step), "new": list()}:
            return summary(agent_of(input_), f"step {step}")
        case {"call": {"id": str(id_)}}:
            return summary(agent_of(input_), id_)
        case _:
            return run_summary(loop, input_)


def log_summary(entries: Sequence[Entry]) -> str:
    """Return the summary of a log piece for operators: the types of its events, and its waits."""
    return summary(*dict.fromkeys(_entry_name(entry) for entry in entries))


def summary(*parts: str) -> str:
    """Return the nonempty parts in one line, truncated."""
    return ", ".join(filter(None, parts)).encode()[:_LONGEST_SUMMARY].decode(errors="ignore")


def _entry_name(entry: Entry) -> str:
    if "event" in entry:
        return str(entry["event"].get("type", ""))
    return f"waits: {kind_of(entry.get('about'))}" if "wait" in entry else "wait over"


def _tool_of(input_: object) -> str:
    match input_:
        case {"frozen": {"tool": str(tool)}} | {"call": {"tool": str(tool)}}:
            return tool
        case _:
            return ""


def activity_type(activity: str, arg: Json) -> str:
    """Return the type of an activity: for a tool call, the id of the tool unless it is a reserved name.

    A model can request a tool with any name. With the name of a toolgen type, it would be executed as that
    type.
    """
    name = activity_name(activity, arg)
    return activity if name.startswith(_RESERVED) else name


def attribute(value: str) -> str:
    """Return the search attribute value for a text; a long text is cut, and its digest is appended."""
    digest = hashlib.sha256(value.encode(errors="surrogatepass")).hexdigest()
    for length in (_LONGEST_ATTRIBUTE, _LONGEST_ATTRIBUTE // 2):
        if len(value) > length:
            value = f"{value[: length - len(digest)]}{digest}"
        if len(json.dumps(value)) <= _LARGEST_ATTRIBUTE:
            break
    return value


def received_start(args: Sequence[object]) -> RunStart | None:
    """Return the start of a run; None if it is malformed."""
    return cast("RunStart | None", _document(args, _START))


def received_signal(args: Sequence[object]) -> SentSignal | None:
    """Return a signal; None if it is malformed, or named like an answer, which has an update of its own."""
    sent = cast("SentSignal | None", _document(args, _SIGNAL))
    return None if sent is None or sent["name"].startswith(answer_name("")) else sent


def received_answer(args: Sequence[object]) -> SentAnswer | None:
    """Return an answer; None if it is malformed."""
    return cast("SentAnswer | None", _document(args, _ANSWER))


def received_begun(args: Sequence[object]) -> SentBegun | None:
    """Return the begun record of an activity; None if it is malformed, or its events would end a log."""
    sent = cast("SentBegun | None", _document(args, _BEGUN_RECORD))
    if sent is None or not all(_is_event(event) for event in sent["events"]):
        return None
    return sent


def received_piece(args: Sequence[object]) -> LogPiece | None:
    """Return a piece of the log of a run; None if it is malformed, for example from a foreign activity."""
    match args:
        case [dict() as piece] if _has(piece, _PIECE) and all(map(_is_entry, piece["entries"])):
            return cast("LogPiece", piece)
        case _:
            return None


def _is_entry(entry: object) -> bool:
    match entry:
        case {"event": dict()} | {"wait": str(), "names": list()} | {"wait_over": str()}:
            return True
        case _:
            return False


def _is_event(event: object) -> bool:
    match event:
        case {"type": str(type_)}:
            return len(type_) <= _LONGEST_TYPE and log_key(None, {"type": type_}) is None
        case _:
            return False


def _document(args: Sequence[Any], types: Mapping[str, type]) -> dict[str, Any] | None:
    """Return the only argument if it is an object with these keys."""
    match args:
        case [dict() as document] if _has(document, types):
            return document if _is_json(document) else None
        case _:
            return None


def _has(document: Mapping[str, Json], types: Mapping[str, type]) -> bool:
    return all(key in document and isinstance(document[key], type_) for key, type_ in types.items())


def _is_json(document: Mapping[str, Json]) -> bool:
    """Return whether a decoded document can be encoded: the parser accepts NaN and numbers of any size."""
    try:
        encode(document, "a document")
    except EngineError:
        return False
    return True
