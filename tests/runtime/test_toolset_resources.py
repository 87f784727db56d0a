"""Toolsets that must be opened: in which order, by whom, and what happens when that fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from toolgen.calls.functions.tools import func_tool
from toolgen.engines import EngineError, InProcessEngine
from toolgen.runtime import BoundTool, ReadonlyContext, Runtime, Snapshot, SnapshotError
from toolgen.runtime.views import filter_toolset, prefixed


def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}"


def zip_up(path: str) -> str:
    """Pack a file."""
    return path


FILES = [func_tool(zip_up)]
PEOPLE = [func_tool(greet)]


class Listing:
    """Lists what it is given, and notes when it is opened and closed."""

    def __init__(self, name: str, found: Sequence[BoundTool], notes: list[str] | None = None) -> None:
        self.name = name
        self.found = found
        self.notes: list[str] = [] if notes is None else notes

    async def tools(self, context: ReadonlyContext) -> Sequence[BoundTool]:
        return self.found


class Connection(Listing):
    """One that must be opened, with a cancel scope of the task that opened it."""

    async def __aenter__(self) -> Connection:
        self.task = asyncio.current_task()
        self.notes.append(f"open {self.name}")
        return self

    async def __aexit__(self, *args: object) -> None:
        assert asyncio.current_task() is self.task
        self.notes.append(f"close {self.name}")


def names(snapshot: Snapshot) -> list[str]:
    return [spec.name for spec in snapshot.specs]


async def test_toolsets_close_in_reverse_order_each_in_the_task_that_opened_it() -> None:
    notes: list[str] = []
    runtime = Runtime()
    runtime.tools.add_toolset(Connection("host.files", FILES, notes))
    shared = Connection("host.people", PEOPLE, notes)
    runtime.tools.add_toolset(prefixed(filter_toolset(shared, lambda spec, context: True), "p_"))
    async with runtime:
        assert notes == ["open host.files", "open host.people"]
        assert names(await runtime.tools.snapshot()) == ["zip_up", "p_greet"]
    assert notes[2:] == ["close host.people", "close host.files"]
    await runtime.aclose()
    assert len(notes) == 4


async def test_a_toolset_that_must_be_opened_lists_nothing_before() -> None:
    runtime = Runtime()
    runtime.tools.add_toolset(Connection("host.files", FILES))
    with pytest.raises(SnapshotError, match="the runtime is not open"):
        await runtime.tools.snapshot()


async def test_a_toolset_that_is_added_later_is_opened_when_it_is_needed() -> None:
    notes: list[str] = []
    async with Runtime() as runtime:
        runtime.tools.add_toolset(Connection("host.files", FILES, notes))
        await asyncio.gather(runtime.tools.snapshot(), runtime.tools.snapshot())
    assert notes == ["open host.files", "close host.files"]


def opening(fails: Callable[[], bool], notes: list[str]) -> Any:
    class Flaky(Connection):
        async def __aenter__(self) -> Connection:
            if fails():
                raise OSError("no network")
            return await super().__aenter__()

    return Flaky("host.flaky", PEOPLE, notes)


async def test_a_runtime_whose_toolset_does_not_open_closes_the_others() -> None:
    notes: list[str] = []
    runtime = Runtime()
    runtime.tools.add_toolset(Connection("host.files", FILES, notes))
    runtime.tools.add_toolset(opening(lambda: True, notes))
    with pytest.raises(SnapshotError, match=r"'host\.flaky' cannot open: OSError"):
        async with runtime:
            raise AssertionError
    assert notes == ["open host.files", "close host.files"]


async def test_a_runtime_whose_engine_does_not_start_closes_its_toolsets(tmp_path: Path) -> None:
    """It opens as soon as the file is free."""
    notes: list[str] = []
    runtime = Runtime(engine=InProcessEngine(tmp_path / "runs.db"))
    runtime.tools.add_toolset(Connection("host.files", FILES, notes))
    async with Runtime(engine=InProcessEngine(tmp_path / "runs.db")):
        with pytest.raises(EngineError, match="are executed by another engine"):
            await runtime.__aenter__()
    assert notes == ["open host.files", "close host.files"]
    async with runtime:
        assert names(await runtime.tools.snapshot()) == ["zip_up"]
    assert notes[2:] == ["open host.files", "close host.files"]


async def test_a_toolset_that_did_not_open_is_tried_again_for_the_next_request() -> None:
    failures = [True, True, False]
    runtime = Runtime()
    runtime.tools.add_toolset(opening(lambda: failures.pop(0), []), on_error="drop")
    async with runtime:
        assert names(await runtime.tools.snapshot()) == []
        assert names(await runtime.tools.snapshot()) == ["greet"]


async def test_all_toolsets_are_closed_when_one_fails_to(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Connection):
        async def __aexit__(self, *args: object) -> None:
            await super().__aexit__(*args)
            raise OSError("already gone")

    notes: list[str] = []
    runtime = Runtime()
    runtime.tools.add_toolset(Connection("host.files", FILES, notes))
    runtime.tools.add_toolset(Broken("host.people", PEOPLE, notes))
    async with runtime:
        pass
    assert notes[2:] == ["close host.people", "close host.files"]
    assert "toolset host.people failed" in caplog.text


async def test_a_toolset_that_breaks_while_it_is_open_ends_no_other_and_opens_again() -> None:
    class Supervised(Listing):
        def __init__(self) -> None:
            super().__init__("host.people", PEOPLE)
            self.entered = 0
            self.breaks = asyncio.Event()

        @asynccontextmanager
        async def session(self) -> AsyncIterator[None]:
            async with asyncio.TaskGroup() as group:
                worker = group.create_task(self.work())
                yield
                worker.cancel()

        async def work(self) -> None:
            await self.breaks.wait()
            raise OSError("connection lost")

        async def __aenter__(self) -> None:
            self.entered += 1
            self.breaks.clear()
            self.open = self.session()
            await self.open.__aenter__()

        async def __aexit__(self, *args: Any) -> None:
            await self.open.__aexit__(*args)

    notes: list[str] = []
    supervised = Supervised()
    runtime = Runtime()
    runtime.tools.add_toolset(Connection("host.files", FILES, notes))
    runtime.tools.add_toolset(supervised)
    async with runtime:
        supervised.breaks.set()
        for _ in range(10):
            await asyncio.sleep(0)
        assert names(await runtime.tools.snapshot()) == ["zip_up", "greet"]
        assert supervised.entered == 2
    assert notes == ["open host.files", "close host.files"]


async def test_opening_that_is_cancelled_leaves_nothing_open() -> None:
    began = asyncio.Event()

    class Slow(Connection):
        async def __aenter__(self) -> Connection:
            began.set()
            await asyncio.Event().wait()
            raise AssertionError

    notes: list[str] = []
    runtime = Runtime()
    runtime.tools.add_toolset(Connection("host.files", FILES, notes))
    runtime.tools.add_toolset(Slow("host.people", PEOPLE, notes))
    task = asyncio.create_task(runtime.__aenter__())
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert notes == ["open host.files", "close host.files"]
    assert asyncio.all_tasks() == {asyncio.current_task()}
