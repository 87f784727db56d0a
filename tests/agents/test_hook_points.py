"""Each method of `Hook`, alone in its class, is called at its points of a call or planning alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from tests.agents.tools import ran
from toolgen.agents import FinalResponse, PlanInput, PlannerError, ScriptedPlanner
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    ConfirmSpec,
    Continue,
    Hook,
    Json,
    Runtime,
    ToolContext,
    ToolError,
    ToolOutcome,
    Unfinished,
    Verdict,
)
from toolgen.runtime.functions import func_tool, function_toolset

CALLS: Final[Mapping[str, Mapping[str, str]]] = {
    "before_tool": {
        "returns": "before_tool execute",
        "fails": "before_tool execute",
        "asks, returns": "before_tool execute answer execute",
        "asks, fails": "before_tool execute answer execute",
        "is approved": "before_tool answer execute",
    },
    "after_tool": {
        "returns": "execute after_tool",
        "fails": "execute after_tool",
        "asks, returns": "execute answer execute after_tool",
        "asks, fails": "execute answer execute after_tool",
        "is approved": "answer execute after_tool",
    },
    "on_tool_error": {
        "returns": "execute",
        "fails": "execute on_tool_error",
        "asks, returns": "execute answer execute",
        "asks, fails": "execute answer execute on_tool_error",
        "is approved": "answer execute",
    },
    "on_suspend": {
        "returns": "execute",
        "fails": "execute",
        "asks, returns": "execute on_suspend answer execute",
        "asks, fails": "execute on_suspend answer execute",
        "is approved": "on_suspend answer execute",
    },
    "on_resume": {
        "returns": "execute",
        "fails": "execute",
        "asks, returns": "execute answer on_resume execute",
        "asks, fails": "execute answer on_resume execute",
        "is approved": "answer on_resume execute",
    },
}
"""What happens in a call that one hook stands around, by its method and by what the tool does."""
PLANNINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "before_model": {"returns": "before_model plan", "fails": "before_model plan"},
    "after_model": {"returns": "plan after_model", "fails": "plan"},
    "on_model_error": {"returns": "plan", "fails": "plan on_model_error"},
    "before_run": {"returns": "before_run plan", "fails": "before_run plan"},
    "after_run": {"returns": "plan after_run", "fails": "plan after_run"},
}
"""What happens in a planning, in the same way."""
ELSEWHERE: Final = {"on_unknown_tool"}
"""Methods around neither, with their tests in test_run_hooks.py."""


def noting(method: str, happened: list[str]) -> Hook:
    """Return a hook that overrides this method alone, and notes its calls."""

    async def note(self: Hook, *about: Any) -> Verdict:
        happened.append(method)
        return Continue()

    made: Hook = type("Noting", (Hook,), {method: note})()
    return made


def test_each_method_of_a_hook_has_its_points() -> None:
    methods = {name for name, value in vars(Hook).items() if callable(value)}
    assert {*CALLS, *PLANNINGS, *ELSEWHERE} == methods
    assert {frozenset(points) for points in CALLS.values()} == {frozenset(CALLS["before_tool"])}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("method", "does"), [(method, does) for method, points in CALLS.items() for does in points]
)
async def test_a_hook_of_tools_is_called_at_its_point(method: str, does: str) -> None:
    happened: list[str] = []

    async def work(ctx: ToolContext) -> str | Unfinished:
        """Work."""
        happened.append("execute")
        if does.startswith("asks") and ctx.answered(str) is None:
            return ToolOutcome.ask("How?", str)
        if does.endswith("fails"):
            raise ToolError("the site is down")
        return "done"

    confirm = ConfirmSpec(hint="Work?") if does == "is approved" else None
    tool = func_tool(work) if confirm is None else func_tool(work, confirm=confirm)
    async with Runtime(engine=InProcessEngine(), hooks=[noting(method, happened)]) as runtime:
        runtime.tools.register(function_toolset("x.works", [tool]))
        result = await runtime.call("work", {})
        if result.suspension is not None:
            happened.append("answer")
            answer: Json = {"approved": True} if confirm else "well"
            result = await runtime.suspensions.answer(result.suspension.token, answer)
    assert result.status == ("error" if does.endswith("fails") else "ok")
    assert " ".join(happened) == CALLS[method][does]


@pytest.mark.parametrize(
    ("method", "does"), [(method, does) for method, points in PLANNINGS.items() for does in points]
)
async def test_a_hook_of_models_is_called_at_its_point(method: str, does: str) -> None:
    happened: list[str] = []

    def plan(given: PlanInput) -> FinalResponse:
        happened.append("plan")
        if does == "fails":
            raise PlannerError("no key")
        return FinalResponse(text="done")

    found = await ran(ScriptedPlanner([plan]), options={"hooks": [noting(method, happened)]})
    assert found.output.status == ("failed" if does == "fails" else "completed")
    assert " ".join(happened) == PLANNINGS[method][does]
