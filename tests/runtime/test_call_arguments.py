"""Arguments of one call: which documents are arguments, and what the model is told of others."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from typing import Any, TypedDict

import pytest

from gen.assistant.toolsets import devices
from tests.runtime import tools
from tests.runtime.recording import LIST, META, call, page, runtime_with
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.runtime import (
    Continue,
    Hook,
    Runtime,
    ToolCall,
    ToolContext,
    ToolResult,
    ToolValidationError,
    Verdict,
)


@pytest.mark.parametrize(
    "arguments", ['{"site_id": "harbour"}', {"site_id": "harbour"}, b' {"site_id":"harbour"}']
)
async def test_arguments_come_as_text_bytes_or_mapping(arguments: Any) -> None:
    assert (await call(page(), arguments)).status == "ok"


async def test_arguments_come_as_a_payload_of_the_tool() -> None:
    runtime, executor = runtime_with(page())
    payload = devices.ListDevicesPayload(site_id="harbour", limit=2)
    assert (await runtime.call(LIST, payload, META)).status == "ok"
    assert executor.calls[0].payload.limit == 2
    assert executor.calls[0].payload.session_id == "s-9"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (page(), "list_devices cannot be encoded: expected ListDevicesPayload, got ListDevicesResult"),
        ([], "list_devices have the type list; pass JSON text, a mapping or a ListDevicesPayload"),
        (None, "list_devices have the type NoneType"),
    ],
)
async def test_arguments_of_another_type_are_the_hosts_mistake(arguments: Any, told: str) -> None:
    runtime, executor = runtime_with(page())
    with pytest.raises(TypeError, match=told):
        await runtime.call(LIST, arguments, META)
    assert executor.calls == []


async def test_invalid_arguments_never_reach_the_executor() -> None:
    runtime, executor = runtime_with(page())
    result = await runtime.call(LIST, b'{"limit": 900, "status": "lost", "site": "harbour"}', META)
    assert (result.status, executor.calls) == ("error", [])
    told = json.loads(result.json)
    assert [(issue["path"], issue["constraint"]) for issue in told["issues"]] == [
        ("$.site_id", "missing_field"),
        ("$.status", "invalid_enum_value"),
        ("$.limit", "invalid_range"),
        ("$.site", "unknown_field"),
    ]
    assert told["example"] == {"site_id": "harbour", "status": "offline", "limit": 5}
    hint = result.retry_hint
    assert hint is not None
    assert (hint.reason, hint.restrict_to_tool, hint.missing_fields) == (
        "invalid_arguments",
        True,
        ("$.site_id",),
    )
    assert hint.prior_input == '{"limit": 900, "status": "lost", "site": "harbour"}'
    assert hint.example_input is not None


async def test_only_missing_fields_ask_for_them() -> None:
    result = await call(page(), b"{}")
    assert result.retry_hint is not None
    assert result.retry_hint.reason == "missing_fields"
    assert result.retry_hint.clarifying_question == "To call list_devices I need site_id."


class Row(TypedDict):
    """A row of a table."""

    name: str


async def test_missing_fields_beside_issues_that_are_not_listed_are_no_question() -> None:
    def add(rows: list[Row]) -> int:
        """Add rows."""
        return len(rows)

    runtime = Runtime()
    runtime.tools.register(function_toolset("a.b", [add]))
    hint = (await runtime.call("add", {"rows": [{}] * 300 + [{"name": 1}]})).retry_hint
    assert hint is not None
    assert {issue.constraint for issue in hint.issues} == {"missing_field"}
    assert hint.more_issues == 301 - len(hint.issues)
    assert hint.reason == "invalid_arguments"


@pytest.mark.parametrize(
    "error", [ToolValidationError(()), ToolValidationError((), 3), ToolValidationError(issues=(), more=3)]
)
def test_the_error_of_a_document_can_be_pickled(error: ToolValidationError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (again.issues, again.more, again.args) == (error.issues, error.more, ((),))


@pytest.mark.parametrize(
    ("arguments", "constraint"),
    [
        (b"{", "invalid_json"),
        (b"\xff\xfe", "invalid_json"),
        ("\ud800", "invalid_json"),
        (b"[" * 10_000, "invalid_json"),
        (b"[" * 100_000, "invalid_length"),
        (b'{"site_id": "a", "x": ' + b"[" * 300 + b"]" * 300 + b"}", "invalid_length"),
        (b'{"site_id": "a", "limit": ' + b"9" * 5000 + b"}", "invalid_json"),
        (b'{"site_id": "a", "limit": NaN}', "invalid_type"),
        (b'{"site_id": "a", "limit": 1e999}', "invalid_type"),
        (b"[]", "invalid_type"),
        (b"null", "invalid_type"),
        ({"site_id": {1, 2}}, "invalid_json"),
    ],
)
async def test_documents_that_are_no_arguments(arguments: Any, constraint: str) -> None:
    result = await call(page(), arguments)
    assert result.status == "error"
    assert [issue["constraint"] for issue in json.loads(result.json)["issues"]] == [constraint]


@pytest.mark.parametrize("nothing", [b"", "", b" \n", "\t "], ids=repr)
async def test_no_words_at_all_mean_no_arguments(nothing: bytes | str) -> None:
    """Some models send them for tools that have none."""

    def now() -> str:
        """Tell the time."""
        return "12:00"

    class Hears(Hook):
        async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
            heard.append(call.payload_json)
            return Continue()

    heard: list[bytes] = []
    for hooks in ((), (Hears(),)):
        runtime = Runtime(hooks=hooks)
        runtime.tools.register(function_toolset("a.b", [now]))
        assert (await runtime.call("now", nothing)).result == "12:00"
    assert heard == [b"{}"]
    missing = await call(page(), nothing)
    assert missing.retry_hint is not None
    assert (missing.retry_hint.reason, missing.retry_hint.prior_input) == ("missing_fields", "{}")


async def test_a_raw_executor_reads_no_words_as_no_arguments() -> None:
    async def serve(call: ToolCall, ctx: ToolContext) -> ToolResult:
        seen.append(call.payload_json)
        return ToolResult(tool=call.tool, status="ok", result=page())

    seen: list[bytes] = []
    made = tools.runtime(
        serve, replace(tools.spec(), payload=func_tool(do_nothing, toolset="a.b").spec.payload)
    )
    assert (await made.call(LIST, b"")).status == "ok"
    assert seen == [b"{}"]


def do_nothing() -> None:
    """Do nothing."""


async def test_the_model_cannot_set_an_injected_field() -> None:
    for name in ("session_id", "_session_id"):
        result = await call(page(), {"site_id": "harbour", name: "s-1"})
        assert [issue["constraint"] for issue in json.loads(result.json)["issues"]] == ["unknown_field"]


async def test_a_document_full_of_mistakes_is_not_sent_back_whole() -> None:
    result = await call(page(), {f"x{number}": number for number in range(500)})
    told = json.loads(result.json)
    assert (len(told["issues"]), told["more_issues"]) == (20, 481)
    assert result.retry_hint is not None
    assert (len(result.retry_hint.issues), result.retry_hint.more_issues) == (20, 481)
    unknown = await runtime_with(page())[0].call("x" * 100_000, b"{}")
    assert len(unknown.json) < 200
