"""Checks the documents that come to a run from outside: every client of the namespace can send any.

What is malformed is dropped, by the workflow and by those who read its history, in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from toolgen.runs import EngineError, answer_name

from ..journal import encode, log_key
from .documents import LogPiece, RunStart, SentAnswer, SentBegun, SentSignal

_START: Final = {"version": int, "run_id": str, "loop": str, "session": str, "input": object}
_SIGNAL: Final = {"id": str, "name": str, "payload": object}
_ANSWER: Final = {"op": str, "key": str, "payload": object, "by": str}
_BEGUN_RECORD: Final = {"op": str, "events": list}
_PIECE: Final = {"run_id": str, "loop": str, "session": str, "after": int, "entries": list}
_LONGEST_TYPE: Final = 100
"""Characters of the type of an event."""


def received_start(args: Sequence[Any]) -> RunStart | None:
    """Return the start of a run; None where it is malformed."""
    return cast("RunStart | None", _document(args, _START))


def received_signal(args: Sequence[Any]) -> SentSignal | None:
    """Return a signal; None where it is malformed, or named as an answer, which has an update of its own."""
    sent = cast("SentSignal | None", _document(args, _SIGNAL))
    return None if sent is None or sent["name"].startswith(answer_name("")) else sent


def received_answer(args: Sequence[Any]) -> SentAnswer | None:
    """Return an answer; None where it is malformed."""
    return cast("SentAnswer | None", _document(args, _ANSWER))


def received_begun(args: Sequence[Any]) -> SentBegun | None:
    """Return the events of an activity that begins; None where they are malformed, or would end a log."""
    sent = cast("SentBegun | None", _document(args, _BEGUN_RECORD))
    if sent is None or not all(_is_event(event) for event in sent["events"]):
        return None
    return sent


def received_piece(args: Sequence[Any]) -> LogPiece | None:
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


def _has(document: Mapping[str, Any], types: Mapping[str, type]) -> bool:
    return all(key in document and isinstance(document[key], type_) for key, type_ in types.items())


def _is_json(document: Mapping[str, Any]) -> bool:
    """Return whether a decoded document can be encoded: the parser takes NaN, and numbers without a limit."""
    try:
        encode(document, "a document")
    except EngineError:
        return False
    return True
