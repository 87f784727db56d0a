"""Runs whose disk fails for a while: each stands still, says so, and goes on by itself."""

from __future__ import annotations

import asyncio
import errno
import logging
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests.failing_disk import break_disk, printed, repair_disk
from tests.selection import diagonal
from toolgen.contract.json_value import Json
from toolgen.engines import Activity, ActivityInfo, InProcessEngine
from toolgen.stores import StoreDiskError, StoreError

from .toys import Toys, call, play

SCRIPTS: Final[Mapping[str, Sequence[Any]]] = {
    "child": [{"calls": [call("a", gate="go")]}, {"child": [{"calls": [call("b")]}]}],
    "work": [{"calls": [call("a", gate="go")]}, {"detach": [{"calls": [call("b")]}]}],
    "end": [{"child": []}, {"detach": []}, {"calls": [call("a", gate="go")]}, {"raise": "it is over"}],
    "call": [{"calls": [call("a", gate="go", tells=[], once=True)]}, {"calls": [call("b", once=True)]}],
    "store": [{"calls": [call("a", gate="go")]}, {"calls": [call("reads", once=True, attempts=1)]}],
}
"""What runs do when the disk fails, by their ids."""


class Reading(Toys):
    """Has an activity that reads what stands beside the runs."""

    def __init__(self) -> None:
        super().__init__()
        self.engine: InProcessEngine | None = None

    def activities(self) -> dict[str, Activity]:
        return {"tool": self.read_or_do}

    async def read_or_do(self, info: ActivityInfo, arg: dict[str, Any]) -> Json:
        if arg["id"] == "reads":
            assert self.engine is not None
            assert self.engine.file is not None
            await self.engine.file.read(lambda transaction: transaction.rows("SELECT count(*) FROM event"))
        result: Json = await self.tool(info, arg)
        return result


async def main(folder: Path, run_id: str, error: int, calls: str) -> None:
    """Break the disk in the middle of a run, wait until it is said to stand still, repair it, and wait."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stdout, format="%(levelname)s|%(message).100s")
    toys = Reading()
    engine = toys.engine = InProcessEngine(folder / "runs.db")
    engine.register(loops=toys.loops(), activities=toys.activities())
    await engine.start()
    await play(engine, SCRIPTS[run_id], run_id=run_id)
    await toys.has("start", "a")
    await engine.list_runs()
    break_disk(folder, error=error, calls=calls, names="runs.db")
    toys.open("go")
    async with asyncio.timeout(60):
        while True:
            await asyncio.sleep(0.01)
            try:
                listed = [run.error for run in await engine.list_runs() if run.run_id == run_id]
                state = (await engine.status(run_id)).state if calls != "r" else "running"
            except StoreError:
                continue
            assert state == "running", state
            if listed and listed[0]:
                break
    print("LISTED", *listed, sep="|")
    if calls == "r":
        with pytest.raises(StoreDiskError):
            await engine.check()
    waiting = asyncio.ensure_future(engine.result(run_id))
    await asyncio.sleep(0)
    assert not waiting.done()
    repair_disk(folder)
    status = await asyncio.wait_for(waiting, 60)
    print("ENDED", status.state, *(f"{key}{number}" for key, number in toys.counts("end").items()), sep="|")
    print("CHECKED", *await engine.check(), sep="|")
    await engine.close()


def _lines(folder: Path, run_id: str, error: int, calls: str) -> Sequence[Sequence[str]]:
    return [line.split("|") for line in printed(__name__, folder, run_id, error, calls).splitlines()]


@pytest.mark.parametrize(
    "run_id", ["child", pytest.param("work", marks=pytest.mark.exhaustive), "end", "store"]
)
def test_a_run_whose_journal_cannot_be_read_stands_still_and_goes_on(tmp_path: Path, run_id: str) -> None:
    """It was stalled until the worker was started again, and its file was said to be damaged."""
    lines = _lines(tmp_path, run_id, errno.EIO, "r")
    assert ["LISTED", "standing still: the disk of a store of the runtime fails"] in lines
    ends = ["a1"] if run_id == "end" else ["a1", "reads1"] if run_id == "store" else ["a1", "b1"]
    state = "failed" if run_id == "end" else "completed"
    ended = next(line for line in lines if line[0] == "ENDED")
    assert ended[1] == state
    assert set(ended[2:]) | {"b1"} == {*ends, "b1"}
    assert lines[-1] == ["CHECKED"]
    text = "\n".join("|".join(line) for line in lines)
    assert "is damaged" not in text
    assert "stalled" not in text
    assert text.count("runs wait for a store") == 1


@pytest.mark.parametrize(
    ("run_id", "error", "why"),
    diagonal(
        ["child", "call"],
        [
            (errno.EIO, "the disk of a store of the runtime fails"),
            (errno.EROFS, "a store of the runtime cannot be written to"),
            (errno.ENOSPC, "a store of the runtime is out of space"),
        ],
    ),
)
def test_a_run_whose_journal_cannot_be_written_stands_still_and_goes_on(
    tmp_path: Path, run_id: str, error: int, why: str
) -> None:
    lines = _lines(tmp_path, run_id, error, "w")
    assert ["LISTED", f"standing still: {why}"] in lines
    assert ["ENDED", "completed", "a1", "b1"] in lines
    assert lines[-1] == ["CHECKED"]


if __name__ == "__main__":
    place, script_id, number, kinds = sys.argv[1:]
    asyncio.run(main(Path(place), script_id, int(number), kinds))
