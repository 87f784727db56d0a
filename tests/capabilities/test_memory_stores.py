"""The memory stores of toolgen and of examples/memory_stores.py keep what they promise."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from toolgen.capabilities import InMemoryMemoryStore, MemoryEntry, MemoryOwner, MemoryStore

pytestmark = pytest.mark.exhaustive
WHEN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
ANN, BOB, SOUTH = (
    MemoryOwner(person="ann@x.org", tenant="north"),
    MemoryOwner(person="bob", tenant="north"),
    MemoryOwner(person="ann@x.org", tenant="south"),
)


@pytest.fixture(params=["in memory", "full text", "LangGraph"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> MemoryStore:
    from langgraph.store.memory import InMemoryStore  # takes seconds

    from examples.memory_stores import FullTextMemory, LangGraphMemory, embed

    made: dict[str, Callable[[], MemoryStore]] = {
        "in memory": InMemoryMemoryStore,
        "full text": lambda: FullTextMemory(str(tmp_path / "memory.db")),
        "LangGraph": lambda: LangGraphMemory(
            InMemoryStore(index={"dims": 64, "embed": embed, "fields": ["text"]})
        ),
    }
    return made[request.param]()


def said(text: str, session: str = "s") -> MemoryEntry:
    return MemoryEntry(text=text, author="person", said_at=WHEN, session_id=session)


async def test_a_run_is_stored_once_and_the_best_entry_comes_first(store: MemoryStore) -> None:
    for _ in range(2):
        await store.add(ANN, "r-1", [said("My boat is red."), said("It rains.")])
    await store.add(ANN, "r-2", [said("The red boat is at sea, red as ever.", "t")])
    found = await store.search(ANN, "rains: it!", 9)
    assert found[0] == said("It rains.")
    assert len(found) == len(set(found))
    assert len(await store.search(ANN, "red boat", 1)) == 1


async def test_only_the_owner_finds_and_forgets(store: MemoryStore) -> None:
    await store.add(ANN, "r-1", [said("My boat is red.")])
    await store.add(SOUTH, "r-2", [said("My boat is blue.", "t")])
    assert await store.search(BOB, "boat", 9) == []
    assert [entry.text for entry in await store.search(SOUTH, "boat", 9)] == ["My boat is blue."]
    assert await store.forget(owner=BOB) == 0
    assert await store.forget(owner=ANN, session_id="t") == 0
    assert await store.forget(session_id="t") == 1
    assert await store.forget(owner=ANN) == 1
    assert await store.search(ANN, "boat", 9) == []
    with pytest.raises(ValueError, match="which memory to delete"):
        await store.forget()


async def test_no_byte_of_what_was_forgotten_is_left(tmp_path: Path) -> None:
    from examples.memory_stores import FullTextMemory

    path = tmp_path / "memory.db"
    store = FullTextMemory(str(path))
    await store.add(ANN, "r-1", [said("Xylophone secrets."), said("Xylophone again.")])
    await store.add(BOB, "r-2", [said("Something else.")])
    await store.forget(owner=ANN)
    left = path.read_bytes()  # a small file
    assert b"ylophone" not in left
    assert b"omething" in left
