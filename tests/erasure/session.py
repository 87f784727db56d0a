"""A session that leaves something in every place where data is kept, each under a mark of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Final

from tests.agents.tools import IMPATIENT, agent, calling
from toolgen.agents import (
    Agents,
    Await,
    FinalResponse,
    FinalResult,
    HandOver,
    History,
    Message,
    PlanInput,
    PlannerError,
    RunHandle,
    RunOutput,
    RunPolicy,
    ScriptedPlanner,
    SessionStore,
    agents_of,
)
from toolgen.agents.planner.scripted import ScriptStep
from toolgen.calls.call import CallName
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.calls.results import Pending
from toolgen.calls.toolsets.registration import AgentRoute
from toolgen.runtime import (
    CallMeta,
    ConfirmSpec,
    Runtime,
    StaticToolset,
    ToolContext,
    ToolError,
    ToolModel,
    ToolOutcome,
    ToolResult,
    ToolsetRegistration,
    Unfinished,
)
from toolgen.runtime.functions import ArtifactSpec, LongRunningSpec, Sensitive
from toolgen.waiting.once_call import Resolution

from .walks import mark

OF_USER: Final = frozenset({"label", "userstate", "userfile"})
"""The places that belong to a user, whom the label names."""
PLACES: Final = OF_USER | frozenset(
    "session run requester said words argument result thumbnail photo file metadata state overflow"
    " error prompt childwords childargument childanswer reply wiped approver comment asked answer heard"
    " scheme login asks told handle ack delivered reason foundout resolver spoken refusal direct callid"
    " sensitive directprompt handed nextreply summary".split()
)
"""Where a session leaves something."""


def own(session: str) -> Callable[[str], str]:
    """Return what gives the marks of a session, by its name or its id."""
    name = session.removeprefix("Mark").partition("x")[0]

    def of(place: str) -> str:
        assert place in PLACES, place
        return mark(name, place)

    return of


class Photo(ToolModel):
    pixels: str


PHOTO: Final[ArtifactSpec[Photo]] = ArtifactSpec(kind="photo", codec=TypeCodec(Photo, "Photo"))


async def note(text: str, ctx: ToolContext) -> ToolOutcome[str]:
    """Take a note, with photos."""
    of = own(ctx.meta.session_id)
    ctx.state.set("noted", of("state"))
    ctx.state.set("user:noted", of("userstate"))
    await ctx.artifacts.save("notes.txt", of("file").encode(), "text/plain", {"about": of("metadata")})
    await ctx.artifacts.save("user:notes.txt", of("userfile").encode())
    photos = [Photo(pixels=of("thumbnail")), Photo(pixels="x" * 20_000 + of("photo"))]
    return ToolOutcome.of(of("result"), artifacts=[PHOTO.of(photo) for photo in photos])


async def much(ctx: ToolContext) -> str:
    """Return more than the model may see."""
    return "x" * 500 + own(ctx.meta.session_id)("overflow")


async def fail(ctx: ToolContext) -> str:
    """Fail."""
    raise ToolError(own(ctx.meta.session_id)("error"))


async def wipe(name: str) -> str:
    """Wipe a disk."""
    return f"{name} is empty"


async def ask(ctx: ToolContext) -> str | Unfinished:
    """Ask a person."""
    of = own(ctx.meta.session_id)
    return of("heard") if ctx.answer else ToolOutcome.ask(of("asked"))


async def sign_in(ctx: ToolContext) -> str | Unfinished:
    """Read what is behind a login."""
    of = own(ctx.meta.session_id)
    return "in" if ctx.answer else ToolOutcome.need_credential({"scheme": of("scheme")}, of("login"))


async def order(ctx: ToolContext) -> str | Pending[str]:
    """Order."""
    of = own(ctx.meta.session_id)
    return ToolOutcome.pending(of("handle"), of("ack"))


async def hang() -> str:
    """Never end."""
    await asyncio.Event().wait()
    return ""


async def pay(number: Annotated[str, Sensitive()]) -> str:
    """Pay by a card."""
    return "paid"


def look(prompt: str) -> str:
    """Have an agent look."""
    return prompt


def _tools() -> StaticToolset:
    def tool(function: Callable[..., object], **facts: Any) -> Any:
        return func_tool(function, toolset="x.tools", **facts)

    noting = tool(note, annotations={"idempotent": True})
    noting = replace(noting, spec=replace(noting.spec, artifacts={"photo": PHOTO}))
    return function_toolset(
        "x.tools",
        [
            noting,
            tool(much, max_result_bytes=200),
            tool(fail),
            tool(wipe, confirm=ConfirmSpec(hint="Wipe {name}?")),
            tool(ask),
            tool(sign_in),
            tool(order, long_running=LongRunningSpec(ack=tool(wipe).spec.result)),
            tool(hang),
            tool(pay),
        ],
    )


TOOLS: Final = _tools()
LOOKS: Final = ToolsetRegistration(
    name="x.looks",
    specs=[func_tool(look, toolset="x.looks").spec],
    executor=AgentRoute(agent="x.low", prompts={"x.looks.look": "{prompt}"}),
)


def _steps(*made: Callable[[Callable[[str], str]], Any]) -> list[ScriptStep]:
    """Return the steps of a run, each made of what gives the marks of its session; then a reply."""

    def step(make: Callable[[Callable[[str], str]], Any]) -> ScriptStep:
        return lambda given: make(own(given.session_id))

    return [*map(step, made), step(lambda of: FinalResponse(text=of("reply")))]


def _refuse(of: Callable[[str], str]) -> Any:
    raise PlannerError(of("refusal"))


class Planner(ScriptedPlanner):
    """Does what the first word of a message says, and summarizes."""

    async def summarize(self, messages: tuple[Message, ...], given: PlanInput, history: History) -> str:
        return own(given.session_id)("summary")


def _top() -> Planner:
    ordered = _steps(lambda of: calling("order"))
    return Planner(
        by_message={
            "note": _steps(
                lambda of: calling(("note", {"text": of("argument")}), "much", "fail", text=of("words"))
            ),
            "child": _steps(lambda of: calling(("look", {"prompt": f"look {of('prompt')}"}))),
            "wipe": _steps(lambda of: calling(("wipe", {"name": of("wiped")}))),
            "ask": _steps(lambda of: calling("ask")),
            "question": _steps(lambda of: Await(kind="clarification", question=of("asks"))),
            "order": ordered,
            "The work of order": ordered[1:],
            "hang": _steps(lambda of: calling("hang")),
            "refuse": [lambda given: _refuse(own(given.session_id))],
            "over": [lambda given: HandOver(agent="x.next", message=own(given.session_id)("handed"))],
        }
    )


def _low() -> ScriptedPlanner:
    def call(given: PlanInput) -> Any:
        of = own(given.session_id)
        return calling(("note", {"text": of("childargument")}), text=of("childwords"))

    return ScriptedPlanner([call, lambda given: FinalResult(result=own(given.session_id)("childanswer"))])


def register(runtime: Runtime, sessions: SessionStore | None, **keep: Any) -> Agents:
    """Register the agents of such a session with a runtime, and return them."""
    agents = Agents(runtime, sessions=sessions, planner_retry=IMPATIENT, **keep)
    policy = RunPolicy(interrupts_allowed=True, history=History(keep_turns=1, summarize_after=2))
    then = ScriptedPlanner([lambda given: FinalResponse(text=own(given.session_id)("nextreply"))])
    agents.register(agent("x.low", _low(), TOOLS))
    agents.register(agent("x.next", then, TOOLS))
    agents.register(agent("x.top", _top(), TOOLS, LOOKS, policy=policy, transfers=("x.next",)))
    return agents


async def lead(runtime: Runtime, name: str) -> None:
    """Lead a session to its end, so that each place holds its mark; none of its runs goes on."""
    of = own(name)
    session, labels, requester = of("session"), {"user": of("label")}, of("requester")
    client = agents_of(runtime).client("x.top")
    meta = CallMeta(session_id=session, tool_call_id=of("callid"), labels=labels, requested_by=requester)

    async def start(what: str, run_id: str = "") -> RunHandle:
        return await client.start(
            f"{what} {of('said')}", session_id=session, run_id=run_id, labels=labels, requested_by=requester
        )

    async def run(what: str, answer: Any = None, run_id: str = "") -> RunOutput:
        handle = await start(what, run_id)
        for asked in (await handle.settled()).awaiting:
            await handle.answer(asked, answer, by=of("approver"))
        return await handle.result()

    yes = {"approved": True, "message": of("comment")}
    await run("note", run_id=of("run"))
    await run("child")
    await run("wipe", yes)
    await run("ask", of("answer"))
    await run("question", of("told"))
    await _order(runtime, await run("order"), of)
    assert (await run("refuse")).status == "failed"

    hanging, call = await start("hang"), ""
    async for event in hanging.events():
        if event.type == "tool_start":
            call = event.tool_call_id
            break
    await hanging.cancel(of("reason"))
    await hanging.result()
    found = Resolution(outcome="result", result=of("foundout"))
    await runtime.runs.resolve(hanging.run_id, call, found, by=of("resolver"))

    spoken = await start("question")
    await spoken.settled()
    await spoken.interrupt(of("spoken"))
    await spoken.cancel()
    await spoken.result()

    await _direct(runtime, meta, of, yes)
    await run("over")


async def _order(runtime: Runtime, output: RunOutput, of: Callable[[str], str]) -> None:
    """Deliver pending work, and wait for the turn that it opens."""
    (work,) = output.pending
    await runtime.suspensions.answer(work.token, of("delivered"))
    opened = (
        agents_of(runtime)
        .client("x.top")
        .handle(f"{output.run_id}/done:{work.tool_call_id}", session_id=of("session"))
    )
    assert runtime.engine is not None
    await runtime.engine.result(work.run_id)
    await opened.result()


async def _direct(runtime: Runtime, meta: CallMeta, of: Callable[[str], str], yes: dict[str, Any]) -> None:
    """Make the calls that belong to the session and to no agent."""

    async def answered(result: ToolResult, answer: Any) -> None:
        assert result.suspension is not None, result
        assert (await runtime.suspensions.answer(result.suspension.token, answer)).status == "ok"

    await answered(await runtime.call("wipe", {"name": of("direct")}, meta), yes)
    await answered(await runtime.call("sign_in", {}, meta), {"available": True})
    named = partial(CallName, interface="test")
    for call, tool, arguments in (
        ("paid", "pay", {"number": of("sensitive")}),
        ("looked", "look", {"prompt": f"look {of('directprompt')}"}),
    ):
        assert (await runtime.call_once(named(call_id=call), tool, arguments, meta)).status == "ok"
