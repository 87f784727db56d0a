"""Random forests of calls end: deep, wide, at once, in threads, sequential, late, cancelled, under limits."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import pytest

from tests.selection import first, volume
from toolgen.calls.functions.tools import FunctionFacts, func_tool
from toolgen.runtime import (
    CallMeta,
    Runtime,
    Scheduling,
    StaticToolset,
    SyncToolContext,
    ToolCall,
    ToolResult,
)

DEPTH, MOST_CALLS, DAY = 5, 150, 86_400.0
WIDTHS = (0, 0, 1, 2, 3, 5, 50)
LOCKED = {
    "alone": "",
    "session": "session",
    "keyed": "key",
    "keyed_thread": "key",
    "late": "key",
    "running": "key",
}
"""What calls of a sequential tool have in common."""
LATE_S = 2.0
"""After which an executor runs on without its call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One call, and those that it makes."""

    path: tuple[int, ...]
    run: int
    lane: object
    """What its calls have in common with those that count for the limit of a run."""
    tool: str
    key: str
    is_at_once: bool
    pauses: tuple[float, float]
    """Seconds before and after its calls."""
    children: tuple[Node, ...] = ()

    @property
    def call(self) -> ToolCall:
        meta = CallMeta(run_id=f"run_{self.run}" if self.run else "", session_id=f"s{self.run % 2}")
        path = ",".join(map(str, self.path))
        return ToolCall(
            tool=self.tool, payload_json=f'{{"path":[{path}],"key":"{self.key}"}}'.encode(), meta=meta
        )

    @property
    def lock(self) -> object:
        by = LOCKED.get(self.tool)
        return by if by in (None, "") else (by, self.run % 2 if by == "session" else self.key)


@dataclass(slots=True, kw_only=True)
class Forest:
    """Calls of several runs, the tools that they call, and what must hold while they go on."""

    seed: int
    tools: tuple[str, ...]
    keys: str
    has_pauses: bool = True
    nodes: dict[tuple[int, ...], Node] = field(default_factory=dict)
    holding: dict[object, list[tuple[int, ...]]] = field(default_factory=dict)
    """By lock, the calls that hold it."""
    fresh: Counter[object] = field(default_factory=Counter)
    """By lane, the calls that run and have not waited for others yet; None has all of them."""

    def __post_init__(self) -> None:
        rng = self.rng = random.Random(self.seed)
        self.limits = Scheduling(
            max_calls=rng.choice((1, 2, 5, 256)),
            max_calls_per_run=rng.choice((1, 2, 16)),
            max_calls_per_session=rng.choice((None, None, 1, 3)),
            max_calls_per_tool=rng.choice((None, None, 1, 4)),
            max_threads=rng.choice((1, 2, 8)),
        )
        self.roots = [
            self._tree((number,), run, run or ("no run", number), DEPTH)
            for number, run in enumerate(rng.choices(range(4), k=rng.randint(2, 6)))
        ]
        self.host = Runtime(scheduling=self.limits)
        bound = [func_tool(getattr(self, name), toolset="x.tools", **facts_of(name)) for name in self.tools]
        self.host.tools.register(StaticToolset(name="x.tools", bound=tuple(bound)))

    rng: random.Random = field(init=False)
    limits: Scheduling = field(init=False)
    roots: list[Node] = field(init=False)
    host: Runtime = field(init=False)

    def _tree(self, path: tuple[int, ...], run: int, lane: object, depth: int) -> Node:
        rng = self.rng
        tool = rng.choice(self.tools)
        below = path if tool == "running" else lane
        width = min(rng.choice(WIDTHS), MOST_CALLS - len(self.nodes)) if depth > 1 else 0
        node = Node(
            path=path,
            run=run,
            lane=lane,
            tool=tool,
            key=rng.choice(self.keys),
            is_at_once=rng.random() < 0.6,
            pauses=(rng.choice((0.0, 1.0)), rng.choice((0.0, 2.0))) if self.has_pauses else (0.0, 0.0),
            children=tuple(self._tree((*path, number), run, below, depth - 1) for number in range(width)),
        )
        self.nodes[path] = node
        return node

    # The tools.

    async def plain(self, path: list[int], key: str) -> list[str]:
        """Make calls."""
        return await self._execute(self.nodes[tuple(path)])

    async def alone(self, path: list[int], key: str) -> list[str]:
        """Make calls, alone in the process."""
        return await self._execute(self.nodes[tuple(path)])

    async def session(self, path: list[int], key: str) -> list[str]:
        """Make calls, alone in the session."""
        return await self._execute(self.nodes[tuple(path)])

    async def keyed(self, path: list[int], key: str) -> list[str]:
        """Make calls, alone among those of a key."""
        return await self._execute(self.nodes[tuple(path)])

    async def running(self, path: list[int], key: str) -> list[str]:
        """Begin a run that makes calls, and wait for it later; alone among those of a key."""
        node, scheduler = self.nodes[tuple(path)], self.host._services.scheduler
        run_id = f"run_of_{path}"

        async def calls() -> list[str]:
            with scheduler.in_run(run_id):
                return await self._calls_of(node)

        with self._holding(node):
            run = asyncio.ensure_future(calls())
            with self._counting(node):
                await asyncio.sleep(node.pauses[0] + 1.0)
            said: list[str] = await scheduler.wait_for_run(run_id, run)
            return said

    async def late(self, path: list[int], key: str) -> list[str]:
        """Make calls, alone among those of a key, however long it takes."""
        work = asyncio.create_task(self._execute(self.nodes[tuple(path)]))
        while not work.done():
            with suppress(asyncio.CancelledError):
                await asyncio.shield(work)
        return work.result()

    def thread(self, path: list[int], key: str, ctx: SyncToolContext) -> list[str]:
        """Make calls in a thread."""
        return ctx.wait(self._execute, self.nodes[tuple(path)])

    def keyed_thread(self, path: list[int], key: str, ctx: SyncToolContext) -> list[str]:
        """Make calls in a thread, alone among those of a key."""
        node, said = self.nodes[tuple(path)], list[str]()
        for one in node.children:
            said += told([ctx.wait(self.host.call, one.tool, one.call.payload_json, one.call.meta)])
        return said

    async def _execute(self, node: Node) -> list[str]:
        before, after = node.pauses
        with self._holding(node):
            with self._counting(node):
                await asyncio.sleep(before)
            said = await self._calls_of(node)
            await asyncio.sleep(after)
        return said

    async def _calls_of(self, node: Node) -> list[str]:
        calls = [child.call for child in node.children]
        if node.is_at_once:
            return told(await self.host.call_all(calls))
        return told([await self.host.call(one.tool, one.payload_json, one.meta) for one in calls])

    @contextmanager
    def _holding(self, node: Node) -> Iterator[None]:
        """Check that the calls with a lock are those above, whose callers wait for them."""
        lock = node.lock
        held = self.holding.setdefault(lock, []) if lock is not None else []
        for other in held:
            assert node.path[: len(other)] == other, f"{node.path} runs beside {other}"
        held.append(node.path)
        try:
            yield
        finally:
            held.remove(node.path)

    @contextmanager
    def _counting(self, node: Node) -> Iterator[None]:
        """Check that no more calls were admitted than the limits let run at once."""
        self.fresh.update((None, node.lane))
        assert self.fresh[None] <= self.limits.max_calls
        assert self.fresh[node.lane] <= self.limits.max_calls_per_run
        try:
            yield
        finally:
            self.fresh.subtract((None, node.lane))

    # What becomes of it.

    async def run(self) -> list[str]:
        """Make all calls of the roots, and return how those of the forest ended."""
        calls = [node.call for node in self.roots]
        results = await asyncio.gather(
            *(self.host.call(one.tool, one.payload_json, one.meta) for one in calls)
        )
        return told(results)

    async def run_and_cancel(self) -> None:
        """Cancel most of the roots, at different times."""
        calls = [node.call for node in self.roots]
        tasks = [asyncio.create_task(self.host.call(one.tool, one.payload_json, one.meta)) for one in calls]
        for task in tasks:
            await asyncio.sleep(self.rng.choice((0.0, 0.5, 3.0)) if self.has_pauses else 0.0)
            if self.rng.random() < 0.8:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def check_idle(self) -> None:
        scheduler = self.host._services.scheduler
        assert scheduler.is_idle
        assert not scheduler._locks._locks
        assert not any(self.holding.values())
        assert not any(self.fresh.values())


def facts_of(tool: str) -> FunctionFacts:
    """Return what the tool of a name says of itself."""
    facts: FunctionFacts = {"is_sequential": tool in LOCKED, "sequential_by": LOCKED.get(tool, "")}
    if tool == "late":
        facts["timeout"] = LATE_S
    return facts


def told(results: Iterable[ToolResult]) -> list[str]:
    """Return how the calls ended, and those that they made."""
    said = list[str]()
    for result in results:
        said += [
            result.status if result.error is None else type(result.error).__name__,
            *(result.result or ()),
        ]
    return said


KINDS = [
    (("plain",), "a"),
    (("plain", "alone"), "a"),
    (("plain", "keyed", "running"), "ab"),
    (("plain", "session", "keyed", "alone"), "abc"),
]
"""The tools of forests, and their keys."""


@pytest.mark.exhaustive
@pytest.mark.asyncio(loop_factories=["virtual"])
@pytest.mark.parametrize("seeds", first([range(2), range(2, volume(8, lab=1_000))]))
@pytest.mark.parametrize(("tools", "keys"), KINDS)
async def test_forests_end_within_their_limits(tools: tuple[str, ...], keys: str, seeds: range) -> None:
    """Without a second lock all calls end well; with more, some are refused instead of waiting for ever."""
    seen = Counter[str]()
    for seed in seeds:
        forest = Forest(seed=seed, tools=tools, keys=keys)
        async with asyncio.timeout(DAY):
            said = await forest.run()
        seen.update(said)
        assert len(said) == len(forest.nodes) or "DeadlockError" in said
        forest.check_idle()
    assert seen.keys() <= {"ok", "DeadlockError"}
    assert len(tools) > 2 or seen.keys() == {"ok"}


@pytest.mark.exhaustive
@pytest.mark.asyncio(loop_factories=["virtual"])
@pytest.mark.parametrize("seeds", first([range(8), range(8, 50), range(50, volume(100, lab=5_000))]))
async def test_cancelled_forests_leave_nothing_behind(seeds: range) -> None:
    """Most faults of a cancel show in one forest of forty, so there are more of these."""
    tools, keys = KINDS[-1]
    for seed in seeds:
        forest = Forest(seed=seed, tools=tools, keys=keys)
        async with asyncio.timeout(DAY):
            await forest.run_and_cancel()
        forest.check_idle()


@pytest.mark.exhaustive
@pytest.mark.asyncio(loop_factories=["virtual"])
@pytest.mark.parametrize("seeds", first([range(4), range(4, volume(20, lab=1_000))]))
@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_forests_of_late_executors_end(is_cancelled: bool, seeds: range) -> None:
    """Executors that run on after their calls hold their locks, make calls, and leave nothing behind."""
    seen = Counter[str]()
    for seed in seeds:
        forest = Forest(seed=seed, tools=("plain", "late", "keyed", "alone"), keys="ab")
        async with asyncio.timeout(DAY):
            if is_cancelled:
                await forest.run_and_cancel()
            else:
                seen.update(await forest.run())
            while late := asyncio.all_tasks() - {asyncio.current_task()}:
                await asyncio.wait(late)
            await asyncio.sleep(0)  # for what the last of them calls back
        forest.check_idle()
    assert seen.keys() <= {"ok", "StuckLockError", "DeadlockError", "OutcomeUnknownError"}
    assert is_cancelled or seen["OutcomeUnknownError"]


@pytest.mark.exhaustive
@pytest.mark.asyncio(loop_factories=["real"])
@pytest.mark.parametrize("is_cancelled", first([False, True]))
@pytest.mark.parametrize(
    "tools", [("thread",), ("plain", "thread"), ("plain", "thread", "keyed_thread", "alone")]
)
@pytest.mark.parametrize("seeds", first([range(1), range(1, 4)]))
async def test_forests_of_synchronous_tools_end(
    tools: tuple[str, ...], is_cancelled: bool, seeds: range
) -> None:
    """Calls in threads that make calls in threads, with one thread or more."""
    for seed in seeds:
        forest = Forest(seed=seed, tools=tools, keys="ab", has_pauses=False)
        async with asyncio.timeout(120):
            if is_cancelled:
                await forest.run_and_cancel()
            else:
                said = await forest.run()
                assert set(said) <= {"ok", "DeadlockError"}
        scheduler = forest.host._services.scheduler
        assert scheduler.is_idle
        await forest.host.aclose()
