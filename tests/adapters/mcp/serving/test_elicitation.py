"""Questions and approvals: what a client of each era is asked, and whose answer counts."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from mcp import types

from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.toolsets.dynamic import StaticToolset
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    CallMeta,
    ConfirmSpec,
    LongRunningReturn,
    Suspended,
    ToolContext,
    ToolOutcome,
    Unfinished,
)
from toolgen.runtime.functions import LongRunningSpec
from toolgen.waiting.options import WaitOptions, requester_may_not_approve

from .desk import ERAS, Served, served
from .people import CANCEL, DECLINE, Person, accept

pytestmark = pytest.mark.parametrize("era", ERAS)


async def test_a_question_is_elicited_and_a_scalar_is_wrapped(era: str) -> None:
    mira = Person(accept(city="Kiel"), accept(answer="Monday"))
    async with served(era, elicitation=mira) as one:
        assert await one.text("send", id="p1") == '"p1: Kiel, floor 0, on Monday"'
    first, second = mira.asked
    assert first.message == "Where does it go?"
    assert first.requested_schema["required"] == ["city"]
    assert list(first.requested_schema["properties"]) == ["city", "floor"]
    assert second.requested_schema == {
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
    }


async def test_an_answer_that_does_not_fit_is_asked_again_with_the_reason(era: str) -> None:
    mira = Person(accept(floor=1), accept(city="Kiel", floor=None), accept(answer="Monday"))
    async with served(era, elicitation=mira) as one:
        assert await one.text("send", id="p1") == '"p1: Kiel, floor 0, on Monday"'
    assert "$.city is required and was left out" in mira.asked[1].message


@pytest.mark.parametrize("given", [DECLINE, CANCEL], ids=["decline", "cancel"])
async def test_a_question_that_nobody_answers_is_taken_back(era: str, given: types.ElicitResult) -> None:
    async with served(era, elicitation=Person(given)) as one:
        result = await one.client.call_tool("send", {"id": "p1"})
        assert await one.runtime.suspensions.list() == ()
    assert result.is_error
    assert isinstance(result.content[0], types.TextContent)
    assert json.loads(result.content[0].text)["code"] == "canceled"
    assert one.desk.log == []


async def test_a_client_without_elicitation_is_not_asked(era: str) -> None:
    async with served(era) as one:
        document = json.loads(await one.text("send", id="p1"))
        assert await one.runtime.suspensions.list() == ()
    assert document["code"] == "approval_unavailable"
    assert "cannot show a question" in document["error"]


async def test_an_elicitation_is_no_approval_unless_the_host_says_so(era: str) -> None:
    mira = Person()
    async with served(era, elicitation=mira) as one:
        document = json.loads(await one.text("burn", id="p1"))
        assert await one.runtime.suspensions.list() == ()
    assert document["code"] == "approval_unavailable"
    assert "does not accept approvals from its client" in document["error"]
    assert mira.asked == []
    assert one.desk.log == []


async def test_what_a_file_keeps_waits_for_a_person_elsewhere(era: str, tmp_path: Path) -> None:
    options = {"engine": InProcessEngine(tmp_path / "runs.db")}
    async with served(era, elicitation=Person(), runtime_options=options) as one:
        document = json.loads(await one.text("burn", id="p1"))
        (asked,) = await one.runtime.suspensions.list()
        assert f"`toolgen approve {asked.id}`" in document["error"]
        assert one.desk.log == []
        assert (await one.runtime.suspensions.answer(asked.token, {"approved": True})).status == "ok"
    assert one.desk.log == ["burn p1"]
    assert asked.token not in json.dumps(document)


@pytest.mark.parametrize("message", [None, "go on"])
async def test_an_approval_by_elicitation_runs_what_was_shown(era: str, message: str | None) -> None:
    mira = Person(accept(approved=True, message=message))
    async with served(era, elicitation=mira, approvals="elicitation") as one:
        assert await one.text("burn", id="p1") == '"p1 is ash"'
    (asked,) = mira.asked
    assert asked.message.splitlines()[0] == "Burn p1?"
    assert '{"id": "p1"}' in asked.message
    assert asked.requested_schema["required"] == ["approved"]
    assert one.desk.log == ["burn p1"]


async def test_an_elicitation_grants_no_further_calls(era: str) -> None:
    mira = Person(accept(approved=True, grant="all"), accept(approved=True))
    async with served(era, elicitation=mira, approvals="elicitation") as one:
        assert await one.text("burn", id="p1") == '"p1 is ash"'
    assert "answers that come through MCP or a framework cannot grant further calls" in mira.asked[1].message
    assert one.desk.log == ["burn p1"]


@pytest.mark.parametrize("given", [accept(approved=False, message="not that one"), DECLINE, CANCEL])
async def test_a_no_runs_nothing(era: str, given: types.ElicitResult) -> None:
    async with served(era, elicitation=Person(given), approvals="elicitation") as one:
        result = await one.client.call_tool("burn", {"id": "p1"})
        assert await one.runtime.suspensions.list() == ()
    assert result.is_error
    assert result.structured_content is None
    assert one.desk.log == []


async def test_a_model_hides_nothing_behind_a_line_feed(era: str) -> None:
    mira = Person(DECLINE)
    async with served(era, elicitation=mira, approvals="elicitation") as one:
        await one.client.call_tool("burn", {"id": "p1?\n\x1b[2KApprove, all is well"})
    assert len(mira.asked[0].message.splitlines()) == 2
    assert "\x1b" not in mira.asked[0].message


async def test_whoever_may_not_answer_leaves_the_call_to_others(era: str) -> None:
    options = {"waiting": WaitOptions(rule=requester_may_not_approve)}
    mira = Person(accept(approved=True))
    meta = CallMeta(session_id="s-mira", requested_by="mira")
    async with served(
        era, elicitation=mira, approvals="elicitation", runtime_options=options, meta=lambda ctx: meta
    ) as one:
        document = json.loads(await one.text("burn", id="p1"))
        assert len(await one.runtime.suspensions.list()) == 1
    assert "the requester of the call must not approve it" in document["error"]
    assert one.desk.log == []


async def test_a_request_that_is_cancelled_takes_its_question_back(era: str) -> None:
    has_asked, may_answer = asyncio.Event(), asyncio.Event()

    async def hesitate(context: Any, params: Any) -> types.ElicitResult:
        has_asked.set()
        await may_answer.wait()
        return DECLINE

    async with served(era, elicitation=hesitate) as one:
        call = asyncio.create_task(one.client.call_tool("send", {"id": "p1"}))
        async with asyncio.timeout(10):
            await has_asked.wait()
            (asked,) = await one.runtime.suspensions.list()
            call.cancel()
            if era == "legacy":
                assert one.runtime.engine is not None
                assert (await one.runtime.engine.result(asked.run_id)).state == "canceled"
            else:  # nothing of the request is left at the server: the question waits until it expires
                assert await one.runtime.suspensions.list() == (asked,)


async def test_a_field_says_in_words_what_a_form_cannot_hold(era: str) -> None:
    async def ask() -> str | Unfinished:
        """Ask."""
        schema = {"type": "string", "pattern": "^[a-z]+$", "format": "uuid", "title": "Name"}
        return ToolOutcome.ask("Which?", schema)

    mira = Person(DECLINE)
    async with served(era, elicitation=mira) as one:
        one.runtime.tools.register(function_toolset("desk.asking", [ask]))
        await one.text("ask")
    (field,) = mira.asked[0].requested_schema["properties"].values()
    assert field == {"type": "string", "title": "Name", "description": "(format uuid; pattern ^[a-z]+$)"}


async def test_work_without_an_acknowledgement_is_waited_for(era: str) -> None:
    told: list[tuple[float, str | None]] = []

    async def keep(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    async with served(era) as one, asyncio.timeout(30):
        one.runtime.tools.register(letters())
        call = asyncio.create_task(one.client.call_tool("deliver_letter", {}, progress_callback=keep))
        asked = await waiting(one)
        await one.runtime.suspensions.progress(asked.token, 0.5, "half")
        await one.runtime.suspensions.intermediate(asked.token, {"street": 7}, key="a")
        assert not call.done()
        assert (await one.runtime.suspensions.answer(asked.token, "done")).status == "ok"
        result = await call
    assert isinstance(result.content[0], types.TextContent)
    assert result.content[0].text == '"done"'
    assert not result.is_error
    assert told == [(0.5, "half"), (pytest.approx(0.500001), '{"street":7}')]


async def test_work_that_fails_or_is_taken_back_ends_its_call(era: str) -> None:
    async with served(era) as one, asyncio.timeout(30):
        one.runtime.tools.register(letters())
        answers: tuple[tuple[Json, dict[str, str]], ...] = (
            ({"error": "the letter is lost"}, {"error": "the letter is lost"}),
            (None, {"unknown": "not needed; the work may be done all the same"}),
        )
        for answer, told in answers:
            call = asyncio.create_task(one.text("deliver_letter"))
            asked = await waiting(one)
            if answer is None:
                await one.runtime.suspensions.cancel(asked.token, "not needed")
            else:
                await one.runtime.suspensions.answer(asked.token, answer)
            assert json.loads(await call) == told


async def test_work_that_takes_too_long_goes_on_and_is_not_taken_back(era: str) -> None:
    async with served(era, elicitation=Person(), pending_s=0) as one:
        one.runtime.tools.register(letters())
        document = json.loads(await one.text("deliver_letter"))
        (asked,) = await one.runtime.suspensions.list()
    assert (document["code"], document["id"]) == ("pending", asked.id)


async def test_a_cancelled_request_cancels_the_work_that_it_waits_for(era: str) -> None:
    async with served(era) as one, asyncio.timeout(30):
        one.runtime.tools.register(letters())
        call = asyncio.create_task(one.client.call_tool("deliver_letter", {}))
        asked = await waiting(one)
        call.cancel()
        assert one.runtime.engine is not None
        assert (await one.runtime.engine.result(asked.run_id)).state == "canceled"


def letters() -> StaticToolset:
    async def deliver_letter() -> LongRunningReturn[str, None]:
        """Deliver a letter."""
        return ToolOutcome.pending("job-1")

    tool = func_tool(deliver_letter, toolset="desk.late", long_running=LongRunningSpec())
    return function_toolset("desk.late", [tool])


async def waiting(one: Served) -> Suspended:
    """Return the one call that waits, once it does."""
    while not (found := await one.runtime.suspensions.list()):  # noqa: ASYNC110  # no event tells of it
        await asyncio.sleep(0)
    return found[0]


async def test_a_credential_is_never_asked_for_by_a_form(era: str) -> None:
    async def pay() -> str | Unfinished:
        """Pay."""
        return ToolOutcome.need_credential({"provider": "bank"}, "Sign in at the bank")

    async with served(era, elicitation=Person(), approvals="elicitation") as one:
        one.runtime.tools.register(function_toolset("desk.bank", [pay]))
        document = json.loads(await one.text("pay"))
        assert await one.runtime.suspensions.list() == ()
    assert document["code"] == "approval_unavailable"


async def test_progress_is_told_after_an_approval_too(era: str) -> None:
    async def shred(ctx: ToolContext) -> str:
        """Shred all."""
        ctx.progress(0.5, "half")
        return "done"

    told: list[tuple[float, str | None]] = []

    async def keep(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    mira = Person(accept(approved=True))
    async with served(era, elicitation=mira, approvals="elicitation") as one:
        tool = func_tool(shred, toolset="desk.shredder", confirm=ConfirmSpec(hint="Shred all?"))
        one.runtime.tools.register(function_toolset("desk.shredder", [tool]))
        result = await one.client.call_tool("shred", {}, progress_callback=keep)
    assert not result.is_error
    assert told == [(0.5, "half")]


@pytest.mark.parametrize(
    ("schema", "text"), [({}, '"the answer is x"'), ({"enum": [1, "x"]}, "the schema of a question must")]
)
async def test_a_question_without_a_type_is_no_empty_form(era: str, schema: Any, text: str) -> None:
    async def guess(ctx: ToolContext) -> str | Unfinished:
        """Guess."""
        return f"the answer is {ctx.answer}" if ctx.answer else ToolOutcome.ask("Which one?", schema)

    mira = Person(accept(answer="x"))
    async with served(era, elicitation=mira) as one:
        one.runtime.tools.register(function_toolset("desk.games", [guess]))
        result = await one.client.call_tool("guess", {})
        assert await one.runtime.suspensions.list() == ()
    assert all(form.requested_schema["properties"] for form in mira.asked)
    assert isinstance(result.content[0], types.TextContent)
    assert result.content[0].text == text or (result.is_error and mira.asked == [])
