"""The limits of what comes in: checked before anything is decoded, whatever brings the document."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from typing_extensions import TypedDict

from tests.agents.tools import agent as agent_of
from tests.agents.tools import answers, calling, ran, running, texts
from tests.runtime.tools import EMPTY, META, SITE, Listing, nothing, runtime, spec
from toolgen.agents import Await, FinalResult, RunHandle, ScriptedPlanner, complete
from toolgen.agents.planner.completions import CompletionError, CompletionSpec
from toolgen.calls.call import NO_ARGUMENTS
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.toolsets.registration import AgentRoute
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    Allow,
    ConfirmSpec,
    Continue,
    Hook,
    Limits,
    Runtime,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolsetRegistration,
    ToolValidationError,
)
from toolgen.runtime.functions import LongRunningSpec
from toolgen.waiting.errors import BadAnswerError

TOOL = "assistant.devices.list_devices"
SMALL = Limits(bytes=1000, depth=4, keys=30, issues=3)
LARGE: dict[str, dict[str, Any]] = {
    "bytes": {"site_id": "x" * 1000},
    "depth": {"site_id": "s1", "more": [[[[]]]]},
    "keys": {"site_id": "s1", "more": [0] * 30},
}


def first(result: ToolResult) -> dict[str, Any]:
    """Return the only issue of a result."""
    assert result.status == "error"
    (issue,) = json.loads(result.json)["issues"]
    return dict(issue)


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("form", [json.dumps, lambda document: json.dumps(document).encode(), dict])
async def test_arguments_above_a_limit_are_one_issue(name: str, form: Callable[[Any], Any]) -> None:
    executor = Listing()
    result = await runtime(executor, limits=SMALL).call(TOOL, form(LARGE[name]), META)
    issue = first(result)
    assert (issue["path"], issue["constraint"]) == ("$", "invalid_length")
    assert issue["limit"] == getattr(SMALL, name)
    assert executor.calls == []


async def test_the_defaults_hold_where_a_host_says_nothing() -> None:
    for document in (
        b'{"site_id":"' + b"x" * 2**22 + b'"}',
        b"[" * 65 + b"]" * 65,
        b"[0" + b",0" * 10_000 + b"]",
    ):
        assert first(await runtime(Listing()).call(TOOL, document, META))["constraint"] == "invalid_length"
        with pytest.raises(ToolValidationError, match="must have at most"):
            spec().payload.decode(document)


async def test_a_codec_takes_the_limits_of_its_caller() -> None:
    document = {"site_id": "s1", "limit": 5}
    assert spec().payload.decode(document, Limits(keys=2)).site_id == "s1"
    with pytest.raises(ToolValidationError, match="at most 1 keys and items in all, not 2"):
        spec().payload.decode(document, Limits(keys=1))


class Replaces(Hook):
    """Puts a payload in the place of the model's."""

    async def before_tool(self, call: ToolCall, payload: Any, ctx: Any) -> Any:
        return Continue(payload=payload.model_copy(update={"site_id": "x" * 1000}))


async def test_the_payload_of_a_hook_has_the_limits_of_the_models() -> None:
    executor = Listing()
    result = await runtime(executor, hooks=[Replaces()], limits=SMALL).call(TOOL, SITE, META)
    assert (result.status, executor.calls) == ("error", [])


async def test_what_was_frozen_is_not_measured_again() -> None:
    """Its canonical form holds the defaults too, and may be longer than what came."""
    executor = Listing()
    document = '{"site_id":"' + "x" * 40 + '"}'
    made = runtime(
        executor,
        spec(confirm=ConfirmSpec()),
        engine=InProcessEngine(),
        limits=Limits(bytes=len(document)),
    )
    waits = await made.call(TOOL, document, META)
    assert waits.suspension is not None
    assert (await made.suspensions.answer(waits.suspension.token, {"approved": True})).status == "ok"
    assert len(executor.calls) == 1


async def test_a_host_that_allows_more_freezes_and_shows_more() -> None:
    executor = Listing()
    document = json.dumps({"site_id": "x" * 2**22})
    made = runtime(
        executor,
        spec(confirm=ConfirmSpec(hint="List {site_id}?")),
        engine=InProcessEngine(),
        limits=Limits(bytes=2**23),
        policy=Watches(),
    )
    waits = await made.call(TOOL, document, META)
    assert waits.suspension is not None
    assert waits.suspension.arguments["site_id"] == "x" * 2**22
    assert (await made.suspensions.answer(waits.suspension.token, {"approved": True})).status == "ok"
    assert len(executor.calls) == 1


class Watches:
    """A policy that looks at what it allows."""

    async def decide(self, call: Any, spec: Any, preview: str) -> Any:
        assert call.payload.site_id
        return Allow()


async def asks(payload: Any, ctx: Any) -> Any:
    return nothing() if ctx.answer is not None else ToolOutcome.ask("Which room?", {"type": "object"})


async def starts(payload: Any, ctx: Any) -> Any:
    return ToolOutcome.pending("job-7")


async def needs_mail(payload: Any, ctx: Any) -> Any:
    return ToolOutcome.need_credential({"provider": "mail"})


CONFIRMED = spec(confirm=ConfirmSpec(payload=spec().payload))


@pytest.mark.parametrize(
    ("executor", "made", "answer"),
    [
        (Listing(), CONFIRMED, {"approved": True, "message": "x" * 1000}),
        (Listing(), CONFIRMED, {"approved": True, "payload": LARGE["keys"]}),
        (Listing(needs_mail), spec(), {"available": True, "message": "x" * 1000}),
        (Listing(asks), spec(), {f"k{number}": 0 for number in range(31)}),
        (Listing(starts), spec(long_running=LongRunningSpec()), {**EMPTY, "refinement_hint": "x" * 1000}),
        (Listing(starts), spec(long_running=LongRunningSpec()), {"error": "x" * 1000}),
    ],
)
async def test_answers_above_a_limit_are_refused_and_the_call_still_waits(
    executor: Listing, made: Any, answer: Any
) -> None:
    host = runtime(executor, made, engine=InProcessEngine(), limits=SMALL)
    waits = await host.call(TOOL, SITE, META)
    assert waits.suspension is not None
    with pytest.raises(BadAnswerError, match="the answer must have at most"):
        await host.suspensions.answer(waits.suspension.token, answer)
    assert [one.id for one in await host.suspensions.list()] == [waits.suspension.id]


async def test_an_answer_full_of_mistakes_has_its_first_issues() -> None:
    host = runtime(Listing(asks), engine=InProcessEngine(), limits=SMALL)
    waits = await host.call(TOOL, SITE, META)
    assert waits.suspension is not None
    with pytest.raises(BadAnswerError) as raised:
        await host.suspensions.answer(waits.suspension.token, {f"k{number}": 0 for number in range(20)})
    assert len(raised.value.issues) == 3


# Agents.


def total(n: int) -> str:
    """Count."""
    return str(n)


def look(at: str) -> str:
    """Look."""
    return at


TOTAL: CompletionSpec[str] = CompletionSpec(
    id="x.total", description="A number.", result=func_tool(total).spec.result
)


async def test_a_completion_above_a_limit_is_repaired_once() -> None:
    planner = ScriptedPlanner([FinalResult(result="9" * 1000), '"3"'])
    assert await complete(TOTAL, planner, "How many?", limits=SMALL) == "3"
    again = ScriptedPlanner([FinalResult(result="9" * 1000), '"' + "9" * 1000 + '"'])
    with pytest.raises(CompletionError, match="must have at most 1000 bytes"):
        await complete(TOTAL, again, "How many?", limits=SMALL)


async def test_the_final_result_of_an_agent_has_the_limits_too() -> None:
    spec_of_agent = func_tool(look, toolset="x.checks").spec
    exported = ToolsetRegistration(name="x.checks", specs=[spec_of_agent], executor=AgentRoute(agent="x.low"))
    low = ScriptedPlanner([FinalResult(result="x" * 1000), FinalResult(result="dust")])
    async with running(agent_of("x.low", low), limits=SMALL) as (made, _):
        made.tools.register(exported)
        assert (await made.call("look", {"at": "lamp"})).json == b'"dust"'
    assert "must have at most 1000 bytes" in texts(low.inputs[1])


async def test_calls_and_answers_of_a_run_have_the_limits() -> None:
    async def drive(made: Runtime, handle: RunHandle) -> None:
        (asked,) = (await handle.settled()).awaiting
        with pytest.raises(BadAnswerError, match="must have at most 1000 bytes"):
            await handle.answer(asked, "x" * 1000)
        await handle.answer(asked, "Bo")

    planner = ScriptedPlanner(
        [
            calling(("add", {"a": 1, "b": 2, "c": "x" * 1000})),
            Await(kind="clarification", question="Who?"),
            texts,
        ]
    )
    found = await ran(planner, drive=drive, options={"limits": SMALL})
    assert found.output.text.endswith("[Bo]")
    (answer,) = answers(planner.inputs[1])
    assert json.loads(answer)["issues"][0]["limit"] == 1000


# Issues.


async def test_only_the_first_issues_are_built_and_the_others_are_counted() -> None:
    made, document = runtime(Listing(), limits=SMALL), {f"x{number}": 0 for number in range(20)}
    told = json.loads((await made.call(TOOL, document, META)).json)
    assert (len(told["issues"]), told["more_issues"]) == (3, 18)
    with pytest.raises(ToolValidationError, match=r"; and 18 more$") as raised:
        spec().payload.decode(document, SMALL)
    assert (len(raised.value.issues), raised.value.more, raised.value.is_counted) == (3, 18, True)


@pytest.mark.parametrize("empty", [b"{}", b"", " ", NO_ARGUMENTS], ids=["bytes", "none", "space", "frozen"])
async def test_empty_arguments_have_the_limit_of_issues_too(empty: bytes | str) -> None:
    async def pair(first: int, second: int) -> int:
        return first + second

    made = Runtime(limits=Limits(issues=1))
    made.tools.register(function_toolset("x.rooms", [pair]))
    told = json.loads((await made.call("pair", empty)).json)
    assert (len(told["issues"]), told["more_issues"]) == (1, 1)


class Room(TypedDict):
    """An item of a list."""

    id: int
    name: str
    floor: int


async def rooms(found: list[Room]) -> int:
    """Take rooms."""
    return len(found)


async def either(found: list[int | str]) -> int:
    """Take numbers and names."""
    return len(found)


@pytest.mark.parametrize(
    ("function", "item", "name", "more"),
    [(rooms, {}, "more_issues", 280), (either, None, "more_issues_at_least", 80)],
)
async def test_where_alternatives_may_say_more_at_least_the_others_are_counted(
    function: Any, item: Any, name: str, more: int
) -> None:
    made = Runtime()
    made.tools.register(function_toolset("x.rooms", [function]))
    told = json.loads((await made.call(function.__name__, {"found": [item] * 100})).json)
    assert (len(told["issues"]), told[name]) == (20, more)


@pytest.mark.exhaustive
async def test_a_flood_takes_little_memory() -> None:
    """With each of a million unknown keys an issue of its own, gigabytes."""
    made = Runtime()
    made.tools.register(function_toolset("x.rooms", [rooms]))
    for document in (
        json.dumps({f"k{number}": 1 for number in range(9_000)}),
        json.dumps({"found": ["hall"] * 9_000}),
        json.dumps({"found": [{}] * 9_000}),
        json.dumps({f"k{number}": 1 for number in range(100_000)}),
    ):
        await made.call("rooms", "{}")
        tracemalloc.start()
        try:
            result = await made.call("rooms", document)
            _, peak_bytes = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert result.status == "error"
        assert peak_bytes < 20_000_000


async def test_more_mistakes_than_can_be_told_are_one_issue() -> None:
    made = Runtime()
    made.tools.register(function_toolset("x.rooms", [rooms]))
    issue = first(await made.call("rooms", {"found": [{}] * 9_000}))
    assert issue["message"] == "does not match its schema in too many places to list"


async def test_the_memory_for_mistakes_keeps_no_long_names() -> None:
    codec = spec().payload
    codec.decode(SITE)
    assert codec._reader is not None
    codec._reader._issues_by_error.clear()
    codec._reader._findings_by_mistakes.clear()
    for number in range(5):
        with pytest.raises(ToolValidationError):
            codec.decode({"site_id": "s1", f"{number}" * 100_000: 1})
    assert not codec._reader._issues_by_error
    assert not codec._reader._findings_by_mistakes
