"""A process ends between reading an answer and what LangGraph keeps of it; another one goes on."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.selection import diagonal
from toolgen.waiting.options import WaitOptions

from .killed_graph import KILLED, FileDesk, graph_in
from .own_interrupts import answer_to, drive, resume
from .with_langgraph import CONFIG

pytestmark = pytest.mark.costly(whole=True)


@pytest.mark.parametrize(
    ("moment", "is_plain", "answer", "is_answered_again"),
    diagonal(["read", "recorded"], [False, True], ["yes", "no"], [False, True]),
)
async def test_no_answer_moves_when_a_process_ends(
    moment: str, is_plain: bool, answer: str, is_answered_again: bool, tmp_path: Path
) -> None:
    module = "tests.conformance.adapters.frameworks.killed_graph"
    arguments = [str(tmp_path), moment, answer, "value" if is_plain else "id"]
    ended = await asyncio.create_subprocess_exec(sys.executable, "-m", module, *arguments)
    assert await ended.wait() == KILLED
    says = {"Pay 0 to p0?": answer == "yes", "Wipe 1?": False}
    desk = FileDesk(tmp_path)
    async with graph_in(tmp_path, desk, WaitOptions()) as graph:
        begin = None
        if is_answered_again:
            [shown] = (await graph.aget_state(CONFIG)).interrupts
            begin = resume(shown, answer_to(shown.value, says), is_plain=is_plain)
        await drive(desk, graph, says, is_plain=is_plain, begin=begin)
    assert desk.all_paid() == (["p0 0"] if answer == "yes" else [])
    assert desk.wiped == []
    assert desk.asked[-1] == "Wipe 1?"
