"""What waits over HTTP: listed, shown, answered and cancelled by those whose it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.runtime.forging import forge
from toolgen.agents import agents_of
from toolgen.engines import InProcessEngine

from .shop import AGENT, Shop, problem, served, shop_runtime


async def test_a_call_waits_for_its_approval() -> None:
    async with served() as shop:
        call = (await shop.call("destroy", {"item": "tea"})).json()
        assert call["status"] == "suspended"
        [wait] = call["suspensions"]
        assert (wait["kind"], wait["seal"], wait["question"]) == ("confirmation", "sealed", "Destroy tea?")
        assert wait["answer_schema"]["type"] == "object"
        assert (wait["session_id"], wait["requested_by"]) == ("ann:default", "ann")
        assert await shop.get("/suspensions") == {"suspensions": [wait]}
        assert await shop.get(f"/suspensions/{wait['id']}") == wait
        assert await shop.get(f"/suspensions/{wait['id']}", run=wait["run_id"]) == wait
        assert (await shop.get(f"/calls/{call['id']}"))["suspensions"] == [wait]
        assert "token" not in {*call, *wait}

        answered = (await shop.post(f"/suspensions/{wait['id']}/answer", answer={"approved": True})).json()
        assert (answered["suspension_id"], answered["run_id"]) == (wait["id"], wait["run_id"])
        assert answered["call"]["status"] == "ok"
        assert answered["call"]["id"] == call["id"]
        assert await shop.get("/suspensions") == {"suspensions": []}
        assert problem(await shop.post(f"/suspensions/{wait['id']}/answer", answer={})) == (404, "not-found")
    assert shop.shop.log == ["destroy tea "]


async def test_a_denial_and_a_cancellation_run_nothing() -> None:
    async with served() as shop:
        for path, body in (("answer", {"answer": {"approved": False}}), ("cancel", {"reason": "not today"})):
            wait = (await shop.call("destroy", {"item": "tea"})).json()["suspensions"][0]
            call = (await shop.post(f"/suspensions/{wait['id']}/{path}", **body)).json()["call"]
            assert call["status"] == "denied"
            assert ("not today" in call["error"]["message"]) == (path == "cancel")
    assert shop.shop.log == []


async def test_an_answer_that_does_not_fit_is_a_problem_with_its_issues() -> None:
    async with served() as shop:
        wait = (await shop.call("send", {"item": "tea"})).json()["suspensions"][0]
        answer = await shop.post(f"/suspensions/{wait['id']}/answer", answer={"floor": "high"})
        assert problem(answer) == (422, "invalid-answer")
        assert {issue["pointer"] for issue in answer.json()["issues"]} == {"/city", "/floor"}
        assert problem(await shop.post(f"/suspensions/{wait['id']}/answer")) == (400, "invalid-request")
        answer = await shop.post(f"/suspensions/{wait['id']}/answer", answer={"city": "Rome"})
        assert answer.json()["call"]["result"] == "tea: Rome"


async def test_pending_work_is_answered_with_its_result() -> None:
    async with served() as shop:
        call = (await shop.call("export")).json()
        assert (call["status"], call["result"]) == ("pending", {"minutes": 4})
        [wait] = call["suspensions"]
        assert (wait["kind"], wait["handle"]) == ("pending", "job-1")
        answered = (await shop.post(f"/suspensions/{wait['id']}/answer", answer=7)).json()
        assert (answered["call"]["status"], answered["call"]["result"]) == ("ok", 7)


async def test_an_intermediate_result_leaves_the_work_pending() -> None:
    async with served() as shop:
        [wait] = (await shop.call("export")).json()["suspensions"]

        async def send(caller: str = "ann", **body: Any) -> Any:
            path, headers = f"/suspensions/{wait['id']}/intermediate", {"x-caller": caller}
            return await shop.client.post(path, json=body, headers=headers)

        for key, value in (("a", {"rows": 40}), ("b", 41), ("a", {"rows": 40})):
            ids = {"suspension_id": wait["id"], "run_id": wait["run_id"]}
            assert (await send(key=key, value=value)).json() == {**ids, "answered_by": "ann"}
        assert problem(await send(key="a", value=42)) == (409, "conflict")
        assert problem(await send(value=42)) == (400, "invalid-request")
        assert problem(await send("bob", key="c", value=42)) == (404, "not-found")
        [listed] = (await shop.get("/suspensions"))["suspensions"]
        assert (listed["id"], listed["kind"]) == (wait["id"], "pending")
        answered = (await shop.post(f"/suspensions/{wait['id']}/answer", answer=7)).json()
        assert (answered["call"]["status"], answered["call"]["result"]) == ("ok", 7)
        assert problem(await send(key="d", value=42)) == (404, "not-found")


async def test_what_waits_of_others_is_not_there() -> None:
    async with served() as shop:
        wait = (await shop.call("destroy", {"item": "tea"})).json()["suspensions"][0]
        assert await shop.get("/suspensions", caller="bob") == {"suspensions": []}
        for path, body in (("answer", {"answer": {"approved": True}}), ("cancel", {})):
            refused = await shop.post(f"/suspensions/{wait['id']}/{path}", caller="bob", **body)
            assert problem(refused) == (404, "not-found")
        headers = {"x-caller": "bob"}
        answer = await shop.client.get("/suspensions", params={"session": "ann:default"}, headers=headers)
        assert problem(answer) == (404, "not-found")
        assert await shop.get("/suspensions", caller="root") == {"suspensions": [wait]}
        for session, own in (("ann:default", [wait]), ("ann:other", [])):
            asked = {"run": wait["run_id"], "session": session}
            assert await shop.get("/suspensions", **asked) == {"suspensions": own}
    assert shop.shop.log == []


async def test_waits_are_listed_on_pages() -> None:
    async with served() as shop:
        ids = [
            (await shop.call("destroy", {"item": str(n)})).json()["suspensions"][0]["id"] for n in range(5)
        ]
        seen, after = [], ""
        while True:
            page = await shop.get("/suspensions", limit=2, after=after)
            seen.append([wait["id"] for wait in page["suspensions"]])
            if not (after := page.get("next", "")):
                break
    assert seen == [ids[:2], ids[2:4], ids[4:]]


async def test_a_call_of_a_run_is_approved() -> None:
    async with served() as shop:
        run = (await shop.post("/runs", agent=AGENT, message="away")).json()
        wait = await first_wait(shop)
        assert (wait["agent"], wait["run_id"]) == (AGENT, run["id"])
        assert wait["arguments"] == {"item": "tea", "code": {"sensitive": True}}
        answered = (await shop.post(f"/suspensions/{wait['id']}/answer", answer={"approved": True})).json()
        assert answered["call"]["status"] == "ok"
    assert shop.shop.log == ["destroy tea s3cret-c0de"]


async def test_a_question_of_a_planner_is_answered() -> None:
    async with served() as shop:
        run = (await shop.post("/runs", agent=AGENT, message="ask")).json()
        wait = await first_wait(shop)
        assert (wait["kind"], wait["question"]) == ("clarification", "Which one?")
        shown = await shop.get(f"/runs/{run['id']}")
        assert (shown["status"], shown["suspensions"]) == ("waiting", [wait])
        assert problem(await shop.post(f"/suspensions/{wait['id']}/answer", answer=1)) == (
            422,
            "invalid-answer",
        )
        assert (await shop.post(f"/suspensions/{wait['id']}/answer", answer="green")).json() == {
            "suspension_id": wait["id"],
            "answered_by": "ann",
            "run_id": run["id"],
        }
        async for event in shop.runtime.runs.follow(run["id"]):
            assert event.type
        assert (await shop.get(f"/runs/{run['id']}"))["text"] == "So be it."


async def test_a_question_of_a_planner_is_taken_back_with_its_run() -> None:
    async with served() as shop:
        run = (await shop.post("/runs", agent=AGENT, message="ask")).json()
        wait = await first_wait(shop)
        assert (await shop.post(f"/suspensions/{wait['id']}/cancel", reason="enough")).status_code == 200
        assert (await shop.get(f"/runs/{run['id']}"))["status"] == "canceled"


def rewrite(record: dict[str, Any]) -> None:
    record["question"] = "Destroy nothing?"


def unseal(record: dict[str, Any]) -> None:
    del record["seal"]


@pytest.mark.parametrize(("how", "state"), [(rewrite, "tampered"), (unseal, "unsealed")])
async def test_what_is_not_sealed_is_shown_to_operators_and_not_approved(
    tmp_path: Path, how: Any, state: str
) -> None:
    file, shop = tmp_path / "runs.db", Shop()
    async with served(runtime=shop_runtime(shop, engine=InProcessEngine(file)), shop=shop) as one:
        [wait] = (await one.call("destroy", {"item": "tea"})).json()["suspensions"]
    run_id = wait["run_id"]
    forge(file, wait["id"], how)
    async with served(runtime=shop_runtime(shop, engine=InProcessEngine(file)), shop=shop) as one:
        assert await one.get("/suspensions") == {"suspensions": []}
        [wait] = (await one.get("/suspensions", caller="root"))["suspensions"]
        assert (wait["seal"], wait["tool"]) == (state, "shop.orders.destroy")
        path = f"/suspensions/{wait['id']}"
        for caller, expected in (("ann", (404, "not-found")), ("root", (409, "not-sealed"))):
            refused = await one.post(f"{path}/answer", caller=caller, answer={"approved": True})
            assert problem(refused) == expected
        assert (await one.post(f"{path}/cancel", caller="root")).status_code == 200
        assert (await one.get(f"/runs/{run_id}", caller="root"))["status"] == "canceled"
    assert shop.log == []


async def first_wait(shop: Any) -> Any:
    """Return what waits first, once something does."""
    [run] = (await shop.get("/runs"))["runs"]
    await shop.runtime.engine.settled(run["id"])
    return (await shop.get("/suspensions"))["suspensions"][0]


async def test_after_the_end_of_a_session_nothing_of_it_is_answered() -> None:
    async with served() as shop:
        agents = agents_of(shop.runtime)
        await agents.client(AGENT).run("hello", session_id="ann:default")
        waits = [
            (await shop.call(tool, arguments)).json()["suspensions"][0]
            for tool, arguments in (("destroy", {"item": "tea"}), ("export", {}), ("send", {"item": "tea"}))
        ]
        await agents.sessions.end("ann:default")
        for wait, answer in zip(waits, ({"approved": True}, 7, {"city": "Rome"}), strict=True):
            late = await shop.post(f"/suspensions/{wait['id']}/answer", answer=answer)
            assert problem(late) == (409, "suspension-ended")
            assert "the session 'ann:default' has ended" in late.json()["detail"]
            assert (await shop.post(f"/suspensions/{wait['id']}/cancel", reason="over")).status_code == 200
        assert await shop.get("/suspensions") == {"suspensions": []}
    assert shop.shop.log == []
