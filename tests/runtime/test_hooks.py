"""Hooks stand around calls, say what happens next, and fail the call and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runtime.tools import META, SITE, Listing, nothing, runtime, spec
from tests.selection import diagonal
from toolgen.runtime import (
    Abort,
    Answer,
    BoundTool,
    Continue,
    Deny,
    Hook,
    RegistrationError,
    Runtime,
    StaticToolset,
    ToolCall,
    ToolContext,
    ToolError,
    ToolResult,
    Verdict,
)

TOOL = "assistant.devices.list_devices"


class Says(Hook):
    """Says one thing before, after and at an error, and notes that it was asked."""

    def __init__(self, before: Any = None, after: Any = None, error: Any = None) -> None:
        self.said = {"before": before, "after": after, "error": error}
        self.heard: list[str] = []

    async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        return self._say("before")

    async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
        return self._say("after")

    async def on_tool_error(self, call: ToolCall, error: ToolError, ctx: ToolContext) -> Verdict:
        return self._say("error")

    def _say(self, when: str) -> Verdict:
        self.heard.append(when)
        said = self.said[when]
        if isinstance(said, Exception):
            raise said
        return Continue() if said is None else said


def named(id_: str) -> BoundTool:
    """Return a tool of this id."""
    return BoundTool(spec=spec(id=id_, name=id_.rpartition(".")[2]), execute=Listing().list_devices)


async def failing(payload: Any, ctx: Any) -> Any:
    raise ToolError("the site is down")


async def test_hooks_run_in_the_order_given() -> None:
    order: list[str] = []

    class Named(Hook):
        def __init__(self, name: str) -> None:
            self.name = name

        async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
            order.append(self.name)
            return Continue()

    await runtime(Listing(), hooks=[Named("a"), Named("b")]).call(TOOL, SITE, META)
    assert order == ["a", "b"]


async def test_a_payload_in_the_place_of_another_is_what_runs() -> None:
    executor = Listing()
    other = spec().payload.decode(b'{"site_id": "s2"}')
    result = await runtime(executor, hooks=[Says(Continue(payload=other))]).call(TOOL, SITE, META)
    assert result.status == "ok"
    assert [payload.site_id for payload in executor.calls] == ["s2"]


async def test_an_answer_stands_in_the_place_of_the_tool() -> None:
    executor = Listing()
    hook = Says(Answer(result=nothing()))
    result = await runtime(executor, hooks=[hook]).call(TOOL, SITE, META)
    assert (result.status, executor.calls, hook.heard) == ("ok", [], ["before", "after"])


async def test_a_denied_call_never_runs() -> None:
    executor = Listing()
    result = await runtime(executor, hooks=[Says(Deny(message="not on Sundays"))]).call(TOOL, SITE, META)
    assert (result.status, executor.calls) == ("denied", [])
    assert result.json == b'{"error":"not on Sundays","code":"denied"}'


async def test_an_abort_is_a_failed_call() -> None:
    executor = Listing()
    result = await runtime(executor, hooks=[Says(Abort(error=ToolError("no budget")))]).call(TOOL, SITE, META)
    assert (result.status, result.json, executor.calls) == ("error", b'{"error":"no budget"}', [])


@pytest.mark.parametrize(
    ("said", "when"), diagonal([ValueError("secret"), {}, "yes"], ["before", "after", "error"])
)
async def test_a_hook_that_fails_fails_the_call(when: str, said: Any) -> None:
    """And what it raised stays inside."""
    executor = Listing(failing if when == "error" else None)
    result = await runtime(executor, hooks=[Says(**{when: said})]).call(TOOL, SITE, META)
    assert result.status == "error"
    assert b"secret" not in result.json
    assert result.error is not None
    assert result.error.correlation_id


@pytest.mark.parametrize("when", ["before", "after", "error"])
async def test_a_hook_that_denies_with_no_text_fails_the_call(
    when: str, caplog: pytest.LogCaptureFixture
) -> None:
    nothing_said: Any = None
    says = Says(**{when: Deny(message=nothing_said)})
    executor = Listing(failing if when == "error" else None)
    result = await runtime(executor, hooks=[says]).call(TOOL, SITE, META)
    assert result.status == "error"
    assert "returned Deny whose message has the type NoneType; it must be a string" in caplog.text


class Unset(Answer):
    """A verdict of the host's own that forgets its value."""

    def __init__(self) -> None:
        pass


@pytest.mark.parametrize("when", ["before", "after", "error"])
async def test_a_verdict_without_its_value_fails_the_call(when: str) -> None:
    executor = Listing(failing if when == "error" else None)
    second = Says()
    hooks = [Says(**{when: Unset()}), second]
    result = await runtime(executor, hooks=hooks).call(TOOL, SITE, META)
    assert (result.status, when in second.heard) == ("error", when != "error")
    assert result.error is not None
    assert result.error.correlation_id


async def test_a_hook_may_recover_from_an_error() -> None:
    hook = Says(error=Answer(result=nothing()))
    result = await runtime(Listing(failing), hooks=[hook]).call(TOOL, SITE, META)
    assert (result.status, hook.heard) == ("ok", ["before", "error", "after"])


CONTINUE = Continue()
ANSWER = Answer(result=nothing())
DENY = Deny(message="no")
ABORT = Abort(error=ToolError("over"))


@pytest.mark.parametrize(
    ("when", "said", "status", "is_next_asked"),
    [
        ("before", CONTINUE, "ok", True),
        ("before", ANSWER, "ok", True),
        ("before", DENY, "denied", True),
        ("before", ABORT, "error", True),
        ("error", CONTINUE, "error", True),
        ("error", ANSWER, "ok", False),
        ("error", DENY, "denied", False),
        ("error", ABORT, "error", True),
        ("after", CONTINUE, "ok", True),
        ("after", ANSWER, "ok", True),
        ("after", DENY, "denied", True),
        ("after", ABORT, "error", True),
    ],
)
async def test_a_verdict_says_what_comes_of_the_call_and_whether_the_next_hook_is_asked(
    when: str, said: Verdict, status: str, is_next_asked: bool
) -> None:
    executor = Listing(failing if when == "error" else None)
    second = Says()
    result = await runtime(executor, hooks=[Says(**{when: said}), second]).call(TOOL, SITE, META)
    assert (result.status, when in second.heard) == (status, is_next_asked)
    if isinstance(said, Abort):
        assert result.json == b'{"error":"over"}'


async def test_a_result_may_be_replaced_but_not_by_what_breaks_the_contract() -> None:
    good = await runtime(Listing(), hooks=[Says(after=Answer(result=nothing()))]).call(TOOL, SITE, META)
    assert good.status == "ok"
    bad = await runtime(Listing(), hooks=[Says(after=Answer(result={"devices": []}))]).call(TOOL, SITE, META)
    assert bad.status == "error"
    assert bad.retry_hint is not None
    assert bad.retry_hint.reason == "malformed_response"


async def test_a_result_that_a_hook_keeps_stays_as_it_saw_it() -> None:
    kept: list[ToolResult] = []

    class Keeps(Hook):
        async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
            kept.append(result)
            return Continue()

    result = await runtime(Listing(), hooks=[Keeps(), Keeps()]).call(TOOL, SITE, META)
    assert result.telemetry is not None
    assert [each.telemetry for each in kept] == [None, None]


async def test_a_hook_is_for_the_tools_that_it_names() -> None:
    class Other(Says):
        tools = frozenset({"assistant.devices.set_state"})

    other = Other()
    made = runtime(Listing(), hooks=[other])
    made.tools.register(StaticToolset(name="assistant.more", bound=(named("assistant.devices.set_state"),)))
    assert (await made.call(TOOL, SITE, META)).status == "ok"
    assert other.heard == []
    assert (await made.call("assistant.devices.set_state", SITE, META)).status == "ok"
    assert other.heard == ["before", "after"]


async def test_arguments_that_do_not_fit_reach_no_hook() -> None:
    hook = Says()
    result = await runtime(Listing(), hooks=[hook]).call(TOOL, b"{}", META)
    assert (result.status, hook.heard) == ("error", ["after"])


@pytest.mark.parametrize("hook", [Says, object(), "hook"])
def test_what_is_no_hook_is_refused(hook: Any) -> None:
    with pytest.raises(RegistrationError):
        Runtime(hooks=[hook])


@pytest.mark.parametrize(
    "said", [Answer(result=nothing()), Abort(error=ToolError("no")), ValueError("secret"), None]
)
async def test_every_hook_sees_a_denial_whatever_another_says_of_it(said: Any) -> None:
    """An audit that stands behind another hook misses no call that was refused."""
    denies, audit = Says(before=Deny(message="not on Sundays"), after=said), Says()
    executor = Listing()
    result = await runtime(executor, hooks=[audit, denies, audit]).call(TOOL, SITE, META)
    assert (result.status, result.json) == ("denied", b'{"error":"not on Sundays","code":"denied"}')
    assert audit.heard == ["before", "before", "after", "after"]
    assert executor.calls == []


async def test_a_hook_sees_the_failure_of_the_hook_before_it() -> None:
    seen: list[str] = []

    class Audit(Hook):
        async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
            seen.append(result.status)
            return Continue()

    fails = Says(after=ValueError("secret"))
    result = await runtime(Listing(), hooks=[Audit(), fails, Audit()]).call(TOOL, SITE, META)
    assert (result.status, seen) == ("error", ["ok", "error"])


async def test_arguments_that_are_no_json_stay_the_reason_behind_a_hook() -> None:
    hook = Says()
    result = await runtime(Listing(), hooks=[hook]).call(TOOL, {"site_id": object()}, META)
    assert (result.status, hook.heard) == ("error", ["after"])
    assert result.retry_hint is not None
    assert result.retry_hint.reason == "invalid_arguments"


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ((ANSWER, DENY), "denied"),
        ((DENY, ANSWER), "denied"),
        ((ABORT, DENY), "denied"),
        ((ANSWER, ABORT), "error"),
        ((ABORT, ANSWER), "error"),
        ((ANSWER, CONTINUE), "ok"),
    ],
)
async def test_the_strictest_verdict_before_a_tool_counts(said: tuple[Verdict, ...], status: str) -> None:
    executor = Listing()
    hooks = [Says(before=verdict) for verdict in said]
    result = await runtime(executor, hooks=hooks).call(TOOL, SITE, META)
    assert result.status == status
    assert all("before" in hook.heard for hook in hooks)
    assert executor.calls == []
