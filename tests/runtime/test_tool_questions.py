"""What tools ask for themselves: answers of a person, credentials, and schemas that clients can show."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runtime.tools import META, SITE, TOOL, Listing, ask, nothing, runtime
from toolgen.engines import InProcessEngine
from toolgen.runtime import ToolOutcome
from toolgen.waiting.errors import BadAnswerError


async def test_null_means_absent_in_an_answer_about_a_credential(engine: InProcessEngine) -> None:
    async def needs(payload: Any, ctx: Any) -> Any:
        return nothing() if ctx.answer else ToolOutcome.need_credential({"provider": "mail"})

    made = runtime(Listing(needs), engine=engine)
    assert (
        await made.suspensions.answer((await ask(made)).token, {"available": True, "message": None})
    ).status == "ok"


async def test_null_means_absent_in_an_answer_to_a_question(engine: InProcessEngine) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        if ctx.answer is None:
            fields = {"city": {"type": "string"}, "floor": {"type": "integer"}}
            return ToolOutcome.ask("Where?", {"type": "object", "properties": fields, "required": ["city"]})
        answers.append(ctx.answer)
        return nothing()

    answers: list[Any] = []
    made = runtime(Listing(asks), engine=engine)
    waiting = await ask(made)
    with pytest.raises(BadAnswerError, match=r"\$\.city must be of type string, not null"):
        await made.suspensions.answer(waiting.token, {"city": None, "floor": 3})
    assert (await made.suspensions.answer(waiting.token, {"city": "Kiel", "floor": None})).status == "ok"
    assert answers == [{"city": "Kiel"}]


async def test_a_tool_may_ask_and_runs_again_with_the_answer(engine: InProcessEngine) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        if ctx.answer is None:
            return ToolOutcome.ask("Which floor?", {"type": "string", "enum": ["ground", "first"]})
        answers.append(ctx.answer)
        return nothing()

    answers: list[Any] = []
    made = runtime(Listing(asks), engine=engine)
    waiting = await ask(made)
    assert (waiting.kind, waiting.question) == ("input", "Which floor?")
    with pytest.raises(BadAnswerError, match="must be one of ground, first"):
        await made.suspensions.answer(waiting.token, "cellar")
    assert (await made.suspensions.answer(waiting.token, "first")).status == "ok"
    assert answers == ["first"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "string"}]},
        {"$ref": "#"},
        {"type": "string", "default": object()},
        {"type": "string", "title": "\ud800"},
    ],
)
async def test_a_question_that_no_client_can_ask_is_the_executors_bug(
    engine: InProcessEngine, schema: Any
) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.ask("What?", schema)

    result = await runtime(Listing(asks), engine=engine).call(TOOL, SITE, META)
    assert result.status == "error"
    assert result.retry_hint is not None
    assert result.retry_hint.reason == "malformed_response"


async def test_a_missing_credential_is_waited_for(engine: InProcessEngine) -> None:
    async def needs(payload: Any, ctx: Any) -> Any:
        return nothing() if ctx.answer else ToolOutcome.need_credential({"provider": "mail"}, "Sign in.")

    made = runtime(Listing(needs), engine=engine)
    waiting = await ask(made)
    assert (waiting.kind, waiting.request) == ("credential", {"provider": "mail"})
    assert (await made.suspensions.answer(waiting.token, {"available": True})).status == "ok"


@pytest.mark.parametrize(
    "request_", ["mail", 5, [1], {"a": object()}, {"a": float("nan")}, {"a": "\ud800"}], ids=range(6)
)
async def test_a_request_for_a_credential_that_is_no_json_is_the_executors_bug(
    engine: InProcessEngine, request_: Any
) -> None:
    async def needs(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.need_credential(request_)

    made = runtime(Listing(needs), engine=engine)
    result = await made.call(TOOL, SITE, META)
    assert result.retry_hint is not None
    assert (result.status, result.retry_hint.reason) == ("error", "malformed_response")
    assert await made.suspensions.list() == ()


@pytest.mark.parametrize("way", [ToolOutcome.ask, ToolOutcome.approval])
@pytest.mark.parametrize("question", [None, 5, b"Why?", ["Why?"], object()], ids=range(5))
async def test_a_question_that_is_no_text_is_the_executors_bug(
    engine: InProcessEngine, way: Any, question: Any
) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        return way(question)

    result = await runtime(Listing(asks), engine=engine).call(TOOL, SITE, META)
    assert result.retry_hint is not None
    assert (result.status, result.retry_hint.reason) == ("error", "malformed_response")


async def test_a_schema_may_be_written_with_tuples(engine: InProcessEngine) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        return nothing() if ctx.answer else ToolOutcome.ask("Which?", {"type": "string", "enum": ("a", "b")})

    made = runtime(Listing(asks), engine=engine)
    waiting = await ask(made)
    assert waiting.answer_schema == {"type": "string", "enum": ["a", "b"]}
    assert (await made.suspensions.answer(waiting.token, "a")).status == "ok"
