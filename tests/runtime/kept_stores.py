"""What earlier versions left in files and databases, kept as SQL in `tests/formats/stores`.

Each is what the stores of a version wrote, named by the content and the number of its format or migration;
those of number 0 have no mark of it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from toolgen.agents import (
    AssistantMessage,
    PlannedCall,
    SessionStore,
    Summary,
    ToolAnswer,
    ToolMessage,
    UserMessage,
)

from .store_files import STORES

FOLDER: Final = Path(__file__).parents[1] / "formats/stores"
KEPT: Final = [file.stem for file in sorted(FOLDER.iterdir()) if file.stem.partition("-")[0] in STORES]
"""The files of stores in SQLite, by name."""
ADD, SOON, LATER = (UserMessage(text=text) for text in ("add", "soon", "later"))
BATCH: Final = AssistantMessage(calls=(PlannedCall(name="add", id="c"),))
RESULT: Final = ToolMessage(answers=(ToolAnswer(id="c", name="add", status="ok", text="2"),))


def kept(name: str) -> str:
    return (FOLDER / f"{name}.sql").read_text("utf-8")


def restored(path: Path, name: str) -> Path:
    """Add what was kept to a file, and return its path."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(kept(name))
        database.execute("PRAGMA journal_mode = WAL")
    return path


async def goes_on(store: SessionStore) -> None:
    """Read the conversation that was kept, and go on with it."""
    (said,) = await store.transcript("said")
    assert said.messages == (ADD, SOON, BATCH, RESULT, LATER)
    assert await store.summary("said") == Summary(text="sums", through="r0")
    held = await store.holder("said")
    assert held is not None
    assert (held.run_id, held.is_durable, held.is_alive) == ("r0", True, False)
    await store.write("r0", 2, [RESULT, LATER], heard=["i"])
    await store.speak("r0", "i", LATER)  # by a step that is done again
    assert await store.run_messages("r0") == said.messages
    await store.release("said", "r0")
    await store.end("said")
    assert await store.forget(float("inf")) == 1
    assert await store.run_messages("r0") == ()
