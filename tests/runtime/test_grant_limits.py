"""What an approval for further calls never does, and what is no such approval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel, Field

from tests.runtime.granting import ANYWHERE, BELOW, GRANTABLE, META, SAFE, Host, asked, granted, status
from toolgen.adapters.result_view import approval_json
from toolgen.agents import AgentRegistration, Agents, AgentSpec, ScriptedPlanner
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime, Suspended, ToolContext, ToolOutcome, Unfinished
from toolgen.runtime.functions import func_tool, function_toolset
from toolgen.waiting import LateAnswerError


def by_text(asked: Suspended, answer: Any, by: str) -> str:
    is_own = by == asked.requested_by
    return "prod needs a second person" if is_own and "prod" in asked.question + asked.preview else ""


async def test_a_rule_reads_the_question_that_a_grant_would_answer() -> None:
    host = Host(rule=by_text)
    async with host.runtime() as runtime:
        await granted(runtime)
        assert [await status(runtime, path) for path in ("/srv/prod", "/srv/test")] == ["suspended", "ok"]
        assert "grant" not in (await asked(runtime, "/srv/prod")).answer_schema["properties"]


@dataclass
class Funding:
    grant: str


@pytest.mark.parametrize("method", ["answer", "answer_as_caller"])
async def test_a_field_of_that_name_in_an_answer_to_a_tool_is_none(method: str) -> None:
    async def fund(ctx: ToolContext) -> str | Unfinished:
        """Fund."""
        funding = ctx.answered(Funding)
        return ToolOutcome.ask("Which?", Funding) if funding is None else funding.grant

    runtime = Runtime(engine=InProcessEngine())
    runtime.tools.register(function_toolset("x.money", [func_tool(fund, toolset="x.money")]))
    async with runtime:
        waiting = (await runtime.call("fund", {}, META)).suspension
        assert waiting is not None
        assert approval_json(waiting)["answer_schema"] == waiting.answer_schema
        result = await getattr(runtime.suspensions, method)(waiting.token, {"grant": "Erasmus"})
        assert result.json == b'"Erasmus"'


async def test_it_counts_no_more_in_a_session_that_has_ended() -> None:
    host = Host()
    runtime = host.runtime()
    agents = Agents(runtime)
    spec = AgentSpec(id="x.agent", description="Talks.")
    agents.register(AgentRegistration(spec=spec, planner=ScriptedPlanner(["Hello."])))
    async with runtime:
        await (await agents.client("x.agent").start("Hi.", session_id="s")).result()
        await granted(runtime)
        await agents.sessions.end("s")
        waiting = await asked(runtime)
        with pytest.raises(LateAnswerError):
            await runtime.suspensions.answer(waiting.token, {"approved": True, "grant": ANYWHERE}, by="jo")
    assert host.disk.written == ["/srv/a"]


async def test_a_clock_that_was_set_back_gives_it_no_further_time() -> None:
    host = Host()
    async with host.runtime() as runtime:
        await granted(runtime)
        host.clock.now -= 86400
        assert await status(runtime) == "suspended"
        host.clock.now += 86400
        assert await status(runtime) == "ok"


@pytest.mark.parametrize(("path", "expected"), [("/srv/b", "suspended"), ("/etc/b", "ok")])
async def test_a_denied_call_does_not_run_by_a_grant_if_it_is_made_again(path: str, expected: str) -> None:
    host = Host()
    async with host.runtime() as runtime:
        waiting = await asked(runtime, path)  # before the grant
        await granted(runtime, {**ANYWHERE, **BELOW})
        denied = await runtime.suspensions.answer(waiting.token, {"approved": False}, by="jo")
        assert denied.status == "denied"
        assert await status(runtime) == expected


class Command(BaseModel):
    path: str
    flags: str = Field(default="", exclude=True)


async def test_what_a_pattern_compares_is_what_runs() -> None:
    ran: list[Command] = []

    async def run(command: Command) -> str:
        """Run."""
        ran.append(command)
        return "done"

    runtime = Runtime(engine=InProcessEngine())
    tool = func_tool(run, toolset="x.shell", annotations=SAFE, confirm=GRANTABLE)
    runtime.tools.register(function_toolset("x.shell", [tool]))
    async with runtime:
        arguments = {"command": {"path": "/srv/a", "flags": "--force"}}
        waiting = (await runtime.call("run", arguments, META)).suspension
        assert waiting is not None
        assert waiting.arguments == {"command": {"path": "/srv/a"}}
        await runtime.suspensions.answer(waiting.token, {"approved": True, "grant": ANYWHERE}, by="jo")
        assert (await runtime.call("run", arguments, META)).status == "ok"
    assert ran == [Command(path="/srv/a")] * 2
