"""The parts of a result that frameworks show."""

from __future__ import annotations

import json
from dataclasses import asdict

from toolgen.adapters.result_view import approval_json, question_text, result_view
from toolgen.runtime import CallMeta

from .home import MIRA, Home


async def test_arguments_that_do_not_fit_may_be_repaired(home: Home) -> None:
    view = result_view(await home.snapshot.call("list_devices", {"limit": "many"}, MIRA))
    assert view.is_error
    assert view.error is not None
    assert view.error.is_repairable
    facts = view.error.as_json()
    assert facts["reason"] == "invalid_arguments"
    assert facts["example"] == {"site_id": "harbour", "status": "offline", "limit": 5}
    assert facts["issues"] == json.loads(view.text)["issues"]


async def test_an_error_of_a_tool_may_not(home: Home) -> None:
    view = result_view(await home.snapshot.call("draw_readings", {"device_id": "nope"}, MIRA))
    assert view.error is not None
    assert not view.error.is_repairable
    assert view.error.as_json() == {"message": "The user has no device 'nope'; list_devices gives the ids."}


async def test_a_token_is_only_where_it_was_asked_for(home: Home) -> None:
    view = result_view(await home.snapshot.call("factory_reset", {"device_id": "h09"}, MIRA))
    asked = view.approval
    assert asked is not None
    document = {
        "error": f"the call waits for a person's answer ({asked.id})",
        "code": "approval_unavailable",
        "id": asked.id,
    }
    assert json.loads(view.text) | {"error": document["error"]} == document
    assert view.is_error
    assert asked.token not in json.dumps([view.as_json(), approval_json(asked)])
    assert approval_json(asked, with_token=True)["token"] == asked.token
    assert question_text(asked).splitlines() == [asked.question, "Resetting h09"]


async def test_a_peer_sees_no_data_and_no_handle(home: Home) -> None:
    arguments = {"device_id": "h23", "start": "2026-01-28T00:00:00Z", "end": "2026-01-29T00:00:00Z"}
    chart = result_view(await home.snapshot.call("get_time_series", arguments, MIRA))
    assert "readings" in json.dumps(chart.as_json())
    assert "readings" not in json.dumps(chart.as_json(is_for_peer=True))

    update = {"device_id": "h09", "version": "2.4.0"}
    work = result_view(await home.snapshot.call("update_firmware", update, MIRA))
    assert work.work is not None
    assert work.work.handle in json.dumps(work.as_json())
    assert work.work.handle not in json.dumps(work.as_json(is_for_peer=True))


async def test_a_result_from_the_log_has_the_code_of_its_error(home: Home) -> None:
    meta = CallMeta(session_id="s-mira", tool_call_id="call-1")
    asked = (await home.snapshot.call("factory_reset", {"device_id": "h09"}, meta)).suspension
    assert asked is not None
    no = await home.snapshot.suspensions.answer(asked.token, {"approved": False, "message": "not this lamp"})
    view = result_view(no)
    assert view.error is not None
    assert (view.status, view.error.code) == ("denied", "denied")
    assert asdict(view.error)["issues"] == ()
