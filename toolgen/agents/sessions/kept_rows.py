"""Rows of tables of sessions, read as every store reads them that keeps sessions in a database of SQL."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ..planner.messages import Message
from .kept_messages import messages_from_text
from .sessions import Session, SessionError, Turn


def session_of(row: tuple[Any, ...]) -> Session:
    """Return the session of a row: id, agent, created_at, ended_at and labels, which are JSON."""
    session_id, agent, created_at, ended_at, labels = row
    return Session(
        id=session_id, agent=agent, created_at=created_at, ended_at=ended_at, labels=json.loads(labels)
    )


def turn_of(row: tuple[Any, ...]) -> Turn:
    """Return the turn of a row that begins with turn_id, session_id, run_id, agent and started_at."""
    turn_id, session_id, run_id, agent, started_at, *_ = row
    return Turn(id=turn_id, session_id=session_id, run_id=run_id, agent=agent, started_at=started_at)


def messages_of(found: Iterable[tuple[Any, ...]], what: str, run_id: str, store: str) -> list[Message]:
    """Return the messages of rows of place and text; `what` and `store` name both for a person.

    Raises:
        SessionError: a text holds something that is no message.
    """
    messages: list[Message] = []
    for place, text in found:
        try:
            messages += messages_from_text(text)
        except ValueError as error:
            raise SessionError(
                f"what the {store} holds of {what} {place} of the run {run_id!r} is no message",
                hint=f"restore the {store}, or write the {what} again",
            ) from error
    return messages
