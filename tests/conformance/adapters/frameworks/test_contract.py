"""What toolgen's tools do in every framework, on the example: one table of calls, one driver a framework."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from toolgen.contract.json_value import Json

from .home import Call, Driver, Home, Seen
from .with_adk import ADK
from .with_fastmcp import FastMCPServer
from .with_langchain import LangChain
from .with_openai_agents import OpenAIAgents
from .with_pydantic_ai import PydanticAI

DRIVERS: list[Driver] = [
    PydanticAI(),
    LangChain(),
    OpenAIAgents(),
    FastMCPServer("legacy"),
    FastMCPServer("2026-07-28"),
    ADK(),
]
WEEK: dict[str, Json] = {
    "device_id": "h23",
    "start": "2026-01-28T00:00:00Z",
    "end": "2026-01-29T00:00:00Z",
}
RESET = Call(tool="factory_reset", arguments={"device_id": "h09"})
YES: Json = {"approved": True, "payload": {"keep_on": True}}
NO: Json = {"approved": False, "message": "not this lamp"}


@pytest.fixture(params=DRIVERS, ids=str)
def driver(request: pytest.FixtureRequest) -> Driver:
    found: Driver = request.param
    return found


def document(seen: Seen) -> Any:
    return json.loads(seen.text)


def shows_devices(seen: Seen) -> None:
    assert [one["id"] for one in document(seen)["devices"]] == ["h21", "h18"]
    bounds = seen.facts["bounds"]
    assert (bounds["returned"], bounds["truncated"], bounds["total"]) == (2, True, 24)
    assert seen.facts["status"] == "ok"


def shows_a_dimmed_lamp(seen: Seen) -> None:
    assert document(seen)["settings"]["level"] == 40


def has_an_artifact(seen: Seen) -> None:
    assert document(seen)["count"] == 24
    [artifact] = seen.facts["artifacts"]
    assert (artifact["kind"], artifact["media_type"]) == ("time_series", "application/json")
    assert "readings" not in seen.text
    assert artifact["size"] > 0
    assert artifact["digest"].startswith("sha256:")


def has_an_image(seen: Seen) -> None:
    assert document(seen)["unit"] == "%"
    assert seen.images == ("image/png",)
    assert seen.facts["display"] == "humidity of Cellar climate, 168 hours"


def is_acknowledged(seen: Seen) -> None:
    assert document(seen) == {"minutes": 4}
    assert seen.facts["status"] == "pending"
    assert seen.facts["work"]["id"]


GOOD: dict[str, tuple[Call, Callable[[Seen], None]]] = {
    "valid and bounded": (
        Call(tool="list_devices", arguments={"site_id": "harbour", "limit": 2}),
        shows_devices,
    ),
    "null for what is optional": (
        Call(tool="list_devices", arguments={"site_id": "harbour", "limit": 2, "status": None}),
        shows_devices,
    ),
    "a union": (
        Call(tool="set_state", arguments={"device_id": "h09", "command": {"kind": "dim", "level": 40}}),
        shows_a_dimmed_lamp,
    ),
    "an artifact": (Call(tool="get_time_series", arguments=WEEK), has_an_artifact),
    "an image": (Call(tool="draw_readings", arguments={"device_id": "h23"}), has_an_image),
    "long-running": (
        Call(tool="update_firmware", arguments={"device_id": "h09", "version": "2.4.0"}),
        is_acknowledged,
    ),
}

BAD: dict[str, tuple[Call, Json, Json]] = {
    "invalid": (
        Call(tool="list_devices", arguments={"limit": "many"}),
        {
            "issues": ["$.site_id", "$.limit"],
            "example": {"site_id": "harbour", "status": "offline", "limit": 5},
        },
        {"reason": "invalid_arguments"},
    ),
    "injected": (
        Call(tool="get_user_data", arguments={"session_id": "s-jonas"}),
        {"issues": ["$.session_id"], "example": {"include": ["sites", "preferences"]}},
        {"reason": "invalid_arguments"},
    ),
    "an error of the tool": (
        Call(tool="draw_readings", arguments={"device_id": "nope"}),
        {"error": "The user has no device 'nope'; list_devices gives the ids."},
        {},
    ),
    "a declared error": (
        Call(tool="rename", arguments={"name": "lamp"}),
        {"error": "another device has the name", "code": "taken", "details": {"by": "h07"}},
        {"code": "taken"},
    ),
}


@pytest.mark.parametrize("case", GOOD)
async def test_a_call_succeeds(driver: Driver, home: Home, case: str) -> None:
    call, check = GOOD[case]
    [seen] = await driver.run(home, call)
    assert not seen.is_error
    assert not seen.asked
    check(seen)
    assert "s-mira" not in seen.text


@pytest.mark.parametrize("case", BAD)
async def test_a_call_fails_and_looks_like_it(driver: Driver, home: Home, case: str) -> None:
    call, told, hint = BAD[case]
    [seen] = await driver.run(home, call)
    assert seen.is_error
    shown = document(seen)
    if "issues" in shown:
        shown["issues"] = [issue["path"] for issue in shown["issues"]]
    assert isinstance(told, dict)
    assert {name: shown[name] for name in told} == told
    if driver.has_facts_of_errors:
        assert isinstance(hint, dict)
        assert seen.facts["status"] == "error"
        assert {name: seen.facts["error"][name] for name in hint} == hint


async def test_only_an_application_of_ours_gets_the_data_of_an_artifact(driver: Driver, home: Home) -> None:
    [seen] = await driver.run(home, Call(tool="get_time_series", arguments=WEEK))
    [artifact] = seen.facts["artifacts"]
    assert ("json" in artifact) == driver.has_artifact_data
    if driver.has_artifact_data:
        assert len(json.loads(artifact["json"])["readings"]) == 24


async def test_an_unknown_tool_is_refused_with_names(driver: Driver, home: Home) -> None:
    [seen] = await driver.run(home, Call(tool="lst_devices", arguments={}))
    assert seen.is_error
    assert "lst_devices" in seen.text


async def test_a_question_has_all_that_the_person_needs(driver: Driver, home: Home) -> None:
    [seen] = await driver.run(home, RESET)
    assert seen.asked["question"] == "Reset h09 to factory settings? Its settings are lost."
    assert seen.asked["preview"] == "Resetting h09"
    assert seen.asked["arguments"] == {"device_id": "h09"}
    assert "keep_on" in json.dumps(seen.asked["answer_schema"])
    assert "s_" not in seen.text


async def test_an_approved_call_runs_with_what_the_person_added(driver: Driver, home: Home) -> None:
    [seen] = await driver.run(home, Call(tool=RESET.tool, arguments=RESET.arguments, answer=YES))
    assert not seen.is_error
    assert document(seen) == {"name": "Reading lamp", "lost": {"level": 80}}
    assert await home.runtime.suspensions.list() == ()


async def test_a_declined_call_does_not_run(driver: Driver, home: Home) -> None:
    [seen] = await driver.run(home, Call(tool=RESET.tool, arguments=RESET.arguments, answer=NO))
    assert "not this lamp" in seen.text
    [after] = await driver.run(home, Call(tool=RESET.tool, arguments=RESET.arguments, answer=YES))
    assert document(after)["lost"] == {"level": 80}


async def test_the_model_cannot_approve(driver: Driver, home: Home) -> None:
    [seen] = await driver.run(home, Call(tool=RESET.tool, arguments={**RESET.arguments, "approved": True}))
    assert seen.is_error
    assert [issue["path"] for issue in document(seen)["issues"]] == ["$.approved"]


async def test_a_question_of_a_tool_is_answered(driver: Driver, home: Home) -> None:
    [seen] = await driver.run(home, Call(tool="post", answer="Kiel"))
    assert seen.asked["question"] == "Where does it go?"
    assert document(seen) == "sent to Kiel"


async def test_work_that_has_no_acknowledgement_is_no_failure(driver: Driver, home: Home) -> None:
    [seen] = await driver.run(home, Call(tool="export"))
    assert not seen.is_error
    assert seen.text in ("", '{"status":"pending"}')
    [work] = await home.runtime.suspensions.list("s-mira")
    assert (work.kind, work.handle) == ("pending", "job-0")


async def test_a_credential_that_is_missing_is_given_elsewhere(driver: Driver, home: Home) -> None:
    [seen] = await driver.run(home, Call(tool="sign"))
    [asked] = await home.runtime.suspensions.list("s-mira")
    assert (asked.kind, asked.question, asked.requested_by) == ("credential", "Sign in.", "mira")
    assert seen.asked.get("question", "Sign in.") == "Sign in."
    result = await home.runtime.suspensions.answer(
        asked.token, {"available": True}, session_id="s-mira", by="jo"
    )
    assert result.json == b'"signed by mira of harbour"'


async def test_a_call_of_which_nobody_knows_whether_it_ran_says_so(driver: Driver, home: Home) -> None:
    [seen] = await driver.run(home, Call(tool="pay"))
    assert "unknown" in document(seen)
    if driver.has_facts_of_errors:
        assert seen.facts["status"] == "unknown"


async def test_calls_of_one_answer_run_at_once(driver: Driver, home: Home) -> None:
    async with asyncio.timeout(30):
        seen = await driver.run(home, Call(tool="meet"), Call(tool="meet"))
    assert [document(one) for one in seen] == ["met", "met"]


async def test_a_cancelled_run_cancels_its_call(driver: Driver, home: Home) -> None:
    run = asyncio.create_task(driver.run(home, Call(tool="hang")))
    async with asyncio.timeout(30):
        await home.workshop.started.wait()
        run.cancel()
        await home.workshop.cancelled.wait()
        with pytest.raises(asyncio.CancelledError):
            await run
