"""A tool that asks for permission itself: a no ends the call, a yes is for the question that was shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.agents.tools import agent, answers, calling, running
from tests.runtime.test_typed_answers import Size
from tests.runtime.tools import META, waiting
from toolgen.agents import ScriptedPlanner, agents_of
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.events.records import ToolAuthorization
from toolgen.runtime import (
    Allow,
    Ask,
    ConfirmSpec,
    Continue,
    Decision,
    Deny,
    Hook,
    Runtime,
    ToolCall,
    ToolContext,
    ToolOutcome,
    ToolResult,
    ToolSpec,
    Unfinished,
    Verdict,
)
from toolgen.waiting.errors import ConflictingAnswerError
from toolgen.waiting.options import WaitOptions


class Files:
    """A tool that asks for permission itself."""

    def __init__(self, count: int = 5000) -> None:
        self.count = count
        self.did: list[str] = []

    async def delete(self, path: str, ctx: ToolContext) -> str | Unfinished:
        """Delete files."""
        self.did.append("looked")
        question = f"{path} has {self.count} files. Delete them?"
        if self.count > 100 and not ctx.approved(question):
            return ToolOutcome.approval(question)
        self.did.append("deleted")
        return f"{self.count} deleted"


async def test_a_tool_asks_for_an_approval_of_its_own(serve: Callable[..., Runtime]) -> None:
    files = Files()
    runtime = serve(files.delete)
    asked = waiting(await runtime.call("delete", {"path": "logs"}, META))
    assert (asked.kind, asked.question) == ("confirmation", "logs has 5000 files. Delete them?")
    assert asked.arguments == {"path": "logs"}
    assert asked.answer_schema["required"] == ["approved"]
    done = await runtime.suspensions.answer(asked.token, {"approved": True, "message": None})
    assert (done.json, files.did) == (b'"5000 deleted"', ["looked", "looked", "deleted"])
    with pytest.raises(ConflictingAnswerError):
        await runtime.suspensions.answer(asked.token, {"approved": False})


async def test_a_no_ends_the_call_before_its_body_goes_on(serve: Callable[..., Runtime]) -> None:
    files, heard = Files(), []

    class Audit(Hook):
        async def after_tool(self, call: Any, result: ToolResult, ctx: Any) -> Verdict:
            heard.append(result.status)
            return Continue()

    events = Events()
    runtime = serve(files.delete, hooks=[Audit()], events=events)
    async with events.subscribe() as subscription:
        asked = waiting(await runtime.call("delete", {"path": "logs"}, META))
        done = await runtime.suspensions.answer(asked.token, {"approved": False, "message": "Too many."})
        events.close()
        seen = [event async for event in subscription]
    assert (done.status, done.json) == ("denied", b'{"error":"Too many.","code":"denied"}')
    assert (files.did, heard) == (["looked"], ["denied"])
    (decided,) = [event for event in seen if isinstance(event, ToolAuthorization)]
    assert (decided.decision, decided.decided_by, decided.suspension_id) == ("denied", "person", asked.id)
    assert [event.type for event in seen] == [
        "tool_start", "approval_requested", "tool_end", "tool_authorization", "tool_end",
    ]  # fmt: skip


async def test_what_changed_since_is_asked_about_again(serve: Callable[..., Runtime]) -> None:
    """A yes is for the question that was shown, and for no other."""
    files = Files()
    runtime = serve(files.delete)
    asked = waiting(await runtime.call("delete", {"path": "logs"}, META))
    files.count = 9000
    again = await runtime.suspensions.answer(asked.token, {"approved": True})
    assert waiting(again).question == "logs has 9000 files. Delete them?"
    assert "deleted" not in files.did
    assert (
        await runtime.suspensions.answer(waiting(again).token, {"approved": True})
    ).json == b'"9000 deleted"'


@pytest.mark.parametrize("hint", ["Delete {path}?", "{path} has 5000 files. Delete them?"])
async def test_the_approval_of_a_tool_is_none_of_its_design(serve: Callable[..., Runtime], hint: str) -> None:
    """And the other way: each is asked for on its own, also in the same words."""
    files = Files()
    runtime = serve(func_tool(files.delete, toolset="x.tools", confirm=ConfirmSpec(hint=hint)))
    first = waiting(await runtime.call("delete", {"path": "logs"}, META))
    assert (first.question, files.did) == (hint.format(path="logs"), [])
    second = waiting(await runtime.suspensions.answer(first.token, {"approved": True}))
    assert second.question == "logs has 5000 files. Delete them?"
    assert (await runtime.suspensions.answer(second.token, {"approved": True})).status == "ok"
    assert files.did == ["looked", "looked", "deleted"]


class Then:
    """A policy that allows once, and from then on decides otherwise."""

    def __init__(self, then: Decision) -> None:
        self._decision: Decision = Allow()
        self._then = then

    async def decide(self, call: ToolCall, spec: ToolSpec[Any, Any], preview: str) -> Decision:
        decision, self._decision = self._decision, self._then
        return decision


async def test_a_policy_is_asked_again_after_the_approval_of_a_tool(serve: Callable[..., Runtime]) -> None:
    files = Files()
    runtime = serve(files.delete, policy=Then(Deny(message="it is night")))
    asked = waiting(await runtime.call("delete", {"path": "logs"}, META))
    done = await runtime.suspensions.answer(asked.token, {"approved": True})
    assert (done.status, json.loads(done.json)["error"], files.did) == ("denied", "it is night", ["looked"])


async def test_what_was_answered_outlasts_the_question_of_a_policy(serve: Callable[..., Runtime]) -> None:
    async def ask(ctx: ToolContext) -> str | Unfinished:
        """Ask."""
        size = ctx.answered(Size)
        return ToolOutcome.ask("Which size?", Size) if size is None else f"{size.width}"

    runtime = serve(ask, policy=Then(Ask(question="Now?")))
    asked = waiting(await runtime.call("ask", {}, META))
    now = waiting(await runtime.suspensions.answer(asked.token, {"width": 5}))
    assert now.question == "Now?"
    assert (await runtime.suspensions.answer(now.token, {"approved": True})).json == b'"5"'


async def test_with_nobody_to_ask_it_is_denied(serve: Callable[..., Runtime]) -> None:
    files, events = Files(), Events()
    runtime = serve(files.delete, waiting=WaitOptions(is_interactive=False), events=events)
    async with events.subscribe(types=["tool_authorization"]) as subscription:
        result = await runtime.call("delete", {"path": "logs"}, META)
        told = await anext(subscription)
    assert json.loads(result.json)["code"] == "approval_unavailable"
    assert isinstance(told, ToolAuthorization)
    assert (told.decision, told.decided_by, told.reason) == ("denied", "runtime", "approval_unavailable")
    assert files.did == ["looked"]


async def test_a_run_waits_for_the_approval_of_a_tool(engine: InProcessEngine) -> None:
    files = Files()
    planner = ScriptedPlanner([calling(("delete", {"path": "logs"})), lambda given: answers(given)[0]])
    toolset = function_toolset("x.tools", [files.delete])
    async with running(agent("x.agent", planner, toolset), engine=engine) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        (awaiting,) = (await handle.settled()).awaiting
        assert (awaiting.kind, awaiting.question) == ("confirmation", "logs has 5000 files. Delete them?")
        await handle.answer(awaiting, {"approved": False})
        text = '{"error":"a person did not approve the call","code":"denied"}'
        assert ((await handle.result()).text, files.did) == (text, ["looked"])
