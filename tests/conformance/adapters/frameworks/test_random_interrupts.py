"""Random graphs with questions of the application's own: each answer counts for its question, and once.

A seed is all that a run is made of; `-k 'test_random_graphs[7]'` repeats one.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from itertools import repeat
from typing import Any, Final

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import ToolNode

from tests.selection import volume
from toolgen.adapters.langgraph import LangGraphAsk, ResumeError, toolgen_tool_node
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime

from .own_interrupts import Desk, around, calls_of, drive, plain, questions, turns
from .with_langgraph import ScriptedModel

KINDS: Final = ("node", "node", "subgraph", "tool node", "agent", "one task")
SEED: Final = 20_261_128


async def one_run(seed: int) -> str:
    """Run a random graph to its end; return what it was, and how it ended: "right" or "refused"."""
    rng = random.Random(seed)
    kind = rng.choice(KINDS)
    script = "".join(rng.choice("TTOOANR") for _ in range(rng.randint(1, 5)))
    says = {question: rng.random() < 0.5 for question in questions(script)}
    is_plain, goes_on = rng.random() < 0.4, rng.random() < 0.2
    fail_at = rng.choice([-1, -1, *range(len(script))])
    is_node = kind in ("node", "subgraph")
    desk = Desk(fails=1 if is_node and fail_at >= 0 else 0)
    async with Runtime(engine=InProcessEngine()) as runtime:
        tools = await desk.tools(runtime)
        own = desk.own_tool(_pauses(rng, is_one_task=kind == "one task"))
        graph: Any
        if is_node:
            graph = plain(desk, tools, script, fail_at=fail_at, is_sub=kind == "subgraph")
        elif kind == "agent":
            model = ScriptedModel(said=calls_of(script))
            graph = create_agent(model, [*tools.values(), own], checkpointer=InMemorySaver())
        else:
            node = toolgen_tool_node if kind == "tool node" else ToolNode
            graph = around(node([*tools.values(), own]), script)
        ended = "right"
        try:
            # LangGraph alone repeats a value after a restart, also between two questions of the application.
            await drive(desk, graph, says, is_plain=is_plain, goes_on=goes_on and not is_plain)
        except ResumeError:
            assert kind == "one task", f"{seed}: {kind} {script} was refused"
            ended = "refused"
        await turns()  # what a `ToolNode` has left behind
    yes = {question for question, answer in says.items() if answer}
    done = Counter([f"Pay {n} to {to}?" for to, n in desk.paid] + [f"Wipe {n}?" for n in desk.wiped])
    assert done.keys() <= yes, f"{seed}: {kind} {script} did {done - Counter(yes)} without a yes"
    assert max(done.values(), default=1) == 1, f"{seed}: {kind} {script} did {done}"
    assert max(Counter(desk.greeted).values(), default=1) == 1, f"{seed}: {kind} {script} greeted twice"
    if ended == "right":
        desk.check(script, says, once=not goes_on and kind != "one task")
    return f"{kind}: {ended}"


def _pauses(rng: random.Random, *, is_one_task: bool) -> Iterator[Callable[[], Awaitable[None]]]:
    """Return what the application's tool waits for before it asks, in each of its runs.

    In one task with toolgen's calls it asks always sooner or always later: nobody can tell answers apart
    where that changes (docs/frameworks.md).
    """
    always = rng.choice([turns, _at_once])
    return repeat(always) if is_one_task else iter([rng.choice([turns, _at_once]) for _ in range(10)])


async def _at_once() -> None:
    """Ask at once."""


@pytest.mark.volume
@pytest.mark.parametrize("number", range(10))
async def test_random_graphs(number: int) -> None:
    count = volume(3, lab=50)
    ended = Counter([await one_run(SEED + number * count + n) for n in range(count)])
    assert sum(ended.values()) == count


async def test_a_planted_fault_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ended calls that take no numbers, such as those of other adapters: some run is wrong."""

    async def take_nothing(self: LangGraphAsk, call: Any) -> None:
        return None

    monkeypatch.setattr(LangGraphAsk, "_take_own", take_nothing)

    async def many() -> None:
        for seed in range(SEED, SEED + 60):
            await one_run(seed)

    with pytest.raises((AssertionError, ResumeError)):
        await many()
