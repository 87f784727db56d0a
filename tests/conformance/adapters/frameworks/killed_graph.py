"""A process that answers toolgen's question in a graph, and ends before LangGraph has what came of it.

    python -m tests.conformance.adapters.frameworks.killed_graph FOLDER MOMENT yes|no id|value

Moments: `read`, before the runtime has the answer, and `recorded`, after the call has ended by it.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Final

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime, Suspended
from toolgen.waiting.options import WaitOptions

from .own_interrupts import INPUT, Desk, answer_to, plain, resume
from .with_langgraph import CONFIG, interruptions

KILLED: Final = 7
"""Exit code of the process."""


class FileDesk(Desk):
    """A desk whose payments survive its process."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.book = folder / "paid"

    async def pay(self, to: str, amount: int) -> str:
        """Pay."""
        with self.book.open("a") as book:
            book.write(f"{to} {amount}\n")
        return await super().pay(to, amount)

    def all_paid(self) -> list[str]:
        """Return the payments of all processes."""
        return self.book.read_text().splitlines() if self.book.exists() else []


@asynccontextmanager
async def graph_in(folder: Path, desk: Desk, waiting: WaitOptions) -> AsyncIterator[Any]:
    """Yield the graph whose files are in a folder: toolgen's call, and then a question of its own."""
    async with (
        Runtime(engine=InProcessEngine(folder / "runs.db"), waiting=waiting) as runtime,
        AsyncSqliteSaver.from_conn_string(str(folder / "graph.db")) as saver,
    ):
        yield plain(desk, await desk.tools(runtime), "TO", saver=saver)


async def main(folder: Path, moment: str, agrees: bool, is_plain: bool) -> None:
    async def end(asked: Suspended, answer: Json, by: str) -> str:
        if moment == "read":
            await _value_is_kept(folder / "graph.db", is_plain)
            os._exit(KILLED)
        return ""

    desk = FileDesk(folder)
    async with graph_in(folder, desk, WaitOptions(rule=end)) as graph:
        [asked] = interruptions(await graph.ainvoke(INPUT, CONFIG))
        desk.own = lambda number: os._exit(KILLED)  # type: ignore[method-assign]  # the moment `recorded`
        value = answer_to(asked.value, {"Pay 0 to p0?": agrees})
        await graph.ainvoke(resume(asked, value, is_plain=is_plain), CONFIG, durability="sync")


async def _value_is_kept(path: Path, is_plain: bool) -> None:
    """Wait until LangGraph has kept the value alone; one by id it keeps with what the task leads to."""
    while is_plain:
        with closing(sqlite3.connect(path)) as database:
            if database.execute("select 1 from writes where channel = '__resume__'").fetchone():
                return
        await asyncio.sleep(0)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "yes", sys.argv[4] == "value"))
