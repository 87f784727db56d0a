"""Stores of sessions in memory and in files, as fixtures, and what the tests say in their sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.selection import first
from toolgen.agents import (
    AssistantMessage,
    Message,
    PlannedCall,
    SessionStore,
    ToolAnswer,
    ToolMessage,
    Turn,
    UserMessage,
)
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.engines import InProcessEngine
from toolgen.stores.batched_file import BatchedFile

HELLO = UserMessage(text="hello")
NATIVE: dict[str, Any] = {
    "parts": [{"kind": "text", "content": "日本 🏠 \u2028 \x00"}],
    "tokens": 2**70,
    "cost": 0.1,
    "none": None,
    "nested": [[], {}, True, -0.0, 1e300],
}
ODD: tuple[Message, ...] = (
    UserMessage(text=""),
    UserMessage(text='a\n\t"\\\x00\x7f日本 🏠', source="agent"),
    UserMessage(text="half \ud83d of a pair", source="runtime"),
    AssistantMessage(
        text="\udc00",
        calls=(PlannedCall(name="t", arguments='{"broken": "\ud800', id="c1"), PlannedCall(name="ü")),
        native=NATIVE,
    ),
    AssistantMessage(native={"half \ud83d": "\ud83d"}),
    AssistantMessage(native='["text", "not a list"]'),
    ToolMessage(
        answers=(
            ToolAnswer(
                id="c1",
                name="t",
                status="ok",
                text='{"a": 1.0}',
                reminder="\ud800",
                content=({"type": "text", "text": "é"},),
            ),
        )
    ),
    ToolMessage(answers=()),
)


def file_of_runs(path: Path) -> BatchedFile:
    """Return the file of an engine, as one of its processes has it."""
    file = InProcessEngine(path).file
    assert file is not None
    return file


@pytest.fixture(params=first(["memory", "sqlite", "beside the runs"], 2))
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., SessionStore]:
    if request.param == "memory":
        return MemorySessionStore
    if request.param == "beside the runs":
        return lambda **given: SqliteSessionStore(file_of_runs(tmp_path / "runs.db"), **given)
    return lambda **given: SqliteSessionStore(tmp_path / "sessions.db", **given)


@pytest.fixture
def seconds() -> Iterator[int]:
    return count(1000)


@pytest.fixture
def store(make: Callable[..., SessionStore], seconds: Iterator[int]) -> SessionStore:
    """Of a clock that goes on by one second each time somebody looks."""
    return make(clock=lambda: float(next(seconds)))


def turn(run_id: str, session_id: str = "s", turn_id: str = "t1") -> Turn:
    return Turn(id=turn_id, session_id=session_id, run_id=run_id, agent="home.helper", started_at=1000.5)
