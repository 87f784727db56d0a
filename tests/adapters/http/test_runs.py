"""Runs and sessions over HTTP: started, shown, cancelled, resolved, and what was said in them."""

from __future__ import annotations

import asyncio
import base64
import resource
from pathlib import Path
from typing import Any

import pytest

from toolgen.adapters.http import SurfaceOptions
from toolgen.agents import (
    AgentRegistration,
    AgentSpec,
    Citation,
    FinalResponse,
    ProviderFacts,
    ScriptedPlanner,
    agents_of,
)
from toolgen.engines import InProcessEngine

from .shop import AGENT, Served, Shop, planner, problem, served, shop_runtime


async def ended(shop: Served, run_id: str, caller: str = "ann") -> Any:
    """Return a run once it is over."""
    engine = shop.runtime.engine
    assert engine is not None
    await engine.result(run_id)
    return await shop.get(f"/runs/{run_id}", caller)


async def test_a_run_has_its_answer() -> None:
    async with served() as shop:
        answer = await shop.post("/runs", agent=AGENT, message="tea")
        started = answer.json()
        assert answer.status_code == 201
        assert answer.headers["location"] == f"runs/{started['id']}"
        assert started["session_id"].startswith("ann:")
        run = await ended(shop, started["id"])
        assert (run["kind"], run["status"], run["agent"]) == ("agent", "completed", AGENT)
        assert (run["message"], run["text"], run["tool_calls"]) == ("tea", "Your tea comes.", 1)
        assert run["requested_by"] == "ann"
        [listed] = (await shop.get("/runs", status="completed"))["runs"]
        assert listed == {key: value for key, value in run.items() if key != "artifacts"}
        assert await shop.get("/runs", status="failed") == {"runs": []}
        assert await shop.get("/agents") == {"agents": [{"id": AGENT, "tools": ["order", "destroy", "hold"]}]}
    assert shop.shop.log == ["order 1 tea"]


async def test_a_run_and_its_conversation_have_what_the_provider_said() -> None:
    cited = Citation(url="https://tea.org", start=0, end=3)
    facts = ProviderFacts(finish_reason="stop", citations=(cited,), grounding=["left out"])
    said = {"finish_reason": "stop", "citations": [{"url": "https://tea.org", "start": 0, "end": 3}]}
    async with served() as shop:
        plan = FinalResponse(text="Tea.", provider=facts)
        agents_of(shop.runtime).override_planner(AGENT, ScriptedPlanner([plan]))
        started = (await shop.post("/runs", agent=AGENT, message="tea")).json()
        assert (await ended(shop, started["id"]))["provider"] == said
        [turn] = (await shop.get(f"/sessions/{started['session_id']}/messages"))["turns"]
        assert turn["messages"][-1] == {"type": "assistant", "text": "Tea.", "provider": said}


async def test_the_same_key_starts_one_run() -> None:
    async with served() as shop:
        first, again = [
            (await shop.post("/runs", agent=AGENT, message="tea", key="k1")).json() for _ in range(2)
        ]
        assert first["id"] == again["id"]
        assert first["session_id"] == again["session_id"]
        await ended(shop, first["id"])
        assert problem(await shop.post("/runs", agent=AGENT, message="hello", key="k1")) == (
            422,
            "idempotency-key-reused",
        )
        other = (await shop.post("/runs", agent=AGENT, message="tea", key="k1", caller="bob")).json()
        assert other["id"] != first["id"]
        assert (await ended(shop, other["id"], "bob"))["text"] == "Your tea comes."
    assert shop.shop.log == ["order 1 tea"] * 2


async def test_a_message_starts_a_turn_of_its_session() -> None:
    async with served() as shop:
        path = "/sessions/ann:s1/messages"
        assert problem(await shop.post(path, message="hello")) == (404, "not-found")
        answer = await shop.post(path, message="hello", agent=AGENT)
        assert answer.headers["location"] == f"../../runs/{answer.json()['id']}"
        await ended(shop, answer.json()["id"])
        second = (await shop.post(path, message="tea")).json()
        await ended(shop, second["id"])
        said = await shop.get(path)
        assert (said["session"]["id"], said["session"]["agent"]) == ("ann:s1", AGENT)
        assert said["session"]["labels"] == {"tenant": "t1"}
        assert [turn["run_id"] for turn in said["turns"]] == [answer.json()["id"], second["id"]]
        user, calls, results, last = said["turns"][1]["messages"]
        assert user == {"type": "user", "text": "tea", "source": "person"}
        assert (calls["type"], calls["text"]) == ("assistant", "I order tea.")
        [call] = calls["calls"]
        assert (call["name"], call["arguments"]) == ("order", {"item": "tea"})
        assert results["answers"] == [{"id": call["id"], "name": "order", "status": "ok", "result": "1 tea"}]
        assert last == {"type": "assistant", "text": "Your tea comes."}
        [listed] = (await shop.get("/sessions"))["sessions"]
        assert (listed["id"], listed["message"]) == ("ann:s1", "hello")
        assert (await shop.get("/sessions", status="ended")) == {"sessions": []}


PNG = b"\x89PNG\r\n\x1a\n"


def sent_file(name: str = "photo.png", data: bytes = PNG) -> dict[str, str]:
    """Return a file as a request has it."""
    return {"name": name, "media_type": "image/png", "data": base64.b64encode(data).decode()}


async def test_a_message_comes_with_files_that_its_session_reads() -> None:
    async with served() as shop:
        path = "/sessions/ann:s1/messages"
        run = (await shop.post(path, message="hello", agent=AGENT, files=[sent_file()])).json()
        await ended(shop, run["id"])
        [file] = (await shop.get(path))["turns"][0]["messages"][0]["files"]
        assert (file["name"], file["media_type"], file["size"]) == ("photo.png", "image/png", 8)
        answer = await shop.client.get(f"/{file['href']}")
        assert (answer.content, answer.headers["content-type"]) == (PNG, "image/png")
        hidden = await shop.client.get(f"/{file['href']}", headers={"x-caller": "bob"})
        assert problem(hidden) == (404, "not-found")
        begun = (await shop.post("/runs", agent=AGENT, message="hello", files=[sent_file()])).json()
        await ended(shop, begun["id"])
        transcript = await shop.get(f"/sessions/{begun['session_id']}/messages")
        assert transcript["turns"][0]["messages"][0]["files"][0]["name"] == "photo.png"


async def test_a_key_of_other_files_is_refused() -> None:
    async with served() as shop:
        body: dict[str, Any] = {"agent": AGENT, "message": "hello", "session": "ann:s1", "key": "k1"}
        first = (await shop.post("/runs", **body, files=[sent_file()])).json()
        assert (await shop.post("/runs", **body, files=[sent_file()])).json()["id"] == first["id"]
        for files in ([], [sent_file("other.png")], [sent_file(data=PNG + b"x")]):
            refused = await shop.post("/runs", **body, files=files)
            assert problem(refused) == (422, "idempotency-key-reused")


@pytest.mark.parametrize(
    ("files", "detail"),
    [
        ("photo.png", "'files' is not a list"),
        ([{"name": "a"}], "files[0] needs a name, a media_type and data, all strings"),
        ([{**sent_file(), "size": 8}], "files[0] needs a name, a media_type and data, all strings"),
        ([{**sent_file(), "data": "?"}], "the data of files[0] is not Base64"),
        ([sent_file(data=b"GIF89a")], "photo.png is not of the media type image/png"),
    ],
)
async def test_a_file_that_does_not_fit_is_a_problem(files: Any, detail: str) -> None:
    async with served() as shop:
        refused = await shop.post("/runs", agent=AGENT, message="hello", files=files)
        assert problem(refused) == (400, "invalid-request")
        assert refused.json()["detail"] == detail
        assert (await shop.get("/runs"))["runs"] == []


async def test_a_request_with_too_large_files_is_refused_unread() -> None:
    async with served(SurfaceOptions(max_body_bytes=1_000)) as shop:
        refused = await shop.post(
            "/runs", agent=AGENT, message="hello", files=[sent_file(data=PNG + b"x" * 1_000)]
        )
        assert problem(refused) == (413, "content-too-large")


async def test_messages_have_no_sensitive_values() -> None:
    async with served() as shop:
        path = "/sessions/ann:s1/messages"
        run = (await shop.post(path, message="away with s3cret-c0de", agent=AGENT)).json()
        engine = shop.runtime.engine
        assert engine is not None
        await engine.settled(run["id"])
        [wait] = (await shop.get("/suspensions"))["suspensions"]
        await shop.post(f"/suspensions/{wait['id']}/answer", answer={"approved": True})
        texts = [str(await ended(shop, run["id"])), str(await shop.get(path))]
        assert "s3cret" not in str(await shop.get("/sessions"))
    assert shop.shop.log == ["destroy tea s3cret-c0de"]
    assert "destroy" in texts[1]
    assert "s3cret" not in texts[1]


async def test_runs_and_sessions_of_others_are_not_there() -> None:
    async with served() as shop:
        run = (await shop.post("/runs", agent=AGENT, message="hello")).json()
        await ended(shop, run["id"])
        session = run["session_id"]
        assert await shop.get("/runs", caller="bob") == {"runs": []}
        assert await shop.get("/sessions", caller="bob") == {"sessions": []}
        headers = {"x-caller": "bob"}
        for path in (f"/runs/{run['id']}", f"/runs/{run['id']}/events", f"/sessions/{session}/messages"):
            assert problem(await shop.client.get(path, headers=headers)) == (404, "not-found")
        for path, body in (
            (f"/runs/{run['id']}/cancel", {}),
            (f"/runs/{run['id']}/resolve", {"outcome": "not_run"}),
            (f"/sessions/{session}/messages", {"message": "hello"}),
        ):
            assert problem(await shop.post(path, caller="bob", **body)) == (404, "not-found")
        refused = await shop.post("/runs", caller="bob", agent=AGENT, message="hello", session=session)
        assert problem(refused) == (404, "not-found")
        assert [one["id"] for one in (await shop.get("/runs", caller="root"))["runs"]] == [run["id"]]


async def test_what_is_of_others_reads_as_if_it_was_not_there() -> None:
    async with served() as shop:
        run = (await shop.post("/runs", agent=AGENT, message="ask")).json()
        call = (await shop.call("order", {"item": "tea"}, key="k1")).json()
        wait = (await shop.call("destroy", {"item": "tea"})).json()["suspensions"][0]
        for path, id_ in (
            ("/runs/{}", run["id"]),
            ("/runs/{}/events", run["id"]),
            ("/calls/{}", run["id"]),
            ("/calls/{}", call["id"]),
            ("/suspensions/{}", wait["id"]),
            ("/sessions/{}/messages", run["session_id"]),
        ):
            theirs, nothing = [
                (await shop.client.get(path.format(one), headers={"x-caller": "bob"})).text.replace(one, "…")
                for one in (id_, f"{id_}0")
            ]
            assert theirs == nothing


@pytest.mark.parametrize(
    "address",
    [
        "/runs?status=nothing",
        "/runs?state=waiting",
        "/sessions?status=nothing",
        "/sessions?state=open",
        "/suspensions?status=waiting",
        "/suspensions?sesion=ann:1",
        "/events?type=tool_end",
        "/events?run=run_1",
    ],
)
async def test_a_filter_that_a_list_does_not_have_is_refused(address: str) -> None:
    """It would otherwise list everything, as if all of it was asked for."""
    async with served() as shop:
        refused = await shop.client.get(address, headers={"x-caller": "ann"})
        assert problem(refused) == (400, "invalid-request")
        assert address.partition("?")[2].partition("=")[0] in refused.json()["detail"]


async def test_a_stream_of_a_run_has_no_filter() -> None:
    async with served() as shop:
        run = (await shop.post("/runs", agent=AGENT, message="hello")).json()
        path = f"/runs/{run['id']}/events"
        refused = await shop.client.get(f"{path}?types=tool_end", headers={"x-caller": "ann"})
        assert problem(refused) == (400, "invalid-request")


async def test_a_key_of_another_agent_is_refused() -> None:
    shop = Shop()
    runtime = shop_runtime(shop)
    cook = AgentSpec(id="shop.cook", description="Cooks.")
    agents_of(runtime).register(AgentRegistration(spec=cook, planner=planner()))
    async with served(runtime=runtime, shop=shop) as opened:
        for session in ({}, {"session": "ann:s1"}):
            first = await opened.post("/runs", agent=AGENT, message="hello", key="k1", **session)
            assert first.status_code == 201
            other = await opened.post("/runs", agent="shop.cook", message="hello", key="k1", **session)
            assert problem(other) == (422, "idempotency-key-reused")


async def test_what_cannot_start_is_a_problem() -> None:
    async with served() as shop:
        assert problem(await shop.post("/runs", agent="shop.cook", message="hello")) == (404, "not-found")
        assert problem(await shop.post("/runs", agent=AGENT)) == (400, "invalid-request")
        assert problem(await shop.client.get("/runs/run_1")) == (404, "not-found")
        endless = await shop.post("/runs", agent=AGENT, message="hello", session=f"ann:{'x' * 1000}")
        assert problem(endless) == (400, "invalid-request")
        run = (await shop.post("/runs", agent=AGENT, message="ask", session="ann:s1")).json()
        assert problem(await shop.post("/runs", agent=AGENT, message="tea", session="ann:s1")) == (
            409,
            "conflict",
        )
        answer = await shop.post(f"/runs/{run['id']}/cancel", reason="enough")
        assert answer.json()["id"] == run["id"]
        assert (await ended(shop, run["id"]))["status"] == "canceled"


async def test_runs_are_listed_on_pages() -> None:
    async with served() as shop:
        for n in range(5):
            await ended(shop, (await shop.post("/runs", agent=AGENT, message=f"hello {n}")).json()["id"])
            await shop.call("order", {"item": "tea"}, key=f"k{n}", caller="bob")
        seen, after = [], ""
        while True:
            page = await shop.get("/runs", limit=2, after=after)
            seen.append([run["message"] for run in page["runs"]])
            if not (after := page.get("next", "")):
                break
    assert seen == [["hello 4", "hello 3"], ["hello 2", "hello 1"], ["hello 0"]]


async def test_a_call_of_unknown_outcome_is_resolved(tmp_path: Path) -> None:
    file, shop = tmp_path / "runs.db", Shop()
    async with served(runtime=shop_runtime(shop, engine=InProcessEngine(file)), shop=shop) as one:
        run = (await one.post("/runs", agent=AGENT, message="hold")).json()
        await shop.has_begun.wait()
        await one.post(f"/runs/{run['id']}/cancel", reason="enough")
        known = await ended(one, run["id"])
        [call] = known["unknown_calls"]
        assert known["status"] == "canceled"
        await ended(one, (await one.post("/runs", agent=AGENT, message="hello")).json()["id"])
        [listed] = (await one.get("/runs", status="unknown"))["runs"]
        assert (listed["id"], listed["unknown_calls"]) == (run["id"], [call])
        assert (await one.get("/runs", status="unknown", limit=1))["runs"] == []  # the newest has none
        every = {each["id"]: each.get("unknown_calls") for each in (await one.get("/runs"))["runs"]}
        assert (every.pop(run["id"]), {*every.values()}) == ([call], {None})
        assert (await one.get("/runs", status="unknown", caller="bob"))["runs"] == []
        path = f"/runs/{run['id']}/resolve"
        assert problem(await one.post(path, outcome="maybe")) == (400, "invalid-request")
        misfit = await one.post(path, tool_call_id=call, outcome="result", result=7)
        assert problem(misfit) == (422, "invalid-answer")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
        try:
            full = await one.post(path, tool_call_id=call, outcome="not_run")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert (problem(full), str(tmp_path) in full.text) == ((503, "unavailable"), False)
        found = (await one.post(path, tool_call_id=call, outcome="result", result="held")).json()
        assert (found["status"], found["result"]) == ("ok", "held")
        assert "unknown_calls" not in await one.get(f"/runs/{run['id']}")
        assert (await one.get("/runs", status="unknown"))["runs"] == []
        assert not any("unknown_calls" in each for each in (await one.get("/runs"))["runs"])
        again = await one.post(path, tool_call_id=call, outcome="failed", message="no")
        assert problem(again) == (409, "conflict")


async def test_a_call_is_cancelled_when_its_client_is_gone() -> None:
    async with served() as shop:
        body, sent = b'{"arguments":{}}', asyncio.Event()

        async def receive() -> Any:
            if not sent.is_set():
                sent.set()
                return {"type": "http.request", "body": body, "more_body": False}
            await shop.shop.has_begun.wait()
            return {"type": "http.disconnect"}

        async def send(_: Any) -> None:
            return None

        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        await shop.surface(
            {
                "type": "http",
                "method": "POST",
                "path": "/tools/hold/calls",
                "raw_path": b"/tools/hold/calls",
                "root_path": "",
                "query_string": b"",
                "headers": headers,
            },
            receive,
            send,
        )
        assert shop.shop.was_cancelled.is_set()
    assert shop.shop.log == []
