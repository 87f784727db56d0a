"""`toolgen approve` lists, answers and cancels what the planner of an agent asks."""

from __future__ import annotations

import json

import pytest

from .conftest import ProjectFolder
from .test_chat_command import MAIN

ASKING = '''

from toolgen.agents import Await, FinalResponse, UserMessage


class Asking:
    """Asks twice, then says what it heard."""

    async def plan_start(self, given):
        return Await(kind="clarification", question="Which house?")

    async def plan_resume(self, given):
        heard = [each.text for each in given.messages if isinstance(each, UserMessage)][1:]
        if len(heard) > 1:
            return FinalResponse(text=" has ".join(heard))
        return Await(kind="confirmation", question="Sure?", schema={"type": "integer"})
'''


@pytest.fixture
def asking(project: ProjectFolder) -> ProjectFolder:
    project.write("app/main.py", MAIN.replace("PLANNER", "Asking()") + ASKING)
    return project


def test_what_a_planner_asks_is_listed_and_answered(asking: ProjectFolder) -> None:
    done = asking.run("run", "clerk", "Look.", "--session", "s")
    assert (done.code, done.out) == (3, "")
    listed = asking.run("approve")
    id_, *facts = listed.out.splitlines()[0].split("  ")
    assert facts == ["clarification", "desk.clerk", "until its run ends", "Which house?"]
    assert listed.err == "answer one with: toolgen approve ID\n"
    (record,) = map(json.loads, asking.run("approve", "--session", "s", "--format", "json").out.splitlines())
    assert (record["id"], record["question"], record["tool"]) == (id_, "Which house?", "desk.clerk")
    assert (asking.run("approve", "--session", "other").out, "token" in record) == ("", False)
    refused = asking.run("approve", id_, "--yes")
    assert (refused.code, "error: this waits for an answer, not for an approval" in refused.err) == (2, True)
    further = asking.run("approve", id_, "--answer", '"the red one"')
    assert (further.code, further.out) == (3, "")
    assert "desk.clerk waits until its run ends: clarification\nWhich house?\n" in further.err
    assert "it waits for a confirmation: Sure?\n" in further.err
    assert asking.run("approve", id_, "--answer", '"again"').code == 2, "it was answered"
    (second, *_) = asking.run("approve").out.split()
    wrong = asking.run("approve", second, "--answer", '"two"')
    assert (wrong.code, "error: the answer does not fit" in wrong.err) == (2, True)
    ended = asking.run("approve", second, "--answer", "2", "--by", "jo")
    assert (ended.code, ended.out) == (0, "the red one has 2\n")
    assert asking.run("approve").err == "nothing to approve or answer\n"


def test_a_question_of_a_planner_is_canceled_with_its_run(asking: ProjectFolder) -> None:
    asking.run("run", "clerk", "Look.", "--session", "s")
    (id_, *_) = asking.run("approve").out.split()
    done = asking.run("approve", id_, "--cancel", "--message", "No longer needed.")
    assert (done.code, done.out) == (1, "")
    assert "No longer needed." in done.err
    assert "canceled" in asking.run("runs", "list").out
