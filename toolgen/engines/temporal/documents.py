"""The JSON documents of a run on Temporal: input and output of its workflow and its activities.

Every client of the namespace can send any document. Malformed documents are dropped, in the same way by the
workflow and by readers of its history.
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
"""Type of the workflow of every run."""
LOG: Final = "toolgen.log"
"""Type of the activity whose argument is a piece of the log of a run."""
SIGNAL: Final = "signal"
ANSWER: Final = "answer"
"""Name of the update that answers a wait, and of the signal that does where no worker replies."""
BEGUN_RECORD: Final = "begun"
"""A detail of a heartbeat: what must not happen twice begins now. Name of the signal that says so to the run,
and brings the events of the activity before it."""
VERSION: Final = 3
"""The only version of a run that a worker executes; a change of its documents or commands raises it."""
SESSION: Final = "ToolgenSession"
AGENT: Final = "ToolgenAgent"
"""Search attributes of the type Keyword, which every namespace has."""
TURN: Final = "ToolgenTurn"
WAITS: Final = "ToolgenWaits"
"""Search attributes of the types Keyword and KeywordList, without which runs go on as well."""
NOTHING: Final = "nothing"
"""Value for a run that waits for nobody."""
MEMO: Final = "toolgen."
"""The prefix of our keys in the memo of a run."""
_RESERVED: Final = ("toolgen.", "__")
"""Prefixes of our own types, and of the names of Temporal's SDKs (`__temporal_`, `__stack_trace`)."""
_LONGEST_ATTRIBUTE: Final = 255
"""Characters of a keyword that every store of a Temporal server takes."""
_LARGEST_ATTRIBUTE: Final = 2_048
"""Bytes of JSON of a search attribute that a server takes; a character has up to twelve."""
_LONGEST_KIND: Final = 60
"""Characters of a kind of waits; where all kinds together are too large, the server ends the run."""
_LONGEST_SUMMARY: Final = 200
"""Bytes of a summary; the server takes 400 with what is around it, such as what a codec adds."""
_START: Final = {"version": int, "run_id": str, "loop": str, "session": str, "input": object}
_SIGNAL: Final = {"id": str, "name": str, "payload": object}
_ANSWER: Final = {"op": str, "key": str, "payload": object, "request_id": str}
_BEGUN_RECORD: Final = {"op": str, "events": list}
_PIECE: Final = {"run_id": str, "loop": str, "session": str, "after": int, "entries": list}
_LONGEST_TYPE: Final = 100
"""Characters of the type of an event."""


class RunStart(TypedDict):
    """The argument of the workflow."""

    version: int
    run_id: str
    loop: str
    session: str
    input: Any


class ActivityStart(TypedDict):
    """The argument of an activity."""

    loop: str
    logged: int
    """Events in the log of the run before it."""
    activity: str
    argument: Any
    attempts: int
    timeout: float | None
    once: bool


class ActivityEnd(TypedDict):
    """The result of an activity."""

    argument_digest: str
    """Digest of its argument; a replay of the loop is held to it."""
    value: Any


class SentSignal(TypedDict):
    """The argument of the signal `signal`."""

    id: str
    name: str
    payload: Json


class SentAnswer(TypedDict):
    """The argument of the update and of the signal `answer`."""

    op: str
    key: str
    payload: Json
    request_id: str
    """An id of this one request, by which its sender knows it again."""


class SentBegun(TypedDict):
    """The argument of the signal `begun`."""

    op: str
    events: list[dict[str, Json]]
    """The events of the activity until now."""


class KeptAnswer(TypedDict):
    """The result of the update: the answer that counts, or that the wait is over without one."""

    key: str
    request_id: str
    is_over: bool
    """Then both are ""."""


class Entry(TypedDict, total=False):
    """An entry of the log of a run: an event, a wait that began, or one that ended."""

    event: dict[str, Json]
    wait: str
    names: list[str]
    """The signals that end a wait that began."""
    about: Json
    wait_over: str
    key: str
    """The key of the answer that ended a wait, where one did."""


class Mark(TypedDict):
    """A value of the memo: a wait that is open, or a child run."""

    number: int
    """Counts waits and children in the order in which they began."""
    op: str
    names: NotRequired[list[str]]
    """The signals that end the wait."""
    about: NotRequired[Json]


class LogPiece(TypedDict):
    """The argument of the activity `toolgen.log`, and the second one of an activity that brings one."""

    run_id: str
    loop: str
    session: str
    after: int
    """Events of the run before these."""
    entries: list[Entry]


def agent_of(input_: object) -> str:
    """Return the agent that the input of a loop names; "" where it names none."""
    match input_:
        case {"facts": {"agent": str(agent)}}:
            return agent
        case _:
            return ""


def turn_of(input_: object) -> str:
    """Return the turn that the input of a loop names; "" where it names none."""
    match input_:
        case {"facts": {"turn_id": str(turn)}}:
            return turn
        case {"frozen": {"meta": {"turn_id": str(turn)}}} | {"call": {"meta": {"turn_id": str(turn)}}}:
            return turn
        case _:
            return ""


def kind_of(about: Json) -> str:
    """Return the kind of a wait by what it is about, such as `confirmation`; else `signal`."""
    match about:
        case {"frozen": {"kind": str(kind)}} | {"kind": str(kind)} if _is_listed(kind):
            return kind
        case _:
            return "signal"


def _is_listed(kind: str) -> bool:
    return kind != NOTHING and 0 < len(kind) <= _LONGEST_KIND and kind.isascii() and kind.isprintable()


def run_summary(loop: str, input_: object) -> str:
    """Return what an operator sees of a run: its agent and its tool by their ids, else its loop."""
    return summary(agent_of(input_), _tool_of(input_)) or loop


def activity_summary(loop: str, input_: object, arg: object) -> str:
    """Return what an operator sees of an activity beside its type: the agent, and the step or the call."""
    match arg:
        case {"step": int(step), "new": list()}:
            return summary(agent_of(input_), f"step {step}")
        case {"call": {"id": str(id_)}}:
            return summary(agent_of(input_), id_)
        case _:
            return run_summary(loop, input_)


def log_summary(entries: Sequence[Entry]) -> str:
    """Return what an operator sees of a piece of a log: the types of its events, and its waits."""
    return summary(*dict.fromkeys(_entry_name(entry) for entry in entries))


def summary(*parts: str) -> str:
    """Return the parts that are not empty in one line, cut."""
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
    """Return the type of an activity: of a tool call the id of the tool, unless it is a reserved name.

    A model may ask for a tool of any name; as a type of our own it would be executed as one.
    """
    name = activity_name(activity, arg)
    return activity if name.startswith(_RESERVED) else name


def attribute(value: str) -> str:
    """Return the value of a search attribute for a text: of a long one its beginning and its digest."""
    digest = hashlib.sha256(value.encode(errors="surrogatepass")).hexdigest()
    for length in (_LONGEST_ATTRIBUTE, _LONGEST_ATTRIBUTE // 2):
        if len(value) > length:
            value = f"{value[: length - len(digest)]}{digest}"
        if len(json.dumps(value)) <= _LARGEST_ATTRIBUTE:
            break
    return value


def received_start(args: Sequence[object]) -> RunStart | None:
    """Return the start of a run; None where it is malformed."""
    return cast("RunStart | None", _document(args, _START))


def received_signal(args: Sequence[object]) -> SentSignal | None:
    """Return a signal; None where it is malformed, or named as an answer, which has an update of its own."""
    sent = cast("SentSignal | None", _document(args, _SIGNAL))
    return None if sent is None or sent["name"].startswith(answer_name("")) else sent


def received_answer(args: Sequence[object]) -> SentAnswer | None:
    """Return an answer; None where it is malformed."""
    return cast("SentAnswer | None", _document(args, _ANSWER))


def received_begun(args: Sequence[object]) -> SentBegun | None:
    """Return the events of an activity that begins; None where they are malformed, or would end a log."""
    sent = cast("SentBegun | None", _document(args, _BEGUN_RECORD))
    if sent is None or not all(_is_event(event) for event in sent["events"]):
        return None
    return sent


def received_piece(args: Sequence[object]) -> LogPiece | None:
    """Return a piece of the log of a run; None where it is malformed, as of an activity that is not ours."""
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
    """Return the only argument where it is an object with these keys."""
    match args:
        case [dict() as document] if _has(document, types):
            return document if _is_json(document) else None
        case _:
            return None


def _has(document: Mapping[str, Json], types: Mapping[str, type]) -> bool:
    return all(key in document and isinstance(document[key], type_) for key, type_ in types.items())


def _is_json(document: Mapping[str, Json]) -> bool:
    """Return whether a decoded document can be encoded: the parser takes NaN, and numbers without a limit."""
    try:
        encode(document, "a document")
    except EngineError:
        return False
    return True
