"""What a person approves: whoever asks them holds the whole frozen arguments, and says what is not shown."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gen.assistant.toolsets import devices
from tests.agents.tools import agent, calling, first_answer, running
from tests.runtime.bank import Bank
from tests.runtime.tools import META, SITE, Listing, nothing, runtime
from toolgen.agents import RunOutput, ScriptedPlanner, agents_of
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.contract.limits import is_shortened_by, render_template
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.events.records import ApprovalRequested, Event, InputRequested
from toolgen.runtime import (
    CallMeta,
    ConfirmSpec,
    Pending,
    Runtime,
    Scheduling,
    ToolContext,
    ToolOutcome,
    Unfinished,
)
from toolgen.runtime.functions import LongRunningSpec
from toolgen.waiting.errors import ForeignAnswerError, UnknownSuspensionError

HIDDEN = "select 1 -- " + " " * 200 + "; drop table users"


class Database:
    """A tool that asks first, and what it ran."""

    def __init__(self, hint: str = "Run {query} on {database}?", call_hint: str = "") -> None:
        self.ran: list[str] = []
        confirm = ConfirmSpec(hint=hint)
        self.tool = func_tool(self.run_query, toolset="x.sql", confirm=confirm, call_hint=call_hint)
        self.toolset = function_toolset("x.sql", [self.tool])

    async def run_query(self, query: str, database: str = "staging") -> str:
        """Run a query."""
        self.ran.append(query)
        return "done"

    def runtime(self, engine: InProcessEngine, **host: Any) -> Runtime:
        made = Runtime(engine=engine, **host)
        made.tools.register(self.toolset)
        return made


async def test_the_client_gets_all_that_will_run(engine: InProcessEngine) -> None:
    database = Database()
    made = database.runtime(engine)
    waiting = (await made.call("run_query", {"query": HIDDEN}, META)).suspension
    assert waiting is not None
    assert waiting.arguments == {"query": HIDDEN, "database": "staging"}
    assert waiting.question == f"Run {HIDDEN[:200]}… [30 more characters] on staging?"
    assert waiting.is_shortened
    assert "drop table" not in repr(waiting)  # a log shows it in short
    (listed,) = await made.suspensions.list("s")
    assert (listed.arguments, listed.is_shortened) == (waiting.arguments, True)
    await made.suspensions.answer(waiting.token, {"approved": True})
    assert database.ran == [waiting.arguments["query"]]


async def test_a_question_that_shows_everything_says_nothing_of_a_cut(engine: InProcessEngine) -> None:
    waiting = (await Database().runtime(engine).call("run_query", {"query": "x" * 200}, META)).suspension
    assert waiting is not None
    assert not waiting.is_shortened
    assert waiting.question == f"Run {'x' * 200} on staging?"


async def test_a_preview_that_shows_a_part_says_so_too(engine: InProcessEngine) -> None:
    database = Database("Sure?", call_hint="Running {query}")
    waiting = (await database.runtime(engine).call("run_query", {"query": HIDDEN}, META)).suspension
    assert waiting is not None
    assert (waiting.question, waiting.is_shortened) == ("Sure?", True)
    assert waiting.preview.endswith("… [30 more characters]")


async def test_a_token_shows_what_it_answers(engine: InProcessEngine) -> None:
    made = Database().runtime(engine)
    waiting = (await made.call("run_query", {"query": HIDDEN}, META)).suspension
    assert waiting is not None
    assert await made.suspensions.show(waiting.token) == waiting
    assert await made.suspensions.show(waiting.token, session_id="s") == waiting
    with pytest.raises(ForeignAnswerError):
        await made.suspensions.show(waiting.token, session_id="another")
    with pytest.raises(UnknownSuspensionError):
        await made.suspensions.show(waiting.id)
    await made.suspensions.answer(waiting.token, {"approved": False})
    assert (
        await made.suspensions.show(waiting.token)
    ).arguments == waiting.arguments  # of what was answered, too


async def told(made: Runtime, events: Events) -> list[Event]:
    """Return the events of one call."""
    async with events.subscribe() as subscription:
        await made.call("run_query", {"query": HIDDEN}, CallMeta(session_id="s", run_id="r"))
        events.close()
        return [event async for event in subscription]


async def test_an_event_has_all_that_will_run(engine: InProcessEngine) -> None:
    events = Events()
    made = Database().runtime(engine, events=events)
    (event,) = [event for event in await told(made, events) if isinstance(event, ApprovalRequested)]
    assert (event.arguments, event.is_shortened) == ({"query": HIDDEN, "database": "staging"}, True)


async def test_so_has_what_a_run_waits_for(engine: InProcessEngine) -> None:
    database = Database()
    planner = ScriptedPlanner([calling(("run_query", {"query": HIDDEN})), first_answer])
    async with running(agent("x.agent", planner, database.toolset), engine=engine) as (made, _):
        handle = await agents_of(made).client("x.agent").start("Go.", session_id="s")
        (awaiting,) = (await handle.settled()).awaiting
        assert (awaiting.arguments, awaiting.is_shortened) == ({"query": HIDDEN, "database": "staging"}, True)
        assert "drop table" not in repr(awaiting)
        await handle.answer(awaiting, {"approved": True})
        assert (await handle.result()).text == '"done"'
        log = await made.runs.events(handle.run_id)
    (event,) = [event for event in log if isinstance(event, ApprovalRequested)]
    assert event.arguments == awaiting.arguments


async def test_work_that_goes_on_has_the_arguments_that_began_it(engine: InProcessEngine) -> None:
    def work(job: str) -> str | Pending[str]:
        """Work."""
        return ToolOutcome.pending(f"handle of {job}", "begun")

    ack = func_tool(work, toolset="x.work").spec.result
    tool = func_tool(work, toolset="x.work", long_running=LongRunningSpec(ack=ack))
    planner = ScriptedPlanner([calling(("work", {"job": "a"})), "done"])
    toolset = function_toolset("x.work", [tool])
    async with running(agent("x.agent", planner, toolset), engine=engine) as (made, _):
        output: RunOutput = await agents_of(made).client("x.agent").run("Go.", session_id="s")
    (pending,) = output.pending
    assert (pending.kind, pending.arguments) == ("pending", {"job": "a"})


async def test_a_tool_that_asks_is_run_again_with_what_the_model_said(engine: InProcessEngine) -> None:
    """Whatever it did to its payload before it asked, and with whatever white space they came."""
    heard: list[list[str]] = []

    async def send(to: list[str], ctx: ToolContext) -> str | Unfinished:
        """Send a mail."""
        heard.append(list(to))
        to.clear()
        return "sent" if ctx.answer else ToolOutcome.ask("Sure?")

    events = Events()
    made = Runtime(engine=engine, events=events)
    made.tools.register(function_toolset("x.mail", [send]))
    async with events.subscribe() as subscription:
        waiting = (await made.call("send", b' {"to":  ["a@x.example"] } ', META)).suspension
        assert waiting is not None
        assert waiting.arguments == {"to": ["a@x.example"]}
        assert (await made.suspensions.answer(waiting.token, "yes")).status == "ok"
        events.close()
        seen = [event async for event in subscription]
    assert heard == [["a@x.example"], ["a@x.example"]]
    assert [event.arguments for event in seen if isinstance(event, InputRequested)] == [waiting.arguments]


@pytest.mark.parametrize(("tool", "answer"), [("pay_approved", {"approved": True}), ("pay_asking", "now")])
async def test_an_answered_call_waits_where_too_many_calls_wait_already(
    engine: InProcessEngine, tool: str, answer: Any
) -> None:
    """Refused, it would have used up its answer, and whoever makes it again would be asked again."""
    bank = Bank(hold=asyncio.Event())
    made = Runtime(engine=engine, scheduling=Scheduling(max_calls=1, max_queued=0))
    made.tools.register(bank.toolset())
    asked = (await made.call(tool, {"amount": 5}, META)).suspension
    holder = asyncio.create_task(made.call("pay", {"amount": 1}, META))
    await bank.holding.wait()
    assert asked is not None
    answered = asyncio.create_task(made.suspensions.answer(asked.token, answer, by="jo"))
    while not (answered.done() or made._services.scheduler._queues.waiting):  # noqa: ASYNC110  # of another task
        await asyncio.sleep(0)
    assert bank.hold is not None
    bank.hold.set()
    assert (await holder).status == "ok"
    assert (await answered).status == ("ok" if tool == "pay_approved" else "suspended")


async def test_arguments_of_a_question_have_no_injected_value(engine: InProcessEngine) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        heard.append(payload.session_id)
        return nothing() if ctx.answer else ToolOutcome.ask("Sure?")

    heard: list[str] = []
    made = runtime(Listing(asks), devices.LIST_DEVICES, engine=engine)
    waiting = (await made.call(devices.LIST_DEVICES.id, SITE, META)).suspension
    assert waiting is not None
    assert (waiting.arguments, heard) == ({"site_id": "s1", "limit": 20}, ["s"])


@pytest.mark.parametrize(
    ("template", "values", "text", "is_shortened"),
    [
        ("{a}", {"a": "x" * 200}, "x" * 200, False),
        ("{a}", {"a": "x" * 201}, "x" * 200 + "… [1 more characters]", True),
        ("{a}{b}", {"a": 1, "b": "y" * 1500}, "1" + "y" * 200 + "… [1,300 more characters]", True),
        ("{a}", {"a": list(range(100))}, None, True),
        ("{{a}} {b}", {"a": "x" * 900}, "{a} ", False),
        ("", {"a": "x" * 900}, "", False),
    ],
)
def test_a_cut_is_counted(
    template: str, values: dict[str, Any], text: str | None, is_shortened: bool
) -> None:
    assert is_shortened_by(template, values) == is_shortened
    assert text is None or render_template(template, values) == text
