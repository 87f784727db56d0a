"""The JSON documents of a run on Temporal: what its workflow and its activities take and give."""

from __future__ import annotations

import hashlib
from typing import Any, Final, TypedDict

from toolgen.contract.json_value import Json

from ..operations import activity_name

WORKFLOW: Final = "toolgen.run"
"""Type of the workflow of every run."""
LOG: Final = "toolgen.log"
"""Type of the activity whose argument is a piece of the log of a run."""
SIGNAL: Final = "signal"
ANSWER: Final = "answer"
"""Name of the update that answers a wait, and of the signal that does where no worker replies."""
BEGUN: Final = "begun"
"""In the details of a heartbeat: what must not happen twice begins now. Name of the signal that says so to
the run, and brings the events of the activity before it."""
VERSION: Final = 1
"""Of the documents and of the order of commands; a run keeps that with which it began."""
SESSION: Final = "ToolgenSession"
AGENT: Final = "ToolgenAgent"
"""Search attributes, both of the type Keyword."""
_RESERVED: Final = ("toolgen.", "__")
"""Before the names of our own types, and of those of Temporal's SDKs (`__temporal_`, `__stack_trace`)."""
_LONGEST_ATTRIBUTE: Final = 255
"""Characters of a keyword that every store of a Temporal server takes."""


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
    arg: Any
    attempts: int
    timeout: float | None
    once: bool


class ActivityEnd(TypedDict):
    """The result of an activity."""

    asked: str
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
    by: str
    """An id of this one request, by which its sender knows it again."""


class SentBegun(TypedDict):
    """The argument of the signal `begun`."""

    op: str
    events: list[dict[str, Json]]
    """Of the activity until now."""


class KeptAnswer(TypedDict):
    """The result of the update: the answer that counts, or that the wait is over without one."""

    key: str
    by: str
    is_over: bool
    """Then both are ""."""


class Entry(TypedDict, total=False):
    """In the log of a run: an event, a wait that began, or one that ended."""

    event: dict[str, Json]
    wait: str
    names: list[str]
    """Of a wait that began: the signals that end it."""
    about: Json
    wait_over: str
    key: str
    """Of a wait that ended: that of its answer, where it got one."""


class LogPiece(TypedDict):
    """The argument of the activity `toolgen.log`."""

    run_id: str
    loop: str
    session: str
    after: int
    """Events of the run before these."""
    entries: list[Entry]


def agent_of(given: Any) -> str:
    """Return the agent that the input of a loop names; "" where it names none."""
    match given:
        case {"facts": {"agent": str(agent)}}:
            return agent
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
    if len(value) <= _LONGEST_ATTRIBUTE:
        return value
    found = hashlib.sha256(value.encode()).hexdigest()
    return f"{value[: _LONGEST_ATTRIBUTE - len(found)]}{found}"
